//! The sequential decoder's table: one lookup gives up to two coefficients ready to be stored, skips those that are
//! dropped, and knows the end of the block.
//!
//! Compiling the loop around it for newer processors (BMI2, LZCNT) was measured and gained nothing, nor did a table for
//! DC differences: what counts is how few instructions a lookup takes and that two tables leave room in the first cache.

use super::huffman::{Lookup, extend};

/// Bits looked at in one lookup. 11 was measured best: fewer hit less often, more leave the first-level cache.
pub(super) const WINDOW: u32 = 11;
/// Words an entry can hold.
const WORDS: usize = 2;

/// Moves a block's next index by one: the index stands in a word's place twice, once for each word of an entry.
pub(super) const ONE: u32 = 0x0400_0400;
/// Bits below the upper of the two places.
pub(super) const UPPER: u32 = 26;
/// Where that index stands.
const INDEX: u32 = 63 * ONE;
/// Set where the block ends.
const ENDS: u32 = 1 << 8;

/// What the next [`WINDOW`] bits mean.
///
/// From the low bits up: how many bits are used (6 bits, lowest because the next lookup waits for them), how many words
/// count (2 bits), whether the block ends; by how much the block's next index advances, in the two places of [`ONE`];
/// between those places the advance up to the end of the block (6 bits); two words as
/// [`crate::jpeg::plane`] stores them, their index counted from the block's next index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry(u64);

impl Entry {
    /// The words, the first one in the lower half, with the block's next index `at` (times [`ONE`]).
    #[inline(always)]
    pub(super) fn words(self, at: u32) -> u32 {
        ((self.0 >> 32) as u32).wrapping_add(at)
    }

    /// The index behind the entry, `None` beyond 63: where the block ends or nothing is known.
    #[inline(always)]
    pub(super) fn next(self, at: u32) -> Option<u32> {
        at.checked_add(self.0 as u32 & INDEX)
    }

    /// Bits used; only the lowest 6 bits count.
    #[inline(always)]
    pub(super) fn bits(self) -> u32 {
        self.0 as u32 & 63
    }

    /// Words that count.
    #[inline(always)]
    pub(super) fn count(self) -> usize {
        (self.0 as usize >> 6) & 3
    }

    /// Whether the block ends with this entry if its next index is `index`.
    #[inline(always)]
    pub(super) fn ends(self, index: u32) -> bool {
        let low = self.0 as u32;
        let reach = index + (low >> 16 & 63);
        // The last index of a block needs no end-of-block code, so an entry that reaches it may say too much.
        if low & ENDS != 0 {
            reach < 64
        } else {
            self.bits() > 0 && reach == 64
        }
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

    /// A table that knows nothing, for data too little to make up for the making of a real one.
    pub(super) fn unknowing() -> Self {
        Self(Box::new([Draft::default().finish(); 1 << WINDOW]))
    }

    /// The entry for the bits at the top of `acc`.
    #[inline(always)]
    pub(super) fn entry(&self, acc: u64) -> Entry {
        self.0[(acc >> (64 - WINDOW)) as usize]
    }
}

/// An [`Entry`] without words for every window, where nothing is kept: half as large, and no words end an entry early.
pub(super) struct TailTable(Box<[u32; 1 << WINDOW]>);

impl TailTable {
    /// The table of the code in `lookup`.
    pub(super) fn new(lookup: &Lookup) -> Self {
        let mut entries = Box::new([0; 1 << WINDOW]);
        for (window, entry) in (0..).zip(entries.iter_mut()) {
            // No value is so large.
            *entry = Draft::read(window, lookup, u16::MAX).finish().0 as u32;
        }
        Self(entries)
    }

    /// The entry for the bits at the top of `acc`.
    #[inline(always)]
    pub(super) fn entry(&self, acc: u64) -> Entry {
        Entry(self.0[(acc >> (64 - WINDOW)) as usize].into())
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
        // Beyond any index, even the first: the loop is left there.
        let advance = if self.ends || self.bits == 0 {
            63
        } else {
            self.advance
        };
        let ends = if self.ends { ENDS } else { 0 };
        let low = self.bits | (self.count << 6) | ends | (advance * ONE) | (self.advance << 16);
        let words = u64::from(self.words[0]) | u64::from(self.words[1]) << 16;
        Entry(u64::from(low) | words << 32)
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
            let table = TailTable::new(&lookup);
            for window in 0..1_u64 << WINDOW {
                let entry = table.entry(window << (64 - WINDOW));
                check(entry, window, &lookup, u16::MAX);
                assert_eq!(entry.count(), 0);
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
        for first in 1..64 {
            let behind = first + index;
            let next = (used > 0 && !ended && behind < 64).then(|| behind * ONE);
            assert_eq!(entry.next(first * ONE), next);
            let reached = if ended {
                behind < 64
            } else {
                used > 0 && behind == 64
            };
            assert_eq!(next.is_none() && entry.ends(first), reached);
        }
    }
}
