//! The nouns of a run: what was found, what became of it. Plain data; decides nothing, touches nothing.

use pressroom_shared::{Failed, Identity, ImageFormat, JobId, Kept, Saved, SeatId};
use std::path::PathBuf;

/// One image to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Number within the run, in order of finding.
    pub id: JobId,
    /// Absolute path of the input.
    pub source: PathBuf,
    /// The input as the walk saw it.
    pub identity: Identity,
    /// Where the output goes, relative to the output folder (in place: relative to the input root). Its bytes are the
    /// key of the file's row in the ledger.
    pub target: PathBuf,
    /// Absolute path of the output.
    pub destination: PathBuf,
}

/// What finally became of an input. Each input of a run gets exactly one.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// A smaller picture stands at the destination.
    Saved(Saved),
    /// The original bytes stand at the destination (or were left where they are).
    Kept(Kept),
    /// Nothing was done, for a reason that is no fault.
    Skipped(Skip),
    /// There is no output.
    Failed(Failed),
    /// The run ended before this input was done; the next run does it.
    Interrupted,
}

/// Why nothing was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Skip {
    /// An earlier run did it with the same settings and neither side changed since.
    Unchanged,
    /// It failed before, has not changed since, and `--retry-failed` was not given. Counts as failed in the exit code.
    FailedBefore,
    /// The output exists, is not ours, and `--overwrite never` stands.
    Exists,
    /// An earlier run made the output, it is no longer what was written, and neither `--recheck` nor `--overwrite` was given.
    OutputChanged,
}

/// The terminal record of one input: what the ledger, the summary and `--json` are made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The input.
    pub task: Task,
    /// What became of it.
    pub ending: Ending,
    /// Format found by the worker, where it got that far.
    pub format: Option<ImageFormat>,
    /// CPU time in microseconds.
    pub cpu_us: u64,
    /// Wall time in microseconds.
    pub wall_us: u64,
    /// Peak resident bytes of the worker that did it.
    pub peak_rss: u64,
    /// Workers that died on it.
    pub deaths: u8,
    /// Seat that did it.
    pub seat: Option<SeatId>,
    /// Milliseconds from the start of the run to the start of the job.
    pub started_ms: u64,
    /// Milliseconds from the start of the run to its end.
    pub ended_ms: u64,
}
