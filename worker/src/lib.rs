//! A worker: one confined process, one image at a time.
//!
//! It reads `Go` from its standard input, confines itself, answers `Ready`, and then answers each `Job` with `Started`
//! and `Done` until its input closes. Start reading at [`run`]; `serve` is the loop, `handle` does one job, `confine`
//! says what is given up and in which order.
//!
//! It obeys and does not decide: it knows nothing of other workers, of retries, or of where an output finally goes. It
//! writes into its own staging folder only, and whatever becomes of an image is a value it sends, never its own end.

mod confine;
mod descriptors;
mod error;
mod files;
mod handle;
mod inlet;
mod limits;
mod link;
mod serve;
mod translate;
mod usage;

use descriptors::Wire;
use error::StartError;
use handle::Handler;
use limits::CpuAllowance;
use link::{LinkError, Receiver, Sender};
use pressroom_shared::{
    BUILD_ID, Done, Enforced, Go, JOB_MARK, Job, PROTOCOL, Ready, ToSupervisor, ToWorker,
    WorkerExit,
};
use serve::Worked;
use std::fs::File;
use std::io::Write;
use std::process::ExitCode;
use usage::{Gauge, Stopwatch};

// For `pressroom bench`, whose variants without workers must do the same work as a worker.
pub use translate::options;

/// What `ps` and `top` call a worker.
const NAME: &std::ffi::CStr = c"pressroom-worker";

/// Lives a worker's whole life on this process's standard input and output.
///
/// The exit codes are those of [`WorkerExit`]. The process may also end inside this function: the moment its input
/// closes it leaves, even in the middle of a job.
pub fn run() -> ExitCode {
    let exit = match start() {
        Ok(worker) => worker.serve(),
        Err(error) => last_words(&error, WorkerExit::CannotStart),
    };
    ExitCode::from(exit.code())
}

/// Says on standard error, which the supervisor keeps the end of, why the worker leaves.
fn last_words(why: &dyn std::error::Error, exit: WorkerExit) -> WorkerExit {
    // Nobody is left to be told when even this fails.
    let _ = writeln!(std::io::stderr(), "pressroom worker: {why}");
    exit
}

/// Parts what is said from here on from what earlier jobs said; see [`JOB_MARK`].
fn mark_job() {
    // Without the mark an earlier job's words may be quoted for this one; that is no reason not to do it.
    let _ = std::io::stderr().write_all(&[JOB_MARK]);
}

/// A worker that has said `Ready`.
struct Worker {
    handler: Handler,
    gauge: Gauge,
    inbox: inlet::Inbox,
    outbound: Sender<File>,
    allowance: CpuAllowance,
}

/// Everything up to `Ready`, in the only order that works: the wire is taken before anything can print; `Go` is read, limits
/// are set, files that confinement would refuse are opened and the process is confined while there is one thread, because
/// Landlock binds only the calling thread and those it starts later.
fn start() -> Result<Worker, StartError> {
    // Started as /proc/self/exe it would be "exe" in ps and top. The kernel keeps 15 bytes; a worker without a name works as well.
    let _ = rustix::thread::set_name(NAME);
    let Wire { input, output } = descriptors::take_wire()?;
    let mut inbound = Receiver::new(input);
    let go = receive_go(&mut inbound)?;
    let mut enforced = Enforced {
        rlimit_data: limits::install(&go.limits)?,
        ..Enforced::default()
    };
    let allowance = CpuAllowance::new(&go.limits);
    let gauge = Gauge::open();
    let handler = Handler::new(&go)?;
    confine::confine(&go.confinement, &mut enforced)?;
    let inbox = inlet::start(inbound)?;
    let mut outbound = Sender::new(output);
    outbound.send(&ready(enforced)).map_err(StartError::Link)?;
    Ok(Worker {
        handler,
        gauge,
        inbox,
        outbound,
        allowance,
    })
}

/// The first message, which must be a `Go` of this very build.
fn receive_go(inbound: &mut Receiver<File, ToWorker>) -> Result<Go, StartError> {
    let go = match inbound.receive()? {
        Some(ToWorker::Go(go)) => *go,
        Some(ToWorker::Job(_)) => return Err(StartError::NoGo("a job")),
        None => return Err(StartError::NoGo("the end of the input")),
    };
    if go.protocol != PROTOCOL || go.build != BUILD_ID {
        return Err(StartError::OtherBuild {
            protocol: go.protocol,
            build: go.build,
        });
    }
    Ok(go)
}

fn ready(enforced: Enforced) -> ToSupervisor {
    ToSupervisor::Ready(Ready {
        protocol: PROTOCOL,
        build: BUILD_ID.to_owned(),
        enforced,
    })
}

impl Worker {
    /// Does jobs until there is a reason to leave.
    fn serve(self) -> WorkerExit {
        let Self {
            handler,
            gauge,
            inbox,
            mut outbound,
            allowance,
        } = self;
        let work = |job: &Job| {
            allowance.renew();
            mark_job();
            measured(&gauge, job, || handler.handle(job))
        };
        match serve::serve(inbox, &mut outbound, work) {
            Ok(exit) => exit,
            Err(LinkError::Closed) => WorkerExit::Left,
            Err(error) => last_words(&error, WorkerExit::BadWire),
        }
    }
}

/// One job's answer together with what it cost.
fn measured(gauge: &Gauge, job: &Job, work: impl FnOnce() -> pressroom_shared::Outcome) -> Worked {
    let watch = Stopwatch::start();
    let (outcome, fit) = handle::net(work);
    let (cpu_us, wall_us) = watch.read();
    let memory = gauge.read();
    Worked {
        done: Done {
            id: job.id,
            outcome,
            cpu_us,
            wall_us,
            peak_rss: memory.peak,
            rss: memory.now,
        },
        fit,
    }
}
