//! How a run comes to its end before everything is done: limits, deadlines, requests, and the tool's own failure.

use super::command::{CannotGoOn, Command, KillReason, Ruling, StopReason};
use super::event::{Cause, Stop};
use super::machine::{Machine, Stopping};
use super::moment::Moment;
use super::policy::MaxFail;
use super::seat::{Phase, Seat};

impl Machine {
    /// Ends the run; a second call can only make it quicker and its reason stronger.
    pub(super) fn stop(&mut self, now: Moment, level: Stop, reason: StopReason) {
        let kill = level == Stop::Kill;
        if let Some(stopping) = &mut self.stopping {
            stopping.reason = stopping.reason.max(reason);
            stopping.kill |= kill;
            return;
        }
        self.stopping = Some(Stopping {
            reason,
            kill,
            until: now + self.policy.grace,
        });
        if !self.walk_done {
            self.walk_done = true;
            self.commands.push_back(Command::StopWalk);
        }
        for job in self.queue.drain() {
            self.report(job, None, Ruling::Interrupted);
        }
    }

    /// The tool itself is at an end; nothing is worth waiting for.
    pub(super) fn cannot_go_on(&mut self, now: Moment, why: CannotGoOn) {
        self.stop(now, Stop::Kill, StopReason::CannotGoOn(why));
    }

    /// Nothing can be recorded any more, so nothing that waits for its record will get one.
    pub(super) fn on_recorder_lost(&mut self, now: Moment) {
        self.recorder_lost = true;
        self.recording = 0;
        self.failing = 0;
        self.tickets.retain(|_, ticket| !ticket.recording);
        self.cannot_go_on(now, CannotGoOn::RecorderLost);
    }

    /// Ends the run if a limit of the user's, or the disk, says so. A number of failures is reached by those whose records
    /// are still on their way to a slow disk, too; a share is one of what is recorded.
    pub(super) fn stop_at_limits(&mut self, now: Moment) {
        if self.tally.disk_full >= self.policy.disk_full_limit {
            self.stop(now, Stop::Drain, StopReason::DiskFull);
        }
        let (failed, recorded) = (self.tally.failed, self.tally.recorded);
        let too_many = self.policy.max_fail.is_some_and(|most| match most {
            MaxFail::Count(_) => most.reached(failed + self.failing, recorded),
            MaxFail::Permille(_) => most.reached(failed, recorded),
        });
        if too_many {
            self.stop(now, Stop::Drain, StopReason::MaxFail);
        }
    }

    /// Lets go of idle workers; the others when they have ended what they compute, or at once.
    pub(super) fn wind_down(&mut self, now: Moment) {
        let Some(stopping) = self.stopping else {
            return;
        };
        if stopping.kill {
            for index in 0..self.seats.len() {
                let worker = self.seats[index].worker();
                self.kill(now, worker, KillReason::Stopped);
            }
        } else {
            self.close_where(now, |seat| {
                seat.is_starting() || (seat.phase == Phase::Live && seat.computing().is_none())
            });
        }
    }

    /// Looks at every deadline.
    pub(super) fn expire(&mut self, now: Moment) {
        match &mut self.stopping {
            Some(stopping) => stopping.kill |= now >= stopping.until,
            None => {
                let over = self
                    .policy
                    .run_for
                    .is_some_and(|span| now.elapsed() >= span);
                if over {
                    self.stop(now, Stop::Drain, StopReason::RunFor);
                }
            }
        }
        for index in 0..self.seats.len() {
            let due = self.seats[index].deadline(&self.policy);
            if due.is_some_and(|due| now >= due) {
                self.expire_seat(now, index);
            }
        }
    }

    fn expire_seat(&mut self, now: Moment, index: usize) {
        let seat = &mut self.seats[index];
        let worker = seat.worker();
        match seat.phase {
            Phase::Vacant | Phase::WrittenOff => {}
            Phase::Cooling { .. } => seat.phase = Phase::Vacant,
            Phase::Starting { .. } => self.kill(now, worker, KillReason::NeverReady),
            Phase::Closing { .. } => self.kill(now, worker, KillReason::NeverLeft),
            Phase::Dying { reason, .. } => self.write_off(now, index, reason.into()),
            Phase::Live => {
                let reason = match seat.computing() {
                    Some(_) => KillReason::Timeout,
                    None => KillReason::NeverStarted,
                };
                self.kill(now, worker, reason);
            }
        }
    }

    /// A process that cannot be killed (it hangs in the kernel) must not hold up the run: its jobs are decided as if it
    /// were gone. Its seat stays taken until it really is.
    fn write_off(&mut self, now: Moment, index: usize, cause: Cause) {
        let seat = &mut self.seats[index];
        let worker = seat.worker();
        let remains = seat.strip();
        seat.phase = Phase::WrittenOff;
        self.commands.push_back(Command::WriteOff(worker));
        self.release(worker.seat, remains, cause);
        if self.seats.iter().all(is_lost) {
            self.cannot_go_on(now, CannotGoOn::NoSeatLeft);
        }
    }
}

fn is_lost(seat: &Seat) -> bool {
    seat.phase == Phase::WrittenOff
}

impl From<KillReason> for Cause {
    fn from(reason: KillReason) -> Self {
        match reason {
            KillReason::NeverReady => Self::CannotStart,
            KillReason::NeverStarted | KillReason::Timeout => Self::Timeout,
            KillReason::MemoryCap => Self::MemoryCap,
            KillReason::Misbehaved => Self::Protocol,
            KillReason::NeverLeft => Self::Left,
            KillReason::Stopped => Self::Stopped,
        }
    }
}
