//! `pressroom doctor`: what this machine offers, and for everything that is missing the command that mends it.
//!
//! `look` gathers, `prescription` words it; what is in force on a worker is not guessed but asked of a real one.

mod formats;
mod look;
mod prescription;
mod probe;

pub(crate) use look::look;

use crate::cores::{Facts, WorkerCount};
use crate::exit::Exit;
use pressroom_shared::Enforced;
use std::path::PathBuf;

/// What was found.
#[derive(Debug, Clone)]
pub(crate) struct Findings {
    /// What cores and memory there are.
    pub(crate) facts: Facts,
    /// How many workers a run would start.
    pub(crate) count: WorkerCount,
    /// Why there is no hard limit by cgroup; `None` if there is one.
    pub(crate) no_cgroup: Option<String>,
    /// What a worker found in force on itself, or why none started.
    pub(crate) worker: Result<Enforced, String>,
    /// Security modules the kernel runs, where it says so.
    pub(crate) modules: Option<String>,
    /// Release of the kernel.
    pub(crate) kernel: String,
    /// Bytes free where outputs would go, and where that is.
    pub(crate) disk: Result<(PathBuf, u64), String>,
    /// The folder asked about, if it is not there.
    pub(crate) missing: Option<PathBuf>,
    /// The ledger found there.
    pub(crate) ledger: LedgerHealth,
}

/// How a ledger is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LedgerHealth {
    /// There is none.
    None,
    /// It can be read; the text says what the last run was.
    Good(PathBuf, String),
    /// It cannot be read.
    Bad(PathBuf, String),
}

impl Findings {
    /// The findings in words.
    pub(crate) fn text(&self) -> String {
        prescription::text(self)
    }

    /// Whether a run could start.
    pub(crate) fn exit(&self) -> Exit {
        let broken = matches!(self.ledger, LedgerHealth::Bad(..));
        if self.worker.is_err() || self.disk.is_err() || broken {
            Exit::CannotRun
        } else {
            Exit::Success
        }
    }
}
