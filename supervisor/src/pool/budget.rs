//! Counts what must not go on for ever: starts that fail and workers that die with nothing to do.
//!
//! Deaths on a job are not counted here: they blame the job, never the run.

use super::event::Cause;
use super::moment::Moment;
use super::policy::Policy;
use std::collections::VecDeque;

/// What was spent of both budgets.
#[derive(Debug, Default)]
pub(super) struct Budgets {
    bad_starts: u32,
    /// Whether there is reason to think that starting can work here at all.
    hopeful: bool,
    /// Whether any job was ever done here.
    fruitful: bool,
    idle_deaths: VecDeque<Moment>,
}

impl Budgets {
    /// A worker said hello: starting works here.
    pub(super) fn greeted(&mut self) {
        self.bad_starts = 0;
        self.hopeful = true;
    }

    /// Whether too many starts failed in a row. Where none ever worked, something is wrong with the installation and
    /// waiting will not mend it; where some did, somebody may only be killing processes for a while. Where a job was done,
    /// it is worth minutes of rests in between to go on.
    pub(super) fn starts_are_hopeless(&self, policy: &Policy) -> bool {
        let (never, greeted, fruitful) = policy.bad_start_limits;
        let limit = match (self.fruitful, self.hopeful) {
            (true, _) => fruitful,
            (false, true) => greeted,
            (false, false) => never,
        };
        self.bad_starts >= limit
    }

    /// Whether any job was ever done here.
    pub(super) fn fruitful(&self) -> bool {
        self.fruitful
    }

    /// A worker ended a job: workers do live long enough to be of use.
    pub(super) fn job_done(&mut self) {
        self.fruitful = true;
        self.idle_deaths.clear();
    }

    /// A start failed; answers how many did in a row. One that was killed from outside says nothing about the next.
    pub(super) fn bad_start(&mut self, cause: Cause) -> u32 {
        self.hopeful |= matches!(cause, Cause::KilledOutside | Cause::HostMemory);
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
    fn starts_that_worked_before_get_more_patience() {
        let policy = Policy::new(1);
        let mut budgets = Budgets::default();
        let hopeless_after = |budgets: &mut Budgets| {
            (1..).find(|_| {
                budgets.bad_start(Cause::CannotStart);
                budgets.starts_are_hopeless(&policy)
            })
        };
        assert_eq!(hopeless_after(&mut budgets), Some(3));
        budgets.greeted();
        assert!(!budgets.starts_are_hopeless(&policy));
        assert_eq!(hopeless_after(&mut budgets), Some(10));
        budgets.job_done();
        assert!(!budgets.starts_are_hopeless(&policy), "useful before");
        assert_eq!(hopeless_after(&mut budgets), Some(90));
        let mut killed = Budgets::default();
        killed.bad_start(Cause::KilledOutside);
        assert_eq!(hopeless_after(&mut killed), Some(9));
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
