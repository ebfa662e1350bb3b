//! The colours a JPEG shows, as planes in video's range: what an encoder makes of the decoded picture, without that picture.
//!
//! Luma and chroma scaled on their own would come nearer to what the file says, but nobody sees that: decoders round to whole
//! red, green and blue and end them at black and white, and over a flat sky such a rounding is one step of colour. Chroma is
//! the mean of what is shown, not the file's sample: it takes up to 5 % fewer bytes and scores the same.
//!
//! Works in place on planes of full range, chroma halved both ways; knows no files and no budget.

/// Samples at a time, for compilers to see vectors in them.
const LANES: usize = 16;
/// Added to a number, it leaves the nearest whole one in the low bits; taken away again, it leaves it as a number.
const TO_WHOLE: f32 = 12_582_912.0;
/// Red, green and blue of a step of blue and of red chroma (ITU-T T.871, 7).
const RED: f32 = 1.402;
const GREEN: [f32; 2] = [-0.344_136, -0.714_136];
const BLUE: f32 = 1.772;
/// Luma and chroma of red, green and blue (ITU-R BT.601), rounded as libwebp rounds them.
const LUMA: [f32; 3] = [0.256_943, 0.504_440, 0.097_961];
const CHROMA: [[f32; 3]; 2] = [
    [-0.148_300, -0.291_153, 0.439_453],
    [0.439_453, -0.367_981, -0.071_472],
];

type Lane = [u8; LANES];
type Sums = [[f32; LANES]; 3];

/// Turns planes of full range into planes of the shown colours in video's range; `width` is that of luma, `chroma` blue and red.
pub(super) fn to_video(luma: &mut [u8], chroma: [&mut [u8]; 2], width: usize) {
    let across = width.div_ceil(2);
    let mut rows = Rows::new(across);
    let [blue, red] = chroma;
    let last = blue.len() / across - 1;
    let row = |n: usize| n * across..(n + 1) * across;
    let mut above = [blue[row(0)].to_vec(), red[row(0)].to_vec()];
    for (n, lumas) in luma.chunks_mut(2 * width).enumerate() {
        let (here, below) = (row(n), row((n + 1).min(last)));
        let (upper, lower) = lumas.split_at_mut(width);
        rows.clear();
        let own = [&blue[here.clone()], &red[here.clone()]];
        rows.show(upper, own, [&above[0], &above[1]]);
        if !lower.is_empty() {
            rows.show(lower, own, [&blue[below.clone()], &red[below]]);
        }
        above[0].copy_from_slice(own[0]);
        above[1].copy_from_slice(own[1]);
        rows.mean(&mut blue[here.clone()], &mut red[here]);
    }
}

/// What is known while a row of chroma and its two rows of luma are turned. Everything is as wide as chroma, in whole lanes.
struct Rows {
    across: usize,
    /// Chroma mixed down, with one more at either end.
    mixed: Vec<u16>,
    /// Blue and red chroma of the pixels at even places, and of those at odd ones.
    chroma: [[Vec<Lane>; 2]; 2],
    /// Luma of the same.
    luma: [Vec<Lane>; 2],
    /// Red, green and blue of all that was shown.
    sums: Vec<Sums>,
    /// Pixels in each sum.
    count: f32,
}

impl Rows {
    fn new(across: usize) -> Self {
        let lanes = || vec![[0; LANES]; across.div_ceil(LANES)];
        Self {
            across,
            mixed: vec![0; across + 2],
            chroma: [[lanes(), lanes()], [lanes(), lanes()]],
            luma: [lanes(), lanes()],
            sums: vec![[[0.0; LANES]; 3]; across.div_ceil(LANES)],
            count: 0.0,
        }
    }

    fn clear(&mut self) {
        self.sums.fill([[0.0; LANES]; 3]);
        self.count = 0.0;
    }

    /// Turns a row of luma, whose chroma is between that `near` it and that `far` from it.
    fn show(&mut self, luma: &mut [u8], near: [&[u8]; 2], far: [&[u8]; 2]) {
        for plane in 0..2 {
            self.mix(near[plane], far[plane]);
            let [even, odd] = &mut self.chroma;
            spread(
                &self.mixed,
                even[plane].as_flattened_mut(),
                odd[plane].as_flattened_mut(),
            );
        }
        let [even, odd] = &mut self.luma;
        let pairs = luma.chunks(2);
        let places = even
            .as_flattened_mut()
            .iter_mut()
            .zip(odd.as_flattened_mut());
        for ((even, odd), pair) in places.zip(pairs) {
            // Where the width is odd the last pixel counts twice.
            (*even, *odd) = (pair[0], pair[pair.len() - 1]);
        }
        for (luma, [blue, red]) in self.luma.iter_mut().zip(&self.chroma) {
            let colours = blue.iter().zip(red);
            for ((luma, sums), (blue, red)) in luma.iter_mut().zip(&mut self.sums).zip(colours) {
                lane(luma, blue, red, sums);
            }
        }
        self.count += 2.0;
        let [even, odd] = &self.luma;
        let places = even.as_flattened().iter().zip(odd.as_flattened());
        for ((even, odd), pair) in places.zip(luma.chunks_mut(2)) {
            pair[0] = *even;
            if let Some(last) = pair.get_mut(1) {
                *last = *odd;
            }
        }
    }

    /// Three parts of `near`, one of `far`.
    fn mix(&mut self, near: &[u8], far: &[u8]) {
        let mixed = &mut self.mixed[1..=self.across];
        for (mixed, (near, far)) in mixed.iter_mut().zip(near.iter().zip(far)) {
            *mixed = 3 * u16::from(*near) + u16::from(*far);
        }
        self.mixed[0] = self.mixed[1];
        self.mixed[self.across + 1] = self.mixed[self.across];
    }

    /// Writes the chroma of the means.
    fn mean(&self, blue: &mut [u8], red: &mut [u8]) {
        let share = 1.0 / self.count;
        let places = blue.chunks_mut(LANES).zip(red.chunks_mut(LANES));
        for ((blue, red), [r, g, b]) in places.zip(&self.sums) {
            for (place, weights) in [(blue, CHROMA[0]), (red, CHROMA[1])] {
                let weights = weights.map(|weight| weight * share);
                let mut whole = [0; LANES];
                for x in 0..LANES {
                    let sum = r[x] * weights[0] + g[x] * weights[1] + b[x] * weights[2];
                    whole[x] = (128.0 + sum + TO_WHOLE).to_bits() as u8;
                }
                place.copy_from_slice(&whole[..place.len()]);
            }
        }
    }
}

/// Twice as many samples, three parts of the nearer and one of the farther, as decoders show them.
fn spread(mixed: &[u16], even: &mut [u8], odd: &mut [u8]) {
    let places = even.iter_mut().zip(odd);
    for ((even, odd), near) in places.zip(mixed.windows(3)) {
        *even = ((3 * near[1] + near[0] + 8) >> 4) as u8;
        *odd = ((3 * near[1] + near[2] + 7) >> 4) as u8;
    }
}

/// Pixels as they are shown: adds their colours to `sums` and leaves their luma.
fn lane(luma: &mut Lane, blue: &Lane, red: &Lane, sums: &mut Sums) {
    let whole = |sample: f32| sample + TO_WHOLE - TO_WHOLE;
    let ended = |sample: f32| {
        let sample = if sample > 0.0 { sample } else { 0.0 };
        if sample < 255.0 { sample } else { 255.0 }
    };
    let mut bits = [0_u32; LANES];
    for x in 0..LANES {
        let y = f32::from(luma[x]);
        let (cb, cr) = (f32::from(blue[x]) - 128.0, f32::from(red[x]) - 128.0);
        let r = ended(y + whole(RED * cr));
        let g = ended(y + whole(GREEN[0] * cb + GREEN[1] * cr));
        let b = ended(y + whole(BLUE * cb));
        sums[0][x] += r;
        sums[1][x] += g;
        sums[2][x] += b;
        bits[x] = (16.0 + r * LUMA[0] + g * LUMA[1] + b * LUMA[2] + TO_WHOLE).to_bits();
    }
    *luma = bits.map(|bits| bits as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture of one colour.
    fn flat(colour: [u8; 3], (width, height): (usize, usize)) -> [u8; 3] {
        let chroma = width.div_ceil(2) * height.div_ceil(2);
        let mut luma = vec![colour[0]; width * height];
        let (mut blue, mut red) = (vec![colour[1]; chroma], vec![colour[2]; chroma]);
        to_video(&mut luma, [&mut blue, &mut red], width);
        assert!(
            luma.iter().all(|sample| *sample == luma[0]),
            "{colour:?} {width}x{height}"
        );
        assert!(
            blue.iter().all(|sample| *sample == blue[0])
                && red.iter().all(|sample| *sample == red[0])
        );
        [luma[0], blue[0], red[0]]
    }

    #[test]
    fn black_white_and_gray_are_where_the_standard_says() {
        for size in [(1, 1), (2, 2), (3, 5), (64, 3), (65, 2)] {
            assert_eq!(flat([0, 128, 128], size), [16, 128, 128]);
            assert_eq!(flat([255, 128, 128], size), [235, 128, 128]);
            assert_eq!(flat([128, 128, 128], size), [126, 128, 128]);
        }
    }

    #[test]
    fn colours_are_those_that_are_shown() {
        // Shown as 0, 0, 5: red is not below black, which alone would make red chroma 127.
        assert_eq!(flat([0, 131, 127], (4, 4)), [16, 130, 128]);
        // Pure red as JPEG has it (76, 85, 255) is shown as 254, 0, 0.
        assert_eq!(flat([76, 85, 255], (4, 4)), [81, 90, 240]);
        // One step of blue is two steps shown.
        assert_eq!(flat([100, 129, 128], (4, 4)), [102, 129, 128]);
    }

    #[test]
    fn chroma_is_the_mean_of_pixels_between_samples() {
        let mut luma = vec![128; 8 * 2];
        let (mut blue, mut red) = (vec![128, 128, 160, 160], vec![128; 4]);
        to_video(&mut luma, [&mut blue, &mut red], 8);
        // Blue steps of 0, 0, 0, 8, 24, 32, 32, 32 in full range.
        assert_eq!(blue, [128, 132, 153, 156]);
        assert!(red.iter().all(|red| red.abs_diff(128) <= 1), "{red:?}");
    }
}
