//! Starts children, waits for them no longer than allowed, and leaves none behind.
//!
//! Knows processes and clocks, not what an experiment means.

use crate::child::CHILD_ARGUMENT;
use crate::messages::{Answer, Request, Said};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How often a wait looks whether the user wants out.
const GLANCE: Duration = Duration::from_millis(20);

/// Signals that end the bench.
const ENDING: [i32; 3] = [1, 2, 15];

/// Why a run has no figures.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    /// The user wants out.
    #[error("interrupted")]
    Interrupted(i32),
    /// The process cannot be started or spoken to.
    #[error("a process of the experiment cannot be used: {0}")]
    Process(#[from] std::io::Error),
    /// It took longer than there was time.
    #[error("it took longer than the {} s left of the budget", .0.as_secs())]
    TooLong(Duration),
    /// It could not do what it was asked.
    #[error("{0}")]
    Cannot(String),
    /// It ended without an answer.
    #[error("the process ended without an answer ({0})")]
    Died(ExitStatus),
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The child's answer; none where it died, as a child does that was told to abort.
    pub(crate) answer: Option<Answer>,
    /// Jobs it said were done before it died.
    pub(crate) done_before: usize,
    /// How it ended, where it ended without an answer.
    pub(crate) died: Option<ExitStatus>,
}

/// Where children come from.
#[derive(Debug)]
pub(crate) struct Nursery {
    program: PathBuf,
    signal: Arc<AtomicUsize>,
}

/// A name for this executable that stays right when its file is replaced.
pub(crate) fn own_executable() -> PathBuf {
    PathBuf::from("/proc/self/exe")
}

impl Nursery {
    /// From now on a signal that asks for the end is kept until the next look.
    pub(crate) fn open() -> Self {
        let signal = Arc::new(AtomicUsize::new(0));
        for number in ENDING {
            // Where it cannot be caught, it ends the bench as it would have anyway, and children leave by themselves.
            let _ = signal_hook::flag::register_usize(number, Arc::clone(&signal), number as usize);
        }
        Self {
            program: own_executable(),
            signal,
        }
    }

    /// Whether the user wants out.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        match self.signal.load(Ordering::Relaxed) {
            0 => Ok(()),
            number => Err(RunError::Interrupted(number as i32)),
        }
    }

    /// Starts a child and waits until it is ready.
    pub(crate) fn start(
        &self,
        request: &Request,
        limit: Duration,
    ) -> Result<Running<'_>, RunError> {
        let mut running = self.spawn(request, Instant::now() + limit, limit)?;
        match running.next()? {
            Some(Said::Ready) => Ok(running),
            Some(Said::Cannot(why)) => Err(RunError::Cannot(why)),
            Some(Said::JobDone | Said::Answer(_)) | None => Err(RunError::Died(running.reap()?)),
        }
    }

    /// Lets a child do `request` and waits for its answer, `limit` at most.
    pub(crate) fn run(&self, request: &Request, limit: Duration) -> Result<Outcome, RunError> {
        let mut running = self.start(request, limit)?;
        running.order("go")?;
        running.outcome()
    }

    fn spawn(
        &self,
        request: &Request,
        until: Instant,
        limit: Duration,
    ) -> Result<Running<'_>, RunError> {
        self.check()?;
        let mut child = Command::new(&self.program)
            .arg(CHILD_ARGUMENT)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take();
        let (sender, said) = channel();
        if let Some(out) = child.stdout.take() {
            std::thread::spawn(move || {
                for line in BufReader::new(out).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        let mut running = Running {
            nursery: self,
            child,
            input,
            said,
            until,
            limit,
        };
        let text = serde_json::to_string(request).map_err(std::io::Error::other)?;
        running.order(&text)?;
        Ok(running)
    }
}

/// A child at work. Dropped, it is killed.
pub(crate) struct Running<'a> {
    nursery: &'a Nursery,
    child: Child,
    input: Option<ChildStdin>,
    said: Receiver<String>,
    until: Instant,
    limit: Duration,
}

impl Running<'_> {
    /// Says a word to it.
    pub(crate) fn order(&mut self, word: &str) -> Result<(), RunError> {
        if let Some(input) = &mut self.input {
            writeln!(input, "{word}")?;
        }
        Ok(())
    }

    /// Waits for the end.
    pub(crate) fn outcome(mut self) -> Result<Outcome, RunError> {
        let mut done_before = 0;
        loop {
            match self.next()? {
                Some(Said::JobDone) => done_before += 1,
                Some(Said::Ready) => {}
                Some(Said::Cannot(why)) => return Err(RunError::Cannot(why)),
                Some(Said::Answer(answer)) => {
                    drop(self.input.take());
                    self.reap()?;
                    return Ok(Outcome {
                        answer: Some(*answer),
                        done_before,
                        died: None,
                    });
                }
                None => {
                    return Ok(Outcome {
                        answer: None,
                        done_before,
                        died: Some(self.reap()?),
                    });
                }
            }
        }
    }

    /// The next thing it says; `None` when it has nothing more to say.
    fn next(&mut self) -> Result<Option<Said>, RunError> {
        loop {
            self.nursery.check()?;
            match self.said.recv_timeout(GLANCE) {
                Ok(line) => {
                    let said = serde_json::from_str(&line).map_err(std::io::Error::from)?;
                    return Ok(Some(said));
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) if Instant::now() >= self.until => {
                    return Err(RunError::TooLong(self.limit));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Waits until it is gone.
    fn reap(&mut self) -> Result<ExitStatus, RunError> {
        drop(self.input.take());
        Ok(self.child.wait()?)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // Workers and other grandchildren leave when the child's end of their pipes is gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder for everything the bench writes, removed at the end.
pub(crate) fn scratch() -> std::io::Result<tempfile::TempDir> {
    tempfile::Builder::new()
        .prefix("pressroom-bench-")
        .tempdir()
}

/// A folder of its own for one run.
pub(crate) fn folder(scratch: &Path, number: usize) -> PathBuf {
    scratch.join(format!("run-{number}"))
}
