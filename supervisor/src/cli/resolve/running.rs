//! How the run goes: workers, memory, time and failures. Pure.

use super::conflict::{Conflict, Resolved};
use crate::cli::args::RunningArgs;
use crate::cli::config::{LockMode, Oversize, Running, Workers};
use crate::cli::values::{SandboxArg, WorkersArg};
use crate::units::{Amount, show_memory};
use pressroom_shared::{Limits, SandboxMode};
use std::time::Duration;

/// Memory per worker.
const DEFAULT_MEMORY: u64 = 512 << 20;
/// No worker runs in less: its own code, stacks and buffers need about this much.
const LEAST_MEMORY: u64 = 16 << 20;
/// Above the largest phone cameras (200 MP), below what only scanners and bombs make.
const DEFAULT_PIXELS: u64 = 250_000_000;
/// Largest input file; what is larger is no photograph.
const INPUT_BYTES: u64 = 4 << 30;
/// Time for one image.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
/// Jobs after which a worker is replaced.
const DEFAULT_RECYCLE: u32 = 1000;

/// Makes the bounds of one job.
pub(super) fn limits(args: &RunningArgs) -> Resolved<Limits> {
    Ok(Limits {
        memory: memory(args)?,
        pixels: args.max_pixels.unwrap_or(DEFAULT_PIXELS),
        input_bytes: INPUT_BYTES,
        job_seconds: whole_seconds(args.timeout.unwrap_or(DEFAULT_TIMEOUT)),
    })
}

/// Makes the part about workers and limits.
pub(super) fn running(args: RunningArgs) -> Resolved<Running> {
    let memory = memory(&args)?;
    if args.nice.is_some() && args.background {
        return Err(Conflict::new(
            &["nice", "background"],
            "--background already means nice 19: drop one of the two",
        ));
    }
    let workers = workers(args.workers, args.reserve_cores)?;
    fits_together(workers, memory, args.memory_total)?;
    Ok(Running {
        workers,
        memory_per_worker: memory,
        require_hard_limit: args.memory_per_worker.is_some_and(|cap| cap.require),
        memory_total: args.memory_total,
        oversize: args.oversize.unwrap_or(Oversize::Refuse),
        timeout: args.timeout.unwrap_or(DEFAULT_TIMEOUT),
        run_for: args.run_for,
        retries: args.retries.unwrap_or(1),
        max_fail: args.max_fail,
        recycle_after: args.recycle_after.unwrap_or(DEFAULT_RECYCLE),
        nice: args.nice,
        background: args.background,
        sandbox: match args.sandbox {
            None | Some(SandboxArg::Auto) => SandboxMode::Auto,
            Some(SandboxArg::Require) => SandboxMode::Require,
            Some(SandboxArg::Off) => SandboxMode::Off,
        },
        min_free: args.min_free,
        quarantine: args.quarantine,
        state: args.state,
        retry_failed: args.retry_failed,
        recheck: args.recheck,
        lock: args.lock.unwrap_or(LockMode::Fail),
    })
}

fn workers(workers: Option<WorkersArg>, reserve: Option<u16>) -> Resolved<Workers> {
    match (workers, reserve) {
        (Some(WorkersArg::Exactly(_)), Some(_)) => Err(Conflict::new(
            &["workers", "reserve-cores"],
            "--reserve-cores is for --workers auto: a number of workers is taken as it is, drop one of the two",
        )),
        (Some(WorkersArg::Exactly(count)), None) => Ok(Workers::Exactly(count)),
        (None | Some(WorkersArg::Auto), reserve) => Ok(Workers::Auto {
            reserve: reserve.unwrap_or(0),
        }),
    }
}

/// A number of workers that was asked for is not lowered, so it must go with the memory asked for all of them.
fn fits_together(workers: Workers, each: u64, total: Option<Amount>) -> Resolved<()> {
    let (Workers::Exactly(count), Some(Amount::Bytes(total))) = (workers, total) else {
        return Ok(());
    };
    if u64::from(count).saturating_mul(each) <= total {
        return Ok(());
    }
    let [total, each] = [total, each].map(show_memory);
    Err(Conflict::new(
        &["workers", "memory-total", "memory-per-worker"],
        format!(
            "--memory-total {total} is less than {count} workers may have ({each} each): ask for fewer --workers or a smaller --memory-per-worker"
        ),
    ))
}

fn memory(args: &RunningArgs) -> Resolved<u64> {
    let memory = args
        .memory_per_worker
        .map_or(DEFAULT_MEMORY, |cap| cap.bytes);
    if memory < LEAST_MEMORY {
        return Err(Conflict::new(
            &["memory-per-worker"],
            format!(
                "--memory-per-worker: no worker fits into {}; give 16MiB or more",
                show_memory(memory)
            ),
        ));
    }
    match args.memory_total {
        Some(Amount::Bytes(total)) if total < memory => Err(Conflict::new(
            &["memory-total", "memory-per-worker"],
            format!(
                "--memory-total {} is less than one worker may have ({}): lower --memory-per-worker",
                show_memory(total),
                show_memory(memory)
            ),
        )),
        None | Some(Amount::Bytes(_) | Amount::Permille(_)) => Ok(memory),
    }
}

/// Seconds, rounded up, so that the supervisor's clock is never behind the worker's.
fn whole_seconds(time: Duration) -> u32 {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    u32::try_from(seconds).unwrap_or(u32::MAX)
}
