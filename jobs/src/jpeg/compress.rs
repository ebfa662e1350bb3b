//! What the engine does with one file: decode, reach the goal, write, say what became of it.

use super::decode::{self, Survivors};
use super::encode::Picture;
use super::encode::markers::Form;
use super::outcome::{Around, Reached, append, kept};
use super::prepare::Prepared;
use super::quant::quantiser::Rounding;
use super::quant::recipe::{Recipe, scale_of_quality};
use super::quant::tables::SCALES;
use super::requantise::Shell;
use super::search::{Fit, Request, fit, once};
use crate::{Budget, Compressed, Error, Goal, Keep, Options, Progressive, Sink, Source};

/// Share of the input, in per cent, from which on a lossless result may reach a size target.
const LOSSLESS_SHARE: u64 = 80;
/// Pictures of fewer blocks are worth counting in both forms, because headers matter there.
const SMALL: usize = 20_000;
/// Effort from which on the trellis is used.
const TRELLIS_EFFORT: u8 = 5;
/// Effort from which on results are progressive by default.
const PROGRESSIVE_EFFORT: u8 = 3;
/// Effort from which on both forms are tried whatever the size.
const BOTH_EFFORT: u8 = 8;

/// Compresses the JPEG in `source` into `sink`.
///
/// # Errors
/// See [`Error`].
pub fn compress(
    source: &dyn Source,
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    let job = Job {
        source,
        options,
        budget,
    };
    match options.goal {
        Goal::MaxSize(limit) => job.fit(limit.bytes(source.len()), sink),
        Goal::Quality(quality) => job.requantise(scale_of_quality(quality), sink),
        Goal::Lossless => job.lossless(sink),
        Goal::Ssimulacra2(_) => Err(Error::Unsupported("a SSIMULACRA2 target for JPEG".into())),
    }
}

/// One file and what is asked of it.
struct Job<'a> {
    source: &'a dyn Source,
    options: &'a Options,
    budget: &'a Budget,
}

/// A decoded file.
struct Opened {
    picture: Prepared,
    around: Around,
}

impl Job<'_> {
    /// Decodes the file, or says why it stays as it is.
    fn open(&self, keep: &Survivors) -> Result<Result<Opened, Compressed>, Error> {
        let mut picture = decode::read(self.source, self.budget, keep)?;
        let around = Around::of(&mut picture);
        if let Some(part) = picture.second_parts.first() {
            return Ok(Err(kept(Keep::WouldLose(part.name().into()), around.notes)));
        }
        Ok(Ok(Opened {
            picture: Prepared::whole(picture),
            around,
        }))
    }

    /// At most `target` bytes, at the highest quality that fits.
    fn fit(&self, target: u64, sink: &mut dyn Sink) -> Result<Compressed, Error> {
        if self.source.len() <= target && !self.options.force {
            return self.within_target();
        }
        let recipe = self.recipe();
        let opened = match self.open(&Survivors::all())? {
            Ok(opened) => opened,
            Err(kept) => return Ok(kept),
        };
        let room = target.saturating_sub(opened.around.trailer_bytes());
        if target * 100 >= self.source.len() * LOSSLESS_SHARE
            && let Some(bytes) = self.identity(&opened.picture, room, sink)?
        {
            return self.finish(opened, Reached::lossless(bytes), sink);
        }
        let start = 2.0;
        let picture =
            opened
                .picture
                .with_chroma(self.options.chroma, start, recipe, self.budget)?;
        let segments = picture.segments();
        let request = Request {
            shell: Shell {
                frame: &picture.frame,
                segments: &segments,
            },
            views: &picture.views(),
            source: &picture.tables,
            roles: &picture.roles,
            form: self.form(&picture),
            recipe,
            target: room,
            start,
            scales: (SCALES.0, scale_of_quality(self.options.min_quality)),
        };
        let fitted = fit(&request, self.budget, sink)?;
        match fitted {
            Fit::Written { bytes, scale } => {
                let reached = Reached::lossy(bytes, scale, &picture);
                self.finish(
                    Opened {
                        picture,
                        around: opened.around,
                    },
                    reached,
                    sink,
                )
            }
            Fit::Unreachable { smallest } | Fit::TooCoarse { smallest } => {
                let smallest = smallest + opened.around.trailer_bytes();
                Ok(kept(
                    Keep::TargetUnreachable { target, smallest },
                    opened.around.notes,
                ))
            }
        }
    }

    /// The original will do, if it is whole.
    fn within_target(&self) -> Result<Compressed, Error> {
        let nothing = Survivors::from_floors([[u16::MAX; 64]; 4]);
        let mut ending =
            decode::Decoder::open(self.source, self.budget)?.rows(&nothing, &mut |_, _| Ok(()))?;
        Ok(kept(Keep::WithinTarget, std::mem::take(&mut ending.notes)))
    }

    /// Tables of one scale.
    fn requantise(&self, scale: f32, sink: &mut dyn Sink) -> Result<Compressed, Error> {
        let recipe = self.recipe();
        let opened = match self.open(&Survivors::all())? {
            Ok(opened) => opened,
            Err(kept) => return Ok(kept),
        };
        let picture =
            opened
                .picture
                .with_chroma(self.options.chroma, scale, recipe, self.budget)?;
        let segments = picture.segments();
        let request = Request {
            shell: Shell {
                frame: &picture.frame,
                segments: &segments,
            },
            views: &picture.views(),
            source: &picture.tables,
            roles: &picture.roles,
            form: self.form(&picture),
            recipe,
            target: u64::MAX,
            start: scale,
            scales: (scale, scale),
        };
        let bytes = once(&request, self.budget, sink)?;
        let reached = Reached::lossy(bytes, scale, &picture);
        self.finish(
            Opened {
                picture,
                around: opened.around,
            },
            reached,
            sink,
        )
    }

    /// The same coefficients, coded better.
    fn lossless(&self, sink: &mut dyn Sink) -> Result<Compressed, Error> {
        let opened = match self.open(&Survivors::all())? {
            Ok(opened) => opened,
            Err(kept) => return Ok(kept),
        };
        match self.identity(&opened.picture, u64::MAX, sink)? {
            Some(bytes) => self.finish(opened, Reached::lossless(bytes), sink),
            None => Ok(kept(Keep::NotSmaller, opened.around.notes)),
        }
    }

    /// Writes the coefficients as they are in the smaller form, unless that takes more than `limit` bytes.
    fn identity(
        &self,
        picture: &Prepared,
        limit: u64,
        sink: &mut dyn Sink,
    ) -> Result<Option<u64>, Error> {
        let (views, segments) = (picture.views(), picture.segments());
        let whole = Picture {
            frame: &picture.frame,
            tables: &picture.tables,
            roles: &picture.roles,
            segments: &segments,
            views: &views,
        };
        let forms: &[Form] = match self.options.progressive {
            Progressive::Auto => &[Form::Sequential, Form::Progressive],
            Progressive::On => &[Form::Progressive],
            Progressive::Off => &[Form::Sequential],
        };
        let mut best = None;
        for &form in forms {
            let counted = whole.count(form)?;
            let bytes = whole.bytes(&counted);
            if best.as_ref().is_none_or(|&(_, least)| bytes < least) {
                best = Some((counted, bytes));
            }
        }
        let Some((counted, _)) = best.filter(|&(_, bytes)| bytes <= limit) else {
            return Ok(None);
        };
        let bytes = whole.write(&counted, sink)?;
        if bytes > limit {
            sink.restart().map_err(Error::Write)?;
            return Ok(None);
        }
        Ok(Some(bytes))
    }

    /// Appends the trailer and says what became of the file.
    fn finish(
        &self,
        opened: Opened,
        reached: Reached,
        sink: &mut dyn Sink,
    ) -> Result<Compressed, Error> {
        let bytes = reached.bytes + opened.around.trailer_bytes();
        if !self.options.is_worth(self.source.len(), bytes) {
            return Ok(kept(Keep::NotSmaller, opened.around.notes));
        }
        append(self.source, opened.around.trailer.clone(), sink)?;
        Ok(opened.around.written(bytes, reached))
    }

    fn recipe(&self) -> Recipe {
        let trellis = self.options.effort >= TRELLIS_EFFORT;
        Recipe {
            rounding: if trellis {
                Rounding::Trellis
            } else {
                Rounding::Deadzone
            },
        }
    }

    fn form(&self, picture: &Prepared) -> Form {
        match self.options.progressive {
            Progressive::On => Form::Progressive,
            Progressive::Off => Form::Sequential,
            Progressive::Auto if self.options.effort < PROGRESSIVE_EFFORT => Form::Sequential,
            Progressive::Auto => {
                let blocks: usize = picture
                    .views()
                    .iter()
                    .map(super::encode::view::View::blocks)
                    .sum();
                if blocks < SMALL / 8 && self.options.effort < BOTH_EFFORT {
                    Form::Sequential
                } else {
                    Form::Progressive
                }
            }
        }
    }
}
