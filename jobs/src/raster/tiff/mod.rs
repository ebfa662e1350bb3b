//! TIFF: gray, palette, RGB and CMYK of whole numbers up to sixteen bits, in strips or tiles, chunky or planar; uncompressed,
//! LZW, deflate, PackBits, CCITT (fax) or JPEG.
//!
//! The directory is read by the `tiff` crate ([`header`] says what it means), strips and tiles are unpacked here ([`unpack`])
//! one at a time, and a strip that ends too early is an error. Pages, float samples, old-style JPEG and other compressions,
//! YCbCr without JPEG and Lab are refused by name.

mod exif;
mod fax;
mod header;
mod jpeg;
mod unpack;

use super::{Bytes, Carried, Density, Depth, Layout, Raster, Unit, corrupt, room, unsupported};
use crate::{Budget, Error, Format, Source};
use ::tiff::decoder::ifd::Value;
use ::tiff::decoder::{Decoder, Limits};
use ::tiff::{TiffError, tags::Tag};
use std::io::BufReader;

/// A directory reader over a source.
type Directory<'a> = Decoder<BufReader<Bytes<'a>>>;

/// Decodes the TIFF in `source`.
///
/// # Errors
/// See [`Error`].
pub(super) fn read(source: &dyn Source, budget: &Budget) -> Result<Raster, Error> {
    let mut directory = Decoder::new(Bytes::buffered(source)).map_err(meaning)?;
    let mut limits = Limits::default();
    limits.ifd_value_size =
        usize::try_from(source.len().min(budget.left() / 4)).unwrap_or(usize::MAX);
    directory = directory.with_limits(limits);
    if directory.more_images() {
        return Err(unsupported("a TIFF of several pages"));
    }
    let header = header::read(&mut directory)?;
    let (layout, depth) = header.kind();
    let mut samples = room((header.width, header.height), layout, depth, budget)?;
    unpack::all(&header, source, &mut samples, budget)?;
    if header.premultiplied {
        divide_alpha(&mut samples, layout, depth);
    }
    Ok(Raster {
        width: header.width,
        height: header.height,
        layout,
        depth,
        samples,
        carried: carried(&mut directory),
    })
}

/// Metadata that cannot be read does not fail the picture.
fn carried(directory: &mut Directory<'_>) -> Carried {
    let orientation = directory.find_tag_unsigned::<u8>(Tag::Orientation);
    Carried {
        icc: bytes(directory, Tag::IccProfile),
        exif: exif::block(directory),
        xmp: bytes(directory, Tag::from_u16_exhaustive(700)),
        orientation: orientation
            .ok()
            .flatten()
            .filter(|turn| (1..=8).contains(turn))
            .unwrap_or(1),
        gamma_only: None,
        density: density(directory),
    }
}

/// Resolution in whole pixels to an inch or a centimetre (TIFF 6.0 section 8); other units are none.
fn density(directory: &mut Directory<'_>) -> Option<Density> {
    let unit = directory.find_tag_unsigned::<u16>(Tag::ResolutionUnit);
    let unit = match unit.ok()? {
        None | Some(2) => Unit::Inch,
        Some(3) => Unit::Centimetre,
        Some(_) => return None,
    };
    let mut number = |tag| {
        let found = directory.find_tag(tag).ok()??;
        if let Value::Rational(over, under) = found {
            let value = f64::from(over) / f64::from(under);
            return (value.is_finite() && value < 1e9).then_some(value.round() as u32);
        }
        None
    };
    Density::new(number(Tag::XResolution)?, number(Tag::YResolution)?, unit)
}

/// The bytes of a tag's value.
fn bytes(directory: &mut Directory<'_>, tag: Tag) -> Option<Vec<u8>> {
    let mut buffer = ::tiff::tags::ValueBuffer::empty(::tiff::tags::Type::BYTE);
    let found = directory.image_ifd().find_tag_buf(tag, &mut buffer);
    found.ok().flatten()?;
    Some(buffer.as_bytes().to_vec()).filter(|bytes| !bytes.is_empty())
}

/// Colours with alpha multiplied in (ExtraSamples 1), as colours.
fn divide_alpha(samples: &mut [u8], layout: Layout, depth: Depth) {
    let divide = |colour: u64, alpha: u64, most: u64| {
        let whole = (colour * most + alpha / 2).checked_div(alpha);
        whole.unwrap_or(0).min(most)
    };
    let channels = layout.channels();
    for pixel in samples.chunks_exact_mut(channels * depth.bytes()) {
        match depth {
            Depth::Eight => {
                let alpha = u64::from(pixel[channels - 1]);
                for colour in &mut pixel[..channels - 1] {
                    *colour = divide(u64::from(*colour), alpha, 255) as u8;
                }
            }
            Depth::Sixteen => {
                let (colours, alpha) = pixel.split_at_mut(2 * (channels - 1));
                let alpha = u64::from(u16::from_ne_bytes([alpha[0], alpha[1]]));
                for colour in colours.chunks_exact_mut(2) {
                    let value = u64::from(u16::from_ne_bytes([colour[0], colour[1]]));
                    colour.copy_from_slice(&(divide(value, alpha, 65535) as u16).to_ne_bytes());
                }
            }
        }
    }
}

fn meaning(error: TiffError) -> Error {
    match error {
        TiffError::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            damaged("it is cut off")
        }
        TiffError::IoError(error) => Error::Read(error),
        TiffError::UnsupportedError(error) => unsupported(format!("this kind of TIFF ({error})")),
        TiffError::FormatError(_)
        | TiffError::LimitsExceeded
        | TiffError::IntSizeError
        | TiffError::UsageError(_) => damaged(error.to_string()),
    }
}

fn damaged(what: impl Into<String>) -> Error {
    corrupt(Format::Tiff, what)
}

#[cfg(test)]
mod tests;
