//! What the system can tell of processes: processor time, context switches, memory, and on which CPUs they may run.

use super::{ChildError, system};
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;
use rustix::thread::{CpuSet, sched_setaffinity};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often memory is looked at. Reading it takes well under a millisecond a process.
const LOOK: Duration = Duration::from_millis(20);

/// Whole microseconds.
pub(super) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Lets this process, and whatever it starts from now on, run on these CPUs only; on all where none are named.
pub(super) fn bind_to(cpus: &[usize]) -> Result<(), ChildError> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for cpu in cpus.iter().filter(|cpu| **cpu < CpuSet::MAX_CPU) {
        set.set(*cpu);
    }
    sched_setaffinity(None, &set).map_err(system("cannot choose the CPUs"))
}

/// Processor time and context switches.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Used {
    pub(super) cpu_us: u64,
    pub(super) voluntary: u64,
    pub(super) forced: u64,
}

impl Used {
    /// Of this process and of every process below it that has ended, so far.
    pub(super) fn now() -> Self {
        let parts = [UsageWho::RUSAGE_SELF, UsageWho::RUSAGE_CHILDREN].map(Self::of);
        Self {
            cpu_us: parts[0].cpu_us + parts[1].cpu_us,
            voluntary: parts[0].voluntary + parts[1].voluntary,
            forced: parts[0].forced + parts[1].forced,
        }
    }

    fn of(who: UsageWho) -> Self {
        // For these two kinds the call cannot fail.
        getrusage(who).map_or_else(|_| Self::default(), |usage| Self::from(&usage))
    }

    /// What came on top of `before`.
    pub(super) fn since(self, before: Self) -> Self {
        Self {
            cpu_us: self.cpu_us.saturating_sub(before.cpu_us),
            voluntary: self.voluntary.saturating_sub(before.voluntary),
            forced: self.forced.saturating_sub(before.forced),
        }
    }
}

impl From<&Usage> for Used {
    fn from(usage: &Usage) -> Self {
        let positive = |number: i64| u64::try_from(number).unwrap_or(0);
        let time = |time: TimeVal| positive(time.tv_sec()) * 1_000_000 + positive(time.tv_usec());
        Self {
            cpu_us: time(usage.user_time()) + time(usage.system_time()),
            voluntary: positive(usage.voluntary_context_switches()),
            forced: positive(usage.involuntary_context_switches()),
        }
    }
}

/// Most resident memory of this process so far, in bytes; 0 where the system does not say.
pub(super) fn own_peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    kibibytes(&status, "VmHWM:").unwrap_or(0) * 1024
}

/// Watches the memory of some processes in a thread of its own.
pub(super) struct MemoryWatch {
    pids: Arc<Mutex<Vec<u32>>>,
    highest: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl MemoryWatch {
    /// Begins to watch; nobody is watched yet.
    pub(super) fn start() -> Self {
        let (pids, highest, over) = (Arc::default(), Arc::default(), Arc::default());
        let watch = Self {
            pids: Arc::clone(&pids),
            highest: Arc::clone(&highest),
            over: Arc::clone(&over),
            thread: None,
        };
        let thread = std::thread::spawn(move || look(&pids, &highest, &over));
        Self {
            thread: Some(thread),
            ..watch
        }
    }

    /// Watches this process too.
    pub(super) fn add(&self, pid: u32) {
        self.pids
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(pid);
    }

    /// Ends watching and answers the highest sum seen, in bytes.
    pub(super) fn end(mut self) -> u64 {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It cannot panic; if it did, what it saw so far stands.
            let _ = thread.join();
        }
        self.highest.load(Ordering::Relaxed)
    }
}

fn look(pids: &Mutex<Vec<u32>>, highest: &AtomicU64, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        let now = pids.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let sum = now.into_iter().filter_map(resident).sum();
        highest.fetch_max(sum, Ordering::Relaxed);
        std::thread::park_timeout(LOOK);
    }
}

/// Resident bytes of a process, pages it shares counted by its share of them; where that is hidden, all of them.
fn resident(pid: u32) -> Option<u64> {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup"));
    let proportional = rollup.ok().and_then(|text| kibibytes(&text, "Pss:"));
    let kibibytes = proportional.or_else(|| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        self::kibibytes(&status, "VmRSS:")
    });
    kibibytes.map(|number| number * 1024)
}

/// The number in a line such as `Pss:  1234 kB`.
fn kibibytes(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_in_the_text() {
        let text = "Rss:     10 kB\nPss:      7 kB\nPss_Dirty:  3 kB\n";
        assert_eq!(kibibytes(text, "Pss:"), Some(7));
        assert_eq!(kibibytes(text, "VmHWM:"), None);
    }

    #[test]
    fn memory_that_is_used_is_seen() {
        let watch = MemoryWatch::start();
        watch.add(std::process::id());
        let block = vec![1u8; 32 << 20];
        let until = std::time::Instant::now() + Duration::from_secs(20);
        while watch.highest.load(Ordering::Relaxed) < 24 << 20 {
            assert!(std::time::Instant::now() < until, "nobody looked");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(block[7], 1);
        assert!(watch.end() >= 24 << 20);
        assert!(own_peak() >= 24 << 20);
    }

    #[test]
    fn work_costs_processor_time() {
        let before = Used::now();
        while Used::now().since(before).cpu_us < 2000 {
            super::super::steps::count();
        }
    }
}
