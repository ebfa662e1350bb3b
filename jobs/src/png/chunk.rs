//! One PNG chunk and the image header (PNG third edition, 5.3 and 11.2.2).

use super::corrupt;
use crate::{Budget, Error};

/// Four ASCII letters.
pub(super) type Name = [u8; 4];

/// Bytes of a chunk beside its payload: length, name, checksum.
pub(super) const FRAMING: u64 = 12;
/// The eight bytes every PNG begins with.
pub(super) const SIGNATURE: &[u8; 8] = b"\x89PNG\r\n\x1a\n";

/// A chunk that makes no pixels, kept byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Its name.
    pub(crate) name: Name,
    /// Its payload.
    pub(crate) payload: Vec<u8>,
    /// Where it stood.
    pub(crate) place: Place,
}

/// Where a chunk stood; the order within a place is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// Before `PLTE`, or before `IDAT` where there is no palette.
    BeforePalette,
    /// Between `PLTE` and `IDAT`.
    BeforePixels,
    /// After the last `IDAT` (and the last frame of an animation).
    AfterPixels,
}

impl Chunk {
    /// Appends the chunk with length and checksum.
    pub(super) fn append_to(&self, out: &mut Vec<u8>) {
        append(self.name, &self.payload, out);
    }

    /// Bytes with framing.
    pub(super) fn length(&self) -> u64 {
        self.payload.len() as u64 + FRAMING
    }
}

/// Appends a chunk with length and checksum.
pub(super) fn append(name: Name, payload: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes());
    out.extend_from_slice(&name);
    out.extend_from_slice(payload);
    out.extend_from_slice(&checksum(name, payload).to_be_bytes());
}

/// CRC-32 over name and payload.
pub(super) fn checksum(name: Name, payload: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(&name);
    crc.update(payload);
    crc.sum()
}

/// What `IHDR` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// Width in pixels, at least 1.
    pub(crate) width: u32,
    /// Height in pixels, at least 1.
    pub(crate) height: u32,
    /// Bits per sample: 1, 2, 4, 8 or 16.
    pub(crate) depth: u8,
    /// How samples make a pixel.
    pub(crate) colour: Colour,
    /// Adam7.
    pub(crate) interlaced: bool,
}

/// How samples make a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    /// One sample.
    Gray,
    /// Three samples.
    Rgb,
    /// One index.
    Indexed,
    /// Gray and alpha.
    GrayAlpha,
    /// Red, green, blue, alpha.
    Rgba,
}

impl Colour {
    /// Samples of a pixel.
    pub(super) fn samples(self) -> u64 {
        match self {
            Self::Gray | Self::Indexed => 1,
            Self::GrayAlpha => 2,
            Self::Rgb => 3,
            Self::Rgba => 4,
        }
    }

    /// Whether a gray profile fits it, and only a gray one.
    pub(super) fn is_gray(self) -> bool {
        match self {
            Self::Gray | Self::GrayAlpha => true,
            Self::Rgb | Self::Indexed | Self::Rgba => false,
        }
    }
}

impl Header {
    /// Reads the payload of `IHDR`.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for sizes and kinds that do not exist.
    pub(super) fn read(payload: &[u8]) -> Result<Self, Error> {
        let &[
            w0,
            w1,
            w2,
            w3,
            h0,
            h1,
            h2,
            h3,
            depth,
            kind,
            0,
            0,
            interlace @ (0 | 1),
        ] = payload
        else {
            return Err(corrupt(
                "the image header has the wrong length or an unknown method",
            ));
        };
        let colour = match (kind, depth) {
            (0, 1 | 2 | 4 | 8 | 16) => Colour::Gray,
            (2, 8 | 16) => Colour::Rgb,
            (3, 1 | 2 | 4 | 8) => Colour::Indexed,
            (4, 8 | 16) => Colour::GrayAlpha,
            (6, 8 | 16) => Colour::Rgba,
            _ => {
                return Err(corrupt(format!(
                    "colour type {kind} with {depth} bits does not exist"
                )));
            }
        };
        let width = u32::from_be_bytes([w0, w1, w2, w3]);
        let height = u32::from_be_bytes([h0, h1, h2, h3]);
        let valid = 1..=i32::MAX as u32;
        if !valid.contains(&width) || !valid.contains(&height) {
            return Err(corrupt(format!(
                "a size of {width}x{height} does not exist"
            )));
        }
        Ok(Self {
            width,
            height,
            depth,
            colour,
            interlaced: interlace == 1,
        })
    }

    /// Bytes of one row, packed, without the filter byte.
    pub(super) fn row_bytes(&self) -> u64 {
        (u64::from(self.width) * self.colour.samples() * u64::from(self.depth)).div_ceil(8)
    }

    /// Bytes of all rows, packed.
    pub(super) fn raw_bytes(&self) -> u64 {
        self.row_bytes().saturating_mul(u64::from(self.height))
    }
}

/// A copy that the budget knows of.
///
/// # Errors
/// [`Error::OverBudget`].
pub(super) fn claimed(bytes: &[u8], budget: &Budget) -> Result<Vec<u8>, Error> {
    let mut copy = budget.vec(bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}
