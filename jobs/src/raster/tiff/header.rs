//! What a TIFF directory says about its picture (TIFF 6.0, parts 1 and 2), and what of it is refused.

use super::fax::Fax;
use super::{Depth, Directory, Layout, bytes, damaged, meaning, unsupported};
use crate::Error;
use ::tiff::decoder::ChunkType;
use ::tiff::tags::{ByteOrder, Tag};

/// Compression of strips and tiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Lzw,
    Deflate,
    PackBits,
    Fax(Fax),
    /// JPEG, and the tables that strips and tiles have in common (none where they bring their own).
    Jpeg(Vec<u8>),
}

/// What samples mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Photometric {
    WhiteIsZero,
    BlackIsZero,
    Rgb,
    /// Red, green and blue of every index.
    Palette(Vec<[u8; 3]>),
    Cmyk,
    /// Luma and chroma, which JPEG data becomes RGB from.
    Ycc,
}

/// A picture's directory.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Bits of every sample: 1, 2, 4, 8 or 16.
    pub(super) bits: u8,
    /// Samples of a pixel, alpha included.
    pub(super) samples: usize,
    pub(super) photometric: Photometric,
    pub(super) compression: Compression,
    /// Differences to the sample on the left.
    pub(super) predicted: bool,
    /// A strip or tile holds one sample of each pixel.
    pub(super) planar: bool,
    /// The first pixel sits in the lowest bit.
    pub(super) reversed: bool,
    pub(super) big_endian: bool,
    /// The last sample is alpha and the others were multiplied with it.
    pub(super) premultiplied: bool,
    /// Strips, which end at the picture's edge; tiles are always whole.
    pub(super) strips: bool,
    /// Width and height of a strip or tile.
    pub(super) chunk: (u32, u32),
    /// Offset and bytes of every strip or tile.
    pub(super) places: Vec<(u64, u64)>,
}

impl Header {
    /// The kind of pixels it decodes to.
    pub(super) fn kind(&self) -> (Layout, Depth) {
        let layout = match (&self.photometric, self.samples) {
            (Photometric::WhiteIsZero | Photometric::BlackIsZero, 1) => Layout::Gray,
            (Photometric::WhiteIsZero | Photometric::BlackIsZero, _) => Layout::GrayAlpha,
            (Photometric::Palette(_) | Photometric::Ycc, _) | (Photometric::Rgb, 3) => Layout::Rgb,
            (Photometric::Rgb, _) => Layout::Rgba,
            (Photometric::Cmyk, _) => Layout::Cmyk,
        };
        let depth = if self.bits == 16 {
            Depth::Sixteen
        } else {
            Depth::Eight
        };
        (layout, depth)
    }
}

/// Reads the directory and refuses what cannot be read right.
///
/// # Errors
/// [`Error::Unsupported`], [`Error::Corrupt`].
pub(super) fn read(directory: &mut Directory<'_>) -> Result<Header, Error> {
    let (width, height) = directory.dimensions().map_err(meaning)?;
    let number = |directory: &mut Directory<'_>, tag, default: u16| -> Result<u16, Error> {
        let found = directory.find_tag_unsigned(tag).map_err(meaning)?;
        Ok(found.unwrap_or(default))
    };
    let compression = compression(number(directory, Tag::Compression, 1)?, directory)?;
    let samples = usize::from(number(directory, Tag::SamplesPerPixel, 1)?);
    let bits = bits(directory)?;
    let photometric = number(directory, Tag::PhotometricInterpretation, 1)?;
    let photometric = match (photometric, &compression) {
        (6, Compression::Jpeg(_)) => Photometric::Ycc,
        (other, _) => photometric_of(other, bits, directory)?,
    };
    let alpha = alpha(&photometric, samples, directory)?;
    let strips = directory.get_chunk_type() == ChunkType::Strip;
    let (across, down) = directory.chunk_dimensions();
    let header = Header {
        width,
        height,
        bits,
        samples,
        photometric,
        predicted: match &compression {
            // They have no use for it.
            Compression::Fax(_) | Compression::Jpeg(_) => false,
            Compression::None | Compression::Lzw | Compression::Deflate | Compression::PackBits => {
                predicted(number(directory, Tag::Predictor, 1)?, bits)?
            }
        },
        compression,
        planar: number(directory, Tag::PlanarConfiguration, 1)? == 2,
        reversed: number(directory, Tag::FillOrder, 1)? == 2,
        big_endian: directory.byte_order() == ByteOrder::BigEndian,
        premultiplied: alpha == Alpha::Premultiplied,
        strips,
        chunk: (across, if strips { down.min(height) } else { down }),
        places: places(directory, strips)?,
    };
    check(header)
}

/// Depths that only gray and palettes may have, and enough strips or tiles.
fn check(header: Header) -> Result<Header, Error> {
    let narrow = header.bits < 8;
    let one = header.samples == 1;
    if narrow && !one {
        return Err(unsupported(format!(
            "a TIFF of {} bits in several samples",
            header.bits
        )));
    }
    let only = |bits: u8, name: &str| match header.bits {
        right if right == bits => Ok(()),
        other => Err(unsupported(format!(
            "a TIFF with {name} compression of {other} bits"
        ))),
    };
    match &header.compression {
        Compression::Fax(_) => only(1, "CCITT (fax)")?,
        Compression::Jpeg(_) => only(8, "JPEG")?,
        Compression::None | Compression::Lzw | Compression::Deflate | Compression::PackBits => {}
    }
    if header.photometric == Photometric::Ycc && header.planar {
        return Err(unsupported("a TIFF of YCbCr samples in planes"));
    }
    let (across, down) = header.chunk;
    if across == 0 || down == 0 {
        return Err(damaged("strips or tiles without a size"));
    }
    let columns = u64::from(header.width.div_ceil(across));
    let rows = u64::from(header.height.div_ceil(down));
    let planes = if header.planar {
        header.samples as u64
    } else {
        1
    };
    if (header.places.len() as u64) < columns * rows * planes {
        return Err(damaged("strips or tiles are missing"));
    }
    Ok(header)
}

fn compression(number: u16, directory: &mut Directory<'_>) -> Result<Compression, Error> {
    Ok(match number {
        1 => Compression::None,
        2 => Compression::Fax(Fax::Rows),
        3 => {
            let options = directory.find_tag_unsigned::<u32>(Tag::from_u16_exhaustive(292));
            let options = options.map_err(meaning)?.unwrap_or(0);
            Compression::Fax(Fax::Group3 {
                two_dimensional: options & 1 == 1,
            })
        }
        4 => Compression::Fax(Fax::Group4),
        5 => Compression::Lzw,
        7 => Compression::Jpeg(bytes(directory, Tag::JPEGTables).unwrap_or_default()),
        8 | 32946 => Compression::Deflate,
        32773 => Compression::PackBits,
        6 => return Err(unsupported("a TIFF with old-style JPEG compression")),
        34925 => return Err(unsupported("a TIFF with LZMA compression")),
        50000 => return Err(unsupported("a TIFF with Zstandard compression")),
        50001 => return Err(unsupported("a TIFF with WebP compression")),
        other => return Err(unsupported(format!("a TIFF with compression {other}"))),
    })
}

fn bits(directory: &mut Directory<'_>) -> Result<u8, Error> {
    let all = |directory: &mut Directory<'_>, tag| -> Result<Vec<u16>, Error> {
        let found = directory.find_tag_unsigned_vec(tag).map_err(meaning)?;
        Ok(found.unwrap_or_default())
    };
    match all(directory, Tag::SampleFormat)?.first() {
        None | Some(1 | 4) => {}
        Some(2) => return Err(unsupported("a TIFF of signed samples")),
        Some(3) => return Err(unsupported("a TIFF of floating-point samples")),
        Some(_) => return Err(unsupported("a TIFF of complex samples")),
    }
    let bits = all(directory, Tag::BitsPerSample)?;
    let first = bits.first().copied().unwrap_or(1);
    if bits.iter().any(|&other| other != first) {
        return Err(unsupported("a TIFF of samples of different depth"));
    }
    match first {
        1 | 2 | 4 | 8 | 16 => Ok(first as u8),
        other => Err(unsupported(format!("a TIFF of {other} bits per sample"))),
    }
}

fn predicted(number: u16, bits: u8) -> Result<bool, Error> {
    match number {
        1 => Ok(false),
        2 if bits >= 8 => Ok(true),
        2 => Err(unsupported("a TIFF with differences of narrow samples")),
        3 => Err(unsupported("a TIFF with the floating-point predictor")),
        _ => Err(damaged("an unknown predictor")),
    }
}

fn photometric_of(
    number: u16,
    bits: u8,
    directory: &mut Directory<'_>,
) -> Result<Photometric, Error> {
    Ok(match number {
        0 => Photometric::WhiteIsZero,
        1 => Photometric::BlackIsZero,
        2 => Photometric::Rgb,
        3 => Photometric::Palette(palette(bits, directory)?),
        4 => return Err(unsupported("a TIFF transparency mask")),
        5 => match directory.find_tag_unsigned::<u16>(Tag::from_u16_exhaustive(332)) {
            Ok(None | Some(1)) => Photometric::Cmyk,
            Ok(Some(_)) | Err(_) => return Err(unsupported("a TIFF of inks other than CMYK")),
        },
        6 => return Err(unsupported("a TIFF of YCbCr samples")),
        8..=10 => return Err(unsupported("a TIFF of Lab samples")),
        other => return Err(unsupported(format!("a TIFF of colour kind {other}"))),
    })
}

/// The colour map: all reds, all greens, all blues, of sixteen bits; some writers put eight bits into them.
fn palette(bits: u8, directory: &mut Directory<'_>) -> Result<Vec<[u8; 3]>, Error> {
    if bits > 8 {
        return Err(unsupported("a TIFF palette of sixteen bits"));
    }
    let map: Option<Vec<u16>> = directory
        .find_tag_unsigned_vec(Tag::ColorMap)
        .map_err(meaning)?;
    let map = map.unwrap_or_default();
    let count = 1usize << bits;
    if map.len() != 3 * count {
        return Err(damaged("a palette of the wrong size"));
    }
    let wide = map.iter().any(|&value| value > 255);
    let value = |at: usize| {
        if wide {
            (map[at] >> 8) as u8
        } else {
            map[at] as u8
        }
    };
    Ok((0..count)
        .map(|n| [value(n), value(count + n), value(2 * count + n)])
        .collect())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alpha {
    None,
    Plain,
    Premultiplied,
}

/// What a sample beyond the colours is; more than one, or one that nobody explains, would be lost.
fn alpha(
    photometric: &Photometric,
    samples: usize,
    directory: &mut Directory<'_>,
) -> Result<Alpha, Error> {
    let colours = match photometric {
        Photometric::WhiteIsZero | Photometric::BlackIsZero | Photometric::Palette(_) => 1,
        Photometric::Rgb | Photometric::Ycc => 3,
        Photometric::Cmyk => 4,
    };
    if samples < colours {
        return Err(damaged("fewer samples than colours"));
    }
    let extra: Option<Vec<u16>> = directory
        .find_tag_unsigned_vec(Tag::ExtraSamples)
        .map_err(meaning)?;
    let may = match photometric {
        Photometric::WhiteIsZero | Photometric::BlackIsZero | Photometric::Rgb => true,
        Photometric::Palette(_) | Photometric::Cmyk | Photometric::Ycc => false,
    };
    match (samples - colours, extra.unwrap_or_default().as_slice()) {
        (0, _) => Ok(Alpha::None),
        (1, [1]) if may => Ok(Alpha::Premultiplied),
        (1, [2]) if may => Ok(Alpha::Plain),
        (_, _) => Err(unsupported("a TIFF with extra channels")),
    }
}

/// Offsets and lengths of strips or tiles.
fn places(directory: &mut Directory<'_>, strips: bool) -> Result<Vec<(u64, u64)>, Error> {
    let (offsets, bytes) = if strips {
        (Tag::StripOffsets, Tag::StripByteCounts)
    } else {
        (Tag::TileOffsets, Tag::TileByteCounts)
    };
    let mut numbers = |tag| -> Result<Vec<u64>, Error> {
        let found = directory.find_tag_unsigned_vec(tag).map_err(meaning)?;
        Ok(found.unwrap_or_default())
    };
    Ok(numbers(offsets)?.into_iter().zip(numbers(bytes)?).collect())
}
