//! `pressroom report`: what earlier runs did, from any number of ledgers.

use super::facts::Facts;
use super::tally::Tally;
use super::text::{count, duration, grouped, moment, name, saving};
use super::{human, json};
use crate::ledger::{Entry, LedgerError, Reader, Run, Verdict, default_path};
use crate::units::{show_memory, show_size};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Files named as slowest and as hungriest.
const TOP: usize = 5;

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Output folders or ledger files.
    pub places: Vec<PathBuf>,
    /// Only failed files.
    pub failed: bool,
    /// One JSON object per file.
    pub json: bool,
    /// Only runs that started at or after this moment (milliseconds since 1970); otherwise the last run.
    pub since: Option<u64>,
}

/// A report cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// There is no ledger.
    #[error(
        "there is no ledger at {}; name the output folder of an earlier run, or the file given with --state",
        path.display()
    )]
    NoLedger {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The ledger has no run.
    #[error("the ledger {} has no run that matches; ask for a longer time with --since, or leave it out", path.display())]
    NoRun {
        /// The ledger.
        path: PathBuf,
    },
    /// The page cannot be written.
    #[error("could not write {}: {source}; check the folder and who may write there", path.display())]
    Write {
        /// The page.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The ledger cannot be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// Answers, piece by piece, through `say`: a report over many files never stands in memory as a whole.
pub fn answer(question: &Question, say: &mut dyn FnMut(&str)) -> Result<(), ReportError> {
    for place in &places(&question.places) {
        let path = ledger_at(place)?;
        let reader = Reader::open_whole(&path)?;
        let runs = chosen(&reader, question.since)?;
        if runs.is_empty() {
            return Err(ReportError::NoRun { path });
        }
        match (question.json, question.failed) {
            (true, failed) => as_json(&reader, &runs, failed, say)?,
            (false, true) => failed_list(&reader, &runs, say)?,
            (false, false) => as_text(&reader, &runs, &path, say)?,
        }
    }
    Ok(())
}

/// The places that were named, or the current folder.
pub fn places(named: &[PathBuf]) -> Vec<PathBuf> {
    if named.is_empty() {
        return vec![PathBuf::from(".")];
    }
    named.to_vec()
}

/// The ledger of an output folder, or the file itself.
pub fn ledger_at(place: &Path) -> Result<PathBuf, ReportError> {
    let path = if place.is_dir() {
        default_path(place)
    } else {
        place.to_path_buf()
    };
    if path.is_file() {
        return Ok(path);
    }
    Err(ReportError::NoLedger { path })
}

/// Runs that are asked about, latest first.
fn chosen(reader: &Reader, since: Option<u64>) -> Result<Vec<Run>, ReportError> {
    let Some(since) = since else {
        return Ok(reader.runs(1)?);
    };
    let mut runs = reader.runs(u32::MAX)?;
    runs.retain(|run| run.started >= since);
    Ok(runs)
}

/// Hands over each file of the runs, by run and then by path.
fn each(reader: &Reader, runs: &[Run], take: &mut dyn FnMut(Entry)) -> Result<(), ReportError> {
    for run in runs {
        reader.entries(Some(run.id), take)?;
    }
    Ok(())
}

fn as_json(
    reader: &Reader,
    runs: &[Run],
    failed: bool,
    say: &mut dyn FnMut(&str),
) -> Result<(), ReportError> {
    for run in runs {
        let mut tally = Tally::default();
        reader.entries(Some(run.id), &mut |entry| {
            tally.add(&entry);
            if !failed || entry.verdict == Verdict::Failed {
                say(&json::file(&entry));
            }
        })?;
        let facts = Facts::so_far(run, tally.latest_ms);
        say(&json::run(&settled(tally, run), &facts));
    }
    Ok(())
}

/// Rows of inputs that were unchanged are those of an earlier run, so their number comes from the run's own row. A file that
/// failed before and was left alone is a failed row of this run.
fn settled(mut tally: Tally, run: &Run) -> Tally {
    tally.unchanged = run.unchanged;
    tally
}

fn failed_list(
    reader: &Reader,
    runs: &[Run],
    say: &mut dyn FnMut(&str),
) -> Result<(), ReportError> {
    let mut failed = 0u64;
    each(reader, runs, &mut |entry| {
        if entry.verdict == Verdict::Failed {
            failed += 1;
            say(&format!("{}\n", human::line(&entry)));
        }
    })?;
    if failed == 0 {
        say("nothing failed\n");
    }
    Ok(())
}

/// What stands out among the files of a run.
#[derive(Default)]
struct Standouts {
    slowest: Vec<Entry>,
    hungriest: Vec<Entry>,
    warned: Vec<Entry>,
    /// Files with a warning that are not in `warned`.
    warned_too: u64,
}

impl Standouts {
    fn see(&mut self, entry: &Entry) {
        if entry.wall_us > 0 {
            keep_top(&mut self.slowest, entry, |entry| entry.wall_us);
            keep_top(&mut self.hungriest, entry, |entry| entry.peak_rss);
        }
        if !entry.warnings.is_empty() {
            if self.warned.len() < TOP {
                self.warned.push(entry.clone());
            } else {
                self.warned_too += 1;
            }
        }
    }
}

fn keep_top(top: &mut Vec<Entry>, entry: &Entry, by: fn(&Entry) -> u64) {
    let at = top.partition_point(|other| by(other) >= by(entry));
    if at < TOP {
        top.insert(at, entry.clone());
        top.truncate(TOP);
    }
}

fn as_text(
    reader: &Reader,
    runs: &[Run],
    path: &Path,
    say: &mut dyn FnMut(&str),
) -> Result<(), ReportError> {
    for run in runs {
        let mut tally = Tally::default();
        let mut standouts = Standouts::default();
        reader.entries(Some(run.id), &mut |entry| {
            standouts.see(&entry);
            tally.add(&entry);
        })?;
        say(&head(run));
        say(&human::past_summary(
            &settled(tally.clone(), run),
            &Facts::so_far(run, tally.latest_ms),
        ));
        say(&left_alone(run));
        say(&done_again(run, &tally));
        say(&shown(&standouts));
    }
    say(&overall(reader, runs, path)?);
    Ok(())
}

fn head(run: &Run) -> String {
    format!(
        "run {} on {}, {}\n  {}\n",
        run.id,
        moment(run.started),
        run.build,
        super::text::clean(&run.command)
    )
}

fn left_alone(run: &Run) -> String {
    if run.failed_before == 0 {
        return String::new();
    }
    format!(
        "  {} of the failures from an earlier run, unchanged and not tried again; --retry-failed does\n",
        run.failed_before
    )
}

/// The sums of a run as they stood when it ended, where later runs did some of its images again: the rows are theirs now.
fn done_again(run: &Run, rows: &Tally) -> String {
    let done = run.done;
    let again = (done.images() + run.failed_before).saturating_sub(rows.done());
    if again == 0 {
        return String::new();
    }
    format!(
        "  {} of its images done again or gone since; when it ended: {} saved, {} kept, {} failed; {} -> {}, {}\n",
        grouped(again),
        grouped(done.saved),
        grouped(done.kept),
        grouped(done.failed),
        show_size(done.bytes_in),
        show_size(done.bytes_out),
        saving(done.bytes_in, done.bytes_out)
    )
}

fn shown(standouts: &Standouts) -> String {
    let mut text = String::new();
    list(&mut text, "slowest", &standouts.slowest, |entry| {
        duration(entry.wall_us / 1000)
    });
    list(
        &mut text,
        "workers at their biggest",
        &standouts.hungriest,
        |entry| show_memory(entry.peak_rss),
    );
    list(&mut text, "warnings", &standouts.warned, |entry| {
        super::text::clean(&entry.warnings.join("; "))
    });
    if standouts.warned_too > 0 {
        let more = grouped(standouts.warned_too);
        let _ = writeln!(
            text,
            "    and {more} more; `pressroom report --json` has all"
        );
    }
    text
}

fn list(text: &mut String, title: &str, entries: &[Entry], figure: impl Fn(&Entry) -> String) {
    if entries.is_empty() {
        return;
    }
    let _ = writeln!(text, "  {title}:");
    for entry in entries {
        let _ = writeln!(text, "    {}  {}", figure(entry), name(&entry.output()));
    }
}

/// Everything in the ledger; with what stands out in it where the runs asked about did nothing.
fn overall(reader: &Reader, runs: &[Run], path: &Path) -> Result<String, ReportError> {
    let mut all = Tally::default();
    let mut standouts = Standouts::default();
    reader.entries(None, &mut |entry| {
        standouts.see(&entry);
        all.add(&entry);
    })?;
    let mut text = format!(
        "in all, over every run in {}: {}, {} failing; {} -> {}, {}\n",
        name(path),
        count(all.ended(), "image"),
        all.failed_in_all(),
        show_size(all.bytes_in),
        show_size(all.bytes_out),
        saving(all.bytes_in, all.bytes_out)
    );
    if runs.iter().all(did_nothing) {
        text.push_str(&shown(&standouts));
    }
    Ok(text)
}

fn did_nothing(run: &Run) -> bool {
    run.end
        .is_some_and(|end| end.discovered == run.unchanged + run.failed_before)
}

#[cfg(test)]
mod tests;
