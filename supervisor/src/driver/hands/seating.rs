//! Processes: started, given their instructions and their jobs, written off.

use super::{Hands, Seated, Stage, Then, staged_name};
use crate::link::Link;
use crate::pool::{Cap, Event, WorkerId};
use crate::stage;
use crate::sys;
use pressroom_shared::{
    BUILD_ID, Confinement, Go, Job, JobId, Limits, PROTOCOL, ToWorker, WirePath,
};
use std::path::PathBuf;

impl Hands {
    /// Starts a process; one that cannot be started is told at once.
    pub(super) fn spawn(&mut self, worker: WorkerId, cap: Cap) -> Then {
        let cap = match cap {
            Cap::Usual => self.setup.caps.usual,
            Cap::Big => self.setup.caps.big,
        };
        match self.try_spawn(worker, cap) {
            Ok(seated) => {
                self.stages.insert(worker, Stage::default());
                self.seats.insert(worker.seat, seated);
                Then::Nothing
            }
            Err(error) => {
                let _ = stage::remove(&self.setup.output, worker.seat, worker.incarnation);
                let why = format!("{error:#}");
                self.start_trouble = Some(why.clone());
                Then::SpawnFailed(worker, why)
            }
        }
    }

    fn try_spawn(&self, worker: WorkerId, cap: u64) -> anyhow::Result<Seated> {
        let staging = stage::prepare(&self.setup.output, worker.seat, worker.incarnation)?;
        let link = Link::start(&self.setup.launcher, worker, self.heard.clone())?;
        let leaf = match (&self.setup.cgroup, link.pid()) {
            (Some(group), Some(pid)) => {
                let name = format!("worker-{}-{}", worker.seat.0, worker.incarnation.0);
                let leaf = group.leaf(&name, cap)?;
                leaf.adopt(pid)?;
                Some(leaf)
            }
            (None, _) | (_, None) => None,
        };
        self.yield_priority(&link);
        link.send(&ToWorker::Go(Box::new(self.go(worker, cap, staging))))?;
        Ok(Seated {
            worker,
            link,
            cap,
            killed: None,
            leaf,
        })
    }

    /// Workers come after everything else where the system is short of something. Both are favours, not needs.
    fn yield_priority(&self, link: &Link) {
        let Some(pid) = link.pid() else {
            return;
        };
        let _ = sys::prefer_as_victim(pid);
        if let Some(priority) = self.setup.priority {
            let _ = sys::stand_back(pid, priority);
        }
    }

    fn go(&self, worker: WorkerId, cap: u64, staging: PathBuf) -> Go {
        Go {
            protocol: PROTOCOL,
            build: BUILD_ID.to_owned(),
            seat: worker.seat,
            incarnation: worker.incarnation,
            settings: self.setup.settings.clone(),
            in_place: self.setup.in_place,
            limits: Limits {
                memory: cap,
                ..self.setup.limits.clone()
            },
            confinement: Confinement {
                mode: self.setup.sandbox,
                read: self
                    .setup
                    .readable
                    .iter()
                    .map(|path| WirePath::from(path.as_path()))
                    .collect(),
                staging: WirePath::from(staging),
            },
        }
    }

    /// Hands a job to a worker.
    pub(super) fn send(&mut self, worker: WorkerId, job: JobId) -> Then {
        let Some(charge) = self.charges.get_mut(&job) else {
            return Then::Nothing;
        };
        charge.started = None;
        let message = ToWorker::Job(Job {
            id: job,
            source: WirePath::from(charge.task.source.as_path()),
            identity: charge.task.identity,
            staged: WirePath::from(staged_name(job)),
            copy_kept: !self.setup.in_place && !self.setup.dry_run,
        });
        match self.seated(worker).map(|seated| seated.link.send(&message)) {
            Some(Ok(())) | None => Then::Nothing,
            // A path is at most 4,096 bytes, so a job always fits into a frame; should that ever change, the worker that
            // waits for it in vain is not to blame and the job comes back.
            Some(Err(_)) => Then::Tell(Event::Misbehaved(worker)),
        }
    }

    /// Remembers a process that does not end.
    pub(super) fn write_off(&mut self, worker: WorkerId) {
        if let Some(pid) = self.seated(worker).and_then(|seated| seated.link.pid()) {
            self.unkillable.push(pid);
        }
    }
}
