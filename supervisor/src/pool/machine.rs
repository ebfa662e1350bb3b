//! The machine: what happened goes in, what to do comes out. No I/O, no clock, no tokio.
//!
//! This file holds the doors and what each event means; `dispatch.rs` decides who gets the next job, `fate.rs` what
//! becomes of one, `ending.rs` how a run comes to its end.

use super::budget::Budgets;
use super::command::{CannotGoOn, Command, Finish, KillReason, Ruling, StopReason};
use super::event::{Cause, Event, Finding, WorkerId};
use super::moment::{Moment, WorkingTime};
use super::policy::{Cap, Policy};
use super::queue::Queue;
use super::seat::{Phase, Remains, Seat};
use pressroom_shared::{JobId, SeatId};
use std::collections::{HashMap, VecDeque};

/// Decides which worker does which job, and what a death means.
///
/// Tell it what happens with [`Machine::handle`], then carry out what [`Machine::poll`] returns until it returns
/// nothing, sleep no longer than [`Machine::next_deadline`], and tell it [`Event::Tick`] when time has passed.
/// The same events at the same moments give the same commands.
#[derive(Debug)]
pub struct Machine {
    pub(super) policy: Policy,
    pub(super) time: WorkingTime,
    pub(super) seats: Vec<Seat>,
    pub(super) queue: Queue,
    pub(super) tickets: HashMap<JobId, Ticket>,
    pub(super) recording: usize,
    /// Failures among the records on their way.
    pub(super) failing: u64,
    pub(super) budgets: Budgets,
    pub(super) walk_done: bool,
    pub(super) stopping: Option<Stopping>,
    pub(super) recorder_lost: bool,
    /// Whether one image at a time is all the system bears.
    pub(super) memory_low: bool,
    pub(super) finished: bool,
    pub(super) tally: Tally,
    pub(super) commands: VecDeque<Command>,
}

/// What the machine remembers about a job that is not over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ticket {
    /// Workers that died on it.
    pub(super) deaths: u8,
    /// Workers that died before they began it.
    pub(super) returns: u8,
    /// Whether its source changed once already.
    pub(super) reexamined: bool,
    /// Which worker may have it.
    pub(super) lane: Lane,
    /// Memory it gets.
    pub(super) cap: Cap,
    /// Whether its record is on its way.
    pub(super) recording: bool,
    /// Whether that record is one of a failure.
    pub(super) failing: bool,
}

/// Which worker may have a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// Any.
    Open,
    /// One that has done nothing else.
    Fresh,
    /// One while no other has a job.
    Alone,
}

/// A run that was asked to end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stopping {
    /// The strongest reason so far.
    pub(super) reason: StopReason,
    /// Whether workers are killed rather than waited for.
    pub(super) kill: bool,
    /// When waiting becomes killing.
    pub(super) until: Moment,
}

/// Counts that limits are compared with.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Records that are durable.
    pub(super) recorded: u64,
    /// Failures among them.
    pub(super) failed: u64,
    /// Failures on a full disk since the last success.
    pub(super) disk_full: u32,
}

impl Machine {
    /// A machine with every seat vacant and nothing found.
    pub fn new(policy: Policy) -> Self {
        let seats = (0..policy.seats).map(|n| Seat::new(SeatId(n))).collect();
        Self {
            policy,
            time: WorkingTime::default(),
            seats,
            queue: Queue::default(),
            tickets: HashMap::new(),
            recording: 0,
            failing: 0,
            budgets: Budgets::default(),
            walk_done: false,
            stopping: None,
            recorder_lost: false,
            memory_low: false,
            finished: false,
            tally: Tally::default(),
            commands: VecDeque::new(),
        }
    }

    /// What to do next; `None` until something else happens.
    pub fn poll(&mut self) -> Option<Command> {
        self.commands.pop_front()
    }

    /// Whether the source should be asked for another image: the queue has room, so a million files stay outside.
    pub fn wants_more(&self) -> bool {
        !self.walk_done && self.queue.waiting() < self.policy.queue_limit
    }

    /// The moment at which [`Event::Tick`] must be told at the latest.
    pub fn next_deadline(&self) -> Option<Moment> {
        if self.finished {
            return None;
        }
        let seats = self.seats.iter().filter_map(|s| s.deadline(&self.policy));
        let stop = match self.stopping {
            Some(stopping) => (!stopping.kill).then_some(stopping.until),
            None => self.policy.run_for.map(Moment::after),
        };
        seats.chain(stop).min().and_then(|at| self.time.reached(at))
    }

    /// Jobs being computed now, and since when (in working time).
    pub fn computing(&self) -> impl Iterator<Item = (SeatId, JobId, Moment)> {
        self.seats.iter().filter_map(|seat| {
            let (job, since) = seat.computing()?;
            Some((seat.worker().seat, job, since))
        })
    }

    /// Something happened.
    pub fn handle(&mut self, now: Moment, event: Event) {
        if self.finished {
            return;
        }
        self.on_event(now, event);
        let now = self.time.at(now);
        self.stop_at_limits(now);
        self.dispatch(now);
        self.finish_if_over();
    }

    fn on_event(&mut self, wall: Moment, event: Event) {
        let now = self.time.at(wall);
        match event {
            Event::Found(job) => self.on_found(job),
            Event::WalkDone => self.walk_done = true,
            Event::SpawnFailed(worker) => self.on_spawn_failed(now, worker),
            Event::Ready(worker) => self.on_ready(now, worker),
            Event::Started(worker, job) => self.on_started(now, worker, job),
            Event::Done {
                worker,
                job,
                finding,
                rss,
            } => self.on_done(now, worker, job, finding, rss),
            Event::Misbehaved(worker) => self.kill(now, worker, KillReason::Misbehaved),
            Event::OverMemory(worker) => self.kill(now, worker, KillReason::MemoryCap),
            Event::Exited(worker, cause) => self.on_exited(now, worker, cause),
            Event::Recorded(job, recorded) => self.on_recorded(job, recorded),
            Event::Refused(recorded) => self.count(recorded),
            Event::RecorderLost => self.on_recorder_lost(now),
            Event::Stop(level) => self.stop(now, level, StopReason::Asked),
            Event::Tick => self.expire(now),
            Event::MemoryLow => self.memory_low = true,
            Event::MemoryEnough => self.memory_low = false,
            Event::Paused => self.time.stop(wall),
            Event::Resumed => self.time.resume(wall),
        }
    }

    fn on_found(&mut self, job: JobId) {
        let ticket = Ticket {
            deaths: 0,
            returns: 0,
            reexamined: false,
            lane: Lane::Open,
            cap: Cap::Usual,
            recording: false,
            failing: false,
        };
        let known = self.tickets.insert(job, ticket);
        debug_assert!(known.is_none(), "{job} was found twice");
        if self.stopping.is_some() {
            self.report(job, None, Ruling::Interrupted);
        } else {
            self.queue.push(job);
        }
    }

    fn on_spawn_failed(&mut self, now: Moment, worker: WorkerId) {
        let Some(seat) = self.current(worker) else {
            return;
        };
        let remains = seat.vacate();
        self.bad_start(now, worker.seat, Cause::CannotStart);
        self.release(worker.seat, remains, Cause::CannotStart);
    }

    fn on_ready(&mut self, now: Moment, worker: WorkerId) {
        let Some(seat) = self.current(worker) else {
            return;
        };
        match seat.phase {
            Phase::Starting { .. } => {
                seat.phase = Phase::Live;
                seat.greeted = true;
                self.budgets.greeted();
            }
            Phase::Live => self.kill(now, worker, KillReason::Misbehaved),
            Phase::Closing { .. } | Phase::Dying { .. } => seat.greeted = true,
            Phase::WrittenOff | Phase::Vacant | Phase::Cooling { .. } => {}
        }
    }

    fn on_started(&mut self, now: Moment, worker: WorkerId, job: JobId) {
        let Some(seat) = self.current(worker) else {
            return;
        };
        if !seat.begin(now, job) {
            self.kill(now, worker, KillReason::Misbehaved);
        }
    }

    /// An answer counts as long as the process has not exited, even if it was killed meanwhile: the result is there.
    /// Only one that was killed for breaking the protocol is believed no more.
    fn on_done(&mut self, now: Moment, worker: WorkerId, job: JobId, finding: Finding, rss: u64) {
        let (recycle_after, recycle_rss) = (self.policy.recycle_after, self.policy.recycle_rss);
        let Some(seat) = self.current(worker) else {
            return;
        };
        let distrusted = matches!(
            seat.phase,
            Phase::Dying {
                reason: KillReason::Misbehaved,
                ..
            }
        );
        if distrusted {
            return;
        }
        if !seat.end(now, job) {
            self.kill(now, worker, KillReason::Misbehaved);
            return;
        }
        seat.retiring |= seat.served >= recycle_after || rss > recycle_rss;
        self.budgets.job_done();
        self.on_answer(worker, job, finding);
    }

    /// Only here a seat becomes free.
    fn on_exited(&mut self, now: Moment, worker: WorkerId, cause: Cause) {
        let Some(seat) = self.current(worker) else {
            return;
        };
        let remains = seat.vacate();
        match remains.phase {
            Phase::Starting { .. } => self.bad_start(now, worker.seat, cause),
            Phase::Live => self.death(now, worker.seat, &remains, cause),
            Phase::Dying { reason, .. } => match reason {
                KillReason::Stopped | KillReason::NeverLeft => {}
                KillReason::NeverReady => self.bad_start(now, worker.seat, cause),
                KillReason::NeverStarted
                | KillReason::Timeout
                | KillReason::MemoryCap
                | KillReason::Misbehaved => self.death(now, worker.seat, &remains, cause),
            },
            Phase::Closing { .. } | Phase::WrittenOff | Phase::Vacant | Phase::Cooling { .. } => {}
        }
        self.release(worker.seat, remains, cause);
    }

    /// A death on a job blames the job; one without spends a budget. A worker that has a job and did not begin it yet is
    /// not idle, unless no worker ever did one: then they all may die of being given work.
    fn death(&mut self, now: Moment, seat: SeatId, remains: &Remains, cause: Cause) {
        let at_work =
            remains.computing().is_some() || (self.budgets.fruitful() && !remains.held.is_empty());
        if !remains.greeted {
            self.bad_start(now, seat, cause);
        } else if !at_work && self.budgets.idle_death(now, &self.policy) {
            self.cannot_go_on(now, CannotGoOn::IdleDeaths);
        }
    }

    fn bad_start(&mut self, now: Moment, seat: SeatId, cause: Cause) {
        let in_a_row = self.budgets.bad_start(cause);
        let until = now + self.policy.rest_after(in_a_row);
        self.seats[usize::from(seat.0)].phase = Phase::Cooling { until };
        let some_live = self.seats.iter().any(|seat| seat.phase == Phase::Live);
        if self.budgets.starts_are_hopeless(&self.policy) && !some_live {
            self.cannot_go_on(now, CannotGoOn::BadStarts);
        }
    }

    /// The seat of `worker`, if it is the process that sits there.
    pub(super) fn current(&mut self, worker: WorkerId) -> Option<&mut Seat> {
        let seat = self.seats.get_mut(usize::from(worker.seat.0))?;
        (seat.is_occupied() && seat.worker() == worker).then_some(seat)
    }

    /// Asks for a kill, once per process.
    pub(super) fn kill(&mut self, now: Moment, worker: WorkerId, reason: KillReason) {
        let until = now + self.policy.reap_timeout;
        let Some(seat) = self.current(worker) else {
            return;
        };
        match seat.phase {
            Phase::Starting { .. } | Phase::Live | Phase::Closing { .. } => {
                seat.phase = Phase::Dying { reason, until };
                self.commands.push_back(Command::Kill(worker, reason));
            }
            Phase::Dying { .. } | Phase::WrittenOff | Phase::Vacant | Phase::Cooling { .. } => {}
        }
    }

    fn finish_if_over(&mut self) {
        let alive = self
            .seats
            .iter()
            .any(|seat| seat.is_occupied() && seat.phase != Phase::WrittenOff);
        if alive || !self.walk_done || !self.tickets.is_empty() {
            return;
        }
        self.finished = true;
        let finish = match self.stopping {
            None => Finish::Complete,
            Some(stopping) => Finish::Stopped(stopping.reason),
        };
        self.commands.push_back(Command::Finish(finish));
    }
}
