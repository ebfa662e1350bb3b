//! What supervision costs: memory that does not grow with the number of files, and CPU per file.
//!
//! Memory is a promise and checked; CPU time depends on the machine and is only said. `COST_FILES` sets the number.

use crate::cases::Case;
use crate::test;
use libtest_mimic::Trial;
use std::time::Duration;

pub(crate) fn tests() -> Vec<Trial> {
    vec![test("the_supervisors_memory_stays_flat", flat)]
}

/// What a supervisor may hold, whatever the number of files.
const MOST: u64 = 64 << 20;

/// Resident high-water mark in bytes and CPU time so far of a process that still runs.
fn usage(pid: u32) -> Option<(u64, Duration)> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some((kilobytes << 10, Duration::from_millis(ticks * 10)))
}

/// Files that cost a worker next to nothing: text, told as such from its first bytes.
fn flat() {
    let files: u64 = std::env::var("COST_FILES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(4000);
    let case = Case::new();
    for number in 0..files {
        case.input(
            format!("{}/{number}.jpg", number / 1000),
            format!("text {number}").as_bytes(),
        );
    }
    let mut child = case.start(&["-j", "2", "-Q"]);
    let mut last = (0, Duration::ZERO);
    while child.try_wait().expect("our own child").is_none() {
        last = usage(child.id())
            .filter(|usage| usage.0 > 0)
            .unwrap_or(last);
        std::thread::sleep(Duration::from_millis(10));
    }
    let ran = case.finish(child);
    ran.expect_code(1);
    case.check(&ran, usize::try_from(files).expect("small"));
    let wall = ran.records().run["wall_ms"].as_u64().unwrap_or(0).max(1);
    eprintln!(
        "cost: {files} files in {wall} ms ({} a second); supervisor {} KiB, {} microseconds of CPU a file",
        files * 1000 / wall,
        last.0 >> 10,
        last.1.as_micros() / u128::from(files),
    );
    assert!(last.0 < MOST, "the supervisor held {} bytes", last.0);
}
