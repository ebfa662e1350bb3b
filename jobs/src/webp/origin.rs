//! The quality at which a lossy picture was coded, from the head of its first partition (RFC 6386 sections 7.3 and 9): coding it
//! anew at a higher one would spend bytes on what is no longer there. Reads a few bytes and decodes no pixel.

/// Bytes of a key frame before its first partition.
const HEAD: usize = 10;
/// libwebp's largest quantiser, and how it makes one of a quality (`QualityToCompression` and `VP8SetSegmentParams`).
const COARSEST: f32 = 127.0;

/// libwebp's quality, 0 to 100, whose quantiser is the mean of the picture's own; `None` where the head ends too early.
pub(super) fn quality(payload: &[u8]) -> Option<f32> {
    let mut bits = Bits::new(payload.get(HEAD..)?)?;
    // Colours and clamping.
    bits.number(2)?;
    let segments = bits.flag()?.then(|| segments(&mut bits));
    let segments = match segments {
        Some(segments) => Some(segments?),
        None => None,
    };
    loop_filter(&mut bits)?;
    // Partitions.
    bits.number(2)?;
    let index = bits.number(7)? as f32;
    let mean = segments.map_or(index, |segments| segments.mean(index));
    Some(of_quantiser(mean))
}

/// Up to four quantisers, and how much of the picture each has.
struct Segments {
    absolute: bool,
    values: [f32; 4],
    shares: [f32; 4],
}

impl Segments {
    fn mean(&self, index: f32) -> f32 {
        let base = if self.absolute { 0.0 } else { index };
        let pairs = self.values.iter().zip(&self.shares);
        let sum: f32 = pairs.map(|(value, share)| (base + value) * share).sum();
        sum.clamp(0.0, COARSEST)
    }
}

/// Section 9.3.
fn segments(bits: &mut Bits<'_>) -> Option<Segments> {
    let (map, data) = (bits.flag()?, bits.flag()?);
    let mut segments = Segments {
        absolute: false,
        values: [0.0; 4],
        shares: [1.0, 0.0, 0.0, 0.0],
    };
    if data {
        segments.absolute = bits.flag()?;
        for value in &mut segments.values {
            *value = bits.signed(7)?;
        }
        for _ in 0..4 {
            bits.signed(6)?;
        }
    }
    if map {
        let mut zero = [1.0_f32; 3];
        for zero in &mut zero {
            if bits.flag()? {
                *zero = bits.number(8)? as f32 / 256.0;
            }
        }
        let [first, left, right] = zero;
        let rest = 1.0 - first;
        segments.shares = [
            first * left,
            first * (1.0 - left),
            rest * right,
            rest * (1.0 - right),
        ];
    }
    Some(segments)
}

/// Sections 9.3 and 9.6: of no interest, but it stands in between.
fn loop_filter(bits: &mut Bits<'_>) -> Option<()> {
    bits.number(1 + 6 + 3)?;
    if bits.flag()? && bits.flag()? {
        for _ in 0..8 {
            bits.signed(6)?;
        }
    }
    Some(())
}

/// The quantiser, not rounded, that libwebp makes of a quality.
pub(super) fn quantiser(quality: f32) -> f32 {
    let share = quality.clamp(0.0, 100.0) / 100.0;
    let linear = if share < 0.75 {
        share / 1.5
    } else {
        2.0 * share - 1.0
    };
    COARSEST * (1.0 - linear.cbrt())
}

/// The quality that libwebp makes this quantiser of.
pub(super) fn of_quantiser(quantiser: f32) -> f32 {
    let linear = (1.0 - quantiser.clamp(0.0, COARSEST) / COARSEST).powi(3);
    let share = if linear < 0.5 {
        linear * 1.5
    } else {
        f32::midpoint(linear, 1.0)
    };
    (100.0 * share).clamp(0.0, 100.0)
}

/// The boolean decoder of section 7.3, for bits that are as likely one as zero.
struct Bits<'a> {
    rest: &'a [u8],
    value: u32,
    range: u32,
    shifted: u32,
}

impl<'a> Bits<'a> {
    fn new(bytes: &'a [u8]) -> Option<Self> {
        let (&[high, low], rest) = bytes.split_first_chunk()?;
        Some(Self {
            rest,
            value: u32::from(high) << 8 | u32::from(low),
            range: 255,
            shifted: 0,
        })
    }

    fn flag(&mut self) -> Option<bool> {
        let split = 1 + (((self.range - 1) * 128) >> 8);
        let one = self.value >= split << 8;
        if one {
            self.range -= split;
            self.value -= split << 8;
        } else {
            self.range = split;
        }
        while self.range < 128 {
            self.value <<= 1;
            self.range <<= 1;
            self.shifted += 1;
            if self.shifted == 8 {
                self.shifted = 0;
                let (&next, rest) = self.rest.split_first()?;
                self.value |= u32::from(next);
                self.rest = rest;
            }
        }
        Some(one)
    }

    fn number(&mut self, bits: u32) -> Option<u32> {
        let mut number = 0;
        for _ in 0..bits {
            number = number << 1 | u32::from(self.flag()?);
        }
        Some(number)
    }

    /// Whether there is one, its magnitude, its sign.
    fn signed(&mut self, bits: u32) -> Option<f32> {
        if !self.flag()? {
            return Some(0.0);
        }
        let magnitude = self.number(bits)? as f32;
        Some(if self.flag()? { -magnitude } else { magnitude })
    }
}

#[cfg(test)]
mod tests {
    use super::super::image::{Lossy, Plain};
    use super::*;
    use crate::Budget;
    use crate::raster::Layout;

    /// A picture with flat places and busy ones.
    fn planes(budget: &Budget) -> Lossy {
        let (width, height) = (192, 128);
        let level = |x: u32, y: u32, channel: u32| {
            let busy = (x * 37 + y * 91 + channel * 11) % 97;
            (x / 2 + y / 4 + if x > width / 2 { busy } else { 0 }) as u8
        };
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let mut samples = budget.vec((width * height * 3) as usize).expect("fits");
        samples.extend(pixels.flat_map(|(x, y)| [0, 1, 2].map(|channel| level(x, y, channel))));
        let plain = Plain {
            samples,
            layout: Layout::Rgb,
            size: (width, height),
        };
        Lossy::of_plain(plain, budget).expect("fits")
    }

    #[test]
    fn quantisers_and_qualities_are_of_each_other() {
        // `QualityToCompression`: 0.75 is where the two lines meet.
        assert!((quantiser(75.0) - 127.0 * (1.0 - 0.5_f32.cbrt())).abs() < 1e-3);
        assert_eq!((quantiser(0.0), quantiser(100.0)), (127.0, 0.0));
        for quality in [1.0, 20.0, 60.0, 75.0, 80.0, 99.0] {
            assert!(
                (of_quantiser(quantiser(quality)) - quality).abs() < 1e-3,
                "{quality}"
            );
        }
    }

    #[test]
    fn the_quality_of_libwebp_is_known_again() {
        let budget = Budget::new(64 << 20, 1 << 20);
        for method in [0, 4] {
            for asked in [10.0_f32, 30.0, 50.0, 75.0, 90.0, 100.0] {
                let coded = planes(&budget).code(method, &budget, |code| code(asked));
                let pieces = coded.expect("codes");
                let found = quality(&pieces[0].payload).expect("a head");
                assert!((found - asked).abs() < 8.0, "{method} {asked}: {found}");
            }
        }
    }

    #[test]
    fn a_head_that_ends_early_tells_nothing() {
        let budget = Budget::new(64 << 20, 1 << 20);
        let coded = planes(&budget).code(4, &budget, |code| code(75.0));
        let payload = coded.expect("codes")[0].payload.to_vec();
        for end in 0..14 {
            assert_eq!(quality(&payload[..end]), None, "{end}");
        }
    }
}
