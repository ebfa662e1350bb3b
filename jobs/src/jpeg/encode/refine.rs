//! Refinement scans of successive approximation (T.81 G.1.2.3): one more bit of coefficients whose higher bits were sent.
//!
//! Each scan covers one component. Bits that correct coefficients already known travel behind the next symbol, those of
//! ended blocks behind the run that ends them; they are held here until then. Which scans there are is decided elsewhere.

use super::emit::Emit;
use super::progressive::{LONGEST_RUN, Range, SIXTEEN_ZEROS, put_run};
use crate::Error;
use crate::jpeg::plane::Words;

/// Bits held of ended blocks from which on their run is written.
const MOST_HELD: usize = 1 << 15;
/// Bits handed over at once.
const AT_ONCE: usize = 48;
/// DC bits between two looks at the room left.
const DC_AT_ONCE: usize = 1024;

/// Codes bit `low` of `values`, DC values as stored.
///
/// # Errors
/// [`Error::Write`].
pub fn dc_bits(values: &[i16], low: u8, out: &mut impl Emit) -> Result<(), Error> {
    for some in values.chunks(DC_AT_ONCE) {
        out.room()?;
        for &dc in some {
            out.bits(u64::from((dc >> low) as u16 & 1), 1);
        }
    }
    Ok(())
}

/// Coder of one refinement scan of AC coefficients; all its symbols are of table 0.
#[derive(Debug, Clone)]
pub struct Refinement {
    range: Range,
    /// The bit that is sent.
    low: u8,
    /// Blocks whose end of band is not yet written.
    run: u32,
    /// Correcting bits of those blocks.
    held: Vec<bool>,
    /// Correcting bits of the block at hand since its last symbol.
    own: Vec<bool>,
}

impl Refinement {
    /// A coder of bit `low` of the zigzag indices of `range`.
    pub fn new(range: Range, low: u8) -> Self {
        Self {
            range,
            low,
            run: 0,
            held: Vec::new(),
            own: Vec::new(),
        }
    }

    /// Codes one block.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn block(&mut self, words: Words<'_>, out: &mut impl Emit) -> Result<(), Error> {
        let newest = self.newest(words);
        // Coefficients without higher bits since the last symbol, and the index behind the last one looked at.
        let (mut zeros, mut next) = (0, self.range.0);
        for (index, value) in words {
            let level = value.unsigned_abs() >> self.low;
            if index < self.range.0 || index > self.range.1 || level == 0 {
                continue;
            }
            zeros += index - next;
            next = index + 1;
            // Sixteen zeros are written only where another symbol follows them within the block.
            while zeros > 15 && index <= newest {
                self.symbol(SIXTEEN_ZEROS, 0, 0, out)?;
                zeros -= 16;
            }
            if level > 1 {
                self.own.push(level & 1 == 1);
                continue;
            }
            self.symbol((zeros << 4) as u8 | 1, u32::from(value > 0), 1, out)?;
            zeros = 0;
        }
        if zeros > 0 || next <= self.range.1 || !self.own.is_empty() {
            self.run += 1;
            self.held.append(&mut self.own);
            if self.run == LONGEST_RUN || self.held.len() >= MOST_HELD {
                self.finish(out)?;
            }
        }
        Ok(())
    }

    /// Codes `count` blocks without coefficients.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn skip(&mut self, mut count: u32, out: &mut impl Emit) -> Result<(), Error> {
        while self.run + count >= LONGEST_RUN {
            count -= LONGEST_RUN - self.run;
            self.run = LONGEST_RUN;
            self.finish(out)?;
        }
        self.run += count;
        Ok(())
    }

    /// Writes the run of blocks that ended; needed once more after the last block.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn finish(&mut self, out: &mut impl Emit) -> Result<(), Error> {
        put_run(0, std::mem::take(&mut self.run), out);
        put_all(&mut self.held, out)
    }

    /// Index of the last coefficient whose highest bit is the one sent, or 0.
    fn newest(&self, words: Words<'_>) -> usize {
        let new = |&(index, value): &(usize, i16)| {
            let within = (self.range.0..=self.range.1).contains(&index);
            within && value.unsigned_abs() >> self.low == 1
        };
        words.filter(new).last().map_or(0, |(index, _)| index)
    }

    /// A symbol of the block at hand, then the bits that wait for it.
    fn symbol(
        &mut self,
        symbol: u8,
        extra: u32,
        count: u32,
        out: &mut impl Emit,
    ) -> Result<(), Error> {
        self.finish(out)?;
        out.emit(0, symbol, extra, count);
        put_all(&mut self.own, out)
    }
}

fn put_all(bits: &mut Vec<bool>, out: &mut impl Emit) -> Result<(), Error> {
    for some in bits.chunks(AT_ONCE) {
        out.room()?;
        let joined = some.iter().fold(0, |all, &bit| all << 1 | u64::from(bit));
        out.bits(joined, some.len() as u32);
    }
    bits.clear();
    out.room()
}
