//! The inverse transform of a block at a size of 1 to 8 samples each way: of the 64 coefficients only the low ones of that
//! size are used, which is a sharp and cheap way to make a picture smaller (T.81 A.3.3 for the full size).
//!
//! Sums are laid out in lanes of four or eight samples, which compilers turn into vector instructions without being asked.

use super::super::plane::{MOVED, Row, Words};
use super::super::quant::tables::NATURAL;
use std::f32::consts::PI;

/// Adding this to a small number leaves its nearest whole number in the low bits.
const TO_WHOLE: f32 = 8_388_608.0;
/// The sample of a block without coefficients, and a little: halves are rounded up, as libjpeg and its kin do. Flat blocks of
/// even steps are full of halves, and one step over a whole sky is seen.
const MIDDLE: f32 = 128.0 + 1.0 / 1024.0;

/// Samples a block becomes, across and down: 1 to 8 each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) across: usize,
    pub(crate) down: usize,
}

impl Size {
    /// The whole block.
    pub(crate) const WHOLE: Self = Self { across: 8, down: 8 };
}

/// A transform back to a size.
#[derive(Debug)]
pub(crate) struct Inverse {
    size: Size,
    /// Weight of frequency `u` at sample `x`, as `[u][x]`; 0 beyond the size.
    across: [[f32; 8]; 8],
    /// Weight of frequency `v` at sample `y`, as `[y][v]`.
    down: [[f32; 8]; 8],
}

impl Inverse {
    /// `size` is 1 to 8 each way.
    pub(crate) fn new(size: Size) -> Self {
        Self {
            size,
            across: waves(size.across),
            down: transposed(waves(size.down)),
        }
    }

    pub(crate) fn size(&self) -> Size {
        self.size
    }

    /// Whether the coefficient at `8 * row + column` is used at all.
    pub(crate) fn uses(&self, natural: u8) -> bool {
        usize::from(natural) / 8 < self.size.down && usize::from(natural) % 8 < self.size.across
    }

    /// Samples beyond the end of a row that [`Inverse::row`] may scribble on.
    pub(crate) fn slack(&self) -> usize {
        self.lanes() - self.size.across
    }

    fn lanes(&self) -> usize {
        if self.size.across <= 4 { 4 } else { 8 }
    }

    /// The same for coefficients in `steps` (zigzag order).
    pub(crate) fn weighed(&self, steps: &[f32; 64]) -> Box<Weighed> {
        let weight = |k: usize| {
            let natural = usize::from(NATURAL[k]);
            let step = steps[k] / if k > 0 { MOVED } else { 1.0 };
            let weights = self.across[natural % 8].map(|weight| weight * step);
            (natural / 8, weights)
        };
        Box::new(Weighed(std::array::from_fn(weight)))
    }

    /// Samples of a row of blocks, written to `out` at a distance of `stride` a row, which leaves
    /// room for [`Inverse::slack`].
    pub(crate) fn row(&self, row: Row<'_>, weighed: &Weighed, out: &mut [u8], stride: usize) {
        match (self.lanes(), self.size.down) {
            (4, ..=4) => self.row_in_lanes::<4, 4>(row, weighed, out, stride),
            (4, _) => self.row_in_lanes::<4, 8>(row, weighed, out, stride),
            (_, ..=4) => self.row_in_lanes::<8, 4>(row, weighed, out, stride),
            (_, _) => self.row_in_lanes::<8, 8>(row, weighed, out, stride),
        }
    }

    fn row_in_lanes<const L: usize, const D: usize>(
        &self,
        row: Row<'_>,
        weighed: &Weighed,
        out: &mut [u8],
        stride: usize,
    ) {
        let flat = weighed.0[0].1[0] * self.down[0][0];
        for (column, (dc, words)) in row.enumerate() {
            let place = &mut out[column * self.size.across..];
            let dc = f32::from(dc);
            if words.as_slice().is_empty() {
                let samples = Self::whole(&[MIDDLE + dc * flat; L]);
                (0..self.size.down).for_each(|y| put(samples, y, place, stride));
            } else {
                let halves = weighed.halves::<L, D>(dc, words);
                self.finish(&halves, place, stride);
            }
        }
    }

    /// Transforms down and writes. On its own, since compilers see the vectors in it only then.
    #[inline(never)]
    fn finish<const L: usize, const D: usize>(
        &self,
        halves: &[[f32; L]; D],
        place: &mut [u8],
        stride: usize,
    ) {
        for y in 0..self.size.down {
            let sums = self.sum(halves, y, MIDDLE);
            put(Self::whole(&sums), y, place, stride);
        }
    }

    /// Row `y` of samples around `middle`.
    #[inline(always)]
    fn sum<const L: usize, const D: usize>(
        &self,
        halves: &[[f32; L]; D],
        y: usize,
        middle: f32,
    ) -> [f32; L] {
        let (mut sums, weights) = ([middle; L], &self.down[y & 7]);
        for v in 0..D {
            for x in 0..L {
                sums[x] += halves[v][x] * weights[v];
            }
        }
        sums
    }

    /// The nearest whole numbers from 0 to 255.
    #[inline(always)]
    fn whole<const L: usize>(samples: &[f32; L]) -> [u8; L] {
        let (low, high) = (0.0, 255.0);
        let mut bits = [0_u32; L];
        for x in 0..L {
            let sample = if samples[x] > low { samples[x] } else { low };
            let sample = if sample < high { sample } else { high };
            bits[x] = (sample + TO_WHOLE).to_bits();
        }
        bits.map(|bits| bits as u8)
    }

    /// All samples of a block, around 0 and not rounded; the size must be the whole block's.
    pub(crate) fn exact(&self, dc: i16, words: Words<'_>, weighed: &Weighed) -> [[f32; 8]; 8] {
        let halves = weighed.halves::<8, 8>(f32::from(dc), words);
        std::array::from_fn(|y| self.sum(&halves, y, 0.0))
    }
}

/// By zigzag index, what a level of 1 gives: its row of frequencies, and that row's samples. AC levels come [`MOVED`] times too
/// large.
#[derive(Debug)]
pub(crate) struct Weighed([(usize, [f32; 8]); 64]);

impl Weighed {
    /// By row of frequencies, transformed across.
    #[inline(always)]
    fn halves<const L: usize, const D: usize>(&self, dc: f32, words: Words<'_>) -> [[f32; L]; D] {
        let mut halves = [[0f32; L]; D];
        for (half, weight) in halves[0].iter_mut().zip(&self.0[0].1) {
            *half = dc * weight;
        }
        for (k, value) in words.moved() {
            let ((row, weights), value) = (&self.0[k & 63], value as f32);
            // A decoder may keep more than it was asked for.
            if let Some(half) = halves.get_mut(*row) {
                for x in 0..L {
                    half[x] += value * weights[x];
                }
            }
        }
        halves
    }
}

/// Writes row `y` of a block.
#[inline(always)]
fn put<const L: usize>(samples: [u8; L], y: usize, place: &mut [u8], stride: usize) {
    if let Some(room) = place
        .get_mut(y * stride..)
        .and_then(<[u8]>::first_chunk_mut)
    {
        *room = samples;
    }
}

/// Orthonormal weights of `size` samples, times what makes a flat block keep its level at any size.
fn waves(size: usize) -> [[f32; 8]; 8] {
    let length = size as f32;
    let weight = |u: usize, x: usize| {
        if u >= size || x >= size {
            return 0.0;
        }
        let norm = if u == 0 { 1.0 } else { 2.0 };
        let angle = (2.0 * x as f32 + 1.0) * u as f32 * PI / (2.0 * length);
        (norm / 8.0_f32).sqrt() * angle.cos()
    };
    std::array::from_fn(|u| std::array::from_fn(|x| weight(u, x)))
}

fn transposed(weights: [[f32; 8]; 8]) -> [[f32; 8]; 8] {
    std::array::from_fn(|y| std::array::from_fn(|v| weights[v][y]))
}

#[cfg(test)]
mod tests {
    use super::super::super::plane::{MAX_WORDS, Plane, put_word};
    use super::*;
    use crate::Budget;

    /// Rows of samples of one block of coefficients.
    fn samples(inverse: &Inverse, block: &[i16; 64]) -> Vec<Vec<u8>> {
        let budget = Budget::new(1 << 20, 1 << 20);
        let mut plane = Plane::new(1, 1, 1, &budget).expect("fits");
        let fill = |room: &mut [u16; MAX_WORDS]| {
            (1..64).fold(0, |used, k| match block[usize::from(NATURAL[k])] {
                0 => used,
                level => used + put_word(&mut room[used..], k, level),
            })
        };
        plane
            .writer(0)
            .block(block[0], &budget, fill)
            .expect("fits");
        let mut out = [0; 8 * 16];
        let weighed = inverse.weighed(&[1.0; 64]);
        inverse.row(plane.row(0), &weighed, &mut out, 16);
        let rows = out.chunks(16).take(inverse.size().down);
        rows.map(|row| row[..inverse.size().across].to_vec())
            .collect()
    }

    fn sizes() -> impl Iterator<Item = Size> {
        (1..=8).flat_map(|across| (1..=8).map(move |down| Size { across, down }))
    }

    #[test]
    fn a_flat_block_keeps_its_level_at_every_size() {
        let mut block = [0; 64];
        block[0] = 8 * (200 - 128);
        for size in sizes() {
            let rows = samples(&Inverse::new(size), &block);
            assert_eq!(rows, vec![vec![200; size.across]; size.down], "{size:?}");
        }
    }

    #[test]
    fn a_ramp_stays_a_ramp() {
        let ramp: [u8; 64] = std::array::from_fn(|n| (40 + 20 * (n % 8)) as u8);
        let block = super::super::forward(&ramp.map(|sample| f32::from(sample) - 128.0));
        let whole = samples(
            &Inverse::new(Size::WHOLE),
            &block.map(|level| level.round() as i16),
        );
        for row in whole {
            for (x, sample) in row.iter().enumerate() {
                assert!(sample.abs_diff(40 + 20 * x as u8) <= 1, "{sample}");
            }
        }
        for size in sizes().filter(|size| size.across > 1) {
            let inverse = Inverse::new(size);
            let small = samples(&inverse, &block.map(|level| level.round() as i16));
            for (x, sample) in small[0].iter().enumerate() {
                // The middle of the samples it stands for.
                let place = (x as f32 + 0.5) * 8.0 / size.across as f32 - 0.5;
                let apart = f32::from(*sample) - (40.0 + 20.0 * place);
                assert!(apart.abs() <= 6.0, "{size:?} {x}: {sample}");
            }
        }
    }

    #[test]
    fn lanes_agree_with_the_sum_of_waves() {
        let block: [i16; 64] = std::array::from_fn(|n| ((n * 37 + 11) % 23) as i16 - 11);
        for size in sizes() {
            let rows = samples(&Inverse::new(size), &block);
            for (y, row) in rows.iter().enumerate() {
                for (x, sample) in row.iter().enumerate() {
                    let expected = slowly(&block, size, x, y).clamp(0.0, 255.0);
                    assert!(
                        (f64::from(*sample) - expected).abs() <= 0.51,
                        "{size:?} {x} {y}"
                    );
                }
            }
        }
    }

    /// One sample by T.81 A.3.3, of a transform of `size`.
    fn slowly(block: &[i16; 64], size: Size, x: usize, y: usize) -> f64 {
        let wave = |u: usize, x: usize, length: usize| {
            let angle = (2 * x + 1) as f64 * u as f64 * std::f64::consts::PI;
            let norm = if u == 0 { 0.5_f64.sqrt() } else { 1.0 };
            norm / 2.0 * (angle / (2 * length) as f64).cos()
        };
        let mut sum = 128.0;
        for v in 0..size.down {
            for u in 0..size.across {
                let weight = wave(u, x, size.across) * wave(v, y, size.down);
                sum += f64::from(block[8 * v + u]) * weight;
            }
        }
        sum
    }

    #[test]
    fn black_and_white_are_the_ends_and_halves_go_up() {
        let level = |dc| {
            let mut block = [0; 64];
            block[0] = dc;
            samples(&Inverse::new(Size::WHOLE), &block)[0][0]
        };
        assert_eq!([-8 * 128, 0, 8 * 127].map(level), [0, 128, 255]);
        assert_eq!([-12, -4, 4, 12].map(level), [127, 128, 129, 130]);
    }
}
