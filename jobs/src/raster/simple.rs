//! BMP, QOI and PNM through the `image` crate.
//!
//! A profile inside a BMP is carried; one in a file of its own cannot be. Several PNM pictures in one file are refused.

use super::{Bytes, Carried, Depth, Layout, Raster, corrupt, room, unsupported};
use crate::{Budget, Error, Format, Source};
use image::codecs::{bmp::BmpDecoder, pnm::PnmDecoder, qoi::QoiDecoder};
use image::error::{ImageError, LimitErrorKind};
use image::{ColorType, ImageDecoder, Limits};
use std::io::{BufRead, ErrorKind};

/// Decodes the BMP, QOI or PNM in `source`.
///
/// # Errors
/// See [`Error`].
pub(super) fn read(format: Format, source: &dyn Source, budget: &Budget) -> Result<Raster, Error> {
    let mut reader = Bytes::buffered(source);
    let meaning = |error| meaning(format, error, budget);
    let mut raster = if format == Format::Bmp {
        pixels(
            BmpDecoder::new(&mut reader).map_err(meaning)?,
            format,
            budget,
        )?
    } else if format == Format::Qoi {
        pixels(
            QoiDecoder::new(&mut reader).map_err(meaning)?,
            format,
            budget,
        )?
    } else {
        pixels(
            PnmDecoder::new(&mut reader).map_err(meaning)?,
            format,
            budget,
        )?
    };
    if format == Format::Pnm && reader.fill_buf().map_err(Error::Read)?.starts_with(b"P") {
        budget.free(raster.samples);
        return Err(unsupported("a PNM file of several pictures"));
    }
    if format == Format::Bmp {
        raster.carried.icc = bmp_profile(source)?;
    }
    Ok(raster)
}

fn pixels(
    mut decoder: impl ImageDecoder,
    format: Format,
    budget: &Budget,
) -> Result<Raster, Error> {
    let (width, height) = decoder.dimensions();
    let (layout, depth) = kind(decoder.color_type())?;
    let mut samples = room((width, height), layout, depth, budget)?;
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(budget.left());
    decoder
        .set_limits(limits)
        .and_then(|()| decoder.read_image(&mut samples))
        .map_err(|error| meaning(format, error, budget))?;
    Ok(Raster {
        width,
        height,
        layout,
        depth,
        samples,
        carried: Carried::default(),
    })
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the library's list of kinds is open"
)]
fn kind(colour: ColorType) -> Result<(Layout, Depth), Error> {
    Ok(match colour {
        ColorType::L8 => (Layout::Gray, Depth::Eight),
        ColorType::La8 => (Layout::GrayAlpha, Depth::Eight),
        ColorType::Rgb8 => (Layout::Rgb, Depth::Eight),
        ColorType::Rgba8 => (Layout::Rgba, Depth::Eight),
        ColorType::L16 => (Layout::Gray, Depth::Sixteen),
        ColorType::La16 => (Layout::GrayAlpha, Depth::Sixteen),
        ColorType::Rgb16 => (Layout::Rgb, Depth::Sixteen),
        ColorType::Rgba16 => (Layout::Rgba, Depth::Sixteen),
        other => return Err(unsupported(format!("a picture of {other:?} samples"))),
    })
}

fn meaning(format: Format, error: ImageError, budget: &Budget) -> Error {
    match error {
        ImageError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => {
            corrupt(format, "its pixels are cut off")
        }
        ImageError::IoError(error) if error.kind() == ErrorKind::InvalidData => {
            corrupt(format, error.to_string())
        }
        ImageError::IoError(error) => Error::Read(error),
        ImageError::Limits(error) if error.kind() == LimitErrorKind::InsufficientMemory => {
            Error::OverBudget {
                needed: budget.memory().saturating_add(1),
                cap: budget.memory(),
            }
        }
        ImageError::Unsupported(error) => {
            unsupported(format!("this kind of {} ({error})", format.name()))
        }
        ImageError::Decoding(_)
        | ImageError::Encoding(_)
        | ImageError::Parameter(_)
        | ImageError::Limits(_) => corrupt(format, error.to_string()),
    }
}

/// The profile embedded in a BMP of version 5 (BITMAPV5HEADER: colour space, profile offset and size).
fn bmp_profile(source: &dyn Source) -> Result<Option<Vec<u8>>, Error> {
    const HEADER: u64 = 14;
    let mut header = [0; 124];
    if !fill(source, HEADER, &mut header)? || header[0] != 124 || &header[56..60] != b"DEBM" {
        return Ok(None);
    }
    let number = |at: usize| {
        u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let (offset, length) = (u64::from(number(112)) + HEADER, u64::from(number(116)));
    if length == 0 || offset + length > source.len() {
        return Ok(None);
    }
    let mut profile = vec![0; length as usize];
    Ok(fill(source, offset, &mut profile)?.then_some(profile))
}

/// Fills `buffer` from `offset`; says whether there were bytes enough.
fn fill(source: &dyn Source, offset: u64, buffer: &mut [u8]) -> Result<bool, Error> {
    let mut filled = 0;
    while filled < buffer.len() {
        match source
            .read_at(offset + filled as u64, &mut buffer[filled..])
            .map_err(Error::Read)?
        {
            0 => return Ok(false),
            count => filled += count,
        }
    }
    Ok(true)
}
