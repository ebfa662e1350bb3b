//! A GIF of one frame, laid on its screen. More frames are refused: a still picture would lose them.

use super::{Bytes, Carried, Depth, Layout, Raster, corrupt, room, unsupported};
use crate::{Budget, Error, Format, Source};
use ::gif::{ColorOutput, DecodeOptions, Decoder, DecodingError, MemoryLimit};
use std::io::{ErrorKind, Read};
use std::num::NonZeroU64;

/// Decodes the GIF in `source`.
///
/// # Errors
/// See [`Error`].
pub(super) fn read(source: &dyn Source, budget: &Budget) -> Result<Raster, Error> {
    let mut options = DecodeOptions::new();
    options.set_color_output(ColorOutput::RGBA);
    options.allow_unknown_blocks(true);
    let limit = NonZeroU64::new(budget.left()).unwrap_or(NonZeroU64::MIN);
    options.set_memory_limit(MemoryLimit::Bytes(limit));
    let mut decoder = options
        .read_info(Bytes::buffered(source))
        .map_err(meaning)?;
    let (width, height) = (u32::from(decoder.width()), u32::from(decoder.height()));
    let mut samples = room((width, height), Layout::Rgba, Depth::Eight, budget)?;
    frame(&mut decoder, &mut samples, budget)?;
    if decoder.next_frame_info().map_err(meaning)?.is_some() {
        return Err(unsupported("an animated GIF as a still picture"));
    }
    let layout = without_alpha(&mut samples);
    Ok(Raster {
        width,
        height,
        layout,
        depth: Depth::Eight,
        samples,
        carried: Carried {
            icc: decoder.icc_profile().map(<[u8]>::to_vec),
            xmp: decoder.xmp_metadata().map(<[u8]>::to_vec),
            ..Carried::default()
        },
    })
}

/// Drops alpha where every pixel is opaque.
fn without_alpha(samples: &mut Vec<u8>) -> Layout {
    if samples.chunks_exact(4).any(|pixel| pixel[3] != u8::MAX) {
        return Layout::Rgba;
    }
    let pixels = samples.len() / 4;
    for n in 0..pixels {
        samples.copy_within(4 * n..4 * n + 3, 3 * n);
    }
    samples.truncate(3 * pixels);
    Layout::Rgb
}

/// Lays the first frame on the screen; what reaches over the edge is not seen.
fn frame<R: Read>(
    decoder: &mut Decoder<R>,
    screen: &mut [u8],
    budget: &Budget,
) -> Result<(), Error> {
    let across = usize::from(decoder.width());
    let Some(info) = decoder.next_frame_info().map_err(meaning)? else {
        return Err(corrupt(Format::Gif, "it has no picture"));
    };
    let (left, top) = (usize::from(info.left), usize::from(info.top));
    let width = usize::from(info.width);
    budget.admit_pixels(info.width.into(), info.height.into())?;
    let size = decoder.buffer_size();
    let mut pixels = budget.vec(size)?;
    pixels.resize(size, 0);
    decoder.read_into_buffer(&mut pixels).map_err(meaning)?;
    let seen = width.min(across.saturating_sub(left)) * 4;
    let rows = pixels.chunks_exact((width * 4).max(1));
    for (row, line) in rows.zip(screen.chunks_exact_mut(across * 4).skip(top)) {
        let start = (left * 4).min(line.len());
        line[start..start + seen].copy_from_slice(&row[..seen]);
    }
    budget.free(pixels);
    Ok(())
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the library's list of errors is open; those not named are damage"
)]
fn meaning(error: DecodingError) -> Error {
    match error {
        DecodingError::Io(error) if error.kind() == ErrorKind::UnexpectedEof => {
            corrupt(Format::Gif, "it is cut off")
        }
        DecodingError::Io(error) => Error::Read(error),
        error => corrupt(Format::Gif, error.to_string()),
    }
}
