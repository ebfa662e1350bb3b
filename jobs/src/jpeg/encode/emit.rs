//! Where the entropy coders put their symbols: into histograms, or through codes into bits.
//!
//! The coders are written once over [`Emit`]; counting and writing can therefore never disagree.

use crate::Error;
use crate::jpeg::bits_out::{BitWriter, Place};
use crate::jpeg::huffman_out::{Code, Histogram};

/// Takes symbols with their extra bits.
pub trait Emit {
    /// Takes `symbol` of table `table` (the coder's own numbering), followed by the low `count` bits of `extra`.
    fn emit(&mut self, table: usize, symbol: u8, extra: u32, count: u32);

    /// Takes the low `count` bits of `bits`, at most 48, which belong to no symbol.
    fn bits(&mut self, bits: u64, count: u32);

    /// Called before each block.
    ///
    /// # Errors
    /// [`Error::Write`].
    fn room(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// Counts symbols, which also tell their extra bits; `N` tables.
#[derive(Debug, Clone)]
pub struct Counts<const N: usize> {
    /// One histogram per table.
    pub histograms: [Histogram; N],
    /// Bits that belong to no symbol.
    pub bits: u64,
}

impl<const N: usize> Default for Counts<N> {
    fn default() -> Self {
        Self {
            histograms: std::array::from_fn(|_| Histogram::default()),
            bits: 0,
        }
    }
}

impl<const N: usize> Emit for Counts<N> {
    #[inline(always)]
    fn emit(&mut self, table: usize, symbol: u8, _: u32, _: u32) {
        self.histograms[table].0[usize::from(symbol)] += 1;
    }

    #[inline(always)]
    fn bits(&mut self, _: u64, count: u32) {
        self.bits += u64::from(count);
    }
}

/// Writes symbols as bits; every symbol emitted must have a code. Ends with [`Bits::close`].
#[derive(Debug)]
pub struct Bits<'a, 'b, const N: usize> {
    codes: [&'a Code; N],
    /// A copy of the writer's own.
    place: Place,
    out: &'a mut BitWriter<'b>,
}

impl<'a, 'b, const N: usize> Bits<'a, 'b, N> {
    /// One code for each table; the bits go to `out`.
    pub fn new(codes: &'a [Code; N], out: &'a mut BitWriter<'b>) -> Self {
        Self {
            codes: codes.each_ref(),
            place: out.place,
            out,
        }
    }

    /// Hands the last bits over.
    pub fn close(self) {
        self.out.place = self.place;
    }

    #[cold]
    #[inline(never)]
    fn flush(&mut self) -> Result<(), Error> {
        self.out.place = self.place;
        self.out.room()?;
        self.place = self.out.place;
        Ok(())
    }
}

impl<const N: usize> Emit for Bits<'_, '_, N> {
    #[inline(always)]
    fn emit(&mut self, table: usize, symbol: u8, extra: u32, count: u32) {
        let (bits, length) = self.codes[table].of(symbol);
        debug_assert!(length > 0, "symbol {symbol:#x} has no code");
        let joined = u64::from(bits) << count | u64::from(extra);
        self.place
            .put(&mut self.out.packed, joined, u32::from(length) + count);
    }

    #[inline(always)]
    fn bits(&mut self, bits: u64, count: u32) {
        self.place.put(&mut self.out.packed, bits, count);
    }

    #[inline(always)]
    fn room(&mut self) -> Result<(), Error> {
        if self.place.is_full() {
            self.flush()?;
        }
        Ok(())
    }
}

/// Magnitudes whose size stands in a table: nearly all there are. Counting leading zeros is slow on processors that the
/// default build must run on.
const TABLED: usize = 256;
/// Size categories of those magnitudes.
pub const SIZES: [u8; TABLED] = {
    let mut sizes = [0; TABLED];
    let mut value = 1;
    while value < TABLED {
        sizes[value] = sizes[value / 2] + 1;
        value += 1;
    }
    sizes
};

/// Bits of a magnitude: its size category (T.81 tables F.1 and F.2).
#[inline(always)]
pub fn size(magnitude: u32) -> u32 {
    match SIZES.get(magnitude as usize) {
        Some(&size) => size.into(),
        None => 32 - magnitude.leading_zeros(),
    }
}

/// Size category of a value and its extra bits (T.81 F.1.2.1).
#[inline(always)]
pub fn magnitude(value: i32) -> (u32, u32) {
    let size = size(value.unsigned_abs());
    // Negative values are stored as one less, so that their first bit is 0.
    let bits = (value + (value >> 31)) as u32 & ((1_u32 << size) - 1);
    (size, bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magnitudes_follow_the_standards_table() {
        for (value, expected) in [
            (0, (0, 0)),
            (1, (1, 1)),
            (-1, (1, 0)),
            (2, (2, 2)),
            (-2, (2, 1)),
            (-3, (2, 0)),
            (255, (8, 255)),
            (-255, (8, 0)),
            (-2047, (11, 0)),
            (2047, (11, 2047)),
            (-32768, (16, 32767)),
        ] {
            assert_eq!(magnitude(value), expected, "{value}");
        }
    }
}
