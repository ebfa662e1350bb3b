//! How much is still to do, and how long that will take at the pace so far. Pure.

use crate::ledger::{Entry, Verdict};
use crate::source::Expected;

/// Before this much of a run is over, its pace says nothing.
const TOO_EARLY_MS: u64 = 2_000;

/// What was got through so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Pace {
    /// Bytes of all inputs with an ending.
    ended: u64,
    /// Bytes of those that took time.
    worked: u64,
}

impl Pace {
    pub(super) fn add(&mut self, entry: &Entry) {
        self.ended += entry.bytes_in;
        match entry.verdict {
            Verdict::Saved | Verdict::Kept | Verdict::Failed => self.worked += entry.bytes_in,
            Verdict::Skipped | Verdict::Interrupted => {}
        }
    }

    /// Milliseconds left, as far as that can be told: what is left is taken for new, so that it is rather less.
    pub(super) fn left_ms(&self, expected: Option<Expected>, elapsed_ms: u64) -> Option<u64> {
        let expected = expected.filter(|expected| expected.complete)?;
        if elapsed_ms < TOO_EARLY_MS || self.worked == 0 {
            return None;
        }
        let left = expected.bytes.saturating_sub(self.ended);
        let ms = u128::from(left) * u128::from(elapsed_ms) / u128::from(self.worked);
        u64::try_from(ms).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    fn expected(bytes: u64, complete: bool) -> Option<Expected> {
        Some(Expected {
            inputs: 10,
            bytes,
            complete,
        })
    }

    #[test]
    fn time_left_follows_the_bytes_that_took_time() {
        let mut pace = Pace::default();
        let of = |verdict, bytes_in| Entry {
            bytes_in,
            ..samples::entry("a.jpg", verdict, "unchanged")
        };
        pace.add(&of(Verdict::Skipped, 4_000));
        assert_eq!(
            pace.left_ms(expected(10_000, true), 3_000),
            None,
            "nothing was worked on"
        );
        pace.add(&of(Verdict::Saved, 1_500));
        pace.add(&of(Verdict::Failed, 500));
        assert_eq!(pace.left_ms(expected(10_000, true), 3_000), Some(6_000));
        assert_eq!(
            pace.left_ms(expected(10_000, true), 1_999),
            None,
            "too early"
        );
        assert_eq!(
            pace.left_ms(expected(10_000, false), 3_000),
            None,
            "still counting"
        );
        assert_eq!(pace.left_ms(None, 3_000), None);
        assert_eq!(
            pace.left_ms(expected(5_000, true), 3_000),
            Some(0),
            "more came than was counted"
        );
    }
}
