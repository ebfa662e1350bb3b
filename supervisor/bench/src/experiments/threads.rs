//! Processes against threads: the same image work by worker processes and by threads of one process, and what a crash costs.

use super::{Bench, everywhere, experiment, job_percentile, over_rounds, rate, wall};
use crate::book::{Experiment, Figure, Row, Table, Unit};
use crate::lab::{Collected, Lab, Measured, Variant};
use crate::messages::{Request, Work, WorkerProcesses};
use crate::nursery::{Outcome, RunError};
use crate::published;
use crate::stats::compare;
use crate::wording::{counted, faster};
use std::path::PathBuf;
use std::time::Duration;

/// Makes the experiment.
///
/// # Errors
/// When the user wants out.
pub(crate) fn run(lab: &mut Lab, bench: &Bench, share: Duration) -> Result<Experiment, RunError> {
    let count = bench.usable.max(2);
    // Two runs for the crash come on top of the rounds.
    let divides = f64::from(bench.usable.max(1));
    let files = bench.jobs(share, 2, 2.4 / divides, usize::from(count) * 4);
    let labels = labels(count);
    let requests = requests(bench, &files, count);
    let variants: Vec<Variant> = labels
        .iter()
        .zip(requests)
        .map(|(label, request)| Variant::new(label.clone(), request))
        .collect();
    let collected = lab.collect(&variants, share.mul_f64(0.85))?;
    let mut experiment = digest(&labels, &collected);
    experiment
        .notes
        .insert(0, format!("{} a run", counted(files.len(), "picture")));
    let crashes = crashes(lab, bench, &files, count);
    match crashes {
        Ok(table) => experiment.tables.push(table),
        Err(error @ RunError::Interrupted(_)) => return Err(error),
        Err(error) => experiment.left_out.push(format!("the crash: {error}")),
    }
    Ok(experiment)
}

fn labels(count: u16) -> [String; 2] {
    let count = usize::from(count);
    [
        counted(count, "worker process").replace("processs", "processes"),
        format!("{} in one process", counted(count, "thread")),
    ]
}

fn requests(bench: &Bench, files: &[PathBuf], count: u16) -> [Request; 2] {
    [
        bench.workers(files, count),
        everywhere(Work::Threads(bench.pictures(files), count.into())),
    ]
}

fn digest(labels: &[String; 2], collected: &Collected) -> Experiment {
    let mut experiment = experiment("threads", "Processes against threads");
    experiment.rounds = collected.rounds;
    experiment.left_out.extend(collected.trouble.clone());
    if collected.rounds == 0 {
        return experiment;
    }
    let verdict = faster(compare(&collected.pairs(1, 0, wall)));
    let memory = compare(&collected.pairs(1, 0, |run| run.answer.memory as f64));
    let rows = [
        row(&labels[0], collected, 0, None),
        row(&labels[1], collected, 1, Some(verdict)),
    ];
    experiment.tables.push(Table {
        title: "the same pictures by".to_owned(),
        of: "who",
        rows: rows.to_vec(),
        against: Some(labels[0].clone()),
        published: Some(published::THREADS),
    });
    let memory = faster(memory).replace("time", "memory");
    experiment.notes.push(format!(
        "memory of the threads against that of the processes: {memory}"
    ));
    experiment
}

fn row(label: &str, collected: &Collected, place: usize, verdict: Option<String>) -> Row {
    let figure =
        |name, unit, of: &dyn Fn(&Measured) -> f64| over_rounds(collected, place, name, unit, of);
    let figures = [
        figure("time", Unit::Seconds, &wall),
        figure("images", Unit::PerSecond, &rate),
        figure("job p50", Unit::Seconds, &|run| job_percentile(run, 0.50)),
        figure("job p95", Unit::Seconds, &|run| job_percentile(run, 0.95)),
        figure("job p99", Unit::Seconds, &|run| job_percentile(run, 0.99)),
        figure("CPU", Unit::Seconds, &|run| run.answer.cpu_us as f64 / 1e6),
        figure("memory", Unit::Bytes, &|run| run.answer.memory as f64),
        figure("biggest process", Unit::Bytes, &|run| {
            run.answer.memory_of_one as f64
        }),
    ];
    Row {
        label: label.to_owned(),
        figures: figures.into_iter().flatten().collect(),
        verdict,
    }
}

/// Lets one worker and one thread abort in the middle, once each: what is counted here is no matter of noise.
fn crashes(lab: &mut Lab, bench: &Bench, files: &[PathBuf], count: u16) -> Result<Table, RunError> {
    let labels = labels(count);
    let middle = files.len() / 2;
    let pictures = crate::messages::Pictures {
        abort_at: Some(middle.max(1)),
        ..bench.pictures(files)
    };
    let processes = WorkerProcesses { count, nice: 0 };
    let workers = everywhere(Work::Workers(pictures.clone(), processes));
    let threads = everywhere(Work::Threads(pictures, count.into()));
    let of_workers = lab.abort(&workers, "a crash among processes")?;
    let of_threads = lab.abort(&threads, "a crash among threads")?;
    Ok(crash_table(&labels, files.len(), &of_workers, &of_threads))
}

fn crash_table(labels: &[String; 2], jobs: usize, workers: &Outcome, threads: &Outcome) -> Table {
    let row = |label: &String, outcome: &Outcome| {
        let answer = outcome.answer.clone().unwrap_or_default();
        let fine = answer.jobs.iter().filter(|job| job.fine).count();
        let done = outcome.done_before.max(fine);
        let replaced = answer.replaced_us.map(|us| us as f64 / 1e6);
        let count = |name, number: usize| Figure::of(name, Unit::Count, &[number as f64]);
        let figures = [
            count("jobs lost", jobs.saturating_sub(done)),
            count("jobs done", done),
            Figure::of(
                "next worker ready after",
                Unit::Seconds,
                &Vec::from_iter(replaced),
            ),
        ];
        Row {
            label: label.clone(),
            figures: figures.into_iter().flatten().collect(),
            verdict: None,
        }
    };
    Table {
        title: format!(
            "one abort in the middle of {}, one run each",
            counted(jobs, "job")
        ),
        of: "who",
        rows: vec![row(&labels[0], workers), row(&labels[1], threads)],
        against: None,
        published: None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn the_faster_one_is_named_and_so_is_the_smaller_one() {
        let mut collected = samples::collected(&[&[100, 101, 99, 100, 100], &[90, 91, 89, 90, 90]]);
        for run in &mut collected.runs[1] {
            run.answer.memory *= 2;
        }
        let experiment = digest(&labels(2), &collected);
        let rows = &experiment.tables[0].rows;
        assert_eq!(rows[1].label, "2 threads in one process");
        assert_eq!(rows[0].label, "2 worker processes");
        assert_eq!(rows[1].verdict.as_deref(), Some("10 % less time"));
        assert!(
            experiment.notes[0].ends_with("100 % more memory"),
            "{:?}",
            experiment.notes
        );
        assert_eq!(rows[0].figure("job p95").unwrap().value.median, 0.010);
    }

    #[test]
    fn what_a_crash_costs_is_what_was_not_done() {
        let survived = Outcome {
            answer: Some(crate::messages::Answer {
                replaced_us: Some(30_000),
                ..samples::run(10).answer
            }),
            done_before: 0,
            died: None,
        };
        let gone = Outcome {
            answer: None,
            done_before: 4,
            died: None,
        };
        let table = crash_table(&labels(2), 10, &survived, &gone);
        let lost = |row: usize| table.rows[row].figure("jobs lost").unwrap().value.median;
        assert_eq!((lost(0), lost(1)), (0.0, 6.0));
        assert!(table.rows[1].figure("next worker ready after").is_none());
    }
}
