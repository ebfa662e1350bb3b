//! The one door: recognise the format, check the budget, hand over to the format's own module, answer what was done.

mod enough;
mod fitted;
#[cfg(test)]
mod refusals;

use crate::fence::fenced;
use crate::sniff::{Sniffed, sniff};
use crate::{Budget, Error, Format, Goal, Options, Sink, Source, convert, gif, photo, png, webp};

/// A size needed less than this quality: the user is told.
const LOW_QUALITY: u8 = 30;

/// What became of a picture that was understood.
#[derive(Debug, Clone, PartialEq)]
pub enum Compressed {
    /// The sink holds a result.
    Written(Written),
    /// The original is better left as it is; the sink's content means nothing.
    Kept(Kept),
}

impl Compressed {
    /// The same with notes before its own.
    pub(crate) fn with_notes(mut self, notes: Vec<Note>) -> Self {
        let own = match &mut self {
            Self::Written(written) => &mut written.notes,
            Self::Kept(kept) => &mut kept.notes,
        };
        own.splice(0..0, notes);
        self
    }
}

/// A result in the sink.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// Format of the result.
    pub format: Format,
    /// Bytes of the result.
    pub bytes: u64,
    /// Width in stored pixels.
    pub width: u32,
    /// Height in stored pixels.
    pub height: u32,
    /// Quality on the format's own scale (libjpeg's, libwebp's, libheif's), where it has one.
    pub quality: Option<u8>,
    /// What the user should know.
    pub notes: Vec<Note>,
}

/// An original left as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// Format of the original.
    pub format: Format,
    /// Why.
    pub why: Keep,
    /// What the user should know.
    pub notes: Vec<Note>,
}

/// Why an original is left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keep {
    /// It already is within the size asked for.
    WithinTarget,
    /// The result was not smaller, or not by enough.
    NotSmaller,
    /// The size asked for needs less than the lowest quality.
    TargetUnreachable {
        /// Bytes asked for.
        target: u64,
        /// Bytes reached at the lowest quality.
        smallest: u64,
    },
    /// The format is recognised but not compressed.
    UnsupportedFormat,
    /// Something would be lost; the text names it.
    WouldLose(String),
}

/// Something the user should know about a picture that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// A quality below 30 was needed.
    LowQuality(u8),
    /// Damage was repaired or ignored; the text names it.
    Repaired(String),
    /// Something was dropped or cut; the text names it.
    Dropped(String),
    /// Something that was to be removed had to stay; the text names it.
    Stayed(String),
}

impl Note {
    /// Adds this to `notes` unless it is there: a file with a thousand oddities gets a few notes, and no memory outside the
    /// budget grows with it.
    pub(crate) fn add_to(self, notes: &mut Vec<Self>) {
        const ENOUGH: usize = 8;
        if notes.len() < ENOUGH && !notes.contains(&self) {
            notes.push(self);
        }
    }
}

/// Compresses the picture in `source` into `sink`.
///
/// # Errors
/// See [`Error`]; after an error the sink's content means nothing.
pub fn compress(
    source: &dyn Source,
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    let format = recognise(source)?;
    let done = fenced(format, || {
        fitted::compress(format, source, sink, options, budget, dispatch)
            .map_err(|error| enough::named(error, format, source, options, budget))
    })?;
    Ok(with_word_on_quality(done, options))
}

/// Says where a size needed a low quality; who asked for that quality knows.
fn with_word_on_quality(mut done: Compressed, options: &Options) -> Compressed {
    if let (Goal::MaxSize(_), Compressed::Written(written)) = (options.goal, &mut done) {
        let low = written.quality.filter(|&quality| quality < LOW_QUALITY);
        written.notes.extend(low.map(Note::LowQuality));
    }
    done
}

/// The format of the picture in `source`, by its first bytes.
///
/// # Errors
/// [`Error::Empty`], [`Error::NotAnImage`], [`Error::Read`].
pub fn recognise(source: &dyn Source) -> Result<Format, Error> {
    if source.is_empty() {
        return Err(Error::Empty);
    }
    match sniff(source).map_err(Error::Read)? {
        Sniffed::Image(format) => Ok(format),
        Sniffed::Other(what) => Err(Error::NotAnImage(what)),
    }
}

fn dispatch(
    format: Format,
    source: &dyn Source,
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    if let Some(target) = convert::target(format, source, options, budget)? {
        return convert::compress(format, target, source, sink, options, budget);
    }
    match format {
        Format::Png | Format::Apng => png::compress(source, sink, options, budget),
        Format::Jpeg => photo::compress(source, sink, options, budget),
        Format::Gif => gif::compress(source, sink, options, budget),
        Format::Webp => webp::compress(source, sink, options, budget),
        Format::Tiff
        | Format::Bmp
        | Format::Qoi
        | Format::Pnm
        | Format::Ico
        | Format::Avif
        | Format::Heic
        | Format::Jxl
        | Format::Jp2
        | Format::Psd
        | Format::Raw => Ok(Compressed::Kept(Kept {
            format,
            why: Keep::UnsupportedFormat,
            notes: not_stripped(options),
        })),
    }
}

/// What a file that stays as it is still holds although it was to go.
fn not_stripped(options: &Options) -> Vec<Note> {
    let what = || Note::Stayed("metadata, because the format is not rewritten".to_owned());
    options.strip.is_set().then(what).into_iter().collect()
}
