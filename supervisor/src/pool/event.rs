//! Everything that can happen to the pool. Plain data; decides nothing.

use pressroom_shared::{Incarnation, JobId, SeatId};
use std::fmt;

/// One process: the seat it sits in and which process in that seat it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkerId {
    /// The seat.
    pub seat: SeatId,
    /// Which process in it.
    pub incarnation: Incarnation,
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.seat, self.incarnation)
    }
}

/// Something that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The source found an image. Numbers are never used twice in a run.
    Found(JobId),
    /// The source has nothing more.
    WalkDone,
    /// The process asked for could not be started.
    SpawnFailed(WorkerId),
    /// The worker is confined and waiting.
    Ready(WorkerId),
    /// The worker took a job from its inbox.
    Started(WorkerId, JobId),
    /// The worker ended a job.
    Done {
        /// Who.
        worker: WorkerId,
        /// Which job.
        job: JobId,
        /// What it found, as far as the pool must know.
        finding: Finding,
        /// Resident bytes of the worker now.
        rss: u64,
    },
    /// The worker broke the protocol, or closed its output while alive.
    Misbehaved(WorkerId),
    /// The worker was seen above its memory cap.
    OverMemory(WorkerId),
    /// The process is gone, and so is everything it had still to say.
    Exited(WorkerId, Cause),
    /// A job's terminal record is durable.
    Recorded(JobId, Recorded),
    /// The terminal record of an input that never was a job, because it was refused before, is durable.
    Refused(Recorded),
    /// Nothing can be recorded any more.
    RecorderLost,
    /// Somebody wants the run to end.
    Stop(Stop),
    /// The system is so short of memory that no more than one image should be computed at a time.
    MemoryLow,
    /// It no longer is.
    MemoryEnough,
    /// The user stopped the run for a while (Ctrl-Z); clocks stand still.
    Paused,
    /// The user let the run go on.
    Resumed,
    /// Time passed. Deadlines are looked at here and nowhere else, so that a message that arrived in time counts.
    Tick,
}

/// What a worker's answer means to the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Something stands ready to be published (or is to be kept where it is).
    Output,
    /// The image failed, for good.
    Failed,
    /// The image needs more memory than the worker may use.
    MemoryCap,
    /// The source is not what the walk saw.
    Changed,
}

/// How a process came to its end; [`crate::death`] finds out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// It hit its own memory cap.
    MemoryCap,
    /// The system ran out of memory.
    HostMemory,
    /// Somebody else killed it.
    KilledOutside,
    /// A fault in its code: a signal, an abort.
    Crashed,
    /// A panic that nothing caught.
    Panicked,
    /// It took too long.
    Timeout,
    /// The sandbox ended it.
    Sandbox,
    /// It wrote more than a file may have.
    OutputTooLarge,
    /// It spoke nonsense.
    Protocol,
    /// It says that it cannot work here at all.
    CannotStart,
    /// The run was ended and the process with it.
    Stopped,
    /// It left of its own accord.
    Left,
}

/// How a job's record came out, as far as the pool must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// Saved, kept, skipped or interrupted.
    Fine,
    /// Failed.
    Failed,
    /// Failed because the disk is full.
    DiskFull,
}

/// How urgently the run must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Let workers end what they compute, within the grace time.
    Drain,
    /// At once.
    Kill,
}
