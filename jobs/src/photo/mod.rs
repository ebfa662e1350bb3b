//! A JPEG file as people have it: a picture for the engine, metadata around it, further pictures and a video behind it.
//!
//! The engine ([`crate::jpeg`]) is shown the first picture alone, with the metadata already taken out that was to go
//! ([`outline`] finds the places, [`shown`] is that view); what stands behind is put back byte for byte afterwards, and the
//! index of further pictures gets its new sizes and offsets. Metadata is removed even from files that stay as they are otherwise.

mod behind;
mod outline;
mod shown;

use crate::door::{Compressed, Keep, Kept, Note, Written};
use crate::metadata::{Report, mpf, orientation_of_segments, resized_segments, strip_segments};
use crate::{Budget, Error, Format, Goal, Options, Resize, Sink, SizeLimit, Source, jpeg, shrink};
use behind::Behind;
use outline::Outline;
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
    let size = smaller(source, &outline, options, budget)?;
    if !options.strip.is_set() && behind.is_plain() && size.is_none() {
        return jpeg::compress(source, sink, options, budget);
    }
    let plan = behind.plan(&options.strip);
    let (stripped, mut report) = outline.stripped(|segments| {
        let (segments, report) = strip_segments(segments, &options.strip);
        match size {
            Some(size) => (resized_segments(segments, size), report),
            None => (segments, report),
        }
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
        first_end: behind.first_end,
        size,
    }
    .compress(sink, options, budget)
}

/// The size the picture must shrink to, if any.
fn smaller(
    source: &dyn Source,
    outline: &Outline,
    options: &Options,
    budget: &Budget,
) -> Result<Option<(u32, u32)>, Error> {
    if options.resize == Resize::default() {
        return Ok(None);
    }
    let (width, height) = jpeg_size(source, budget)?;
    let turned = orientation_of_segments(outline.segments()).is_some_and(|turn| turn >= 5);
    Ok(shrink::size(width, height, turned, options.resize))
}

/// One file under way.
struct Wrapped<'a> {
    source: &'a dyn Source,
    shown: Shown<'a>,
    before: &'a Outline,
    plan: behind::Plan,
    report: Report,
    first_end: u64,
    size: Option<(u32, u32)>,
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
                Compressed::Kept(kept) => self.keep(kept, sink, budget),
            };
        }
        match self.engine(sink, options, budget)? {
            Compressed::Written(written) => self.finish(written, sink),
            Compressed::Kept(kept) => {
                sink.restart().map_err(Error::Write)?;
                self.keep(kept, sink, budget)
            }
        }
    }

    /// The engine's answer for the first picture, resized where that is asked.
    fn engine(
        &self,
        sink: &mut dyn Sink,
        options: &Options,
        budget: &Budget,
    ) -> Result<Compressed, Error> {
        match self.size {
            Some(size) => shrink::compress_jpeg(&self.shown, size, sink, options, budget),
            None => jpeg::compress(&self.shown, sink, options, budget),
        }
    }

    /// The goal for the first picture: what stands behind takes its part of the bytes.
    fn goal_without(&self, goal: Goal, tail: u64) -> Goal {
        match goal {
            Goal::MaxSize(limit) => {
                let first = limit.bytes(self.source.len()).saturating_sub(tail);
                Goal::MaxSize(SizeLimit::Bytes(first))
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
        Ok(Compressed::Written(written))
    }

    /// The engine would keep the original; what was to be removed goes all the same.
    fn keep(
        self,
        mut kept: Kept,
        sink: &mut dyn Sink,
        budget: &Budget,
    ) -> Result<Compressed, Error> {
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
                self.rewrite(kept, sink, budget)
            }
            Keep::WithinTarget
            | Keep::NotSmaller
            | Keep::UnsupportedFormat
            | Keep::WouldLose(_) => Ok(Compressed::Kept(kept)),
        }
    }

    /// Writes the file as it is but for what was to be removed.
    fn rewrite(
        self,
        kept: Kept,
        sink: &mut dyn Sink,
        budget: &Budget,
    ) -> Result<Compressed, Error> {
        let mut head = self.shown.head().to_vec();
        let moved = self.before.data - head.len() as u64;
        if let (Some(old), Some(new), true) = (
            self.before.mpf.clone(),
            outline::find_mpf(&head),
            self.plan.bytes() > 0,
        ) {
            let (before, after) = (
                mpf::Place {
                    end: self.first_end,
                    index: old.start,
                },
                mpf::Place {
                    end: self.first_end - moved,
                    index: new.start,
                },
            );
            if mpf::relocate(
                &mut head[new.start as usize..new.end as usize],
                before,
                after,
            )
            .is_none()
            {
                return Ok(self.unindexed());
            }
        }
        let (width, height) = jpeg_size(&self.shown, budget)?;
        sink.write(&head).map_err(Error::Write)?;
        copy(self.source, self.before.data..self.first_end, sink)?;
        let written = Written {
            format: Format::Jpeg,
            bytes: self.shown.len(),
            width,
            height,
            quality: None,
            notes: kept.notes,
        };
        self.finish(written, sink)
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

fn jpeg_size(source: &dyn Source, budget: &Budget) -> Result<(u32, u32), Error> {
    let header = jpeg::decode::read_header(source, budget)?;
    Ok((header.frame.width.into(), header.frame.height.into()))
}
