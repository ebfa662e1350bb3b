//! One worker process as the driver sees it: send, close, kill, and what is heard from it.
//!
//! It passes on what a worker says and how it ended, and interprets neither. One task per process reads its messages and
//! waits for its exit; what it heard before the exit is always passed on before the exit. Its end is the exit: a worker
//! that closes its output while it lives is passed on as nonsense, and one that leaves the pipe to a child of its own
//! is not waited for. Must be used from the main thread: a process dies with the thread that started it where it asked
//! the kernel for that.

mod channel;
mod launch;
mod stderr;

pub use launch::Launcher;
#[cfg(debug_assertions)]
pub(crate) use launch::WORKER_ARGUMENT;

use crate::pool::WorkerId;
use crate::sys;
use channel::{Inbound, Outbound};
use pressroom_shared::{ToSupervisor, ToWorker, frame};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use stderr::LastWords;
use tokio::process::{Child, ChildStdout};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Time after the exit in which the pipes must run dry; longer only if a child of the worker's holds them.
const AFTERMATH: Duration = Duration::from_millis(250);

/// Time between the end of a worker's output and its exit that is no cause for alarm.
const LEAVING: Duration = Duration::from_millis(250);

/// Something heard from a worker.
#[derive(Debug)]
pub struct Heard {
    /// From whom.
    pub worker: WorkerId,
    /// What.
    pub news: News,
}

/// What can be heard.
#[derive(Debug)]
pub enum News {
    /// A message, well-formed and believed in nothing else.
    Message(ToSupervisor),
    /// What came was no message; the text says what was wrong with it.
    Nonsense(String),
    /// The process is gone; nothing more follows.
    Exited(Ended),
}

/// How a process ended.
#[derive(Debug)]
pub struct Ended {
    /// As the system tells it; `None` where it could not tell.
    pub status: Option<ExitStatus>,
    /// The end of its standard error, as it came.
    pub words: Vec<u8>,
}

/// One process.
#[derive(Debug)]
pub struct Link {
    pid: u32,
    alive: Arc<AtomicBool>,
    outbound: Option<Outbound>,
}

impl Link {
    /// Starts a process; what it says arrives on `heard`.
    ///
    /// # Errors
    /// When the process cannot be started.
    pub fn start(
        launcher: &Launcher,
        worker: WorkerId,
        heard: mpsc::Sender<Heard>,
    ) -> std::io::Result<Self> {
        let mut launched = launcher.launch(worker.seat)?;
        let words = LastWords::default();
        let alive = Arc::new(AtomicBool::new(true));
        let drain = tokio::spawn(stderr::drain(launched.stderr, words.clone()));
        let pid = launched.pid;
        let watch = Watch {
            worker,
            heard,
            alive: Arc::clone(&alive),
            words,
        };
        let inbound = Inbound::new(launched.stdout);
        tokio::spawn(async move {
            watch.live(pid, &mut launched.child, inbound, drain).await;
        });
        Ok(Self {
            pid,
            alive,
            outbound: Some(Outbound::start(launched.stdin)),
        })
    }

    /// Its process id, as long as it lives.
    pub fn pid(&self) -> Option<u32> {
        self.alive.load(Ordering::Relaxed).then_some(self.pid)
    }

    /// Sends a message; never waits. A worker that does not read is a matter for its deadline.
    ///
    /// # Errors
    /// When the message is too long for a frame.
    pub fn send(&self, message: &ToWorker) -> Result<(), frame::FrameError> {
        let frame = frame::encode(message)?;
        if let Some(outbound) = &self.outbound {
            outbound.send(frame);
        }
        Ok(())
    }

    /// Closes its input, which tells it to leave.
    pub fn close(&mut self) {
        self.outbound = None;
    }

    /// Kills it and whatever it started; harmless if it is gone.
    pub fn kill(&self) {
        self.signal(sys::Signal::Kill);
    }

    /// Stops it or lets it go on.
    pub(crate) fn signal(&self, signal: sys::Signal) {
        if let Some(pid) = self.pid() {
            sys::signal_group(pid, signal);
        }
    }
}

/// The task that listens to one process.
struct Watch {
    worker: WorkerId,
    heard: mpsc::Sender<Heard>,
    alive: Arc<AtomicBool>,
    words: LastWords,
}

impl Watch {
    async fn live(
        self,
        pid: u32,
        child: &mut Child,
        mut inbound: Inbound<ChildStdout, ToSupervisor>,
        drain: tokio::task::JoinHandle<()>,
    ) {
        let status = self.listen(child, &mut inbound).await;
        // From here on the process id may belong to somebody else; what the worker left behind in its group still has it.
        self.alive.store(false, Ordering::Relaxed);
        sys::signal_group(pid, sys::Signal::Kill);
        let _ = timeout(AFTERMATH, self.drain_messages(&mut inbound)).await;
        let _ = timeout(AFTERMATH, drain).await;
        let words = self.words.take();
        self.tell(News::Exited(Ended { status, words })).await;
    }

    /// Passes on messages until the process is gone.
    async fn listen(
        &self,
        child: &mut Child,
        inbound: &mut Inbound<ChildStdout, ToSupervisor>,
    ) -> Option<ExitStatus> {
        loop {
            tokio::select! {
                biased;
                message = inbound.receive() => match message {
                    Ok(Some(message)) => self.tell(News::Message(message)).await,
                    Ok(None) => return self.silent(child, "it closed its output".to_owned()).await,
                    Err(error) => return self.silent(child, error.to_string()).await,
                },
                status = child.wait() => return status.ok(),
            }
        }
    }

    /// Nothing more can be heard. Usually that is because the process is about to be gone.
    async fn silent(&self, child: &mut Child, why: String) -> Option<ExitStatus> {
        if let Ok(status) = timeout(LEAVING, child.wait()).await {
            return status.ok();
        }
        self.tell(News::Nonsense(why)).await;
        child.wait().await.ok()
    }

    async fn drain_messages(&self, inbound: &mut Inbound<ChildStdout, ToSupervisor>) {
        while let Ok(Some(message)) = inbound.receive().await {
            self.tell(News::Message(message)).await;
        }
    }

    async fn tell(&self, news: News) {
        // A driver that no longer listens has ended the run.
        let worker = self.worker;
        let _ = self.heard.send(Heard { worker, news }).await;
    }
}

#[cfg(test)]
mod tests;
