//! The loop: a job comes, `Started` goes out, the work is done, `Done` goes out. Knows neither files nor images.

use crate::link::{LinkError, Sender};
use pressroom_shared::{Done, Job, Started, ToSupervisor, WorkerExit};
use std::io::Write;

/// An answer, and whether this process may take another job after it.
#[derive(Debug)]
pub(crate) struct Worked {
    pub(crate) done: Done,
    pub(crate) fit: bool,
}

/// Serves until the jobs end or the process is no longer fit, and answers how to leave.
///
/// # Errors
/// When an answer cannot be sent; see [`LinkError`].
pub(crate) fn serve<W: Write>(
    jobs: impl Iterator<Item = Job>,
    outbound: &mut Sender<W>,
    mut work: impl FnMut(&Job) -> Worked,
) -> Result<WorkerExit, LinkError> {
    for job in jobs {
        outbound.send(&ToSupervisor::Started(Started { id: job.id }))?;
        let Worked { done, fit } = work(&job);
        outbound.send(&ToSupervisor::Done(Box::new(done)))?;
        if !fit {
            return Ok(WorkerExit::Replace);
        }
    }
    Ok(WorkerExit::Left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Receiver;
    use pressroom_shared::{Failed, FailureKind, Identity, JobId, Outcome, WirePath};
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

    fn worked(id: JobId, fit: bool) -> Worked {
        let outcome = Outcome::Failed(Failed {
            kind: FailureKind::Empty,
            message: String::new(),
        });
        Worked {
            done: Done {
                id,
                outcome,
                cpu_us: 0,
                wall_us: 0,
                peak_rss: 0,
                rss: 0,
            },
            fit,
        }
    }

    /// What goes out for `jobs`, as (started, id), and how the loop ended.
    fn answers(jobs: &[u64], unfit: Option<u64>) -> (Vec<(bool, u64)>, WorkerExit) {
        let mut bytes = Vec::new();
        let jobs = jobs.iter().map(|id| job(*id));
        let exit = serve(jobs, &mut Sender::new(&mut bytes), |job| {
            worked(job.id, unfit != Some(job.id.0))
        });
        let mut receiver = Receiver::<_, ToSupervisor>::new(&bytes[..]);
        let mut seen = Vec::new();
        while let Some(message) = receiver.receive().expect("whole frames") {
            seen.push(match message {
                ToSupervisor::Started(started) => (true, started.id.0),
                ToSupervisor::Done(done) => (false, done.id.0),
                ToSupervisor::Ready(ready) => panic!("unexpected {ready:?}"),
            });
        }
        (seen, exit.expect("a vector takes all"))
    }

    #[test]
    fn each_job_is_started_and_done_in_order() {
        let expected = vec![(true, 7), (false, 7), (true, 8), (false, 8)];
        assert_eq!(answers(&[7, 8], None), (expected, WorkerExit::Left));
    }

    #[test]
    fn an_unfit_worker_answers_and_leaves_the_next_job_unstarted() {
        let expected = vec![(true, 7), (false, 7)];
        assert_eq!(answers(&[7, 8], Some(7)), (expected, WorkerExit::Replace));
    }

    #[test]
    fn started_goes_out_before_the_work() {
        let mut bytes = Vec::new();
        let mut sender = Sender::new(&mut bytes);
        let panics = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            serve([job(5)].into_iter(), &mut sender, |_| panic!("in mid-job"))
        }));
        assert!(panics.is_err());
        let first = Receiver::new(&bytes[..]).receive().expect("whole");
        assert_eq!(first, Some(ToSupervisor::Started(Started { id: JobId(5) })));
    }
}
