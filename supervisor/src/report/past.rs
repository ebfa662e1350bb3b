//! `pressroom report`: what earlier runs did, from any number of ledgers.

use super::facts::Facts;
use super::tally::Tally;
use super::text::{count, duration, moment, name, saving};
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
    #[error("the ledger {} has no run that matches", path.display())]
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
    let here = [PathBuf::from(".")];
    let places = if question.places.is_empty() {
        &here[..]
    } else {
        &question.places
    };
    for place in places {
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
        say(&json::run(&settled(tally, run), &Facts::of_run(run)));
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
}

impl Standouts {
    fn see(&mut self, entry: &Entry) {
        if entry.wall_us > 0 {
            keep_top(&mut self.slowest, entry, |entry| entry.wall_us);
            keep_top(&mut self.hungriest, entry, |entry| entry.peak_rss);
        }
        if !entry.warnings.is_empty() && self.warned.len() < TOP {
            self.warned.push(entry.clone());
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
            &settled(tally, run),
            &Facts::of_run(run),
        ));
        say(&left_alone(run));
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
    text
}

fn list(text: &mut String, title: &str, entries: &[Entry], figure: impl Fn(&Entry) -> String) {
    if entries.is_empty() {
        return;
    }
    let _ = writeln!(text, "  {title}:");
    for entry in entries {
        let _ = writeln!(text, "    {}  {}", figure(entry), name(&entry.target));
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
mod tests {
    use super::*;
    use crate::recorder::sample_ledger;

    fn ask(place: &Path, failed: bool, json: bool, since: Option<u64>) -> String {
        let question = Question {
            places: vec![place.to_path_buf()],
            failed,
            json,
            since,
        };
        let mut said = String::new();
        answer(&question, &mut |text| said.push_str(text)).unwrap();
        said
    }

    #[test]
    fn the_last_run_is_told_from_the_ledger() {
        let folder = sample_ledger();
        let said = ask(folder.path(), false, false, None)
            .replace(&*folder.path().to_string_lossy(), "OUT");
        insta::assert_snapshot!(said, @r"
        run 1 on 2026-11-30 12:31:30 UTC, pressroom 0.1.0
          pressroom in -o out -q 75
        2 images in 2.0 s with 2 workers: 0 saved, 1 kept, 1 failed; 1.0 images/s
          1 KB -> 1 KB, same size
          kept as they were: 1 (would not have become smaller)
          FAILED, damaged or cut off: 1
            /in/b.jpg: the data ends after 12 of 40 rows
          workers that died and were replaced: 1
          peak memory of a worker: 9 MiB
          slowest:
            0.01 s  a.jpg
            0.00 s  b.jpg
          workers at their biggest:
            9 MiB  a.jpg
            7 B  b.jpg
          warnings:
            the name says another format; the content is PNG  a.jpg
        in all, over every run in OUT/.pressroom/ledger.db: 2 images, 1 failing; 1 KB -> 1 KB, same size
        ");
    }

    #[test]
    fn a_failure_that_was_left_alone_is_still_told() {
        let folder = sample_ledger();
        crate::recorder::sample_second_run(folder.path());
        let said = ask(folder.path(), false, false, None);
        assert!(said.starts_with("run 2 on"), "{said}");
        assert!(said.contains("  FAILED, damaged or cut off: 1\n"), "{said}");
        assert!(
            said.contains("  1 of the failures from an earlier run"),
            "{said}"
        );
        assert!(ask(folder.path(), true, false, None).contains("/in/b.jpg"));
    }

    #[test]
    fn failed_files_are_listed_alone() {
        let folder = sample_ledger();
        insta::assert_snapshot!(ask(folder.path(), true, false, None), @"FAILED   /in/b.jpg: damaged or cut off: the data ends after 12 of 40 rows [1 worker died on it]");
        let json = ask(folder.path(), true, true, None);
        let lines: Vec<serde_json::Value> = json
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0]["reason"], "corrupt");
        assert_eq!(
            (&lines[1]["type"], &lines[1]["failed"]),
            (&"run".into(), &1.into())
        );
    }

    #[test]
    fn a_ledger_file_is_as_good_as_its_folder_and_a_page_comes_from_either() {
        let folder = sample_ledger();
        let ledger = default_path(folder.path());
        assert_eq!(
            ask(&ledger, false, true, Some(0)),
            ask(folder.path(), false, true, None)
        );
        let page = folder.path().join("page.html");
        crate::report::html::write(&ledger, &page).unwrap();
        assert!(
            std::fs::read_to_string(page)
                .unwrap()
                .contains("damaged or cut off")
        );
    }

    #[test]
    fn what_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let question = Question {
            places: vec![folder.path().to_path_buf()],
            failed: false,
            json: false,
            since: None,
        };
        let error = answer(&question, &mut |_| {}).unwrap_err().to_string();
        assert!(
            error.contains("there is no ledger at") && error.contains("--state"),
            "{error}"
        );
        let ledger = sample_ledger();
        let question = Question {
            places: vec![ledger.path().to_path_buf()],
            since: Some(u64::MAX),
            ..question
        };
        assert!(matches!(
            answer(&question, &mut |_| {}),
            Err(ReportError::NoRun { .. })
        ));
    }
}
