//! The container of a WebP file (RFC 9649 section 2): chunks in a RIFF file, taken apart and put together again.
//!
//! Chunks it does not know are kept where they stood; what follows the RIFF is kept as it is. Nothing here decodes a pixel.

use super::corrupt;
use crate::{Error, Sink};
use std::borrow::Cow;

/// Four letters, not all of them letters.
pub(crate) type Name = [u8; 4];

/// Bytes before a chunk's payload.
pub(super) const FRAMING: usize = 8;
/// Bytes before the first chunk.
const START: usize = 12;
/// Bytes of the extended header with its framing.
const EXTENDED: usize = FRAMING + 10;

/// Flags of the extended header.
mod flag {
    pub(super) const ANIMATION: u8 = 0x02;
    pub(super) const XMP: u8 = 0x04;
    pub(super) const EXIF: u8 = 0x08;
    pub(super) const ALPHA: u8 = 0x10;
    pub(super) const ICC: u8 = 0x20;
}

/// One chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    /// Its name.
    pub(crate) name: Name,
    /// Its payload, without padding.
    pub(crate) payload: Cow<'a, [u8]>,
}

impl Piece<'_> {
    /// Whether it is part of the picture itself.
    pub(super) fn is_image(&self) -> bool {
        matches!(&self.name, b"ALPH" | b"VP8 " | b"VP8L" | b"ANMF" | b"ANIM")
    }

    /// Bytes with framing and padding.
    pub(super) fn length(&self) -> usize {
        FRAMING + self.payload.len().next_multiple_of(2)
    }

    /// Writes it with framing and padding.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub(super) fn write(&self, sink: &mut dyn Sink) -> Result<(), Error> {
        let length = self.payload.len();
        let head = [self.name, (length as u32).to_le_bytes()].concat();
        sink.write(&head).map_err(Error::Write)?;
        sink.write(&self.payload).map_err(Error::Write)?;
        sink.write(&[0][..length % 2]).map_err(Error::Write)
    }
}

/// A WebP file taken apart.
#[derive(Debug)]
pub(super) struct File<'a> {
    /// Width and height that the extended header declares.
    pub(super) canvas: Option<(u32, u32)>,
    /// Whether the extended header declares an animation.
    pub(super) animated: bool,
    /// Every chunk but the extended header, in order.
    pub(super) pieces: Vec<Piece<'a>>,
    /// What follows the RIFF.
    pub(super) tail: &'a [u8],
}

/// Takes a file apart.
///
/// # Errors
/// [`Error::Corrupt`] where it ends too early.
pub(super) fn parse(bytes: &[u8]) -> Result<File<'_>, Error> {
    let size = bytes.get(4..8).ok_or_else(cut_off)?;
    let end = FRAMING + u32::from_le_bytes([size[0], size[1], size[2], size[3]]) as usize;
    // The padding of the last chunk is missing in some files, and in some it is not counted.
    if end > bytes.len() + 1 || end < START {
        return Err(cut_off());
    }
    let end = end.min(bytes.len());
    let mut pieces = chunks(&bytes[START..end])?;
    let extended = pieces.first().filter(|piece| &piece.name == b"VP8X");
    let head = extended.map(|piece| piece.payload.clone());
    let mut file = File {
        canvas: None,
        animated: false,
        pieces: Vec::new(),
        tail: &bytes[end..],
    };
    if let Some(head) = head {
        let &[flags, _, _, _, w0, w1, w2, h0, h1, h2, ..] = head.as_ref() else {
            return Err(corrupt("the extended header is too short"));
        };
        let side = |a, b, c| u32::from_le_bytes([a, b, c, 0]) + 1;
        file.canvas = Some((side(w0, w1, w2), side(h0, h1, h2)));
        file.animated = flags & flag::ANIMATION != 0;
        pieces.remove(0);
    }
    file.pieces = pieces;
    Ok(file)
}

/// The chunks in `bytes`; fewer than eight bytes at the end are padding of no use.
pub(super) fn chunks(mut bytes: &[u8]) -> Result<Vec<Piece<'_>>, Error> {
    let mut pieces = Vec::new();
    while let Some((head, rest)) = bytes.split_at_checked(FRAMING) {
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        let payload = rest.get(..length).ok_or_else(cut_off)?;
        pieces.push(Piece {
            name: [head[0], head[1], head[2], head[3]],
            payload: Cow::Borrowed(payload),
        });
        bytes = rest.get(length.next_multiple_of(2)..).unwrap_or_default();
    }
    Ok(pieces)
}

fn cut_off() -> Error {
    corrupt("it is cut off")
}

/// What a file holds beside its picture, by its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Around {
    /// Chunks beside the picture, and what follows the RIFF.
    bytes: usize,
    /// Whether there are such chunks.
    chunks: bool,
}

impl Around {
    /// Of a file with those other chunks and that tail.
    pub(super) fn of<'a>(others: impl Iterator<Item = &'a Piece<'a>>, tail: &[u8]) -> Self {
        let lengths: Vec<usize> = others.map(Piece::length).collect();
        Self {
            bytes: lengths.iter().sum::<usize>() + tail.len(),
            chunks: !lengths.is_empty(),
        }
    }

    /// Whether the extended header is needed: for anything but a picture alone.
    fn is_extended(self, image: &[Piece<'_>]) -> bool {
        self.chunks || !matches!(image, [one] if matches!(&one.name, b"VP8 " | b"VP8L"))
    }

    /// Bytes of the whole file with that picture.
    pub(super) fn with(self, image: &[Piece<'_>]) -> u64 {
        let extended = if self.is_extended(image) { EXTENDED } else { 0 };
        let image: usize = image.iter().map(Piece::length).sum();
        (START + extended + self.bytes + image) as u64
    }
}

/// A file to be written.
#[derive(Debug)]
pub(super) struct Shape<'a> {
    /// Width and height.
    pub(super) canvas: (u32, u32),
    /// Whether any of its pixels may be transparent.
    pub(super) alpha: bool,
    /// Every chunk but the extended header, in order.
    pub(super) pieces: Vec<&'a Piece<'a>>,
    /// What follows the RIFF.
    pub(super) tail: &'a [u8],
}

impl Shape<'_> {
    /// Whether the extended header is needed.
    fn is_extended(&self) -> bool {
        !matches!(self.pieces[..], [one] if matches!(&one.name, b"VP8 " | b"VP8L"))
    }

    /// Bytes of the whole file.
    pub(super) fn length(&self) -> u64 {
        let extended = if self.is_extended() { EXTENDED } else { 0 };
        let pieces: usize = self.pieces.iter().map(|piece| piece.length()).sum();
        (START + extended + pieces + self.tail.len()) as u64
    }

    /// Writes the file.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub(super) fn write(&self, sink: &mut dyn Sink) -> Result<(), Error> {
        let size = self.length() as usize - self.tail.len() - FRAMING;
        let mut head = b"RIFF".to_vec();
        head.extend_from_slice(&(size as u32).to_le_bytes());
        head.extend_from_slice(b"WEBP");
        if self.is_extended() {
            head.extend_from_slice(b"VP8X\x0a\0\0\0");
            head.extend_from_slice(&[self.flags(), 0, 0, 0]);
            head.extend_from_slice(&(self.canvas.0 - 1).to_le_bytes()[..3]);
            head.extend_from_slice(&(self.canvas.1 - 1).to_le_bytes()[..3]);
        }
        sink.write(&head).map_err(Error::Write)?;
        for piece in &self.pieces {
            piece.write(sink)?;
        }
        sink.write(self.tail).map_err(Error::Write)
    }

    fn flags(&self) -> u8 {
        let of = |name: &Name, flag| {
            let has = self.pieces.iter().any(|piece| &piece.name == name);
            if has { flag } else { 0 }
        };
        of(b"ANIM", flag::ANIMATION)
            | of(b"XMP ", flag::XMP)
            | of(b"EXIF", flag::EXIF)
            | of(b"ICCP", flag::ICC)
            | if self.alpha { flag::ALPHA } else { 0 }
    }
}
