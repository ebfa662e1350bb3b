//! Which plot shows which experiment. Pure.

use super::svg::{Axis, Bar, Line, Point, Scale, bars, lines};
use crate::book::{Book, Experiment, Figure, Row, Table, Unit};
use crate::published::SCALING_POINTS;
use crate::wording::{self, digits};

/// The plots of an experiment, as HTML.
pub(super) fn of(book: &Book, experiment: &Experiment) -> String {
    match experiment.key {
        "scaling" => each(experiment, |_, table| scaling(book, table)),
        "boundary" => each(experiment, |_, table| boundary(table)),
        "threads" => each(experiment, threads),
        "loads" => each(experiment, |place, table| {
            let title = format!("{}: throughput against one process", table.title);
            shown(table, "throughput", &format!("loads-{place}"), &title)
        }),
        "busy" => each(experiment, busy),
        _ => String::new(),
    }
}

fn each(experiment: &Experiment, plot: impl Fn(usize, &Table) -> String) -> String {
    experiment
        .tables
        .iter()
        .enumerate()
        .map(|(place, table)| plot(place, table))
        .collect()
}

fn threads(place: usize, table: &Table) -> String {
    [
        ("images", "images per second"),
        ("job p99", "slowest hundredth of the jobs"),
        ("memory", "memory"),
    ]
    .iter()
    .enumerate()
    .map(|(plot, (name, title))| shown(table, name, &format!("threads-{place}-{plot}"), title))
    .collect()
}

fn busy(place: usize, table: &Table) -> String {
    [
        ("images", "images per second"),
        ("other load kept", "speed the other load kept"),
        ("late p99", "lateness of the loop, 99 of 100 beats"),
    ]
    .iter()
    .enumerate()
    .map(|(plot, (name, title))| shown(table, name, &format!("busy-{place}-{plot}"), title))
    .collect()
}

/// A figure of all rows as bars; nothing where no row has it.
fn shown(table: &Table, name: &str, id: &str, title: &str) -> String {
    let bar = |row: &Row| {
        let figure = row.figure(name)?;
        Some(Bar {
            label: row.label.clone(),
            value: figure.value.median,
            low: figure.value.low,
            high: figure.value.high,
            text: wording::figure(figure, false),
        })
    };
    let all: Vec<Bar> = table.rows.iter().filter_map(bar).collect();
    if all.is_empty() {
        return String::new();
    }
    let heading = format!("{}: {title}", table.title);
    format!(
        "<h3>{}</h3>{}",
        super::escape(&heading),
        bars(id, &heading, &all)
    )
}

fn point(x: f64, figure: &Figure) -> Point {
    Point {
        x,
        y: figure.value.median,
        low: figure.value.low,
        high: figure.value.high,
    }
}

fn exact(x: f64, y: f64) -> Point {
    Point {
        x,
        y,
        low: y,
        high: y,
    }
}

/// The number that a label begins with.
fn leading(label: &str) -> Option<f64> {
    label.split(' ').next()?.parse().ok()
}

fn scaling(book: &Book, table: &Table) -> String {
    let mut measured: Vec<Point> = table
        .rows
        .iter()
        .filter(|row| !row.label.contains("one CPU per core"))
        .filter_map(|row| Some(point(leading(&row.label)?, row.figure("speed-up")?)))
        .collect();
    measured.sort_by(|a, b| a.x.total_cmp(&b.x));
    let most = measured.last().map_or(1.0, |point| point.x);
    let usable = f64::from(book.machine.usable);
    let (first, _) = SCALING_POINTS[0];
    let alone = SCALING_POINTS[0].1;
    let published = SCALING_POINTS
        .iter()
        .filter(|(workers, _)| f64::from(*workers) <= most.max(first.into()));
    let all = [
        Line {
            name: "measured here".to_owned(),
            class: "one",
            points: measured,
        },
        Line {
            name: format!("what {} cores could give", book.machine.usable),
            class: "ideal",
            points: vec![exact(1.0, 1.0), exact(usable, usable), exact(most, usable)],
        },
        Line {
            name: "published (field report, 4 cores, another program)".to_owned(),
            class: "published",
            points: published
                .map(|(workers, time)| exact(f64::from(*workers), alone / time))
                .collect(),
        },
    ];
    let workers = Axis {
        name: "worker processes",
        scale: Scale::Linear,
        show: |value| format!("{value:.0}"),
    };
    let speedup = Axis {
        name: "speed-up against one",
        scale: Scale::Linear,
        show: digits,
    };
    lines(
        "scaling",
        "Speed-up by worker processes",
        &workers,
        &speedup,
        &all,
    )
}

fn boundary(table: &Table) -> String {
    let line = |name: &'static str, class, title: &str| Line {
        name: title.to_owned(),
        class,
        points: table
            .rows
            .iter()
            .filter_map(|row| Some(point(leading(&row.label)?, row.figure(name)?)))
            .collect(),
    };
    let last = table
        .rows
        .last()
        .and_then(|row| leading(&row.label))
        .unwrap_or(1.0);
    let published = |name: &str, class, from: f64, to: f64| Line {
        name: name.to_owned(),
        class,
        points: vec![exact(1.0, from), exact(last.max(1.0), to)],
    };
    let all = [
        line("pipe blocked", "one", "bytes through the pipe"),
        line("handle blocked", "two", "handle"),
        line("path blocked", "three", "path"),
        // 0.165 ms per MB, and 0.02 ms whatever the size.
        published(
            "published: by copy (Node)",
            "published",
            0.21e-3,
            (0.165e-3 * last).max(0.21e-3),
        ),
        published("published: by handle (Node)", "ideal", 0.02e-3, 0.02e-3),
    ];
    let size = Axis {
        name: "payload in MB",
        scale: Scale::Log,
        show: |value| format!("{value:.0}"),
    };
    let time = Axis {
        name: "sender blocked",
        scale: Scale::Log,
        show: |value| wording::value(Unit::Seconds, value),
    };
    lines(
        "boundary",
        "Time the sender is blocked, by payload",
        &size,
        &time,
        &all,
    )
}
