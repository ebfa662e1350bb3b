//! File trees that look like other machines.

use super::*;
use std::fs;
use tempfile::TempDir;

/// A machine made of files.
struct Machine {
    root: TempDir,
}

impl Machine {
    fn new() -> Self {
        Self {
            root: tempfile::tempdir().unwrap(),
        }
    }

    fn file(&self, path: &str, text: &str) -> &Self {
        let path = self.root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn mask(&self, list: &str) -> &Self {
        self.file(
            "proc/self/status",
            &format!("Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t{list}\n"),
        )
    }

    fn online(&self, list: &str) -> &Self {
        self.file("sys/devices/system/cpu/online", &format!("{list}\n"))
    }

    fn topology(&self, cpu: usize, name: &str, text: &str) -> &Self {
        self.file(
            &format!("sys/devices/system/cpu/cpu{cpu}/topology/{name}"),
            &format!("{text}\n"),
        )
    }

    fn facts(&self) -> Facts {
        survey(self.root.path())
    }

    fn cores(&self) -> (usize, usize) {
        let cores = self.facts().cores;
        (cores.usable, cores.cpus)
    }

    fn quota(&self) -> Option<u64> {
        self.facts().quota.map(|quota| quota.milli_cpus)
    }

    /// Version 2, mounted in the usual place.
    fn v2(&self, group: &str) -> &Self {
        self.file("proc/self/cgroup", &format!("0::{group}\n"))
            .file(
                "proc/self/mountinfo",
                "24 1 0:22 / /proc rw - proc proc rw\n\
             31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
            )
    }
}

/// Eight CPUs on four cores; CPU n and n + 4 are siblings.
fn with_smt() -> Machine {
    let machine = Machine::new();
    machine.online("0-7").mask("0-7");
    for cpu in 0..8 {
        machine.topology(
            cpu,
            "core_cpus_list",
            &format!("{},{}", cpu % 4, cpu % 4 + 4),
        );
    }
    machine
}

#[test]
fn siblings_count_once() {
    assert_eq!(with_smt().cores(), (4, 8));
}

#[test]
fn without_smt_each_cpu_is_a_core() {
    let machine = Machine::new();
    machine.online("0-3").mask("0-3");
    for cpu in 0..4 {
        machine.topology(cpu, "core_cpus_list", &cpu.to_string());
    }
    assert_eq!(machine.cores(), (4, 4));
}

#[test]
fn a_mask_with_halves_of_cores_counts_the_cores() {
    let machine = with_smt();
    machine.mask("0-3");
    assert_eq!(machine.cores(), (4, 4), "one thread of each of four cores");
    machine.mask("0,4");
    assert_eq!(machine.cores(), (1, 2), "both threads of one core");
    machine.mask("1,2,6");
    assert_eq!(machine.cores(), (2, 3));
    assert_eq!(machine.facts().cores.online, Some(8));
}

#[test]
fn older_kernels_have_another_name_for_the_list() {
    let machine = Machine::new();
    machine.online("0-3").mask("0-3");
    for cpu in 0..4 {
        machine.topology(
            cpu,
            "thread_siblings_list",
            &format!("{}-{}", cpu / 2 * 2, cpu / 2 * 2 + 1),
        );
    }
    assert_eq!(machine.cores(), (2, 4));
}

#[test]
fn core_numbers_repeat_in_every_package_and_die() {
    let machine = Machine::new();
    machine.online("0-7").mask("0-7");
    for cpu in 0..8 {
        machine.topology(cpu, "physical_package_id", &(cpu / 4).to_string());
        machine.topology(cpu, "core_id", &(cpu % 2).to_string());
    }
    assert_eq!(machine.cores(), (4, 8), "two packages of two cores");
    for cpu in 0..8 {
        machine.topology(cpu, "die_id", &(cpu / 2 % 2).to_string());
    }
    assert_eq!(
        machine.cores(),
        (8, 8),
        "two packages of two dies of two cores"
    );
}

#[test]
fn big_and_little_cores_all_count() {
    let machine = Machine::new();
    machine.online("0-7").mask("0-7");
    for cpu in 0..4 {
        machine.topology(
            cpu,
            "core_cpus_list",
            &format!("{}-{}", cpu / 2 * 2, cpu / 2 * 2 + 1),
        );
    }
    for cpu in 4..8 {
        machine.topology(cpu, "core_cpus_list", &cpu.to_string());
    }
    assert_eq!(machine.cores(), (6, 8));
}

#[test]
fn without_sysfs_each_allowed_cpu_is_a_core() {
    let machine = Machine::new();
    machine.mask("0-2,5");
    assert_eq!(machine.cores(), (4, 4));
    assert_eq!(machine.facts().cores.online, None);
}

#[test]
fn with_nothing_to_read_there_is_still_a_core() {
    let facts = Machine::new().facts();
    assert!(facts.cores.usable >= 1);
    assert_eq!((facts.quota, facts.memory), (None, None));
}

#[test]
fn cpus_that_are_allowed_but_not_there_do_not_count() {
    let machine = with_smt();
    machine.mask("0-127");
    assert_eq!(machine.cores(), (4, 8));
}

#[test]
fn masks_go_beyond_a_thousand_cpus() {
    let machine = Machine::new();
    machine.online("0-2047").mask("1023-1026,2047");
    assert_eq!(machine.cores(), (5, 5));
}

#[test]
fn version_2_takes_the_smallest_quota_of_all_ancestors() {
    let machine = Machine::new();
    machine
        .v2("/a/b/c")
        .file("sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n")
        .file("sys/fs/cgroup/a/b/cpu.max", "400000 100000\n");
    assert_eq!(machine.quota(), Some(4000));
    machine.file("sys/fs/cgroup/a/cpu.max", "75000 50000\n");
    assert_eq!(machine.quota(), Some(1500));
    machine.file("sys/fs/cgroup/a/b/c/cpu.max", "20000 100000\n");
    assert_eq!(machine.quota(), Some(200));
    assert_eq!(machine.facts().quota.map(Quota::workers), Some(1));
}

#[test]
fn no_quota_is_no_bound() {
    let machine = Machine::new();
    machine
        .v2("/a")
        .file("sys/fs/cgroup/a/cpu.max", "max 100000\n");
    assert_eq!(machine.quota(), None);
}

#[test]
fn in_a_container_the_mount_shows_only_a_part() {
    let machine = Machine::new();
    machine
        .file("proc/self/cgroup", "0::/docker/abc/inner\n")
        .file(
            "proc/self/mountinfo",
            "31 23 0:28 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
        )
        .file("sys/fs/cgroup/cpu.max", "200000 100000\n")
        .file("sys/fs/cgroup/inner/cpu.max", "max 100000\n");
    assert_eq!(machine.quota(), Some(2000));
    machine.file("proc/self/cgroup", "0::/../../elsewhere\n");
    assert_eq!(
        machine.quota(),
        Some(2000),
        "a group that is not in sight is bound by the mount point"
    );
}

fn v1(machine: &Machine, group: &str) {
    machine
        .file(
            "proc/self/cgroup",
            &format!("9:name=systemd:/\n4:memory:{group}\n3:cpu,cpuacct:{group}\n0::/\n"),
        )
        .file(
            "proc/self/mountinfo",
            "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n\
             34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n\
             35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
             41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
        );
}

#[test]
fn version_1_beside_an_empty_version_2() {
    let machine = Machine::new();
    v1(&machine, "/batch/job");
    machine
        .file(
            "sys/fs/cgroup/cpu,cpuacct/batch/job/cpu.cfs_quota_us",
            "-1\n",
        )
        .file(
            "sys/fs/cgroup/cpu,cpuacct/batch/job/cpu.cfs_period_us",
            "100000\n",
        );
    assert_eq!(machine.quota(), None);
    machine
        .file(
            "sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_quota_us",
            "250000\n",
        )
        .file(
            "sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_period_us",
            "100000\n",
        );
    assert_eq!(machine.quota(), Some(2500));
    assert_eq!(machine.facts().quota.map(Quota::workers), Some(3));
}

#[test]
fn mount_points_may_hold_blanks() {
    let machine = Machine::new();
    machine
        .file("proc/self/cgroup", "0::/\n")
        .file(
            "proc/self/mountinfo",
            "31 23 0:28 / /my\\040groups rw - cgroup2 cgroup rw\n",
        )
        .file("my groups/cpu.max", "100000 100000\n");
    assert_eq!(machine.quota(), Some(1000));
}

#[test]
fn memory_is_the_least_of_machine_and_groups() {
    let machine = Machine::new();
    machine.file(
        "proc/meminfo",
        "MemTotal:       16000000 kB\nMemAvailable:    8000000 kB\n",
    );
    assert_eq!(
        machine.facts().memory,
        Some(Memory {
            available: 8_192_000_000,
            by_group: false
        })
    );
    machine
        .v2("/a/b")
        .file("sys/fs/cgroup/a/memory.max", "4000000000\n")
        .file("sys/fs/cgroup/a/memory.current", "3000000000\n")
        .file(
            "sys/fs/cgroup/a/memory.stat",
            "anon 1\nfile 5\ninactive_file 500000000\nactive_file 7\n",
        )
        .file("sys/fs/cgroup/a/b/memory.max", "max\n");
    assert_eq!(
        machine.facts().memory,
        Some(Memory {
            available: 1_500_000_000,
            by_group: true
        })
    );
}

#[test]
fn memory_of_version_1_groups_counts_too() {
    let machine = Machine::new();
    v1(&machine, "/job");
    machine
        .file("proc/meminfo", "MemAvailable:    8000000 kB\n")
        .file(
            "sys/fs/cgroup/memory/memory.limit_in_bytes",
            "9223372036854771712\n",
        )
        .file(
            "sys/fs/cgroup/memory/job/memory.limit_in_bytes",
            "1000000000\n",
        )
        .file(
            "sys/fs/cgroup/memory/job/memory.usage_in_bytes",
            "300000000\n",
        )
        .file(
            "sys/fs/cgroup/memory/job/memory.stat",
            "inactive_file 1\ntotal_inactive_file 100000000\n",
        );
    assert_eq!(
        machine.facts().memory,
        Some(Memory {
            available: 800_000_000,
            by_group: true
        })
    );
}

#[test]
fn this_machine_has_cores_and_memory() {
    let facts = survey(Path::new("/"));
    assert!(
        facts.cores.usable >= 1 && facts.cores.usable <= facts.cores.cpus,
        "{facts:?}"
    );
    assert!(
        facts.memory.is_some_and(|memory| memory.available > 0),
        "{facts:?}"
    );
}

#[test]
fn one_cpu_of_each_core_leaves_the_siblings_idle() {
    let machine = with_smt();
    assert_eq!(one_cpu_per_core(machine.root.path()), [0, 1, 2, 3]);
    machine.mask("2-6");
    assert_eq!(one_cpu_per_core(machine.root.path()), [2, 3, 4, 5]);
}
