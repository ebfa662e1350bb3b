//! What the bench and its children say to each other: one JSON value a line. Plain data.
//!
//! The bench sends a [`Request`], the child says `"Ready"` when everything is prepared, the bench sends `go`, the child
//! works and sends its [`Answer`]. A child leaves as soon as its input is closed, so that none outlives the bench.

use pressroom_shared::{Limits, Settings};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a child is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Request {
    /// The work.
    pub(crate) work: Work,
    /// CPUs it may use; all that the bench may use where there are none.
    pub(crate) cpus: Vec<usize>,
}

/// Kinds of work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Work {
    /// Pictures by worker processes of the product.
    Workers(Pictures, WorkerProcesses),
    /// Pictures inside the child, by so many threads.
    Threads(Pictures, usize),
    /// Pictures inside the child, by so many tasks on one thread.
    Tasks(Pictures, usize),
    /// Steps that are no pictures.
    Steps(Steps),
    /// Payloads sent to another process.
    Transfer(Vec<Parcel>, PathBuf),
    /// Computing for nothing until told to stop.
    Load,
}

/// Pictures to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pictures {
    /// Files in the order in which they are done; the same one may come more than once.
    pub(crate) files: Vec<PathBuf>,
    /// What the results look like.
    pub(crate) settings: Settings,
    /// What one job may use.
    pub(crate) limits: Limits,
    /// A folder of its own for results, which are removed at once.
    pub(crate) folder: PathBuf,
    /// Let the process (of the threads), or one worker process, abort when so many jobs have begun.
    pub(crate) abort_at: Option<usize>,
}

/// The processes that do them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WorkerProcesses {
    /// How many.
    pub(crate) count: u16,
    /// Niceness added to them.
    pub(crate) nice: u8,
}

/// Steps of work that are no pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Steps {
    /// What a step is.
    pub(crate) kind: Kind,
    /// Who does them.
    pub(crate) shape: Shape,
    /// Tasks in all.
    pub(crate) tasks: usize,
    /// Steps of each task.
    pub(crate) steps: u32,
    /// Microseconds of sleep after each step of [`Kind::Mixed`].
    pub(crate) sleep_us: u64,
}

/// What a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// Eight rounds of SHA-256 over random bytes.
    Hash,
    /// A counting loop.
    Count,
    /// The counting loop, then sleep.
    Mixed,
}

/// Who does the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Shape {
    /// One process, one task after the other.
    One,
    /// A process for each task.
    Processes,
    /// A thread for each task.
    Threads,
    /// An asynchronous task for each, all on one thread.
    Tasks,
}

/// One payload to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Parcel {
    /// How.
    pub(crate) way: Way,
    /// Bytes.
    pub(crate) bytes: u64,
}

/// Ways from one process to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Way {
    /// The name of a file that holds the bytes.
    Path,
    /// The bytes through a pipe.
    Pipe,
    /// The handle of memory that holds the bytes.
    Handle,
}

/// What came of one parcel; times in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Delivery {
    /// What was sent.
    pub(crate) parcel: Parcel,
    /// Filling the shared memory, for [`Way::Handle`].
    pub(crate) fill_us: f64,
    /// Until the sender could go on.
    pub(crate) blocked_us: f64,
    /// Until the receiver had read every byte and its answer was there.
    pub(crate) round_trip_us: f64,
}

/// What a child says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Said {
    /// Everything is prepared.
    Ready,
    /// One more job is done; said only where an abort is to come.
    JobDone,
    /// The end.
    Answer(Box<Answer>),
    /// It cannot be done, and why.
    Cannot(String),
}

/// What came of a request. What a kind of work does not have is zero or empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// From `go` to the end of the last job, in microseconds.
    pub(crate) wall_us: u64,
    /// Processor time of everything that worked, starting and supervising included, in microseconds.
    pub(crate) cpu_us: u64,
    /// Context switches in which it waited for something.
    pub(crate) switches_voluntary: u64,
    /// Context switches in which it had to make room.
    pub(crate) switches_forced: u64,
    /// Each job's own time, in microseconds.
    pub(crate) jobs: Vec<JobDone>,
    /// Jobs that failed.
    pub(crate) failed: u64,
    /// The first failure's words.
    pub(crate) failure: Option<String>,
    /// Highest sum of resident memory of all processes at work, pages shared between them counted once, in bytes.
    pub(crate) memory: u64,
    /// Most resident memory of one process at work, in bytes.
    pub(crate) memory_of_one: u64,
    /// How late the supervisor's loop was at each beat of its heart, in microseconds.
    pub(crate) late_us: Vec<u64>,
    /// From the first spawn to the last hello, in microseconds.
    pub(crate) start_us: u64,
    /// Workers that died.
    pub(crate) deaths: u64,
    /// From the death of a worker to the hello of the next, in microseconds.
    pub(crate) replaced_us: Option<u64>,
    /// Rounds of a load, and the time they took.
    pub(crate) load_rounds: u64,
    /// Parcels.
    pub(crate) deliveries: Vec<Delivery>,
}

/// A job that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JobDone {
    /// Its place in the request's list.
    pub(crate) index: usize,
    /// Its time in microseconds.
    pub(crate) wall_us: u64,
    /// Resident memory of its process at most so far, in bytes.
    pub(crate) peak: u64,
    /// Whether it came to a result or a kept original.
    pub(crate) fine: bool,
}
