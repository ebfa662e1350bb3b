//! Everything the pool can ask for. Plain data; only the driver acts on it.

use super::event::{Cause, WorkerId};
use super::policy::Cap;
use pressroom_shared::{JobId, SeatId};

/// Something to be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Start a process. Answered by `Ready`, `SpawnFailed` or `Exited`.
    Spawn(WorkerId, Cap),
    /// Hand a job to a worker.
    Send(WorkerId, JobId),
    /// Close the worker's input; it leaves at once, even in mid-job.
    Close(WorkerId),
    /// Kill the process; harmless if it is gone. Answered by `Exited`.
    Kill(WorkerId, KillReason),
    /// The process did not die in time after a kill; say so, and wait for it no longer.
    WriteOff(WorkerId),
    /// Publish and record the answer that has just arrived. Answered by `Recorded`.
    Publish {
        /// Whose result.
        job: JobId,
        /// The worker that has it in its staging folder.
        worker: WorkerId,
        /// Workers that died on this job before.
        deaths: u8,
    },
    /// Record a job that has no output. Answered by `Recorded`.
    Report {
        /// Which.
        job: JobId,
        /// What became of it.
        verdict: Ruling,
        /// Seat of the last worker that had it.
        seat: Option<SeatId>,
        /// Workers that died on this job.
        deaths: u8,
    },
    /// Look at the job's source again: it is about to be tried as it is now.
    Reexamine(JobId),
    /// No more jobs are wanted.
    StopWalk,
    /// The run is over; the last command of all.
    Finish(Finish),
}

/// What became of a job that has no output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    /// The worker's own words, just arrived.
    Told,
    /// The worker died on it.
    Died(Cause),
    /// The run ended first.
    Interrupted,
}

/// Why a process is killed; noted before the kill, so that its death is not taken for a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KillReason {
    /// It never said hello.
    NeverReady,
    /// It was given a job and never began.
    NeverStarted,
    /// The job took too long.
    Timeout,
    /// It went over its memory cap.
    MemoryCap,
    /// It broke the protocol.
    Misbehaved,
    /// Its input was closed and it did not leave.
    NeverLeft,
    /// The run ends.
    Stopped,
}

/// How the run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// Everything that was found was done.
    Complete,
    /// Ended before that.
    Stopped(StopReason),
}

/// Why a run ended early, weakest first: a stronger reason replaces a weaker one, never the other way round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StopReason {
    /// `--run-for` is over.
    RunFor,
    /// `--max-fail` was reached.
    MaxFail,
    /// The user, or the system, asked for it.
    Asked,
    /// The disk is full.
    DiskFull,
    /// The tool cannot go on.
    CannotGoOn(CannotGoOn),
}

/// Why the tool cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CannotGoOn {
    /// Workers do not start.
    BadStarts,
    /// Workers die while they have nothing to do.
    IdleDeaths,
    /// No process that was killed ever died, and no seat is left.
    NoSeatLeft,
    /// Nothing can be recorded any more.
    RecorderLost,
}
