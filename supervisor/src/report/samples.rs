//! A small run for the snapshots.

use super::facts::Facts;
use super::tally::Tally;
use crate::ledger::{Entry, HowEnded, Verdict};
use crate::passed::{Passed, PassedOver};
use std::path::{Path, PathBuf};

pub(super) fn entry(target: &str, verdict: Verdict, reason: &'static str) -> Entry {
    Entry {
        target: PathBuf::from(target),
        source: Path::new("/in").join(target),
        verdict,
        reason: reason.into(),
        message: String::new(),
        warnings: Vec::new(),
        format: None,
        bytes_in: 2_000,
        bytes_out: None,
        width: None,
        height: None,
        quality: None,
        cpu_us: 0,
        wall_us: 0,
        peak_rss: 0,
        deaths: 0,
        seat: None,
        started_ms: 0,
        ended_ms: 0,
    }
}

pub(super) fn saved() -> Entry {
    Entry {
        format: Some("jpeg".into()),
        bytes_in: 4_500_000,
        bytes_out: Some(299_000),
        width: Some(4000),
        height: Some(3000),
        quality: Some(61),
        cpu_us: 40_000,
        wall_us: 41_000,
        peak_rss: 14 << 20,
        seat: Some(1),
        started_ms: 5,
        ended_ms: 46,
        ..entry("a/one.jpg", Verdict::Saved, "")
    }
}

pub(super) fn kept() -> Entry {
    Entry {
        bytes_in: 100_000,
        bytes_out: Some(100_000),
        warnings: vec!["the name says another format; the content is PNG".to_owned()],
        ..entry("a/small.jpg", Verdict::Kept, "within_target")
    }
}

pub(super) fn failed(target: &str) -> Entry {
    Entry {
        message: "the data ends after 12 of 40 rows".to_owned(),
        deaths: 1,
        ..entry(target, Verdict::Failed, "corrupt")
    }
}

pub(super) fn tally() -> Tally {
    let mut tally = Tally::default();
    for entry in [
        saved(),
        kept(),
        failed("b/cut.jpg"),
        failed("b/new\nline.jpg"),
        entry("c/old.jpg", Verdict::Skipped, "unchanged"),
        entry("c/later.jpg", Verdict::Interrupted, ""),
    ] {
        tally.add(&entry);
    }
    tally
}

fn passed_over() -> PassedOver {
    let mut over = PassedOver::default();
    over.set(Passed::NotPicture, 3);
    over
}

pub(super) fn facts() -> Facts {
    Facts {
        build: "pressroom 1.2.3".to_owned(),
        output: PathBuf::from("/out"),
        workers: 2,
        wall_ms: 1200,
        how: Some(HowEnded::Finished),
        discovered: 6,
        expected: None,
        ignored: passed_over(),
        place: None,
        dry_run: false,
        started: 0,
        ended: Some(1200),
    }
}
