//! PNG: losslessly smaller, every pixel and every chunk kept; with fewer colours where the user asked for a size or a quality.
//!
//! [`scan`] reads the chunks and decides what is damage; [`pixels`] decodes through the `png` crate, which only ever
//! sees the chunks that make pixels; [`lossless`] finds a smaller coding (or, where the budget is too small for that,
//! [`frugal`] codes row by row); [`verify`] decodes the result again and compares; [`splice`] puts the other chunks back
//! where they stood. [`lossy`] is the way of fewer colours. Nothing here knows what the other chunks mean, except where they forbid a change of colour type.

mod animation;
mod chunk;
mod colour;
mod frames;
mod frugal;
mod lossless;
mod lossy;
mod pixels;
mod plain;
mod scan;
mod shrunk;
mod splice;
mod verify;

use crate::door::{Compressed, Keep, Kept, Note, Written};
use crate::metadata::{orientation_of_chunks, strip_chunks};
use crate::{Budget, Error, Format, Goal, Options, Sink, Source, shrink};
pub(crate) use chunk::Chunk;
pub(crate) use chunk::Place;
pub(crate) use plain::{Plain, file_of, read_chunks, read_plain, write_plain};
use scan::Layout;
pub(crate) use verify::check;

/// Makes the PNG in `source` smaller without changing a pixel.
///
/// # Errors
/// See [`Error`].
pub(crate) fn compress(
    source: &dyn Source,
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    let mut layout = scan::scan(source, budget)?;
    budget.admit_pixels(layout.header.width.into(), layout.header.height.into())?;
    if let Some(why) = layout.reason_to_keep() {
        return Ok(layout.kept(Keep::WouldLose(why.to_owned())));
    }
    if let Some(size) = layout.smaller(options).filter(|_| layout.animated) {
        let linear = options.linear_light;
        let (file, notes) = shrunk::file(source, &layout, size, linear, budget)?;
        let done = shrink::anew(Format::Apng, source.len(), options, |asked| {
            compress(&file.as_slice(), sink, asked, budget)
        })?;
        return Ok(done.with_notes(notes));
    }
    if let Some(size) = layout.smaller(options) {
        return shrink::compress_png(source, size, sink, &options.without_resize(), budget);
    }
    let stripped = strip_chunks(&mut layout.others, &options.strip);
    layout.notes.extend(stripped.notes);
    colour::drop_misfit(&mut layout);
    let limit = size_limit(options, source);
    if limit.is_some_and(|limit| source.len() <= limit) && !options.force {
        return layout.keep(Keep::WithinTarget, stripped.changed, source, sink, budget);
    }
    let coded = code(source, &layout, options, budget)?;
    if coded.lossy {
        colour::drop_bound(&mut layout);
    }
    let bytes = splice::length(&coded.png, &layout)?;
    if let Some(target) = limit.filter(|&limit| bytes > limit) {
        let smallest = bytes.min(source.len());
        if stripped.changed {
            let what =
                "metadata, because the size asked for could not be reached and the original stays";
            layout.notes.push(Note::Stayed(what.to_owned()));
        }
        return Ok(layout.kept(Keep::TargetUnreachable { target, smallest }));
    }
    if !options.is_worth(source.len(), bytes) {
        return layout.keep(Keep::NotSmaller, stripped.changed, source, sink, budget);
    }
    layout.notes.extend(coded.notes);
    layout.write(&coded.png, source, sink)
}

/// Width, height, and whether a person sees the picture lying on its side.
///
/// # Errors
/// See [`Error`].
pub(crate) fn size(source: &dyn Source, budget: &Budget) -> Result<(u32, u32, bool), Error> {
    let layout = scan::scan(source, budget)?;
    let turned = orientation_of_chunks(&layout.others).is_some_and(|turn| turn >= 5);
    Ok((layout.header.width, layout.header.height, turned))
}

impl Layout {
    /// The size it must shrink to, if any.
    fn smaller(&self, options: &Options) -> Option<(u32, u32)> {
        let turned = orientation_of_chunks(&self.others).is_some_and(|turn| turn >= 5);
        shrink::size(
            self.header.width,
            self.header.height,
            turned,
            options.resize,
        )
    }

    /// The answer for an original left as it is.
    fn kept(self, why: Keep) -> Compressed {
        let format = self.format();
        Compressed::Kept(Kept {
            format,
            why,
            notes: self.notes,
        })
    }

    /// Keeps the original, unless metadata was to go and has: then its pixels are written as they are.
    fn keep(
        self,
        why: Keep,
        stripped: bool,
        source: &dyn Source,
        sink: &mut dyn Sink,
        budget: &Budget,
    ) -> Result<Compressed, Error> {
        if !stripped {
            return Ok(self.kept(why));
        }
        let png = splice::bare(source, &self, budget)?;
        self.write(&png, source, sink)
    }

    /// Writes coded pixels with the other chunks around them.
    fn write(
        self,
        png: &[u8],
        source: &dyn Source,
        sink: &mut dyn Sink,
    ) -> Result<Compressed, Error> {
        let bytes = splice::length(png, &self)?;
        splice::write(png, &self, source, sink)?;
        Ok(Compressed::Written(Written {
            format: self.format(),
            bytes,
            width: self.header.width,
            height: self.header.height,
            quality: None,
            notes: self.notes,
        }))
    }
}

fn size_limit(options: &Options, source: &dyn Source) -> Option<u64> {
    match options.goal {
        Goal::MaxSize(limit) => Some(limit.bytes(source.len())),
        Goal::Quality(_) | Goal::Ssimulacra2(_) | Goal::Lossless => None,
    }
}

/// A PNG of the pixels alone, to be completed by [`splice`].
struct Coded {
    png: Vec<u8>,
    notes: Vec<Note>,
    /// Whether pixels changed.
    lossy: bool,
}

/// Codes the pixels anew, exactly or with fewer colours, as asked.
fn code(
    source: &dyn Source,
    layout: &Layout,
    options: &Options,
    budget: &Budget,
) -> Result<Coded, Error> {
    let exactly = || exactly(source, layout, options, budget);
    if !lossy::suits(layout) {
        return exactly();
    }
    match options.goal {
        Goal::Quality(quality) if options.lossy_png => {
            lossy::as_good(source, layout, quality, options, budget)?.map_or_else(exactly, Ok)
        }
        Goal::MaxSize(limit) => fit(source, layout, limit.bytes(source.len()), options, budget),
        Goal::Quality(_) | Goal::Ssimulacra2(_) | Goal::Lossless => exactly(),
    }
}

/// A file may be this many times the limit for the exact way to be tried at all.
const HOPE: u64 = 3;

/// Exactly where that is small enough, else with as many colours as fit.
fn fit(
    source: &dyn Source,
    layout: &Layout,
    limit: u64,
    options: &Options,
    budget: &Budget,
) -> Result<Coded, Error> {
    if source.len() <= limit.saturating_mul(HOPE) {
        let coded = exactly(source, layout, options, budget)?;
        if splice::length(&coded.png, layout)? <= limit {
            return Ok(coded);
        }
    }
    lossy::fit(source, layout, limit, options, budget)
}

/// Codes the pixels anew without changing any and checks the result against the source.
fn exactly(
    source: &dyn Source,
    layout: &Layout,
    options: &Options,
    budget: &Budget,
) -> Result<Coded, Error> {
    let (png, notes) = if layout.animated {
        let png = animation::recode(source, layout, options, budget)?;
        (png, Vec::new())
    } else if lossless::estimate(layout) <= budget.left() {
        lossless::recode(source, layout, options, budget)?
    } else {
        frugal::recode(source, layout, budget)?
    };
    verify::same_pixels(source, layout, &png, budget)?;
    Ok(Coded {
        png,
        notes,
        lossy: false,
    })
}

impl Layout {
    /// What this file counts as in reports.
    fn format(&self) -> Format {
        if self.animated {
            Format::Apng
        } else {
            Format::Png
        }
    }
}

/// Damage at a place that makes pixels.
fn corrupt(what: impl Into<String>) -> Error {
    Error::Corrupt {
        format: Format::Png,
        what: what.into(),
    }
}
