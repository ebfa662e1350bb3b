//! What the recorder is asked and what it answers. Plain data.

use crate::task::{Ending, Record, Task};
use pressroom_shared::{Done, JobId, SeatId};
use std::path::PathBuf;

/// Something to be done for one input. Each input gets exactly one request.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// A worker is done with it: put its result in place, then record. An outcome without a result is just recorded.
    Publish(Publish),
    /// It ended without a worker's answer: skipped, refused, crashed, interrupted.
    Record(Record),
}

/// A worker's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Publish {
    /// The input.
    pub task: Task,
    /// Absolute path of the file the worker was to leave in its staging folder.
    pub staged: PathBuf,
    /// The answer.
    pub done: Done,
    /// Workers that died on it before.
    pub deaths: u8,
    /// Seat of the worker.
    pub seat: Option<SeatId>,
    /// Milliseconds from the start of the run to the start of the job.
    pub started_ms: u64,
    /// Milliseconds from the start of the run to its end.
    pub ended_ms: u64,
}

/// The answer to a request: the row is safe, and this is what it says. A result that could not be put in place has
/// become a failure.
#[derive(Debug, Clone, PartialEq)]
pub struct Receipt {
    /// Everything the reports need.
    pub record: Record,
}

impl Receipt {
    /// Which input.
    pub fn job(&self) -> JobId {
        self.record.task.id
    }

    /// What became of it.
    pub fn ending(&self) -> &Ending {
        &self.record.ending
    }
}
