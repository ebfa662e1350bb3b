//! A TIFF structure in memory, edited in place (TIFF 6.0 section 2). Every access is checked; a structure that points
//! outside itself or in circles is [`Damaged`].

use super::Damaged;
use std::ops::Range;

/// Most directories followed; real files have four.
const MOST_DIRECTORIES: usize = 64;

/// A TIFF structure.
#[derive(Debug)]
pub(super) struct Tiff<'a> {
    bytes: &'a mut [u8],
    big_endian: bool,
}

/// One directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// Offset of its twelve bytes.
    pub(super) at: usize,
    pub(super) tag: u16,
    kind: u16,
    count: u32,
}

impl<'a> Tiff<'a> {
    /// Reads the byte order.
    pub(super) fn new(bytes: &'a mut [u8]) -> Result<Self, Damaged> {
        let big_endian = match bytes.get(..4) {
            Some(b"II*\0") => false,
            Some(b"MM\0*") => true,
            Some(_) | None => return Err(Damaged),
        };
        Ok(Self { bytes, big_endian })
    }

    pub(super) fn u16(&self, at: usize) -> Result<u16, Damaged> {
        let end = at.checked_add(2).ok_or(Damaged)?;
        let &[a, b] = self.bytes.get(at..end).ok_or(Damaged)? else {
            return Err(Damaged);
        };
        Ok(if self.big_endian {
            u16::from_be_bytes([a, b])
        } else {
            u16::from_le_bytes([a, b])
        })
    }

    pub(super) fn u32(&self, at: usize) -> Result<u32, Damaged> {
        let end = at.checked_add(4).ok_or(Damaged)?;
        let &[a, b, c, d] = self.bytes.get(at..end).ok_or(Damaged)? else {
            return Err(Damaged);
        };
        let four = [a, b, c, d];
        Ok(if self.big_endian {
            u32::from_be_bytes(four)
        } else {
            u32::from_le_bytes(four)
        })
    }

    pub(super) fn put_u32(&mut self, at: usize, value: u32) {
        let four = if self.big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        };
        self.bytes[at..at + 4].copy_from_slice(&four);
    }

    fn put_u16(&mut self, at: usize, value: u16) {
        let two = if self.big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        };
        self.bytes[at..at + 2].copy_from_slice(&two);
    }

    /// Offsets of the directories in the main chain.
    pub(super) fn chain(&self) -> Result<Vec<usize>, Damaged> {
        let mut chain = Vec::new();
        let mut next = self.u32(4)? as usize;
        while next != 0 {
            if chain.contains(&next) || chain.len() == MOST_DIRECTORIES {
                return Err(Damaged);
            }
            chain.push(next);
            // Some writers leave out the last link.
            next = self
                .link(next)?
                .map_or(0, |at| self.u32(at).unwrap_or(0) as usize);
        }
        Ok(chain)
    }

    /// Offset of the link to the next directory, where there is room for one.
    pub(super) fn link(&self, directory: usize) -> Result<Option<usize>, Damaged> {
        let end = directory + 2 + 12 * usize::from(self.u16(directory)?);
        if end > self.bytes.len() {
            return Err(Damaged);
        }
        Ok((end + 4 <= self.bytes.len()).then_some(end))
    }

    /// The entries of a directory.
    pub(super) fn entries(&self, directory: usize) -> Result<Vec<Entry>, Damaged> {
        (0..usize::from(self.u16(directory)?))
            .map(|n| {
                let at = directory + 2 + 12 * n;
                let (tag, kind) = (self.u16(at)?, self.u16(at + 2)?);
                let count = self.u32(at + 4)?;
                self.u32(at + 8)?;
                Ok(Entry {
                    at,
                    tag,
                    kind,
                    count,
                })
            })
            .collect()
    }

    /// The entry with that tag.
    pub(super) fn find(&self, directory: usize, tag: u16) -> Result<Option<Entry>, Damaged> {
        Ok(self
            .entries(directory)?
            .into_iter()
            .find(|entry| entry.tag == tag))
    }

    /// The first value of an entry, as a number (SHORT and LONG).
    pub(super) fn number(&self, entry: &Entry) -> Result<u32, Damaged> {
        let at = self.data(entry)?.start;
        match entry.kind {
            3 => self.u16(at).map(u32::from),
            _ => self.u32(at),
        }
    }

    /// Writes the first value of an entry, a SHORT or a LONG; a number too big for it stays unwritten.
    pub(super) fn put_number(&mut self, entry: &Entry, value: u32) -> Result<(), Damaged> {
        let at = self.data(entry)?.start;
        match (entry.kind, u16::try_from(value)) {
            (3, Ok(short)) => self.put_u16(at, short),
            (4, _) => self.put_u32(at, value),
            _ => {}
        }
        Ok(())
    }

    /// Where an entry's values stand.
    pub(super) fn data(&self, entry: &Entry) -> Result<Range<usize>, Damaged> {
        let size = match entry.kind {
            3 | 8 => 2,
            4 | 9 | 11 | 13 => 4,
            5 | 10 | 12 => 8,
            _ => 1,
        };
        let length = (entry.count as usize).checked_mul(size).ok_or(Damaged)?;
        let start = if length <= 4 {
            entry.at + 8
        } else {
            self.u32(entry.at + 8)? as usize
        };
        let end = start.checked_add(length).ok_or(Damaged)?;
        if end > self.bytes.len() {
            return Err(Damaged);
        }
        Ok(start..end)
    }

    /// Takes an entry out of its directory; the link moves up with the entries behind it, everything else stays.
    pub(super) fn remove(&mut self, directory: usize, entry: &Entry) -> Result<(), Damaged> {
        let count = self.u16(directory)?;
        let end = self
            .link(directory)?
            .map_or(directory + 2 + 12 * usize::from(count), |at| at + 4);
        self.bytes.copy_within(entry.at + 12..end, entry.at);
        self.bytes[end - 12..end].fill(0);
        self.put_u16(directory, count - 1);
        Ok(())
    }

    /// Blanks a directory with all values that stand outside it, but never the header or a directory of `keep`.
    pub(super) fn blank(&mut self, directory: usize, keep: &[usize]) -> Result<(), Damaged> {
        let kept: Vec<Range<usize>> = keep
            .iter()
            .map(|&other| self.extent(other))
            .chain([Ok(0..8)])
            .collect::<Result<_, _>>()?;
        let mut ranges = vec![self.extent(directory)?];
        for entry in self.entries(directory)? {
            ranges.push(self.data(&entry)?);
        }
        let clear = |range: &Range<usize>| {
            kept.iter()
                .all(|kept| range.end <= kept.start || kept.end <= range.start)
        };
        for range in ranges.into_iter().filter(clear) {
            self.bytes[range].fill(0);
        }
        Ok(())
    }

    /// The bytes of a directory itself.
    fn extent(&self, directory: usize) -> Result<Range<usize>, Damaged> {
        Ok(directory..self.link(directory)?.map_or(self.bytes.len(), |at| at + 4))
    }

    /// Blanks bytes that an entry points at.
    pub(super) fn blank_range(&mut self, range: Range<usize>) -> Result<(), Damaged> {
        self.bytes.get_mut(range).ok_or(Damaged)?.fill(0);
        Ok(())
    }
}
