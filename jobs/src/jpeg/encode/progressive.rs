//! Progressive Huffman coding (T.81 G.1.2) of first scans: DC values and AC bands of one component.
//!
//! Each scan covers one component and so runs in raster order with a table of its own. Lossy results are coded by spectral
//! selection alone: at the sizes people ask for, successive approximation costs more than it saves.

use super::emit::{Counts, Emit, magnitude};
use crate::jpeg::plane::Words;

/// Tables of one component: its DC scan and its bands.
pub const TABLES: usize = 3;
/// Table of the DC scan.
pub const DC: usize = 0;
/// The symbol for sixteen zeros.
pub const SIXTEEN_ZEROS: u8 = 0xF0;
/// Blocks whose end-of-band run is written at the latest (T.81 G.1.2.2).
pub const LONGEST_RUN: u32 = 0x7FFF;

/// Zigzag indices, first and last, of an AC band.
pub type Range = (usize, usize);

/// Bands of a component that carries the picture's detail.
pub const DETAIL: &[Range] = &[(1, 2), (3, 63)];
/// Bands of a chroma component.
pub const CHROMA: &[Range] = &[(1, 63)];

/// The one band of a sequential scan.
pub const SEQUENTIAL: &[Range] = &[(1, 63)];

/// What one pass over a component counted.
pub type Statistics = Counts<TABLES>;

/// Coder of a DC scan.
#[derive(Debug, Clone, Default)]
pub struct Dc {
    previous: i32,
}

impl Dc {
    /// A coder that goes on after a block of value `dc`.
    pub fn after(dc: i16) -> Self {
        Self {
            previous: i32::from(dc),
        }
    }

    /// Codes one block's DC value.
    #[inline(always)]
    pub fn block(&mut self, dc: i16, out: &mut impl Emit) {
        let (size, bits) = magnitude(i32::from(dc) - self.previous);
        self.previous = i32::from(dc);
        out.emit(DC, size as u8, bits, size);
    }
}

/// Coder of one AC band.
#[derive(Debug, Clone)]
pub struct Band {
    table: usize,
    first: usize,
    last: usize,
    /// Blocks whose end of band is not yet written.
    run: u32,
    longest_run: u32,
}

impl Band {
    /// A coder for the zigzag indices of `range`, counting and writing under `table`.
    pub fn new(table: usize, range: Range) -> Self {
        Self {
            table,
            first: range.0,
            last: range.1,
            run: 0,
            longest_run: LONGEST_RUN,
        }
    }

    /// A coder that ends every block by itself, which is what a sequential scan does with its AC coefficients.
    pub fn sequential(table: usize) -> Self {
        Self {
            longest_run: 1,
            ..Self::new(table, SEQUENTIAL[0])
        }
    }

    /// Codes one block; takes the coefficients up to the band's end, passes over those before it, leaves those behind.
    #[inline]
    pub fn block(&mut self, words: &mut Words<'_>, out: &mut impl Emit) {
        let mut next = self.first;
        while let Some((index, value)) = words.next_up_to(self.last) {
            if index < self.first {
                continue;
            }
            self.finish(out);
            self.coefficient(index - next, value.into(), out);
            next = index + 1;
        }
        self.close(next, out);
    }

    /// Codes one block without the lowest `low` bits of its magnitudes (the point transform of T.81 G.1.2.2).
    pub fn coarse_block(&mut self, words: Words<'_>, low: u8, out: &mut impl Emit) {
        let mut next = self.first;
        for (index, value) in words {
            let level = i32::from(value.unsigned_abs() >> low);
            if index < self.first || index > self.last || level == 0 {
                continue;
            }
            self.finish(out);
            let level = if value < 0 { -level } else { level };
            self.coefficient(index - next, level, out);
            next = index + 1;
        }
        self.close(next, out);
    }

    /// Codes a coefficient after `run` zeros; runs of earlier blocks must be finished.
    #[inline(always)]
    pub fn coefficient(&mut self, mut run: usize, value: i32, out: &mut impl Emit) {
        while run > 15 {
            out.emit(self.table, SIXTEEN_ZEROS, 0, 0);
            run -= 16;
        }
        let (size, bits) = magnitude(value);
        out.emit(self.table, (run << 4) as u8 | size as u8, bits, size);
    }

    /// Ends a block, `next` being the zigzag index behind its last coefficient.
    #[inline(always)]
    pub fn close(&mut self, next: usize, out: &mut impl Emit) {
        if next <= self.last {
            self.run += 1;
            if self.run == self.longest_run {
                self.finish(out);
            }
        }
    }

    /// Codes `count` blocks without coefficients in the band.
    #[inline]
    pub fn skip(&mut self, mut count: u32, out: &mut impl Emit) {
        while self.run + count >= self.longest_run {
            count -= self.longest_run - self.run;
            self.run = self.longest_run;
            self.finish(out);
        }
        self.run += count;
    }

    /// Writes the run of blocks that ended early; needed once more after the last block.
    #[inline]
    pub fn finish(&mut self, out: &mut impl Emit) {
        if self.run > 0 {
            put_run(self.table, std::mem::take(&mut self.run), out);
        }
    }
}

/// Writes the end of band of `run` blocks (T.81 table G.1), if there are any.
#[inline(always)]
pub fn put_run(table: usize, run: u32, out: &mut impl Emit) {
    if run > 0 {
        let size = 31 - run.leading_zeros();
        out.emit(table, (size << 4) as u8, run - (1 << size), size);
    }
}
