//! Carries out the pool's commands and turns what workers say into its events. Decides nothing.
//!
//! It holds what the pool has only numbers for: tasks, processes, answers, staging folders. `hearing` is what workers say,
//! `seating` their processes, `settling` what goes to the recorder.

mod hearing;
mod seating;
mod settling;

use super::watch;
use crate::death::Death;
use crate::link::{Heard, Launcher, Link};
use crate::pool::{Command, Event, Finish, KillReason, Moment, WorkerId};
use crate::recorder::{Recorder, Request};
use crate::sys;
use crate::sys::cgroup::{Delegated, Leaf};
use crate::task::{Ending, Record, Task};
use pressroom_shared::{Done, JobId, Limits, SeatId, Settings};
use std::collections::{HashMap, HashSet};
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
    /// Whether results replace their originals: then one that is kept needs no copy, and a result is decoded again.
    pub(crate) in_place: bool,
    /// How far workers stand back, beyond what this process does.
    pub(crate) priority: Option<sys::Priority>,
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
    /// Tell the pool, and the audience why.
    SpawnFailed(WorkerId, String),
    /// Listen to the source no more.
    StopSource,
    /// End the loop.
    Finish(Finish),
}

/// Everything that the pool has only numbers for.
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
    /// Inputs whose records are on their way; what is left of them if the recorder is lost.
    sent: HashMap<JobId, Task>,
    recorder_lost: bool,
    /// Records of inputs that nobody records any more.
    left: Vec<Record>,
    /// Inputs on their way to the recorder that never were jobs.
    refused: HashSet<JobId>,
    /// What the user is to be told.
    notes: Vec<String>,
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
            sent: HashMap::new(),
            recorder_lost: false,
            left: Vec::new(),
            refused: HashSet::new(),
            notes: Vec::new(),
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

    /// Nothing that is on its way to the recorder will ever arrive: the next run does it again.
    pub(super) fn recorder_is_lost(&mut self) {
        self.recorder_lost = true;
        self.unrecorded = 0;
        let sent = std::mem::take(&mut self.sent);
        self.left
            .extend(sent.into_values().map(settling::left_over));
    }

    /// Records that nobody records, since the last call; they are to be told all the same, so that every input has one.
    pub(super) fn take_left(&mut self) -> Vec<Record> {
        std::mem::take(&mut self.left)
    }

    /// What the user is to be told, since the last call.
    pub(super) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
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
        if matches!(record.ending, Ending::Failed(_)) {
            self.refused.insert(record.task.id);
        }
        self.record(Request::Record(record));
    }

    /// Hands something to the recorder.
    fn record(&mut self, request: Request) {
        let task = match &request {
            Request::Publish(publish) => &publish.task,
            Request::Record(record) => &record.task,
        };
        if self.recorder_lost {
            self.left.push(settling::left_over(task.clone()));
            return;
        }
        self.sent.insert(task.id, task.clone());
        self.unrecorded += 1;
        self.recorder.send(request);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::{self, sample_record, sample_start};

    fn setup(output: PathBuf) -> WorkerSetup {
        WorkerSetup {
            launcher: Launcher::own(),
            settings: sample_start().settings,
            limits: sample_start().limits,
            caps: Caps { usual: 1, big: 1 },
            sandbox: pressroom_shared::SandboxMode::Off,
            readable: Vec::new(),
            output,
            in_place: true,
            priority: None,
            cgroup: None,
            quarantine: None,
            dry_run: false,
        }
    }

    fn aside(id: u64) -> Record {
        let mut record = sample_record();
        record.task.id = JobId(id);
        record.ending = Ending::Interrupted;
        record
    }

    #[tokio::test]
    async fn every_input_has_an_ending_though_the_recorder_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().to_path_buf();
        let ledger = folder.path().join("ledger.db");
        let (recorder, mut recorded) = recorder::start(recorder::Setup {
            ledger: ledger.clone(),
            output: output.clone(),
            policy: crate::publish::Policy {
                place: crate::publish::Place::Tree,
                overwrite: crate::publish::Displace::Never,
                restore: false,
                preserve: crate::publish::Inherit::TREE,
            },
            run: sample_start(),
        })
        .unwrap();
        let mut hands = Hands::new(setup(output), mpsc::channel(1).0, recorder);
        hands.record_aside(aside(1));
        let first = recorded.recv().await.unwrap();
        hands.recorded(&first);
        let other = rusqlite::Connection::open(&ledger).unwrap();
        other.execute("DROP TABLE files", []).unwrap();
        hands.record_aside(aside(2));
        hands.record_aside(aside(3));
        assert!(recorded.recv().await.is_none(), "the recorder is gone");
        hands.recorder_is_lost();
        hands.record_aside(aside(4));
        let mut left: Vec<u64> = hands.take_left().iter().map(|r| r.task.id.0).collect();
        left.sort_unstable();
        assert_eq!(left, [2, 3, 4]);
        assert_eq!((hands.unrecorded(), hands.discovered()), (0, 4));
        assert!(hands.take_left().is_empty());
    }
}
