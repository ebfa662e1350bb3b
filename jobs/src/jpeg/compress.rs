//! What the engine does with one file: decode, reach the goal, write, say what became of it.

use super::approach::{Approach, known_tables};
use super::color;
use super::decode::{Decoder, Header, Survivors};
use super::encode::markers::Form;
use super::frame::{Component, Frame};
use super::frugal;
use super::outcome::{Around, Reached, append, kept};
use super::prepare::{self, Prepared};
use super::quant::quantiser::Rounding;
use super::quant::recipe::{Recipe, Weights, scale_of_quality};
use super::quant::tables::SCALES;
use super::requantise::Shell;
use super::score::Glance;
use super::search::{Fit, Request, once};
use super::turn;
use crate::turn::Turn;
use crate::{Budget, Compressed, Error, Goal, Keep, Options, Progressive, Sink, Source};

/// Share of the input, in per cent, from which on a lossless result may reach a size target.
const LOSSLESS_SHARE: u64 = 80;
/// Pictures of fewer blocks are sequential by default: seven scans have too many headers.
const SMALL: usize = 2_500;
/// Effort from which on levels are chosen by rate and distortion.
const WEIGHED_EFFORT: u8 = 5;
/// Effort from which on scans are chosen for lossy results and targets are filled to the last bytes.
const THOROUGH_EFFORT: u8 = 6;
/// Effort from which on results are progressive by default.
const PROGRESSIVE_EFFORT: u8 = 3;
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
    compress_turned(source, Turn::default(), sink, options, budget)
}

/// The same for a picture that is turned on the way. Turning needs all coefficients at once, whatever the budget.
///
/// # Errors
/// See [`Error`].
pub(crate) fn compress_turned(
    source: &dyn Source,
    turn: Turn,
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    let job = Job {
        source,
        turn,
        options,
        budget,
    };
    match options.goal {
        Goal::MaxSize(limit) => job.fit(limit.bytes(source.len()), sink),
        Goal::Quality(quality) => job.requantise(scale_of_quality(quality), sink),
        Goal::Lossless => job.lossless(sink),
        Goal::Ssimulacra2(wanted) => job.keep_score(wanted, sink),
    }
}

/// One file and what is asked of it.
pub(super) struct Job<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) turn: Turn,
    pub(super) options: &'a Options,
    pub(super) budget: &'a Budget,
}

/// A decoded file.
pub(super) struct Opened {
    pub(super) picture: Prepared,
    pub(super) around: Around,
}

impl Job<'_> {
    /// At most `target` bytes, at the highest quality that fits.
    fn fit(&self, target: u64, sink: &mut dyn Sink) -> Result<Compressed, Error> {
        if self.source.len() <= target && !self.options.force {
            return self.within_target();
        }
        let decoder = Decoder::open(self.source, self.budget)?;
        if self.by_rows(decoder.header(), false) {
            return self.fit_rows(decoder.header(), target, sink);
        }
        let glance = self.glance(&decoder.header().frame)?;
        let done = self.fit_whole(decoder, target, glance.as_ref(), sink);
        if let Some(glance) = glance {
            glance.free(self.budget);
        }
        done
    }

    /// The same with the whole picture in memory.
    fn fit_whole<'d>(
        &'d self,
        mut decoder: Decoder<'d>,
        target: u64,
        glance: Option<&Glance>,
        sink: &mut dyn Sink,
    ) -> Result<Compressed, Error> {
        let mut approach = self.approach(decoder.header(), target)?;
        loop {
            let keep = self.survivors(decoder.header(), &approach);
            let opened = match self.open(decoder, &keep)? {
                Ok(opened) => opened,
                Err(kept) => return Ok(kept),
            };
            if approach.lowest <= SCALES.0 && target * 100 >= self.source.len() * LOSSLESS_SHARE {
                let room = target.saturating_sub(opened.around.trailer_bytes());
                if let Some(bytes) = self.identity(&opened.picture, room, sink)? {
                    return self.finish(opened.around, Reached::lossless(bytes), sink);
                }
            }
            if let Some(outcome) = self.fit_opened(opened, (target, approach), glance, sink)? {
                return Ok(outcome);
            }
            approach.lowest = SCALES.0;
            decoder = Decoder::open(self.source, self.budget)?;
        }
    }

    /// `None` if the decoder must keep more.
    fn fit_opened(
        &self,
        opened: Opened,
        (target, approach): (u64, Approach),
        glance: Option<&Glance>,
        sink: &mut dyn Sink,
    ) -> Result<Option<Compressed>, Error> {
        let Approach {
            halving,
            start,
            lowest,
        } = approach;
        let recipe = self.recipe();
        let Opened { picture, around } = opened;
        let picture = picture.with_chroma(halving, lowest, self.keeping(), self.budget)?;
        let segments = picture.segments();
        let request = Request {
            shell: Shell {
                frame: &picture.frame,
                segments: &segments,
            },
            views: &picture.views(),
            source: &picture.tables,
            roles: &picture.roles,
            form: self.form(&picture.frame),
            recipe,
            target: target.saturating_sub(around.trailer_bytes()),
            thorough: self.is_thorough(),
            start,
            scales: (lowest, self.coarsest().max(lowest)),
        };
        match self.fit_best(&request, glance, sink)? {
            Fit::Written { bytes, scale } => {
                let reached = Reached::lossy(bytes, scale, &picture.roles, &picture.tables);
                self.finish(around, reached, sink).map(Some)
            }
            Fit::Unreachable { smallest } => {
                let smallest = smallest + around.trailer_bytes();
                Ok(Some(kept(
                    Keep::TargetUnreachable { target, smallest },
                    around.notes,
                )))
            }
            Fit::TooCoarse => {
                picture.free(self.budget);
                Ok(None)
            }
        }
    }

    /// Decodes the file, or says why it stays as it is.
    pub(super) fn open(
        &self,
        decoder: Decoder<'_>,
        keep: &Survivors,
    ) -> Result<Result<Opened, Compressed>, Error> {
        let picture = decoder.read(keep)?;
        let mut picture = turn::turned(picture, self.turn, self.budget)?;
        let around = Around::of(&mut picture);
        if let Some(part) = picture.second_parts.first() {
            return Ok(Err(kept(Keep::WouldLose(part.name().into()), around.notes)));
        }
        Ok(Ok(Opened {
            picture: Prepared::whole(picture),
            around,
        }))
    }

    /// The original will do, if it is whole.
    fn within_target(&self) -> Result<Compressed, Error> {
        let nothing = Survivors::from_floors([[u16::MAX; 64]; 4]);
        let decoder = Decoder::open(self.source, self.budget)?;
        let ending = decoder.rows(&nothing, &mut |_, _| Ok(()))?;
        Ok(kept(Keep::WithinTarget, ending.notes))
    }

    /// Tables of one scale.
    fn requantise(&self, scale: f32, sink: &mut dyn Sink) -> Result<Compressed, Error> {
        let recipe = self.recipe();
        let decoder = Decoder::open(self.source, self.budget)?;
        let header = decoder.header();
        if self.by_rows(header, false) {
            return self.requantise_rows(header, scale, sink);
        }
        let roles = color::roles(&header.frame, &header.segments);
        let halving = prepare::halving_for_scale(
            &turn::frame(&header.frame, self.turn),
            &roles,
            self.options.chroma,
            scale,
            known_tables(header).as_deref(),
        );
        let keep = self.survivors(
            header,
            &Approach {
                halving,
                start: scale,
                lowest: scale,
            },
        );
        let Opened { picture, around } = match self.open(decoder, &keep)? {
            Ok(opened) => opened,
            Err(kept) => return Ok(kept),
        };
        let picture = picture.with_chroma(halving, scale, recipe, self.budget)?;
        let bytes = self.at_scale(&picture, scale, sink)?;
        self.finish(
            around,
            Reached::lossy(bytes, scale, &picture.roles, &picture.tables),
            sink,
        )
    }

    /// Writes the picture in tables of `scale`; returns its bytes.
    pub(super) fn at_scale(
        &self,
        picture: &Prepared,
        scale: f32,
        sink: &mut dyn Sink,
    ) -> Result<u64, Error> {
        let segments = picture.segments();
        let request = Request {
            shell: Shell {
                frame: &picture.frame,
                segments: &segments,
            },
            views: &picture.views(),
            source: &picture.tables,
            roles: &picture.roles,
            form: self.form(&picture.frame),
            recipe: self.recipe(),
            target: u64::MAX,
            thorough: self.is_thorough(),
            start: scale,
            scales: (scale, scale),
        };
        once(&request, self.budget, sink)
    }

    /// Appends the trailer and says what became of the file.
    pub(super) fn finish(
        &self,
        around: Around,
        reached: Reached,
        sink: &mut dyn Sink,
    ) -> Result<Compressed, Error> {
        let bytes = reached.bytes + around.trailer_bytes();
        if !self.options.is_worth(self.source.len(), bytes) {
            return Ok(kept(Keep::NotSmaller, around.notes));
        }
        append(self.source, around.trailer.clone(), sink)?;
        Ok(around.written(bytes, reached))
    }

    /// Whether the picture has to be done row by row.
    pub(super) fn by_rows(&self, header: &Header, lossless: bool) -> bool {
        let left = self.budget.left();
        self.turn.is_upright() && frugal::is_needed(header, self.source.len(), lossless, left)
    }

    pub(super) fn recipe(&self) -> Recipe {
        let weighed = self.options.effort >= WEIGHED_EFFORT;
        Recipe {
            rounding: if weighed {
                Rounding::Weighed
            } else {
                Rounding::Deadzone
            },
            weights: Weights::USUAL,
        }
    }

    /// The recipe by which the decoder and the halving of chroma know what may matter.
    pub(super) fn keeping(&self) -> Recipe {
        let mut recipe = self.recipe();
        if self.tries_weights() {
            recipe.weights = Weights::WIDEST;
        }
        recipe
    }

    fn is_thorough(&self) -> bool {
        self.options.effort >= THOROUGH_EFFORT
    }

    /// The coarsest scale allowed.
    pub(super) fn coarsest(&self) -> f32 {
        scale_of_quality(self.options.min_quality)
    }

    pub(super) fn form(&self, frame: &Frame) -> Form {
        match self.options.progressive {
            Progressive::On => Form::Progressive,
            Progressive::Off => Form::Sequential,
            Progressive::Auto => {
                let across_and_down =
                    |c: &Component| c.blocks_across as usize * c.blocks_down as usize;
                let big = frame.components.iter().map(across_and_down).sum::<usize>() >= SMALL;
                let effort = self.options.effort >= PROGRESSIVE_EFFORT;
                if big && effort {
                    Form::Progressive
                } else {
                    Form::Sequential
                }
            }
        }
    }
}
