//! A source's bytes in order, a piece at a time: what markers and segments are read from. It knows no marker.

use crate::{Budget, Error, Format, Source};

/// Bytes fetched at a time; most headers are one or two pieces.
const PIECE: usize = 16 * 1024;

/// A damaged JPEG.
pub(crate) fn corrupt(what: String) -> Error {
    Error::Corrupt {
        format: Format::Jpeg,
        what,
    }
}

/// Reads `buffer` full from `offset`, less only at the end of the source.
///
/// # Errors
/// [`Error::Read`].
pub(crate) fn read_full(
    source: &dyn Source,
    offset: u64,
    buffer: &mut [u8],
) -> Result<usize, Error> {
    let mut filled = 0;
    while filled < buffer.len() {
        let count = source
            .read_at(offset + filled as u64, &mut buffer[filled..])
            .map_err(Error::Read)?;
        if count == 0 {
            break;
        }
        filled += count.min(buffer.len() - filled);
    }
    Ok(filled)
}

/// A place in a source and the bytes around it.
pub(super) struct Reader<'a> {
    source: &'a dyn Source,
    buffer: Vec<u8>,
    /// Offset in the source of the buffer's first byte.
    base: u64,
    next: usize,
}

impl<'a> Reader<'a> {
    /// Starts at `offset`.
    pub(super) fn new(source: &'a dyn Source, offset: u64, budget: &Budget) -> Result<Self, Error> {
        Ok(Self {
            source,
            buffer: budget.vec(PIECE)?,
            base: offset,
            next: 0,
        })
    }

    /// Offset of the next byte.
    pub(super) fn offset(&self) -> u64 {
        self.base + self.next as u64
    }

    /// Goes on at `offset`.
    pub(super) fn seek(&mut self, offset: u64) {
        self.base = offset;
        self.buffer.clear();
        self.next = 0;
    }

    /// The next byte, `None` at the end.
    pub(super) fn byte(&mut self) -> Result<Option<u8>, Error> {
        if self.next == self.buffer.len() && !self.fetch()? {
            return Ok(None);
        }
        let byte = self.buffer[self.next];
        self.next += 1;
        Ok(Some(byte))
    }

    /// The next byte of something that must be whole; `of` names it.
    pub(super) fn u8(&mut self, of: &str) -> Result<u8, Error> {
        let byte = self.byte()?;
        byte.ok_or_else(|| corrupt(format!("the file ends at byte {} in {of}", self.offset())))
    }

    /// Two bytes, the high one first.
    pub(super) fn u16(&mut self, of: &str) -> Result<u16, Error> {
        Ok(u16::from_be_bytes([self.u8(of)?, self.u8(of)?]))
    }

    /// Fills `out`.
    pub(super) fn exact(&mut self, out: &mut [u8], of: &str) -> Result<(), Error> {
        let held = (self.buffer.len() - self.next).min(out.len());
        out[..held].copy_from_slice(&self.buffer[self.next..self.next + held]);
        self.next += held;
        if held == out.len() {
            return Ok(());
        }
        let offset = self.offset();
        let rest = &mut out[held..];
        let count = read_full(self.source, offset, rest)?;
        if count < rest.len() {
            let end = offset + count as u64;
            return Err(corrupt(format!("the file ends at byte {end} in {of}")));
        }
        self.seek(offset + count as u64);
        Ok(())
    }

    /// Passes over bytes up to the next 0xFF and returns its offset, `None` at the end.
    pub(super) fn find_ff(&mut self) -> Result<Option<u64>, Error> {
        loop {
            let held = &self.buffer[self.next..];
            if let Some(n) = find_ff(held) {
                self.next += n;
                return Ok(Some(self.offset()));
            }
            self.next = self.buffer.len();
            if !self.fetch()? {
                return Ok(None);
            }
        }
    }

    fn fetch(&mut self) -> Result<bool, Error> {
        self.base = self.offset();
        self.next = 0;
        // The room was claimed in full by `new`; resizing within it cannot allocate.
        self.buffer.resize(PIECE, 0);
        let count = read_full(self.source, self.base, &mut self.buffer)?;
        self.buffer.truncate(count);
        Ok(count > 0)
    }
}

/// Index of the first 0xFF.
fn find_ff(bytes: &[u8]) -> Option<usize> {
    const STEP: usize = 32;
    let mut start = 0;
    // The inner test has no exit, so that it becomes vector instructions.
    for piece in bytes.chunks_exact(STEP) {
        if piece
            .iter()
            .fold(false, |found, &byte| found | (byte == 0xff))
        {
            break;
        }
        start += STEP;
    }
    let rest = &bytes[start..];
    rest.iter()
        .position(|&byte| byte == 0xff)
        .map(|n| start + n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_ff_at_every_place() {
        for length in 0..100 {
            for place in 0..length {
                let mut bytes = vec![0xfe; length];
                bytes[place] = 0xff;
                assert_eq!(find_ff(&bytes), Some(place));
            }
            assert_eq!(find_ff(&vec![0xfe; length]), None);
        }
    }
}
