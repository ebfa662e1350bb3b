//! Pixels between formats: one still picture, decoded, with what goes along with it.
//!
//! Every reader sets its library's limits, asks the budget before anything large is allocated, keeps sixteen bits, and
//! either reads a feature right or refuses it by name ([`Error::Unsupported`]). What the pixels become next (another
//! format, another size, another profile) is none of its business.

mod bytes;
mod density;
mod gif;
mod ico;
mod png;
mod simple;
mod tiff;

use crate::{Budget, Error, Format, Source, avif, jxl, webp};
pub(crate) use bytes::{Bytes, whole};
pub(crate) use density::{Density, Unit};
pub(crate) use ico::others as others_of_icon;

/// A decoded still picture in memory.
#[derive(Debug)]
pub(crate) struct Raster {
    /// Pixels across, as stored.
    pub(crate) width: u32,
    /// Pixels down, as stored.
    pub(crate) height: u32,
    /// How samples make a pixel.
    pub(crate) layout: Layout,
    /// Bits of a sample.
    pub(crate) depth: Depth,
    /// Interleaved rows without padding; alpha not multiplied in; 16-bit samples native-endian. Claimed from the budget.
    pub(crate) samples: Vec<u8>,
    /// What goes along.
    pub(crate) carried: Carried,
}

/// How samples make a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One sample.
    Gray,
    /// Gray and alpha.
    GrayAlpha,
    /// Red, green, blue.
    Rgb,
    /// Red, green, blue, alpha.
    Rgba,
    /// Cyan, magenta, yellow, black; 0 is no ink.
    Cmyk,
}

impl Layout {
    /// Samples of a pixel.
    pub(crate) fn channels(self) -> usize {
        match self {
            Self::Gray => 1,
            Self::GrayAlpha => 2,
            Self::Rgb => 3,
            Self::Rgba | Self::Cmyk => 4,
        }
    }
}

/// Bits of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// One byte.
    Eight,
    /// Two bytes in the machine's order.
    Sixteen,
}

impl Depth {
    /// Bytes of a sample.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Eight => 1,
            Self::Sixteen => 2,
        }
    }
}

/// What goes with the pixels, without any format's wrapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Carried {
    /// ICC profile.
    pub(crate) icc: Option<Vec<u8>>,
    /// EXIF as a TIFF structure, without the letters that JPEG puts before it.
    pub(crate) exif: Option<Vec<u8>>,
    /// XMP packet.
    pub(crate) xmp: Option<Vec<u8>>,
    /// 1 to 8.
    pub(crate) orientation: u8,
    /// Gamma and primaries of a picture that has no profile but these.
    pub(crate) gamma_only: Option<Tone>,
    /// Pixels to a unit of length.
    pub(crate) density: Option<Density>,
}

impl Default for Carried {
    fn default() -> Self {
        Self {
            icc: None,
            exif: None,
            xmp: None,
            orientation: 1,
            gamma_only: None,
            density: None,
        }
    }
}

/// Tone and primaries as PNG's `gAMA` and `cHRM` say them, in units of 1/100000.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tone {
    /// The exponent with which samples were encoded (45455 is 1/2.2).
    pub(crate) gamma: Option<u32>,
    /// x and y of white, red, green, blue.
    pub(crate) primaries: Option<[u32; 8]>,
}

/// Decodes the still picture in `source`.
///
/// # Errors
/// [`Error::Unsupported`] names a feature that cannot be carried (pages, animation, float samples) or a format whose pixels
/// are not read here; otherwise see [`Error`].
pub(crate) fn read(format: Format, source: &dyn Source, budget: &Budget) -> Result<Raster, Error> {
    match format {
        Format::Png => png::read(source, budget),
        Format::Gif => gif::read(source, budget),
        Format::Tiff => tiff::read(source, budget),
        Format::Bmp | Format::Qoi | Format::Pnm => simple::read(format, source, budget),
        Format::Apng => Err(unsupported("an animated PNG as a still picture")),
        Format::Webp => webp::read(source, budget),
        Format::Ico => ico::read(source, budget),
        Format::Avif => avif::read(source, budget),
        Format::Jxl => jxl::read(source, budget),
        Format::Jpeg | Format::Heic | Format::Jp2 | Format::Psd | Format::Raw => Err(unsupported(
            format!("reading the pixels of {} files", format.name()),
        )),
    }
}

fn unsupported(what: impl Into<String>) -> Error {
    Error::Unsupported(what.into())
}

fn corrupt(format: Format, what: impl Into<String>) -> Error {
    Error::Corrupt {
        format,
        what: what.into(),
    }
}

/// Room for the samples of a picture, all zero, after its size was admitted.
fn room(
    (width, height): (u32, u32),
    layout: Layout,
    depth: Depth,
    budget: &Budget,
) -> Result<Vec<u8>, Error> {
    budget.admit_pixels(width.into(), height.into())?;
    let bytes = (width as usize)
        .saturating_mul(height as usize)
        .saturating_mul(layout.channels() * depth.bytes());
    let mut samples = budget.vec(bytes)?;
    samples.resize(bytes, 0);
    Ok(samples)
}

#[cfg(test)]
mod tests;
