//! Pictures that become another format, and pictures whose pixels must change for their colours or their direction: decoded,
//! converted, resized, turned, and handed to the format's own compressor.
//!
//! EXIF, XMP and profile go along; what the new format has no place for is named in a note. What would be lost from the picture
//! itself (transparency, frames, pages, pictures behind it) keeps the original, with the reason.

mod colour;
mod open;
mod planar;
mod recolour;
mod video;
mod write;

pub(crate) use recolour::{Recolouring, recolouring, repaint};

use crate::door::{Compressed, Keep, Kept, Note};
use crate::metadata::Changed;
use crate::options::{Colours, Orient};
use crate::raster::{Carried, Density, Layout, Raster};
use crate::shrink::{self, Nature, Samples};
use crate::turn::Turn;
use crate::{Budget, Error, Format, Goal, Options, Sink, SizeLimit, Source, Wanted};
use colour::Converted;
use fast_image_resize::PixelType;
use open::Opened;

/// Formats that are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// JPEG.
    Jpeg,
    /// PNG.
    Png,
    /// WebP.
    Webp,
    /// AVIF.
    Avif,
}

impl Target {
    fn is(self, format: Format) -> bool {
        match self {
            Self::Jpeg => format == Format::Jpeg,
            Self::Png => matches!(format, Format::Png | Format::Apng),
            Self::Webp => format == Format::Webp,
            Self::Avif => format == Format::Avif,
        }
    }
}

/// The format that a picture must become by way of its pixels; `None` where its own module does what is asked.
///
/// # Errors
/// See [`Error`].
pub(crate) fn target(
    format: Format,
    source: &dyn Source,
    options: &Options,
    budget: &Budget,
) -> Result<Option<Target>, Error> {
    let wanted = match options.format {
        Wanted::Same => None,
        Wanted::Jpeg => Some(Target::Jpeg),
        Wanted::Png => Some(Target::Png),
        Wanted::Webp => Some(Target::Webp),
        Wanted::Avif => Some(Target::Avif),
    };
    if let Some(target) = wanted.filter(|target| !target.is(format)) {
        return Ok(open::is_read(format).then_some(target));
    }
    let changes = options.orient == Orient::Apply || options.colours == Colours::Srgb;
    match format {
        Format::Png if changes && open::png_changes(source, options, budget)? => {
            Ok(Some(Target::Png))
        }
        Format::Webp if changes && open::webp_changes(source, options, budget)? => {
            Ok(Some(Target::Webp))
        }
        Format::Png
        | Format::Jpeg
        | Format::Webp
        | Format::Apng
        | Format::Gif
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
        | Format::Raw => Ok(None),
    }
}

/// Converts the picture in `source` and compresses it into `sink`.
///
/// # Errors
/// See [`Error`].
pub(crate) fn compress(
    format: Format,
    target: Target,
    source: &dyn Source,
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    if let Some(done) = planar::compress(format, target, source, sink, options, budget)? {
        return Ok(done);
    }
    let kept = |why, notes| Ok(kept(format, why, notes, options));
    let opened = match open::open(format, source, options, budget) {
        Ok(Ok(opened)) => opened,
        Ok(Err(why)) => return kept(why, Vec::new()),
        // What the engine does not read is a failure in every run.
        Err(Error::Unsupported(what)) if format != Format::Jpeg => {
            let what = format!("what is not converted ({what})");
            return kept(Keep::WouldLose(what), Vec::new());
        }
        Err(error) => return Err(error),
    };
    let mut picture = match prepare(opened, target, options, budget)? {
        Ok(picture) => picture,
        Err(why) => return kept(why, Vec::new()),
    };
    let (goal, clipped) = goal(options, source.len());
    let asked = Options {
        goal,
        ..options.without_resize()
    };
    let notes = std::mem::take(&mut picture.notes);
    let done = match write::write(picture, target, source.len(), sink, &asked, budget) {
        Err(Error::Unsupported(what)) => {
            let what = format!("its pixels, which the new format cannot hold ({what})");
            return kept(Keep::WouldLose(what), Vec::new());
        }
        done => done?,
    };
    Ok(judged(format, done, notes, clipped, source.len(), options))
}

/// The answer once the new format's compressor has given its own; `clipped` says that the original was the tighter bound.
fn judged(
    format: Format,
    done: Compressed,
    notes: Vec<Note>,
    clipped: bool,
    before: u64,
    options: &Options,
) -> Compressed {
    let why = match done {
        Compressed::Written(written) if options.is_worth(before, written.bytes) => {
            return Compressed::Written(written).with_notes(notes);
        }
        Compressed::Written(_) => Keep::NotSmaller,
        Compressed::Kept(Kept {
            why: Keep::TargetUnreachable { .. },
            ..
        }) if clipped => Keep::NotSmaller,
        Compressed::Kept(done) => done.why,
    };
    kept(format, why, Vec::new(), options)
}

/// The answer for an original that stays as it is.
fn kept(format: Format, why: Keep, mut notes: Vec<Note>, options: &Options) -> Compressed {
    if options.strip.is_set() {
        let what = "metadata, because the original stays as it is";
        notes.push(Note::Stayed(what.to_owned()));
    }
    Compressed::Kept(Kept { format, why, notes })
}

/// The goal of a result that must not be larger than an original of `input` bytes either; says whether that is the tighter
/// bound.
fn goal(options: &Options, input: u64) -> (Goal, bool) {
    match options.goal {
        Goal::MaxSize(limit) => {
            let (limit, most) = (limit.bytes(input), input.saturating_sub(1));
            let clipped = limit > most && !options.force;
            let bytes = if clipped { most } else { limit };
            (Goal::MaxSize(SizeLimit::Bytes(bytes)), clipped)
        }
        Goal::Quality(_) | Goal::Ssimulacra2(_) | Goal::Lossless => (options.goal, false),
    }
}

/// A picture ready to be written.
#[derive(Debug)]
struct Picture {
    raster: Raster,
    changed: Changed,
    notes: Vec<Note>,
    /// Chunks of a PNG that stays one.
    chunks: Option<Vec<crate::png::Chunk>>,
}

/// Resized, turned and in the colours asked for, or why it must stay.
fn prepare(
    opened: Opened,
    target: Target,
    options: &Options,
    budget: &Budget,
) -> Result<Result<Picture, Keep>, Error> {
    let Opened {
        mut raster,
        used,
        size,
        mut notes,
        chunks,
    } = opened;
    let turn = match options.orient {
        Orient::Apply => Turn::of(raster.carried.orientation.into()),
        Orient::Keep => Turn::default(),
    };
    let resized = size.is_some();
    if let Some(size) = size {
        notes.extend(by_code(options, raster.layout == Layout::Cmyk));
        raster = resize(raster, used, size, options.linear_light, budget)?;
    }
    raster = turned(raster, turn, budget)?;
    let asked = options.colours == Colours::Srgb;
    let mut srgb = false;
    if asked || needs_srgb(&raster, target) {
        match colour::to_srgb(raster, budget)? {
            Converted::Srgb(converted) => (raster, srgb) = (converted, true),
            Converted::Kept(same, note) => {
                raster = same;
                notes.push(note);
            }
            Converted::NoProfile => return Ok(Err(no_profile())),
        }
    }
    if raster.layout == Layout::Cmyk && target != Target::Jpeg {
        return Ok(Err(no_profile()));
    }
    let upright = !turn.is_upright();
    let changed = Changed {
        upright,
        size: (resized || upright).then_some((raster.width, raster.height)),
        srgb,
    };
    Ok(Ok(Picture {
        raster,
        changed,
        notes,
        chunks,
    }))
}

/// What the user should know where light cannot be averaged, since the colours are ink.
pub(crate) fn by_code(options: &Options, ink: bool) -> Option<Note> {
    let what = "linear light: ink (CMYK) was resized as it is coded";
    (options.linear_light && ink).then(|| Note::Dropped(what.to_owned()))
}

fn no_profile() -> Keep {
    Keep::WouldLose("its ink colours (CMYK), which no usable profile describes".to_owned())
}

/// Whether a format cannot say what these colours are.
fn needs_srgb(raster: &Raster, target: Target) -> bool {
    let tone = raster.carried.gamma_only;
    let bare = tone.is_some_and(|tone| !colour::is_srgb(tone)) && target != Target::Png;
    let profiled = raster.carried.icc.is_some();
    let gray = matches!(raster.layout, Layout::Gray | Layout::GrayAlpha);
    match target {
        Target::Jpeg => bare,
        Target::Png => raster.layout == Layout::Cmyk,
        // WebP has neither ink nor gray; AVIF has gray, but its readers expect no profile with it.
        Target::Webp | Target::Avif => bare || raster.layout == Layout::Cmyk || (gray && profiled),
    }
}

/// Resamples to a new size the part of a picture that counts; `linear` asks for light to be averaged, which ink is not.
fn resize(
    raster: Raster,
    used: (f64, f64),
    size: (u32, u32),
    linear: bool,
    budget: &Budget,
) -> Result<Raster, Error> {
    let kind = match (raster.layout.channels(), raster.depth.bytes()) {
        (1, 1) => PixelType::U8,
        (2, 1) => PixelType::U8x2,
        (3, 1) => PixelType::U8x3,
        (_, 1) => PixelType::U8x4,
        (1, _) => PixelType::U16,
        (2, _) => PixelType::U16x2,
        (3, _) => PixelType::U16x3,
        (_, _) => PixelType::U16x4,
    };
    let from = Samples {
        bytes: raster.samples,
        width: raster.width,
        height: raster.height,
        kind,
    };
    let coloured = raster.layout != Layout::Cmyk;
    let nature = Nature {
        alpha: coloured,
        linear: linear && coloured,
    };
    let small = shrink::resample(from, used, size, nature, budget)?;
    Ok(Raster {
        width: size.0,
        height: size.1,
        samples: small.bytes,
        ..raster
    })
}

fn turned(raster: Raster, turn: Turn, budget: &Budget) -> Result<Raster, Error> {
    let unit = raster.layout.channels() * raster.depth.bytes();
    let before = (raster.width, raster.height);
    let samples = turn.apply(raster.samples, before, unit, budget)?;
    let (width, height) = turn.size(before);
    let density = raster.carried.density;
    let carried = Carried {
        density: if turn.transpose {
            density.map(Density::transposed)
        } else {
            density
        },
        ..raster.carried
    };
    Ok(Raster {
        width,
        height,
        samples,
        carried,
        ..raster
    })
}
