//! The way of fewer colours: at most 256 of them, chosen and dithered by [`crate::quantise`], coded by oxipng.

use super::chunk::Colour;
use super::colour::Allowed;
use super::frames::Frames;
use super::lossless::{failure, settings};
use super::scan::Layout;
use super::{Coded, splice};
use crate::door::Note;
use crate::quantise::{self, Colours, Painted, Picture, Rgba};
use crate::{Budget, Error, Options, Source};
use ::png::{BitDepth, ColorType, Transformations};
use oxipng::{RGBA8, RawImage};

/// Numbers of colours that are tried, most first.
const LADDER: [usize; 14] = [256, 192, 128, 96, 64, 48, 32, 24, 16, 12, 8, 6, 4, 2];
/// How much of the error dithering passes on: all of it would make the file larger and look no better.
const STRENGTH: f32 = 0.85;
/// Effort of the codings that only tell whether a number of colours fits.
const SEARCH_EFFORT: u8 = 1;
/// Copies of one byte a pixel that oxipng holds at its worst moment.
const COPIES: u64 = 4;
/// Tables of the deflate encoder and small things.
const FIXED: u64 = 12 << 20;

/// A picture ready to be painted with few colours.
struct Lossy<'a> {
    pixels: Vec<Rgba>,
    colours: Colours,
    layout: &'a Layout,
    budget: &'a Budget,
    claimed: u64,
}

/// Whether a palette can stand for this picture at all: a palette is colour, so a gray profile would not fit it, and an
/// animation's frames share one palette that is fixed.
pub(super) fn suits(layout: &Layout) -> bool {
    let gray_profile = layout.has(b"iCCP") && layout.header.colour.is_gray();
    !layout.animated && !gray_profile && !layout.has(b"cICP")
}

impl<'a> Lossy<'a> {
    /// Decodes the picture and gathers its colours.
    fn read(source: &dyn Source, layout: &'a Layout, budget: &'a Budget) -> Result<Self, Error> {
        let (width, height) = (
            u64::from(layout.header.width),
            u64::from(layout.header.height),
        );
        let area = width.saturating_mul(height);
        let working = quantise::estimate(width, height) + area.saturating_mul(COPIES) + FIXED;
        budget.claim(working)?;
        let pixels = decode(source, layout, budget)?;
        let claimed = working + area * size_of::<Rgba>() as u64;
        let colours = Colours::gather(
            Picture {
                pixels: &pixels,
                width: width as usize,
            },
            budget,
        )?;
        Ok(Self {
            pixels,
            colours,
            layout,
            budget,
            claimed,
        })
    }

    /// The shortest part of [`LADDER`] that is worse than `error` nowhere, as its length; at least 1.
    fn good(&self, error: f32) -> usize {
        let good = |count: &&usize| self.colours.palette(**count).1 <= error;
        LADDER.iter().take_while(good).count().max(1)
    }

    /// A PNG of at most `count` colours at an effort of 0 to 9, without the other chunks.
    fn code(&self, count: usize, effort: u8) -> Result<Vec<u8>, Error> {
        let (palette, _) = self.colours.palette(count);
        let width = self.layout.header.width as usize;
        let picture = Picture {
            pixels: &self.pixels,
            width,
        };
        let painted = quantise::paint(picture, palette, STRENGTH, self.budget)?;
        let length = painted.indices.len() as u64;
        let png = self.pack(painted, effort);
        self.budget.release(length);
        png
    }

    fn pack(&self, painted: Painted, effort: u8) -> Result<Vec<u8>, Error> {
        let header = &self.layout.header;
        let entry = |[r, g, b, a]: Rgba| RGBA8 { r, g, b, a };
        let palette = painted.palette.into_iter().map(entry).collect();
        let kind = oxipng::ColorType::Indexed { palette };
        let image = RawImage::new(
            header.width,
            header.height,
            kind,
            oxipng::BitDepth::Eight,
            painted.indices,
        );
        // A palette of grays stays one of colours, so that a colour profile goes on fitting.
        let allowed = Allowed {
            reductions: true,
            gray: !self.layout.has(b"iCCP"),
        };
        image
            .and_then(|image| image.create_optimized_png(&settings(effort, allowed)))
            .map_err(failure)
    }
}

impl Drop for Lossy<'_> {
    fn drop(&mut self) {
        self.budget.release(self.claimed);
    }
}

/// The fewest colours that keep a quality of 1 to 100, where the picture has more colours
/// than a palette holds or fewer suffice; `None` says that nothing need be lost.
///
/// # Errors
/// See [`Error`].
pub(super) fn as_good(
    source: &dyn Source,
    layout: &Layout,
    quality: u8,
    options: &Options,
    budget: &Budget,
) -> Result<Option<Coded>, Error> {
    let picture = Lossy::read(source, layout, budget)?;
    let good = picture.good(error_of_quality(quality));
    let exact = picture
        .colours
        .exact_count()
        .is_some_and(|count| count <= LADDER[0]);
    if exact && good == 1 {
        return Ok(None);
    }
    let png = picture.code(LADDER[good - 1], options.effort)?;
    Ok(Some(coded(png, layout)))
}

/// As many colours as fit into `limit` bytes, the other chunks included, but not fewer than the lowest quality needs; where
/// even those do not fit, the smallest that was found.
///
/// # Errors
/// See [`Error`].
pub(super) fn fit(
    source: &dyn Source,
    layout: &Layout,
    limit: u64,
    options: &Options,
    budget: &Budget,
) -> Result<Coded, Error> {
    let picture = Lossy::read(source, layout, budget)?;
    let steps = &LADDER[..picture.good(error_of_quality(options.min_quality))];
    let fits = |png: &[u8]| splice::length(png, layout).map(|bytes| bytes <= limit);
    // Bytes fall along the ladder, so halving finds the first step that fits.
    let (mut low, mut high) = (0, steps.len() - 1);
    let mut found = None;
    while low < high {
        let middle = usize::midpoint(low, high);
        let png = picture.code(steps[middle], SEARCH_EFFORT.min(options.effort))?;
        if fits(&png)? {
            (high, found) = (middle, Some(png));
        } else {
            low = middle + 1;
        }
    }
    let png = picture.code(steps[high], options.effort)?;
    // Trying harder can, rarely, come out larger.
    match found {
        Some(found) if !fits(&png)? => Ok(coded(found, layout)),
        _ => Ok(coded(png, layout)),
    }
}

fn coded(png: Vec<u8>, layout: &Layout) -> Coded {
    let notes = cut(layout).map(|what| Note::Dropped(what.to_owned()));
    Coded {
        png,
        notes: notes.into_iter().collect(),
        lossy: true,
    }
}

/// The mean squared distance of colours that a quality of 1 to 100 stands for.
///
/// Fitted to photographs and drawings so that a palette of quality N looks about as good as a JPEG of quality N or better:
/// 16e-6 (quality 80) scored 84 to 91 on SSIMULACRA2, 250e-6 (quality 50) 55 to 70.
fn error_of_quality(quality: u8) -> f32 {
    let lost = f32::from(100 - quality.min(100)) / 100.0;
    2e-3 * lost * lost * lost
}

/// All pixels as straight eight-bit RGBA.
fn decode(source: &dyn Source, layout: &Layout, budget: &Budget) -> Result<Vec<Rgba>, Error> {
    let area = layout.header.width as usize * layout.header.height as usize;
    let mut pixels = budget.vec(area)?;
    let transform = Transformations::EXPAND | Transformations::ALPHA;
    let mut frames = Frames::open(source, layout, transform, budget)?;
    frames.next(budget)?;
    let (colour, depth) = frames.kind();
    while let Some(row) = frames.row(budget)? {
        match depth {
            BitDepth::Sixteen => {
                let bytes: Vec<u8> = row
                    .chunks_exact(2)
                    .map(|pair| narrow(pair[0], pair[1]))
                    .collect();
                extend(&mut pixels, &bytes, colour);
            }
            BitDepth::One | BitDepth::Two | BitDepth::Four | BitDepth::Eight => {
                extend(&mut pixels, row, colour)
            }
        }
    }
    Ok(pixels)
}

/// Sixteen bits to eight, rounded.
fn narrow(high: u8, low: u8) -> u8 {
    let value = u32::from(u16::from_be_bytes([high, low]));
    ((value * 255 + 32_767) / 65_535) as u8
}

fn extend(pixels: &mut Vec<Rgba>, row: &[u8], colour: ColorType) {
    match colour {
        ColorType::Grayscale | ColorType::Indexed => {
            pixels.extend(row.iter().map(|&v| [v, v, v, 255]))
        }
        ColorType::GrayscaleAlpha => {
            pixels.extend(row.chunks_exact(2).map(|p| [p[0], p[0], p[0], p[1]]))
        }
        ColorType::Rgb => pixels.extend(row.chunks_exact(3).map(|p| [p[0], p[1], p[2], 255])),
        ColorType::Rgba => pixels.extend(row.chunks_exact(4).map(|p| [p[0], p[1], p[2], p[3]])),
    }
}

/// What is cut by this way beside colours.
fn cut(layout: &Layout) -> Option<&'static str> {
    let deep = layout.header.depth == 16 && layout.header.colour != Colour::Indexed;
    deep.then_some("16 bits a sample became 8, as a palette holds no more")
}
