//! Which CPUs this process may use, and how many physical cores they belong to.

use super::line;
use std::collections::BTreeSet;
use std::path::Path;

/// CPUs and cores this process may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cores {
    /// Physical cores with at least one usable CPU.
    pub usable: usize,
    /// CPUs (hardware threads) this process may use.
    pub cpus: usize,
    /// CPUs the machine has online, where it says so.
    pub online: Option<usize>,
}

/// What tells two cores apart.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CoreId {
    /// The CPUs that share the core, as the kernel lists them.
    Siblings(String),
    /// Package, die and core number; the core number alone repeats in every package.
    Numbers(String, String, String),
    /// Nothing is known: every CPU is taken for a core.
    Cpu(usize),
}

/// Counts usable cores.
pub(super) fn survey(root: &Path) -> Cores {
    let system = root.join("sys/devices/system/cpu");
    let (mask, online) = usable(root, &system);
    let cores: BTreeSet<CoreId> = mask.iter().map(|cpu| core_of(&system, *cpu)).collect();
    Cores {
        usable: cores.len(),
        cpus: mask.len(),
        online,
    }
}

/// The lowest usable CPU of each usable core, in ascending order: an affinity mask that leaves SMT siblings idle.
pub fn one_cpu_per_core(root: &Path) -> Vec<usize> {
    let system = root.join("sys/devices/system/cpu");
    let mut seen = BTreeSet::new();
    let mut cpus: Vec<usize> = usable(root, &system).0.into_iter().collect();
    cpus.retain(|cpu| seen.insert(core_of(&system, *cpu)));
    cpus
}

/// CPUs this process may use, and how many the machine has online.
fn usable(root: &Path, system: &Path) -> (BTreeSet<usize>, Option<usize>) {
    let online = line(&system.join("online")).and_then(|list| cpu_list(&list));
    let mut mask = affinity(root)
        .or_else(|| online.clone())
        .unwrap_or_else(unseen);
    // The mask may name CPUs that were never plugged in.
    if let Some(online) = &online {
        mask.retain(|cpu| online.contains(cpu));
    }
    if mask.is_empty() {
        mask = unseen();
    }
    (mask, online.map(|online| online.len()))
}

/// The affinity mask as the kernel prints it, which works beyond 1,024 CPUs too. Cpusets are already folded in.
fn affinity(root: &Path) -> Option<BTreeSet<usize>> {
    let status = std::fs::read_to_string(root.join("proc/self/status")).ok()?;
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    cpu_list(list.trim())
}

/// What the standard library can tell where there is neither /proc nor /sys.
fn unseen() -> BTreeSet<usize> {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    (0..count).collect()
}

fn core_of(system: &Path, cpu: usize) -> CoreId {
    let topology = system.join(format!("cpu{cpu}/topology"));
    let read = |name: &str| line(&topology.join(name)).filter(|text| !text.is_empty());
    if let Some(list) = read("core_cpus_list").or_else(|| read("thread_siblings_list")) {
        return CoreId::Siblings(list);
    }
    match (read("physical_package_id"), read("core_id")) {
        (Some(package), Some(core)) => {
            CoreId::Numbers(package, read("die_id").unwrap_or_default(), core)
        }
        (None, _) | (_, None) => CoreId::Cpu(cpu),
    }
}

/// Reads a list such as `0-3,8,10-11`.
fn cpu_list(text: &str) -> Option<BTreeSet<usize>> {
    let mut cpus = BTreeSet::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        // No kernel has more; a wrong file must not take the memory.
        if last > 1 << 16 {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_the_kernel_writes_them() {
        let cpus = |text| cpu_list(text).map(|cpus| cpus.into_iter().collect::<Vec<_>>());
        assert_eq!(cpus("0-3,8,10-11"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(cpus(""), Some(vec![]));
        assert_eq!(cpus("1500"), Some(vec![1500]));
        assert_eq!(cpus("0-x"), None);
        assert_eq!(cpus("0-99999999999"), None);
    }
}
