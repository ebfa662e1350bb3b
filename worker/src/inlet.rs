//! The one other thread: it owns standard input, so that its end is noticed in the middle of a job.
//!
//! End of input means that the supervisor is done with this worker, or dead; either way the process leaves at once. (A
//! parent-death signal would not do: it fires when the *thread* that spawned the worker ends.) While a job is being
//! computed, the thread also asks the kernel to read ahead the file of the next.

use crate::error::StartError;
use crate::files;
use crate::link::{LinkError, Receiver};
use pressroom_shared::{Job, ToWorker, WorkerExit};
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// Enough for one frame's bookkeeping; the default of 2 MiB would be charged to the memory cap.
const STACK: usize = 256 * 1024;

/// Jobs as they arrive, for the thread that does them. Ends when the inlet has gone.
#[derive(Debug)]
pub(crate) struct Inbox {
    jobs: mpsc::Receiver<Job>,
    /// Jobs that were passed on and are not finished.
    held: Arc<AtomicUsize>,
    busy: bool,
}

impl Iterator for Inbox {
    type Item = Job;

    /// Waits for the next job; asking for it means that the one before is finished.
    fn next(&mut self) -> Option<Job> {
        if std::mem::take(&mut self.busy) {
            self.held.fetch_sub(1, Ordering::Relaxed);
        }
        let job = self.jobs.recv().ok()?;
        self.busy = true;
        Some(job)
    }
}

/// The sending half of an [`Inbox`].
#[derive(Debug)]
struct Feed {
    jobs: mpsc::Sender<Job>,
    held: Arc<AtomicUsize>,
}

/// Unbounded, because the supervisor keeps at most two jobs outstanding, and a thread that waits here would be deaf to the
/// end of its input.
fn inbox() -> (Feed, Inbox) {
    let (sender, jobs) = mpsc::channel();
    let held = Arc::new(AtomicUsize::new(0));
    let feed = Feed {
        jobs: sender,
        held: Arc::clone(&held),
    };
    let busy = false;
    (feed, Inbox { jobs, held, busy })
}

/// Starts the thread. From here on the process may end at any moment.
///
/// # Errors
/// [`StartError::Thread`].
#[expect(
    clippy::exit,
    reason = "leaving at once, even in mid-encode, is what this thread is for"
)]
pub(crate) fn start<R: Read + Send + 'static>(
    mut inbound: Receiver<R, ToWorker>,
) -> Result<Inbox, StartError> {
    let (feed, inbox) = inbox();
    let live = move || {
        let exit = match pump(&mut inbound, &feed, files::read_ahead) {
            Ok(()) => WorkerExit::Left,
            Err(error) => crate::last_words(&error, WorkerExit::BadWire),
        };
        std::process::exit(i32::from(exit.code()));
    };
    let thread = thread::Builder::new()
        .name("inlet".to_owned())
        .stack_size(STACK);
    thread.spawn(live).map_err(StartError::Thread)?;
    Ok(inbox)
}

/// What makes the inlet stop, other than the end of its input.
#[derive(Debug, thiserror::Error)]
enum InletError {
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error("told twice what to do")]
    SecondGo,
}

/// Passes jobs on until the input ends. `prefetch` is called for a job that has to wait for another.
fn pump<R: Read>(
    inbound: &mut Receiver<R, ToWorker>,
    feed: &Feed,
    prefetch: impl Fn(&Job),
) -> Result<(), InletError> {
    while let Some(message) = inbound.receive()? {
        let job = match message {
            ToWorker::Job(job) => job,
            ToWorker::Go(_) => return Err(InletError::SecondGo),
        };
        if feed.held.fetch_add(1, Ordering::Relaxed) > 0 {
            prefetch(&job);
        }
        if feed.jobs.send(job).is_err() {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Sender;
    use pressroom_shared::{Identity, JobId, WirePath};
    use std::cell::RefCell;
    use std::path::Path;

    fn job(id: u64) -> Job {
        Job {
            id: JobId(id),
            source: WirePath::from(Path::new("/somewhere/a.jpg")),
            identity: Identity {
                dev: 1,
                ino: 2,
                size: 3,
                mtime_ns: 4,
            },
            staged: WirePath::from(Path::new("1")),
            copy_kept: true,
        }
    }

    fn input(messages: &[ToWorker]) -> Receiver<std::io::Cursor<Vec<u8>>, ToWorker> {
        let mut bytes = Vec::new();
        let mut sender = Sender::new(&mut bytes);
        for message in messages {
            sender.send(message).expect("a vector takes all");
        }
        Receiver::new(std::io::Cursor::new(bytes))
    }

    #[test]
    fn jobs_pass_in_order_and_waiting_ones_are_prefetched() {
        let (feed, mut inbox) = inbox();
        let prefetched = RefCell::new(Vec::new());
        let note = |job: &Job| prefetched.borrow_mut().push(job.id.0);
        pump(
            &mut input(&[ToWorker::Job(job(1)), ToWorker::Job(job(2))]),
            &feed,
            note,
        )
        .expect("ends");
        assert_eq!(*prefetched.borrow(), [2]);
        assert_eq!(inbox.next().map(|job| job.id.0), Some(1));
        assert_eq!(inbox.next().map(|job| job.id.0), Some(2));
        // Job 1 is finished, job 2 is not: a third would wait.
        pump(&mut input(&[ToWorker::Job(job(3))]), &feed, note).expect("ends");
        assert_eq!(*prefetched.borrow(), [2, 3]);
    }

    #[test]
    fn an_idle_worker_prefetches_nothing() {
        let (feed, mut inbox) = inbox();
        for id in 1..4 {
            let never = |_: &Job| panic!("nothing is being computed");
            pump(&mut input(&[ToWorker::Job(job(id))]), &feed, never).expect("ends");
            assert_eq!(inbox.next().map(|job| job.id.0), Some(id));
            inbox.busy = false;
            feed.held.fetch_sub(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn the_inbox_ends_with_its_feed() {
        let (feed, mut inbox) = inbox();
        drop(feed);
        assert!(inbox.next().is_none());
    }

    #[test]
    fn a_torn_message_is_an_error() {
        let (feed, _inbox) = inbox();
        let mut torn = Receiver::<_, ToWorker>::new(&[9, 0, 0, 0, 1][..]);
        let ended = pump(&mut torn, &feed, |_| {});
        assert!(matches!(ended, Err(InletError::Link(LinkError::Torn))));
    }
}
