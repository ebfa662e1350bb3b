//! The operating system's limits on this process: a plain list first, then one place that installs it.
//!
//! The worker sets them on itself, right after `Go` and before it allocates for any image. The advice to set them before
//! exec is about allocators that reserve memory at start; this program uses the C library's, which has taken less than
//! 1 MiB by then, and RLIMIT_DATA counts what is already mapped. Soft and hard are lowered together, so there is no
//! way back up.

use crate::error::StartError;
use nix::sys::signal::{SigSet, Signal};
use pressroom_shared::Limits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

const MIB: u64 = 1 << 20;

/// What a worker needs besides the buffers of its job: code pages, stacks, the C library's heap, small allocations
/// inside codecs. Taken off the cap before `jobs` gets its budget.
pub(crate) const RESERVE: u64 = 8 * MIB;

/// Pages of the program's own code and constants. They are resident but RLIMIT_DATA does not count them, so they are
/// taken off it: what it allows plus these stays under the cap.
const CODE: u64 = 5 * MIB;

/// Address space beyond the cap: code, reserved arenas, guard pages. Only meant to stop a runaway.
const ADDRESS_SPACE: u64 = 4 << 30;

/// The worker has about ten files open; this leaves room for codecs and stops a leak.
const OPEN_FILES: u64 = 64;

/// Bytes per pixel of the largest thing a format can write, uncompressed RGBA of 16 bits.
const BYTES_PER_PIXEL: u64 = 8;

/// CPU seconds that a job may take beyond its wall-clock limit before the kernel ends it: the supervisor's clock comes first.
const CPU_SLACK: u64 = 10;

/// One limit. `soft` and `hard` in the resource's own unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Limit {
    resource: Resource,
    what: &'static str,
    soft: u64,
    hard: Option<u64>,
}

impl Limit {
    fn exactly(resource: Resource, what: &'static str, value: u64) -> Self {
        Self {
            resource,
            what,
            soft: value,
            hard: Some(value),
        }
    }

    /// Never above what the process was given: only root may raise a hard limit, and nobody needs to.
    fn within(self, hard_now: Option<u64>) -> Rlimit {
        let lower = |value: u64| value.min(hard_now.unwrap_or(u64::MAX));
        Rlimit {
            current: Some(lower(self.soft)),
            maximum: self.hard.map(lower).or(hard_now),
        }
    }
}

/// What is to be installed for these limits.
fn list(limits: &Limits) -> [Limit; 6] {
    let output = limits
        .input_bytes
        .max(limits.pixels.saturating_mul(BYTES_PER_PIXEL));
    [
        Limit::exactly(Resource::Data, "memory", limits.memory.saturating_sub(CODE)),
        Limit::exactly(
            Resource::As,
            "address space",
            limits.memory.saturating_add(ADDRESS_SPACE),
        ),
        Limit::exactly(Resource::Core, "core dumps", 0),
        Limit::exactly(Resource::Nofile, "open files", OPEN_FILES),
        Limit::exactly(Resource::Fsize, "output size", output.saturating_add(MIB)),
        Limit {
            resource: Resource::Cpu,
            what: "CPU time",
            soft: cpu_bound(0, limits.job_seconds),
            hard: None,
        },
    ]
}

/// Installs all limits and answers the bytes RLIMIT_DATA now allows, as read back.
///
/// # Errors
/// [`StartError::CapTooSmall`] and [`StartError::Limit`].
pub(crate) fn install(limits: &Limits) -> Result<Option<u64>, StartError> {
    job_memory(limits)?;
    // A write past the output limit then fails with EFBIG, a row for that file, instead of ending the process.
    let block = SigSet::from_iter([Signal::SIGXFSZ]).thread_block();
    block.map_err(|errno| refused("output size", errno.into()))?;
    for limit in list(limits) {
        let target = limit.within(getrlimit(limit.resource).maximum);
        setrlimit(limit.resource, target).map_err(|errno| refused(limit.what, errno.into()))?;
    }
    Ok(getrlimit(Resource::Data).current)
}

fn refused(what: &'static str, source: std::io::Error) -> StartError {
    StartError::Limit { what, source }
}

/// Bytes of the cap that a job's buffers may take.
///
/// # Errors
/// [`StartError::CapTooSmall`].
pub(crate) fn job_memory(limits: &Limits) -> Result<u64, StartError> {
    match limits.memory.checked_sub(RESERVE) {
        Some(bytes) if bytes > 0 => Ok(bytes),
        Some(_) | None => Err(StartError::CapTooSmall {
            cap: limits.memory,
            least: RESERVE,
        }),
    }
}

/// The CPU time each job may take: as much as its wall-clock limit and a little more; past it the kernel ends the process.
///
/// A backstop for a supervisor that is stopped or gone astray, so a failure to set it is no reason to fail a job.
#[derive(Debug)]
pub(crate) struct CpuAllowance {
    job_seconds: u32,
    maximum: Option<u64>,
}

impl CpuAllowance {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            job_seconds: limits.job_seconds,
            maximum: getrlimit(Resource::Cpu).maximum,
        }
    }

    /// Moves the limit on, for the job that starts now.
    pub(crate) fn renew(&self) {
        let used = clock_gettime(ClockId::ProcessCPUTime).tv_sec;
        let soft = cpu_bound(u64::try_from(used).unwrap_or(0), self.job_seconds);
        let renewed = Rlimit {
            current: Some(soft.min(self.maximum.unwrap_or(u64::MAX))),
            maximum: self.maximum,
        };
        let _ = setrlimit(Resource::Cpu, renewed);
    }
}

/// CPU seconds at which a job that starts after `used` seconds is ended.
fn cpu_bound(used: u64, job_seconds: u32) -> u64 {
    used.saturating_add(u64::from(job_seconds))
        .saturating_add(CPU_SLACK)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(memory: u64) -> Limits {
        Limits {
            memory,
            pixels: 100_000_000,
            input_bytes: 1 << 30,
            job_seconds: 120,
        }
    }

    fn find(list: &[Limit], resource: Resource) -> Limit {
        *list
            .iter()
            .find(|limit| limit.resource == resource)
            .expect("listed")
    }

    #[test]
    fn data_and_code_together_are_the_cap() {
        let list = list(&limits(512 * MIB));
        let data = find(&list, Resource::Data);
        assert_eq!(data.soft + CODE, 512 * MIB);
        assert_eq!(data.hard, Some(data.soft));
    }

    #[test]
    fn the_output_may_be_the_largest_input_or_the_largest_picture() {
        let mut limits = limits(512 * MIB);
        assert_eq!(find(&list(&limits), Resource::Fsize).soft, (1 << 30) + MIB);
        limits.pixels = 1 << 30;
        assert_eq!(find(&list(&limits), Resource::Fsize).soft, (8 << 30) + MIB);
    }

    #[test]
    fn a_limit_that_is_already_lower_stays() {
        let limit = Limit::exactly(Resource::Nofile, "open files", 64);
        assert_eq!(
            limit.within(Some(20)),
            Rlimit {
                current: Some(20),
                maximum: Some(20)
            }
        );
        assert_eq!(
            limit.within(None),
            Rlimit {
                current: Some(64),
                maximum: Some(64)
            }
        );
    }

    #[test]
    fn a_soft_limit_alone_leaves_the_hard_one() {
        let limit = Limit {
            resource: Resource::Cpu,
            what: "CPU time",
            soft: 130,
            hard: None,
        };
        assert_eq!(
            limit.within(None),
            Rlimit {
                current: Some(130),
                maximum: None
            }
        );
        assert_eq!(
            limit.within(Some(50)),
            Rlimit {
                current: Some(50),
                maximum: Some(50)
            }
        );
    }

    #[test]
    fn a_cap_within_the_reserve_is_refused() {
        assert!(matches!(
            job_memory(&limits(RESERVE)),
            Err(StartError::CapTooSmall { .. })
        ));
        assert_eq!(job_memory(&limits(RESERVE + 1)).ok(), Some(1));
    }

    #[test]
    fn the_cpu_bound_moves_with_the_time_used() {
        assert_eq!(cpu_bound(1000, 120), 1130);
        assert_eq!(cpu_bound(u64::MAX, 120), u64::MAX);
    }
}
