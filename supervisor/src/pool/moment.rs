//! Time as the machine knows it: how long since the run began. Never reads a clock.

use std::ops::Add;
use std::time::Duration;

/// A point in time, counted from the start of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(Duration);

impl Moment {
    /// The start of the run.
    pub const START: Self = Self(Duration::ZERO);

    /// The moment `elapsed` after the start of the run.
    pub const fn after(elapsed: Duration) -> Self {
        Self(elapsed)
    }

    /// Time between the start of the run and this moment.
    pub const fn elapsed(self) -> Duration {
        self.0
    }

    /// Time since `earlier`; zero if that lies ahead.
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span))
    }
}

/// Turns the run's time into the time during which the run was allowed to work.
///
/// While the user has the run stopped (Ctrl-Z), no deadline comes nearer: every deadline of the machine is kept in
/// working time and converted only at its two doors.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkingTime {
    stopped_before: Duration,
    stopped_at: Option<Moment>,
}

impl WorkingTime {
    /// Working time at `now`.
    pub fn at(&self, now: Moment) -> Moment {
        let now = self.stopped_at.map_or(now, |stopped| stopped.min(now));
        Moment(now.0.saturating_sub(self.stopped_before))
    }

    /// When the working time `deadline` will be reached, if the run is not stopped before; `None` while it is stopped.
    pub fn reached(&self, deadline: Moment) -> Option<Moment> {
        match self.stopped_at {
            Some(_) => None,
            None => Some(deadline + self.stopped_before),
        }
    }

    /// The user stops the run. A second stop changes nothing.
    pub fn stop(&mut self, now: Moment) {
        self.stopped_at.get_or_insert(now);
    }

    /// The user lets the run go on. Without a stop before, nothing changes.
    pub fn resume(&mut self, now: Moment) {
        if let Some(stopped) = self.stopped_at.take() {
            self.stopped_before += now.since(stopped);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(n: u64) -> Moment {
        Moment::after(Duration::from_secs(n))
    }

    #[test]
    fn working_time_stands_still_while_stopped() {
        let mut time = WorkingTime::default();
        time.stop(second(10));
        time.stop(second(15));
        assert_eq!(time.at(second(100)), second(10));
        assert_eq!(time.reached(second(12)), None);
        time.resume(second(100));
        time.resume(second(110));
        assert_eq!(time.at(second(101)), second(11));
        assert_eq!(time.reached(second(12)), Some(second(102)));
    }
}
