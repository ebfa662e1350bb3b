//! A PNG made smaller in pixels, in its own depth; palettes become plain colours first and are found again afterwards.

use super::resample::{Nature, Samples, resample};
use crate::door::Compressed;
use crate::png::{self, Plain};
use crate::{Budget, Error, Format, Options, Sink, Source};
use fast_image_resize::PixelType;

/// Shrinks the PNG in `source` to `size` and compresses it into `sink`.
///
/// # Errors
/// See [`Error`].
pub(crate) fn compress(
    source: &dyn Source,
    size: (u32, u32),
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    let plain = png::read_plain(source, budget)?;
    let wide = plain.sixteen_bits;
    let kind = match (plain.channels, wide) {
        (1, false) => PixelType::U8,
        (2, false) => PixelType::U8x2,
        (3, false) => PixelType::U8x3,
        (_, false) => PixelType::U8x4,
        (1, true) => PixelType::U16,
        (2, true) => PixelType::U16x2,
        (3, true) => PixelType::U16x3,
        (_, true) => PixelType::U16x4,
    };
    let Plain {
        bytes,
        width,
        height,
        ..
    } = plain;
    let from = Samples {
        bytes,
        width,
        height,
        kind,
    };
    let nature = Nature {
        alpha: true,
        linear: options.linear_light,
    };
    let small = resample(from, (width.into(), height.into()), size, nature, budget)?;
    let plain = Plain {
        bytes: small.bytes,
        width: size.0,
        height: size.1,
        ..plain
    };
    let (file, notes) = png::write_plain(source, &plain, budget)?;
    budget.free(plain.bytes);
    let done = super::anew(Format::Png, source.len(), options, |asked| {
        png::compress(&file.as_slice(), sink, asked, budget)
    })?;
    Ok(done.with_notes(notes))
}
