//! The sequential decoder's table: one lookup gives up to two coefficients ready to be stored, skips those that are
//! dropped, and knows the end of the block.

use super::huffman::{Lookup, extend};

/// Bits looked at in one lookup. 11 and 12 were measured best: fewer hit less often, more leave the first-level cache.
pub(super) const WINDOW: u32 = 11;
/// Added to the advance of an entry that ends its block; larger than any index.
const END_OF_BLOCK: u32 = 64;
/// Advance of an entry that holds nothing: the code or its value is longer than the window.
const NOTHING: u32 = 255;
/// Words an entry can hold.
const WORDS: usize = 2;

/// What the next [`WINDOW`] bits mean.
///
/// From the low bits up: how many bits are used (8 bits, lowest because the next lookup waits for them); by how much the
/// block's next index advances (8 bits); how many words count (8 bits); 8 bits of nothing; two words as
/// [`crate::jpeg::plane`] stores them, their index counted from the block's next index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry(u64);

impl Entry {
    /// The words, the first one in the lower half, with `index` as the block's next index.
    #[inline(always)]
    pub(super) fn words(self, index: u32) -> u32 {
        ((self.0 >> 32) as u32).wrapping_add(index.wrapping_mul(0x0400_0400))
    }

    /// How far the index advances; beyond 63 where the block ends or nothing is known.
    #[inline(always)]
    pub(super) fn advance(self) -> u32 {
        u32::from((self.0 >> 8) as u8)
    }

    /// Bits used.
    #[inline(always)]
    pub(super) fn bits(self) -> u32 {
        u32::from(self.0 as u8)
    }

    /// Words that count.
    #[inline(always)]
    pub(super) fn count(self) -> usize {
        usize::from((self.0 >> 16) as u8)
    }

    /// The advance up to the end of the block, if it ends.
    #[inline(always)]
    pub(super) fn end(self) -> Option<u32> {
        let advance = self.advance();
        (END_OF_BLOCK..NOTHING)
            .contains(&advance)
            .then(|| advance - END_OF_BLOCK)
    }
}

/// An [`Entry`] for every window.
pub(super) struct AcTable(Box<[Entry; 1 << WINDOW]>);

impl AcTable {
    /// The table of the code in `lookup`, with values below `floor` in magnitude dropped.
    pub(super) fn new(lookup: &Lookup, floor: u16) -> Self {
        let mut entries = Box::new([Entry(0); 1 << WINDOW]);
        for (window, entry) in (0..).zip(entries.iter_mut()) {
            *entry = Draft::read(window, lookup, floor).finish();
        }
        Self(entries)
    }

    /// The entry for the bits at the top of `acc`.
    #[inline(always)]
    pub(super) fn entry(&self, acc: u64) -> Entry {
        self.0[(acc >> (64 - WINDOW)) as usize]
    }
}

/// An entry in the making.
#[derive(Default)]
struct Draft {
    words: [u16; WORDS],
    count: u32,
    advance: u32,
    bits: u32,
    ends: bool,
}

impl Draft {
    /// Takes as many whole symbols with their values as the window holds.
    fn read(window: u64, lookup: &Lookup, floor: u16) -> Self {
        let mut draft = Self::default();
        while !draft.ends {
            let acc = window << (64 - WINDOW) << draft.bits;
            let left = WINDOW - draft.bits;
            let Some((length, symbol)) = lookup.symbol(acc) else {
                break;
            };
            let (run, size) = (u32::from(symbol >> 4), u32::from(symbol & 15));
            if length + size > left || !draft.take(run, size, extend(acc << length, size), floor) {
                break;
            }
            draft.bits += length + size;
        }
        draft
    }

    /// Adds one symbol; false where there is no room for it.
    fn take(&mut self, run: u32, size: u32, value: i32, floor: u16) -> bool {
        if size == 0 && run < 15 {
            self.ends = true;
            return true;
        }
        let advance = self.advance + run + 1;
        if advance > 63 {
            return false;
        }
        if size > 0 && value.unsigned_abs() >= u32::from(floor) {
            let Some(word) = self.words.get_mut(self.count as usize) else {
                return false;
            };
            *word = ((self.advance + run) as u16) << 10 | (value as u16 & 0x3ff);
            self.count += 1;
        }
        self.advance = advance;
        true
    }

    fn finish(self) -> Entry {
        let advance = match (self.bits, self.ends) {
            (0, _) => NOTHING,
            (_, false) => self.advance,
            (_, true) => self.advance + END_OF_BLOCK,
        };
        Entry(
            u64::from(self.bits)
                | u64::from(advance) << 8
                | u64::from(self.count) << 16
                | u64::from(self.words[0]) << 32
                | u64::from(self.words[1]) << 48,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::huffman::standard;
    use super::*;

    #[test]
    fn entries_agree_with_one_symbol_at_a_time() {
        for slot in 0..2 {
            let lookup = Lookup::new(&standard(1, slot));
            for floor in [1, 2, 3, 4] {
                let table = AcTable::new(&lookup, floor);
                for window in 0..1_u64 << WINDOW {
                    check(table.entry(window << (64 - WINDOW)), window, &lookup, floor);
                }
            }
        }
    }

    /// Follows the bits that `entry` says it used and compares what comes out.
    fn check(entry: Entry, window: u64, lookup: &Lookup, floor: u16) {
        let (mut used, mut index, mut words, mut ended) = (0, 0, Vec::new(), false);
        while used < entry.bits() {
            let acc = window << (64 - WINDOW) << used;
            let (length, symbol) = lookup.symbol(acc).expect("an entry holds whole symbols");
            let (run, size) = (u32::from(symbol >> 4), u32::from(symbol & 15));
            let value = extend(acc << length, size);
            used += length + size;
            match (run, size) {
                (15, 0) => index += 16,
                (_, 0) => ended = true,
                (_, _) => {
                    index += run + 1;
                    if value.unsigned_abs() >= u32::from(floor) {
                        words.push(((index - 1) << 10) as u16 | (value as u16 & 0x3ff));
                    }
                }
            }
        }
        assert_eq!(used, entry.bits());
        let both = entry.words(0);
        assert_eq!(&[both as u16, (both >> 16) as u16][..entry.count()], words);
        match entry.end() {
            Some(advance) => assert_eq!((advance, true), (index, ended)),
            None if used > 0 => assert_eq!((entry.advance(), false), (index, ended)),
            None => assert_eq!(entry.advance(), NOTHING),
        }
    }
}
