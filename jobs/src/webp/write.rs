//! A raster as a WebP file: what `--format webp` needs.
//!
//! Carries profile, EXIF and XMP. Sixteen bits are cut to eight with a note, as WebP has no more; ink (CMYK) must have been
//! converted before. Gray becomes RGB of equal samples, so a gray profile must have been converted as well.

use super::content::{BEST, Coded, fitted, level, method};
use super::image::{Image, Lossy, Plain, exactly};
use super::riff::{Around, Piece, Shape};
use super::unsupported;
use crate::door::{Compressed, Kept, Note, Written};
use crate::raster::{Carried, Depth, Layout, Raster};
use crate::{Budget, Error, Format, Goal, Options, Sink};
use std::borrow::Cow;

/// Writes `raster` as WebP: at a quality, within a size, or without loss. `before` is the original's bytes, of which a size
/// may be a share. Whether the result is worth having is for the caller to say.
///
/// # Errors
/// [`Error::Unsupported`] for CMYK and sides of more than 16,383 pixels; see [`Error`].
pub(crate) fn write(
    raster: Raster,
    before: u64,
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    let mut notes = Vec::new();
    let (plain, carried) = plain(raster, &mut notes, budget)?;
    if matches!(options.goal, Goal::Lossless | Goal::Ssimulacra2(_)) {
        let others = others(&carried);
        let canvas = plain.size;
        let pieces = exactly(&plain, level(options.effort), budget)?;
        budget.free(plain.samples);
        let coded = Coded {
            pieces,
            quality: None,
        };
        return finish(canvas, &others, coded, notes, sink);
    }
    let planes = Lossy::of_plain(plain, budget)?;
    let done = write_planes(planes, &carried, before, sink, options, budget)?;
    Ok(done.with_notes(notes))
}

/// The same for planes, which only a quality or a size can be asked of.
///
/// # Errors
/// [`Error::Unsupported`] for other goals; see [`Error`].
pub(crate) fn write_planes(
    planes: Lossy,
    carried: &Carried,
    before: u64,
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    let others = others(carried);
    let canvas = planes.size();
    let around = Around::of(others.iter(), &[]);
    let method = method(options.effort);
    let coded = match options.goal {
        Goal::Quality(quality) => planes.code(method, budget, |code| {
            let pieces = code(f32::from(quality))?;
            Ok(Ok(Coded {
                pieces,
                quality: Some(quality),
            }))
        })?,
        Goal::MaxSize(limit) => planes.code(method, budget, |code| {
            fitted(
                limit.bytes(before),
                &around,
                (options.min_quality, BEST),
                code,
            )
        })?,
        Goal::Lossless | Goal::Ssimulacra2(_) => {
            return Err(unsupported("planes as a WebP without loss"));
        }
    };
    match coded {
        Ok(coded) => finish(canvas, &others, coded, Vec::new(), sink),
        Err(why) => Ok(Compressed::Kept(Kept {
            format: Format::Webp,
            why,
            notes: Vec::new(),
        })),
    }
}

/// Chunks beside the picture, in the order of the specification.
fn others(carried: &Carried) -> Vec<Piece<'_>> {
    let parts = [
        (b"ICCP", &carried.icc),
        (b"EXIF", &carried.exif),
        (b"XMP ", &carried.xmp),
    ];
    let mut pieces = Vec::new();
    for (name, part) in parts {
        let payload = part.as_deref().map(Cow::Borrowed);
        pieces.extend(payload.map(|payload| Piece {
            name: *name,
            payload,
        }));
    }
    pieces
}

/// Eight bits of RGB or RGBA.
fn plain(
    raster: Raster,
    notes: &mut Vec<Note>,
    budget: &Budget,
) -> Result<(Plain, Carried), Error> {
    let Raster {
        width,
        height,
        layout,
        depth,
        mut samples,
        carried,
    } = raster;
    if depth == Depth::Sixteen {
        high_bytes(&mut samples);
        let what = "the lower eight of sixteen bits per sample, because WebP has eight";
        notes.push(Note::Dropped(what.to_owned()));
    }
    let (layout, samples) = match layout {
        Layout::Rgb | Layout::Rgba => (layout, samples),
        Layout::Gray => (Layout::Rgb, coloured(samples, 1, budget)?),
        Layout::GrayAlpha => (Layout::Rgba, coloured(samples, 2, budget)?),
        Layout::Cmyk => return Err(unsupported("CMYK in a WebP")),
    };
    let size = (width, height);
    let plain = Plain {
        samples,
        layout,
        size,
    };
    Ok((plain, carried))
}

/// The nearest eight bits of sixteen, in place.
fn high_bytes(samples: &mut Vec<u8>) {
    let count = samples.len() / 2;
    for n in 0..count {
        let wide = u32::from(u16::from_ne_bytes([samples[2 * n], samples[2 * n + 1]]));
        samples[n] = ((wide * 255 + 32_767) / 65_535) as u8;
    }
    samples.truncate(count);
}

/// Gray (and alpha) as red, green and blue (and alpha).
fn coloured(gray: Vec<u8>, channels: usize, budget: &Budget) -> Result<Vec<u8>, Error> {
    let mut out = budget.vec(gray.len() / channels * (channels + 2))?;
    for pixel in gray.chunks_exact(channels) {
        out.extend_from_slice(&[pixel[0]; 3]);
        out.extend_from_slice(&pixel[1..]);
    }
    budget.free(gray);
    Ok(out)
}

fn finish(
    canvas: (u32, u32),
    others: &[Piece<'_>],
    coded: Coded,
    notes: Vec<Note>,
    sink: &mut dyn Sink,
) -> Result<Compressed, Error> {
    let icc = others.iter().filter(|piece| &piece.name == b"ICCP");
    let behind = others.iter().filter(|piece| &piece.name != b"ICCP");
    let shape = Shape {
        canvas,
        alpha: Image::find(&coded.pieces)?.alpha,
        pieces: icc.chain(&coded.pieces).chain(behind).collect(),
        tail: &[],
    };
    shape.write(sink)?;
    Ok(Compressed::Written(Written {
        format: Format::Webp,
        bytes: shape.length(),
        width: canvas.0,
        height: canvas.1,
        quality: coded.quality,
        notes,
    }))
}
