//! Reads a picture to pixels with what goes along, or says why it must stay what it is.

use crate::door::{Keep, Note};
use crate::jpeg::frame::Segment;
use crate::jpeg::pixels::Decoded;
use crate::metadata::{carried_segments, density_of_segments, orientation_of_segments};
use crate::options::{Colours, Orient};
use crate::png::{self, Chunk};
use crate::raster::{self, Carried, Raster};
use crate::{Budget, Error, Format, Options, Source, Wanted, avif, jxl, photo, shrink, webp};

/// A picture read to pixels.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) raster: Raster,
    /// How much of it counts, in pixels; not whole where a JPEG was decoded at a part of its size.
    pub(super) used: (f64, f64),
    /// The size it must shrink to, as stored.
    pub(super) size: Option<(u32, u32)>,
    pub(super) notes: Vec<Note>,
    /// Chunks that make no pixels, if it is a PNG.
    pub(super) chunks: Option<Vec<Chunk>>,
}

/// Whether pixels of a format can be read at all.
pub(super) fn is_read(format: Format) -> bool {
    match format {
        Format::Jpeg
        | Format::Png
        | Format::Apng
        | Format::Gif
        | Format::Webp
        | Format::Tiff
        | Format::Bmp
        | Format::Qoi
        | Format::Pnm => true,
        Format::Ico => true,
        Format::Avif => avif::PRESENT,
        Format::Jxl => jxl::PRESENT,
        Format::Heic | Format::Jp2 | Format::Psd | Format::Raw => false,
    }
}

/// Whether a PNG that stays one has a direction or colours that are to go.
pub(super) fn png_changes(
    source: &dyn Source,
    options: &Options,
    budget: &Budget,
) -> Result<bool, Error> {
    let (chunks, _) = png::read_chunks(source, budget)?;
    let turned = crate::metadata::orientation_of_chunks(&chunks).is_some_and(|turn| turn != 1);
    let coloured = chunks
        .iter()
        .any(|chunk| matches!(&chunk.name, b"iCCP" | b"gAMA" | b"cHRM"));
    Ok((options.orient == Orient::Apply && turned)
        || (options.colours == Colours::Srgb && coloured))
}

/// Whether a still WebP that stays one has a direction or colours that are to go.
pub(super) fn webp_changes(
    source: &dyn Source,
    options: &Options,
    budget: &Budget,
) -> Result<bool, Error> {
    let still = webp::facts(source, budget)?;
    Ok(still.is_some_and(|still| {
        (options.orient == Orient::Apply && still.orientation != 1)
            || (options.colours == Colours::Srgb && still.profiled)
    }))
}

/// Reads a picture, or says why it must stay what it is.
///
/// # Errors
/// [`Error::Unsupported`] names a feature that the pixels alone would not have; see [`Error`].
pub(super) fn open(
    format: Format,
    source: &dyn Source,
    options: &Options,
    budget: &Budget,
) -> Result<Result<Opened, Keep>, Error> {
    match format {
        Format::Jpeg => jpeg(source, options, budget),
        Format::Png
        | Format::Apng
        | Format::Gif
        | Format::Webp
        | Format::Tiff
        | Format::Bmp
        | Format::Qoi
        | Format::Pnm
        | Format::Ico
        | Format::Avif
        | Format::Heic
        | Format::Jxl
        | Format::Jp2
        | Format::Psd
        | Format::Raw => {
            let is_png = format == Format::Png;
            let (chunks, mut notes) = if is_png {
                let (chunks, mut notes) = png::read_chunks(source, budget)?;
                notes.extend(lost_texts(&chunks, options));
                (Some(chunks), notes)
            } else {
                (None, Vec::new())
            };
            let raster = raster::read(format, source, budget)?;
            if format == Format::Ico {
                let lost = raster::others_of_icon(source, budget)?;
                notes.extend(lost.map(Note::Dropped));
            }
            let turned = raster.carried.orientation >= 5;
            Ok(Ok(Opened {
                used: (raster.width.into(), raster.height.into()),
                size: shrink::size(raster.width, raster.height, turned, options.resize),
                raster,
                notes,
                chunks,
            }))
        }
    }
}

fn jpeg(
    source: &dyn Source,
    options: &Options,
    budget: &Budget,
) -> Result<Result<Opened, Keep>, Error> {
    if let Some(why) = photo::would_lose(source, &options.strip, budget)? {
        return Ok(Err(why));
    }
    let (width, height, turned) = photo::size(source, budget)?;
    let size = shrink::size(width, height, turned, options.resize);
    let Decoded {
        mut raster,
        segments,
        mut notes,
    } = crate::jpeg::pixels::read(source, scaled(size, options), budget)?;
    let (carried, lost) = carried(&segments, options);
    raster.carried = carried;
    notes.extend(lost);
    Ok(Ok(Opened {
        used: used(&raster, (width, height)),
        size,
        raster,
        notes,
        chunks: None,
    }))
}

/// The size that a JPEG may be decoded towards. Not at all where light is to be averaged: a transform at a part of its size
/// averages the coded samples.
pub(super) fn scaled(size: Option<(u32, u32)>, options: &Options) -> Option<(u32, u32)> {
    size.filter(|_| !options.linear_light)
}

/// What goes along with a JPEG's pixels, and what has no place elsewhere.
pub(super) fn carried(segments: &[Segment], options: &Options) -> (Carried, Vec<Note>) {
    let (parts, lost) = carried_segments(segments);
    let strip = &options.strip;
    let stripped = |what: &&str| {
        (strip.comment && what.contains("comment"))
            || (strip.iptc && what.contains("IPTC"))
            || (strip.xmp && what.contains("XMP"))
            || (strip.icc && what.contains("profile"))
    };
    let lost = lost.into_iter().filter(|what| !stripped(what));
    let notes = lost.map(|what| Note::Dropped(what.to_owned())).collect();
    let carried = Carried {
        icc: parts.icc,
        exif: parts.exif,
        xmp: parts.xmp,
        orientation: orientation_of_segments(segments.iter()).unwrap_or(1) as u8,
        gamma_only: None,
        density: density_of_segments(segments),
    };
    (carried, notes)
}

/// How much of a picture that was decoded at an eighth, a quarter, a half or all of its size is picture.
pub(super) fn used(raster: &Raster, whole: (u32, u32)) -> (f64, f64) {
    let share = |pixels: u32, whole: u32| {
        let eighths = (f64::from(pixels) * 8.0 / f64::from(whole)).floor();
        f64::from(whole) * eighths.clamp(1.0, 8.0) / 8.0
    };
    (share(raster.width, whole.0), share(raster.height, whole.1))
}

/// Texts of a PNG that no other format has a place for.
fn lost_texts(chunks: &[Chunk], options: &Options) -> Vec<Note> {
    let text = |chunk: &&Chunk| {
        matches!(&chunk.name, b"tEXt" | b"zTXt" | b"iTXt")
            && !chunk.payload.starts_with(crate::metadata::XMP_KEYWORD)
    };
    let stays = matches!(options.format, Wanted::Same | Wanted::Png);
    let lost = !stays && !options.strip.comment && chunks.iter().any(|chunk| text(&chunk));
    let note = || Note::Dropped("text, which the new format has no place for".to_owned());
    lost.then(note).into_iter().collect()
}
