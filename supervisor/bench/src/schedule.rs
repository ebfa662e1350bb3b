//! In which order variants are run and when it is enough. Pure: told how much time has passed, never looks at a clock.
//!
//! First every variant once as a warm-up that does not count, then whole rounds, every second one backwards, so that a
//! machine that slows down or speeds up does so for all alike. A round begins only if what is left of the share is enough
//! for it, going by what each variant cost last.

use std::time::Duration;

/// A round may overdraw the share by half if it is the first that counts: one figure is better than none.
const OVERDRAFT: f64 = 1.5;

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Run this variant; its figures do not count.
    WarmUp(usize),
    /// Run this variant and keep its figures for this round.
    Measure {
        /// Which.
        variant: usize,
        /// Which round, from 0.
        round: usize,
    },
    /// Enough.
    Over,
}

/// The order of one experiment's runs.
#[derive(Debug)]
pub(crate) struct Schedule {
    costs: Vec<Duration>,
    share: Duration,
    most_rounds: usize,
    run: usize,
}

impl Schedule {
    /// For so many variants within `share` of time, in no more than `most_rounds` rounds that count.
    pub(crate) fn new(variants: usize, share: Duration, most_rounds: usize) -> Self {
        Self {
            costs: vec![Duration::ZERO; variants],
            share,
            most_rounds,
            run: 0,
        }
    }

    /// What to do `spent` after the start.
    pub(crate) fn next(&self, spent: Duration) -> Step {
        let count = self.costs.len();
        if count == 0 {
            return Step::Over;
        }
        let (pass, place) = (self.run / count, self.run % count);
        let variant = if pass % 2 == 0 {
            place
        } else {
            count - 1 - place
        };
        let overdrawn = self.share.mul_f64(OVERDRAFT);
        match pass.checked_sub(1) {
            None if spent > overdrawn => Step::Over,
            None => Step::WarmUp(variant),
            Some(round) if round >= self.most_rounds => Step::Over,
            Some(round) => {
                let bound = if round == 0 { overdrawn } else { self.share };
                if place == 0 && spent + self.round_cost() > bound {
                    return Step::Over;
                }
                Step::Measure { variant, round }
            }
        }
    }

    /// The run that [`Schedule::next`] asked for took `cost`.
    pub(crate) fn done(&mut self, step: Step, cost: Duration) {
        match step {
            Step::WarmUp(variant) | Step::Measure { variant, .. } => {
                self.costs[variant] = cost;
                self.run += 1;
            }
            Step::Over => {}
        }
    }

    /// What one round costs, going by what is known.
    pub(crate) fn round_cost(&self) -> Duration {
        self.costs.iter().sum()
    }

    /// Whether every variant was warmed up.
    pub(crate) fn is_warm(&self) -> bool {
        self.run >= self.costs.len()
    }
}

/// What an experiment may take of what is `left` of the budget, when `weights` are its own and those of all after it.
pub(crate) fn share(left: Duration, weights: &[f64]) -> Duration {
    let all: f64 = weights.iter().sum();
    match weights.first() {
        Some(own) if all > 0.0 => left.mul_f64(own / all),
        Some(_) | None => Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: Duration = Duration::from_millis(1);

    /// Runs a schedule in virtual time; answers the steps and the time at the end.
    fn play(costs: &[u32], share: u32, most: usize) -> (Vec<Step>, Duration) {
        let mut schedule = Schedule::new(costs.len(), MS * share, most);
        let mut spent = Duration::ZERO;
        let mut steps = Vec::new();
        loop {
            let step = schedule.next(spent);
            let (Step::WarmUp(variant) | Step::Measure { variant, .. }) = step else {
                return (steps, spent);
            };
            spent += MS * costs[variant];
            schedule.done(step, MS * costs[variant]);
            steps.push(step);
        }
    }

    fn measure(variant: usize, round: usize) -> Step {
        Step::Measure { variant, round }
    }

    #[test]
    fn warm_up_then_rounds_back_and_forth() {
        let (steps, spent) = play(&[10, 20], 100, 9);
        let expected = [
            Step::WarmUp(0),
            Step::WarmUp(1),
            measure(1, 0),
            measure(0, 0),
            measure(0, 1),
            measure(1, 1),
        ];
        assert_eq!(steps, expected);
        assert_eq!(spent, MS * 90);
    }

    #[test]
    fn a_limit_on_rounds_holds() {
        assert_eq!(play(&[1], 1000, 3).0.len(), 4);
        assert_eq!(play(&[], 1000, 3).0.len(), 0);
    }

    #[test]
    fn what_is_too_slow_ends_in_the_warm_up() {
        let (steps, _) = play(&[100, 100, 100], 50, 5);
        assert_eq!(steps, [Step::WarmUp(0)]);
    }

    #[test]
    fn the_first_round_may_overdraw_a_little() {
        assert_eq!(play(&[60], 100, 5).0, [Step::WarmUp(0), measure(0, 0)]);
        assert_eq!(play(&[80], 100, 5).0, [Step::WarmUp(0)]);
    }

    #[test]
    fn shares_are_of_what_is_left() {
        assert_eq!(share(MS * 100, &[1.0, 3.0]), MS * 25);
        assert_eq!(share(MS * 100, &[3.0]), MS * 100);
        assert_eq!(share(MS * 100, &[]), Duration::ZERO);
    }

    proptest! {
        #[test]
        fn rounds_are_whole_and_the_share_is_kept(
            costs in proptest::collection::vec(1u32..200, 1..8), share in 1u32..5000, most in 0usize..12,
        ) {
            let (steps, spent) = play(&costs, share, most);
            let measured = steps.iter().filter(|step| matches!(step, Step::Measure { .. })).count();
            prop_assert_eq!(measured % costs.len(), 0);
            prop_assert!(measured / costs.len() <= most);
            let longest = MS * *costs.iter().max().unwrap();
            prop_assert!(spent <= (MS * share).mul_f64(OVERDRAFT) + longest);
        }
    }
}
