//! Several ways to bring one picture to a target, and the one kept whose result looks best at a glance.
//!
//! Which weights suit a picture hangs on the picture, and no rule was found that knows beforehand; so they are tried one
//! after the other, from the usual ones on, each time as far as it helps.

use super::compress::Job;
use super::frame::Frame;
use super::quant::recipe::{Recipe, Weights};
use super::score::Glance;
use super::search::{Fit, Request, fit};
use crate::{Error, Sink};

/// Effort from which on the most effective weight is tried, and from which on all are.
const SOME_EFFORT: u8 = 8;
const ALL_EFFORT: u8 = 9;
/// How far below the estimated scale the decoder must keep what matters where weights are tried.
pub(super) const WIDE_MARGIN: f32 = 0.6;

/// Points by which a glance must find a result better: less is chance.
const BETTER: f64 = 0.2;

/// A result that fits.
struct Found {
    bytes: Vec<u8>,
    fit: Fit,
    score: f64,
    weights: Weights,
}

impl Job<'_> {
    /// What compares results, where the effort allows it.
    pub(super) fn glance(&self, frame: &Frame) -> Result<Option<Glance>, Error> {
        if !self.tries_weights() {
            return Ok(None);
        }
        Glance::open(self.source, frame, self.budget)
    }

    pub(super) fn tries_weights(&self) -> bool {
        self.options.effort >= SOME_EFFORT && self.turn.is_upright()
    }

    /// Fits the picture into the target, by several weights where there is a `glance` to tell them apart.
    pub(super) fn fit_best(
        &self,
        request: &Request<'_>,
        glance: Option<&Glance>,
        sink: &mut dyn Sink,
    ) -> Result<Fit, Error> {
        let Some(glance) = glance else {
            return fit(request, self.budget, sink);
        };
        // The best so far and the one under trial.
        let room = 2 * request.target;
        self.budget.claim(room)?;
        let done = match self.found(request, Weights::USUAL, glance)? {
            Ok(usual) => {
                let best = self.climb(request, glance, usual)?;
                sink.write(&best.bytes).map_err(Error::Write)?;
                best.fit
            }
            Err(fit) => fit,
        };
        self.budget.release(room);
        Ok(done)
    }

    fn climb(
        &self,
        request: &Request<'_>,
        glance: &Glance,
        mut best: Found,
    ) -> Result<Found, Error> {
        let steps = if self.options.effort >= ALL_EFFORT {
            &Weights::STEPS[..]
        } else {
            &Weights::STEPS[..Weights::EFFECTIVE]
        };
        for &(weight, factor) in steps {
            for factor in [factor, 1.0 / factor] {
                let before = best.score;
                loop {
                    let mut next = best.weights;
                    *weight(&mut next) *= factor;
                    if !next.is_kept_alive() {
                        break;
                    }
                    match self.found(request, next, glance)? {
                        Ok(found) if found.score > best.score + BETTER => best = found,
                        Ok(_) | Err(_) => break,
                    }
                }
                // What helped one way does not help the other.
                if best.score > before {
                    break;
                }
            }
        }
        Ok(best)
    }

    /// The result of some weights, or why there is none.
    fn found(
        &self,
        request: &Request<'_>,
        weights: Weights,
        glance: &Glance,
    ) -> Result<Result<Found, Fit>, Error> {
        let request = Request {
            recipe: Recipe {
                weights,
                ..request.recipe
            },
            ..*request
        };
        let mut bytes = Vec::new();
        let fit = fit(&request, self.budget, &mut bytes)?;
        if !matches!(fit, Fit::Written { .. }) {
            return Ok(Err(fit));
        }
        let score = glance.score(&bytes)?;
        Ok(Ok(Found {
            bytes,
            fit,
            score,
            weights,
        }))
    }
}
