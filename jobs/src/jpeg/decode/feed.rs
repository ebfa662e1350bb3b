//! Entropy-coded bytes as a stream of bits: fetched in pieces, unstuffed while refilling, ended by any marker.
//!
//! A [`Cursor`] is what a decoder keeps in registers, the [`Feed`] behind it holds the bytes. Behind the last byte come
//! zero bits without end; a decoder that has eaten one of them ran out of data ([`Cursor::starved`]).

use super::reader::{corrupt, read_full};
use crate::{Budget, Error, Note, Source};

/// Most bytes fetched at a time; fits the second-level cache beside everything else.
pub(super) const PIECE: usize = 64 * 1024;
/// Least bytes fetched at a time.
const LEAST: usize = 512;
/// Bytes a refill may look at.
const REACH: usize = 8;
/// Most stray bytes behind the data of an interval that are passed over with a note.
const STRAY: u64 = 16;

/// Bits at hand and the place of the next byte.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cursor {
    /// The next bit is the top one.
    pub(super) acc: u64,
    /// Valid bits in `acc`; below them may stand copies of bits still to come.
    pub(super) bits: u32,
    /// Zero bits in `acc` that no byte stands for.
    phantom: u32,
    next: usize,
}

impl Cursor {
    /// Takes `count` bits away.
    #[inline(always)]
    pub(super) fn consume(&mut self, count: u32) {
        self.acc <<= count;
        self.bits -= count;
    }

    /// At least 56 bits at hand.
    #[inline(always)]
    pub(super) fn refill(&mut self, feed: &mut Feed<'_>) {
        let ahead = feed.bytes.get(self.next..).and_then(<[u8]>::first_chunk);
        if let Some(&bytes) = ahead {
            let word = u64::from_be_bytes(bytes);
            if !holds_ff(word) {
                self.acc |= word >> self.bits;
                self.next += ((63 - self.bits) >> 3) as usize;
                self.bits |= 56;
                return;
            }
        }
        *self = feed.refill_slowly(*self);
    }

    /// The top `count` bits (0 to 16), taken away; they must be at hand.
    #[inline(always)]
    pub(super) fn take(&mut self, count: u32) -> u32 {
        let value = ((self.acc >> 1) >> (63 - count)) as u32;
        self.consume(count);
        value
    }

    /// Whether bits were taken that no byte stands for.
    #[inline(always)]
    pub(super) fn starved(&self) -> bool {
        self.bits < self.phantom
    }
}

/// Whether one of the eight bytes is 0xFF.
#[inline(always)]
fn holds_ff(word: u64) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // The classic test for a zero byte, on the complement.
    word & (!word).wrapping_sub(ONES) & (ONES << 7) != 0
}

/// Bytes before the first 0xFF among eight, most significant first; 8 if there is none.
#[inline(always)]
fn before_ff(word: u64) -> u32 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    // Unlike the quicker test this one sets the top bit of the bytes in question only, wherever they are.
    let others = (!word & LOW) + LOW;
    (word & !(others | LOW)).leading_zeros() / 8
}

/// The bytes of one scan.
pub(super) struct Feed<'a> {
    source: &'a dyn Source,
    bytes: Vec<u8>,
    /// Bytes to hold at a time.
    piece: usize,
    /// Offset in the source of the first byte held.
    base: u64,
    /// Nothing left to fetch.
    ended: bool,
    /// What went wrong while fetching; bits behind it are zeros.
    failed: Option<Error>,
}

impl<'a> Feed<'a> {
    /// Starts at `offset`; `length` is about how many bytes there are.
    pub(super) fn new(
        source: &'a dyn Source,
        offset: u64,
        length: u64,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let piece = (length as usize).clamp(LEAST, PIECE);
        Ok(Self {
            source,
            bytes: budget.vec(piece)?,
            piece,
            base: offset,
            ended: false,
            failed: None,
        })
    }

    /// Goes on at `offset`; the cursor must begin anew.
    pub(super) fn seek(&mut self, offset: u64) {
        self.bytes.clear();
        self.base = offset;
        self.ended = false;
    }

    /// Gives the memory back.
    pub(super) fn free(self, budget: &Budget) {
        budget.free(self.bytes);
    }

    /// Offset in the source of the byte about to be looked at.
    pub(super) fn offset(&self, cursor: &Cursor) -> u64 {
        self.base + cursor.next as u64
    }

    /// The error of an earlier fetch, if there was one.
    pub(super) fn failure(&mut self) -> Option<Error> {
        self.failed.take()
    }

    /// At the end of a piece, at stuffing and at markers.
    #[cold]
    #[inline(never)]
    fn refill_slowly(&mut self, mut cursor: Cursor) -> Cursor {
        while cursor.bits < 56 {
            self.plain(&mut cursor);
            if cursor.bits >= 56 {
                break;
            }
            match self.look(&mut cursor) {
                Some((0xff, 0xff)) => cursor.next += 1,
                Some((0xff, 0)) => push(&mut cursor, 0xff, 2),
                Some((0xff, _)) | None => {
                    let missing = (63 - cursor.bits) & !7;
                    cursor.bits += missing;
                    cursor.phantom += missing;
                }
                Some((byte, _)) => push(&mut cursor, byte, 1),
            }
        }
        cursor
    }

    /// Takes the bytes before the next 0xFF, as many as there is room for, if eight are held.
    #[inline(always)]
    fn plain(&self, cursor: &mut Cursor) {
        let ahead = self.bytes.get(cursor.next..).and_then(<[u8]>::first_chunk);
        let Some(&bytes) = ahead else {
            return;
        };
        let word = u64::from_be_bytes(bytes);
        // Less than eight bytes are taken, so the shift is defined.
        let taken = ((63 - cursor.bits) >> 3).min(before_ff(word));
        cursor.acc |= (word & !(u64::MAX >> (8 * taken))) >> cursor.bits;
        cursor.next += taken as usize;
        cursor.bits += 8 * taken;
    }

    /// The next byte and the one behind it (a marker's, at the end of the source); fetches when short.
    fn look(&mut self, cursor: &mut Cursor) -> Option<(u8, u8)> {
        if self.bytes.len() - cursor.next < REACH && !self.ended {
            self.fetch(cursor);
        }
        let first = *self.bytes.get(cursor.next)?;
        Some((first, *self.bytes.get(cursor.next + 1).unwrap_or(&1)))
    }

    /// Drops what is behind the cursor and fills up.
    fn fetch(&mut self, cursor: &mut Cursor) {
        let kept = self.bytes.len() - cursor.next;
        self.bytes.copy_within(cursor.next.., 0);
        self.base += cursor.next as u64;
        cursor.next = 0;
        // The room was claimed in full by `new`; resizing within it cannot allocate.
        self.bytes.resize(self.piece, 0);
        let read = read_full(
            self.source,
            self.base + kept as u64,
            &mut self.bytes[kept..],
        );
        let count = read.unwrap_or_else(|error| {
            self.failed = Some(error);
            0
        });
        self.ended = count < self.piece - kept;
        self.bytes.truncate(kept + count);
    }

    /// Leaves the data of an interval for the marker behind it: its second byte, `None` at the end of the source.
    ///
    /// The cursor stands behind the marker then. Stray bytes in between are noted, many of them are damage.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Read`].
    pub(super) fn leave(
        &mut self,
        cursor: &mut Cursor,
        notes: &mut Vec<Note>,
    ) -> Result<Option<u8>, Error> {
        let mut stray = u64::from((cursor.bits - cursor.phantom.min(cursor.bits)) / 8);
        let mut harmless = stray == 0;
        let start = self.offset(cursor);
        let marker = loop {
            match self.look(cursor) {
                None => break None,
                Some((0xff, 0xff)) => cursor.next += 1,
                Some((0xff, 0)) => (cursor.next, stray) = (cursor.next + 2, stray + 2),
                Some((0xff, marker)) => {
                    let here = cursor.next + 1 < self.bytes.len();
                    cursor.next += 2;
                    break here.then_some(marker);
                }
                Some((byte, _)) => {
                    harmless &= byte == 0;
                    (cursor.next, stray) = (cursor.next + 1, stray + 1);
                }
            }
        };
        (cursor.acc, cursor.bits, cursor.phantom) = (0, 0, 0);
        if let Some(error) = self.failure() {
            return Err(error);
        }
        if stray > STRAY && !harmless {
            return Err(corrupt(format!(
                "{stray} bytes before byte {start} belong to no block: the data before them is damaged"
            )));
        }
        if stray > 0 {
            add_note(
                notes,
                format!("passed over {stray} stray bytes at byte {start}"),
            );
        }
        Ok(marker)
    }
}

/// Adds a note on damage; a file with thousands of them gets a few.
pub(super) fn add_note(notes: &mut Vec<Note>, what: String) {
    Note::Repaired(what).add_to(notes);
}

fn push(cursor: &mut Cursor, byte: u8, length: usize) {
    cursor.acc |= u64::from(byte) << (56 - cursor.bits);
    cursor.bits += 8;
    cursor.next += length;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_ff_is_found_wherever_it_stands() {
        for bytes in [[0; 8], [0xfe; 8], [0x7f; 8], [0x80; 8]] {
            assert_eq!(before_ff(u64::from_be_bytes(bytes)), 8);
            for first in 0..8 {
                let mut marked = bytes;
                marked[first] = 0xff;
                marked[7] = 0xff;
                assert_eq!(before_ff(u64::from_be_bytes(marked)), first as u32);
            }
        }
    }
}
