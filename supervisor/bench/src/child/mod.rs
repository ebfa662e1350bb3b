//! A child of the bench: does one request in a process of its own, so that no variant inherits another's memory or threads.
//!
//! Thin: reads the request, hands over, says the answer. It decides nothing and compares nothing.

mod crew;
mod inside;
mod lifeline;
mod load;
mod meter;
mod parcels;
mod peer;
mod steps;

use crate::messages::{Answer, Request, Said, Work};
use lifeline::Lifeline;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// The argument of a child that receives parcels.
pub(crate) const PEER: &str = "peer";

/// The argument that makes the executable a child of the bench.
pub(crate) const CHILD_ARGUMENT: &str = "__bench-child";

/// Why a child cannot do what it was asked.
#[derive(Debug, thiserror::Error)]
enum ChildError {
    /// The system refuses something.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system says.
        source: std::io::Error,
    },
    /// The settings ask for something this build cannot do.
    #[error("{0} is not in this version of pressroom")]
    Settings(&'static str),
    /// Workers do not start, or the pool gave up; the text is the last worker's.
    #[error("the worker processes gave up: {0}")]
    Workers(String),
    /// A child of this child did not answer.
    #[error("a process of the experiment ended without an answer")]
    Silent,
}

/// Names what was tried when the system refused.
fn system<E: Into<std::io::Error>>(what: &'static str) -> impl FnOnce(E) -> ChildError {
    move |source| ChildError::System {
        what,
        source: source.into(),
    }
}

/// Lives a child's whole life on this process's standard input and output.
pub(crate) fn run(args: &[OsString]) -> ExitCode {
    if args.first().is_some_and(|arg| arg == PEER) {
        return peer::run();
    }
    let mut lifeline = Lifeline::start();
    let Some(request) = lifeline.request() else {
        return ExitCode::from(2);
    };
    match work(&request, &mut lifeline) {
        Ok(answer) => say(&Said::Answer(Box::new(answer))),
        Err(error) => say(&Said::Cannot(error.to_string())),
    }
    ExitCode::SUCCESS
}

fn work(request: &Request, lifeline: &mut Lifeline) -> Result<Answer, ChildError> {
    meter::bind_to(&request.cpus)?;
    match &request.work {
        Work::Workers(pictures, processes) => crew::run(pictures, *processes, lifeline),
        Work::Threads(pictures, count) => inside::threads(pictures, *count, lifeline),
        Work::Tasks(pictures, count) => inside::tasks(pictures, *count, lifeline),
        Work::Steps(steps) => steps::run(steps, lifeline),
        Work::Transfer(parcels, folder) => parcels::run(parcels, folder, lifeline),
        Work::Load => Ok(load::run(lifeline)),
    }
}

/// Says something to the bench. Nobody is left to be told when that fails: the bench is gone, and so is this process soon.
fn say(what: &Said) {
    if let Ok(mut line) = serde_json::to_vec(what) {
        line.push(b'\n');
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(&line).and_then(|()| out.flush());
    }
}
