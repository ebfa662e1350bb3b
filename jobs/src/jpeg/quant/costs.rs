//! Bits that coding a coefficient takes, estimated from the symbols of an earlier pass.

use crate::jpeg::encode::emit::size;
use crate::jpeg::huffman_out::Histogram;

/// Sizes (T.81 table F.2) that have a row of their own; larger ones cost like the last.
const SIZES: usize = 12;
/// Magnitudes whose bits stand in a table of their own.
pub const LEVELS: usize = 8;
/// Bits of the shortest Huffman code.
const SHORTEST: f32 = 1.0;

/// Bits of the symbols of one AC band.
#[derive(Debug, Clone)]
pub struct Costs {
    /// By size and zero run, sixteen-zero symbols and magnitude bits included.
    coefficient: [[f32; 64]; SIZES],
    /// The same by magnitude, of those that are most of all.
    levels: [[f32; 64]; LEVELS],
    /// Of ending a block early that has coefficients, beyond what an empty block costs.
    pub end: f32,
}

impl Costs {
    /// From a progressive band's histogram: ends of band are counted in runs (T.81 table G.1).
    pub fn of_runs(histogram: &Histogram) -> Self {
        let bits = Bits::new(histogram);
        let (mut runs, mut blocks, mut spent) = (0.0, 0.0, 0.0);
        for size in 0..15_u8 {
            let count = f64::from(histogram.0[usize::from(size << 4)]) + 1e-3;
            runs += count;
            blocks += count * 1.5 * f64::from(1_u32 << size);
            spent += count * f64::from(bits.of(size << 4) + f32::from(size));
        }
        let lengthened = (1.0 + runs / blocks).log2();
        Self::new(&bits, (spent / runs - lengthened) as f32)
    }

    /// From a sequential scan's AC histogram: every block that ends early costs the same symbol.
    pub fn of_blocks(histogram: &Histogram) -> Self {
        Self::new(&Bits::new(histogram), 0.0)
    }

    fn new(bits: &Bits, end: f32) -> Self {
        let sixteen_zeros = bits.of(0xF0);
        let cost = |size: usize, run: usize| {
            let symbol = bits.of(((run & 15) << 4 | size) as u8);
            symbol + size as f32 + (run >> 4) as f32 * sixteen_zeros
        };
        let row = |size: usize| match size {
            0 => [0.0; 64],
            1.. => std::array::from_fn(|run| cost(size, run)),
        };
        let coefficient: [[f32; 64]; SIZES] = std::array::from_fn(row);
        Self {
            levels: std::array::from_fn(|level| coefficient[size(level as u32) as usize]),
            coefficient,
            end,
        }
    }

    /// Bits by zero run of a coefficient of magnitude `level`, below [`LEVELS`]; one of 0 is not coded.
    #[inline(always)]
    pub fn of_level(&self, level: u32) -> &[f32; 64] {
        &self.levels[level as usize % LEVELS]
    }

    /// Bits by zero run of a coefficient of `size`; one of size 0 is not coded.
    #[inline(always)]
    pub fn of_size(&self, size: usize) -> &[f32; 64] {
        &self.coefficient[size.min(SIZES - 1)]
    }
}

/// Ideal code lengths.
struct Bits<'a> {
    histogram: &'a Histogram,
    total: f32,
}

impl<'a> Bits<'a> {
    fn new(histogram: &'a Histogram) -> Self {
        Self {
            histogram,
            total: histogram.total() as f32 + 1.0,
        }
    }

    /// Bits of `symbol`; one that never occurred costs a little more than one that occurred once.
    fn of(&self, symbol: u8) -> f32 {
        let count = self.histogram.0[usize::from(symbol)] as f32;
        (self.total / (count + 0.3)).log2().max(SHORTEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_symbols_and_long_runs_cost_more() {
        let mut histogram = Histogram::default();
        (histogram.0[0x01], histogram.0[0x11], histogram.0[0xF0]) = (1000, 100, 10);
        let costs = Costs::of_blocks(&histogram);
        let ones = costs.of_size(1);
        assert!(ones[0] < ones[1] && ones[1] < ones[16]);
        assert!(costs.of_size(3)[0] > ones[0]);
    }

    #[test]
    fn long_runs_make_an_early_end_dear() {
        let (mut short, mut long) = (Histogram::default(), Histogram::default());
        (short.0[0x01], short.0[0x00]) = (500, 500);
        (long.0[0x01], long.0[0x80]) = (500, 10);
        assert!(Costs::of_runs(&long).end > Costs::of_runs(&short).end);
    }
}
