//! Which machine this is, as far as a reader of the figures must know.

use crate::book::MachineFacts;
use pressroom_supervisor::cli::config::Workers;
use pressroom_supervisor::cores::{self, Facts, Wish};
use std::path::Path;

/// What the machine offers.
pub(crate) struct Place {
    /// Cores, quota and memory.
    pub(crate) facts: Facts,
    /// One CPU of each usable core.
    pub(crate) cores: Vec<usize>,
    /// For the report.
    pub(crate) words: MachineFacts,
}

/// Looks at the machine below `root`, which is `/` but for tests; workers may have `memory_per_worker` bytes each.
pub(crate) fn look(root: &Path, memory_per_worker: u64) -> Place {
    let facts = cores::survey(root);
    let count = cores::choose(
        &facts,
        &Wish {
            workers: Workers::Auto { reserve: 0 },
            memory_per_worker,
            memory_total: None,
            files: None,
            by_open_files: u64::MAX,
        },
    );
    let words = MachineFacts {
        processor: processor(&read(root, "proc/cpuinfo")),
        kernel: read(root, "proc/sys/kernel/osrelease").trim().to_owned(),
        workers: count.why,
        usable: count.count,
        load_before: load(&read(root, "proc/loadavg")),
    };
    Place {
        facts,
        cores: cores::one_cpu_per_core(root),
        words,
    }
}

fn read(root: &Path, name: &str) -> String {
    std::fs::read_to_string(root.join(name)).unwrap_or_default()
}

/// The name of the first processor, where the kernel knows one.
fn processor(cpuinfo: &str) -> String {
    let named = |line: &str| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.trim().to_owned())
    };
    cpuinfo
        .lines()
        .find_map(named)
        .unwrap_or_else(|| "a processor without a name".to_owned())
}

fn load(loadavg: &str) -> Option<f64> {
    loadavg.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_tells_name_and_load() {
        let text = "processor\t: 0\nmodel name\t: Example CPU @ 2GHz\n";
        assert_eq!(processor(text), "Example CPU @ 2GHz");
        assert_eq!(processor(""), "a processor without a name");
        assert_eq!(load("0.52 0.58 0.59 1/467 12345\n"), Some(0.52));
        assert_eq!(load(""), None);
    }
}
