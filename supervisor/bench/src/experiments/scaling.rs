//! Scaling: the same pictures with more and more worker processes.

use super::{Bench, experiment, over_rounds, rate, wall};
use crate::book::{Experiment, Figure, Row, Table, Unit};
use crate::lab::{Collected, Variant};
use crate::messages::Request;
use crate::stats::{compare, serial_share};
use crate::wording::{counted, faster, percent};
use crate::{lab::Lab, nursery::RunError, published};
use std::path::PathBuf;
use std::time::Duration;

/// What was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Crew {
    /// Worker processes.
    pub(crate) workers: u16,
    /// Which CPUs.
    pub(crate) on: On,
}

/// Which CPUs workers may run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    /// All.
    AllCpus,
    /// One of each core.
    OnePerCore,
}

/// What was found, for the report and for the recommendation.
pub(crate) struct Found {
    /// The tables.
    pub(crate) experiment: Experiment,
    /// What was run.
    pub(crate) crews: Vec<Crew>,
    /// What came of it.
    pub(crate) collected: Collected,
}

/// 1, P/2, P, 1.5P, 2P and 4P workers, each once.
pub(crate) fn counts(usable: u16) -> Vec<u16> {
    let p = u32::from(usable.max(1));
    let mut counts: Vec<u32> = vec![1, p / 2, p, (3 * p).div_ceil(2), 2 * p, 4 * p];
    counts.retain(|count| *count > 0);
    counts.sort_unstable();
    counts.dedup();
    counts
        .into_iter()
        .map(|count| u16::try_from(count).unwrap_or(u16::MAX))
        .collect()
}

/// What to run on this machine: the counts, and where there is SMT, both ways of using it.
fn crews(bench: &Bench) -> Vec<Crew> {
    let mut crews: Vec<Crew> = counts(bench.usable)
        .into_iter()
        .map(|workers| Crew {
            workers,
            on: On::AllCpus,
        })
        .collect();
    if bench.cpus > bench.cores.len() {
        crews.push(Crew {
            workers: u16::try_from(bench.cores.len()).unwrap_or(u16::MAX),
            on: On::OnePerCore,
        });
        let all = u16::try_from(bench.cpus).unwrap_or(u16::MAX);
        if !crews.iter().any(|crew| crew.workers == all) {
            crews.push(Crew {
                workers: all,
                on: On::AllCpus,
            });
        }
    }
    crews
}

fn request(bench: &Bench, files: &[PathBuf], crew: Crew) -> Request {
    let cpus = match crew.on {
        On::AllCpus => Vec::new(),
        On::OnePerCore => bench.cores.clone(),
    };
    Request {
        cpus,
        ..bench.workers(files, crew.workers)
    }
}

fn label(crew: Crew) -> String {
    let workers = counted(crew.workers.into(), "worker");
    match crew.on {
        On::AllCpus => workers,
        On::OnePerCore => format!("{workers}, one CPU per core"),
    }
}

/// One worker's time, of which a round is made: what each crew takes where the work divides well.
fn relative(bench: &Bench, crews: &[Crew]) -> f64 {
    let usable = f64::from(bench.usable.max(1));
    crews
        .iter()
        .map(|crew| 1.0 / f64::from(crew.workers).min(usable))
        .sum()
}

/// Makes the experiment.
///
/// # Errors
/// When the user wants out.
pub(crate) fn run(lab: &mut Lab, bench: &Bench, share: Duration) -> Result<Found, RunError> {
    let crews = crews(bench);
    let most = crews.iter().map(|crew| crew.workers).max().unwrap_or(1);
    let files = bench.jobs(
        share,
        crews.len(),
        relative(bench, &crews),
        usize::from(most) * 2,
    );
    let variants: Vec<Variant> = crews
        .iter()
        .map(|crew| Variant::new(label(*crew), request(bench, &files, *crew)))
        .collect();
    let collected = lab.collect(&variants, share)?;
    let mut experiment = digest(bench, &crews, &collected);
    experiment
        .notes
        .insert(0, format!("{} a run", counted(files.len(), "picture")));
    Ok(Found {
        experiment,
        crews,
        collected,
    })
}

/// Tables of what came back.
fn digest(bench: &Bench, crews: &[Crew], collected: &Collected) -> Experiment {
    let mut experiment = experiment("scaling", "Scaling: more and more worker processes");
    experiment.rounds = collected.rounds;
    experiment.left_out.extend(collected.trouble.clone());
    if bench.cpus <= bench.cores.len() {
        let note = "no SMT seen: each core has one CPU, so there is nothing to switch off";
        experiment.left_out.push(format!("SMT on and off: {note}"));
    }
    if collected.rounds == 0 {
        return experiment;
    }
    let usual = usual(bench, crews);
    let rows = (0..crews.len()).map(|place| row(crews, collected, place, usual));
    experiment.tables.push(Table {
        title: "the same pictures by".to_owned(),
        of: "workers",
        rows: rows.collect(),
        against: Some(label(crews[usual])),
        published: Some(published::SCALING),
    });
    experiment.notes.extend(amdahl(crews, collected, usual));
    experiment
}

/// The place of the crew that a run would have.
pub(crate) fn usual(bench: &Bench, crews: &[Crew]) -> usize {
    let wanted = Crew {
        workers: bench.usable.max(1),
        on: On::AllCpus,
    };
    crews.iter().position(|crew| *crew == wanted).unwrap_or(0)
}

fn row(crews: &[Crew], collected: &Collected, place: usize, usual: usize) -> Row {
    let workers = f64::from(crews[place].workers);
    let speedups: Vec<f64> = collected
        .pairs(0, place, wall)
        .into_iter()
        .map(|(one, many)| one / many.max(1e-9))
        .collect();
    let efficiency: Vec<f64> = speedups.iter().map(|speedup| speedup / workers).collect();
    let figure = |name, unit, of: fn(&crate::lab::Measured) -> f64| {
        over_rounds(collected, place, name, unit, of)
    };
    let figures = [
        figure("time", Unit::Seconds, wall),
        figure("images", Unit::PerSecond, rate),
        Figure::of("speed-up", Unit::Times, &speedups),
        Figure::of("efficiency", Unit::Share, &efficiency),
        figure("CPU", Unit::Seconds, |run| run.answer.cpu_us as f64 / 1e6),
        figure("waits", Unit::Count, |run| {
            run.answer.switches_voluntary as f64
        }),
        figure("preempted", Unit::Count, |run| {
            run.answer.switches_forced as f64
        }),
        figure("memory", Unit::Bytes, |run| run.answer.memory as f64),
        figure("start", Unit::Seconds, |run| {
            run.answer.start_us as f64 / 1e6
        }),
    ];
    let verdict = compare(&collected.pairs(place, usual, wall));
    Row {
        label: label(crews[place]),
        figures: figures.into_iter().flatten().collect(),
        verdict: (place != usual).then(|| faster(verdict)),
    }
}

/// What the speed-up says about work that does not divide.
fn amdahl(crews: &[Crew], collected: &Collected, usual: usize) -> Option<String> {
    if collected.rounds < 3 {
        return None;
    }
    let shares: Vec<f64> = collected
        .pairs(0, usual, wall)
        .into_iter()
        .filter_map(|(one, many)| {
            serial_share(one / many.max(1e-9), f64::from(crews[usual].workers))
        })
        .collect();
    let share = crate::stats::Summary::of(&shares)?;
    Some(format!(
        "the speed-up of {} is that of work of which {} cannot be divided (Karp and Flatt; {} to {} over the rounds)",
        label(crews[usual]),
        percent(share.median),
        percent(share.low),
        percent(share.high)
    ))
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn the_counts_of_the_issue_each_once() {
        assert_eq!(counts(1), [1, 2, 4]);
        assert_eq!(counts(2), [1, 2, 3, 4, 8]);
        assert_eq!(counts(4), [1, 2, 4, 6, 8, 16]);
        assert_eq!(counts(0), [1, 2, 4]);
    }

    #[test]
    fn smt_is_compared_where_there_is_some() {
        let mut bench = samples::bench(4);
        assert!(crews(&bench).iter().all(|crew| crew.on == On::AllCpus));
        bench.cpus = 8;
        let labels: Vec<String> = crews(&bench).into_iter().map(label).collect();
        assert!(
            labels.contains(&"4 workers, one CPU per core".to_owned()),
            "{labels:?}"
        );
        assert!(labels.contains(&"8 workers".to_owned()));
    }

    #[test]
    fn speed_up_and_efficiency_are_paired_by_rounds() {
        let bench = samples::bench(2);
        let crews = crews(&bench);
        let times: [&[u64]; 5] = [
            &[1000, 2000, 1000, 1000, 1000],
            &[500, 1000, 500, 500, 500],
            &[550, 1100, 550, 550, 550],
            &[560, 1100, 560, 560, 560],
            &[600, 1300, 600, 600, 600],
        ];
        let experiment = digest(&bench, &crews, &samples::collected(&times));
        let rows = &experiment.tables[0].rows;
        // Twice as slow a round is so for all, and no spread of the speed-up.
        let speedup = &rows[1].figure("speed-up").unwrap().value;
        assert_eq!((speedup.median, speedup.low, speedup.high), (2.0, 2.0, 2.0));
        assert_eq!(rows[1].figure("efficiency").unwrap().value.median, 1.0);
        assert_eq!(rows[1].verdict, None);
        assert_eq!(rows[2].verdict.as_deref(), Some("10 % more time"));
        assert!(experiment.notes[0].contains("0.0 % cannot be divided"));
        assert!(experiment.left_out[0].contains("no SMT seen"));
    }

    #[test]
    fn without_a_round_there_is_a_reason_and_no_row() {
        let bench = samples::bench(2);
        let nothing = Collected {
            trouble: Some("too short".to_owned()),
            ..Collected::default()
        };
        let experiment = digest(&bench, &crews(&bench), &nothing);
        assert!(experiment.tables.is_empty());
        assert_eq!(experiment.left_out[0], "too short");
    }
}
