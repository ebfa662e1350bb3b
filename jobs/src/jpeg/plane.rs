//! Quantised coefficients of one component, sparse: a DC value and the non-zero AC coefficients of each block.
//!
//! A 12-megapixel photograph has 18 million coefficients of which a few hundred thousand matter, so blocks hold words,
//! not 64 slots. A word is six bits of zigzag index (1 to 63) and ten bits of value; a value that does not fit is marked
//! by [`ESCAPE`] and follows in the next word. Words live in fixed chunks, so that growing never copies and never
//! touches memory twice. Rows of blocks are written in any order of lanes (a lane is one block row within an MCU row)
//! and read back in raster order.
//!
//! A plane read from a file holds the blocks that hold picture (`blocks_across` by `blocks_down`); the blocks that pad an
//! interleaved scan to whole MCUs are decoded, checked and left out.

use crate::{Budget, Error};

/// Words in a chunk at most: 64 KiB.
const CHUNK: usize = 32 * 1024;
/// Bytes by which a lane grows.
pub(super) const CHUNK_BYTES: u64 = (CHUNK * size_of::<u16>()) as u64;
/// Room for the words of one block: 63 coefficients, each escaped, and two words that may be scribbled on.
pub const MAX_WORDS: usize = 128;
/// Ten-bit pattern that says the value follows in the next word.
pub const ESCAPE: u16 = 0x200;

/// The non-zero AC coefficients of one block, as words.
#[derive(Debug, Clone, Copy)]
pub struct Words<'a>(&'a [u16]);

impl<'a> Words<'a> {
    /// Words as [`put_word`] wrote them.
    #[inline]
    pub fn new(words: &'a [u16]) -> Self {
        Self(words)
    }

    /// No coefficients at all.
    pub fn none() -> Self {
        Self(&[])
    }

    /// The words themselves.
    #[inline]
    pub fn as_slice(self) -> &'a [u16] {
        self.0
    }

    /// The next coefficient if its index is at most `last`; otherwise it stays.
    #[inline]
    pub fn next_up_to(&mut self, last: usize) -> Option<(usize, i16)> {
        let &word = self.0.first()?;
        if usize::from(word >> 10) > last {
            return None;
        }
        self.next()
    }

    /// All but the last coefficient, which must be there and not escaped.
    #[inline]
    pub fn without_last(self) -> Self {
        Self(&self.0[..self.0.len() - 1])
    }
}

impl Iterator for Words<'_> {
    /// Zigzag index and value.
    type Item = (usize, i16);

    #[inline]
    fn next(&mut self) -> Option<(usize, i16)> {
        let (&word, rest) = self.0.split_first()?;
        self.0 = rest;
        let index = usize::from(word >> 10);
        let low = word & 0x3ff;
        if low != ESCAPE {
            // Ten bits of two's complement, moved up and back down to extend the sign.
            return Some((index, ((low << 6) as i16) >> 6));
        }
        let (&value, rest) = self.0.split_first()?;
        self.0 = rest;
        Some((index, value as i16))
    }
}

/// Writes one coefficient as words; returns how many were used (1 or 2).
#[inline]
pub fn put_word(out: &mut [u16], index: usize, value: i16) -> usize {
    let head = (index as u16) << 10;
    if (-511..=511).contains(&value) {
        out[0] = head | (value as u16 & 0x3ff);
        return 1;
    }
    out[0] = head | ESCAPE;
    out[1] = value as u16;
    2
}

/// Writes two words at `at`, the lower half first; there must be room, which a block never lacks.
#[inline(always)]
pub(super) fn put_pair(room: &mut [u16; MAX_WORDS], at: usize, words: u32) {
    let pair = room.get_mut(at..).and_then(<[u16]>::first_chunk_mut);
    if let Some(pair) = pair {
        *pair = [words as u16, (words >> 16) as u16];
    }
}

/// Takes the words below their index's floor in magnitude out of `room[..words]`; returns how many are left.
#[inline(always)]
pub(super) fn thin(room: &mut [u16; MAX_WORDS], words: usize, floors: &[u16; 64]) -> usize {
    let (mut read, mut kept) = (0, 0);
    while read < words {
        let word = room[read % MAX_WORDS];
        read += 1;
        let (index, low) = (usize::from(word >> 10), word & 0x3ff);
        // Written in any case and counted or not: which words stay is chance, and a branch would be guessed wrong.
        room[kept % MAX_WORDS] = word;
        if low != ESCAPE {
            let value = ((low << 6) as i16) >> 6;
            kept += usize::from(value.unsigned_abs() >= floors[index]);
            continue;
        }
        let value = room[read % MAX_WORDS] as i16;
        read += 1;
        if value.unsigned_abs() >= floors[index] {
            room[(kept + 1) % MAX_WORDS] = value as u16;
            kept += 2;
        }
    }
    kept
}

/// One block row within each MCU row: rows `n`, `n + v`, `n + 2v`, ... of a component with `v` block rows per MCU.
#[derive(Debug, Default)]
pub(super) struct Lane {
    dc: Vec<i16>,
    /// Words of each block.
    lengths: Vec<u8>,
    /// A full chunk is cut to what it holds, the last one is longer; a block never crosses into the next chunk.
    chunks: Vec<Vec<u16>>,
    /// Words in a chunk: [`CHUNK`], or what a small lane can need at most.
    chunk: usize,
    /// Words in the last chunk.
    filled: usize,
    /// Chunk and offset at which each block row starts.
    starts: Vec<(u32, u32)>,
    /// Chunks to use again.
    spare: Vec<Vec<u16>>,
}

impl Lane {
    /// Begins a block row.
    pub(super) fn begin_row(&mut self, budget: &Budget) -> Result<(), Error> {
        self.room(budget)?;
        self.starts
            .push((self.chunks.len() as u32 - 1, self.filled as u32));
        Ok(())
    }

    /// Room for the next block's words; what is written counts once [`Lane::commit`] says how many there are.
    #[inline(always)]
    pub(super) fn room(&mut self, budget: &Budget) -> Result<&mut [u16; MAX_WORDS], Error> {
        if self.chunks.is_empty() || self.chunk - self.filled < MAX_WORDS {
            self.next_chunk(budget)?;
        }
        let last = self.chunks.last_mut().map(Vec::as_mut_slice);
        let room = last.and_then(|chunk| chunk.get_mut(self.filled..)?.first_chunk_mut());
        // Not `ok_or`: making and dropping the error for every block was seen in profiles.
        let Some(room) = room else {
            return Err(Error::OverBudget {
                needed: CHUNK_BYTES,
                cap: 0,
            });
        };
        Ok(room)
    }

    /// Begins a block row whose DC values are known; all its blocks are without words until [`Lane::fill`] says otherwise.
    pub(super) fn begin_filled_row(
        &mut self,
        dc: impl ExactSizeIterator<Item = i16>,
        budget: &Budget,
    ) -> Result<(), Error> {
        self.begin_row(budget)?;
        self.lengths.resize(self.lengths.len() + dc.len(), 0);
        self.dc.extend(dc);
        Ok(())
    }

    /// Gives the words just written to a block of the last row, counted from the row's end; blocks must come in order.
    #[inline(always)]
    pub(super) fn fill(&mut self, from_end: usize, words: usize) {
        self.filled += words;
        let at = self.lengths.len() - from_end;
        self.lengths[at] = words as u8;
    }

    /// Ends a block of `words` words.
    #[inline(always)]
    pub(super) fn commit(&mut self, dc: i16, words: usize) {
        self.filled += words;
        self.dc.push(dc);
        self.lengths.push(words as u8);
    }

    /// Forgets all blocks and keeps the memory.
    fn clear(&mut self) {
        self.dc.clear();
        self.lengths.clear();
        self.starts.clear();
        self.spare.append(&mut self.chunks);
        self.filled = 0;
    }

    #[cold]
    #[inline(never)]
    fn next_chunk(&mut self, budget: &Budget) -> Result<(), Error> {
        let mut chunk = match self.spare.pop() {
            Some(chunk) => chunk,
            None => budget.vec(self.chunk)?,
        };
        chunk.resize(self.chunk, 0);
        if let Some(last) = self.chunks.last_mut() {
            last.truncate(self.filled);
        }
        self.chunks.push(chunk);
        self.filled = 0;
        Ok(())
    }
}

/// Quantised coefficients of one component.
#[derive(Debug)]
pub struct Plane {
    across: usize,
    lanes: Vec<Lane>,
}

impl Plane {
    /// An empty plane of `across` blocks by `down` block rows, `v` rows to an MCU row.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    pub fn new(across: usize, down: usize, v: usize, budget: &Budget) -> Result<Self, Error> {
        let rows = down.div_ceil(v);
        let lane = || -> Result<Lane, Error> {
            Ok(Lane {
                dc: budget.vec(rows * across)?,
                lengths: budget.vec(rows * across)?,
                starts: budget.vec(rows)?,
                chunk: (rows * across * MAX_WORDS + MAX_WORDS).min(CHUNK),
                ..Lane::default()
            })
        };
        let lanes = (0..v).map(|_| lane()).collect::<Result<_, _>>()?;
        Ok(Self { across, lanes })
    }

    /// Blocks across.
    pub fn across(&self) -> usize {
        self.across
    }

    /// Block rows written so far.
    pub fn down(&self) -> usize {
        self.lanes.iter().map(|lane| lane.starts.len()).sum()
    }

    /// Forgets all blocks and keeps the memory, for use one MCU row at a time.
    pub fn clear(&mut self) {
        self.lanes.iter_mut().for_each(Lane::clear);
    }

    /// Gives the memory back.
    pub fn free(self, budget: &Budget) {
        for lane in self.lanes {
            budget.free(lane.dc);
            budget.free(lane.lengths);
            budget.free(lane.starts);
            let chunks = lane.chunks.into_iter().chain(lane.spare);
            chunks.for_each(|chunk| budget.free(chunk));
        }
    }

    /// The only lane of a plane of one block row to an MCU row.
    pub(super) fn lane(&mut self) -> &mut Lane {
        &mut self.lanes[0]
    }

    /// The lanes, for decoders that fill several at a time.
    pub(super) fn lanes_mut(&mut self) -> &mut [Lane] {
        &mut self.lanes
    }

    /// Writer for lane `n` (block row `n` of an MCU row).
    pub fn writer(&mut self, n: usize) -> Writer<'_> {
        Writer {
            across: self.across,
            lane: &mut self.lanes[n],
        }
    }

    /// Block row `row`, in raster order.
    pub fn row(&self, row: usize) -> Row<'_> {
        let lane = &self.lanes[row % self.lanes.len()];
        let n = row / self.lanes.len();
        let span = n * self.across..(n + 1) * self.across;
        let (chunk, offset) = lane.starts[n];
        Row {
            dc: &lane.dc[span.clone()],
            lengths: &lane.lengths[span],
            chunks: &lane.chunks,
            chunk: chunk as usize,
            offset: offset as usize,
        }
    }
}

/// Appends blocks to one lane; a row ends by itself after `across` blocks.
#[derive(Debug)]
pub struct Writer<'a> {
    across: usize,
    lane: &'a mut Lane,
}

impl Writer<'_> {
    /// Appends a block: `fill` writes words into the room it is given and returns how many.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    #[inline]
    pub fn block(
        &mut self,
        dc: i16,
        budget: &Budget,
        fill: impl FnOnce(&mut [u16; MAX_WORDS]) -> usize,
    ) -> Result<(), Error> {
        if self.lane.dc.len() == self.lane.starts.len() * self.across {
            self.lane.begin_row(budget)?;
        }
        let count = fill(self.lane.room(budget)?);
        self.lane.commit(dc, count);
        Ok(())
    }
}

/// One row of blocks, read in order.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    dc: &'a [i16],
    lengths: &'a [u8],
    chunks: &'a [Vec<u16>],
    chunk: usize,
    offset: usize,
}

impl<'a> Row<'a> {
    /// Passes `count` blocks; returns the words in them.
    pub fn skip_blocks(&mut self, count: usize) -> usize {
        let count = count.min(self.lengths.len());
        let (passed, lengths) = self.lengths.split_at(count);
        let words: usize = passed.iter().map(|&length| usize::from(length)).sum();
        let left = self.chunks.get(self.chunk).map_or(0, Vec::len) - self.offset;
        if words > left {
            // Into the next chunk: only block by block is it known where this one ends.
            self.by_ref().take(count).for_each(drop);
            return words;
        }
        (self.dc, self.lengths) = (&self.dc[count..], lengths);
        self.offset += words;
        words
    }

    /// Passes blocks without words; returns how many.
    #[inline]
    pub fn skip_empty(&mut self) -> usize {
        let (eights, _) = self.lengths.as_chunks::<8>();
        let whole = eights.iter().take_while(|eight| **eight == [0; 8]).count() * 8;
        let rest = &self.lengths[whole..];
        let empty = whole + rest.iter().take_while(|&&length| length == 0).count();
        (self.dc, self.lengths) = (&self.dc[empty..], &self.lengths[empty..]);
        empty
    }

    /// DC values of the blocks left.
    pub fn dc_values(&self) -> &'a [i16] {
        self.dc
    }
}

impl<'a> Iterator for Row<'a> {
    /// DC value (as stored: absolute, not a difference) and AC coefficients.
    type Item = (i16, Words<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (&dc, dcs) = self.dc.split_first()?;
        let (&length, lengths) = self.lengths.split_first()?;
        (self.dc, self.lengths) = (dcs, lengths);
        let length = usize::from(length);
        if length > 0 && self.offset == self.chunks[self.chunk].len() {
            self.chunk += 1;
            self.offset = 0;
        }
        let words = &self.chunks[self.chunk][self.offset..self.offset + length];
        self.offset += length;
        Some((dc, Words(words)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_in_raster_order_across_chunks_and_lanes() {
        let budget = Budget::new(1 << 24, 1 << 30);
        let (across, down, v) = (100, 20, 2);
        let mut plane = Plane::new(across, down, v, &budget).expect("fits");
        let value =
            |row: usize, col: usize, k: usize| ((row * 31 + col * 7 + k * 13) % 2047) as i16 - 1023;
        for mcu_row in 0..down / v {
            for lane in 0..v {
                let row = mcu_row * v + lane;
                let mut writer = plane.writer(lane);
                for col in 0..across {
                    let fill = |out: &mut [u16; MAX_WORDS]| {
                        (1..=63)
                            .filter(|k| (k + col) % 3 == 0)
                            .fold(0, |n, k| n + put_word(&mut out[n..], k, value(row, col, k)))
                    };
                    writer
                        .block(value(row, col, 0), &budget, fill)
                        .expect("fits");
                }
            }
        }
        assert_eq!(plane.down(), down);
        for row in 0..down {
            let mut blocks = 0;
            for (col, (dc, words)) in plane.row(row).enumerate() {
                assert_eq!(dc, value(row, col, 0));
                let expected: Vec<_> = (1..=63)
                    .filter(|k| (k + col) % 3 == 0)
                    .map(|k| (k, value(row, col, k)))
                    .collect();
                assert_eq!(words.collect::<Vec<_>>(), expected);
                blocks += 1;
            }
            assert_eq!(blocks, across);
        }
    }
}
