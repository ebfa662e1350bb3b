//! A still PNG: pixels through the PNG module, metadata out of its chunks.
//!
//! Text other than XMP is not carried into other formats. `cICP` other than plain sRGB (HDR first of all) is refused: no
//! other format's reader would see it.

use super::{Carried, Density, Depth, Layout, Raster, Tone, unsupported};
use crate::metadata::{carried_chunks, orientation_of_chunks};
use crate::png::{Chunk, Plain, read_chunks, read_plain};
use crate::{Budget, Error, Source};

/// Primaries of BT.709, transfer of sRGB, RGB, full range.
const CICP_SRGB: [u8; 4] = [1, 13, 0, 1];

/// Decodes the PNG in `source`.
///
/// # Errors
/// See [`Error`].
pub(super) fn read(source: &dyn Source, budget: &Budget) -> Result<Raster, Error> {
    let (chunks, _) = read_chunks(source, budget)?;
    let payload = |name: &[u8; 4]| find(&chunks, name);
    if payload(b"cICP").is_some_and(|cicp| cicp != CICP_SRGB) {
        return Err(unsupported(
            "a PNG with colours in cICP (HDR) as another format",
        ));
    }
    let plain = read_plain(source, budget)?;
    Ok(Raster {
        width: plain.width,
        height: plain.height,
        layout: layout(&plain),
        depth: if plain.sixteen_bits {
            Depth::Sixteen
        } else {
            Depth::Eight
        },
        samples: plain.bytes,
        carried: carried(&chunks),
    })
}

fn find<'a>(chunks: &'a [Chunk], name: &[u8; 4]) -> Option<&'a [u8]> {
    let chunk = chunks.iter().find(|chunk| &chunk.name == name);
    chunk.map(|chunk| chunk.payload.as_slice())
}

fn layout(plain: &Plain) -> Layout {
    match plain.channels {
        1 => Layout::Gray,
        2 => Layout::GrayAlpha,
        3 => Layout::Rgb,
        _ => Layout::Rgba,
    }
}

fn carried(chunks: &[Chunk]) -> Carried {
    let parts = carried_chunks(chunks);
    let named = parts.icc.is_some() || find(chunks, b"sRGB").or(find(chunks, b"cICP")).is_some();
    Carried {
        orientation: orientation_of_chunks(chunks).map_or(1, |turn| turn as u8),
        gamma_only: tone(chunks).filter(|_| !named),
        density: find(chunks, b"pHYs").and_then(Density::of_phys),
        icc: parts.icc,
        exif: parts.exif,
        xmp: parts.xmp,
    }
}

fn tone(chunks: &[Chunk]) -> Option<Tone> {
    let numbers = |name| -> Option<Vec<u32>> {
        let number = |four: &[u8]| four.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
        find(chunks, name).map(|payload| payload.chunks_exact(4).map(number).collect())
    };
    let gamma = numbers(b"gAMA").and_then(|numbers| numbers.first().copied());
    let primaries = numbers(b"cHRM").and_then(|numbers| numbers.try_into().ok());
    (gamma.is_some() || primaries.is_some()).then_some(Tone { gamma, primaries })
}
