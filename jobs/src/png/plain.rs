//! Pixels without palettes and keys, out of a PNG and back into one, for whoever changes them.

use super::colour::drop_bound;
use super::frames::Frames;
use super::scan::scan;
use super::{Chunk, corrupt, splice};
use crate::door::Note;
use crate::{Budget, Error, Format, Source};
use ::png::{BitDepth, ColorType, Transformations};

/// Bytes up to the end of the image header: signature, length, name, thirteen bytes, checksum.
const HEADER_END: usize = 8 + 8 + 13 + 4;

/// Pixels of one to four channels: gray, gray and alpha, RGB, RGBA.
#[derive(Debug)]
pub(crate) struct Plain {
    /// Rows without gaps; sixteen-bit samples in the machine's byte order.
    pub(crate) bytes: Vec<u8>,
    /// Pixels across.
    pub(crate) width: u32,
    /// Pixels down.
    pub(crate) height: u32,
    /// Samples of a pixel.
    pub(crate) channels: usize,
    /// Whether a sample has two bytes.
    pub(crate) sixteen_bits: bool,
}

/// Reads the pixels of a still PNG.
///
/// # Errors
/// See [`Error`].
pub(crate) fn read_plain(source: &dyn Source, budget: &Budget) -> Result<Plain, Error> {
    let layout = scan(source, budget)?;
    budget.admit_pixels(layout.header.width.into(), layout.header.height.into())?;
    let mut frames = Frames::open(source, &layout, Transformations::EXPAND, budget)?;
    frames.next(budget)?;
    let (colour, depth) = frames.kind();
    let sixteen_bits = depth == BitDepth::Sixteen;
    let (width, height) = (layout.header.width, layout.header.height);
    let row_bytes = width as usize * colour.samples() * if sixteen_bits { 2 } else { 1 };
    let mut bytes = budget.vec(row_bytes.saturating_mul(height as usize))?;
    while let Some(row) = frames.row(budget)? {
        bytes.extend_from_slice(row);
    }
    if bytes.len() != row_bytes * height as usize {
        return Err(corrupt("its pixels are cut off"));
    }
    if sixteen_bits {
        swap_to_native(&mut bytes);
    }
    Ok(Plain {
        bytes,
        width,
        height,
        channels: colour.samples(),
        sixteen_bits,
    })
}

/// The chunks that make no pixels, and what was repaired: damaged ones are left out.
///
/// # Errors
/// See [`Error`].
pub(crate) fn read_chunks(
    source: &dyn Source,
    budget: &Budget,
) -> Result<(Vec<Chunk>, Vec<Note>), Error> {
    let layout = scan(source, budget)?;
    Ok((layout.others, layout.notes))
}

/// PNG's byte order to the machine's, or back.
fn swap_to_native(bytes: &mut [u8]) {
    for pair in bytes.chunks_exact_mut(2) {
        let native = u16::from_be_bytes([pair[0], pair[1]]).to_ne_bytes();
        pair.copy_from_slice(&native);
    }
}

/// A quickly coded PNG of new pixels with the other chunks of `source`, to be compressed properly afterwards, and what was
/// repaired.
///
/// # Errors
/// See [`Error`].
pub(crate) fn write_plain(
    source: &dyn Source,
    plain: &Plain,
    budget: &Budget,
) -> Result<(Vec<u8>, Vec<Note>), Error> {
    let mut layout = scan(source, budget)?;
    drop_bound(&mut layout);
    let coded = coded(plain, budget)?;
    let mut file = Vec::new();
    splice::write(&coded, &layout, source, &mut file)?;
    budget.claim(file.len() as u64)?;
    Ok((file, layout.notes))
}

/// The same with chunks of the caller's choice, all before the pixels.
///
/// # Errors
/// See [`Error`].
pub(crate) fn file_of(plain: &Plain, chunks: &[Chunk], budget: &Budget) -> Result<Vec<u8>, Error> {
    let coded = coded(plain, budget)?;
    let more: u64 = chunks.iter().map(Chunk::length).sum();
    let mut file = budget.vec(coded.len() + more as usize)?;
    let (header, pixels) = coded.split_at(HEADER_END.min(coded.len()));
    file.extend_from_slice(header);
    chunks.iter().for_each(|chunk| chunk.append_to(&mut file));
    file.extend_from_slice(pixels);
    Ok(file)
}

/// A PNG of pixels alone, coded quickly.
fn coded(plain: &Plain, budget: &Budget) -> Result<Vec<u8>, Error> {
    let mut coded = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut coded, plain.width, plain.height);
    encoder.set_color(match plain.channels {
        1 => ColorType::Grayscale,
        2 => ColorType::GrayscaleAlpha,
        3 => ColorType::Rgb,
        _ => ColorType::Rgba,
    });
    encoder.set_depth(if plain.sixteen_bits {
        BitDepth::Sixteen
    } else {
        BitDepth::Eight
    });
    encoder.set_compression(::png::Compression::Fast);
    let failed = |error: ::png::EncodingError| Error::Codec {
        format: Format::Png,
        what: error.to_string(),
    };
    let mut writer = encoder.write_header().map_err(failed)?;
    if plain.sixteen_bits {
        let mut swapped = super::chunk::claimed(&plain.bytes, budget)?;
        swap_to_native(&mut swapped);
        writer.write_image_data(&swapped).map_err(failed)?;
        budget.free(swapped);
    } else {
        writer.write_image_data(&plain.bytes).map_err(failed)?;
    }
    writer.finish().map_err(failed)?;
    Ok(coded)
}
