//! A [`Source`] as the reader that decoding libraries want.

use crate::{Budget, Error, Source};
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// Bytes asked of the source at a time.
const PIECE: usize = 64 * 1024;

/// Reads a source from any place.
pub(crate) struct Bytes<'a> {
    source: &'a dyn Source,
    offset: u64,
}

impl<'a> Bytes<'a> {
    /// From the beginning, in pieces of 64 KiB.
    pub(crate) fn buffered(source: &'a dyn Source) -> BufReader<Self> {
        BufReader::with_capacity(PIECE, Self { source, offset: 0 })
    }
}

/// All of a source in memory, for formats whose libraries want it so; shorter where the source ends early.
///
/// # Errors
/// [`Error::OverBudget`], [`Error::Read`].
pub(crate) fn whole(source: &dyn Source, budget: &Budget) -> Result<Vec<u8>, Error> {
    let length = usize::try_from(source.len()).unwrap_or(usize::MAX);
    let mut bytes = budget.vec(length)?;
    bytes.resize(length, 0);
    let mut filled = 0;
    while filled < length {
        match source
            .read_at(filled as u64, &mut bytes[filled..])
            .map_err(Error::Read)?
        {
            0 => break,
            count => filled += count,
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

impl Read for Bytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read_at(self.offset, buffer)?;
        self.offset += count as u64;
        Ok(count)
    }
}

impl Seek for Bytes<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (from, by) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::Current(by) => (self.offset, by),
            SeekFrom::End(by) => (self.source.len(), by),
        };
        self.offset = from
            .checked_add_signed(by)
            .ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.offset)
    }
}
