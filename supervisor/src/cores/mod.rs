//! How many workers this machine can feed: physical cores inside the affinity mask, capped by what the cgroups grant of
//! processor time and memory.
//!
//! [`survey`] reads a file tree that looks like `/` (tests make their own), [`choose`] is arithmetic on what was found.

mod cgroup;
mod choose;
mod memory;
mod quota;
mod topology;

pub use choose::{Wish, WorkerCount, choose};
pub use memory::{Gauge, Memory};
pub use quota::Quota;
pub use topology::{Cores, one_cpu_per_core};

use std::path::Path;

/// What the machine offers this process.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// Cores and CPUs.
    pub cores: Cores,
    /// Processor time granted by cgroups, if it is limited.
    pub quota: Option<Quota>,
    /// Memory that is free for workers, if it can be told.
    pub memory: Option<Memory>,
}

/// Reads what the machine offers from `root`, which is `/` but for tests. What cannot be read is left out; never fails.
pub fn survey(root: &Path) -> Facts {
    let groups = cgroup::Groups::of_this_process(root);
    Facts {
        cores: topology::survey(root),
        quota: quota::survey(&groups),
        memory: memory::survey(root, &groups),
    }
}

/// The first line of a file, trimmed.
fn line(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    text.lines().next().map(|line| line.trim().to_owned())
}

#[cfg(test)]
mod tests;
