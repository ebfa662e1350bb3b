//! The fewest bytes that keep a score: results are made, judged and thrown away until one is just good enough. Glances
//! say which result is worth judging.

use super::hunt::Hunt;
use super::{Glance, Judge};
use crate::jpeg::approach::known_tables;
use crate::jpeg::chroma::Halving;
use crate::jpeg::color;
use crate::jpeg::compress::Job;
use crate::jpeg::decode::{Decoder, Survivors};
use crate::jpeg::outcome::Reached;
use crate::jpeg::prepare::{self, Prepared};
use crate::jpeg::quant::recipe::scale_of_quality;
use crate::jpeg::quant::tables::{SCALES, interpolate};
use crate::{Chroma, Compressed, Error, Sink};

/// Qualities that are about right for a score; only where to begin.
const QUALITY_OF_SCORE: [(f32, f32); 8] = [
    (0.0, 5.0),
    (30.0, 25.0),
    (50.0, 42.0),
    (60.0, 55.0),
    (70.0, 70.0),
    (80.0, 83.0),
    (90.0, 95.0),
    (97.0, 100.0),
];
/// Scores from which on full chroma is kept.
const FULL_CHROMA: f32 = 75.0;

/// A result and the scale of its tables.
struct Trial {
    bytes: Vec<u8>,
    scale: f32,
}

impl Job<'_> {
    /// The fewest bytes whose score is at least `wanted`; the same pixels where there is no score.
    pub(in crate::jpeg) fn keep_score(
        &self,
        wanted: f32,
        sink: &mut dyn Sink,
    ) -> Result<Compressed, Error> {
        let decoder = Decoder::open(self.source, self.budget)?;
        let judge = if self.turn.is_upright() {
            Judge::open(self.source, &decoder.header().frame, self.budget)?
        } else {
            None
        };
        let Some(judge) = judge else {
            return self.lossless(sink);
        };
        let start = start(wanted);
        let halving = self.halving_for_score(&decoder, wanted, start);
        let mut done = self.with_halving(decoder, halving, (wanted, start), &judge, sink)?;
        if done.is_none() && halving.is_some() && self.options.chroma == Chroma::Auto {
            let decoder = Decoder::open(self.source, self.budget)?;
            done = self.with_halving(decoder, None, (wanted, start), &judge, sink)?;
        }
        judge.free(self.budget);
        match done {
            Some(done) => Ok(done),
            // No coarser tables keep the score, so only the same pixels do.
            None => self.lossless(sink),
        }
    }

    fn halving_for_score(&self, decoder: &Decoder<'_>, wanted: f32, start: f32) -> Option<Halving> {
        let asked = self.options.chroma;
        let chroma = if asked == Chroma::Auto && wanted >= FULL_CHROMA {
            Chroma::Full
        } else {
            asked
        };
        let header = decoder.header();
        let roles = color::roles(&header.frame, &header.segments);
        let tables = known_tables(header);
        prepare::halving_for_scale(&header.frame, &roles, chroma, start, tables.as_deref())
    }

    /// `None` if nothing with this chroma keeps the score in fewer bytes.
    fn with_halving(
        &self,
        decoder: Decoder<'_>,
        halving: Option<Halving>,
        (wanted, start): (f32, f32),
        judge: &Judge,
        sink: &mut dyn Sink,
    ) -> Result<Option<Compressed>, Error> {
        let opened = match self.open(decoder, &Survivors::all())? {
            Ok(opened) => opened,
            Err(kept) => return Ok(Some(kept)),
        };
        let around = opened.around;
        let picture = opened
            .picture
            .with_chroma(halving, SCALES.0, self.recipe(), self.budget)?;
        let least = f64::from(wanted) + judge.doubt();
        let hunt = Hunt::new(least, start, (SCALES.0, self.coarsest()));
        let glance = Glance::open(self.source, &picture.frame, self.budget)?;
        let trial = self.best_trial(&picture, judge, glance.as_ref(), hunt)?;
        if let Some(glance) = glance {
            glance.free(self.budget);
        }
        let worth = |trial: &Trial| {
            let bytes = trial.bytes.len() as u64 + around.trailer_bytes();
            self.options.is_worth(self.source.len(), bytes)
        };
        let Some(trial) = trial.filter(worth) else {
            picture.free(self.budget);
            return Ok(None);
        };
        let bytes = trial.bytes.len() as u64;
        let reached = Reached::lossy(bytes, trial.scale, &picture.roles, &picture.tables);
        picture.free(self.budget);
        sink.write(&trial.bytes).map_err(Error::Write)?;
        self.finish(around, reached, sink).map(Some)
    }

    /// The smallest result that keeps the score.
    fn best_trial(
        &self,
        picture: &Prepared,
        judge: &Judge,
        glance: Option<&Glance>,
        mut hunt: Hunt,
    ) -> Result<Option<Trial>, Error> {
        // The best so far and the one under trial; a result bigger than its original would not be kept.
        let room = 2 * self.source.len();
        self.budget.claim(room)?;
        let mut best: Option<Trial> = None;
        // What glances are above scores, which hardly changes between results of one picture.
        let mut above = 0.0;
        while let Some(proposed) = hunt.next() {
            if let Some(glance) = glance {
                let glances = hunt.by_glance(hunt.middle() + above, proposed);
                hunt.aim(self.glanced(picture, glance, glances)?);
            }
            let scale = hunt.next().unwrap_or(proposed);
            let mut bytes = Vec::new();
            self.at_scale(picture, scale, &mut bytes)?;
            let score = judge.score(&bytes)?;
            if let Some(glance) = glance {
                above = glance.score(&bytes)? - score;
            }
            let smaller = best
                .as_ref()
                .is_none_or(|best| bytes.len() < best.bytes.len());
            if hunt.keeps(score) && smaller {
                best = Some(Trial { bytes, scale });
            }
            hunt.learn(score);
        }
        self.budget.release(room);
        Ok(best)
    }
}

impl Job<'_> {
    /// The scale at which glances are nearest to what they hunt for.
    fn glanced(
        &self,
        picture: &Prepared,
        glance: &Glance,
        mut glances: Hunt,
    ) -> Result<f32, Error> {
        let mut nearest = (f64::INFINITY, SCALES.0);
        while let Some(scale) = glances.next() {
            let mut bytes = Vec::new();
            self.at_scale(picture, scale, &mut bytes)?;
            let found = glance.score(&bytes)?;
            let distance = (found - glances.middle()).abs();
            if distance < nearest.0 {
                nearest = (distance, scale);
            }
            glances.learn(found);
        }
        Ok(nearest.1)
    }
}

/// Scale to begin with.
fn start(wanted: f32) -> f32 {
    scale_of_quality(interpolate(&QUALITY_OF_SCORE, wanted) as u8)
}
