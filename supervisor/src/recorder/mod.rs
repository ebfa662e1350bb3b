//! The recorder: a thread that owns the writing side of the ledger and puts every result in its place.
//!
//! Requests come in over a channel that never blocks the sender; each is answered by one [`Receipt`] once its row is
//! safe. What is waiting is taken together (group commit), so the disk is asked to flush a few times per batch and not
//! several times per image. It decides nothing about jobs and prints nothing.

mod batch;
mod error;
mod request;
mod thread;

#[cfg(test)]
mod earlier;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod world;
#[cfg(test)]
pub(crate) use samples::{
    sample_ledger, sample_record, sample_run_again, sample_second_run, sample_start,
};

pub use error::RecorderError;
pub use request::{Publish, Receipt, Request};

use crate::ledger::{Reader, RunEnd, RunStart, Writer};
use crate::publish::{Disk, Policy, Publisher, umask};
use crate::report::Tally;
use crate::sys::OpenFiles;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;
use tokio::sync::mpsc::UnboundedReceiver;

/// What the recorder needs to know of a run.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The ledger's file, see [`crate::ledger::default_path`].
    pub ledger: PathBuf,
    /// The output folder (in place: the input root).
    pub output: PathBuf,
    /// How results take their places.
    pub policy: Policy,
    /// What the ledger notes about the run.
    pub run: RunStart,
}

/// A handle on the recorder's thread.
#[derive(Debug)]
pub struct Recorder {
    requests: mpsc::Sender<Message>,
    thread: JoinHandle<Result<Tally, RecorderError>>,
    ledger: PathBuf,
    output: PathBuf,
    run: i64,
}

/// What the thread is told.
#[derive(Debug)]
enum Message {
    Request(Box<Request>),
    Flush,
    Finish(Box<RunEnd>),
}

/// Opens the ledger, mends what a killed run left in it, begins a run and starts the thread. To be called with the lock held.
///
/// The receiver gives one [`Receipt`] per request, in no promised order; it ends early when the ledger can no longer be
/// written, and [`Recorder::finish`] then says why.
pub fn start(setup: Setup) -> Result<(Recorder, UnboundedReceiver<Receipt>), RecorderError> {
    let writer = Writer::open(&setup.ledger, &setup.output, &setup.run)?;
    let run = writer.run();
    let publisher = Publisher::new(Disk, setup.policy, run, umask());
    let room = OpenFiles::now().left_beside(setup.run.workers);
    let most = usize::try_from(room).map_or(thread::MOST, |room| room.min(thread::MOST));
    let (requests, inbox) = mpsc::channel();
    let (answers, answered) = tokio::sync::mpsc::unbounded_channel();
    let thread = std::thread::Builder::new()
        .name("recorder".to_owned())
        .spawn(move || thread::Thread::new(writer, publisher, answers, most).run(&inbox))
        .map_err(|source| RecorderError::Thread { source })?;
    let recorder = Recorder {
        requests,
        thread,
        ledger: setup.ledger,
        output: setup.output,
        run,
    };
    Ok((recorder, answered))
}

impl Recorder {
    /// Hands over a request. Never blocks. After the recorder has ended by an error it does nothing.
    pub fn send(&self, request: Request) {
        // The thread's end shows in the answers' end; there is nobody else to tell.
        let _ = self.requests.send(Message::Request(Box::new(request)));
    }

    /// Asks for what is waiting to be done now rather than with the next batch. For when nothing more will come soon.
    pub fn flush(&self) {
        let _ = self.requests.send(Message::Flush);
    }

    /// A connection to look up what earlier runs did; give one to the walk.
    pub fn reader(&self) -> Result<Reader, RecorderError> {
        Ok(Reader::open(&self.ledger, &self.output)?)
    }

    /// The ledger's file.
    pub fn ledger(&self) -> &Path {
        &self.ledger
    }

    /// Number of this run in the ledger.
    pub fn run(&self) -> i64 {
        self.run
    }

    /// Does what is waiting, closes the run in the ledger, and ends the thread. Returns the sums of the run, after checking
    /// that every input found has exactly one ending.
    pub fn finish(self, end: RunEnd) -> Result<Tally, RecorderError> {
        let _ = self.requests.send(Message::Finish(Box::new(end)));
        drop(self.requests);
        self.thread.join().unwrap_or(Err(RecorderError::Panicked))
    }
}
