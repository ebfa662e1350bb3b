//! The sums of a run. Pure, and of bounded size however many files there are.

use crate::ledger::{Entry, Totals, Verdict, words};
use crate::task::{Record, Skip};
use pressroom_shared::FailureKind;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Names remembered per kind of failure, at most; the rest is in the ledger.
const NAMES: usize = 10;

/// The sums of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// Smaller pictures written.
    pub saved: u64,
    /// Originals kept, by name of the reason.
    pub kept: BTreeMap<String, u64>,
    /// Done by an earlier run and unchanged since.
    pub unchanged: u64,
    /// Failed in an earlier run and unchanged since; counts as failed in the exit code.
    pub failed_before: u64,
    /// Output exists and is not ours.
    pub exists: u64,
    /// Output is ours and was changed since.
    pub output_changed: u64,
    /// Failures by kind.
    pub failed: BTreeMap<FailureKind, Failures>,
    /// Left for the next run.
    pub interrupted: u64,
    /// Bytes of inputs that have an output of this run.
    pub bytes_in: u64,
    /// Bytes of those outputs.
    pub bytes_out: u64,
    /// CPU time of workers in microseconds.
    pub cpu_us: u64,
    /// Highest peak memory of a worker in bytes.
    pub peak_rss: u64,
    /// Workers that died.
    pub deaths: u64,
    /// Files that were done but carry a warning.
    pub warned: u64,
    /// Milliseconds from the start of the run to the end of its latest image.
    pub latest_ms: u64,
}

/// Files that failed in one way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failures {
    /// How many.
    pub count: u64,
    /// The first of them with what happened.
    pub first: Vec<(PathBuf, String)>,
}

impl Tally {
    /// Counts one input by its record.
    pub fn add_record(&mut self, record: &Record) {
        self.add(&Entry::of(record));
    }

    /// Counts one input.
    pub fn add(&mut self, entry: &Entry) {
        self.cpu_us += entry.cpu_us;
        self.peak_rss = self.peak_rss.max(entry.peak_rss);
        self.deaths += u64::from(entry.deaths);
        self.warned += u64::from(!entry.warnings.is_empty());
        self.latest_ms = self.latest_ms.max(entry.ended_ms);
        if let Some(bytes_out) = entry.bytes_out {
            self.bytes_in += entry.bytes_in;
            self.bytes_out += bytes_out;
        }
        match entry.verdict {
            Verdict::Saved => self.saved += 1,
            Verdict::Kept => *self.kept.entry(entry.reason.to_string()).or_default() += 1,
            Verdict::Skipped => self.add_skip(&entry.reason),
            Verdict::Failed => self.add_failure(entry),
            Verdict::Interrupted => self.interrupted += 1,
        }
    }

    fn add_skip(&mut self, reason: &str) {
        if reason == words::skip(Skip::Unchanged) {
            self.unchanged += 1;
        } else if reason == words::skip(Skip::FailedBefore) {
            self.failed_before += 1;
        } else if reason == words::skip(Skip::OutputChanged) {
            self.output_changed += 1;
        } else {
            self.exists += 1;
        }
    }

    fn add_failure(&mut self, entry: &Entry) {
        let kind = entry.failure().unwrap_or(FailureKind::Io);
        let failures = self.failed.entry(kind).or_default();
        failures.count += 1;
        if failures.first.len() < NAMES {
            failures
                .first
                .push((entry.source.clone(), entry.message.clone()));
        }
    }

    /// Originals kept for any reason.
    pub fn kept_in_all(&self) -> u64 {
        self.kept.values().sum()
    }

    /// Inputs that failed in this run.
    pub fn failed_in_all(&self) -> u64 {
        self.failed.values().map(|failures| failures.count).sum()
    }

    /// Inputs that needed no work.
    pub fn skipped(&self) -> u64 {
        self.unchanged + self.failed_before + self.left_alone()
    }

    /// Inputs whose output is not what a run wrote, and was left as it is.
    pub fn left_alone(&self) -> u64 {
        self.exists + self.output_changed
    }

    /// Inputs with an ending of any kind.
    pub fn ended(&self) -> u64 {
        self.saved + self.kept_in_all() + self.skipped() + self.failed_in_all() + self.interrupted
    }

    /// Inputs a worker was given or that failed: what this run really did.
    pub fn done(&self) -> u64 {
        self.saved + self.kept_in_all() + self.failed_in_all()
    }

    pub(crate) fn totals(&self) -> Totals {
        Totals {
            saved: self.saved,
            kept: self.kept_in_all(),
            skipped: self.skipped(),
            failed: self.failed_in_all(),
            interrupted: self.interrupted,
            unchanged: self.unchanged,
            failed_before: self.failed_before,
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
            cpu_us: self.cpu_us,
            peak_rss: self.peak_rss,
            deaths: self.deaths,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn every_entry_is_counted_once() {
        let tally = samples::tally();
        assert_eq!(tally.ended(), 6);
        assert_eq!(
            (tally.saved, tally.kept_in_all(), tally.skipped()),
            (1, 1, 1)
        );
        assert_eq!((tally.failed_in_all(), tally.interrupted), (2, 1));
        assert_eq!((tally.bytes_in, tally.bytes_out), (4_600_000, 399_000));
    }

    #[test]
    fn names_of_failures_are_bounded() {
        let mut tally = Tally::default();
        for number in 0..1000 {
            tally.add(&samples::failed(&format!("{number}.jpg")));
        }
        let failures = &tally.failed[&FailureKind::Corrupt];
        assert_eq!((failures.count, failures.first.len()), (1000, NAMES));
    }
}
