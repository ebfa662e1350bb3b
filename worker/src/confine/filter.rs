//! seccomp: which system calls this process may still make. Knows nothing of files.
//!
//! A list of what is denied, not of what is allowed: an allow-list breaks with every new version of the C library, the
//! standard library or an allocator. Denied calls fail with EPERM, so a library that tries its luck goes on without.
//! clone3 fails with ENOSYS instead: its flags are out of a filter's sight, and the C library then uses clone, whose
//! flags are not.

mod calls;

use calls::{DENIED, FOREIGN_PROCESS, X32_BIT, X32_DENIED};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, apply_filter,
};
use std::collections::BTreeMap;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Puts the filters in force for this thread and those it starts later.
///
/// # Errors
/// In words, why there is no filter.
pub(super) fn install() -> Result<(), String> {
    let own_pid = u64::from(std::process::id());
    for (rules, errno) in [(denied(own_pid), libc::EPERM), (hidden(), libc::ENOSYS)] {
        let rules = rules.map_err(|error| format!("the system-call filter is wrong: {error}"))?;
        let program = program(rules, errno)
            .map_err(|error| format!("the system-call filter is wrong: {error}"))?;
        apply_filter(&program)
            .map_err(|error| format!("this kernel takes no system-call filter: {error}"))?;
    }
    Ok(())
}

fn program(rules: Rules, errno: i32) -> Result<BpfProgram, BackendError> {
    let errno = SeccompAction::Errno(errno.unsigned_abs());
    let arch = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, SeccompAction::Allow, errno, arch)?.try_into()
}

/// Calls that fail with EPERM.
fn denied(own_pid: u64) -> Result<Rules, BackendError> {
    let mut rules = Rules::new();
    for call in DENIED {
        rules.insert(*call, Vec::new());
    }
    for call in FOREIGN_PROCESS {
        let foreign = SeccompRule::new(vec![argument(0, SeccompCmpOp::Ne, own_pid)?])?;
        rules.insert(*call, vec![foreign]);
    }
    rules.insert(libc::SYS_clone, vec![new_process()?]);
    rules.insert(libc::SYS_prlimit64, vec![foreign_limits()?]);
    let native: Vec<i64> = rules.keys().copied().collect();
    for call in native.iter().chain(X32_DENIED) {
        // The same calls under the numbers of the x32 ABI, which some kernels accept from any process.
        if let Some(bit) = X32_BIT {
            rules.insert(call | bit, Vec::new());
        }
    }
    Ok(rules)
}

/// Calls that do not exist as far as this process can tell.
fn hidden() -> Result<Rules, BackendError> {
    Ok(Rules::from([(libc::SYS_clone3, Vec::new())]))
}

/// clone without CLONE_THREAD is fork.
fn new_process() -> Result<SeccompRule, BackendError> {
    let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
    SeccompRule::new(vec![argument(0, SeccompCmpOp::MaskedEq(thread), 0)?])
}

/// Limits may be set on oneself (pid 0), never on the supervisor, which often runs as the same user.
fn foreign_limits() -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![argument(0, SeccompCmpOp::Ne, 0)?])
}

fn argument(
    index: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, operator, value)
}
