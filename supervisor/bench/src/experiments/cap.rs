//! The memory cap: the smallest round one above what the biggest job needed, tried on every picture of the sample.

use super::{Bench, everywhere, experiment};
use crate::book::{Experiment, Figure, Row, Table, Unit};
use crate::lab::{Lab, Variant};
use crate::messages::{Answer, Work, WorkerProcesses};
use crate::nursery::RunError;
use crate::wording::counted;
use pressroom_supervisor::units::show_memory;
use std::time::Duration;

const MIB: u64 = 1 << 20;

/// Caps that people write, in MiB.
const CAPS: [u64; 14] = [
    16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048,
];

/// Room above what was needed, in per cent: other pictures are a little bigger.
const ROOM_PERCENT: u64 = 25;

/// Caps tried at most.
const TRIES: usize = 3;

/// What was found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    /// The tables.
    pub(crate) experiment: Experiment,
    /// A cap under which every picture was done, in bytes.
    pub(crate) enough: Option<u64>,
}

/// The caps to try for jobs that needed `needed` bytes, smallest first, all below `now`.
fn candidates(needed: u64, now: u64) -> Vec<u64> {
    let least = needed / 100 * (100 + ROOM_PERCENT);
    let caps = CAPS.into_iter().map(|cap| cap * MIB);
    caps.filter(|cap| *cap >= least && *cap < now)
        .take(TRIES)
        .collect()
}

/// Makes the experiment; `needed` is what the biggest job needed, in bytes.
///
/// # Errors
/// When the user wants out.
pub(crate) fn run(
    lab: &mut Lab,
    bench: &Bench,
    needed: u64,
    share: Duration,
) -> Result<Found, RunError> {
    let mut found = Found {
        experiment: experiment("cap", "The memory cap"),
        enough: None,
    };
    let until = lab.spent() + share;
    let caps = candidates(needed, bench.limits.memory);
    if caps.is_empty() {
        let now = show_memory(bench.limits.memory);
        let why = format!("no cap below the present one, {now}, leaves room above the biggest job");
        found.experiment.left_out.push(why);
    }
    let mut rows = Vec::new();
    for cap in caps {
        if lab.spent() >= until {
            found.experiment.left_out.push(format!(
                "{}: no time left; raise --budget",
                show_memory(cap)
            ));
            break;
        }
        match attempt(lab, bench, cap) {
            Ok(answer) => {
                rows.push(row(cap, &answer));
                if is_enough(&answer, bench.files.len()) {
                    found.enough = Some(cap);
                    break;
                }
            }
            Err(error @ RunError::Interrupted(_)) => return Err(error),
            Err(error) => found
                .experiment
                .left_out
                .push(format!("{}: {error}", show_memory(cap))),
        }
    }
    found.experiment.rounds = rows.len().min(1);
    if !rows.is_empty() {
        found.experiment.tables.push(table(rows, bench.files.len()));
    }
    Ok(found)
}

fn attempt(lab: &mut Lab, bench: &Bench, cap: u64) -> Result<Answer, RunError> {
    let mut pictures = bench.pictures(&bench.files);
    pictures.limits.memory = cap;
    let processes = WorkerProcesses {
        count: bench.usable,
        nice: 0,
    };
    let request = everywhere(Work::Workers(pictures, processes));
    lab.once(&Variant::new(format!("cap {}", show_memory(cap)), request))
}

fn is_enough(answer: &Answer, pictures: usize) -> bool {
    let fine = answer.jobs.iter().filter(|job| job.fine).count();
    fine == pictures && answer.failed == 0 && answer.deaths == 0
}

fn row(cap: u64, answer: &Answer) -> Row {
    let fine = answer.jobs.iter().filter(|job| job.fine).count();
    let figure = |name, unit, value: f64| Figure::of(name, unit, &[value]);
    let figures = [
        figure("pictures done", Unit::Count, fine as f64),
        figure("failed", Unit::Count, answer.failed as f64),
        figure("biggest process", Unit::Bytes, answer.memory_of_one as f64),
        figure("time", Unit::Seconds, answer.wall_us as f64 / 1e6),
    ];
    Row {
        label: show_memory(cap),
        figures: figures.into_iter().flatten().collect(),
        verdict: answer.failure.clone(),
    }
}

fn table(rows: Vec<Row>, pictures: usize) -> Table {
    Table {
        title: format!("{} under a cap, once", counted(pictures, "picture")),
        of: "cap",
        rows,
        against: None,
        published: None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn caps_leave_room_and_are_smaller_than_the_present_one() {
        assert_eq!(
            candidates(41 * MIB, 512 * MIB),
            [64 * MIB, 96 * MIB, 128 * MIB]
        );
        assert_eq!(candidates(10 * MIB, 512 * MIB)[0], 16 * MIB);
        assert_eq!(candidates(300 * MIB, 512 * MIB), [384 * MIB]);
        assert!(candidates(500 * MIB, 512 * MIB).is_empty());
    }

    #[test]
    fn a_cap_is_enough_only_if_everything_was_done() {
        let mut answer = samples::run(1).answer;
        assert!(is_enough(&answer, 10));
        assert!(!is_enough(&answer, 11));
        answer.jobs[3].fine = false;
        assert!(!is_enough(&answer, 10));
        answer.jobs[3].fine = true;
        answer.deaths = 1;
        assert!(!is_enough(&answer, 10));
    }
}
