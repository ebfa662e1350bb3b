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

/// A block of a plane: DC value and AC coefficients.
type Block<'a> = (i16, Words<'a>);

/// Halves planes of one component.
#[derive(Debug)]
pub struct Halver {
    halving: Halving,
    /// For the first and the second of a pair of blocks.
    matrices: [Matrix; 2],
    /// Source steps in zigzag order.
    steps: [f32; 64],
    /// Smallest magnitude kept, by column and row.
    floor: Matrix,
}

/// A block under way, by column and row, so that frequencies down lie next to each other.
#[derive(Debug, Default)]
struct Columns {
    values: Matrix,
    /// Columns that hold anything, as bits.
    used: u8,
}

impl Halver {
    /// For a component with `source` steps; coefficients smaller than `floor` (zigzag order) are dropped.
    pub fn new(halving: Halving, source: &QuantTable, floor: &[f32; 64]) -> Self {
        let mut by_column = Matrix::default();
        for (floor, &natural) in floor.iter().zip(&NATURAL) {
            let (row, column) = place(natural);
            by_column[column][row] = floor.max(0.5);
        }
        // The DC value is not among the words.
        by_column[0][0] = f32::INFINITY;
        Self {
            halving,
            matrices: [averaging(0), averaging(1)],
            steps: source.0.map(f32::from),
            floor: by_column,
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
        let (width, height) = (before.blocks_across as usize, before.blocks_down as usize);
        let mut writer = plane.writer(0);
        for row in 0..down {
            let first = if self.halving.down { 2 * row } else { row };
            let mut upper = source.row(first).take(width);
            let has_lower = self.halving.down && first + 1 < height;
            let mut lower = has_lower.then(|| source.row(first + 1).take(width));
            for _ in 0..across {
                let above = self.pair(&mut upper);
                let below = lower.as_mut().map(|lower| self.pair(lower));
                let block = self.block(above, below);
                let dc = rounded(block.values[0][0]);
                writer.block(dc, budget, |room| self.keep(&block, room))?;
            }
        }
        Ok(plane)
    }

    /// The next one or two blocks of a row.
    fn pair<'a>(&self, row: &mut impl Iterator<Item = Block<'a>>) -> [Option<Block<'a>>; 2] {
        let left = row.next();
        let right = if self.halving.across {
            row.next()
        } else {
            None
        };
        [left, right]
    }

    /// The block of averages. Beyond its last row or column of blocks the picture goes on as its own mirror.
    #[inline]
    fn block(
        &self,
        above: [Option<Block<'_>>; 2],
        below: Option<[Option<Block<'_>>; 2]>,
    ) -> Columns {
        let mut out = Columns::default();
        self.add(above, 0, false, &mut out);
        if self.halving.down {
            self.add(below.unwrap_or(above), 1, below.is_none(), &mut out);
        }
        out
    }

    /// Adds what the upper (0) or lower (1) row of blocks gives, turned upside down if `mirrored`.
    #[inline]
    fn add(
        &self,
        [left, right]: [Option<Block<'_>>; 2],
        a: usize,
        mirrored: bool,
        out: &mut Columns,
    ) {
        let Some(left) = left else {
            return;
        };
        if !self.halving.across {
            for (row, column, value) in self.coefficients(left) {
                let value = if mirrored && row % 2 == 1 {
                    -value
                } else {
                    value
                };
                add_scaled(&mut out.values[column], &self.matrices[a][row], value);
                out.used |= 1 << column;
            }
            return;
        }
        // By row and column, halved across.
        let (mut rows, mut used) = (Matrix::default(), 0_u8);
        for (b, block) in [(0, left), (1, right.unwrap_or(left))] {
            let turned = b == 1 && right.is_none();
            for (row, column, value) in self.coefficients(block) {
                let odd = (mirrored && row % 2 == 1) != (turned && column % 2 == 1);
                let value = if odd { -value } else { value };
                add_scaled(&mut rows[row], &self.matrices[b][column], value);
                used |= 1 << row;
            }
        }
        out.used = u8::MAX;
        for row in (0..8).filter(|row| used >> row & 1 == 1) {
            for (column, &value) in rows[row].iter().enumerate() {
                if self.halving.down {
                    add_scaled(&mut out.values[column], &self.matrices[a][row], value);
                } else {
                    out.values[column][row] = value;
                }
            }
        }
    }

    /// Row, column and dequantised value of all coefficients of a block.
    #[inline]
    fn coefficients<'a>(
        &self,
        (dc, words): Block<'a>,
    ) -> impl Iterator<Item = (usize, usize, f32)> + use<'_, 'a> {
        std::iter::once((0, dc)).chain(words).map(|(k, value)| {
            let (row, column) = place(NATURAL[k & 63]);
            (row, column, f32::from(value) * self.steps[k & 63])
        })
    }

    /// Writes the coefficients that are large enough, in zigzag order.
    #[inline]
    fn keep(&self, block: &Columns, room: &mut [u16; MAX_WORDS]) -> usize {
        let mut kept = 0_u64;
        let mut used = block.used;
        while used != 0 {
            let column = used.trailing_zeros() as usize & 7;
            used &= used - 1;
            let (values, floors) = (&block.values[column], &self.floor[column]);
            // Mostly nothing is large enough, which eight at a time tell without a branch.
            let large = |any: u32, k: usize| any | u32::from(values[k].abs() >= floors[k]);
            if (0..8).fold(0, large) == 0 {
                continue;
            }
            let pairs = values.iter().zip(floors);
            for ((value, floor), zigzag) in pairs.zip(&ZIGZAG[column]) {
                kept |= u64::from(value.abs() >= *floor) << zigzag;
            }
        }
        let mut words = 0;
        while kept != 0 {
            let k = kept.trailing_zeros() as usize;
            kept &= kept - 1;
            let (row, column) = place(NATURAL[k]);
            words += put_word(&mut room[words..], k, rounded(block.values[column][row]));
        }
        words
    }
}

/// Zigzag indices by column and row.
const ZIGZAG: [[u8; 8]; 8] = {
    let mut zigzag = [[0; 8]; 8];
    let mut k = 0;
    while k < 64 {
        zigzag[(NATURAL[k] % 8) as usize][(NATURAL[k] / 8) as usize] = k as u8;
        k += 1;
    }
    zigzag
};

/// Row and column of a natural index.
#[inline(always)]
fn place(natural: u8) -> (usize, usize) {
    (usize::from(natural >> 3 & 7), usize::from(natural & 7))
}

#[inline(always)]
fn add_scaled(sums: &mut [f32; 8], factors: &[f32; 8], value: f32) {
    for (sum, factor) in sums.iter_mut().zip(factors) {
        *sum += factor * value;
    }
}

/// Largest magnitude that the decoder lets through and the coders can code. Those of samples of 8 bits are half of it
/// (T.81 A.3.1), but in damaged files even small levels stand for more, and steps of 1 do not hide that.
const LARGEST: f32 = 2047.0;

#[inline(always)]
fn rounded(value: f32) -> i16 {
    let value = value.clamp(-LARGEST, LARGEST);
    (value + 0.5_f32.copysign(value)) as i16
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
mod tests;
