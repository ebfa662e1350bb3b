//! The worker's files: one input that must be the file the walk saw, one output in the staging folder.
//!
//! Knows nothing of images, formats or outcomes; its errors say what failed on which path. Nothing here syncs: the
//! supervisor's recorder syncs outputs in batches before it records them, which costs a fraction of a sync per file.

mod source;
mod staged;

#[cfg(test)]
pub(crate) use source::tests;
pub(crate) use source::{SourceFile, read_ahead};
pub(crate) use staged::{Staged, Staging};

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// What is being done when an operation on a file fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Opening or looking at the input.
    Open,
    /// Creating the output.
    Create,
    /// Writing the output.
    Write,
    /// Reading the output again.
    ReadAgain,
    /// Copying the input to the output.
    Copy,
}

impl Operation {
    fn verb(self) -> &'static str {
        match self {
            Self::Open => "opening",
            Self::Create => "creating",
            Self::Write => "writing",
            Self::ReadAgain => "reading again",
            Self::Copy => "copying",
        }
    }
}

/// What went wrong with a file.
#[derive(Debug, Error)]
pub(crate) enum FileError {
    /// The system refused an operation.
    #[error("{} {} failed: {source}", operation.verb(), path.display())]
    Io {
        /// What was being done.
        operation: Operation,
        /// To which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The input is not, or no longer, the file the walk saw; the text says what differs.
    #[error("{} changed: {what}", path.display())]
    Changed {
        /// Which file.
        path: PathBuf,
        /// What differs.
        what: &'static str,
    },
    /// The name for the output is no plain name in the staging folder.
    #[error("{} is no name for a staged file", path.display())]
    BadName {
        /// The name.
        path: PathBuf,
    },
}
