//! Halves chroma planes without leaving the coefficient domain; luma is not touched.
//!
//! A pair of 8-sample blocks becomes one block of the averages of neighbouring samples. That is linear, so in one dimension
//! it is a matrix for each of the two blocks: transform back, average, transform. Blocks are sparse, so only the rows
//! that hold coefficients are multiplied. The result is kept in steps of 1, fine enough to be requantised.

use super::frame::{Coding, Component, Frame, QuantTable};
use super::plane::{MAX_WORDS, Plane, Words, put_word};
use super::quant::tables::NATURAL;
use crate::{Budget, Error};

type Matrix = [[f32; 8]; 8];

/// Which way chroma is halved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Halving {
    /// Horizontally.
    pub across: bool,
    /// Vertically.
    pub down: bool,
}

impl Halving {
    /// What takes the chroma of `frame` to the wanted share of luma's resolution, if that is a halving: `across` and `down`
    /// say whether chroma shall have half the samples that way.
    pub fn of(frame: &Frame, across: bool, down: bool) -> Option<Self> {
        let [luma, blue, red] = &frame.components[..] else {
            return None;
        };
        let whole = blue.h == 1 && blue.v == 1 && red.h == 1 && red.v == 1;
        if !whole || luma.h > 2 || luma.v > 2 {
            return None;
        }
        let halving = Self {
            across: across && luma.h == 1,
            down: down && luma.v == 1,
        };
        (halving.across || halving.down).then_some(halving)
    }

    /// Chroma samples kept.
    pub fn share(self) -> f64 {
        match (self.across, self.down) {
            (true, true) => 0.25,
            (true, false) | (false, true) => 0.5,
            (false, false) => 1.0,
        }
    }

    /// The frame after halving.
    pub fn frame(self, frame: &Frame) -> Frame {
        let factor = |own: u8, halve: bool| if halve { 2 } else { own };
        let sampling: Vec<_> = frame
            .components
            .iter()
            .enumerate()
            .map(|(c, component)| match c {
                0 => {
                    let (h, v) = (
                        factor(component.h, self.across),
                        factor(component.v, self.down),
                    );
                    (component.id, h, v, component.table)
                }
                _ => (component.id, 1, 1, component.table),
            })
            .collect();
        Frame::new(Coding::Extended, frame.width, frame.height, &sampling)
    }
}

/// Steps of a halved plane.
pub const STEPS: QuantTable = QuantTable([1; 64]);

/// Halves planes of one component.
#[derive(Debug)]
pub struct Halver {
    halving: Halving,
    /// For the first and the second of a pair of blocks.
    matrices: [Matrix; 2],
    /// Source steps in natural order.
    steps: [f32; 64],
    /// Smallest magnitude kept, in zigzag order.
    floor: [f32; 64],
}

impl Halver {
    /// For a component with `source` steps; coefficients smaller than `floor` (zigzag order) are dropped.
    pub fn new(halving: Halving, source: &QuantTable, floor: &[f32; 64]) -> Self {
        let mut steps = [0.0; 64];
        for (step, &natural) in source.0.iter().zip(&NATURAL) {
            steps[usize::from(natural)] = f32::from(*step);
        }
        Self {
            halving,
            matrices: [averaging(0), averaging(1)],
            steps,
            floor: floor.map(|least| least.max(0.5)),
        }
    }

    /// Halves a whole plane; `component` is the component after halving.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    pub fn plane(
        &self,
        source: &Plane,
        before: &Component,
        component: &Component,
        budget: &Budget,
    ) -> Result<Plane, Error> {
        let (across, down) = (
            component.blocks_across as usize,
            component.blocks_down as usize,
        );
        let mut plane = Plane::new(across, down, 1, budget)?;
        let width = before.blocks_across as usize;
        let height = before.blocks_down as usize;
        let mut writer = plane.writer(0);
        for row in 0..down {
            let mut rows: Vec<_> = if self.halving.down {
                let second = (2 * row + 1 < height).then(|| source.row(2 * row + 1).take(width));
                std::iter::once(source.row(2 * row).take(width))
                    .chain(second)
                    .collect()
            } else {
                vec![source.row(row).take(width)]
            };
            for _ in 0..across {
                let block = self.block(&mut rows);
                let dc = block[0].round() as i16;
                writer.block(dc, budget, |room| self.keep(&block, room))?;
            }
        }
        Ok(plane)
    }

    /// The next block of averages, in natural order.
    fn block<'a>(&self, rows: &mut [impl Iterator<Item = (i16, Words<'a>)>]) -> [f32; 64] {
        let count = rows.len();
        let mut out = [[0.0; 8]; 8];
        for (a, row) in rows.iter_mut().enumerate() {
            let (mixed, used) = self.mix_across(row);
            if !self.halving.down {
                return flat(&mixed);
            }
            self.mix_down(&mixed, used, a, &mut out);
            if count == 1 {
                // Below the last row the picture goes on as its own mirror.
                self.mix_down(&flip(&mixed), used, 1, &mut out);
            }
        }
        flat(&out)
    }

    /// Halves across: the next one or two blocks of a row, and which rows of the result hold anything.
    fn mix_across<'a>(&self, row: &mut impl Iterator<Item = (i16, Words<'a>)>) -> (Matrix, u8) {
        let (mut mixed, mut used) = ([[0.0; 8]; 8], 0);
        let Some(first) = row.next() else {
            return (mixed, used);
        };
        if !self.halving.across {
            for (natural, value) in self.coefficients(first) {
                mixed[natural / 8][natural % 8] = value;
                used |= 1 << (natural / 8);
            }
            return (mixed, used);
        }
        let second = row.next();
        for (natural, value) in self.coefficients(first) {
            used |= self.spread(natural, value, 0, &mut mixed);
            if second.is_none() {
                let mirrored = if natural % 2 == 1 { -value } else { value };
                used |= self.spread(natural, mirrored, 1, &mut mixed);
            }
        }
        for (natural, value) in second
            .into_iter()
            .flat_map(|block| self.coefficients(block))
        {
            used |= self.spread(natural, value, 1, &mut mixed);
        }
        (mixed, used)
    }

    /// Natural index and dequantised value of all coefficients of a block.
    fn coefficients<'a>(
        &self,
        (dc, words): (i16, Words<'a>),
    ) -> impl Iterator<Item = (usize, f32)> + use<'_, 'a> {
        let dequantise = |(k, value): (usize, i16)| {
            let natural = usize::from(NATURAL[k & 63] & 63);
            (natural, f32::from(value) * self.steps[natural])
        };
        std::iter::once((0, dc)).chain(words).map(dequantise)
    }

    /// Adds what one coefficient of block `b` gives to the halved block.
    #[inline]
    fn spread(&self, natural: usize, value: f32, b: usize, mixed: &mut Matrix) -> u8 {
        let (row, column) = (natural / 8, natural % 8);
        for (sum, factor) in mixed[row].iter_mut().zip(&self.matrices[b][column]) {
            *sum += value * factor;
        }
        1 << row
    }

    /// Adds what block `a` of a pair gives to the block halved downwards.
    #[inline]
    fn mix_down(&self, mixed: &Matrix, used: u8, a: usize, out: &mut Matrix) {
        for (u, row) in mixed.iter().enumerate() {
            if used >> u & 1 == 0 {
                continue;
            }
            for (sums, factor) in out.iter_mut().zip(&self.matrices[a][u]) {
                for (sum, value) in sums.iter_mut().zip(row) {
                    *sum += factor * value;
                }
            }
        }
    }

    fn keep(&self, block: &[f32; 64], room: &mut [u16; MAX_WORDS]) -> usize {
        let mut words = 0;
        for k in 1..64 {
            let value = block[usize::from(NATURAL[k])];
            if value.abs() >= self.floor[k] {
                words += put_word(&mut room[words..], k, value.round() as i16);
            }
        }
        words
    }
}

fn flat(block: &Matrix) -> [f32; 64] {
    std::array::from_fn(|i| block[i / 8][i % 8])
}

/// Upside down: odd vertical frequencies change their sign.
fn flip(block: &Matrix) -> Matrix {
    std::array::from_fn(|u| {
        if u % 2 == 1 {
            block[u].map(|value| -value)
        } else {
            block[u]
        }
    })
}

/// What frequency `j` of block `b` (0 or 1 of a pair) adds to frequency `i` of the block of averages, as `[j][i]`.
fn averaging(b: usize) -> Matrix {
    let wave = |frequency: usize, sample: usize| {
        let angle = (2 * sample + 1) as f64 * frequency as f64 * std::f64::consts::PI / 16.0;
        let norm = if frequency == 0 {
            0.125_f64.sqrt()
        } else {
            0.5
        };
        norm * angle.cos()
    };
    let entry = |j: usize, i: usize| {
        let sample = |n: usize| {
            let average = (wave(j, 2 * n) + wave(j, 2 * n + 1)) / 2.0;
            average * wave(i, 4 * b + n)
        };
        (0..4).map(sample).sum::<f64>() as f32
    };
    std::array::from_fn(|j| std::array::from_fn(|i| entry(j, i)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(width: u16, height: u16, h: u8, v: u8) -> Frame {
        Frame::new(
            Coding::Baseline,
            width,
            height,
            &[(1, h, v, 0), (2, 1, 1, 1), (3, 1, 1, 1)],
        )
    }

    /// Samples of a plane by the textbook inverse transform.
    fn samples(plane: &Plane, component: &Component) -> Vec<Vec<f64>> {
        let (across, down) = (
            component.blocks_across as usize,
            component.blocks_down as usize,
        );
        let mut out = vec![vec![0.0; 8 * across]; 8 * down];
        let wave = |u: usize, x: usize| {
            let norm = if u == 0 { 0.125_f64.sqrt() } else { 0.5 };
            norm * ((2 * x + 1) as f64 * u as f64 * std::f64::consts::PI / 16.0).cos()
        };
        for row in 0..down {
            for (column, (dc, words)) in plane.row(row).take(across).enumerate() {
                for (k, value) in std::iter::once((0, dc)).chain(words) {
                    let natural = usize::from(NATURAL[k]);
                    for y in 0..8 {
                        for x in 0..8 {
                            out[8 * row + y][8 * column + x] +=
                                f64::from(value) * wave(natural / 8, y) * wave(natural % 8, x);
                        }
                    }
                }
            }
        }
        out
    }

    /// A plane of smooth but lively content, in steps of 1.
    fn plane(component: &Component, budget: &Budget) -> Plane {
        let (across, down) = (
            component.blocks_across as usize,
            component.blocks_down as usize,
        );
        let mut plane = Plane::new(across, down, 1, budget).expect("fits");
        let mut writer = plane.writer(0);
        for n in 0..across * down {
            let value = |k: usize| (((n * 37 + k * 101) % 401) as i16 - 200) / (k as i16 + 1);
            let fill = |room: &mut [u16; MAX_WORDS]| {
                (1..64).filter(|&k| value(k) != 0).fold(0, |words, k| {
                    words + put_word(&mut room[words..], k, value(k))
                })
            };
            writer.block(value(0) * 3, budget, fill).expect("fits");
        }
        plane
    }

    #[test]
    fn halved_samples_are_the_averages() {
        let budget = Budget::new(1 << 26, 1 << 30);
        for (h, v) in [(1, 1), (2, 1), (1, 2)] {
            for (width, height) in [(64, 48), (40, 24), (33, 57), (7, 9), (24, 40)] {
                let before = frame(width, height, h, v);
                let halving = Halving::of(&before, true, true).expect("can be halved");
                let after = halving.frame(&before);
                let source = plane(&before.components[1], &budget);
                let halver = Halver::new(halving, &STEPS, &[0.0; 64]);
                let halved = halver
                    .plane(
                        &source,
                        &before.components[1],
                        &after.components[1],
                        &budget,
                    )
                    .expect("fits");
                let (was, is) = (
                    samples(&source, &before.components[1]),
                    samples(&halved, &after.components[1]),
                );
                let (fx, fy) = (
                    1 + usize::from(halving.across),
                    1 + usize::from(halving.down),
                );
                for y in 0..was.len() / fy {
                    for x in 0..was[0].len() / fx {
                        let window = (0..fy).flat_map(|b| (0..fx).map(move |a| (a, b)));
                        let sum: f64 = window.map(|(a, b)| was[y * fy + b][x * fx + a]).sum();
                        let average = sum / (fx * fy) as f64;
                        // Sixty-four coefficients each rounded by at most a half add up to a few at most.
                        assert!(
                            (is[y][x] - average).abs() < 3.0,
                            "{x} {y}: {} {average}",
                            is[y][x]
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn only_three_plain_components_are_halved() {
        assert_eq!(Halving::of(&frame(8, 8, 2, 2), true, true), None);
        let gray = Frame::new(Coding::Baseline, 8, 8, &[(1, 1, 1, 0)]);
        assert_eq!(Halving::of(&gray, true, true), None);
        let half = Halving::of(&frame(8, 8, 1, 1), true, false).expect("can be halved");
        assert_eq!(
            half,
            Halving {
                across: true,
                down: false
            }
        );
        assert_eq!(half.frame(&frame(8, 8, 1, 1)).components[0].v, 1);
    }
}
