//! Where the entropy coders put their symbols: into histograms, or through codes into bits.
//!
//! The coders are written once over [`Emit`]; counting and writing can therefore never disagree.

use crate::Error;
use crate::jpeg::bits_out::BitWriter;
use crate::jpeg::huffman_out::{Code, Histogram};

/// Takes symbols with their extra bits.
pub trait Emit {
    /// Takes `symbol` of table `table` (the coder's own numbering), followed by the low `count` bits of `extra`.
    fn emit(&mut self, table: usize, symbol: u8, extra: u32, count: u32);

    /// Called before each block.
    ///
    /// # Errors
    /// [`Error::Write`].
    fn room(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// Counts symbols and extra bits; `N` tables.
#[derive(Debug, Clone)]
pub struct Counts<const N: usize> {
    /// One histogram per table.
    pub histograms: [Histogram; N],
    /// Extra bits per table.
    pub extra: [u64; N],
}

impl<const N: usize> Default for Counts<N> {
    fn default() -> Self {
        Self {
            histograms: std::array::from_fn(|_| Histogram::default()),
            extra: [0; N],
        }
    }
}

impl<const N: usize> Emit for Counts<N> {
    #[inline(always)]
    fn emit(&mut self, table: usize, symbol: u8, _: u32, count: u32) {
        self.histograms[table].0[usize::from(symbol)] += 1;
        self.extra[table] += u64::from(count);
    }
}

/// Writes symbols as bits; every symbol emitted must have a code.
#[derive(Debug)]
pub struct Bits<'a, 'b, const N: usize> {
    /// One code per table.
    pub codes: [&'a Code; N],
    /// Where the bits go.
    pub out: &'a mut BitWriter<'b>,
}

impl<const N: usize> Emit for Bits<'_, '_, N> {
    #[inline(always)]
    fn emit(&mut self, table: usize, symbol: u8, extra: u32, count: u32) {
        let (bits, length) = self.codes[table].of(symbol);
        debug_assert!(length > 0, "symbol {symbol:#x} has no code");
        let joined = u64::from(bits) << count | u64::from(extra);
        self.out.put(joined, u32::from(length) + count);
    }

    #[inline(always)]
    fn room(&mut self) -> Result<(), Error> {
        self.out.room()
    }
}

/// Size category of a value and its extra bits (T.81 F.1.2.1).
#[inline(always)]
pub fn magnitude(value: i32) -> (u32, u32) {
    let size = 32 - value.unsigned_abs().leading_zeros();
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
