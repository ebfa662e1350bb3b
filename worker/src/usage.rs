//! What a job cost: CPU, wall time, memory.
//!
//! Memory is read from /proc/self/status, opened before confinement closes /proc. getrusage would be simpler and wrong: its
//! peak survives exec, so a worker spawned by a supervisor of 60 MiB would never report less.

use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Instant;

/// More than the lines up to VmRSS take, whatever the machine; what follows them may be cut.
const STATUS: usize = 4096;

/// Resident memory in bytes; zeros where the system does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) peak: u64,
    pub(crate) now: u64,
}

/// Reads this process's own memory use.
#[derive(Debug)]
pub(crate) struct Gauge {
    status: Option<File>,
}

impl Gauge {
    /// Must be called before confinement. Without /proc the gauge reads zeros.
    pub(crate) fn open() -> Self {
        Self {
            status: File::open("/proc/self/status").ok(),
        }
    }

    pub(crate) fn read(&self) -> Memory {
        let mut text = [0; STATUS];
        let read = |status: &File| status.read_at(&mut text, 0).ok();
        let length = self.status.as_ref().and_then(read).unwrap_or(0);
        memory(&text[..length])
    }
}

/// The two figures out of the text of /proc/PID/status.
fn memory(status: &[u8]) -> Memory {
    let bytes = |key: &[u8]| {
        let line = status
            .split(|byte| *byte == b'\n')
            .find(|line| line.starts_with(key));
        line.and_then(kibibytes).unwrap_or(0).saturating_mul(1024)
    };
    Memory {
        peak: bytes(b"VmHWM:"),
        now: bytes(b"VmRSS:"),
    }
}

/// The number in a line like `VmRSS: 1234 kB`.
fn kibibytes(line: &[u8]) -> Option<u64> {
    let line = std::str::from_utf8(line).ok()?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// CPU and wall time since it was started.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    cpu_us: u64,
    wall: Instant,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self {
            cpu_us: cpu_us(),
            wall: Instant::now(),
        }
    }

    /// Microseconds of CPU and of wall time so far.
    pub(crate) fn read(&self) -> (u64, u64) {
        let wall = u64::try_from(self.wall.elapsed().as_micros()).unwrap_or(u64::MAX);
        (cpu_us().saturating_sub(self.cpu_us), wall)
    }
}

/// CPU time of the whole process, in microseconds.
fn cpu_us() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    part(time.tv_sec)
        .saturating_mul(1_000_000)
        .saturating_add(part(time.tv_nsec) / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_in_the_text() {
        let status = b"Name:\tpressroom\nVmPeak:\t  9999 kB\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\nRssAnon:\t 1 kB\n";
        let expected = Memory {
            peak: 2048 * 1024,
            now: 1024 * 1024,
        };
        assert_eq!(memory(status), expected);
    }

    #[test]
    fn nonsense_reads_as_zero() {
        assert_eq!(memory(b"VmHWM:\nVmRSS: many kB"), Memory::default());
        assert_eq!(Gauge { status: None }.read(), Memory::default());
    }

    #[test]
    fn the_gauge_sees_memory_being_used() {
        let gauge = Gauge::open();
        let block = vec![1u8; 32 << 20];
        let during = gauge.read();
        assert_eq!(block[7], 1);
        assert!(during.now >= 24 << 20, "{during:?}");
        drop(block);
        assert!(gauge.read().peak >= 24 << 20);
    }

    #[test]
    fn the_stopwatch_counts_work_as_cpu() {
        let watch = Stopwatch::start();
        let mut sum = 0u64;
        while watch.read().0 < 2000 {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(1));
        }
        assert!(watch.read().1 > 0);
    }
}
