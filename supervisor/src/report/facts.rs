//! What a run knows about itself besides its sums. Plain data.

use crate::ledger::{BUILD, HowEnded};
use crate::passed::PassedOver;
use std::path::PathBuf;

/// What is known before the first image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// What is read, as the user named it.
    pub inputs: Vec<PathBuf>,
    /// Output folder; `None` in place.
    pub output: Option<PathBuf>,
    /// What was asked for, e.g. "each image at most 300 KB".
    pub goal: String,
    /// Workers.
    pub workers: u32,
    /// Why so many, e.g. "2 physical cores".
    pub workers_why: String,
    /// The memory cap and what enforces it, e.g. "512 MiB per worker (process limit; page cache not counted)".
    pub cap: String,
    /// What confines a worker, e.g. "Landlock and system-call filter".
    pub sandbox: String,
}

/// What is known after the last image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Version that ran.
    pub build: String,
    /// Output folder (in place: input root).
    pub output: PathBuf,
    /// Workers the run was started with.
    pub workers: u32,
    /// Wall time in milliseconds.
    pub wall_ms: u64,
    /// Why the run ended; `None` where it goes on still or was killed.
    pub how: Option<HowEnded>,
    /// Inputs found.
    pub discovered: u64,
    /// Inputs there are in all, where they were counted ahead: of a run that ended early, more than were found.
    pub expected: Option<u64>,
    /// Files and folders passed over.
    pub ignored: PassedOver,
    /// What `pressroom report` is told to find this run: the output folder, or the ledger where it stands elsewhere. Nothing
    /// where the ledger does not outlive the run.
    pub place: Option<PathBuf>,
    /// Whether nothing was to be written that outlives the run.
    pub dry_run: bool,
    /// Milliseconds since 1970 at which the run started.
    pub started: u64,
    /// Milliseconds since 1970 at which it ended.
    pub ended: Option<u64>,
}

impl Facts {
    /// The facts of this process's own run.
    pub fn of_this_build(
        output: PathBuf,
        workers: u32,
        started: u64,
        end: &crate::ledger::RunEnd,
    ) -> Self {
        Self {
            build: BUILD.to_owned(),
            output,
            workers,
            wall_ms: end.wall_ms,
            how: Some(end.how),
            discovered: end.discovered,
            expected: None,
            ignored: end.ignored,
            place: None,
            dry_run: false,
            started,
            ended: Some(end.ended),
        }
    }

    /// The facts of a run in the ledger whose last row so far was written `latest_ms` after its start: of one that is not
    /// finished nothing else says how long it took.
    pub fn so_far(run: &crate::ledger::Run, latest_ms: u64) -> Self {
        let facts = Self::of_run(run);
        Self {
            wall_ms: run.end.map_or(latest_ms, |end| end.wall_ms),
            ..facts
        }
    }

    /// The facts of a run in the ledger.
    fn of_run(run: &crate::ledger::Run) -> Self {
        let end = run.end;
        Self {
            build: run.build.clone(),
            output: run.output.clone(),
            workers: run.workers,
            wall_ms: end.map_or(0, |end| end.wall_ms),
            how: end.map(|end| end.how),
            discovered: end.map_or(0, |end| end.discovered),
            expected: None,
            ignored: end.map_or(PassedOver::default(), |end| end.ignored),
            place: None,
            dry_run: false,
            started: run.started,
            ended: end.map(|end| end.ended),
        }
    }
}
