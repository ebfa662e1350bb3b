//! What the engine answers: results with their quality, originals with the reason for keeping them.

use super::decode;
use super::encode::Role;
use super::frame::{Frame, QuantTable};
use super::quant::recipe::quality_of_scale;
use super::quant::tables;
use crate::{Compressed, Error, Format, Keep, Kept, Note, Sink, Source, Written};
use std::ops::Range;

/// Bytes copied at a time.
const PIECE: usize = 64 * 1024;

/// What a file holds besides its picture.
#[derive(Debug)]
pub struct Around {
    /// What was odd.
    pub notes: Vec<Note>,
    /// Offsets of what stands behind the end marker.
    pub trailer: Range<u64>,
    width: u32,
    height: u32,
}

impl Around {
    /// Takes the notes out of `picture`.
    pub fn of(picture: &mut decode::Picture) -> Self {
        Self {
            notes: std::mem::take(&mut picture.notes),
            trailer: picture.trailer.clone(),
            width: u32::from(picture.frame.width),
            height: u32::from(picture.frame.height),
        }
    }

    /// The same of a file decoded row by row.
    pub fn of_ending(frame: &Frame, ending: &decode::Ending) -> Self {
        Self {
            notes: ending.notes.clone(),
            trailer: ending.trailer.clone(),
            width: u32::from(frame.width),
            height: u32::from(frame.height),
        }
    }

    /// Bytes behind the end marker.
    pub fn trailer_bytes(&self) -> u64 {
        self.trailer.end - self.trailer.start
    }

    /// The answer for a result of `bytes` bytes in all.
    pub fn written(self, bytes: u64, reached: Reached) -> Compressed {
        Compressed::Written(Written {
            format: Format::Jpeg,
            bytes,
            width: self.width,
            height: self.height,
            quality: reached.quality,
            notes: self.notes,
        })
    }
}

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// Bytes without the trailer.
    pub bytes: u64,
    quality: Option<u8>,
}

impl Reached {
    /// The coefficients as they were; the quality is that of the source and is not judged.
    pub fn lossless(bytes: u64) -> Self {
        Self {
            bytes,
            quality: None,
        }
    }

    /// Tables of `scale`, or the source's own where those are coarser.
    pub fn lossy(bytes: u64, scale: f32, roles: &[Role], source: &[QuantTable]) -> Self {
        let own = tables::scale_of(roles[0], &source[0]);
        Self {
            bytes,
            quality: Some(quality_of_scale(scale.max(own))),
        }
    }
}

/// The answer for an original left as it is.
pub fn kept(why: Keep, notes: Vec<Note>) -> Compressed {
    Compressed::Kept(Kept {
        format: Format::Jpeg,
        why,
        notes,
    })
}

/// Copies `range` of `source` behind the result.
///
/// # Errors
/// [`Error::Read`], [`Error::Write`].
pub fn append(source: &dyn Source, range: Range<u64>, sink: &mut dyn Sink) -> Result<(), Error> {
    let mut piece = vec![0; PIECE.min((range.end - range.start) as usize)];
    let mut at = range.start;
    while at < range.end {
        let wanted = piece.len().min((range.end - at) as usize);
        let count = source
            .read_at(at, &mut piece[..wanted])
            .map_err(Error::Read)?;
        if count == 0 {
            return Err(Error::Read(std::io::ErrorKind::UnexpectedEof.into()));
        }
        sink.write(&piece[..count]).map_err(Error::Write)?;
        at += count as u64;
    }
    Ok(())
}
