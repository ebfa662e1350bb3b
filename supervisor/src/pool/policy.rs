//! The numbers the pool decides by, in one place, and the rules that follow from a single number or cause.

use super::event::Cause;
use std::time::Duration;

/// How much memory a worker gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cap {
    /// What every worker gets.
    Usual,
    /// What a worker gets that runs alone.
    Big,
}

/// Numbers and choices that stand for a whole run.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Worker processes at a time; at least 1.
    pub seats: u16,
    /// Wall time one job may take.
    pub job_timeout: Duration,
    /// Times a job is tried again after an ambiguous death.
    pub retries: u8,
    /// Time from spawn to hello.
    pub start_timeout: Duration,
    /// Time in which a worker with nothing else to do must begin a job it was sent.
    pub take_up_timeout: Duration,
    /// Time in which a worker must leave after its input was closed.
    pub close_timeout: Duration,
    /// Time in which a killed process must be gone before its seat is written off.
    pub reap_timeout: Duration,
    /// Time workers get to end what they compute when the run is asked to end.
    pub grace: Duration,
    /// Working time after which the run ends by itself.
    pub run_for: Option<Duration>,
    /// Failures at which the run ends by itself.
    pub max_fail: Option<MaxFail>,
    /// Files in a row that may fail on a full disk before the run ends.
    pub disk_full_limit: u32,
    /// Jobs after which a worker is replaced.
    pub recycle_after: u32,
    /// Resident bytes above which an idle worker is replaced.
    pub recycle_rss: u64,
    /// Whether images that need more than the usual cap run again, alone, with a bigger one.
    pub oversize_alone: bool,
    /// Starts in a row that may fail while no worker lives: where none ever said hello, where some did before, and where
    /// a job was done before.
    pub bad_start_limits: (u32, u32, u32),
    /// Idle deaths within [`Self::idle_death_window`], without a job done in between, at which the run ends.
    pub idle_death_limit: usize,
    /// See [`Self::idle_death_limit`].
    pub idle_death_window: Duration,
    /// First and longest wait after a bad start.
    pub backoff: (Duration, Duration),
    /// Times a job may come back from workers that died before they began it.
    pub return_limit: u8,
    /// Jobs that may wait in the pool's own queue.
    pub queue_limit: usize,
    /// Jobs that may be with the recorder before no more are handed out.
    pub unrecorded_limit: usize,
}

impl Policy {
    /// The defaults for so many seats.
    pub fn new(seats: u16) -> Self {
        Self {
            seats: seats.max(1),
            job_timeout: Duration::from_secs(120),
            retries: 1,
            start_timeout: Duration::from_secs(30),
            take_up_timeout: Duration::from_secs(30),
            close_timeout: Duration::from_secs(5),
            reap_timeout: Duration::from_secs(10),
            grace: Duration::from_secs(10),
            run_for: None,
            max_fail: None,
            disk_full_limit: 3,
            recycle_after: 1000,
            recycle_rss: u64::MAX,
            oversize_alone: false,
            bad_start_limits: (3, 10, 100),
            idle_death_limit: 5,
            idle_death_window: Duration::from_secs(10),
            backoff: (Duration::from_millis(100), Duration::from_secs(5)),
            return_limit: 5,
            queue_limit: usize::from(seats) * 4 + 32,
            unrecorded_limit: usize::from(seats) * 16 + 256,
        }
    }

    /// How long a seat rests after the `bad_starts`-th bad start in a row: doubling from the first wait to the longest.
    pub fn rest_after(&self, bad_starts: u32) -> Duration {
        let doublings = bad_starts.saturating_sub(1).min(16);
        (self.backoff.0 * (1 << doublings)).min(self.backoff.1)
    }
}

/// Failures at which the run ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaxFail {
    /// So many.
    Count(u64),
    /// More than so many thousandths of the files done so far, once [`MaxFail::SAMPLE`] are done.
    Permille(u32),
}

impl MaxFail {
    /// Files that must be done before a share means anything.
    pub const SAMPLE: u64 = 20;

    /// Whether `failed` of `done` files are too many.
    pub fn reached(self, failed: u64, done: u64) -> bool {
        match self {
            Self::Count(most) => failed >= most.max(1),
            Self::Permille(most) => done >= Self::SAMPLE && failed * 1000 > done * u64::from(most),
        }
    }
}

/// What a death says about the job the worker was computing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The job is guilty; another try would end the same way.
    Guilty,
    /// It needs more memory than this worker had.
    NeedsMemory,
    /// Perhaps an earlier job damaged the process: once more, in a process that has done nothing else.
    TryFresh,
    /// Perhaps the machine was short of something: once more, with no other job beside it.
    TryAlone,
    /// The run ended it.
    None,
}

impl Cause {
    /// What this death says about the job the worker was computing.
    pub fn blame(self) -> Blame {
        match self {
            Self::MemoryCap => Blame::NeedsMemory,
            Self::HostMemory | Self::KilledOutside => Blame::TryAlone,
            Self::Crashed | Self::Protocol | Self::CannotStart | Self::Left => Blame::TryFresh,
            Self::Panicked | Self::Timeout | Self::Sandbox | Self::OutputTooLarge => Blame::Guilty,
            Self::Stopped => Blame::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_double_up_to_the_longest() {
        let policy = Policy::new(2);
        let rests: Vec<u128> = (1..=8).map(|n| policy.rest_after(n).as_millis()).collect();
        assert_eq!(rests, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        assert_eq!(policy.rest_after(u32::MAX), Duration::from_secs(5));
    }

    #[test]
    fn a_share_needs_a_sample() {
        assert!(MaxFail::Count(2).reached(2, 2));
        assert!(!MaxFail::Count(2).reached(1, 500));
        assert!(!MaxFail::Permille(100).reached(5, 5));
        assert!(!MaxFail::Permille(100).reached(2, 20));
        assert!(MaxFail::Permille(100).reached(3, 20));
    }
}
