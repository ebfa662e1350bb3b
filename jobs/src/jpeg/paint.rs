//! Pixels as a JPEG: colour transform, chroma at full size or halved, then the engine's own search for the goal.

use super::color;
use super::decode::Picture;
use super::frame::{Coding, Frame, QuantTable, Segment};
use super::fresh::{Outlook, encode, transform};
use crate::door::{Compressed, Note};
use crate::raster::{Depth, Layout, Raster};
use crate::shrink::Samples;
use crate::{Budget, Chroma, Error, Goal, Options, Sink};
use fast_image_resize::PixelType;

/// Longest side a JPEG can have.
const LONGEST: u32 = 65_535;
/// Quality from which on chroma is not halved unless asked.
const FULL_QUALITY: u8 = 90;
/// Bits a pixel from which on chroma is not halved unless asked.
const FULL_BITS: u64 = 2;

/// Writes `raster` (eight bits, without alpha) with `segments`; `before` is the original's size in bytes.
///
/// # Errors
/// [`Error::Unsupported`] for sides a JPEG cannot have, alpha and sixteen bits; see [`Error`].
pub(crate) fn write(
    raster: Raster,
    segments: Vec<Segment>,
    notes: Vec<Note>,
    before: u64,
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    let (width, height) = (raster.width, raster.height);
    if width > LONGEST || height > LONGEST {
        return Err(Error::Unsupported(format!(
            "a JPEG of {width}x{height} pixels, as neither side can be longer than {LONGEST}"
        )));
    }
    let halving = match raster.layout {
        Layout::Rgb => halving(options, before, u64::from(width) * u64::from(height)),
        Layout::Gray | Layout::Cmyk | Layout::GrayAlpha | Layout::Rgba => (false, false),
    };
    let frame = frame(&raster, halving);
    let outlook = Outlook::of(options, before)?;
    let roles = color::roles(&frame, &segments);
    let mut planes = Vec::new();
    for (n, samples) in components(raster, halving, budget)?.into_iter().enumerate() {
        let floors = outlook.floors(roles[n]);
        let overshoot = outlook.overshoot(roles[n]);
        planes.push(transform(
            &samples,
            &frame.components[n],
            &floors,
            overshoot.as_ref(),
            budget,
        )?);
        budget.free(samples.bytes);
    }
    let picture = Picture {
        tables: vec![QuantTable([1; 64]); planes.len()],
        frame,
        segments,
        restart_interval: 0,
        planes,
        trailer: 0..0,
        notes,
        second_parts: Vec::new(),
    };
    encode(picture, outlook, before, sink, options, budget)
}

/// Whether chroma is halved across and down.
fn halving(options: &Options, before: u64, pixels: u64) -> (bool, bool) {
    match options.chroma {
        Chroma::Full => (false, false),
        Chroma::Half => (true, false),
        Chroma::Quarter => (true, true),
        Chroma::Auto => {
            let full = match options.goal {
                Goal::Quality(quality) => quality >= FULL_QUALITY,
                Goal::MaxSize(limit) => limit.bytes(before) * 8 >= pixels * FULL_BITS,
                Goal::Lossless | Goal::Ssimulacra2(_) => true,
            };
            (!full, !full)
        }
    }
}

fn frame(raster: &Raster, (across, down): (bool, bool)) -> Frame {
    let factors = (1 + u8::from(across), 1 + u8::from(down));
    let luma = (1, factors.0, factors.1, 0);
    let sampling: &[_] = match raster.layout {
        Layout::Gray | Layout::GrayAlpha => &[luma],
        Layout::Rgb | Layout::Rgba => &[luma, (2, 1, 1, 0), (3, 1, 1, 0)],
        Layout::Cmyk => &[luma, (2, 1, 1, 0), (3, 1, 1, 0), (4, 1, 1, 0)],
    };
    // Both fit: they were compared with the longest side.
    let (width, height) = (raster.width as u16, raster.height as u16);
    Frame::new(Coding::Extended, width, height, sampling)
}

/// Samples of each component.
fn components(
    raster: Raster,
    halving: (bool, bool),
    budget: &Budget,
) -> Result<Vec<Samples>, Error> {
    let (width, height) = (raster.width, raster.height);
    let plane = |bytes| Samples {
        bytes,
        width,
        height,
        kind: PixelType::U8,
    };
    match (raster.layout, raster.depth) {
        (Layout::Gray, Depth::Eight) => Ok(vec![plane(raster.samples)]),
        (Layout::Rgb, Depth::Eight) => {
            let [y, cb, cr] = ycc(&raster.samples, budget)?;
            budget.free(raster.samples);
            Ok(vec![
                plane(y),
                halved(plane(cb), halving, budget)?,
                halved(plane(cr), halving, budget)?,
            ])
        }
        (Layout::Cmyk, Depth::Eight) => {
            let mut planes = Vec::new();
            for channel in 0..4 {
                let mut bytes = budget.vec(raster.samples.len() / 4)?;
                // Adobe's way: how much paper is left.
                bytes.extend(
                    raster
                        .samples
                        .iter()
                        .skip(channel)
                        .step_by(4)
                        .map(|ink| 255 - ink),
                );
                planes.push(plane(bytes));
            }
            budget.free(raster.samples);
            Ok(planes)
        }
        (Layout::GrayAlpha | Layout::Rgba, _) | (_, Depth::Sixteen) => Err(Error::Unsupported(
            "alpha or sixteen bits in a JPEG".to_owned(),
        )),
    }
}

/// JFIF's transform, in 16 bits after the point, rounded.
fn ycc(rgb: &[u8], budget: &Budget) -> Result<[Vec<u8>; 3], Error> {
    let count = rgb.len() / 3;
    let mut planes = [budget.vec(count)?, budget.vec(count)?, budget.vec(count)?];
    let [luma, blue, red] = &mut planes;
    const HALF: i32 = 1 << 15;
    const MIDDLE: i32 = (128 << 16) + HALF - 1;
    for pixel in rgb.chunks_exact(3) {
        let [r, g, b] = [pixel[0], pixel[1], pixel[2]].map(i32::from);
        luma.push(((19_595 * r + 38_470 * g + 7_471 * b + HALF) >> 16) as u8);
        blue.push(((-11_059 * r - 21_709 * g + 32_768 * b + MIDDLE) >> 16) as u8);
        red.push(((32_768 * r - 27_439 * g - 5_329 * b + MIDDLE) >> 16) as u8);
    }
    Ok(planes)
}

/// Averages of neighbours; a last odd row or column counts twice.
fn halved(
    samples: Samples,
    (across, down): (bool, bool),
    budget: &Budget,
) -> Result<Samples, Error> {
    if !across && !down {
        return Ok(samples);
    }
    let (width, height) = (samples.width as usize, samples.height as usize);
    let side = |side: usize, halve: bool| if halve { side.div_ceil(2) } else { side };
    let (small_width, small_height) = (side(width, across), side(height, down));
    let mut bytes = budget.vec(small_width * small_height)?;
    for y in 0..small_height {
        let rows = if down {
            [2 * y, (2 * y + 1).min(height - 1)]
        } else {
            [y, y]
        };
        let [upper, lower] = rows.map(|row| &samples.bytes[row * width..(row + 1) * width]);
        bytes.extend((0..small_width).map(|x| {
            let columns = if across {
                [2 * x, (2 * x + 1).min(width - 1)]
            } else {
                [x, x]
            };
            let sum: u16 = columns
                .iter()
                .map(|&column| u16::from(upper[column]) + u16::from(lower[column]))
                .sum();
            // Up and down by turns, so that rounding does not shift the colour.
            ((sum + 1 + x as u16 % 2) >> 2) as u8
        }));
    }
    budget.free(samples.bytes);
    Ok(Samples {
        bytes,
        width: small_width as u32,
        height: small_height as u32,
        kind: PixelType::U8,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grays_have_no_chroma_and_primaries_are_the_standards() {
        let budget = Budget::new(1000, 1000);
        let of = |rgb: [u8; 3]| {
            ycc(&rgb, &budget)
                .map(|planes| planes.map(|plane| plane[0]))
                .ok()
        };
        for gray in 0..=255 {
            assert_eq!(of([gray; 3]), Some([gray, 128, 128]));
        }
        // ITU-T T.871, 7: Y = 0.299 R, Cb = -0.1687 R + 128, Cr = 0.5 R + 128 (256 does not fit and is 255).
        assert_eq!(of([255, 0, 0]), Some([76, 85, 255]));
        assert_eq!(of([0, 255, 0]), Some([150, 44, 21]));
        assert_eq!(of([0, 0, 255]), Some([29, 255, 107]));
    }

    #[test]
    fn halving_averages_and_repeats_the_last() {
        let budget = Budget::new(1000, 1000);
        let samples = Samples {
            bytes: vec![0, 4, 8, 4, 8, 12, 100, 100, 100],
            width: 3,
            height: 3,
            kind: PixelType::U8,
        };
        let small = halved(samples, (true, true), &budget).map(|small| small.bytes);
        assert_eq!(small.ok(), Some(vec![4, 10, 100, 100]));
    }
}
