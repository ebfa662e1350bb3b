//! GIF: the same pixels in fewer bytes. Only the compressed data of frames is coded anew ([`lzw`]); every other block (screen,
//! palettes, times, disposal, transparency, loops, comments, extensions) is copied as it stands ([`blocks`]).
//!
//! Since palettes and places stay, equal indices mean equal pictures: each frame's new data is decoded again and compared
//! index by index before it is used. A size in bytes is met without loss or not at all. Only where fewer pixels are asked for are
//! pictures and palettes new ([`shrunk`]).

mod blocks;
mod lzw;
mod shrunk;

use crate::door::{Compressed, Keep, Kept, Note, Written};
use crate::metadata::{gif_text, profile_note};
use crate::raster::whole;
use crate::{Budget, Error, Format, Goal, Options, Sink, Source, Strip, shrink};
use blocks::{Block, Frame, Gif};

/// What coding holds beside a frame's indices: two sets of tables.
const TABLES: u64 = 1 << 20;

/// Makes the GIF in `source` smaller without changing a pixel.
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
    let gif = blocks::parse(&bytes)?;
    budget.admit_pixels(gif.size.0.into(), gif.size.1.into())?;
    let (width, height) = gif.size;
    if let Some(size) = shrink::size(width.into(), height.into(), false, options.resize) {
        let (file, notes) = shrunk::file(&bytes, &gif, size, options.linear_light, budget)?;
        let done = shrink::anew(Format::Gif, source.len(), options, |asked| {
            compress(&file.as_slice(), sink, asked, budget)
        })?;
        return Ok(done.with_notes(notes));
    }
    let mut job = Job {
        gif: &gif,
        notes: Job::noted(&gif),
        stripped: false,
        parts: Vec::new(),
        before: source.len(),
    };
    let limit = match options.goal {
        Goal::MaxSize(limit) => Some(limit.bytes(source.len())),
        Goal::Quality(_) | Goal::Ssimulacra2(_) | Goal::Lossless => None,
    };
    let within = limit.is_some_and(|limit| source.len() <= limit) && !options.force;
    job.collect(&options.strip, (!within).then_some(options.effort), budget)?;
    if within {
        return job.keep(Keep::WithinTarget, options, sink, budget);
    }
    let after = job.length();
    if let Some(target) = limit.filter(|&limit| after > limit) {
        let smallest = after.min(source.len());
        return Ok(job.kept(Keep::TargetUnreachable { target, smallest }));
    }
    if !options.is_worth(source.len(), after) {
        return job.keep(Keep::NotSmaller, options, sink, budget);
    }
    job.write(sink)
}

/// Width and height of the screen; nobody sees it lying on its side.
///
/// # Errors
/// See [`Error`].
pub(crate) fn size(source: &dyn Source, budget: &Budget) -> Result<(u32, u32, bool), Error> {
    let bytes = whole(source, budget)?;
    let (width, height) = blocks::parse(&bytes)?.size;
    budget.free(bytes);
    Ok((width.into(), height.into(), false))
}

/// One file under way.
struct Job<'a> {
    gif: &'a Gif<'a>,
    notes: Vec<Note>,
    /// Whether metadata was removed.
    stripped: bool,
    /// The file's pieces as they will be written.
    parts: Vec<Part<'a>>,
    before: u64,
}

/// Bytes of the original or new ones.
enum Part<'a> {
    Old(&'a [u8]),
    New(Vec<u8>),
}

impl Part<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Part::Old(bytes) => bytes,
            Part::New(bytes) => bytes,
        }
    }
}

impl<'a> Job<'a> {
    /// The notes to begin with.
    fn noted(gif: &Gif<'_>) -> Vec<Note> {
        let what = "it has no end mark; frames may be missing";
        let missing = (!gif.ended).then(|| Note::Repaired(what.to_owned()));
        missing.into_iter().collect()
    }

    /// Gathers the pieces without the metadata that was to go; frames are coded anew at an effort, if any.
    fn collect(&mut self, strip: &Strip, effort: Option<u8>, budget: &Budget) -> Result<(), Error> {
        self.parts.clear();
        for block in &self.gif.blocks {
            match block {
                Block::Other(bytes) => self.parts.push(Part::Old(bytes)),
                Block::Comment(bytes) => self.stays(bytes, strip.comment),
                Block::Profile(bytes) => {
                    if strip.icc && !self.notes.contains(&profile_note()) {
                        self.notes.push(profile_note());
                    }
                    self.stays(bytes, strip.icc);
                }
                Block::Xmp(bytes) => self.xmp(bytes, strip),
                Block::Frame(frame) => {
                    let coded = match effort {
                        Some(effort) => recode(frame, effort, budget)?,
                        None => None,
                    };
                    self.parts.push(Part::Old(frame.head));
                    self.parts
                        .push(coded.map_or(Part::Old(frame.data), Part::New));
                }
            }
        }
        Ok(())
    }

    fn stays(&mut self, bytes: &'a [u8], goes: bool) {
        self.stripped |= goes;
        if !goes {
            self.parts.push(Part::Old(bytes));
        }
    }

    fn xmp(&mut self, bytes: &'a [u8], strip: &Strip) {
        if strip.xmp {
            return self.stays(bytes, true);
        }
        match gif_text(bytes, strip) {
            Ok(None) => self.parts.push(Part::Old(bytes)),
            Ok(Some(edited)) => {
                self.stripped = true;
                self.parts.push(Part::New(edited));
            }
            Err(note) => {
                self.notes.push(note);
                self.stripped = true;
            }
        }
    }

    fn length(&self) -> u64 {
        self.parts
            .iter()
            .map(|part| part.bytes().len() as u64)
            .sum()
    }

    /// Keeps the original, unless metadata was to go and has: then its frames are written as they are.
    fn keep(
        mut self,
        why: Keep,
        options: &Options,
        sink: &mut dyn Sink,
        budget: &Budget,
    ) -> Result<Compressed, Error> {
        if !self.stripped {
            return Ok(self.kept(why));
        }
        if self.length() > self.before {
            self.notes = Job::noted(self.gif);
            self.collect(&options.strip, None, budget)?;
        }
        self.write(sink)
    }

    fn kept(mut self, why: Keep) -> Compressed {
        if self.stripped {
            let what =
                "metadata, because the size asked for could not be reached and the original stays";
            self.notes.push(Note::Stayed(what.to_owned()));
        }
        Compressed::Kept(Kept {
            format: Format::Gif,
            why,
            notes: self.notes,
        })
    }

    fn write(self, sink: &mut dyn Sink) -> Result<Compressed, Error> {
        for part in &self.parts {
            sink.write(part.bytes()).map_err(Error::Write)?;
        }
        Ok(Compressed::Written(Written {
            format: Format::Gif,
            bytes: self.length(),
            width: self.gif.size.0.into(),
            height: self.gif.size.1.into(),
            quality: None,
            notes: self.notes,
        }))
    }
}

/// Decodes every frame of a result that was stored, which must have the size that was told.
///
/// # Errors
/// [`Error::Verify`], and what decoding reports.
pub(crate) fn check(result: &dyn Source, written: &Written, budget: &Budget) -> Result<(), Error> {
    let bytes = whole(result, budget)?;
    let gif = blocks::parse(&bytes)?;
    let (width, height) = (gif.size.0.into(), gif.size.1.into());
    if (width, height) != (written.width, written.height) {
        return Err(Error::Verify(format!("it decodes to {width}x{height}")));
    }
    for block in &gif.blocks {
        match block {
            Block::Frame(frame) => budget.free(indices_of(frame, budget)?),
            Block::Other(_) | Block::Comment(_) | Block::Profile(_) | Block::Xmp(_) => {}
        }
    }
    budget.free(bytes);
    Ok(())
}

/// A frame's palette indices.
fn indices_of(frame: &Frame<'_>, budget: &Budget) -> Result<Vec<u8>, Error> {
    budget.admit_pixels(frame.size.0.into(), frame.size.1.into())?;
    let count = usize::from(frame.size.0) * usize::from(frame.size.1);
    let mut indices = budget.vec(count)?;
    lzw::decode(frame.code_size, frame.data, count, &mut indices)
        .ok_or_else(|| corrupt("a frame's pixels are cut off or make no sense"))?;
    Ok(indices)
}

/// A frame's data coded anew; `None` where that is not smaller.
fn recode(frame: &Frame<'_>, effort: u8, budget: &Budget) -> Result<Option<Vec<u8>>, Error> {
    budget.claim(TABLES)?;
    let indices = indices_of(frame, budget)?;
    let count = indices.len();
    let coded = lzw::encode(frame.code_size, &indices, effort);
    let shrunk = coded.len() < frame.data.len();
    let same = shrunk && {
        let mut again = budget.vec(count)?;
        let done = lzw::decode(coded[0], &coded, count, &mut again);
        let same = done.is_some() && again == indices;
        budget.free(again);
        same
    };
    budget.free(indices);
    budget.release(TABLES);
    if shrunk && !same {
        return Err(Error::Verify("a frame's pixels changed".to_owned()));
    }
    Ok(shrunk.then_some(coded))
}

fn corrupt(what: impl Into<String>) -> Error {
    Error::Corrupt {
        format: Format::Gif,
        what: what.into(),
    }
}
