//! Quantised coefficients of one component, sparse: a DC value and the non-zero AC coefficients of each block.
//!
//! A 12-megapixel photograph has 18 million coefficients of which a few hundred thousand matter, so blocks hold words,
//! not 64 slots. A word is six bits of zigzag index (1 to 63) and ten bits of value; a value that does not fit is marked
//! by an escape and follows in the next word. Words live in fixed chunks, so that growing never copies and never
//! touches memory twice. Rows of blocks are written in any order of lanes (a lane is one block row within an MCU row)
//! and read back in raster order.
//!
//! A plane read from a file holds the blocks that hold picture (`blocks_across` by `blocks_down`); the blocks that pad an
//! interleaved scan to whole MCUs are decoded, checked and left out.

mod words;

use crate::{Budget, Error};
pub use words::{MAX_WORDS, MOVED, Words, put_word};
pub(super) use words::{pair, put_pair, thin};

/// Words in a chunk at most: 64 KiB.
const CHUNK: usize = 32 * 1024;
/// Bytes by which a lane grows.
pub(super) const CHUNK_BYTES: u64 = (CHUNK * size_of::<u16>()) as u64;
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

    /// Begins a block row whose DC values are known, and gives them back as stored; all its blocks are without words until
    /// [`Lane::fill`] says otherwise.
    pub(super) fn begin_filled_row(
        &mut self,
        dc: impl ExactSizeIterator<Item = i16>,
        budget: &Budget,
    ) -> Result<&[i16], Error> {
        self.begin_row(budget)?;
        let first = self.dc.len();
        self.lengths.resize(self.lengths.len() + dc.len(), 0);
        self.dc.extend(dc);
        Ok(&self.dc[first..])
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
            at: 0,
            words: &lane.chunks[chunk as usize][offset as usize..],
            chunks: &lane.chunks[chunk as usize + 1..],
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
#[derive(Debug, Clone, Default)]
pub struct Row<'a> {
    dc: &'a [i16],
    lengths: &'a [u8],
    /// Column of the next block.
    at: usize,
    /// What is left of the chunk being read.
    words: &'a [u16],
    /// The chunks behind it.
    chunks: &'a [Vec<u16>],
}

impl<'a> Row<'a> {
    /// Without the blocks from column `across` on.
    pub fn up_to(self, across: usize) -> Self {
        let dc = self.dc.get(..across).unwrap_or(self.dc);
        let lengths = self.lengths.get(..across).unwrap_or(self.lengths);
        Self {
            dc,
            lengths,
            ..self
        }
    }

    /// Column of the next block.
    #[inline(always)]
    pub fn column(&self) -> usize {
        self.at
    }

    /// Passes `count` blocks; returns the words in them.
    pub fn skip_blocks(&mut self, count: usize) -> usize {
        let end = (self.at + count).min(self.lengths.len());
        let passed = self.lengths.get(self.at..end).unwrap_or_default();
        let words: usize = passed.iter().map(|&length| usize::from(length)).sum();
        let Some(rest) = self.words.get(words..) else {
            // Into the next chunk: only block by block is it known where this one ends.
            self.by_ref().take(count).for_each(drop);
            return words;
        };
        (self.at, self.words) = (end, rest);
        words
    }

    /// Passes blocks without words.
    #[inline(always)]
    pub fn skip_empty(&mut self) {
        while let Some(eight) = self
            .lengths
            .get(self.at..)
            .and_then(<[u8]>::first_chunk::<8>)
        {
            let lengths = u64::from_le_bytes(*eight);
            if lengths != 0 {
                self.at += (lengths.trailing_zeros() / 8) as usize;
                return;
            }
            self.at += 8;
        }
        while self.lengths.get(self.at) == Some(&0) {
            self.at += 1;
        }
    }

    /// DC values of the blocks left.
    pub fn dc_values(&self) -> &'a [i16] {
        self.dc.get(self.at..).unwrap_or_default()
    }

    /// A block's words, where the chunk being read is used up.
    #[cold]
    fn in_next_chunk(&mut self, length: usize) -> Option<&'a [u16]> {
        let (chunk, chunks) = self.chunks.split_first()?;
        let (words, rest) = chunk.split_at_checked(length)?;
        (self.words, self.chunks) = (rest, chunks);
        Some(words)
    }
}

impl<'a> Iterator for Row<'a> {
    /// DC value (as stored: absolute, not a difference) and AC coefficients.
    type Item = (i16, Words<'a>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let length = usize::from(*self.lengths.get(self.at)?);
        let dc = *self.dc.get(self.at)?;
        self.at += 1;
        // A block never crosses from one chunk into the next, and all chunks but the last hold nothing else.
        let words = match self.words.split_at_checked(length) {
            Some((words, rest)) => {
                self.words = rest;
                words
            }
            None => self.in_next_chunk(length)?,
        };
        Some((dc, Words::new(words)))
    }
}

#[cfg(test)]
mod tests;
