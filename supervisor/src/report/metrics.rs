//! Metrics as a Prometheus text file, for node_exporter's textfile collector. Pure, except for [`write`], which replaces
//! the file in one step so that a scrape never sees half of it.

use super::facts::Facts;
use super::tally::Tally;
use crate::ledger::{HowEnded, words};
use std::fmt::Write;
use std::io;
use std::path::Path;

/// All metrics of a run.
pub fn text(tally: &Tally, facts: &Facts) -> String {
    let mut text = String::new();
    families(&mut text, tally);
    singles(&mut text, tally, facts);
    text
}

fn families(text: &mut String, tally: &Tally) {
    let images = [
        ("saved", tally.saved),
        ("kept", tally.kept_in_all()),
        ("skipped", tally.skipped()),
        ("failed", tally.failed_in_all()),
        ("failed_before", tally.failed_before),
        ("interrupted", tally.interrupted),
    ];
    let help = "Images of the last run by outcome; skipped includes failed_before.";
    family(text, "images", help, "outcome", &images);
    let count = |kind| tally.failed.get(&kind).map_or(0, |failures| failures.count);
    let failures = words::FAILURES.map(|kind| (words::failure(kind), count(kind)));
    family(
        text,
        "failures",
        "Failed images of the last run by kind.",
        "kind",
        &failures,
    );
    let bytes = [("before", tally.bytes_in), ("after", tally.bytes_out)];
    let help = "Bytes of the images the last run did, before and after.";
    family(text, "bytes", help, "when", &bytes);
}

fn singles(text: &mut String, tally: &Tally, facts: &Facts) {
    let complete = u64::from(facts.how == Some(HowEnded::Finished));
    let cpu_ms = tally.cpu_us / 1000;
    let ended = facts.ended.unwrap_or(0);
    for (name, help, value) in [
        (
            "complete",
            "1 if the last run came to its end by itself.",
            complete.to_string(),
        ),
        (
            "workers",
            "Workers of the last run.",
            facts.workers.to_string(),
        ),
        (
            "worker_deaths",
            "Workers that died in the last run.",
            tally.deaths.to_string(),
        ),
        (
            "worker_peak_bytes",
            "Highest peak memory of a worker in the last run.",
            tally.peak_rss.to_string(),
        ),
        (
            "warnings",
            "Images of the last run that carry a warning.",
            tally.warned.to_string(),
        ),
        (
            "wall_seconds",
            "Wall time of the last run.",
            seconds(facts.wall_ms),
        ),
        (
            "cpu_seconds",
            "CPU time of workers in the last run.",
            seconds(cpu_ms),
        ),
        (
            "end_time_seconds",
            "When the last run ended, since 1970.",
            seconds(ended),
        ),
    ] {
        single(text, name, help, &value);
    }
}

fn family(text: &mut String, name: &str, help: &str, label: &str, values: &[(&str, u64)]) {
    let _ = writeln!(
        text,
        "# HELP pressroom_{name} {help}\n# TYPE pressroom_{name} gauge"
    );
    for (value, number) in values {
        let _ = writeln!(text, "pressroom_{name}{{{label}=\"{value}\"}} {number}");
    }
}

fn single(text: &mut String, name: &str, help: &str, value: &str) {
    let _ = writeln!(
        text,
        "# HELP pressroom_{name} {help}\n# TYPE pressroom_{name} gauge\npressroom_{name} {value}"
    );
}

fn seconds(ms: u64) -> String {
    format!("{}.{:03}", ms / 1000, ms % 1000)
}

/// Replaces the file at `path` in one step.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    super::replace::file(path, text)
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn every_metric_is_declared_once() {
        let text = text(&samples::tally(), &samples::facts());
        assert!(
            text.contains("pressroom_failures{kind=\"corrupt\"} 2\n"),
            "{text}"
        );
        assert!(text.contains("pressroom_wall_seconds 1.200\n"), "{text}");
        let mut declared: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("# TYPE "))
            .collect();
        let count = declared.len();
        declared.dedup();
        assert_eq!(declared.len(), count);
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (_, value) = line.rsplit_once(' ').unwrap();
            assert!(value.parse::<f64>().is_ok(), "{line}");
        }
    }

    /// What Prometheus is told to watch.
    const ALERTS: &str = include_str!("../../../scripts/alerts.yml");

    /// The words of an alert's expressions that name metrics, with the label and values asked of each.
    fn selectors() -> Vec<(String, Option<(String, String)>)> {
        let is_name = |letter: char| letter.is_ascii_lowercase() || letter == '_';
        let expressions = ALERTS
            .split("expr:")
            .skip(1)
            .map(|rest| rest.split(" for:").next().unwrap());
        expressions
            .flat_map(|expression| {
                expression
                    .match_indices("pressroom_")
                    .map(move |(at, _)| &expression[at..])
            })
            .map(|rest| {
                let end = rest.find(|letter| !is_name(letter)).unwrap_or(rest.len());
                let labels = rest[end..].strip_prefix('{').map(|labels| {
                    let (label, values) = labels.split_once('=').unwrap();
                    let values = values.trim_start_matches('~').trim_start_matches('"');
                    (
                        label.to_owned(),
                        values.split('"').next().unwrap().to_owned(),
                    )
                });
                (rest[..end].to_owned(), labels)
            })
            .collect()
    }

    #[test]
    fn alerts_watch_what_there_is() {
        let text = text(&samples::tally(), &samples::facts());
        let selectors = selectors();
        assert!(selectors.len() > 8, "{selectors:?}");
        for (name, labels) in selectors {
            let Some((label, values)) = labels else {
                assert!(text.contains(&format!("\n{name} ")), "no metric {name}");
                continue;
            };
            for value in values.split('|') {
                let sample = format!("\n{name}{{{label}=\"{value}\"}} ");
                assert!(text.contains(&sample), "no {sample}");
            }
        }
    }
}
