//! Which scale to try next, so that few trials reach a score. Pure: it never sees a picture.

/// Points above the least score that are good enough.
pub(super) const WIDTH: f64 = 0.6;
/// Points that a scale coarser by a factor of e costs, where nothing better is known: 10 to 18 were seen.
const SLOPE: f64 = 14.0;
/// Most trials.
const TRIALS: u8 = 8;
/// The same for glances, which are only to land within [`WIDTH`].
const GLANCE_WIDTH: f64 = 0.2;
const GLANCES: u8 = 6;
/// How near to an end of the bracket the next trial may be, as a share of it.
const EDGE: f64 = 0.08;

/// A search for the coarsest scale that keeps a score.
#[derive(Debug, Clone)]
pub(super) struct Hunt {
    least: f64,
    /// Logarithms of the finest and the coarsest scale.
    bounds: (f64, f64),
    /// Logarithms of scales that keep the score and that do not, with the points above the middle of what is good.
    fine: Option<(f64, f64)>,
    coarse: Option<(f64, f64)>,
    /// Whether the last scale tried kept the score.
    kept: Option<bool>,
    next: Option<f64>,
    left: u8,
    width: f64,
}

impl Hunt {
    /// For scores of `least` and little more, from `start` on, within the finest and the coarsest scale.
    pub(super) fn new(least: f64, start: f32, (finest, coarsest): (f32, f32)) -> Self {
        let bounds = (f64::from(finest).ln(), f64::from(coarsest).ln());
        Self {
            least,
            bounds,
            fine: None,
            coarse: None,
            kept: None,
            next: Some(f64::from(start).ln().clamp(bounds.0, bounds.1)),
            left: TRIALS,
            width: WIDTH,
        }
    }

    /// For glances of about `wanted`, from `start` on, at scales that this hunt knows neither to keep nor to fail.
    pub(super) fn by_glance(&self, wanted: f64, start: f32) -> Self {
        let (finest, coarsest) = self.open_bounds();
        let least = wanted - GLANCE_WIDTH / 2.0;
        Self {
            left: GLANCES,
            width: GLANCE_WIDTH,
            ..Self::new(least, start, (finest.exp() as f32, coarsest.exp() as f32))
        }
    }

    /// Tries `scale` next instead.
    pub(super) fn aim(&mut self, scale: f32) {
        let (finest, coarsest) = self.open_bounds();
        self.next = Some(f64::from(scale).ln().clamp(finest, coarsest));
    }

    /// Logarithms between which scales are not decided yet.
    fn open_bounds(&self) -> (f64, f64) {
        let finest = self.fine.map_or(self.bounds.0, |fine| fine.0);
        let coarsest = self.coarse.map_or(self.bounds.1, |coarse| coarse.0);
        let edge = match (self.fine, self.coarse) {
            (Some(_), Some(_)) => EDGE * (coarsest - finest),
            (Some(_), None) | (None, Some(_)) | (None, None) => 0.0,
        };
        (finest + edge, coarsest - edge)
    }

    /// The middle of the scores that are good.
    pub(super) fn middle(&self) -> f64 {
        self.least + self.width / 2.0
    }

    /// The scale to try, if another trial is worth it.
    pub(super) fn next(&self) -> Option<f32> {
        self.next.map(|at| at.exp() as f32)
    }

    /// Whether `score` is high enough.
    pub(super) fn keeps(&self, score: f64) -> bool {
        score >= self.least
    }

    /// Takes the score of the scale tried.
    pub(super) fn learn(&mut self, score: f64) {
        let Some(here) = self.next.take() else {
            return;
        };
        self.left = self.left.saturating_sub(1);
        let excess = score - self.middle();
        let keeps = self.keeps(score);
        let (side, other, bound) = if keeps {
            (&mut self.fine, &mut self.coarse, self.bounds.1)
        } else {
            (&mut self.coarse, &mut self.fine, self.bounds.0)
        };
        *side = Some((here, excess));
        // Where one side moves again and again, the other weighs less each time (the Illinois rule): scores that stand
        // still near 100 would pull every next trial to themselves.
        if let Some(other) = other.as_mut().filter(|_| self.kept == Some(keeps)) {
            other.1 /= 2.0;
        }
        self.kept = Some(keeps);
        let good = self.keeps(score) && score <= self.least + self.width;
        if good || self.left == 0 || here == bound {
            return;
        }
        self.next = Some(self.between(here, excess));
    }

    fn between(&self, here: f64, excess: f64) -> f64 {
        match (self.fine, self.coarse) {
            (Some(fine), Some(coarse)) => {
                let share = fine.1.max(0.0) / (fine.1.max(0.0) - coarse.1);
                fine.0 + share.clamp(EDGE, 1.0 - EDGE) * (coarse.0 - fine.0)
            }
            (Some(_), None) | (None, Some(_)) | (None, None) => {
                (here + excess / SLOPE).clamp(self.bounds.0, self.bounds.1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs a hunt over a score that falls with the logarithm of the scale; the scores it tried.
    fn tried(least: f64, start: f32, score: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut hunt = Hunt::new(least, start, (0.01, 60.0));
        let mut scores = Vec::new();
        while let Some(scale) = hunt.next() {
            let found = score(f64::from(scale).ln());
            scores.push(found);
            hunt.learn(found);
        }
        scores
    }

    proptest! {
        #[test]
        fn a_falling_score_is_met_closely_in_few_trials(
            least in 10.0_f64..95.0, slope in 6.0_f64..25.0, at_one in 40.0_f64..80.0, bend in 0.0_f64..2.0,
        ) {
            let score = |x: f64| (at_one - slope * x - bend * x * x * x.signum()).min(100.0);
            let scores = tried(least, 1.0, score);
            let best = scores.iter().copied().filter(|&s| s >= least).fold(f64::INFINITY, f64::min);
            let reachable = score(0.01_f64.ln()) >= least && score(60.0_f64.ln()) < least;
            prop_assert!(!reachable || best <= least + 1.0, "{scores:?}");
            prop_assert!(scores.len() <= usize::from(TRIALS));
        }
    }

    proptest! {
        #[test]
        fn glances_that_err_by_the_same_everywhere_need_two_trials(
            least in 45.0_f64..90.0, slope in 8.0_f64..20.0, off in -6.0_f64..6.0,
        ) {
            let score = |x: f64| 70.0 - slope * x;
            let mut hunt = Hunt::new(least, 1.0, (0.01, 60.0));
            let (mut error, mut scores) = (0.0, Vec::new());
            while let Some(start) = hunt.next() {
                let mut glances = hunt.by_glance(hunt.middle() + error, start);
                let mut scale = start;
                while let Some(next) = glances.next() {
                    scale = next;
                    glances.learn(score(f64::from(next).ln()) + off);
                }
                hunt.aim(scale);
                let found = score(f64::from(hunt.next().expect("aimed")).ln());
                error = off;
                scores.push(found);
                hunt.learn(found);
            }
            prop_assert!(scores.len() <= 3, "{scores:?}");
            prop_assert!(scores.iter().any(|&score| (least..least + WIDTH).contains(&score)));
        }
    }

    #[test]
    fn what_cannot_be_reached_ends_at_the_finest_scale() {
        let scores = tried(90.0, 1.0, |x| 80.0 - x);
        assert!(scores.len() <= usize::from(TRIALS) && scores.iter().all(|&score| score < 90.0));
        let easy = tried(10.0, 1.0, |_| 95.0);
        assert!(easy.len() <= 3, "{easy:?}");
    }
}
