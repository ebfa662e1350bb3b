//! Memory that is free for workers: what the machine has available, or less where a control group allows less.

use super::cgroup::{Controller, Groups, Version};
use super::line;
use std::path::{Path, PathBuf};

/// Memory that is free for workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// Bytes.
    pub available: u64,
    /// Whether a control group sets the bound, not the machine.
    pub by_group: bool,
}

/// Tells again and again how much memory is free.
#[derive(Debug)]
pub struct Gauge {
    root: PathBuf,
    groups: Groups,
}

impl Gauge {
    /// Of the machine whose files lie below `root`, which is `/` but for tests.
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            groups: Groups::of_this_process(root),
        }
    }

    /// What is free now, if it can be told.
    pub fn read(&self) -> Option<Memory> {
        survey(&self.root, &self.groups)
    }
}

pub(super) fn survey(root: &Path, groups: &Groups) -> Option<Memory> {
    let machine = machine(root).map(|available| Memory {
        available,
        by_group: false,
    });
    let folders = groups.folders(Controller::Memory);
    let group = folders
        .iter()
        .filter_map(|(version, folder)| match version {
            Version::V1 => room(
                folder,
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                "total_inactive_file",
            ),
            Version::V2 => room(folder, "memory.max", "memory.current", "inactive_file"),
        })
        .min()
        .map(|available| Memory {
            available,
            by_group: true,
        });
    machine
        .into_iter()
        .chain(group)
        .min_by_key(|memory| memory.available)
}

/// `MemAvailable` of `/proc/meminfo`, which is in KiB.
fn machine(root: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// What a group may still take: its limit less what it uses, not counting cached file pages that go first.
fn room(folder: &Path, limit: &str, usage: &str, cached: &str) -> Option<u64> {
    let number = |name: &str| line(&folder.join(name))?.parse::<u64>().ok();
    let limit = number(limit)?;
    let usage = number(usage).unwrap_or(0);
    let stat = std::fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let cached = stat
        .lines()
        .find_map(|line| line.strip_prefix(cached)?.trim().parse::<u64>().ok());
    Some(limit.saturating_sub(usage.saturating_sub(cached.unwrap_or(0))))
}
