//! What pressroom's supervisor and its workers say to each other, on one page.
//!
//! The supervisor sends [`ToWorker::Go`] once, then [`ToWorker::Job`]s; the worker answers
//! [`ToSupervisor::Ready`] once, then [`ToSupervisor::Started`] and [`ToSupervisor::Done`] for each job.
//! Every message is one frame: a 4-byte little-endian length and one MessagePack value (see [`frame`]).
//! Only paths and small numbers cross; never a pixel.
//!
//! This crate knows nothing of processes, the file system, tokio or any codec.

pub mod frame;
mod ids;
mod leaving;
mod limits;
mod message;
mod outcome;
mod path;
mod settings;
mod version;

pub use ids::{Incarnation, JobId, SeatId};
pub use leaving::{JOB_MARK, WorkerExit, memory_marker, words_of_last_job};
pub use limits::{Limits, SandboxMode};
pub use message::{
    Confinement, Done, Enforced, Go, Identity, Job, Ready, Started, ToSupervisor, ToWorker,
};
pub use outcome::{Failed, FailureKind, ImageFormat, Kept, KeptReason, Outcome, Saved, Warning};
pub use path::WirePath;
pub use settings::{
    Chroma, Format, Goal, IccPolicy, Metric, OrientPolicy, Progressive, Resize, Settings,
    SizeLimit, Strip,
};
pub use version::{AVIF, BUILD_ID, JXL, PROTOCOL};
