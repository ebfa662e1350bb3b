//! The view of a file that the engine gets: a head in memory, then a range of the source; and sinks and copies around it.

use crate::{Budget, Error, Sink, Source};
use std::io;
use std::ops::Range;

/// Bytes copied at a time.
const PIECE: usize = 64 * 1024;

/// A head in memory followed by a range of a source.
pub(super) struct Shown<'a> {
    source: &'a dyn Source,
    head: Vec<u8>,
    data: Range<u64>,
}

impl<'a> Shown<'a> {
    pub(super) fn new(source: &'a dyn Source, head: Vec<u8>, data: Range<u64>) -> Self {
        Self { source, head, data }
    }
}

impl Source for Shown<'_> {
    fn len(&self) -> u64 {
        self.head.len() as u64 + (self.data.end - self.data.start)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let head = self.head.len() as u64;
        if offset < head {
            return self.head.as_slice().read_at(offset, buffer);
        }
        let at = self.data.start.saturating_add(offset - head);
        let at = at.min(self.data.end);
        let count = buffer
            .len()
            .min(usize::try_from(self.data.end - at).unwrap_or(usize::MAX));
        self.source.read_at(at, &mut buffer[..count])
    }
}

/// Copies a range of `source`.
///
/// # Errors
/// [`Error::Read`], [`Error::Write`].
pub(super) fn copy(
    source: &dyn Source,
    range: Range<u64>,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    let mut piece = vec![0; PIECE];
    let mut at = range.start;
    while at < range.end {
        let wanted = piece
            .len()
            .min(usize::try_from(range.end - at).unwrap_or(PIECE));
        let count = source
            .read_at(at, &mut piece[..wanted])
            .map_err(Error::Read)?;
        if count == 0 {
            return Err(Error::Read(io::ErrorKind::UnexpectedEof.into()));
        }
        sink.write(&piece[..count]).map_err(Error::Write)?;
        at += count as u64;
    }
    Ok(())
}

/// Holds a result in memory that the budget knows of.
pub(super) struct Held<'a> {
    bytes: Vec<u8>,
    budget: &'a Budget,
    over: Option<Error>,
}

impl<'a> Held<'a> {
    pub(super) fn new(budget: &'a Budget) -> Self {
        Self {
            bytes: Vec::new(),
            budget,
            over: None,
        }
    }

    /// The bytes, or why they could not be held.
    pub(super) fn finish(self, failed: Option<&Error>) -> Result<Vec<u8>, Error> {
        match self.over {
            Some(over) if failed.is_some() => Err(over),
            Some(_) | None => Ok(self.bytes),
        }
    }
}

impl Sink for Held<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let wanted = self.bytes.len() + bytes.len();
        if wanted > self.bytes.capacity() {
            match self
                .budget
                .vec(wanted.max(2 * self.bytes.capacity()).max(PIECE))
            {
                Ok(bigger) => {
                    let smaller = std::mem::replace(&mut self.bytes, bigger);
                    self.bytes.extend_from_slice(&smaller);
                    self.budget.free(smaller);
                }
                Err(over) => {
                    self.over = Some(over);
                    return Err(io::ErrorKind::OutOfMemory.into());
                }
            }
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn restart(&mut self) -> io::Result<()> {
        self.bytes.clear();
        Ok(())
    }
}
