//! Failures in words: named by kind, what befell many alike told once. Pure.

use super::with_message;
use crate::ledger::words;
use crate::report::facts::Facts;
use crate::report::tally::{Failures, Tally};
use crate::report::text::{clean, grouped, name, word};
use pressroom_shared::FailureKind;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

/// Failed files named per kind in a summary; the rest is counted.
const NAMED: usize = 5;

/// Failures by kind: the first of each with their reasons, the rest counted.
pub(super) fn failures(failed: &BTreeMap<FailureKind, Failures>) -> String {
    let mut text = String::new();
    for (kind, failures) in failed {
        let _ = writeln!(
            text,
            "  FAILED, {}: {}",
            words::failure_title(*kind),
            grouped(failures.count)
        );
        match one_message(failures) {
            Some(message) => {
                let names: Vec<String> = failures
                    .first
                    .iter()
                    .take(NAMED)
                    .map(|(path, _)| name(path))
                    .collect();
                let _ = writeln!(text, "    {message}\n    {}", names.join(", "));
            }
            None => {
                for (path, message) in failures.first.iter().take(NAMED) {
                    let _ = writeln!(text, "    {}", with_message(&name(path), message));
                }
            }
        }
        let more = failures
            .count
            .saturating_sub(NAMED.min(failures.first.len()) as u64);
        if more > 0 {
            let _ = writeln!(
                text,
                "    and {} more; `pressroom report --failed` names them",
                grouped(more)
            );
        }
    }
    text
}

/// What is said of all files alike, figures aside, where there are several: a full disk or a cap that is too small is told once.
fn one_message(failures: &Failures) -> Option<String> {
    let (_, first) = failures.first.first()?;
    let alike = |(path, other): &(PathBuf, String)| {
        without_figures(&other.replace(&*path.to_string_lossy(), "")) == without_figures(first)
    };
    if failures.first.len() < 2 || first.is_empty() || !failures.first.iter().all(alike) {
        return None;
    }
    let same = failures.first.iter().all(|(_, other)| other == first);
    let whose = if same { "" } else { " (figures of the first)" };
    Some(clean(first) + whose)
}

fn without_figures(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_ascii_digit())
        .collect()
}

/// The command that names every failure.
pub(super) fn where_to_ask(tally: &Tally, facts: &Facts) -> String {
    let failed = tally.failed_in_all() + tally.failed_before > 0;
    match facts.place.as_ref().filter(|_| failed) {
        Some(place) => format!(
            "  every failure with its reason: pressroom report --failed {}\n",
            word(place)
        ),
        None => String::new(),
    }
}
