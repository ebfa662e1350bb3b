//! What becomes of a job: an answer, a death, a record. Which worker it was means nothing here.

use super::command::{Command, Ruling};
use super::event::{Cause, Finding, Recorded, WorkerId};
use super::machine::{Lane, Machine};
use super::policy::{Blame, Cap};
use super::seat::Remains;
use pressroom_shared::{JobId, SeatId};

impl Machine {
    /// A worker has answered for a job it held.
    pub(super) fn on_answer(&mut self, worker: WorkerId, job: JobId, finding: Finding) {
        let oversize_alone = self.policy.oversize_alone;
        let Some(ticket) = self.tickets.get_mut(&job) else {
            return;
        };
        match finding {
            Finding::Output => {
                let deaths = ticket.deaths;
                self.commands.push_back(Command::Publish {
                    job,
                    worker,
                    deaths,
                });
                self.settle(job);
            }
            Finding::Changed if !ticket.reexamined => {
                ticket.reexamined = true;
                self.commands.push_back(Command::Reexamine(job));
                self.requeue(job, worker.seat);
            }
            Finding::MemoryCap if oversize_alone && ticket.cap == Cap::Usual => {
                ticket.cap = Cap::Big;
                ticket.lane = Lane::Alone;
                self.requeue(job, worker.seat);
            }
            Finding::Failed | Finding::Changed | Finding::MemoryCap => {
                self.report(job, Some(worker.seat), Ruling::Told);
            }
        }
    }

    /// Decides about the jobs that a process leaves behind: the one being computed may be to blame, the others are not.
    /// Nor is any if the process was asked to go: a prefetched job it had just begun did not end it.
    pub(super) fn release(&mut self, seat: SeatId, remains: Remains, cause: Cause) {
        let computing = remains.computing().filter(|_| !remains.was_let_go());
        for held in remains.held.into_iter().rev() {
            if Some(held.job) == computing {
                self.blame(seat, held.job, cause);
            } else if computing.is_some() {
                self.put_back(seat, held.job);
            } else {
                self.give_back(seat, held.job, cause);
            }
        }
    }

    fn blame(&mut self, seat: SeatId, job: JobId, cause: Cause) {
        let (retries, oversize_alone) = (self.policy.retries, self.policy.oversize_alone);
        let Some(ticket) = self.tickets.get_mut(&job) else {
            return;
        };
        let guilty = Ruling::Died(cause);
        let again = ticket.deaths < retries;
        match cause.blame() {
            Blame::None => return self.give_back(seat, job, cause),
            Blame::TryFresh if again => ticket.lane = ticket.lane.or_fresh(ticket.cap),
            Blame::TryAlone if again => ticket.lane = Lane::Alone,
            Blame::NeedsMemory if oversize_alone && ticket.cap == Cap::Usual => {
                ticket.cap = Cap::Big;
                ticket.lane = Lane::Alone;
            }
            Blame::Guilty | Blame::NeedsMemory | Blame::TryFresh | Blame::TryAlone => {
                ticket.deaths = ticket.deaths.saturating_add(1);
                return self.report(job, Some(seat), guilty);
            }
        }
        ticket.deaths = ticket.deaths.saturating_add(1);
        self.requeue(job, seat);
    }

    /// A job whose worker died before it began it and of no other job: that counts, or it could come back for ever.
    fn give_back(&mut self, seat: SeatId, job: JobId, cause: Cause) {
        let return_limit = self.policy.return_limit;
        let Some(ticket) = self.tickets.get_mut(&job) else {
            return;
        };
        ticket.returns += 1;
        if ticket.returns > return_limit && self.stopping.is_none() {
            return self.report(job, Some(seat), Ruling::Died(cause));
        }
        self.put_back(seat, job);
    }

    /// A job that is tried again as if nothing had been. One that waited behind a job that killed its worker comes here
    /// directly, however often: each time it is the other that used up a try.
    fn put_back(&mut self, seat: SeatId, job: JobId) {
        let Some(ticket) = self.tickets.get(&job) else {
            return;
        };
        if ticket.lane == Lane::Open && self.stopping.is_none() {
            self.queue.give_back(job);
        } else {
            self.requeue(job, seat);
        }
    }

    /// The job waits again, in its lane; if the run is ending, that is the end of it.
    fn requeue(&mut self, job: JobId, seat: SeatId) {
        if self.stopping.is_some() {
            return self.report(job, Some(seat), Ruling::Interrupted);
        }
        let Some(ticket) = self.tickets.get(&job) else {
            return;
        };
        match ticket.lane {
            Lane::Open => self.queue.push(job),
            Lane::Fresh => self.queue.push_fresh(job),
            Lane::Alone => self.queue.push_alone(job, ticket.cap),
        }
    }

    pub(super) fn report(&mut self, job: JobId, seat: Option<SeatId>, verdict: Ruling) {
        let deaths = self.tickets.get(&job).map_or(0, |ticket| ticket.deaths);
        self.commands.push_back(Command::Report {
            job,
            verdict,
            seat,
            deaths,
        });
        self.settle(job);
        let ticket = self.tickets.get_mut(&job);
        if let (Some(ticket), Ruling::Told | Ruling::Died(_)) = (ticket, verdict) {
            ticket.failing = true;
            self.failing += 1;
        }
    }

    /// The job's one terminal record is on its way.
    fn settle(&mut self, job: JobId) {
        if self.recorder_lost {
            self.tickets.remove(&job);
        } else if let Some(ticket) = self.tickets.get_mut(&job) {
            debug_assert!(!ticket.recording, "{job} was reported twice");
            ticket.recording = true;
            self.recording += 1;
        }
    }

    /// A record is durable.
    pub(super) fn on_recorded(&mut self, job: JobId, recorded: Recorded) {
        let Some(ticket) = self.tickets.get(&job).filter(|ticket| ticket.recording) else {
            return;
        };
        self.failing -= u64::from(ticket.failing);
        self.tickets.remove(&job);
        self.recording -= 1;
        self.count(recorded);
    }

    /// A record counts towards the limits, whether its input got as far as a worker or not.
    pub(super) fn count(&mut self, recorded: Recorded) {
        self.tally.recorded += 1;
        match recorded {
            Recorded::Fine => self.tally.disk_full = 0,
            Recorded::Failed => self.tally.failed += 1,
            Recorded::DiskFull => {
                self.tally.failed += 1;
                self.tally.disk_full += 1;
            }
        }
    }
}

impl Lane {
    /// The lane of a job that must be tried in a process that has done nothing else: big jobs run alone anyway.
    fn or_fresh(self, cap: Cap) -> Self {
        match cap {
            Cap::Usual => Self::Fresh,
            Cap::Big => Self::Alone,
        }
    }
}
