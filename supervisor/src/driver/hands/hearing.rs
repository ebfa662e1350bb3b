//! What workers say and how they end, as events for the pool.

use super::Hands;
use crate::death::{self, Departure, Evidence};
use crate::driver::Audience;
use crate::link::{Ended, Heard, News};
use crate::pool::{Cause, Event, Finding, Moment, WorkerId};
use crate::stage;
use crate::sys::cgroup::Leaf;
use pressroom_shared::{
    BUILD_ID, FailureKind, Outcome, PROTOCOL, Ready, ToSupervisor, words_of_last_job,
};
use std::os::unix::process::ExitStatusExt;

impl Hands {
    /// What a worker said, as an event; `None` if it means nothing to the pool.
    pub(in crate::driver) fn hear(
        &mut self,
        now: Moment,
        heard: Heard,
        audience: &mut impl Audience,
    ) -> Option<Event> {
        let Heard { worker, news } = heard;
        match news {
            News::Message(message) => Some(self.on_message(now, worker, message, audience)),
            News::Nonsense(why) => {
                audience.mishap(worker, &why);
                Some(Event::Misbehaved(worker))
            }
            News::Exited(ended) => self.on_exited(worker, &ended, audience),
        }
    }

    fn on_message(
        &mut self,
        now: Moment,
        worker: WorkerId,
        message: ToSupervisor,
        audience: &mut impl Audience,
    ) -> Event {
        match message {
            ToSupervisor::Ready(ready) => self.on_ready(worker, ready, audience),
            ToSupervisor::Started(started) => {
                if let Some(charge) = self.charges.get_mut(&started.id) {
                    charge.started = Some(now);
                    audience.started(worker, &charge.task);
                }
                Event::Started(worker, started.id)
            }
            ToSupervisor::Done(done) => {
                audience.idle(worker);
                let event = Event::Done {
                    worker,
                    job: done.id,
                    finding: finding(&done.outcome),
                    rss: done.rss,
                };
                self.in_hand = Some(*done);
                event
            }
        }
    }

    /// A worker of another build would misread every message after this one.
    fn on_ready(&mut self, worker: WorkerId, ready: Ready, audience: &mut impl Audience) -> Event {
        if ready.protocol != PROTOCOL || ready.build != BUILD_ID {
            self.start_trouble = Some(format!(
                "a worker says it is {}, not {BUILD_ID}",
                ready.build
            ));
            return Event::Misbehaved(worker);
        }
        if !self.greeted {
            self.greeted = true;
            audience.ready(&ready.enforced);
        }
        Event::Ready(worker)
    }

    fn on_exited(
        &mut self,
        worker: WorkerId,
        ended: &Ended,
        audience: &mut impl Audience,
    ) -> Option<Event> {
        audience.idle(worker);
        if self.seats.get(&worker.seat)?.worker != worker {
            return None;
        }
        let seated = self.seats.remove(&worker.seat)?;
        let death = death::verdict(&Evidence {
            exit: exit_of(ended),
            killed: seated.killed,
            words: words_of_last_job(&ended.words),
            cgroup: seated.leaf.as_ref().map(Leaf::counters),
        });
        if !matches!(death.cause, Cause::Left | Cause::Stopped) {
            audience.mishap(worker, &death.what);
            self.start_trouble = Some(death.what.clone());
        }
        let cause = death.cause;
        self.last_deaths.insert(worker.seat, (death, seated.cap));
        if let Some(stage) = self.stages.get_mut(&worker) {
            stage.gone = true;
        }
        self.clear_stage(worker);
        Some(Event::Exited(worker, cause))
    }

    pub(super) fn clear_stage(&mut self, worker: WorkerId) {
        let over = |stage: &super::Stage| stage.gone && stage.unrecorded == 0;
        if self.stages.get(&worker).is_some_and(over) {
            self.stages.remove(&worker);
            // What cannot be removed now is swept at the end, or by the next run.
            let _ = stage::remove(&self.setup.output, worker.seat, worker.incarnation);
        }
    }
}

fn exit_of(ended: &Ended) -> Departure {
    match ended.status.map(|status| (status.code(), status.signal())) {
        Some((Some(code), _)) => Departure::Code(code),
        Some((None, Some(signal))) => Departure::Signal(signal),
        Some((None, None)) | None => Departure::Unknown,
    }
}

fn finding(outcome: &Outcome) -> Finding {
    match outcome {
        Outcome::Saved(_) | Outcome::Kept(_) => Finding::Output,
        Outcome::Failed(failed) => match failed.kind {
            FailureKind::MemoryCap => Finding::MemoryCap,
            FailureKind::Changed => Finding::Changed,
            FailureKind::Empty
            | FailureKind::NotAnImage
            | FailureKind::Corrupt
            | FailureKind::Unsupported
            | FailureKind::TooLarge
            | FailureKind::HostMemory
            | FailureKind::Timeout
            | FailureKind::Crashed
            | FailureKind::Killed
            | FailureKind::SandboxViolation
            | FailureKind::Protocol
            | FailureKind::Unreadable
            | FailureKind::Vanished
            | FailureKind::Io
            | FailureKind::DiskFull
            | FailureKind::NameTooLong
            | FailureKind::Collision
            | FailureKind::OutputExists
            | FailureKind::Verify => Finding::Failed,
        },
    }
}
