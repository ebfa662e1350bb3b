//! What a worker has imposed on itself by the time it says `Ready`, looked at from outside.

use crate::rig::{Rig, Test};
use pressroom_shared::memory_marker;
use rustix::process::{Resource, Rlimit, setrlimit};
use std::process::{Command, ExitCode};

/// Makes this binary allocate more than it may.
pub(crate) const GREEDY: &str = "__greedy";

pub(crate) const TESTS: &[Test] = &[
    ("the_limits_are_in_force", the_limits_are_in_force),
    (
        "a_small_cap_is_enough_to_start",
        a_small_cap_is_enough_to_start,
    ),
    ("only_the_wire_is_open", only_the_wire_is_open),
    ("a_leaked_file_is_closed", a_leaked_file_is_closed),
    ("there_are_two_threads", there_are_two_threads),
    (
        "a_refused_allocation_leaves_its_marker",
        a_refused_allocation_leaves_its_marker,
    ),
];

/// The soft limit in a line of /proc/PID/limits.
fn soft(limits: &str, name: &str) -> String {
    let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
    line[name.len()..]
        .split_whitespace()
        .next()
        .unwrap()
        .to_owned()
}

fn the_limits_are_in_force() {
    let (rig, ready) = Rig::ready();
    let limits = std::fs::read_to_string(rig.proc("limits")).unwrap();
    let data: u64 = soft(&limits, "Max data size").parse().unwrap();
    assert_eq!(ready.enforced.rlimit_data, Some(data));
    assert!(data < 64 << 20 && data > 56 << 20, "{data}");
    assert_eq!(
        soft(&limits, "Max address space"),
        ((64u64 << 20) + (4 << 30)).to_string()
    );
    assert_eq!(soft(&limits, "Max core file size"), "0");
    assert_eq!(soft(&limits, "Max open files"), "64");
    assert_eq!(
        soft(&limits, "Max file size"),
        ((4u64 << 30) + (1 << 20)).to_string()
    );
    assert_eq!(soft(&limits, "Max cpu time"), "110");
    assert_eq!(
        status(&rig, "SigBlk:"),
        format!("{:016x}", 1u64 << (25 - 1))
    );
}

fn status(rig: &Rig, key: &str) -> String {
    let status = std::fs::read_to_string(rig.proc("status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(key)).unwrap();
    line[key.len()..].trim().to_owned()
}

fn a_small_cap_is_enough_to_start() {
    let mut rig = Rig::spawn();
    let mut go = rig.go();
    go.limits.memory = 16 << 20;
    rig.start(go);
}

fn descriptors(rig: &Rig) -> Vec<String> {
    let entries = std::fs::read_dir(rig.proc("fd")).unwrap();
    let target = |entry: std::fs::DirEntry| std::fs::read_link(entry.path()).unwrap();
    let mut targets: Vec<(u32, String)> = entries
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let number = entry.file_name().to_str().unwrap().parse().unwrap();
            (number, target(entry).display().to_string())
        })
        .collect();
    targets.sort();
    targets.into_iter().map(|(_, target)| target).collect()
}

fn only_the_wire_is_open() {
    let (rig, _) = Rig::ready();
    let open = descriptors(&rig);
    assert_eq!(open[0], "/dev/null");
    assert_eq!(
        open[1], open[2],
        "standard output is not the standard error"
    );
    assert!(
        open[3].starts_with("pipe:") && open[4].starts_with("pipe:"),
        "{open:?}"
    );
    assert!(open[5].ends_with("/status"), "{open:?}");
    assert_eq!(open[6], rig.staging.path().display().to_string());
    assert_eq!(open.len(), 7, "{open:?}");
}

fn a_leaked_file_is_closed() {
    let secret = tempfile::NamedTempFile::new().unwrap();
    let mut shell = Command::new("/bin/sh");
    let script = "exec 9<\"$1\"; shift; exec \"$@\"";
    let own = std::env::current_exe().unwrap();
    shell
        .args(["-c", script, "sh"])
        .arg(secret.path())
        .arg(own)
        .arg(crate::rig::WORKER);
    let mut rig = Rig::spawn_by(shell);
    let go = rig.go();
    rig.start(go);
    let secret = secret.path().display().to_string();
    assert!(!descriptors(&rig).contains(&secret));
}

fn there_are_two_threads() {
    let (rig, _) = Rig::ready();
    assert_eq!(status(&rig, "Threads:"), "2");
}

/// Not a test: the part of a process that meets its limit where no error can be returned.
pub(crate) fn be_greedy() -> ExitCode {
    let limit = Some(32 << 20);
    let rlimit = Rlimit {
        current: limit,
        maximum: limit,
    };
    setrlimit(Resource::Data, rlimit).unwrap();
    // An optimised build would do without a block that it knows all about.
    let block = std::hint::black_box(vec![1u8; 123_456_789]);
    ExitCode::from(block[7])
}

fn a_refused_allocation_leaves_its_marker() {
    let mut command = Command::new("/proc/self/exe");
    let output = command.arg(GREEDY).output().unwrap();
    assert_eq!(output.status.code(), None, "{output:?}");
    assert_eq!(
        memory_marker(&output.stderr),
        Some(123_456_789),
        "{output:?}"
    );
}
