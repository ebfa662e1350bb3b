//! Sequential Huffman coding (T.81 F.1.2): one scan, interleaved, in MCU order.
//!
//! Works MCU row by MCU row, so that a caller may hold no more than that. Blocks that only pad the picture to whole MCUs
//! repeat the DC value before them and have no AC coefficients, whatever the source held there: no decoder shows them.

use super::emit::{Counts, Emit, magnitude};
use super::view::ViewRow;
use crate::Error;
use crate::jpeg::frame::{Frame, MAX_COMPONENTS};
use crate::jpeg::plane::Words;

/// Tables counted and written: DC and AC of luma-like components, DC and AC of chroma.
pub const TABLES: usize = 4;
const END_OF_BLOCK: u8 = 0x00;
const SIXTEEN_ZEROS: u8 = 0xF0;

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
    /// A coder for `frame`; `second[c]` says whether component `c` uses the second pair of tables.
    pub fn new(frame: &Frame, second: &[bool]) -> Self {
        let tables = |c: usize| if second[c] { 2 } else { 0 };
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
