//! Huffman codes as a DHT segment declares them (T.81 C.2) and their lookup, one symbol at a time.

/// Bits looked at in one lookup; longer codes are found by comparing lengths.
const WINDOW: u32 = 9;

/// A code's lengths and symbols, as declared.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Code {
    /// Number of codes of each length 1 to 16.
    counts: [u8; 16],
    /// Symbols by rising length.
    symbols: Vec<u8>,
}

impl Code {
    /// Checks that the lengths make a code; the text says what is wrong.
    pub(crate) fn new(counts: [u8; 16], symbols: Vec<u8>) -> Result<Self, &'static str> {
        let mut next = 0_u32;
        for (length, &count) in (1..).zip(&counts) {
            next += u32::from(count);
            if next > 1 << length {
                return Err("more codes than its lengths allow");
            }
            next <<= 1;
        }
        Ok(Self { counts, symbols })
    }

    /// Symbols by rising length.
    pub(crate) fn symbols(&self) -> &[u8] {
        &self.symbols
    }
}

/// Finds the symbol at the top of a 64-bit accumulator.
#[derive(Clone)]
pub(crate) struct Lookup {
    /// Length and symbol for each window, length 0 where the code is longer.
    short: [u16; 1 << WINDOW],
    /// For each length, the first 16-bit pattern (aligned to the left) of a longer code.
    limits: [u32; 17],
    /// Index of a length's first symbol less its first code.
    offsets: [i32; 17],
    symbols: [u8; 256],
}

impl Lookup {
    /// Prepares `code`.
    pub(crate) fn new(code: &Code) -> Self {
        let mut lookup = Self {
            short: [0; 1 << WINDOW],
            limits: [0; 17],
            offsets: [0; 17],
            symbols: [0; 256],
        };
        for (slot, &symbol) in lookup.symbols.iter_mut().zip(&code.symbols) {
            *slot = symbol;
        }
        let (mut next, mut index) = (0_u32, 0_usize);
        for length in 1..=16_u32 {
            let count = usize::from(code.counts[length as usize - 1]);
            lookup.offsets[length as usize] = index as i32 - next as i32;
            for &symbol in &code.symbols[index..index + count] {
                if length <= WINDOW {
                    let first = (next << (WINDOW - length)) as usize;
                    let span = 1 << (WINDOW - length);
                    lookup.short[first..first + span]
                        .fill((length as u16) << 8 | u16::from(symbol));
                }
                next += 1;
            }
            index += count;
            lookup.limits[length as usize] = next << (16 - length);
            next <<= 1;
        }
        lookup
    }

    /// Length of the code at the top of `acc` and its symbol; `None` if no code begins like that.
    #[inline(always)]
    pub(crate) fn symbol(&self, acc: u64) -> Option<(u32, u8)> {
        let entry = self.short[(acc >> (64 - WINDOW)) as usize];
        if entry >= 0x100 {
            return Some((u32::from(entry >> 8), entry as u8));
        }
        self.long_symbol(acc)
    }

    #[cold]
    #[inline(never)]
    fn long_symbol(&self, acc: u64) -> Option<(u32, u8)> {
        let top = (acc >> 48) as u32;
        let length = (WINDOW + 1..=16).find(|&length| top < self.limits[length as usize])?;
        let index = (top >> (16 - length)) as i32 + self.offsets[length as usize];
        Some((length, *self.symbols.get(usize::try_from(index).ok()?)?))
    }
}

/// The value of the `size` bits (0 to 16) at the top of `acc` (T.81 F.2.2.1, EXTEND).
#[inline(always)]
pub(crate) fn extend(acc: u64, size: u32) -> i32 {
    let raw = ((acc >> 1) >> (63 - size)) as i32;
    // A leading zero means negative.
    let negative = !((acc as i64) >> 63) as i32;
    raw + (negative & (1 - (1 << size)))
}

/// The code of tables K.3 to K.6 of T.81, which files made from video frames leave out; `class` 0 is DC, `slot` 0 luma.
pub(crate) fn standard(class: u8, slot: u8) -> Code {
    let (counts, symbols) = standard_counts(class, slot);
    Code { counts, symbols }
}

/// Lengths and symbols of a standard code.
pub(super) fn standard_counts(class: u8, slot: u8) -> ([u8; 16], Vec<u8>) {
    match (class, slot) {
        (0, 0) => (DC_LUMA_COUNTS, (0..12).collect()),
        (0, _) => (DC_CHROMA_COUNTS, (0..12).collect()),
        (_, 0) => (AC_LUMA_COUNTS, AC_LUMA.to_vec()),
        (_, _) => (AC_CHROMA_COUNTS, AC_CHROMA.to_vec()),
    }
}

const DC_LUMA_COUNTS: [u8; 16] = [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0];
const DC_CHROMA_COUNTS: [u8; 16] = [0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0];
const AC_LUMA_COUNTS: [u8; 16] = [0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125];
const AC_CHROMA_COUNTS: [u8; 16] = [0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119];
#[rustfmt::skip]
const AC_LUMA: [u8; 162] = [
    0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07, 0x22, 0x71,
    0x14, 0x32, 0x81, 0x91, 0xa1, 0x08, 0x23, 0x42, 0xb1, 0xc1, 0x15, 0x52, 0xd1, 0xf0, 0x24, 0x33, 0x62, 0x72,
    0x82, 0x09, 0x0a, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x34, 0x35, 0x36, 0x37,
    0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59,
    0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x83,
    0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0xa2, 0xa3,
    0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3,
    0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe1, 0xe2,
    0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa,
];
#[rustfmt::skip]
const AC_CHROMA: [u8; 162] = [
    0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61, 0x71, 0x13, 0x22,
    0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xa1, 0xb1, 0xc1, 0x09, 0x23, 0x33, 0x52, 0xf0, 0x15, 0x62, 0x72, 0xd1,
    0x0a, 0x16, 0x24, 0x34, 0xe1, 0x25, 0xf1, 0x17, 0x18, 0x19, 0x1a, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x35, 0x36,
    0x37, 0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58,
    0x59, 0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a,
    0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a,
    0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba,
    0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda,
    0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Code bits of each symbol by the book: counting up, doubling at each length.
    fn codes(code: &Code) -> Vec<(u32, u32, u8)> {
        let mut out = Vec::new();
        let (mut next, mut index) = (0, 0);
        for (length, &count) in (1..).zip(&code.counts) {
            for _ in 0..count {
                out.push((next, length, code.symbols[index]));
                next += 1;
                index += 1;
            }
            next <<= 1;
        }
        out
    }

    #[test]
    fn every_standard_code_is_found() {
        for (class, slot, count) in [(0, 0, 12), (0, 1, 12), (1, 0, 162), (1, 1, 162)] {
            let code = standard(class, slot);
            let lookup = Lookup::new(&code);
            let all = codes(&code);
            assert_eq!(all.len(), count);
            for (bits, length, symbol) in all {
                let noise = 0x1234_5678_9abc_def0_u64 >> length;
                let acc = u64::from(bits) << (64 - length) | noise;
                assert_eq!(lookup.symbol(acc), Some((length, symbol)));
            }
            assert_eq!(lookup.symbol(u64::MAX), None);
        }
    }

    #[test]
    fn overfull_codes_are_refused() {
        let mut counts = [0; 16];
        counts[0] = 2;
        assert!(Code::new(counts, vec![0, 1]).is_ok());
        counts[0] = 3;
        assert!(Code::new(counts, vec![0, 1, 2]).is_err());
        counts = [0; 16];
        (counts[0], counts[1]) = (1, 3);
        assert!(Code::new(counts, vec![0, 1, 2, 3]).is_err());
    }

    #[test]
    fn extends_like_the_standard() {
        for size in 1..=15_u32 {
            for raw in 0..1_u64 << size {
                let expected = if raw < 1 << (size - 1) {
                    raw as i32 - (1 << size) + 1
                } else {
                    raw as i32
                };
                let noise = 0x5555_5555_5555_5555 >> size;
                assert_eq!(extend(raw << (64 - size) | noise, size), expected);
            }
        }
        assert_eq!(extend(u64::MAX, 0), 0);
        assert_eq!(extend(0, 0), 0);
    }
}
