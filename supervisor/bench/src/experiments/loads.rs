//! Kinds of load: hashing, counting, work mixed with waiting, and real pictures; on one core and on all; by one process,
//! processes, threads, and tasks on one thread.

use super::{Bench, everywhere, experiment, over_rounds, target, wall};
use crate::book::{Experiment, Figure, Published, Row, Table, Unit};
use crate::lab::{Collected, Lab, Measured, Variant};
use crate::messages::{Answer, Kind, Request, Shape, Steps, Work};
use crate::nursery::RunError;
use crate::published;
use crate::stats::compare;
use crate::wording::{counted, faster};
use std::time::Duration;

/// Tasks, as in the published report; more where there are more cores.
const TASKS: u16 = 4;

/// Steps by which the length of a step is found.
const TRIAL: u32 = 50;

/// Share of each step of the mixed load that is sleep.
const ASLEEP: f64 = 0.7;

const SHAPES: [Shape; 4] = [Shape::One, Shape::Processes, Shape::Threads, Shape::Tasks];

/// What is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Load {
    Steps(Kind),
    Pictures,
}

/// In the order of interest: with little time only the first are measured.
const LOADS: [Load; 4] = [
    Load::Steps(Kind::Hash),
    Load::Steps(Kind::Mixed),
    Load::Pictures,
    Load::Steps(Kind::Count),
];

impl Load {
    fn name(self) -> &'static str {
        match self {
            Self::Steps(Kind::Hash) => "8 rounds of SHA-256 over random data",
            Self::Steps(Kind::Count) => "counting loop",
            Self::Steps(Kind::Mixed) => "counting, 70 % of each step asleep",
            Self::Pictures => "pictures",
        }
    }
}

/// Where it is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    OneCore,
    AllCores,
}

/// One load in one place, by all shapes: its variants are compared with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Group {
    load: Load,
    place: Place,
}

fn groups(usable: u16) -> Vec<Group> {
    let places: &[Place] = if usable > 1 {
        &[Place::OneCore, Place::AllCores]
    } else {
        &[Place::OneCore]
    };
    let both = |load: Load| {
        places.iter().map(move |place| Group {
            load,
            place: *place,
        })
    };
    LOADS.into_iter().flat_map(both).collect()
}

/// What the start and the end of a run take, roughly; without worker processes it is little.
const OVERHEAD: Duration = Duration::from_millis(15);

/// Least time for one group: a warm-up and five rounds of four short runs.
fn least() -> Duration {
    (OVERHEAD * 3) * 24
}

/// How many groups the share allows.
fn affordable(share: Duration, groups: usize) -> usize {
    let fit = (share.as_secs_f64() / least().as_secs_f64()) as usize;
    fit.min(groups)
}

/// Makes the experiment.
///
/// # Errors
/// When the user wants out.
pub(crate) fn run(lab: &mut Lab, bench: &Bench, share: Duration) -> Result<Experiment, RunError> {
    let mut experiment = experiment("loads", "Kinds of load");
    let until = lab.spent() + share;
    let all = groups(bench.usable);
    let (chosen, rest) = all.split_at(affordable(share, all.len()));
    for (done, group) in chosen.iter().enumerate() {
        let left = until.saturating_sub(lab.spent());
        let own = left / u32::try_from(chosen.len() - done).unwrap_or(1);
        measure(lab, bench, *group, own, &mut experiment)?;
    }
    experiment.left_out.extend(rest.iter().map(|group| {
        format!(
            "{}: not in this budget; raise --budget",
            title(*group, bench.usable)
        )
    }));
    if bench.usable == 1 {
        experiment
            .left_out
            .push("all cores: there is only one".to_owned());
    }
    Ok(experiment)
}

fn measure(
    lab: &mut Lab,
    bench: &Bench,
    group: Group,
    share: Duration,
    experiment: &mut Experiment,
) -> Result<(), RunError> {
    let title = title(group, bench.usable);
    let step = match trial(lab, group) {
        Ok(step) => step,
        Err(error @ RunError::Interrupted(_)) => return Err(error),
        Err(error) => {
            experiment.left_out.push(format!("{title}: {error}"));
            return Ok(());
        }
    };
    let tasks = tasks(bench.usable);
    let variants: Vec<Variant> = requests(bench, group, share, step)
        .into_iter()
        .zip(SHAPES)
        .map(|(request, shape)| Variant::new(label(shape, tasks), request))
        .collect();
    let collected = lab.collect(&variants, share)?;
    if let Some(trouble) = &collected.trouble {
        experiment.left_out.push(format!("{title}: {trouble}"));
    }
    if collected.rounds > 0 {
        let enough = experiment.rounds == 0 || collected.rounds < experiment.rounds;
        if enough {
            experiment.rounds = collected.rounds;
        }
        experiment
            .tables
            .push(table(group, bench.usable, &collected));
    }
    Ok(())
}

/// Seconds that one step computes, where the load is made of steps.
fn trial(lab: &mut Lab, group: Group) -> Result<f64, RunError> {
    let Load::Steps(kind) = group.load else {
        return Ok(0.0);
    };
    // The mixed load computes what the counting loop does.
    let kind = if kind == Kind::Mixed {
        Kind::Count
    } else {
        kind
    };
    let steps = Steps {
        kind,
        shape: Shape::One,
        tasks: 1,
        steps: TRIAL,
        sleep_us: 0,
    };
    let answer: Answer = lab.once(&Variant::new(
        "length of a step",
        everywhere(Work::Steps(steps)),
    ))?;
    // Processor time, for others may be at work just then.
    Ok((answer.cpu_us as f64 / 1e6 / f64::from(TRIAL)).max(1e-6))
}

fn tasks(usable: u16) -> u16 {
    usable.max(TASKS)
}

/// One worker's time that a round is made of: three shapes in a row on one core, or two of them divided over all.
fn relative(group: Group, usable: u16) -> f64 {
    let divided = 1.0 / f64::from(usable.max(1));
    match (group.place, group.load) {
        (Place::OneCore, _) => 4.0,
        (Place::AllCores, _) => 2.0 + 2.0 * divided,
    }
}

/// The same work by each shape.
fn requests(bench: &Bench, group: Group, share: Duration, step: f64) -> Vec<Request> {
    let cpus = match group.place {
        Place::OneCore => bench.one_core(),
        Place::AllCores => Vec::new(),
    };
    let relative = relative(group, bench.usable);
    let works: Vec<Work> = match group.load {
        Load::Steps(kind) => {
            let steps = steps(
                kind,
                tasks(bench.usable),
                target(share, 4, relative, OVERHEAD),
                step,
            );
            SHAPES
                .into_iter()
                .map(|shape| Work::Steps(Steps { shape, ..steps }))
                .collect()
        }
        Load::Pictures => pictures(bench, share, relative),
    };
    let request = |work| Request {
        cpus: cpus.clone(),
        work,
    };
    works.into_iter().map(request).collect()
}

/// Steps that take `target` in one process, sleep included.
fn steps(kind: Kind, tasks: u16, target: Duration, step: f64) -> Steps {
    let sleep = match kind {
        Kind::Mixed => step * ASLEEP / (1.0 - ASLEEP),
        Kind::Hash | Kind::Count => 0.0,
    };
    let each = target.as_secs_f64() / f64::from(tasks) / (step + sleep);
    Steps {
        kind,
        shape: Shape::One,
        tasks: tasks.into(),
        steps: each.round().clamp(1.0, 1e6) as u32,
        sleep_us: (sleep * 1e6).round() as u64,
    }
}

fn pictures(bench: &Bench, share: Duration, relative: f64) -> Vec<Work> {
    let tasks = tasks(bench.usable);
    let files = bench.jobs(share, 4, relative, usize::from(tasks));
    let pictures = bench.pictures(&files);
    vec![
        bench.workers(&files, 1).work,
        bench.workers(&files, tasks).work,
        Work::Threads(pictures.clone(), tasks.into()),
        Work::Tasks(pictures, tasks.into()),
    ]
}

fn label(shape: Shape, tasks: u16) -> String {
    match shape {
        Shape::One => "1 process".to_owned(),
        Shape::Processes => format!("{tasks} processes"),
        Shape::Threads => format!("{tasks} threads"),
        Shape::Tasks => format!("{tasks} tasks, 1 thread"),
    }
}

fn title(group: Group, usable: u16) -> String {
    let place = match group.place {
        Place::OneCore => "1 core".to_owned(),
        Place::AllCores => counted(usable.into(), "core"),
    };
    format!("{}, {place}", group.load.name())
}

fn table(group: Group, usable: u16, collected: &Collected) -> Table {
    let rows = SHAPES.into_iter().enumerate().map(|(place, shape)| {
        let verdict = compare(&collected.pairs(place, 0, wall));
        Row {
            label: label(shape, tasks(usable)),
            figures: figures(collected, place),
            verdict: (place > 0).then(|| faster(verdict)),
        }
    });
    Table {
        title: title(group, usable),
        of: "who",
        rows: rows.collect(),
        against: Some(label(Shape::One, tasks(usable))),
        published: beside(group),
    }
}

fn figures(collected: &Collected, place: usize) -> Vec<Figure> {
    let throughput: Vec<f64> = collected
        .pairs(0, place, wall)
        .into_iter()
        .map(|(one, this)| one / this.max(1e-9))
        .collect();
    let figure =
        |name, unit, of: fn(&Measured) -> f64| over_rounds(collected, place, name, unit, of);
    let figures = [
        figure("time", Unit::Seconds, wall),
        Figure::of("throughput", Unit::Times, &throughput),
        figure("CPU", Unit::Seconds, |run| run.answer.cpu_us as f64 / 1e6),
        figure("waits", Unit::Count, |run| {
            run.answer.switches_voluntary as f64
        }),
        figure("preempted", Unit::Count, |run| {
            run.answer.switches_forced as f64
        }),
    ];
    figures.into_iter().flatten().collect()
}

fn beside(group: Group) -> Option<Published> {
    match (group.place, group.load) {
        (Place::OneCore, Load::Steps(Kind::Hash)) => Some(published::ONE_CORE),
        (Place::AllCores, Load::Pictures) => Some(published::SCALING),
        (Place::OneCore | Place::AllCores, Load::Steps(_) | Load::Pictures) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn a_single_core_has_no_second_place() {
        assert_eq!(groups(4).len(), 8);
        assert_eq!(groups(1).len(), 4);
        assert!(groups(1).iter().all(|group| group.place == Place::OneCore));
    }

    #[test]
    fn little_time_is_spent_on_the_first_groups() {
        assert_eq!(affordable(least() * 3, 8), 3);
        assert_eq!(affordable(Duration::ZERO, 8), 0);
        assert_eq!(affordable(Duration::from_secs(600), 8), 8);
    }

    #[test]
    fn steps_fill_the_time_asleep_or_not() {
        let second = Duration::from_secs(1);
        assert_eq!(steps(Kind::Count, 4, second, 0.001).steps, 250);
        let mixed = steps(Kind::Mixed, 4, second, 0.003);
        assert_eq!((mixed.steps, mixed.sleep_us), (25, 7000));
        assert_eq!(steps(Kind::Hash, 4, Duration::ZERO, 1.0).steps, 1);
    }

    #[test]
    fn each_shape_does_the_same_work() {
        let bench = samples::bench(2);
        for group in groups(2) {
            let requests = requests(&bench, group, Duration::from_secs(2), 0.001);
            let amounts: Vec<usize> = requests
                .iter()
                .map(|request| match &request.work {
                    Work::Steps(steps) => steps.tasks * steps.steps as usize,
                    Work::Workers(pictures, _)
                    | Work::Threads(pictures, _)
                    | Work::Tasks(pictures, _) => pictures.files.len(),
                    Work::Transfer(..) | Work::Load => 0,
                })
                .collect();
            assert!(
                amounts[0] > 0 && amounts.iter().all(|amount| *amount == amounts[0]),
                "{amounts:?}"
            );
            let bound = requests.iter().all(|request| request.cpus == [0]);
            assert_eq!(bound, group.place == Place::OneCore);
        }
    }

    #[test]
    fn throughput_is_against_one_process() {
        let group = groups(2)[0];
        let times: [&[u64]; 4] = [&[100; 5], &[50; 5], &[50; 5], &[120, 110, 115, 115, 115]];
        let table = table(group, 2, &samples::collected(&times));
        assert_eq!(
            table.rows[1].figure("throughput").unwrap().value.median,
            2.0
        );
        assert_eq!(table.rows[1].verdict.as_deref(), Some("50 % less time"));
        assert_eq!(table.rows[3].verdict.as_deref(), Some("15 % more time"));
        assert_eq!(table.title, "8 rounds of SHA-256 over random data, 1 core");
    }
}
