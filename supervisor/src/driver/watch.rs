//! The memory watch: looks at each worker's resident memory now and then. The last of the layers, and the only one that
//! sees what rlimits do not count.

use crate::sys;

/// Above the cap by this much, in tenths, a worker is ended. What the kernel enforces acts earlier.
const TENTHS: u64 = 11;

/// Whether a process holds clearly more than `cap` bytes.
pub(super) fn is_over(pid: u32, cap: u64) -> bool {
    sys::resident_bytes(pid).is_some_and(|resident| exceeds(resident, cap))
}

fn exceeds(resident: u64, cap: u64) -> bool {
    resident > (cap / 10).saturating_mul(TENTHS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_over_the_cap_is_borne() {
        assert!(!exceeds(110, 100));
        assert!(exceeds(111, 100));
        assert!(!exceeds(u64::MAX / 20, u64::MAX));
    }

    #[test]
    fn a_process_that_is_gone_is_not_over() {
        assert!(!is_over(u32::MAX, 0));
        assert!(is_over(std::process::id(), 0));
    }
}
