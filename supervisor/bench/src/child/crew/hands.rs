//! Carries out what the pool asks for: starts, feeds, closes and kills worker processes, and keeps the figures.

use super::{cause, staging};
use crate::child::meter::{MemoryWatch, micros};
use crate::messages::{Answer, JobDone, Pictures};
use pressroom_shared::{
    BUILD_ID, Confinement, Done, Go, Identity, Job, JobId, Outcome, PROTOCOL, SandboxMode, SeatId,
    ToWorker, WirePath, words_of_last_job,
};
use pressroom_supervisor::link::{Ended, Heard, Launcher, Link};
use pressroom_supervisor::pool::{Cause, Command, Event, Finding, Recorded, WorkerId};
use rustix::process::{Pid, Signal, kill_process, setpriority_process};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tokio::sync::mpsc::Sender;

/// The hands and the figures.
pub(super) struct Hands<'a> {
    pictures: &'a Pictures,
    nice: u8,
    launcher: Launcher,
    heard: Sender<Heard>,
    memory: &'a MemoryWatch,
    links: HashMap<SeatId, (WorkerId, Link)>,
    greeted: HashSet<WorkerId>,
    begun: usize,
    died: Option<Instant>,
    answer: Answer,
}

impl<'a> Hands<'a> {
    pub(super) fn new(
        pictures: &'a Pictures,
        nice: u8,
        heard: Sender<Heard>,
        memory: &'a MemoryWatch,
    ) -> Self {
        Self {
            pictures,
            nice,
            launcher: Launcher::own(),
            heard,
            memory,
            links: HashMap::new(),
            greeted: HashSet::new(),
            begun: 0,
            died: None,
            answer: Answer::default(),
        }
    }

    pub(super) fn jobs(&self) -> usize {
        self.pictures.files.len()
    }

    pub(super) fn beat(&mut self, late_us: u64) {
        self.answer.late_us.push(late_us);
    }

    pub(super) fn into_answer(self) -> Answer {
        self.answer
    }

    /// A worker said something that is no message.
    pub(super) fn complain(&mut self, words: String) {
        self.answer.failure.get_or_insert(words);
    }

    /// A worker said hello.
    pub(super) fn said_hello(&mut self, worker: WorkerId) {
        self.greeted.insert(worker);
        if let Some(died) = self.died.take() {
            self.answer.replaced_us = Some(micros(died.elapsed()));
        }
    }

    /// A worker began a job; this is the moment to let it abort, if that is wanted.
    pub(super) fn began(&mut self, worker: WorkerId) {
        self.begun += 1;
        if self.pictures.abort_at == Some(self.begun)
            && let Some(pid) = self.link(worker).and_then(Link::pid).and_then(process)
        {
            // What a failed assertion in a C library does to a process. One that is gone needs no signal.
            let _ = kill_process(pid, Signal::ABORT);
        }
    }

    /// A worker ended a job.
    pub(super) fn done(&mut self, worker: WorkerId, done: Done) -> Event {
        let fine = !matches!(done.outcome, Outcome::Failed(_));
        if let Outcome::Failed(failed) = &done.outcome {
            self.answer
                .failure
                .get_or_insert_with(|| failed.message.clone());
        }
        self.answer.memory_of_one = self.answer.memory_of_one.max(done.peak_rss);
        self.answer.jobs.push(JobDone {
            index: usize::try_from(done.id.0).unwrap_or(usize::MAX),
            wall_us: done.wall_us,
            peak: done.peak_rss,
            fine,
        });
        let finding = if fine {
            Finding::Output
        } else {
            Finding::Failed
        };
        Event::Done {
            worker,
            job: done.id,
            finding,
            rss: done.rss,
        }
    }

    /// A process is gone.
    pub(super) fn exited(&mut self, worker: WorkerId, ended: &Ended) -> Cause {
        let code = ended.status.and_then(|status| status.code());
        let cause = cause(code, self.greeted.contains(&worker));
        self.links.remove(&worker.seat);
        let _ = std::fs::remove_dir_all(staging(&self.pictures.folder, worker));
        if !self.greeted.contains(&worker) {
            self.answer.failure = Some(last_words(&ended.words));
        } else if cause != Cause::Left {
            self.answer.deaths += 1;
            self.died = Some(Instant::now());
        }
        cause
    }

    /// Does what the pool asks for, and answers what is to be told at once.
    pub(super) fn obey(&mut self, command: Command) -> Option<Event> {
        match command {
            Command::Spawn(worker, _) => self.spawn(worker),
            Command::Send(worker, job) => self.send(worker, job),
            Command::Close(worker) => {
                if let Some((_, link)) = self.links.get_mut(&worker.seat) {
                    link.close();
                }
                None
            }
            Command::Kill(worker, _) => {
                if let Some(link) = self.link(worker) {
                    link.kill();
                }
                None
            }
            Command::Publish { job, worker, .. } => {
                let name = staged_name(job);
                let _ = std::fs::remove_file(staging(&self.pictures.folder, worker).join(name));
                Some(Event::Recorded(job, Recorded::Fine))
            }
            Command::Report { job, .. } => {
                self.answer.failed += 1;
                Some(Event::Recorded(job, Recorded::Failed))
            }
            Command::WriteOff(_)
            | Command::Reexamine(_)
            | Command::StopWalk
            | Command::Finish(_) => None,
        }
    }

    fn link(&self, worker: WorkerId) -> Option<&Link> {
        let (seated, link) = self.links.get(&worker.seat)?;
        (*seated == worker).then_some(link)
    }

    fn spawn(&mut self, worker: WorkerId) -> Option<Event> {
        match self.try_spawn(worker) {
            Ok(link) => {
                self.links.insert(worker.seat, (worker, link));
                None
            }
            Err(error) => {
                self.answer.failure = Some(error.to_string());
                Some(Event::SpawnFailed(worker))
            }
        }
    }

    fn try_spawn(&self, worker: WorkerId) -> std::io::Result<Link> {
        let staging = staging(&self.pictures.folder, worker);
        std::fs::create_dir_all(&staging)?;
        let link = Link::start(&self.launcher, worker, self.heard.clone())?;
        if let Some(pid) = link.pid() {
            self.memory.add(pid);
            if self.nice > 0
                && let Some(pid) = process(pid)
            {
                setpriority_process(Some(pid), self.nice.into())?;
            }
        }
        let go = ToWorker::Go(Box::new(self.go(worker, staging)));
        link.send(&go).map_err(std::io::Error::other)?;
        Ok(link)
    }

    fn go(&self, worker: WorkerId, staging: PathBuf) -> Go {
        let folders: BTreeSet<&Path> = self
            .pictures
            .files
            .iter()
            .filter_map(|file| file.parent())
            .collect();
        Go {
            protocol: PROTOCOL,
            build: BUILD_ID.to_owned(),
            seat: worker.seat,
            incarnation: worker.incarnation,
            settings: self.pictures.settings.clone(),
            in_place: false,
            limits: self.pictures.limits.clone(),
            confinement: Confinement {
                mode: SandboxMode::Auto,
                read: folders.into_iter().map(WirePath::from).collect(),
                staging: WirePath::from(staging),
            },
        }
    }

    fn send(&mut self, worker: WorkerId, job: JobId) -> Option<Event> {
        let index = usize::try_from(job.0).ok()?;
        let source = self.pictures.files.get(index)?;
        let message = ToWorker::Job(Job {
            id: job,
            source: WirePath::from(source.as_path()),
            identity: identity(source),
            staged: WirePath::from(staged_name(job)),
            copy_kept: false,
        });
        match self.link(worker).map(|link| link.send(&message)) {
            Some(Err(_)) => Some(Event::Misbehaved(worker)),
            Some(Ok(())) | None => None,
        }
    }
}

fn staged_name(job: JobId) -> PathBuf {
    PathBuf::from(job.0.to_string())
}

/// The file as it is now; one that is gone is the worker's to complain about.
fn identity(path: &Path) -> Identity {
    std::fs::metadata(path).map_or(
        Identity {
            dev: 0,
            ino: 0,
            size: 0,
            mtime_ns: 0,
        },
        |meta| Identity {
            dev: meta.dev(),
            ino: meta.ino(),
            size: meta.size(),
            mtime_ns: meta
                .mtime()
                .saturating_mul(1_000_000_000)
                .saturating_add(meta.mtime_nsec()),
        },
    )
}

fn process(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

fn last_words(words: &[u8]) -> String {
    let text = String::from_utf8_lossy(words_of_last_job(words));
    text.trim().to_owned()
}
