//! Processor time granted by control groups: the smallest quota of the own group and every ancestor.

use super::cgroup::{Controller, Groups, Version};
use super::line;
use std::fmt;
use std::path::Path;

/// Processor time per time, in thousandths of a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quota {
    /// 1500 is one and a half CPUs.
    pub milli_cpus: u64,
}

impl Quota {
    /// Workers that use it up; rounded up, since independent workers lose nothing to throttling and rounding down would
    /// waste a third of one and a half CPUs.
    pub fn workers(self) -> u64 {
        self.milli_cpus.div_ceil(1000).max(1)
    }
}

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hundredths = (self.milli_cpus + 5) / 10;
        if hundredths.is_multiple_of(10) {
            write!(f, "{}.{}", hundredths / 100, hundredths / 10 % 10)
        } else {
            write!(f, "{}.{:02}", hundredths / 100, hundredths % 100)
        }
    }
}

pub(super) fn survey(groups: &Groups) -> Option<Quota> {
    let folders = groups.folders(Controller::Cpu);
    folders
        .iter()
        .filter_map(|(version, folder)| match version {
            Version::V1 => v1(folder),
            Version::V2 => v2(folder),
        })
        .min()
}

/// `cpu.max`: `max 100000` or `150000 100000`.
fn v2(folder: &Path) -> Option<Quota> {
    let text = line(&folder.join("cpu.max"))?;
    let (quota, period) = text.split_once(' ')?;
    ratio(quota, period)
}

/// `cpu.cfs_quota_us` is -1 where there is no limit.
fn v1(folder: &Path) -> Option<Quota> {
    let quota = line(&folder.join("cpu.cfs_quota_us"))?;
    let period = line(&folder.join("cpu.cfs_period_us"))?;
    ratio(&quota, &period)
}

/// Neither `max` nor a negative number is a limit.
fn ratio(quota: &str, period: &str) -> Option<Quota> {
    let (quota, period): (u64, u64) = (quota.parse().ok()?, period.parse().ok()?);
    let milli_cpus = quota.checked_mul(1000)?.checked_div(period)?;
    Some(Quota { milli_cpus })
}
