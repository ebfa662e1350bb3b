//! Sequential Huffman coding (T.81 F.1.2): one scan, interleaved, in MCU order.
//!
//! Works MCU row by MCU row, so that a caller may hold no more than that. Blocks that only pad the picture to whole MCUs
//! repeat the DC value before them and have no AC coefficients, whatever the source held there: no decoder shows them.

use super::Role;
use super::emit::{Counts, Emit, magnitude};
use super::view::{View, ViewRow};
use crate::Error;
use crate::jpeg::frame::{Frame, MAX_COMPONENTS};
use crate::jpeg::huffman_out::Histogram;
use crate::jpeg::plane::Words;

/// Tables counted and written: DC and AC of luma-like components, DC and AC of chroma.
pub const TABLES: usize = 4;
const END_OF_BLOCK: u8 = 0x00;
const SIXTEEN_ZEROS: u8 = 0xF0;
/// Largest sizes that the decoder lets through: one more than an 8-bit picture has (T.81 F.1.2), as libjpeg does.
const LARGEST_DC: usize = 12;
const LARGEST_AC: usize = 11;
/// Weight of a symbol counted against one only made sure of.
const COMMON: u32 = 8;

/// Coder of one scan over all components.
#[derive(Debug, Clone)]
pub struct Sequential {
    /// Last DC value of each component.
    previous: [i32; MAX_COMPONENTS],
    /// Blocks across and down within an MCU, and the first table, of each component.
    layout: Vec<(usize, usize, usize)>,
    mcus_across: usize,
    mcus_down: usize,
}

impl Sequential {
    /// A coder for `frame`; chroma uses the second pair of tables.
    pub fn new(frame: &Frame, roles: &[Role]) -> Self {
        let tables = |c: usize| first_table(roles[c]);
        if let [only] = &frame.components[..] {
            // A scan of one component is coded block by block, whatever its sampling factors say (T.81 A.2.2).
            return Self {
                previous: [0; MAX_COMPONENTS],
                layout: vec![(1, 1, tables(0))],
                mcus_across: only.blocks_across as usize,
                mcus_down: only.blocks_down as usize,
            };
        }
        let layout = frame.components.iter().enumerate();
        Self {
            previous: [0; MAX_COMPONENTS],
            layout: layout
                .map(|(c, component)| {
                    (
                        usize::from(component.h),
                        usize::from(component.v),
                        tables(c),
                    )
                })
                .collect(),
            mcus_across: frame.mcus_across as usize,
            mcus_down: frame.mcus_down as usize,
        }
    }

    /// MCU rows of the scan.
    pub fn mcus_down(&self) -> usize {
        self.mcus_down
    }

    /// Block rows of component `c` in an MCU row.
    pub fn rows_of(&self, c: usize) -> usize {
        self.layout[c].1
    }

    /// Codes one MCU row; `rows` holds, component by component, the block rows within it.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn mcu_row(&mut self, rows: &mut [ViewRow<'_>], out: &mut impl Emit) -> Result<(), Error> {
        for _ in 0..self.mcus_across {
            let mut first = 0;
            for (c, &(h, v, table)) in self.layout.iter().enumerate() {
                for row in &mut rows[first..first + v] {
                    for _ in 0..h {
                        out.room()?;
                        let (dc, words) = row
                            .next()
                            .unwrap_or((self.previous[c] as i16, Words::none()));
                        let difference = i32::from(dc) - self.previous[c];
                        self.previous[c] = i32::from(dc);
                        block(difference, words, table, out);
                    }
                }
                first += v;
            }
        }
        Ok(())
    }

    /// Counts component `c` in `view`, whose AC symbols were counted block by block as `ac`: only the differences of DC
    /// values follow MCU order, and padding adds nothing but ends of block.
    pub fn count(&self, c: usize, view: &View<'_>, ac: &Histogram, counts: &mut Statistics) {
        let (h, v, table) = self.layout[c];
        for (sum, count) in counts.histograms[table + 1].0.iter_mut().zip(&ac.0) {
            *sum += count;
        }
        let blocks = self.mcus_across * h * self.mcus_down * v;
        counts.histograms[table + 1].0[usize::from(END_OF_BLOCK)] +=
            (blocks - view.blocks()) as u32;
        let mut previous = 0;
        for mcu_row in 0..self.mcus_down {
            let rows: Vec<&[i16]> = (mcu_row * v..(mcu_row + 1) * v)
                .map(|row| view.row(row).dc_values())
                .collect();
            for first in (0..self.mcus_across).map(|mcu| mcu * h) {
                for dc in rows
                    .iter()
                    .flat_map(|row| (first..first + h).map(|at| row.get(at)))
                {
                    let dc = dc.map_or(previous, |&dc| i32::from(dc));
                    let (size, bits) = magnitude(dc - previous);
                    counts.emit(table, size as u8, bits, size);
                    previous = dc;
                }
            }
        }
    }
}

/// The first of the two tables that components of `role` use.
pub fn first_table(role: Role) -> usize {
    match role {
        Role::Detail => 0,
        Role::Chroma => 2,
    }
}

/// Codes one block.
#[inline]
fn block(difference: i32, words: Words<'_>, table: usize, out: &mut impl Emit) {
    let (size, bits) = magnitude(difference);
    out.emit(table, size as u8, bits, size);
    let mut next = 1;
    for (index, value) in words {
        let mut run = index - next;
        while run > 15 {
            out.emit(table + 1, SIXTEEN_ZEROS, 0, 0);
            run -= 16;
        }
        let (size, bits) = magnitude(i32::from(value));
        out.emit(table + 1, (run << 4) as u8 | size as u8, bits, size);
        next = index + 1;
    }
    if next < 64 {
        out.emit(table + 1, END_OF_BLOCK, 0, 0);
    }
}

/// What one pass over the picture counted.
pub type Statistics = Counts<TABLES>;

/// Joins what was counted component by component, tables 0 and 1 of each being its DC and AC symbols, and makes sure that
/// every symbol a picture may need has a code: the counts may be those of a sample.
pub fn join<const N: usize>(components: &[Counts<N>], roles: &[Role]) -> Statistics {
    let mut joined = Statistics::default();
    for (counts, &role) in components.iter().zip(roles) {
        let first = first_table(role);
        for (table, histogram) in counts.histograms.iter().take(2).enumerate() {
            for (sum, &count) in joined.histograms[first + table]
                .0
                .iter_mut()
                .zip(&histogram.0)
            {
                *sum += count * COMMON;
            }
        }
        for size in 0..=LARGEST_DC {
            let count = &mut joined.histograms[first].0[size];
            *count = (*count).max(1);
        }
        let coefficients =
            (0..16).flat_map(|run| (1..=LARGEST_AC).map(move |size| run << 4 | size));
        for symbol in coefficients.chain([END_OF_BLOCK.into(), SIXTEEN_ZEROS.into()]) {
            let count = &mut joined.histograms[first + 1].0[symbol];
            *count = (*count).max(1);
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jpeg::huffman_out::Code;

    /// The sample that codes come from need not hold what the picture holds.
    #[test]
    fn whatever_the_decoder_lets_through_has_a_code() {
        let joined = join::<2>(
            &[Counts::default(), Counts::default()],
            &[Role::Detail, Role::Chroma],
        );
        let codes = joined.histograms.each_ref().map(Code::optimal);
        for pair in codes.as_chunks::<2>().0 {
            for difference in [-4094, -2048, -1, 0, 1, 2047, 4094] {
                assert!(
                    pair[0].of(magnitude(difference).0 as u8).1 > 0,
                    "{difference}"
                );
            }
            for (run, value) in
                (0..16).flat_map(|run| [-2047, -1, 1, 1024, 2047].map(|value| (run, value)))
            {
                let symbol = run << 4 | magnitude(value).0 as u8;
                assert!(pair[1].of(symbol).1 > 0, "{value} after {run}");
            }
        }
    }
}
