//! A busy machine: pictures while something else computes on half of the cores, with and without `--background`, and how
//! late the supervisor's loop answers all the while.

use super::{Bench, experiment, job_percentile, late_percentile, over_rounds, rate, wall};
use crate::book::{Experiment, Figure, Row, Table, Unit};
use crate::lab::{Act, Collected, Lab, Measured, Variant};
use crate::messages::{Request, Work, WorkerProcesses};
use crate::nursery::RunError;
use crate::stats::compare;
use crate::wording::{counted, faster};
use std::path::PathBuf;
use std::time::Duration;

/// Niceness of `--background`.
const BACKGROUND: u8 = 19;

/// Time for which the load is watched alone.
const ALONE: Duration = Duration::from_millis(250);

/// One way of working beside a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Way {
    /// Worker processes; none to watch the load alone.
    workers: u16,
    nice: u8,
    loads: usize,
}

/// The load alone, then the usual count without and with load and in the background, then other counts beside the load.
fn ways(usable: u16) -> Vec<Way> {
    let loads = usize::from((usable / 2).max(1));
    let way = |workers, nice, loads| Way {
        workers,
        nice,
        loads,
    };
    let mut ways = vec![
        way(0, 0, loads),
        way(usable, 0, 0),
        way(usable, 0, loads),
        way(usable, BACKGROUND, loads),
    ];
    for workers in [1, usable * 2] {
        if workers != usable {
            ways.push(way(workers, 0, loads));
        }
    }
    ways
}

/// Places in [`ways`].
const ALONE_AT: usize = 0;
const BUSY_AT: usize = 2;

fn label(way: Way) -> String {
    if way.workers == 0 {
        return "the load alone".to_owned();
    }
    let workers = counted(way.workers.into(), "worker");
    match (way.loads, way.nice) {
        (0, _) => format!("{workers}, no load"),
        (_, 0) => format!("{workers}, busy"),
        (_, _) => format!("{workers}, busy, --background"),
    }
}

fn variant(bench: &Bench, files: &[PathBuf], way: Way) -> Variant {
    let processes = WorkerProcesses {
        count: way.workers,
        nice: way.nice,
    };
    let work = Work::Workers(bench.pictures(files), processes);
    let request = Request {
        work,
        cpus: Vec::new(),
    };
    Variant {
        label: label(way),
        act: if way.workers == 0 {
            Act::Idle(ALONE)
        } else {
            Act::Request(Box::new(request))
        },
        loads: way.loads,
    }
}

/// One worker's time that a round is made of; beside a load everything takes longer, in the background most of all.
fn relative(usable: u16) -> f64 {
    let all = 1.0 / f64::from(usable.max(1));
    all + 1.5 * all + 2.0 * all + 1.5 + 1.5 * all
}

/// Makes the experiment; `before` is what scaling found of the loop's lateness: (workers, runs).
///
/// # Errors
/// When the user wants out.
pub(crate) fn run(
    lab: &mut Lab,
    bench: &Bench,
    share: Duration,
    before: &[(u16, Vec<Measured>)],
) -> Result<Experiment, RunError> {
    let ways = ways(bench.usable);
    let least = usize::from(bench.usable) * 4;
    let files = bench.jobs(share, ways.len(), relative(bench.usable), least);
    let variants: Vec<Variant> = ways
        .iter()
        .map(|way| variant(bench, &files, *way))
        .collect();
    let collected = lab.collect(&variants, share)?;
    let mut experiment = digest(&ways, &collected);
    experiment.tables.extend(heart(&ways, &collected, before));
    Ok(experiment)
}

fn digest(ways: &[Way], collected: &Collected) -> Experiment {
    let mut experiment = experiment("busy", "A busy machine");
    experiment.rounds = collected.rounds;
    experiment.left_out.extend(collected.trouble.clone());
    if collected.rounds == 0 {
        return experiment;
    }
    let rows = (0..ways.len()).filter(|place| ways[*place].workers > 0);
    experiment.tables.push(Table {
        title: format!(
            "beside {} at full speed",
            counted(ways[BUSY_AT].loads, "other process").replace("processs", "processes")
        ),
        of: "workers",
        rows: rows.map(|place| row(ways, collected, place)).collect(),
        against: Some(label(ways[BUSY_AT])),
        published: None,
    });
    experiment
}

fn row(ways: &[Way], collected: &Collected, place: usize) -> Row {
    let figure =
        |name, unit, of: &dyn Fn(&Measured) -> f64| over_rounds(collected, place, name, unit, of);
    let figures = [
        figure("time", Unit::Seconds, &wall),
        figure("images", Unit::PerSecond, &rate),
        figure("job p50", Unit::Seconds, &|run| job_percentile(run, 0.50)),
        figure("job p95", Unit::Seconds, &|run| job_percentile(run, 0.95)),
        figure("job p99", Unit::Seconds, &|run| job_percentile(run, 0.99)),
        (ways[place].loads > 0)
            .then(|| kept(collected, place))
            .flatten(),
    ];
    let verdict = compare(&collected.pairs(place, BUSY_AT, wall));
    Row {
        label: label(ways[place]),
        figures: figures.into_iter().flatten().collect(),
        verdict: (place != BUSY_AT).then(|| faster(verdict)),
    }
}

/// The share of its own speed that the other load kept.
fn kept(collected: &Collected, place: usize) -> Option<Figure> {
    let pairs = collected.pairs(place, ALONE_AT, |run| run.load_rate);
    let shares: Vec<f64> = pairs
        .into_iter()
        .map(|(beside, alone)| beside / alone.max(1e-9))
        .collect();
    Figure::of("other load kept", Unit::Share, &shares)
}

/// How late the loop was, by worker count, on the idle machine (from the scaling runs) and on the busy one.
fn heart(ways: &[Way], collected: &Collected, before: &[(u16, Vec<Measured>)]) -> Option<Table> {
    let idle = before.iter().map(|(workers, runs)| {
        (
            format!("{}, no load", counted((*workers).into(), "worker")),
            runs.clone(),
        )
    });
    let busy = ways
        .iter()
        .zip(&collected.runs)
        .filter(|(way, _)| way.workers > 0 && way.loads > 0)
        .map(|(way, runs)| (label(*way), runs.clone()));
    let rows: Vec<Row> = idle
        .chain(busy)
        .filter_map(|(label, runs)| beats(label, &runs))
        .collect();
    (!rows.is_empty()).then(|| Table {
        title: "how late the supervisor's loop answers (a beat every 5 ms; its clock has steps of 1 ms)".to_owned(),
        of: "workers",
        rows,
        against: None,
        published: None,
    })
}

fn beats(label: String, runs: &[Measured]) -> Option<Row> {
    let each = |share: f64| {
        runs.iter()
            .map(|run| late_percentile(run, share))
            .collect::<Vec<_>>()
    };
    let figures = [
        Figure::of("late p50", Unit::Seconds, &each(0.50)),
        Figure::of("late p99", Unit::Seconds, &each(0.99)),
        Figure::of("latest", Unit::Seconds, &each(1.0)),
    ];
    let figures: Vec<Figure> = figures.into_iter().flatten().collect();
    (!figures.is_empty()).then_some(Row {
        label,
        figures,
        verdict: None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn half_of_the_cores_are_taken_and_no_way_comes_twice() {
        assert!(ways(8).iter().all(|way| way.loads == 4 || way.loads == 0));
        assert_eq!(ways(1).len(), 5);
        let labels: Vec<String> = ways(2).into_iter().map(label).collect();
        assert_eq!(
            labels,
            [
                "the load alone",
                "2 workers, no load",
                "2 workers, busy",
                "2 workers, busy, --background",
                "1 worker, busy",
                "4 workers, busy"
            ]
        );
    }

    #[test]
    fn what_the_other_load_kept_is_against_itself_alone() {
        let ways = ways(2);
        let mut collected = samples::collected(&[
            &[0; 5], &[500; 5], &[800; 5], &[1600; 5], &[900; 5], &[800; 5],
        ]);
        for run in &mut collected.runs[3] {
            run.load_rate = 95.0;
        }
        let experiment = digest(&ways, &collected);
        let rows = &experiment.tables[0].rows;
        let kept = rows[2].figure("other load kept").unwrap().value.median;
        assert!((kept - 0.95).abs() < 1e-9);
        assert!(rows[0].figure("other load kept").is_none());
        assert_eq!(rows[2].verdict.as_deref(), Some("100 % more time"));
        assert_eq!(rows[1].verdict, None);
    }

    #[test]
    fn the_heart_is_shown_for_both_machines() {
        let ways = ways(2);
        let times: [&[u64]; 6] = [&[1]; 6];
        let collected = samples::collected(&times);
        let table = heart(&ways, &collected, &[(1, vec![samples::run(1)])]).unwrap();
        assert_eq!(table.rows.len(), 5);
        let latest = table.rows[0].figure("latest").unwrap().value.median;
        assert!((latest - 0.0012).abs() < 1e-9);
        assert!(heart(&ways, &Collected::default(), &[]).is_none());
    }
}
