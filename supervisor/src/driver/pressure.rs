//! Whether the system has memory for another image. Looks at what is free now and then; the pool decides what follows.

use crate::cores::Gauge;
use std::time::{Duration, Instant};

/// Time between two looks.
const EVERY: Duration = Duration::from_millis(500);

/// Low memory ends only well above where it began, in quarters, so that it does not begin again at once.
const QUARTERS: u64 = 5;

/// A change worth telling; both with the bytes that are free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// There is less than one worker may take.
    Low(u64),
    /// There is clearly more again.
    Enough(u64),
}

/// Watches the memory that is free.
#[derive(Debug)]
pub(crate) struct Pressure {
    gauge: Gauge,
    floor: u64,
    low: bool,
    looked: Option<Instant>,
}

impl Pressure {
    /// Below `floor` bytes memory is low.
    pub(crate) fn new(gauge: Gauge, floor: u64) -> Self {
        Self {
            gauge,
            floor,
            low: false,
            looked: None,
        }
    }

    /// Looks if it is time to.
    pub(super) fn look(&mut self, now: Instant) -> Option<Change> {
        if self
            .looked
            .is_some_and(|looked| now.duration_since(looked) < EVERY)
        {
            return None;
        }
        self.looked = Some(now);
        self.judge(self.gauge.read()?.available)
    }

    fn judge(&mut self, free: u64) -> Option<Change> {
        if !self.low && free < self.floor {
            self.low = true;
            return Some(Change::Low(free));
        }
        if self.low && free / QUARTERS * 4 >= self.floor {
            self.low = false;
            return Some(Change::Enough(free));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_begins_below_the_floor_and_ends_well_above() {
        let root = tempfile::tempdir().unwrap();
        let set = |kib: u64| {
            std::fs::create_dir_all(root.path().join("proc")).unwrap();
            let text = format!("MemTotal: 99999 kB\nMemAvailable:   {kib} kB\n");
            std::fs::write(root.path().join("proc/meminfo"), text).unwrap();
        };
        let mut pressure = Pressure::new(Gauge::new(root.path()), 100 << 10);
        let mut now = Instant::now();
        assert_eq!(pressure.look(now), None, "nothing can be told");
        let mut look = |kib: u64| {
            set(kib);
            now += EVERY;
            pressure.look(now)
        };
        assert_eq!(look(100), None);
        assert_eq!(look(99), Some(Change::Low(99 << 10)));
        assert_eq!(look(50), None);
        assert_eq!(look(110), None, "not yet");
        assert_eq!(look(126), Some(Change::Enough(126 << 10)));
        assert_eq!(look(120), None);
        assert_eq!(look(1), Some(Change::Low(1 << 10)));
    }

    #[test]
    fn it_is_not_looked_at_more_often_than_is_of_use() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("proc")).unwrap();
        std::fs::write(root.path().join("proc/meminfo"), "MemAvailable: 1 kB\n").unwrap();
        let mut pressure = Pressure::new(Gauge::new(root.path()), 1 << 20);
        let now = Instant::now();
        assert!(pressure.look(now).is_some());
        std::fs::write(root.path().join("proc/meminfo"), "MemAvailable: 9999 kB\n").unwrap();
        assert_eq!(pressure.look(now + EVERY / 2), None);
        assert!(pressure.look(now + EVERY).is_some());
    }
}
