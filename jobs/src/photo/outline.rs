//! The places of a JPEG file's head: segments of metadata, tables and frame between them, where the data begins.

use crate::jpeg::frame::Segment;
use crate::metadata::{Report, mpf};
use crate::{Budget, Error, Source};
use std::ops::Range;

const SOI: [u8; 2] = [0xff, 0xd8];
const SOS: u8 = 0xda;

/// Everything before the first scan.
#[derive(Debug)]
pub(super) struct Outline {
    pieces: Vec<Piece>,
    /// Offset of the first scan's marker.
    pub(super) data: u64,
    /// The index of further pictures, from its byte order mark to its end.
    pub(super) mpf: Option<Range<u64>>,
}

/// A marker segment.
#[derive(Debug)]
enum Piece {
    /// APPn or COM.
    Metadata(Segment),
    /// Anything else, with its marker and length.
    Other(Vec<u8>),
}

/// Reads the head; `None` where it cannot be walked.
///
/// # Errors
/// [`Error::Read`], [`Error::OverBudget`].
pub(super) fn read(source: &dyn Source, budget: &Budget) -> Result<Option<Outline>, Error> {
    let mut outline = Outline {
        pieces: Vec::new(),
        data: 2,
        mpf: None,
    };
    loop {
        let Some((marker, at)) = marker(source, outline.data)? else {
            return Ok(None);
        };
        if marker == SOS {
            outline.data = at - 2;
            return Ok(Some(outline));
        }
        let mut length = [0; 2];
        // No frame, end or restart may stand here without a length.
        if matches!(marker, 0 | 0x01 | 0xd0..=0xd9) || fill(source, at, &mut length)? < 2 {
            return Ok(None);
        }
        let length = usize::from(u16::from_be_bytes(length));
        let Some(size) = length.checked_sub(2) else {
            return Ok(None);
        };
        let mut payload = budget.vec(size)?;
        payload.resize(size, 0);
        if fill(source, at + 2, &mut payload)? < size {
            return Ok(None);
        }
        outline.take(marker, at + 2, payload);
        outline.data = at + length as u64;
    }
}

/// The marker at or after `at` (fill bytes may stand before it) and the offset behind it.
fn marker(source: &dyn Source, mut at: u64) -> Result<Option<(u8, u64)>, Error> {
    let mut pair = [0; 2];
    loop {
        if fill(source, at, &mut pair)? < 2 || pair[0] != 0xff {
            return Ok(None);
        }
        if pair[1] != 0xff {
            return Ok(Some((pair[1], at + 2)));
        }
        at += 1;
    }
}

/// Reads until the buffer is full or the file ends.
pub(super) fn fill(source: &dyn Source, offset: u64, buffer: &mut [u8]) -> Result<usize, Error> {
    let mut filled = 0;
    while filled < buffer.len() {
        match source
            .read_at(offset + filled as u64, &mut buffer[filled..])
            .map_err(Error::Read)?
        {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

impl Outline {
    fn take(&mut self, marker: u8, at: u64, payload: Vec<u8>) {
        if !is_metadata(marker) {
            let length = (payload.len() as u16 + 2).to_be_bytes();
            let whole = [&[0xff, marker], length.as_slice(), &payload].concat();
            self.pieces.push(Piece::Other(whole));
            return;
        }
        if self.mpf.is_none() && marker == 0xe2 && payload.starts_with(mpf::SIGNATURE) {
            self.mpf = Some(at + mpf::SIGNATURE.len() as u64..at + payload.len() as u64);
        }
        self.pieces
            .push(Piece::Metadata(Segment { marker, payload }));
    }

    /// The metadata.
    pub(super) fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Metadata(segment) => Some(segment),
            Piece::Other(_) => None,
        })
    }

    /// The head with its metadata filtered; metadata comes first, in its order, then tables and frame in theirs, which is
    /// where readers expect both.
    pub(super) fn stripped(
        &self,
        filter: impl FnOnce(Vec<Segment>) -> (Vec<Segment>, Report),
    ) -> (Stripped<'_>, Report) {
        let (segments, report) = filter(self.segments().cloned().collect());
        let others = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Metadata(_) => None,
            Piece::Other(bytes) => Some(bytes.as_slice()),
        });
        (
            Stripped {
                segments,
                others: others.collect(),
            },
            report,
        )
    }
}

/// A head under way.
#[derive(Debug)]
pub(super) struct Stripped<'a> {
    segments: Vec<Segment>,
    others: Vec<&'a [u8]>,
}

impl Stripped<'_> {
    /// The bytes from SOI up to the first scan.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    pub(super) fn head(&self, budget: &Budget) -> Result<Vec<u8>, Error> {
        let metadata: usize = self
            .segments
            .iter()
            .map(|segment| segment.payload.len() + 4)
            .sum();
        let others: usize = self.others.iter().copied().map(<[u8]>::len).sum();
        let mut head = budget.vec(2 + metadata + others)?;
        head.extend_from_slice(&SOI);
        for segment in &self.segments {
            head.extend_from_slice(&[0xff, segment.marker]);
            head.extend_from_slice(&(segment.payload.len() as u16 + 2).to_be_bytes());
            head.extend_from_slice(&segment.payload);
        }
        for bytes in &self.others {
            head.extend_from_slice(bytes);
        }
        Ok(head)
    }
}

fn is_metadata(marker: u8) -> bool {
    matches!(marker, 0xe0..=0xef | 0xfe)
}

/// Where the index of further pictures stands in the head of a JPEG in memory, from its byte order mark to its end.
pub(super) fn find_mpf(bytes: &[u8]) -> Option<Range<u64>> {
    let mut at = 2;
    loop {
        let &[0xff, marker, high, low, ref rest @ ..] = bytes.get(at..)? else {
            return None;
        };
        let length = usize::from(u16::from_be_bytes([high, low]));
        if marker == 0xe2 && rest.starts_with(mpf::SIGNATURE) {
            let start = at + 4 + mpf::SIGNATURE.len();
            return Some(start as u64..(at + 2 + length) as u64);
        }
        if marker == SOS || length < 2 {
            return None;
        }
        at += 2 + length;
    }
}
