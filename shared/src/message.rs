//! The messages themselves. Fields are positional on the wire: change one and [`crate::PROTOCOL`] is raised.

use crate::{Incarnation, JobId, Limits, Outcome, SandboxMode, SeatId, Settings, WirePath};
use serde::{Deserialize, Serialize};

/// From the supervisor to a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToWorker {
    /// First and once: who you are, what to do, what you may use. The worker confines itself before it answers `Ready`.
    Go(Box<Go>),
    /// One image. At most two are outstanding per worker: one computing, one prefetched.
    Job(Job),
}

/// From a worker to the supervisor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToSupervisor {
    /// First and once, in answer to `Go`: confined and waiting.
    Ready(Ready),
    /// The job left the worker's inbox and is being computed.
    Started(Started),
    /// The job ended.
    Done(Box<Done>),
}

/// Everything a worker needs before its first job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Go {
    /// [`crate::PROTOCOL`] of the supervisor; first, so that it can be compared before the rest is believed.
    pub protocol: u32,
    /// [`crate::BUILD_ID`] of the supervisor.
    pub build: String,
    /// The seat this worker sits in.
    pub seat: SeatId,
    /// Which process in that seat it is.
    pub incarnation: Incarnation,
    /// What the user asked for.
    pub settings: Settings,
    /// Whether results replace their originals: then one with other names is left alone, and a result is decoded again
    /// before it is told.
    pub in_place: bool,
    /// What the worker may use.
    pub limits: Limits,
    /// What it may touch.
    pub confinement: Confinement,
}

/// What a worker may touch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Confinement {
    /// How much confinement the user asked for.
    pub mode: SandboxMode,
    /// Files and folders that may be read.
    pub read: Vec<WirePath>,
    /// The worker's own staging folder, the only place it may write to.
    pub staging: WirePath,
}

/// The worker is confined and waiting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// [`crate::PROTOCOL`] of the worker.
    pub protocol: u32,
    /// [`crate::BUILD_ID`] of the worker.
    pub build: String,
    /// What really is enforced.
    pub enforced: Enforced,
}

/// What a worker found to be in force on itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enforced {
    /// RLIMIT_DATA in bytes, where set.
    pub rlimit_data: Option<u64>,
    /// Landlock ABI in force, 0 for none.
    pub landlock_abi: u8,
    /// Whether Landlock covers everything asked of it.
    pub landlock_full: bool,
    /// Whether the system-call filter is in force.
    pub seccomp: bool,
}

/// A file as the walk saw it. A worker refuses a source that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// Device number.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// Bytes.
    pub size: u64,
    /// Modification time in nanoseconds since 1970.
    pub mtime_ns: i64,
}

/// One image to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Number of the job.
    pub id: JobId,
    /// Absolute path of the input.
    pub source: WirePath,
    /// The input as the walk saw it.
    pub identity: Identity,
    /// Name (no folders) of the file to leave in the staging folder.
    pub staged: WirePath,
    /// Whether a kept original needs a copy in staging (not so in place).
    pub copy_kept: bool,
}

/// The job left the worker's inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// Which.
    pub id: JobId,
}

/// The job ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// Which.
    pub id: JobId,
    /// What became of it.
    pub outcome: Outcome,
    /// CPU time this job took, in microseconds.
    pub cpu_us: u64,
    /// Wall time this job took, in microseconds.
    pub wall_us: u64,
    /// High-water mark of the worker's resident memory so far, in bytes.
    pub peak_rss: u64,
    /// Resident memory now, in bytes; decides about recycling.
    pub rss: u64,
}
