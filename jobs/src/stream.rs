//! Where bytes come from and where they go, without saying what either is.

use std::io;

/// Bytes that can be read at any offset, any number of times.
///
/// A whole 150 MB photograph must not sit in memory to be shrunk, so readers ask for pieces of 64 KiB and may pass twice.
pub trait Source {
    /// Total number of bytes; does not change during a job.
    fn len(&self) -> u64;

    /// Reads up to `buffer.len()` bytes from `offset`; 0 means the end.
    ///
    /// # Errors
    /// Whatever the medium reports.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Whether there are no bytes at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<S: Source + ?Sized> Source for &S {
    fn len(&self) -> u64 {
        (**self).len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        (**self).read_at(offset, buffer)
    }
}

impl Source for [u8] {
    fn len(&self) -> u64 {
        <[u8]>::len(self) as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let start = usize::try_from(offset)
            .unwrap_or(usize::MAX)
            .min(<[u8]>::len(self));
        let count = buffer.len().min(<[u8]>::len(self) - start);
        buffer[..count].copy_from_slice(&self[start..start + count]);
        Ok(count)
    }
}

/// Takes the result's bytes in order.
pub trait Sink {
    /// Appends `bytes`.
    ///
    /// # Errors
    /// Whatever the medium reports, a full disk first of all.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Forgets everything written so far; the next write begins again.
    ///
    /// # Errors
    /// Whatever the medium reports.
    fn restart(&mut self) -> io::Result<()>;
}

impl Sink for Vec<u8> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.try_reserve(bytes.len())
            .map_err(|_| io::ErrorKind::OutOfMemory)?;
        self.extend_from_slice(bytes);
        Ok(())
    }

    fn restart(&mut self) -> io::Result<()> {
        self.clear();
        Ok(())
    }
}
