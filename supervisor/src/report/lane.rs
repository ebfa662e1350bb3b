//! Printing that never waits: texts go into a queue, and a thread of its own writes them where somebody may or may not read.
//!
//! A pager that stands still, a pipe nobody reads, a terminal under Ctrl-S: what does not fit into the queue meanwhile is
//! left out and counted (text), or the stream is given up (records, which mean nothing with holes). Knows no images.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of text that may wait.
const TEXT: usize = 1 << 20;

/// Bytes of records that may wait.
const RECORDS: usize = 64 << 20;

/// How long the end waits for a reader that takes nothing.
const PATIENCE: Duration = Duration::from_secs(30);

/// What becomes of what does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Full {
    /// It is left out, and that is said once there is room again.
    LeaveOut,
    /// The stream ends with an error.
    GiveUp,
}

/// One of the two standard streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Out,
    Err,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<(Stream, Vec<u8>)>,
    waiting: usize,
    /// Whether the thread is in the middle of a write.
    writing: bool,
    /// Bytes taken by readers so far.
    taken: u64,
    left_out: u64,
    errors: [Option<io::ErrorKind>; 2],
}

/// A queue and the thread that empties it.
#[derive(Debug, Default)]
struct Lane {
    state: Mutex<State>,
    changed: Condvar,
}

/// A standard stream that takes everything at once.
#[derive(Debug, Clone)]
pub(super) struct Outlet {
    lane: Arc<Lane>,
    stream: Stream,
    full: Full,
}

impl Outlet {
    /// Standard output.
    pub(super) fn stdout(full: Full) -> Self {
        Self {
            lane: Arc::clone(&lanes()[0]),
            stream: Stream::Out,
            full,
        }
    }

    /// Standard error.
    pub(super) fn stderr() -> Self {
        Self {
            lane: Arc::clone(&lanes()[1]),
            stream: Stream::Err,
            full: Full::LeaveOut,
        }
    }

    /// Something else than a standard stream that may not be read: a pipe, a device.
    pub(super) fn other(mut to: File) -> Self {
        Self {
            lane: Lane::start_with(move |_, bytes| to.write_all(bytes)),
            stream: Stream::Out,
            full: Full::GiveUp,
        }
    }

    /// Waits until all of it is written, as long as somebody reads.
    ///
    /// # Errors
    /// What writing failed with; [`io::ErrorKind::TimedOut`] where nobody reads.
    pub(super) fn drain(&self) -> io::Result<()> {
        self.lane.drain(self.stream, PATIENCE)
    }
}

impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lane.push(self.stream, bytes, self.full)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One lane for both streams where both are terminals, so that what is drawn and what is printed keep their order; else one
/// each, so that a pager that stands still does not hold up the messages beside it.
fn lanes() -> &'static [Arc<Lane>; 2] {
    static LANES: OnceLock<[Arc<Lane>; 2]> = OnceLock::new();
    LANES.get_or_init(|| {
        let out = Lane::start();
        let err = if io::stdout().is_terminal() && io::stderr().is_terminal() {
            Arc::clone(&out)
        } else {
            Lane::start()
        };
        [out, err]
    })
}

impl Lane {
    fn start() -> Arc<Self> {
        Self::start_with(|stream, bytes| match stream {
            Stream::Out => write_all(io::stdout(), bytes),
            Stream::Err => write_all(io::stderr(), bytes),
        })
    }

    fn start_with(
        write: impl FnMut(Stream, &[u8]) -> io::Result<()> + Send + 'static,
    ) -> Arc<Self> {
        let lane = Arc::new(Self::default());
        let own = Arc::clone(&lane);
        let started = std::thread::Builder::new()
            .name("print".to_owned())
            .spawn(move || own.run(write));
        if let Err(error) = started {
            lane.state().errors = [Some(error.kind()); 2];
        }
        lane
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, stream: Stream, bytes: &[u8], full: Full) -> io::Result<()> {
        let mut state = self.state();
        if let Some(kind) = state.errors[stream as usize] {
            return Err(kind.into());
        }
        let most = match full {
            Full::LeaveOut => TEXT,
            Full::GiveUp => RECORDS,
        };
        // Something that is larger than the queue must have its chance, too.
        if state.waiting > 0 && state.waiting + bytes.len() > most {
            return match full {
                Full::LeaveOut => {
                    state.left_out += 1;
                    Ok(())
                }
                Full::GiveUp => Err(io::ErrorKind::TimedOut.into()),
            };
        }
        if state.left_out > 0 {
            let text = format!(
                "({} lines were left out: nobody read them)\n",
                state.left_out
            );
            state.left_out = 0;
            state.add(stream, text.as_bytes());
        }
        state.add(stream, bytes);
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// Writes what comes, for ever.
    fn run(&self, mut write: impl FnMut(Stream, &[u8]) -> io::Result<()>) {
        let mut state = self.state();
        loop {
            let Some((stream, bytes)) = state.queue.pop_front() else {
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            state.writing = true;
            let lost = state.errors[stream as usize].is_some();
            drop(state);
            let written = if lost { Ok(()) } else { write(stream, &bytes) };
            state = self.state();
            state.writing = false;
            state.waiting -= bytes.len();
            state.taken += bytes.len() as u64;
            if let Err(error) = written {
                state.errors[stream as usize] = Some(error.kind());
            }
            self.changed.notify_all();
        }
    }

    fn drain(&self, stream: Stream, patience: Duration) -> io::Result<()> {
        let mut state = self.state();
        let (mut taken, mut until) = (state.taken, Instant::now() + patience);
        while state.writing || !state.queue.is_empty() {
            if state.taken != taken {
                (taken, until) = (state.taken, Instant::now() + patience);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.errors[stream as usize].map_or(Ok(()), |kind| Err(kind.into()))
    }
}

impl State {
    fn add(&mut self, stream: Stream, bytes: &[u8]) {
        self.waiting += bytes.len();
        self.queue.push_back((stream, bytes.to_vec()));
    }
}

/// Past the standard library's own buffer and lock, which a write that blocks would hold.
fn write_all(stream: impl AsFd, bytes: &[u8]) -> io::Result<()> {
    File::from(stream.as_fd().try_clone_to_owned()?).write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// A lane whose reader takes one text each time it is told to.
    fn slow() -> (Arc<Lane>, mpsc::Sender<()>, mpsc::Receiver<Vec<u8>>) {
        let (go, gate) = mpsc::channel();
        let (sender, read) = mpsc::channel();
        let lane = Lane::start_with(move |_, bytes| {
            if gate.recv().is_ok() {
                let _ = sender.send(bytes.to_vec());
            }
            Ok(())
        });
        (lane, go, read)
    }

    #[test]
    fn who_prints_never_waits_and_is_told_what_was_left_out() {
        let (lane, go, read) = slow();
        let line = vec![b'x'; TEXT / 4];
        for _ in 0..10 {
            lane.push(Stream::Out, &line, Full::LeaveOut).unwrap();
        }
        assert_eq!(lane.state().left_out, 6);
        let late = lane
            .drain(Stream::Out, Duration::from_millis(1))
            .unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        for _ in 0..4 {
            go.send(()).unwrap();
            assert_eq!(read.recv().unwrap(), line);
        }
        lane.drain(Stream::Out, PATIENCE).unwrap();
        lane.push(Stream::Out, b"last", Full::LeaveOut).unwrap();
        go.send(()).unwrap();
        go.send(()).unwrap();
        assert!(read.recv().unwrap().starts_with(b"(6 lines were left out"));
        assert_eq!(read.recv().unwrap(), b"last");
    }

    #[test]
    fn records_are_whole_or_given_up() {
        let (lane, _go, _read) = slow();
        lane.push(Stream::Out, &vec![0; RECORDS], Full::GiveUp)
            .unwrap();
        let error = lane.push(Stream::Out, b"{}", Full::GiveUp).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn an_error_of_one_stream_is_its_own() {
        let lane = Lane::start_with(|stream, _| match stream {
            Stream::Out => Err(io::ErrorKind::BrokenPipe.into()),
            Stream::Err => Ok(()),
        });
        lane.push(Stream::Out, b"a", Full::LeaveOut).unwrap();
        let error = lane.drain(Stream::Out, PATIENCE).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        lane.push(Stream::Out, b"b", Full::LeaveOut).unwrap_err();
        lane.push(Stream::Err, b"c", Full::LeaveOut).unwrap();
        lane.drain(Stream::Err, PATIENCE).unwrap();
    }
}
