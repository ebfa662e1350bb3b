//! What this process gives up before it looks at a stranger's file, and in which order.
//!
//! Landlock decides about files: reads only what the run was pointed at, writes only in the worker's own staging folder.
//! The system-call filter decides about the rest, and closes what Landlock leaves open: UDP, chmod, signals on old
//! kernels. Both must come before the second thread, since Landlock binds only the thread that calls it and its
//! children. Whatever must be open afterwards (staging folder, memory gauge, wire) is opened before.

mod files;
mod filter;

use crate::error::StartError;
use pressroom_shared::{Confinement, Enforced, SandboxMode};

/// Confines this process as asked and notes in `enforced` what really is in force.
///
/// # Errors
/// [`StartError::NotConfined`] where [`SandboxMode::Require`] is not met in full.
pub(crate) fn confine(wanted: &Confinement, enforced: &mut Enforced) -> Result<(), StartError> {
    match wanted.mode {
        SandboxMode::Off => Ok(()),
        SandboxMode::Auto => {
            // What is missing is told by what `enforced` does not say; the supervisor words it.
            let _ = restrict(wanted, enforced);
            Ok(())
        }
        SandboxMode::Require => restrict(wanted, enforced).map_err(StartError::NotConfined),
    }
}

/// Goes as far as it can, and answers the first thing missing.
fn restrict(wanted: &Confinement, enforced: &mut Enforced) -> Result<(), String> {
    let files = files::restrict(&wanted.read, &wanted.staging, enforced);
    let calls = filter::install();
    enforced.seccomp = calls.is_ok();
    files.and(calls)
}

#[cfg(test)]
mod tests;
