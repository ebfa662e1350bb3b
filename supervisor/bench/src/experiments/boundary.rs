//! What crosses the boundary between two processes: a path, all bytes, or a handle.

use super::{everywhere, experiment};
use crate::book::{Experiment, Figure, Row, Table, Unit};
use crate::lab::{Collected, Lab, Measured, Variant};
use crate::messages::{Delivery, Parcel, Way, Work};
use crate::nursery::RunError;
use crate::published;
use crate::stats::Summary;
use crate::wording;
use std::path::PathBuf;
use std::time::Duration;

const KEY: &str = "boundary";
const TITLE: &str = "What crosses the boundary between processes";

const MB: u64 = 1_000_000;

/// Sizes of the issue.
const SIZES: [u64; 5] = [MB, 4 * MB, 16 * MB, 64 * MB, 128 * MB];

/// Seconds that a megabyte takes in all three ways, filling and checking included, on a slow machine; to leave sizes out
/// before they are tried.
const SECONDS_PER_MB: f64 = 0.006;

/// The biggest payload may take this share of the memory that is free: it is there three times.
const MEMORY_SHARE: u64 = 8;

/// Sizes that time and memory allow, and why others are left out.
fn sizes(share: Duration, free: Option<u64>) -> (Vec<u64>, Vec<String>) {
    let mut left = share.as_secs_f64() / 3.0;
    let (mut sizes, mut left_out) = (Vec::new(), Vec::new());
    for size in SIZES {
        let cost = size as f64 / MB as f64 * SECONDS_PER_MB;
        let name = wording::bytes(size);
        if free.is_some_and(|free| size > free / MEMORY_SHARE) {
            left_out.push(format!(
                "{name}: not enough free memory to hold it three times"
            ));
        } else if cost > left {
            left_out.push(format!(
                "{name}: would take too much of the budget; raise --budget"
            ));
        } else {
            left -= cost;
            sizes.push(size);
        }
    }
    (sizes, left_out)
}

/// Every size in every way; the ways take turns, so that none always comes first.
fn parcels(sizes: &[u64]) -> Vec<Parcel> {
    let ways = [Way::Path, Way::Pipe, Way::Handle];
    let turn = |(place, bytes): (usize, &u64)| {
        let bytes = *bytes;
        (0..ways.len()).map(move |n| Parcel {
            way: ways[(n + place) % ways.len()],
            bytes,
        })
    };
    sizes.iter().enumerate().flat_map(turn).collect()
}

/// Makes the experiment; `free` is the memory that is free, in bytes.
///
/// # Errors
/// When the user wants out.
pub(crate) fn run(
    lab: &mut Lab,
    share: Duration,
    free: Option<u64>,
) -> Result<Experiment, RunError> {
    let (sizes, left_out) = sizes(share, free);
    if sizes.is_empty() {
        return Ok(Experiment {
            left_out,
            ..experiment(KEY, TITLE)
        });
    }
    let request = everywhere(Work::Transfer(parcels(&sizes), PathBuf::new()));
    let variant = Variant::new("payloads from process to process", request);
    let collected = lab.collect(&[variant], share)?;
    let mut experiment = digest(&sizes, &collected);
    experiment.left_out.extend(left_out);
    Ok(experiment)
}

fn digest(sizes: &[u64], collected: &Collected) -> Experiment {
    let mut experiment = experiment(KEY, TITLE);
    experiment.rounds = collected.rounds;
    experiment.left_out.extend(collected.trouble.clone());
    if collected.rounds == 0 || sizes.is_empty() {
        return experiment;
    }
    experiment.tables.push(Table {
        title:
            "time the sender is blocked, and until the receiver has read every byte and answered"
                .to_owned(),
        of: "payload",
        rows: sizes.iter().map(|size| row(collected, *size)).collect(),
        against: None,
        published: Some(published::BOUNDARY),
    });
    experiment.notes.push(
        "handle: a memfd passed over a socket; filling it is shown apart. Path: the file is in the page cache".to_owned(),
    );
    experiment.notes.extend(per_megabyte(sizes, collected));
    experiment
}

fn row(collected: &Collected, bytes: u64) -> Row {
    let figure = |name, way, of: fn(&Delivery) -> f64| {
        let parcel = Parcel { way, bytes };
        Figure::of(
            name,
            Unit::Seconds,
            &collected.each(0, |run| pick(run, parcel, of)),
        )
    };
    let figures = [
        figure("path blocked", Way::Path, |it| it.blocked_us),
        figure("path read", Way::Path, |it| it.round_trip_us),
        figure("pipe blocked", Way::Pipe, |it| it.blocked_us),
        figure("pipe read", Way::Pipe, |it| it.round_trip_us),
        figure("handle blocked", Way::Handle, |it| it.blocked_us),
        figure("handle read", Way::Handle, |it| it.round_trip_us),
        figure("handle filled", Way::Handle, |it| it.fill_us),
    ];
    Row {
        label: wording::bytes(bytes),
        figures: figures.into_iter().flatten().collect(),
        verdict: None,
    }
}

/// Seconds of one parcel in one run.
fn pick(run: &Measured, parcel: Parcel, of: fn(&Delivery) -> f64) -> f64 {
    let found = run.answer.deliveries.iter().find(|it| it.parcel == parcel);
    found.map_or(f64::NAN, |it| of(it) / 1e6)
}

/// What a megabyte costs the sender through the pipe, at the biggest size.
fn per_megabyte(sizes: &[u64], collected: &Collected) -> Option<String> {
    let bytes = *sizes.last()?;
    let blocked = |way| {
        let times = collected.each(0, |run| {
            pick(run, Parcel { way, bytes }, |it| it.blocked_us)
        });
        Summary::of(&times).map(|summary| summary.median)
    };
    let (pipe, handle) = (blocked(Way::Pipe)?, blocked(Way::Handle)?);
    Some(format!(
        "through the pipe the sender is blocked {} per MB here; a handle of {} blocks it {}",
        wording::value(Unit::Seconds, pipe / (bytes as f64 / MB as f64)),
        wording::bytes(bytes),
        wording::value(Unit::Seconds, handle)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Answer;

    #[test]
    fn sizes_fit_time_and_memory_or_are_named() {
        let (all, none) = sizes(Duration::from_secs(10), Some(8 << 30));
        assert_eq!((all.len(), none.len()), (5, 0));
        let (few, out) = sizes(Duration::from_millis(500), None);
        assert_eq!(few, [MB, 4 * MB, 16 * MB]);
        assert!(out.iter().all(|why| why.contains("--budget")), "{out:?}");
        let (small, out) = sizes(Duration::from_secs(10), Some(64 * MB));
        assert_eq!(small, [MB, 4 * MB]);
        assert!(out[0].contains("memory"));
    }

    #[test]
    fn every_way_has_every_size_once_and_none_is_always_first() {
        let parcels = parcels(&SIZES);
        assert_eq!(parcels.len(), 15);
        let mut unique = parcels.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), 15);
        let firsts: Vec<Way> = parcels.chunks(3).map(|chunk| chunk[0].way).collect();
        assert_eq!(firsts[..3], [Way::Path, Way::Pipe, Way::Handle]);
    }

    #[test]
    fn a_row_has_all_ways() {
        let deliveries = parcels(&[MB]).into_iter().map(|parcel| Delivery {
            parcel,
            fill_us: 5.0,
            blocked_us: 10.0,
            round_trip_us: 300.0,
        });
        let run = Measured {
            answer: Answer {
                deliveries: deliveries.collect(),
                ..Answer::default()
            },
            load_rate: 0.0,
        };
        let collected = Collected {
            runs: vec![vec![run]],
            rounds: 1,
            trouble: None,
        };
        let experiment = digest(&[MB], &collected);
        let row = &experiment.tables[0].rows[0];
        assert_eq!((row.label.as_str(), row.figures.len()), ("1 MB", 7));
        let blocked = row.figure("pipe blocked").unwrap().value.median;
        assert!((blocked - 1e-5).abs() < 1e-12);
        assert!(
            experiment.notes[1].contains("10.0 us per MB"),
            "{:?}",
            experiment.notes
        );
    }
}
