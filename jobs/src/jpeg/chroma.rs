//! Halves chroma planes without leaving the coefficient domain; luma is not touched.
//!
//! A pair of 8-sample blocks becomes one block of the averages of neighbouring samples. That is linear, so in one dimension
//! it is a matrix for each of the two blocks: transform back, average, transform. Blocks are sparse, so only the rows
//! that hold coefficients are multiplied. The result is kept in steps of 1, fine enough to be requantised.

use super::frame::{Coding, Component, Frame, QuantTable};
use super::plane::{MAX_WORDS, Plane, Words, Writer, put_word};
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
/// One or two neighbouring blocks of a row.
type Pair<'a> = [Option<Block<'a>>; 2];

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

/// Eight lines of sums; the lines not in use hold zeros.
#[derive(Debug, Default)]
struct Lines {
    values: Matrix,
    /// Lines that hold anything, as bits.
    used: u8,
}

impl Lines {
    #[inline(always)]
    fn add(&mut self, line: usize, factors: &[f32; 8], value: f32) {
        add_scaled(&mut self.values[line], factors, value);
        self.used |= 1 << line;
    }

    /// Zeros again where anything is: most blocks use one or two lines.
    #[inline(always)]
    fn clear(&mut self) {
        while let Some(line) = next_of(&mut self.used) {
            self.values[line] = [0.0; 8];
        }
    }
}

/// The lowest of the lines in `bits`, taken from them.
#[inline(always)]
fn next_of(bits: &mut u8) -> Option<usize> {
    let line = bits.trailing_zeros() as usize;
    *bits &= bits.wrapping_sub(1);
    (line < 8).then_some(line)
}

/// What one block after the other is made in.
#[derive(Debug, Default)]
struct Bench {
    /// A row of blocks halved across: by row and column.
    rows: Lines,
    /// The block of averages: by column and row, so that frequencies down lie next to each other.
    columns: Lines,
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
        let size = (before.blocks_across as usize, before.blocks_down as usize);
        let writer = plane.writer(0);
        match (self.halving.across, self.halving.down) {
            (true, true) => self.fill::<true, true>(source, size, across, down, writer, budget),
            (true, false) => self.fill::<true, false>(source, size, across, down, writer, budget),
            (false, true | false) => {
                self.fill::<false, true>(source, size, across, down, writer, budget)
            }
        }?;
        Ok(plane)
    }

    /// Writes `across` by `down` blocks from a plane that is `width` by `height` blocks. Which way is known here when this is
    /// compiled: a third of the time went into asking.
    fn fill<const ACROSS: bool, const DOWN: bool>(
        &self,
        source: &Plane,
        (width, height): (usize, usize),
        across: usize,
        down: usize,
        mut writer: Writer<'_>,
        budget: &Budget,
    ) -> Result<(), Error> {
        let mut bench = Bench::default();
        for row in 0..down {
            let first = if DOWN { 2 * row } else { row };
            let mut upper = source.row(first).take(width);
            let has_lower = DOWN && first + 1 < height;
            let mut lower = has_lower.then(|| source.row(first + 1).take(width));
            for _ in 0..across {
                let above = pair::<ACROSS>(&mut upper);
                let below = lower.as_mut().map(pair::<ACROSS>);
                self.block::<ACROSS, DOWN>(above, below, &mut bench);
                let columns = &mut bench.columns;
                let dc = rounded(columns.values[0][0]);
                writer.block(dc, budget, |room| self.keep(columns, room))?;
                columns.clear();
            }
        }
        Ok(())
    }

    /// The block of averages. Beyond its last row or column of blocks the picture goes on as its own mirror.
    #[inline(always)]
    fn block<const ACROSS: bool, const DOWN: bool>(
        &self,
        above: Pair<'_>,
        below: Option<Pair<'_>>,
        bench: &mut Bench,
    ) {
        self.add::<ACROSS, DOWN>(above, 0, false, bench);
        if DOWN {
            self.add::<ACROSS, DOWN>(below.unwrap_or(above), 1, below.is_none(), bench);
        }
    }

    /// Adds what the upper (0) or lower (1) row of blocks gives, turned upside down if `mirrored`.
    #[inline(always)]
    fn add<const ACROSS: bool, const DOWN: bool>(
        &self,
        [left, right]: Pair<'_>,
        a: usize,
        mirrored: bool,
        bench: &mut Bench,
    ) {
        let Some(left) = left else {
            return;
        };
        if !ACROSS {
            let columns = &mut bench.columns;
            self.each(left, mirrored, false, |row, column, value| {
                columns.add(column, &self.matrices[a][row], value);
            });
            return;
        }
        let Bench { rows, columns } = bench;
        for (b, block) in [(0, left), (1, right.unwrap_or(left))] {
            let turned = b == 1 && right.is_none();
            self.each(block, mirrored, turned, |row, column, value| {
                rows.add(row, &self.matrices[b][column], value);
            });
        }
        let mut used = rows.used;
        while let Some(row) = next_of(&mut used) {
            for (column, &value) in rows.values[row].iter().enumerate() {
                if DOWN {
                    columns.add(column, &self.matrices[a][row], value);
                } else {
                    columns.values[column][row] = value;
                }
            }
        }
        columns.used = u8::MAX;
        rows.clear();
    }

    /// Row, column and dequantised value of all coefficients of a block, one after the other; `mirrored` turns it upside
    /// down, `turned` left to right.
    #[inline(always)]
    fn each(
        &self,
        (dc, words): Block<'_>,
        mirrored: bool,
        turned: bool,
        mut take: impl FnMut(usize, usize, f32),
    ) {
        take(0, 0, f32::from(dc) * self.steps[0]);
        for (k, value) in words {
            let (row, column) = place(NATURAL[k & 63]);
            let odd = (mirrored && row % 2 == 1) != (turned && column % 2 == 1);
            let value = f32::from(value) * self.steps[k & 63];
            take(row, column, if odd { -value } else { value });
        }
    }

    /// Writes the coefficients that are large enough, in zigzag order.
    #[inline]
    fn keep(&self, block: &Lines, room: &mut [u16; MAX_WORDS]) -> usize {
        let mut kept = 0_u64;
        let mut used = block.used;
        while let Some(column) = next_of(&mut used) {
            let (values, floors) = (&block.values[column], &self.floor[column]);
            // Mostly nothing is large enough, which eight at a time tell without a branch.
            let is_large = |row: usize| values[row].abs() >= floors[row];
            if !(0..8).fold(false, |any, row| any | is_large(row)) {
                continue;
            }
            let mut large = (0..8).fold(0_u8, |bits, row| bits | u8::from(is_large(row)) << row);
            while let Some(row) = next_of(&mut large) {
                kept |= 1 << ZIGZAG[column][row];
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

/// The next one or two blocks of a row.
#[inline(always)]
fn pair<'a, const BOTH: bool>(row: &mut impl Iterator<Item = Block<'a>>) -> Pair<'a> {
    let left = row.next();
    let right = if BOTH { row.next() } else { None };
    [left, right]
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
    *sums = std::array::from_fn(|n| sums[n] + factors[n] * value);
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
