//! Why a worker could not start. A bad image is never an error here: it is an outcome.

use crate::link::LinkError;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a worker could not start; shown to the user by the supervisor, as the end of the worker's standard error.
#[derive(Debug, Error)]
pub(crate) enum StartError {
    /// Standard input and output could not be moved aside.
    #[error("cannot set up its standard input and output: {0}")]
    Descriptors(#[source] io::Error),
    /// The first message did not arrive whole, or the answer could not be sent.
    #[error("cannot talk to the supervisor: {0}")]
    Link(#[from] LinkError),
    /// Something other than `Go` came first.
    #[error(
        "expected to be told what to do, got {0}; workers are started by pressroom, not by hand"
    )]
    NoGo(&'static str),
    /// The supervisor is of another build.
    #[error(
        "the supervisor is another build ({build}, protocol {protocol}); run again with one version installed"
    )]
    OtherBuild {
        /// The supervisor's protocol.
        protocol: u32,
        /// The supervisor's build.
        build: String,
    },
    /// A limit could not be set.
    #[error("cannot set the limit on {what}: {source}")]
    Limit {
        /// What is limited.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The cap leaves nothing for an image.
    #[error(
        "a memory cap of {cap} bytes is less than a worker needs for itself ({least} bytes); raise --memory-per-worker"
    )]
    CapTooSmall {
        /// The cap.
        cap: u64,
        /// What the worker itself needs.
        least: u64,
    },
    /// The run asks for something this build cannot do.
    #[error("{0} is not supported by this build")]
    Unsupported(&'static str),
    /// The staging folder cannot be used.
    #[error("cannot open the staging folder {}: {source}", path.display())]
    Staging {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Confinement was required and is not to be had.
    #[error(
        "--sandbox=require cannot be met: {0}; use a newer kernel, or --sandbox=auto to go on with less"
    )]
    NotConfined(String),
    /// The thread that owns standard input did not start.
    #[error("cannot start a thread: {0}")]
    Thread(#[source] io::Error),
}
