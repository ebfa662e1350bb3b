//! The thorough way: oxipng chooses colour type, palette order, filters and deflate coding. It holds several copies of
//! the pixels, so its need is claimed before it starts.

use super::chunk::Colour;
use super::colour::{Allowed, allowed};
use super::pixels;
use super::scan::Layout;
use crate::door::Note;
use crate::{Budget, Error, Format, Options, Source};
use oxipng::{BitDepth, ColorType, RGB16, RGBA8, RawImage};

/// Copies of the pixels beside our own that are alive at the worst moment: reduced, filtered, coded. A photograph of
/// 13 megapixels was measured at 2.4 in all.
const COPIES: u64 = 3;
/// Tables of the deflate encoder and small things.
const FIXED: u64 = 12 << 20;

/// Bytes this way needs.
pub(super) fn estimate(layout: &Layout) -> u64 {
    layout.header.raw_bytes().saturating_add(working(layout))
}

/// Bytes beside the decoded pixels. oxipng unpacks pixels of less than eight bits to look for reductions.
fn working(layout: &Layout) -> u64 {
    let header = &layout.header;
    let unpacked = u64::from(header.width) * u64::from(header.height);
    let copy = header.raw_bytes().max(unpacked);
    copy.saturating_mul(COPIES).saturating_add(FIXED)
}

/// A smaller PNG of the same pixels, without the other chunks.
///
/// # Errors
/// See [`Error`].
pub(super) fn recode(
    source: &dyn Source,
    layout: &Layout,
    options: &Options,
    budget: &Budget,
) -> Result<(Vec<u8>, Vec<Note>), Error> {
    let (data, forgiven) = pixels::whole(source, layout, budget)?;
    let held = data.len() as u64;
    let working = working(layout);
    budget.claim(working)?;
    let header = &layout.header;
    let image = RawImage::new(
        header.width,
        header.height,
        colour_type(layout),
        bit_depth(header.depth),
        data,
    );
    let png = image
        .and_then(|image| image.create_optimized_png(&settings(options.effort, allowed(layout))))
        .map_err(failure)?;
    budget.release(working + held);
    let wrong_sum = || Note::Repaired("the checksum of the compressed pixels was wrong".to_owned());
    Ok((png, forgiven.then(wrong_sum).into_iter().collect()))
}

/// Every error here is ours: the pixels were decoded before.
pub(super) fn failure(error: oxipng::PngError) -> Error {
    Error::Codec {
        format: Format::Png,
        what: error.to_string(),
    }
}

/// oxipng's settings for an effort of 0 to 9; its level 2 is our middle.
pub(super) fn settings(effort: u8, allowed: Allowed) -> oxipng::Options {
    let level = match effort {
        0 => 0,
        1 | 2 => 1,
        3..=5 => 2,
        6 => 3,
        7 => 4,
        8 => 5,
        9.. => 6,
    };
    oxipng::Options {
        interlace: None,
        optimize_alpha: false,
        bit_depth_reduction: allowed.reductions,
        color_type_reduction: allowed.reductions,
        palette_reduction: allowed.reductions,
        grayscale_reduction: allowed.gray,
        scale_16: false,
        strip: oxipng::StripChunks::None,
        timeout: None,
        ..oxipng::Options::from_preset(level)
    }
}

fn bit_depth(depth: u8) -> BitDepth {
    match depth {
        1 => BitDepth::One,
        2 => BitDepth::Two,
        4 => BitDepth::Four,
        16 => BitDepth::Sixteen,
        _ => BitDepth::Eight,
    }
}

fn colour_type(layout: &Layout) -> ColorType {
    let key = layout.transparency.as_deref().unwrap_or_default();
    let sample = |n: usize| {
        key.get(2 * n..2 * n + 2)
            .map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
    };
    match layout.header.colour {
        Colour::Gray => ColorType::Grayscale {
            transparent_shade: sample(0),
        },
        Colour::Rgb => {
            let key = sample(0).zip(sample(1)).zip(sample(2));
            let transparent_color = key.map(|((r, g), b)| RGB16 { r, g, b });
            ColorType::RGB { transparent_color }
        }
        Colour::Indexed => ColorType::Indexed {
            palette: palette(layout, key),
        },
        Colour::GrayAlpha => ColorType::GrayscaleAlpha,
        Colour::Rgba => ColorType::RGBA,
    }
}

/// Indices beyond the palette are black to every reader, so a short palette is filled up with black where oxipng may
/// drop what is not used.
fn palette(layout: &Layout, alphas: &[u8]) -> Vec<RGBA8> {
    let alpha = |n: usize| alphas.get(n).copied().unwrap_or(255);
    let entries = layout.palette.chunks_exact(3).take(256).enumerate();
    let colour = |r, g, b, a| RGBA8 { r, g, b, a };
    let mut palette: Vec<_> = entries
        .map(|(n, rgb)| colour(rgb[0], rgb[1], rgb[2], alpha(n)))
        .collect();
    let full = 1 << layout.header.depth;
    if allowed(layout).reductions && palette.len() < full {
        palette.resize(full, colour(0, 0, 0, 255));
    }
    palette
}
