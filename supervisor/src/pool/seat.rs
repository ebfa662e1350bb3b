//! One worker's life, as a place that processes come to and leave. Only an exit frees it.

use super::command::KillReason;
use super::event::WorkerId;
use super::moment::Moment;
use super::policy::{Cap, Policy};
use pressroom_shared::{Incarnation, JobId, SeatId};
use std::collections::VecDeque;

/// Jobs a worker may hold: one computing, one prefetched.
pub(super) const WINDOW: usize = 2;

/// Where a seat stands; `mod.rs` has the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nobody sits here.
    Vacant,
    /// Nobody may sit here for a while: the last start went wrong.
    Cooling { until: Moment },
    /// Asked for, hello not heard.
    Starting { until: Moment },
    /// Working or waiting for work.
    Live,
    /// Input closed, exit awaited.
    Closing { until: Moment },
    /// Killed, exit awaited.
    Dying { reason: KillReason, until: Moment },
    /// Killed long ago and still not gone; nobody waits for it any more.
    WrittenOff,
}

/// A job that a worker holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Held {
    /// Which.
    pub(super) job: JobId,
    /// When the worker said that it began.
    pub(super) started: Option<Moment>,
}

/// A place for one process at a time.
#[derive(Debug)]
pub(super) struct Seat {
    id: SeatId,
    incarnation: Incarnation,
    /// Where it stands.
    pub(super) phase: Phase,
    /// Memory its process has.
    pub(super) cap: Cap,
    /// Whether its process ever said hello.
    pub(super) greeted: bool,
    /// Whether its process is to be replaced as soon as it holds nothing.
    pub(super) retiring: bool,
    /// Jobs its process ended.
    pub(super) served: u32,
    held: VecDeque<Held>,
    front_since: Moment,
}

/// What an exit leaves behind.
#[derive(Debug)]
pub(super) struct Remains {
    /// The phase it died in.
    pub(super) phase: Phase,
    /// Whether it ever said hello.
    pub(super) greeted: bool,
    /// What it held, in order.
    pub(super) held: VecDeque<Held>,
}

impl Remains {
    /// Whether it went because it was asked to: then its end says nothing about any image.
    pub(super) fn was_let_go(&self) -> bool {
        match self.phase {
            Phase::Closing { .. } => true,
            Phase::Dying { reason, .. } => match reason {
                KillReason::Stopped | KillReason::NeverLeft => true,
                KillReason::NeverReady
                | KillReason::NeverStarted
                | KillReason::Timeout
                | KillReason::MemoryCap
                | KillReason::Misbehaved => false,
            },
            Phase::Vacant
            | Phase::Cooling { .. }
            | Phase::Starting { .. }
            | Phase::Live
            | Phase::WrittenOff => false,
        }
    }

    /// The job it was computing.
    pub(super) fn computing(&self) -> Option<JobId> {
        let front = self.held.front()?;
        front.started.map(|_| front.job)
    }
}

impl Seat {
    /// An empty seat.
    pub(super) fn new(id: SeatId) -> Self {
        Self {
            id,
            incarnation: Incarnation(0),
            phase: Phase::Vacant,
            cap: Cap::Usual,
            greeted: false,
            retiring: false,
            served: 0,
            held: VecDeque::with_capacity(WINDOW),
            front_since: Moment::START,
        }
    }

    /// The process that sits here, or sat here last.
    pub(super) fn worker(&self) -> WorkerId {
        WorkerId {
            seat: self.id,
            incarnation: self.incarnation,
        }
    }

    /// Whether there is, or may be, a process.
    pub(super) fn is_occupied(&self) -> bool {
        match self.phase {
            Phase::Vacant | Phase::Cooling { .. } => false,
            Phase::Starting { .. }
            | Phase::Live
            | Phase::Closing { .. }
            | Phase::Dying { .. }
            | Phase::WrittenOff => true,
        }
    }

    /// Whether it was asked for and has not said hello.
    pub(super) fn is_starting(&self) -> bool {
        matches!(self.phase, Phase::Starting { .. })
    }

    /// Whether it may be given jobs, room aside.
    pub(super) fn is_open(&self, cap: Cap) -> bool {
        self.phase == Phase::Live && self.cap == cap && !self.retiring
    }

    /// Whether it may be given a job and has none.
    pub(super) fn is_idle(&self, cap: Cap) -> bool {
        self.is_open(cap) && self.held.is_empty()
    }

    /// Whether it may be given a job and its process has never had one.
    pub(super) fn is_fresh(&self, cap: Cap) -> bool {
        self.is_idle(cap) && self.served == 0
    }

    /// Jobs it holds.
    pub(super) fn load(&self) -> usize {
        self.held.len()
    }

    /// The job being computed, and since when.
    pub(super) fn computing(&self) -> Option<(JobId, Moment)> {
        let front = self.held.front()?;
        front.started.map(|started| (front.job, started))
    }

    /// A new process is asked for.
    pub(super) fn occupy(&mut self, now: Moment, cap: Cap, policy: &Policy) -> WorkerId {
        debug_assert_eq!(self.phase, Phase::Vacant, "a seat holds one process");
        self.incarnation = Incarnation(self.incarnation.0 + 1);
        self.cap = cap;
        self.greeted = false;
        self.retiring = false;
        self.served = 0;
        self.phase = Phase::Starting {
            until: now + policy.start_timeout,
        };
        self.worker()
    }

    /// A job was sent to the process.
    pub(super) fn take(&mut self, now: Moment, job: JobId) {
        if self.held.is_empty() {
            self.front_since = now;
        }
        self.held.push_back(Held { job, started: None });
    }

    /// The process says that it began `job`; false if it has no business to.
    pub(super) fn begin(&mut self, now: Moment, job: JobId) -> bool {
        match self.held.front_mut() {
            Some(front) if front.job == job && front.started.is_none() => {
                front.started = Some(now);
                true
            }
            Some(_) | None => false,
        }
    }

    /// The process says that it ended `job`; false if it has no business to.
    pub(super) fn end(&mut self, now: Moment, job: JobId) -> bool {
        if self.computing().is_none_or(|(front, _)| front != job) {
            return false;
        }
        self.held.pop_front();
        self.front_since = now;
        self.served += 1;
        true
    }

    /// What the process holds is taken away from it, because nobody waits for it any more.
    pub(super) fn strip(&mut self) -> Remains {
        Remains {
            phase: self.phase,
            greeted: self.greeted,
            held: std::mem::take(&mut self.held),
        }
    }

    /// The process is gone.
    pub(super) fn vacate(&mut self) -> Remains {
        let remains = self.strip();
        self.phase = Phase::Vacant;
        remains
    }

    /// When something must have happened here at the latest.
    pub(super) fn deadline(&self, policy: &Policy) -> Option<Moment> {
        match self.phase {
            Phase::Vacant | Phase::WrittenOff => None,
            Phase::Cooling { until }
            | Phase::Starting { until }
            | Phase::Closing { until }
            | Phase::Dying { until, .. } => Some(until),
            Phase::Live => self.held.front().map(|front| match front.started {
                Some(started) => started + policy.job_timeout,
                None => self.front_since + policy.take_up_timeout,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn live() -> Seat {
        let mut seat = Seat::new(SeatId(0));
        seat.occupy(Moment::START, Cap::Usual, &Policy::new(1));
        seat.phase = Phase::Live;
        seat
    }

    #[test]
    fn jobs_begin_and_end_in_order_and_once() {
        let mut seat = live();
        let now = Moment::START;
        seat.take(now, JobId(1));
        seat.take(now, JobId(2));
        assert!(!seat.end(now, JobId(1)), "not begun");
        assert!(!seat.begin(now, JobId(2)), "not its turn");
        assert!(seat.begin(now, JobId(1)));
        assert!(!seat.begin(now, JobId(1)), "begun already");
        assert!(!seat.end(now, JobId(2)), "another is computing");
        assert!(seat.end(now, JobId(1)));
        assert!(!seat.end(now, JobId(1)), "ended already");
        assert_eq!((seat.load(), seat.served), (1, 1));
    }

    #[test]
    fn the_clock_of_a_prefetched_job_runs_from_the_end_of_the_one_before() {
        let policy = Policy::new(1);
        let mut seat = live();
        let at = |s| Moment::after(Duration::from_secs(s));
        seat.take(at(0), JobId(1));
        assert_eq!(seat.deadline(&policy), Some(at(0) + policy.take_up_timeout));
        seat.begin(at(1), JobId(1));
        seat.take(at(2), JobId(2));
        assert_eq!(seat.deadline(&policy), Some(at(1) + policy.job_timeout));
        seat.end(at(50), JobId(1));
        assert_eq!(
            seat.deadline(&policy),
            Some(at(50) + policy.take_up_timeout)
        );
    }

    #[test]
    fn every_process_gets_a_number_of_its_own() {
        let mut seat = live();
        let first = seat.worker();
        seat.vacate();
        assert_ne!(seat.occupy(Moment::START, Cap::Big, &Policy::new(1)), first);
    }
}
