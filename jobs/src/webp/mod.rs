//! WebP: lossy pictures at a quality or a size, lossless ones without changing a sample, animations frame by frame with time,
//! place, blending and loops as they were.
//!
//! [`riff`] takes the file apart and puts it together, [`libwebp`] codes, [`image`] keeps its memory within the budget,
//! [`search`] finds the quality for a size, never above the one that [`origin`] sees in the source. Profile, EXIF, XMP and chunks that nobody knows are kept where they stood. A
//! picture stored without loss stays so, unless a size asks for less.

mod animation;
mod content;
mod image;
mod libwebp;
mod origin;
mod riff;
mod search;
mod shrunk;
mod write;

use crate::door::{Compressed, Keep, Kept, Note, Written};
use crate::metadata::{
    Report, carried_pieces, orientation_of_pieces, resized_pieces, strip_pieces,
};
use crate::raster::{Carried, Depth, Raster, whole};
use crate::{Budget, Error, Format, Goal, Options, Sink, Source};
use content::{Coded, Content, Facts, Way};
pub(crate) use image::Lossy;
pub(crate) use libwebp::LONGEST;
pub(crate) use riff::Piece;
use riff::{Around, File, Shape};
pub(crate) use write::{write, write_planes};

/// Makes the WebP in `source` smaller.
///
/// # Errors
/// See [`Error`].
pub(crate) fn compress(
    source: &dyn Source,
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    let bytes = whole(source, budget)?;
    let mut file = riff::parse(&bytes)?;
    let content = admitted(&file, budget)?;
    let report = strip_pieces(&mut file.pieces, &options.strip);
    let size = content.smaller(orientation_of_pieces(&file.pieces), options.resize);
    Job {
        file,
        options,
        budget,
        before: source.len(),
        report,
    }
    .run(content, size, sink)
}

/// Reads the pixels of a still WebP.
///
/// # Errors
/// [`Error::Unsupported`] for an animation; see [`Error`].
pub(crate) fn read(source: &dyn Source, budget: &Budget) -> Result<Raster, Error> {
    let bytes = whole(source, budget)?;
    let file = riff::parse(&bytes)?;
    let Content::Still(image) = admitted(&file, budget)? else {
        return Err(unsupported("an animated WebP as a still picture"));
    };
    let plain = image.plain(budget)?;
    let parts = carried_pieces(&file.pieces);
    let carried = Carried {
        orientation: orientation_of_pieces(&file.pieces).map_or(1, |turn| turn as u8),
        icc: parts.icc,
        exif: parts.exif,
        xmp: parts.xmp,
        ..Carried::default()
    };
    budget.free(bytes);
    Ok(Raster {
        width: plain.size.0,
        height: plain.size.1,
        layout: plain.layout,
        depth: Depth::Eight,
        samples: plain.samples,
        carried,
    })
}

/// Decodes every frame of a result that was stored, which must have the size that was told.
///
/// # Errors
/// [`Error::Verify`], and what decoding reports.
pub(crate) fn check(result: &dyn Source, written: &Written, budget: &Budget) -> Result<(), Error> {
    let bytes = whole(result, budget)?;
    let content = admitted(&riff::parse(&bytes)?, budget)?;
    let (width, height) = content.facts().canvas;
    if (width, height) != (written.width, written.height) {
        return Err(Error::Verify(format!("it decodes to {width}x{height}")));
    }
    content.decode(budget)?;
    budget.free(bytes);
    Ok(())
}

/// Width and height, moving or not, and whether a person sees the picture lying on its side.
///
/// # Errors
/// See [`Error`].
pub(crate) fn size(source: &dyn Source, budget: &Budget) -> Result<(u32, u32, bool), Error> {
    let bytes = whole(source, budget)?;
    let file = riff::parse(&bytes)?;
    let (width, height) = admitted(&file, budget)?.facts().canvas;
    let turned = orientation_of_pieces(&file.pieces).is_some_and(|turn| turn >= 5);
    budget.free(bytes);
    Ok((width, height, turned))
}

/// Width, height and orientation of a still picture, and whether it has a profile; `None` for an animation.
///
/// # Errors
/// See [`Error`].
pub(crate) fn facts(source: &dyn Source, budget: &Budget) -> Result<Option<Still>, Error> {
    let bytes = whole(source, budget)?;
    let file = riff::parse(&bytes)?;
    let content = admitted(&file, budget)?;
    let still = match content {
        Content::Still(_) => Some(Still {
            size: content.facts().canvas,
            orientation: orientation_of_pieces(&file.pieces).unwrap_or(1),
            profiled: carried_pieces(&file.pieces).icc.is_some(),
        }),
        Content::Resized(..) | Content::Moving(_) => None,
    };
    budget.free(bytes);
    Ok(still)
}

/// What is known of a still picture without decoding it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Still {
    /// Width and height as stored.
    pub(crate) size: (u32, u32),
    /// 1 to 8.
    pub(crate) orientation: u16,
    /// Whether it has a profile.
    pub(crate) profiled: bool,
}

/// What the file shows, if it is not too large.
fn admitted<'a>(file: &File<'a>, budget: &Budget) -> Result<Content<'a>, Error> {
    let content = Content::find(file)?;
    let (width, height) = content.facts().canvas;
    budget.admit_pixels(width.into(), height.into())?;
    Ok(content)
}

/// One file under way.
struct Job<'a> {
    file: File<'a>,
    options: &'a Options,
    budget: &'a Budget,
    /// Bytes of the original.
    before: u64,
    /// What stripping did.
    report: Report,
}

impl Job<'_> {
    fn run(
        mut self,
        content: Content<'_>,
        size: Option<(u32, u32)>,
        sink: &mut dyn Sink,
    ) -> Result<Compressed, Error> {
        let facts = content.facts();
        let limit = match self.options.goal {
            Goal::MaxSize(limit) => Some(limit.bytes(self.before)),
            // The same pixels keep every score.
            Goal::Quality(_) | Goal::Lossless | Goal::Ssimulacra2(_) => None,
        };
        let small = limit.is_some_and(|limit| self.before <= limit);
        if size.is_none() && small && !self.options.force {
            return self.keep(Keep::WithinTarget, facts, sink);
        }
        let film;
        let content = match size {
            Some(size) => {
                resized_pieces(&mut self.file.pieces, size);
                film = content.film(size, self.options.linear_light, self.budget)?;
                content.resized(size, &film, self.options.linear_light, self.budget)?
            }
            None => content,
        };
        let facts = content.facts();
        let way = Way::of(&content, limit, self.options);
        let others = self.file.pieces.iter().filter(|piece| !piece.is_image());
        let around = Around::of(others, self.file.tail);
        let known = (&around, self.before);
        match content.code(way, known, self.options, self.budget)? {
            Ok(coded)
                if self
                    .options
                    .is_worth(self.before, around.with(&coded.pieces)) =>
            {
                self.finish(coded, facts, sink)
            }
            Ok(_) => self.keep(Keep::NotSmaller, facts, sink),
            Err(why) => self.keep(why, facts, sink),
        }
    }

    fn finish(self, coded: Coded, facts: Facts, sink: &mut dyn Sink) -> Result<Compressed, Error> {
        let alpha = content::has_alpha(&coded.pieces)?;
        self.written(Facts { alpha, ..facts }, &coded.pieces, coded.quality, sink)
    }

    /// Keeps the original, unless metadata was to go and has: then its pixels are written as they are.
    fn keep(mut self, why: Keep, facts: Facts, sink: &mut dyn Sink) -> Result<Compressed, Error> {
        let unreachable = matches!(why, Keep::TargetUnreachable { .. });
        if self.report.changed && !unreachable && !facts.resized {
            let stored = self.file.pieces.clone();
            let image: Vec<_> = stored.into_iter().filter(Piece::is_image).collect();
            return self.written(facts, &image, None, sink);
        }
        if self.report.changed {
            let what = "metadata, because the original stays as it is";
            self.report.notes.push(Note::Stayed(what.to_owned()));
        }
        Ok(Compressed::Kept(Kept {
            format: Format::Webp,
            why,
            notes: self.report.notes,
        }))
    }

    /// Writes what stood before the picture, the picture, and what stood behind.
    fn written(
        self,
        facts: Facts,
        image: &[Piece<'_>],
        quality: Option<u8>,
        sink: &mut dyn Sink,
    ) -> Result<Compressed, Error> {
        let pieces = &self.file.pieces;
        let first = pieces.iter().position(Piece::is_image).unwrap_or(0);
        let (before, behind) = pieces.split_at(first);
        let shape = Shape {
            canvas: facts.canvas,
            alpha: facts.alpha,
            pieces: before
                .iter()
                .chain(image)
                .chain(behind.iter().filter(|piece| !piece.is_image()))
                .collect(),
            tail: self.file.tail,
        };
        shape.write(sink)?;
        Ok(Compressed::Written(Written {
            format: Format::Webp,
            bytes: shape.length(),
            width: facts.canvas.0,
            height: facts.canvas.1,
            quality,
            notes: self.report.notes,
        }))
    }
}

fn corrupt(what: impl Into<String>) -> Error {
    Error::Corrupt {
        format: Format::Webp,
        what: what.into(),
    }
}

fn unsupported(what: impl Into<String>) -> Error {
    Error::Unsupported(what.into())
}

#[cfg(test)]
mod tests;
