//! Counts what must not go on for ever: starts that fail and workers that die with nothing to do.
//!
//! Deaths on a job are not counted here: they blame the job, never the run.

use super::moment::Moment;
use super::policy::Policy;
use std::collections::VecDeque;

/// What was spent of both budgets.
#[derive(Debug, Default)]
pub(super) struct Budgets {
    bad_starts: u32,
    idle_deaths: VecDeque<Moment>,
}

impl Budgets {
    /// A worker said hello: starting works here.
    pub(super) fn greeted(&mut self) {
        self.bad_starts = 0;
    }

    /// A worker ended a job: workers do live long enough to be of use.
    pub(super) fn job_done(&mut self) {
        self.idle_deaths.clear();
    }

    /// A start failed; returns how many did in a row.
    pub(super) fn bad_start(&mut self) -> u32 {
        self.bad_starts = self.bad_starts.saturating_add(1);
        self.bad_starts
    }

    /// A worker died idle; returns whether that were too many in too short a time.
    pub(super) fn idle_death(&mut self, now: Moment, policy: &Policy) -> bool {
        self.idle_deaths.push_back(now);
        while self
            .idle_deaths
            .front()
            .is_some_and(|death| now.since(*death) > policy.idle_death_window)
        {
            self.idle_deaths.pop_front();
        }
        self.idle_deaths.len() >= policy.idle_death_limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn only_deaths_close_together_count() {
        let policy = Policy::new(1);
        let mut budgets = Budgets::default();
        let slow =
            (0..50).any(|n| budgets.idle_death(Moment::after(Duration::from_secs(n * 3)), &policy));
        assert!(!slow, "one death every three seconds is within the budget");
        let mut budgets = Budgets::default();
        let spent: Vec<bool> = (0..5)
            .map(|n| budgets.idle_death(Moment::after(Duration::from_secs(n)), &policy))
            .collect();
        assert_eq!(spent, [false, false, false, false, true]);
    }

    #[test]
    fn a_job_done_in_between_forgives_idle_deaths() {
        let policy = Policy::new(1);
        let mut budgets = Budgets::default();
        for n in 0..100 {
            assert!(!budgets.idle_death(Moment::after(Duration::from_millis(n)), &policy));
            budgets.job_done();
        }
    }
}
