//! Why nothing can be recorded any more: the run cannot go on.

use crate::ledger::LedgerError;

/// Nothing can be recorded any more.
#[derive(Debug, thiserror::Error)]
pub enum RecorderError {
    /// The ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The thread did not start.
    #[error(
        "could not start the recorder's thread: {source}; the system allows no more threads to this user, so end other programs or raise the limit (ulimit -u)"
    )]
    Thread {
        /// What the system said.
        source: std::io::Error,
    },
    /// The thread died; a defect of this program.
    #[error(
        "the recorder died of a defect in this program; what is done is recorded, run again to do the rest"
    )]
    Panicked,
    /// Inputs and endings do not add up; a defect of this program.
    #[error(
        "{discovered} inputs were found but {ended} have an ending; a defect of this program, run again and compare"
    )]
    Unaccounted {
        /// Inputs found.
        discovered: u64,
        /// Endings recorded.
        ended: u64,
    },
}
