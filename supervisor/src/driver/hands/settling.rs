//! Jobs on their way to the recorder and back.

use super::{Hands, staged_name};
use crate::death;
use crate::driver::quarantine;
use crate::pool::{Cause, Event, Moment, Recorded, Ruling, WorkerId};
use crate::recorder::{Publish, Receipt, Request};
use crate::source;
use crate::stage;
use crate::task::{Ending, Record, Task};
use pressroom_shared::{Done, FailureKind, JobId, Outcome, SeatId};
use std::path::PathBuf;

impl Hands {
    /// The answer in hand goes to the recorder, to be published.
    pub(super) fn publish(&mut self, now: Moment, job: JobId, worker: WorkerId, deaths: u8) {
        let (Some(charge), Some(done)) = (self.charges.remove(&job), self.in_hand.take()) else {
            return;
        };
        let staging = stage::folder(&self.setup.output, worker.seat, worker.incarnation);
        let publish = Publish {
            started_ms: millis(charge.started.unwrap_or(now)),
            ended_ms: millis(now),
            task: charge.task,
            staged: staging.join(staged_name(job)),
            done,
            deaths,
            seat: Some(worker.seat),
        };
        if self.setup.dry_run {
            let _ = std::fs::remove_file(&publish.staged);
            return self.record(Request::Record(record_of(publish)));
        }
        if let Some(stage) = self.stages.get_mut(&worker) {
            stage.unrecorded += 1;
            self.publishing.insert(job, worker);
        }
        self.record(Request::Publish(publish));
    }

    /// A job without an output goes to the recorder.
    pub(super) fn report(
        &mut self,
        now: Moment,
        job: JobId,
        verdict: Ruling,
        seat: Option<SeatId>,
        deaths: u8,
    ) {
        let ending = match verdict {
            Ruling::Told => match self.in_hand.take() {
                Some(done) => return self.report_told(now, job, seat, deaths, done),
                None => Ending::Interrupted,
            },
            Ruling::Died(cause) => Ending::Failed(self.failed(cause, seat)),
            Ruling::Interrupted => Ending::Interrupted,
        };
        let Some(charge) = self.charges.remove(&job) else {
            return;
        };
        if let Ruling::Died(_) = verdict {
            self.quarantine(&charge.task);
        }
        let started = charge.started.unwrap_or(now);
        self.record(Request::Record(Record {
            task: charge.task,
            ending,
            format: None,
            cpu_us: 0,
            wall_us: u64::try_from(now.since(started).as_micros()).unwrap_or(u64::MAX),
            peak_rss: 0,
            deaths,
            seat,
            started_ms: millis(started),
            ended_ms: millis(now),
        }));
    }

    /// A favour: the row in the ledger names the file all the same.
    fn quarantine(&mut self, task: &Task) {
        let Some(folder) = self
            .setup
            .quarantine
            .as_ref()
            .filter(|_| !self.setup.dry_run)
        else {
            return;
        };
        let source = task.source.display();
        match quarantine::put(folder, task) {
            Ok(Some(link)) => self.notes.push(format!(
                "{source} ended its worker; a link to it is {}",
                link.display()
            )),
            Ok(None) => {}
            Err(error) => self.notes.push(format!(
                "{source} ended its worker, but no link to it could be made in {}: {error}",
                folder.display()
            )),
        }
    }

    fn report_told(
        &mut self,
        now: Moment,
        job: JobId,
        seat: Option<SeatId>,
        deaths: u8,
        done: Done,
    ) {
        let Some(charge) = self.charges.remove(&job) else {
            return;
        };
        self.record(Request::Record(record_of(Publish {
            started_ms: millis(charge.started.unwrap_or(now)),
            ended_ms: millis(now),
            task: charge.task,
            staged: PathBuf::new(),
            done,
            deaths,
            seat,
        })));
    }

    fn failed(&self, cause: Cause, seat: Option<SeatId>) -> pressroom_shared::Failed {
        let seconds = u64::from(self.setup.limits.job_seconds);
        let last = seat.and_then(|seat| self.last_deaths.get(&seat));
        match last {
            Some((death, cap)) if death.cause == cause => {
                death::failed(cause, &death.what, *cap, seconds)
            }
            // A process that was written off leaves no evidence behind.
            Some(_) | None => death::failed(
                cause,
                "the worker could not be ended",
                self.setup.caps.usual,
                seconds,
            ),
        }
    }

    /// The image will be tried as it is now. Where it is gone, the worker will say so.
    pub(super) fn reexamine(&mut self, job: JobId) {
        if let Some(charge) = self.charges.get_mut(&job)
            && let Ok(metadata) = std::fs::metadata(&charge.task.source)
        {
            charge.task.identity = source::identity(&metadata);
        }
    }

    /// A row is safe.
    pub(in crate::driver) fn recorded(&mut self, recorded: &Receipt) -> Event {
        self.unrecorded = self.unrecorded.saturating_sub(1);
        self.sent.remove(&recorded.job());
        if let Some(worker) = self.publishing.remove(&recorded.job()) {
            if let Some(stage) = self.stages.get_mut(&worker) {
                stage.unrecorded -= 1;
            }
            self.clear_stage(worker);
        }
        let noted = match recorded.ending() {
            Ending::Failed(failed) if failed.kind == FailureKind::DiskFull => Recorded::DiskFull,
            Ending::Failed(_) => Recorded::Failed,
            Ending::Saved(_) | Ending::Kept(_) | Ending::Skipped(_) | Ending::Interrupted => {
                Recorded::Fine
            }
        };
        if self.refused.remove(&recorded.job()) {
            return Event::Refused(noted);
        }
        Event::Recorded(recorded.job(), noted)
    }
}

/// The record of an input whose own could not be made durable.
pub(super) fn left_over(task: Task) -> Record {
    Record {
        task,
        ending: Ending::Interrupted,
        format: None,
        cpu_us: 0,
        wall_us: 0,
        peak_rss: 0,
        deaths: 0,
        seat: None,
        started_ms: 0,
        ended_ms: 0,
    }
}

fn millis(moment: Moment) -> u64 {
    u64::try_from(moment.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// The record of an answer that is not published.
fn record_of(publish: Publish) -> Record {
    let (ending, format) = match publish.done.outcome {
        Outcome::Saved(saved) => {
            let format = saved.format;
            (Ending::Saved(saved), Some(format))
        }
        Outcome::Kept(kept) => {
            let format = kept.format;
            (Ending::Kept(kept), Some(format))
        }
        Outcome::Failed(failed) => (Ending::Failed(failed), None),
    };
    Record {
        task: publish.task,
        ending,
        format,
        cpu_us: publish.done.cpu_us,
        wall_us: publish.done.wall_us,
        peak_rss: publish.done.peak_rss,
        deaths: publish.deaths,
        seat: publish.seat,
        started_ms: publish.started_ms,
        ended_ms: publish.ended_ms,
    }
}
