//! A JPEG file as people have it: a picture for the engine, metadata around it, further pictures and a video behind it.
//!
//! The engine ([`crate::jpeg`]) is shown the first picture alone, with the metadata already taken out that was to go
//! ([`outline`] finds the places, [`shown`] is that view); what stands behind is put back byte for byte afterwards, and the
//! index of further pictures gets its new sizes and offsets. Metadata is removed even from files that stay as they are otherwise.

mod behind;
mod outline;
mod pixels;
mod shown;

use crate::door::{Compressed, Keep, Kept, Note, Written};
use crate::metadata::{Report, mpf, orientation_of_segments, strip_segments, without_profile};
use crate::{Budget, Error, Format, Goal, Options, Sink, SizeLimit, Source, Strip, jpeg};
use behind::Behind;
use outline::Outline;
use pixels::Pixels;
use shown::{Held, Shown, copy};

/// Compresses the JPEG file in `source` into `sink`.
///
/// # Errors
/// See [`Error`].
pub(crate) fn compress(
    source: &dyn Source,
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    let Some(outline) = outline::read(source, budget)? else {
        // The engine says what is wrong with it.
        return jpeg::compress(source, sink, options, budget);
    };
    let behind = Behind::find(source, &outline)?;
    let plan = behind.plan(&options.strip);
    let pixels = match pixels::asked(source, &outline, &behind, options, budget)? {
        Ok(pixels) => pixels,
        Err(why) => return Ok(jpeg::outcome::kept(why, Vec::new())),
    };
    if !options.strip.is_set() && behind.is_plain() && pixels.is_nothing() {
        return jpeg::compress(source, sink, options, budget);
    }
    let changed = pixels.changed;
    let mut lost = Vec::new();
    let (stripped, mut report) = outline.stripped(|segments| {
        let (segments, report) = strip_segments(segments, &options.strip);
        let (mut segments, notes) = changed.edit_segments(segments);
        lost = notes;
        if pixels.drops_profile {
            segments = without_profile(segments);
        }
        (segments, report)
    });
    report.changed |= !plan.dropped.is_empty();
    report.notes.extend(
        plan.dropped
            .iter()
            .map(|what| Note::Dropped((*what).to_owned())),
    );
    let shown = Shown::new(
        source,
        stripped.head(budget)?,
        outline.data..behind.first_end,
    );
    Wrapped {
        source,
        shown,
        before: &outline,
        plan,
        report,
        lost,
        first_end: behind.first_end,
        pixels,
    }
    .compress(sink, options, budget)
}

/// Why a file may not become another format: what stands behind its picture would be lost.
///
/// # Errors
/// [`Error::Read`], [`Error::OverBudget`].
pub(crate) fn would_lose(
    source: &dyn Source,
    strip: &Strip,
    budget: &Budget,
) -> Result<Option<Keep>, Error> {
    let Some(outline) = outline::read(source, budget)? else {
        return Ok(None);
    };
    let behind = Behind::find(source, &outline)?;
    Ok(behind
        .lost(strip)
        .map(|what| Keep::WouldLose(what.to_owned())))
}

/// One file under way.
struct Wrapped<'a> {
    source: &'a dyn Source,
    shown: Shown<'a>,
    before: &'a Outline,
    plan: behind::Plan,
    report: Report,
    /// What the changed pixels take away.
    lost: Vec<Note>,
    first_end: u64,
    pixels: Pixels,
}

impl Wrapped<'_> {
    fn compress(
        self,
        sink: &mut dyn Sink,
        options: &Options,
        budget: &Budget,
    ) -> Result<Compressed, Error> {
        let tail = self.plan.bytes();
        let options = &Options {
            goal: self.goal_without(options.goal, tail),
            ..options.clone()
        };
        // Sizes and offsets of an index are known only when the picture has been written.
        let indexed = tail > 0 && self.before.mpf.is_some();
        if indexed {
            let mut held = Held::new(budget);
            let done = self.engine(&mut held, options, budget);
            let mut bytes = held.finish(done.as_ref().err())?;
            return match done? {
                Compressed::Written(written) => {
                    if self.relocate(&mut bytes).is_none() {
                        return Ok(self.unindexed());
                    }
                    sink.write(&bytes).map_err(Error::Write)?;
                    self.finish(written, sink)
                }
                Compressed::Kept(kept) => self.keep(kept, sink, options, budget),
            };
        }
        match self.engine(sink, options, budget)? {
            Compressed::Written(written) => self.finish(written, sink),
            Compressed::Kept(kept) => {
                sink.restart().map_err(Error::Write)?;
                self.keep(kept, sink, options, budget)
            }
        }
    }

    /// The engine's answer for the first picture, its pixels changed where that is asked. A turned picture that is not
    /// smaller at the quality asked for may be so without loss.
    fn engine(
        &self,
        sink: &mut dyn Sink,
        options: &Options,
        budget: &Budget,
    ) -> Result<Compressed, Error> {
        let done = self.pixels.compress(&self.shown, sink, options, budget)?;
        let again = matches!(&done, Compressed::Kept(kept) if kept.why == Keep::NotSmaller);
        if !again || !self.pixels.only_turned() || options.goal == Goal::Lossless {
            return Ok(done);
        }
        sink.restart().map_err(Error::Write)?;
        let exactly = Options {
            goal: Goal::Lossless,
            ..options.clone()
        };
        let budget = &budget.afresh();
        self.pixels.compress(&self.shown, sink, &exactly, budget)
    }

    /// The goal for the first picture: what stands behind takes its part of the bytes. Pixels that must change are written
    /// even where the original is within the size already, but not larger than it.
    fn goal_without(&self, goal: Goal, tail: u64) -> Goal {
        match goal {
            Goal::MaxSize(limit) => {
                let mut bytes = limit.bytes(self.source.len()).saturating_sub(tail);
                if self.pixels.change() {
                    bytes = bytes.min(self.shown.len().saturating_sub(1));
                }
                Goal::MaxSize(SizeLimit::Bytes(bytes))
            }
            Goal::Quality(_) | Goal::Ssimulacra2(_) | Goal::Lossless => goal,
        }
    }

    /// Rewrites the index in a new first picture.
    fn relocate(&self, bytes: &mut [u8]) -> Option<()> {
        let after = outline::find_mpf(bytes)?;
        let place = |end, index| mpf::Place { end, index };
        let length = bytes.len() as u64;
        let before = place(self.first_end, self.before.mpf.as_ref()?.start);
        mpf::relocate(
            &mut bytes[after.start as usize..after.end as usize],
            before,
            place(length, after.start),
        )
    }

    fn unindexed(self) -> Compressed {
        Compressed::Kept(Kept {
            format: Format::Jpeg,
            why: Keep::WouldLose(
                "further pictures behind the first, whose index is damaged".to_owned(),
            ),
            notes: self.report.notes,
        })
    }

    fn finish(self, mut written: Written, sink: &mut dyn Sink) -> Result<Compressed, Error> {
        for part in &self.plan.kept {
            copy(self.source, part.clone(), sink)?;
        }
        written.bytes += self.plan.bytes();
        written.notes.extend(self.report.notes);
        written.notes.extend(self.lost);
        written.notes.extend(self.pixels.notes);
        Ok(Compressed::Written(written))
    }

    /// The engine would keep the original; what was to be removed goes all the same.
    fn keep(
        self,
        mut kept: Kept,
        sink: &mut dyn Sink,
        options: &Options,
        budget: &Budget,
    ) -> Result<Compressed, Error> {
        kept.notes.extend(self.pixels.stay());
        let tail = self.plan.bytes();
        match &mut kept.why {
            Keep::TargetUnreachable { target, smallest } => {
                // The engine was given less where something stands behind the picture.
                *target = target.saturating_add(tail).max(tail);
                *smallest += tail;
                if self.report.changed {
                    let what = "metadata, because the size asked for could not be reached and the original stays";
                    kept.notes.push(Note::Stayed(what.to_owned()));
                }
                Ok(Compressed::Kept(kept))
            }
            Keep::WithinTarget
            | Keep::NotSmaller
            | Keep::UnsupportedFormat
            | Keep::WouldLose(_)
                if self.report.changed =>
            {
                self.rewrite(kept, sink, options, budget)
            }
            Keep::WithinTarget
            | Keep::NotSmaller
            | Keep::UnsupportedFormat
            | Keep::WouldLose(_) => Ok(Compressed::Kept(kept)),
        }
    }

    /// Writes the file as it is but for what was to be removed.
    fn rewrite(
        mut self,
        kept: Kept,
        sink: &mut dyn Sink,
        options: &Options,
        budget: &Budget,
    ) -> Result<Compressed, Error> {
        // Its pixels did not change, so its metadata must not say that they did.
        let strip = |segments| strip_segments(segments, &options.strip);
        let mut head = self.before.stripped(strip).0.head(budget)?;
        self.lost.clear();
        self.pixels.notes.clear();
        if self.move_index(&mut head).is_none() {
            return Ok(self.unindexed());
        }
        let (width, height, _) = size(self.source, budget)?;
        sink.write(&head).map_err(Error::Write)?;
        copy(self.source, self.before.data..self.first_end, sink)?;
        let written = Written {
            format: Format::Jpeg,
            bytes: head.len() as u64 + self.first_end - self.before.data,
            width,
            height,
            quality: None,
            notes: kept.notes,
        };
        self.finish(written, sink)
    }

    /// Rewrites the index of further pictures in a head of another length; `None` where it is damaged.
    fn move_index(&self, head: &mut [u8]) -> Option<()> {
        let (Some(old), Some(new), true) = (
            self.before.mpf.clone(),
            outline::find_mpf(head),
            self.plan.bytes() > 0,
        ) else {
            return Some(());
        };
        let moved = self.before.data - head.len() as u64;
        let place = |end, index| mpf::Place { end, index };
        mpf::relocate(
            &mut head[new.start as usize..new.end as usize],
            place(self.first_end, old.start),
            place(self.first_end - moved, new.start),
        )
    }
}

/// Width and height as stored, and whether a person sees the picture lying on its side.
///
/// # Errors
/// See [`Error`].
pub(crate) fn size(source: &dyn Source, budget: &Budget) -> Result<(u32, u32, bool), Error> {
    let header = jpeg::decode::read_header(source, budget)?;
    let turned = orientation_of_segments(header.segments.iter()).is_some_and(|turn| turn >= 5);
    Ok((
        header.frame.width.into(),
        header.frame.height.into(),
        turned,
    ))
}
