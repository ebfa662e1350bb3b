//! Processes: signals, resident memory.

use rustix::process::{Pid, getpid, kill_process, kill_process_group};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Signals sent to workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// End at once.
    Kill,
    /// Stand still.
    Stop,
    /// Go on.
    Continue,
}

impl From<Signal> for rustix::process::Signal {
    fn from(signal: Signal) -> Self {
        match signal {
            Signal::Kill => Self::KILL,
            Signal::Stop => Self::STOP,
            Signal::Continue => Self::CONT,
        }
    }
}

/// Sends a signal to a process group that `leader` leads. A group that is gone needs none.
pub(crate) fn signal_group(leader: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(pid, signal.into());
    }
}

/// Stands still until somebody sends SIGCONT.
pub(crate) fn stop_self() {
    let _ = kill_process(getpid(), rustix::process::Signal::STOP);
}

/// Ends this process by `signal`, as if it had never been caught, so that the shell and cron see it. Returns only if that
/// is impossible.
pub(crate) fn die_by(signal: i32) {
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}

/// From now on a file that grows beyond the limit (`ulimit -f`) is a failed write and not the end of this process. A worker
/// gets the usual effect back, for a signal that is handled is not inherited.
pub(crate) fn outlive_file_size_limit() {
    const XFSZ: i32 = 25;
    // Without the handler the process ends as it would have anyway.
    let _ = signal_hook::flag::register(XFSZ, Arc::default());
}

/// A name for this executable that stays right when its file is replaced or removed during the run.
pub(crate) fn own_executable() -> PathBuf {
    let link = Path::new("/proc/self/exe");
    if link.exists() {
        return link.to_path_buf();
    }
    std::env::current_exe().unwrap_or_else(|_| PathBuf::from("pressroom"))
}

/// Whether the signal was set to be ignored when this process started (`nohup`). To be asked before any handler is set.
pub(crate) fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignored_mask(&status).is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

fn ignored_mask(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

/// Resident bytes of a process, if it can be told.
pub(crate) fn resident_bytes(pid: u32) -> Option<u64> {
    let statm = std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Makes the kernel pick `pid` rather than the supervisor when the system runs out of memory.
pub(crate) fn prefer_as_victim(pid: u32) -> io::Result<()> {
    std::fs::write(format!("/proc/{pid}/oom_score_adj"), "500")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_of_ignored_signals_is_read() {
        let status = "Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\t0\n";
        assert_eq!(ignored_mask(status), Some(0x1001));
        assert_eq!(ignored_mask("Name:\tx\n"), None);
    }

    #[test]
    fn this_process_has_some_memory() {
        assert!(resident_bytes(std::process::id()).is_some_and(|bytes| bytes > 100_000));
        assert_eq!(resident_bytes(u32::MAX), None);
    }

    #[test]
    fn the_executable_is_found() {
        assert!(own_executable().exists());
    }
}
