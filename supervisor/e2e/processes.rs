//! Who is alive: processes found by the folder they work in, which is one per case and inherited by workers.

use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::time::{Duration, Instant};

/// Processes that work in `folder`, apart from this one.
pub(crate) fn inside(folder: &Path) -> Vec<u32> {
    let own = std::process::id();
    all()
        .into_iter()
        .filter(|pid| *pid != own)
        .filter(|pid| std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == folder))
        .filter(|pid| !is_zombie(*pid))
        .collect()
}

/// Workers among them.
pub(crate) fn workers(folder: &Path) -> Vec<u32> {
    inside(folder)
        .into_iter()
        .filter(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.starts_with(b"pressroom-worker-")
        })
        .collect()
}

/// Waits until `done`, at most `patience`; says whether it came to that.
pub(crate) fn wait_until(patience: Duration, mut done: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + patience;
    while Instant::now() < until {
        if done() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    done()
}

/// Sends a signal; a process that is gone needs none.
pub(crate) fn send(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

fn all() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("these tests need /proc");
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect()
}

fn is_zombie(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

/// Whether what these tests start ignores a signal: a script's job in the background ignores that of Ctrl-C, and what
/// `nohup` starts the end of the terminal. A run keeps ignoring it, as it should.
pub(crate) fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status
        .lines()
        .find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    ignored.unwrap_or(0) & 1 << (signal.as_raw() - 1) != 0
}

/// The signal of Ctrl-C; where that is ignored, the other one that asks the same.
pub(crate) fn interrupt() -> Signal {
    if is_ignored(Signal::INT) {
        Signal::TERM
    } else {
        Signal::INT
    }
}
