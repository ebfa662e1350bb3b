//! Carries out the pool's commands and turns what workers say into its events. Decides nothing.
//!
//! It holds what the pool has only numbers for: tasks, processes, answers, staging folders.

use super::Audience;
use super::{quarantine, watch};
use crate::death::{self, Death, Evidence, Exit};
use crate::link::{Ended, Heard, Launcher, Link, News};
use crate::pool::{
    Cap, Cause, Command, Event, Finding, Finish, KillReason, Moment, Recorded as Noted, Verdict,
    WorkerId,
};
use crate::recorder::{Publish, Recorded, Recorder, Request};
use crate::source;
use crate::stage;
use crate::sys;
use crate::sys::cgroup::{Delegated, Leaf};
use crate::task::{Ending, Record, Task};
use pressroom_shared::{
    BUILD_ID, Confinement, Done, FailureKind, Go, Job, JobId, Limits, Outcome, PROTOCOL, Ready,
    SeatId, Settings, ToSupervisor, ToWorker, WirePath,
};
use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use tokio::sync::mpsc;

/// Bytes of memory for the two kinds of workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Caps {
    /// What every worker gets.
    pub(crate) usual: u64,
    /// What one gets that runs alone.
    pub(crate) big: u64,
}

/// What every worker is told and given.
#[derive(Debug)]
pub(crate) struct WorkerSetup {
    /// What is started.
    pub(crate) launcher: Launcher,
    /// What the user asked for.
    pub(crate) settings: Settings,
    /// Limits; the memory in them is replaced by the cap.
    pub(crate) limits: Limits,
    /// Memory.
    pub(crate) caps: Caps,
    /// How much confinement.
    pub(crate) sandbox: pressroom_shared::SandboxMode,
    /// What may be read.
    pub(crate) readable: Vec<PathBuf>,
    /// The output folder (in place: the input root), below which staging lies.
    pub(crate) output: PathBuf,
    /// Whether an original that is kept needs a copy.
    pub(crate) copy_kept: bool,
    /// Added to the niceness of workers.
    pub(crate) nice: Option<u8>,
    /// Where a hard cap can be had.
    pub(crate) cgroup: Option<Delegated>,
    /// Where guilty files are linked to.
    pub(crate) quarantine: Option<PathBuf>,
    /// Whether nothing is published.
    pub(crate) dry_run: bool,
}

/// A process and what belongs to it.
#[derive(Debug)]
struct Seated {
    worker: WorkerId,
    link: Link,
    cap: u64,
    killed: Option<KillReason>,
    leaf: Option<Leaf>,
}

/// A job that is not recorded yet.
#[derive(Debug)]
struct Charge {
    task: Task,
    started: Option<Moment>,
}

/// A staging folder; it goes when its process is gone and nothing in it waits to be published.
#[derive(Debug, Default)]
struct Stage {
    unrecorded: u32,
    gone: bool,
}

/// What is to be done after a command.
pub(super) enum Then {
    /// Nothing.
    Nothing,
    /// Tell the pool.
    Tell(Event),
    /// Listen to the source no more.
    StopSource,
    /// End the loop.
    Finish(Finish),
}

/// See the file's head.
#[derive(Debug)]
pub(crate) struct Hands {
    setup: WorkerSetup,
    heard: mpsc::Sender<Heard>,
    recorder: Recorder,
    seats: HashMap<SeatId, Seated>,
    charges: HashMap<JobId, Charge>,
    stages: HashMap<WorkerId, Stage>,
    publishing: HashMap<JobId, WorkerId>,
    /// The answer that the event just told is about.
    in_hand: Option<Done>,
    last_deaths: HashMap<SeatId, (Death, u64)>,
    discovered: u64,
    unrecorded: u64,
    unkillable: Vec<u32>,
    start_trouble: Option<String>,
    greeted: bool,
}

impl Hands {
    /// `heard` is where workers are to be heard.
    pub(crate) fn new(setup: WorkerSetup, heard: mpsc::Sender<Heard>, recorder: Recorder) -> Self {
        Self {
            setup,
            heard,
            recorder,
            seats: HashMap::new(),
            charges: HashMap::new(),
            stages: HashMap::new(),
            publishing: HashMap::new(),
            in_hand: None,
            last_deaths: HashMap::new(),
            discovered: 0,
            unrecorded: 0,
            unkillable: Vec::new(),
            start_trouble: None,
            greeted: false,
        }
    }

    /// Gives the recorder back, once nothing more is to be recorded. Ends every process that is left.
    pub(crate) fn into_recorder(self) -> Recorder {
        self.recorder
    }

    pub(super) fn discovered(&self) -> u64 {
        self.discovered
    }

    pub(super) fn unrecorded(&self) -> u64 {
        self.unrecorded
    }

    pub(super) fn unkillable(&self) -> Vec<u32> {
        self.unkillable.clone()
    }

    pub(super) fn start_trouble(&self) -> Option<String> {
        self.start_trouble.clone()
    }

    pub(super) fn flush(&self) {
        self.recorder.flush();
    }

    /// Nothing that is on its way to the recorder will ever arrive.
    pub(super) fn recorder_is_lost(&mut self) {
        self.unrecorded = 0;
    }

    /// An image was found.
    pub(super) fn add(&mut self, task: Task) {
        self.discovered += 1;
        let started = None;
        self.charges.insert(task.id, Charge { task, started });
    }

    /// An input was found whose end is known.
    pub(super) fn record_aside(&mut self, record: Record) {
        self.discovered += 1;
        self.record(Request::Record(record));
    }

    fn record(&mut self, request: Request) {
        self.unrecorded += 1;
        self.recorder.send(request);
    }

    /// What a worker said, as an event; `None` if it means nothing to the pool.
    pub(super) fn hear(
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
                if let Some(seated) = self.seated(worker) {
                    seated.link.forget_words();
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
            words: &ended.words,
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

    fn clear_stage(&mut self, worker: WorkerId) {
        let over = |stage: &Stage| stage.gone && stage.unrecorded == 0;
        if self.stages.get(&worker).is_some_and(over) {
            self.stages.remove(&worker);
            // What cannot be removed now is swept at the end, or by the next run.
            let _ = stage::remove(&self.setup.output, worker.seat, worker.incarnation);
        }
    }

    /// Carries out one command.
    pub(super) fn obey(&mut self, now: Moment, command: Command) -> Then {
        match command {
            Command::Spawn(worker, cap) => return self.spawn(worker, cap),
            Command::Send(worker, job) => return self.send(worker, job),
            Command::Close(worker) => {
                if let Some(seated) = self.seated(worker) {
                    seated.link.close();
                }
            }
            Command::Kill(worker, reason) => {
                if let Some(seated) = self.seated(worker) {
                    seated.killed = Some(reason);
                    seated.link.kill();
                }
            }
            Command::WriteOff(worker) => self.write_off(worker),
            Command::Publish {
                job,
                worker,
                deaths,
            } => self.publish(now, job, worker, deaths),
            Command::Report {
                job,
                verdict,
                seat,
                deaths,
            } => self.report(now, job, verdict, seat, deaths),
            Command::Reexamine(job) => self.reexamine(job),
            Command::StopWalk => return Then::StopSource,
            Command::Finish(finish) => return Then::Finish(finish),
        }
        Then::Nothing
    }

    /// The event that the answer in hand came with is dealt with.
    pub(super) fn put_down(&mut self) {
        self.in_hand = None;
    }

    fn spawn(&mut self, worker: WorkerId, cap: Cap) -> Then {
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
                self.start_trouble = Some(format!("{error:#}"));
                Then::Tell(Event::SpawnFailed(worker))
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
        if let Some(nice) = self.setup.nice {
            let _ = sys::nice_by(pid, nice);
        }
    }

    fn go(&self, worker: WorkerId, cap: u64, staging: PathBuf) -> Go {
        Go {
            protocol: PROTOCOL,
            build: BUILD_ID.to_owned(),
            seat: worker.seat,
            incarnation: worker.incarnation,
            settings: self.setup.settings.clone(),
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

    fn send(&mut self, worker: WorkerId, job: JobId) -> Then {
        let Some(charge) = self.charges.get_mut(&job) else {
            return Then::Nothing;
        };
        charge.started = None;
        let message = ToWorker::Job(Job {
            id: job,
            source: WirePath::from(charge.task.source.as_path()),
            identity: charge.task.identity,
            staged: WirePath::from(staged_name(job)),
            copy_kept: self.setup.copy_kept && !self.setup.dry_run,
        });
        match self.seated(worker).map(|seated| seated.link.send(&message)) {
            Some(Ok(())) | None => Then::Nothing,
            // A path is at most 4,096 bytes, so a job always fits into a frame; should that ever change, the worker that
            // waits for it in vain is not to blame and the job comes back.
            Some(Err(_)) => Then::Tell(Event::Misbehaved(worker)),
        }
    }

    fn write_off(&mut self, worker: WorkerId) {
        if let Some(pid) = self.seated(worker).and_then(|seated| seated.link.pid()) {
            self.unkillable.push(pid);
        }
    }

    fn publish(&mut self, now: Moment, job: JobId, worker: WorkerId, deaths: u8) {
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

    fn report(
        &mut self,
        now: Moment,
        job: JobId,
        verdict: Verdict,
        seat: Option<SeatId>,
        deaths: u8,
    ) {
        let ending = match verdict {
            Verdict::Told => match self.in_hand.take() {
                Some(done) => return self.report_told(now, job, seat, deaths, done),
                None => Ending::Interrupted,
            },
            Verdict::Died(cause) => Ending::Failed(self.failed(cause, seat)),
            Verdict::Interrupted => Ending::Interrupted,
        };
        let Some(charge) = self.charges.remove(&job) else {
            return;
        };
        if let (Verdict::Died(_), Some(folder)) = (verdict, &self.setup.quarantine) {
            // A favour: the row in the ledger names the file all the same.
            let _ = quarantine::put(folder, &charge.task);
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
    fn reexamine(&mut self, job: JobId) {
        if let Some(charge) = self.charges.get_mut(&job)
            && let Ok(metadata) = std::fs::metadata(&charge.task.source)
        {
            charge.task.identity = source::identity(&metadata);
        }
    }

    /// A row is safe.
    pub(super) fn recorded(&mut self, recorded: &Recorded) -> Event {
        self.unrecorded = self.unrecorded.saturating_sub(1);
        if let Some(worker) = self.publishing.remove(&recorded.job()) {
            if let Some(stage) = self.stages.get_mut(&worker) {
                stage.unrecorded -= 1;
            }
            self.clear_stage(worker);
        }
        let noted = match recorded.ending() {
            Ending::Failed(failed) if failed.kind == FailureKind::DiskFull => Noted::DiskFull,
            Ending::Failed(_) => Noted::Failed,
            Ending::Saved(_) | Ending::Kept(_) | Ending::Skipped(_) | Ending::Interrupted => {
                Noted::Fine
            }
        };
        Event::Recorded(recorded.job(), noted)
    }

    /// Workers that hold clearly more memory than they may.
    pub(super) fn over_memory(&self) -> Vec<Event> {
        self.seats
            .values()
            .filter(|seated| {
                let pid = seated.link.pid();
                pid.is_some_and(|pid| watch::is_over(pid, seated.cap))
            })
            .map(|seated| Event::OverMemory(seated.worker))
            .collect()
    }

    pub(super) fn signal_all(&self, signal: sys::Signal) {
        for seated in self.seats.values() {
            seated.link.signal(signal);
        }
    }

    fn seated(&mut self, worker: WorkerId) -> Option<&mut Seated> {
        self.seats
            .get_mut(&worker.seat)
            .filter(|seated| seated.worker == worker)
    }
}

/// The file a worker leaves in its staging folder.
fn staged_name(job: JobId) -> PathBuf {
    PathBuf::from(job.0.to_string())
}

fn millis(moment: Moment) -> u64 {
    u64::try_from(moment.elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn exit_of(ended: &Ended) -> Exit {
    match ended.status.map(|status| (status.code(), status.signal())) {
        Some((Some(code), _)) => Exit::Code(code),
        Some((None, Some(signal))) => Exit::Signal(signal),
        Some((None, None)) | None => Exit::Unknown,
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
