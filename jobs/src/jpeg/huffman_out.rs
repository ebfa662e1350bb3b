//! Optimal Huffman codes of at most 16 bits from a histogram, and their form in a DHT segment.
//!
//! Package-merge (Larmore and Hirschberg 1990) gives the optimum under a length limit, where T.81 K.2 only repairs
//! codes that came out too long. A 257th symbol of weight nothing takes the code of all ones, which T.81 C forbids.

/// Longest code allowed in a JPEG.
const LONGEST: usize = 16;
/// The symbol that takes the code of all ones.
const RESERVED: u16 = 256;

/// Bits that follow `symbol`, see [`Histogram::extra_bits`].
pub fn extra_bits(symbol: usize) -> usize {
    match symbol & 15 {
        0 if symbol != 0xF0 => symbol >> 4,
        size => size,
    }
}

/// How often each symbol occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram(pub [u32; 256]);

impl Default for Histogram {
    fn default() -> Self {
        Self([0; 256])
    }
}

impl Histogram {
    /// Adds another histogram, for scans that share a table.
    pub fn add(&mut self, other: &Self) {
        for (own, more) in self.0.iter_mut().zip(&other.0) {
            *own += more;
        }
    }

    /// Bits that follow the symbols: a DC symbol is a number of bits, an AC symbol has it in its lower half, and that of a
    /// run of ended bands, whose lower half is zero, in its upper half (T.81 F.1.2 and G.1.2.2).
    pub fn extra_bits(&self) -> u64 {
        let bits = |(symbol, &count): (usize, &u32)| extra_bits(symbol) as u64 * u64::from(count);
        self.0.iter().enumerate().map(bits).sum()
    }

    /// Occurrences in all.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|&count| u64::from(count)).sum()
    }
}

/// A Huffman code: what a DHT segment declares and what the bit writer needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// Number of codes of each length 1 to 16.
    pub counts: [u8; LONGEST],
    /// Symbols by rising length.
    pub symbols: Vec<u8>,
    /// Code bits of each symbol, above eight bits of their number, which is 0 where it has no code: one load gives both.
    codes: [u32; 256],
}

impl Code {
    /// The best code for `histogram`; symbols that do not occur get no code.
    pub fn optimal(histogram: &Histogram) -> Self {
        let mut order: Vec<(u32, u16)> = (0_u16..)
            .zip(&histogram.0)
            .filter(|&(_, &count)| count > 0)
            .map(|(symbol, &count)| (count, symbol))
            .collect();
        order.sort_unstable();
        order.insert(0, (0, RESERVED));
        Self::assign(&order, &package_merge(&order))
    }

    /// Canonical codes (T.81 C.2): by length, then by falling weight within a length.
    fn assign(order: &[(u32, u16)], depths: &[u8]) -> Self {
        let mut code = Self {
            counts: [0; LONGEST],
            symbols: Vec::with_capacity(order.len()),
            codes: [0; 256],
        };
        let (mut next, mut length) = (0_u32, 0_u8);
        // Weights rise along `order`, so lengths fall; reversed, the reserved symbol comes last and gets all ones.
        for (&(_, symbol), &depth) in order.iter().zip(depths).rev() {
            if symbol == RESERVED {
                continue;
            }
            next <<= depth - length;
            length = depth;
            code.codes[usize::from(symbol)] = next << 8 | u32::from(depth);
            code.counts[usize::from(depth) - 1] += 1;
            code.symbols.push(symbol as u8);
            next += 1;
        }
        code
    }

    /// Code bits and length of `symbol`; the length is 0 for a symbol without a code.
    #[inline(always)]
    pub fn of(&self, symbol: u8) -> (u16, u8) {
        let code = self.codes[usize::from(symbol)];
        ((code >> 8) as u16, code as u8)
    }

    /// Bits that coding everything in `histogram` takes, without extra bits.
    pub fn cost(&self, histogram: &Histogram) -> u64 {
        let bits = |(&count, &code): (&u32, &u32)| u64::from(count) * u64::from(code as u8);
        histogram.0.iter().zip(&self.codes).map(bits).sum()
    }

    /// Bytes its definition takes inside a DHT segment.
    pub fn definition_bytes(&self) -> u64 {
        1 + LONGEST as u64 + self.symbols.len() as u64
    }
}

/// Code lengths of the items of `order` (sorted by rising weight, at least one), none above [`LONGEST`].
fn package_merge(order: &[(u32, u16)]) -> Vec<u8> {
    let count = order.len();
    if count == 1 {
        return vec![1];
    }
    // Each level's list of weights in order; the flag says whether an entry is an item or a package of the level below.
    let mut levels: Vec<Vec<bool>> = Vec::with_capacity(LONGEST);
    let mut below: Vec<u64> = Vec::new();
    for _ in 0..LONGEST {
        let (weights, is_item) = merge(order, &below);
        below = weights
            .chunks_exact(2)
            .map(|pair| pair[0] + pair[1])
            .collect();
        levels.push(is_item);
    }
    let mut depths = vec![0; count];
    let mut take = 2 * count - 2;
    for level in levels.iter().rev() {
        let items = level[..take].iter().filter(|&&item| item).count();
        for depth in &mut depths[..items] {
            *depth += 1;
        }
        take = 2 * (take - items);
    }
    depths
}

/// Merges the items with the packages by rising weight, items first where equal.
fn merge(order: &[(u32, u16)], packages: &[u64]) -> (Vec<u64>, Vec<bool>) {
    let length = order.len() + packages.len();
    let (mut weights, mut is_item) = (Vec::with_capacity(length), Vec::with_capacity(length));
    let mut items = order
        .iter()
        .map(|&(weight, _)| u64::from(weight))
        .peekable();
    let mut packages = packages.iter().copied().peekable();
    loop {
        let item = match (items.peek(), packages.peek()) {
            (None, None) => return (weights, is_item),
            (Some(item), Some(package)) => item <= package,
            (Some(_), None) => true,
            (None, Some(_)) => false,
        };
        let next = if item { items.next() } else { packages.next() };
        weights.extend(next);
        is_item.push(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn histogram(counts: &[(u8, u32)]) -> Histogram {
        let mut histogram = Histogram::default();
        for &(symbol, count) in counts {
            histogram.0[usize::from(symbol)] += count;
        }
        histogram
    }

    /// Lengths of an unlimited Huffman code with one more symbol of no weight, by repeated merging.
    fn unlimited(histogram: &Histogram) -> (u64, usize) {
        let mut nodes: Vec<(u64, Vec<usize>)> = histogram
            .0
            .iter()
            .enumerate()
            .filter(|&(_, &count)| count > 0)
            .map(|(symbol, &count)| (u64::from(count), vec![symbol]))
            .collect();
        nodes.push((0, vec![256]));
        let mut depth = [0_usize; 257];
        while nodes.len() > 1 {
            nodes.sort_by_key(|node| std::cmp::Reverse(node.0));
            let (a, b) = (nodes.pop().expect("two"), nodes.pop().expect("two"));
            let both = [a.1, b.1].concat();
            for &symbol in &both {
                depth[symbol] += 1;
            }
            nodes.push((a.0 + b.0, both));
        }
        let cost = (0..256)
            .map(|s| u64::from(histogram.0[s]) * depth[s] as u64)
            .sum();
        (cost, depth[..256].iter().copied().max().unwrap_or(0))
    }

    fn check(histogram: &Histogram) {
        let code = Code::optimal(histogram);
        let mut seen: Vec<(u16, u8)> = Vec::new();
        for symbol in 0..=255 {
            let (bits, length) = code.of(symbol);
            assert_eq!(length > 0, histogram.0[usize::from(symbol)] > 0);
            if length == 0 {
                continue;
            }
            assert!(length <= 16);
            assert!(u32::from(bits) != (1_u32 << length) - 1, "all ones");
            for &(other, longer) in &seen {
                let (short, long) = (length.min(longer), length.max(longer));
                let (a, b) = if length <= longer {
                    (bits, other)
                } else {
                    (other, bits)
                };
                assert!(b >> (long - short) != a, "one code begins another");
            }
            seen.push((bits, length));
        }
        let (cost, deepest) = unlimited(histogram);
        if deepest <= 16 {
            assert_eq!(code.cost(histogram), cost, "not optimal");
        } else {
            assert!(code.cost(histogram) >= cost);
        }
    }

    #[test]
    fn a_lonely_symbol_gets_a_zero() {
        let code = Code::optimal(&histogram(&[(0x31, 9)]));
        assert_eq!(code.of(0x31), (0, 1));
        assert_eq!(code.symbols, [0x31]);
    }

    #[test]
    fn nothing_gets_no_code() {
        let code = Code::optimal(&Histogram::default());
        assert!(code.symbols.is_empty() && code.counts == [0; 16]);
    }

    #[test]
    fn fibonacci_weights_stay_within_sixteen_bits() {
        let (mut a, mut b) = (1, 1);
        let mut counts = Vec::new();
        for symbol in 0..40 {
            counts.push((symbol, a));
            (a, b) = (b, a + b);
        }
        check(&histogram(&counts));
    }

    #[test]
    fn the_limit_costs_what_an_exhaustive_search_says() {
        // Eighteen symbols of weights 1, 1, 2, 4, ...: the best tree is a vine of depth 18, two too deep.
        let counts: Vec<(u8, u32)> = (0_u8..18).map(|s| (s, 1 << s.saturating_sub(1))).collect();
        let histogram = histogram(&counts);
        let code = Code::optimal(&histogram);
        let kraft: u32 = (0..18).map(|s| 1 << (16 - code.of(s).1)).sum();
        assert_eq!(
            kraft,
            (1 << 16) - 1,
            "one code of sixteen ones is left over, no more"
        );
        check(&histogram);
    }

    proptest! {
        #[test]
        fn codes_are_optimal_limited_and_free_of_prefixes(
            counts in prop::collection::vec((any::<u8>(), 1_u32..100_000), 1..200),
            shift in 0_u32..17,
        ) {
            let counts: Vec<_> = counts.into_iter().map(|(s, c)| (s, (c >> shift).max(1))).collect();
            check(&histogram(&counts));
        }
    }
}
