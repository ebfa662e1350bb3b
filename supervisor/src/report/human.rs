//! Texts for people: the head of a run, its line per file, its summary, the message that quiet runs leave. Pure.

mod failing;

use super::bars::{Standing, coarse};
use super::facts::{Facts, Header};
use super::tally::Tally;
use super::text::{clean, count, duration, grouped, name, rate, saving, word};
use crate::cli::config::KnownFailures;
use crate::ledger::{Entry, HowEnded, Verdict, words};
use crate::passed::Passed;
use crate::units::{show_memory, show_size};
use failing::{failures, where_to_ask};
use std::fmt::Write;
use std::path::Path;

/// The head of a run.
pub fn header(header: &Header) -> String {
    let inputs: Vec<String> = header.inputs.iter().map(|path| name(path)).collect();
    let place = header
        .output
        .as_ref()
        .map_or("in place".to_owned(), |path| format!("-> {}", name(path)));
    format!(
        "{} {place}: {}\n  {}: {}\n  memory: {}; sandbox: {}\n",
        inputs.join(", "),
        header.goal,
        count(header.workers.into(), "worker"),
        header.workers_why,
        header.cap,
        header.sandbox,
    )
}

/// One file in one line, for `-v`.
pub fn line(entry: &Entry) -> String {
    let path = name(&entry.source);
    let mut line = match entry.verdict {
        Verdict::Saved => saved_line(&path, entry),
        Verdict::Kept => format!(
            "kept     {path}: {}",
            with_message(words::kept_title(&entry.reason), &entry.message)
        ),
        Verdict::Skipped => format!("skipped  {path}: {}", skip_title(&entry.reason)),
        Verdict::Failed => format!(
            "FAILED   {path}: {}",
            with_message(failure_title(entry), &entry.message)
        ),
        Verdict::Interrupted => format!("left     {path}: the run ended first"),
    };
    if entry.deaths > 0 {
        let _ = write!(
            line,
            " [{} died on it]",
            count(entry.deaths.into(), "worker")
        );
    }
    for warning in &entry.warnings {
        let _ = write!(line, " [{}]", clean(warning));
    }
    line
}

fn saved_line(path: &str, entry: &Entry) -> String {
    let after = entry.bytes_out.unwrap_or(0);
    format!(
        "saved    {path}: {} -> {}, {}{}, {}",
        show_size(entry.bytes_in),
        show_size(after),
        saving(entry.bytes_in, after),
        entry
            .quality
            .map_or(String::new(), |quality| format!(", quality {quality}")),
        duration(entry.wall_us / 1000),
    )
}

fn with_message(title: &str, message: &str) -> String {
    if message.is_empty() {
        title.to_owned()
    } else if message.starts_with(title) || says_it_all(message, title) {
        clean(message)
    } else {
        format!("{title}: {}", clean(message))
    }
}

/// Whether every word of the title is in the message, as in "empty file: the file is empty".
fn says_it_all(message: &str, title: &str) -> bool {
    let mut words = title.split_whitespace();
    words.all(|word| {
        message
            .split(|letter: char| !letter.is_alphanumeric())
            .any(|other| other == word)
    })
}

fn failure_title(entry: &Entry) -> &'static str {
    entry.failure().map_or("failed", words::failure_title)
}

fn skip_title(reason: &str) -> &'static str {
    match reason {
        "unchanged" => "done by an earlier run and unchanged since",
        "failed_before" => {
            "failed in an earlier run and unchanged since; --retry-failed tries it again"
        }
        "output_changed" => {
            "an earlier run made the output and it was changed since; --recheck makes it again, and so does --overwrite"
        }
        _ => "the output exists and is not ours; --overwrite allows to replace it",
    }
}

/// The summary of a run that has just ended.
pub fn summary(tally: &Tally, facts: &Facts) -> String {
    let mut text = sums(tally, facts, tally.ended() == 0);
    if tally.warned > 0 {
        let warned = count(tally.warned, "file");
        let _ = writeln!(text, "  {warned} with a warning; {}", who_shows(facts));
    }
    text
}

/// Where the warnings can be read: of a dry run nothing stays that could be asked later.
fn who_shows(facts: &Facts) -> String {
    match &facts.place {
        _ if facts.dry_run => "-v shows them".to_owned(),
        Some(place) => format!("`pressroom report {}` shows them", word(place)),
        None => "`pressroom report` shows them".to_owned(),
    }
}

/// The summary of a run in a report.
pub fn past_summary(tally: &Tally, facts: &Facts) -> String {
    sums(tally, facts, true)
}

fn sums(tally: &Tally, facts: &Facts, all_passed: bool) -> String {
    let mut text = headline(tally, facts);
    if tally.bytes_in > 0 {
        let _ = writeln!(
            text,
            "  {} -> {}, {}",
            show_size(tally.bytes_in),
            show_size(tally.bytes_out),
            saving(tally.bytes_in, tally.bytes_out)
        );
    }
    text.push_str(&kept(tally));
    text.push_str(&skipped(tally, facts));
    text.push_str(&failures(&tally.failed));
    text.push_str(&where_to_ask(tally, facts));
    text.push_str(&remarks(tally, facts, all_passed));
    text
}

/// What was passed over, for whoever asks: `all`, or a run without images, so that a wrong folder or filter is noticed.
/// Otherwise only where somebody may miss something.
fn passed_over(facts: &Facts, all: bool) -> Option<String> {
    let missed = facts.ignored.kinds().any(|(kind, _)| kind.is_missed());
    if facts.ignored.total() == 0 || !(all || missed) {
        return None;
    }
    let kinds: Vec<String> = facts
        .ignored
        .kinds()
        .map(|(kind, number)| format!("{} {}", grouped(number), kind.noun(number)))
        .collect();
    Some(format!(
        "passed over: {}; a run with -n -v names them",
        kinds.join(", ")
    ))
}

/// Something passed over in one line, for `-v`.
pub fn passed_line(path: &Path, why: Passed) -> String {
    format!("passed   {}: {}", name(path), why.title())
}

fn headline(tally: &Tally, facts: &Facts) -> String {
    let images = images(tally, facts);
    let did = match tally.done() {
        0 if facts.how != Some(HowEnded::Finished) => "nothing was done".to_owned(),
        0 if tally.ended() == 0 => "nothing to do".to_owned(),
        0 if tally.left_alone() + tally.interrupted > 0 => "nothing was done".to_owned(),
        0 => "nothing to do again".to_owned(),
        done => format!(
            "{} saved, {} kept, {} failed; {} images/s",
            grouped(tally.saved),
            grouped(tally.kept_in_all()),
            grouped(tally.failed_in_all()),
            rate(done, facts.wall_ms)
        ),
    };
    let first = if facts.how.is_none() {
        "not finished: "
    } else if facts.dry_run {
        "dry run, nothing was written: "
    } else {
        ""
    };
    format!(
        "{first}{images} in {} with {}: {did}\n",
        duration(facts.wall_ms),
        count(facts.workers.into(), "worker")
    )
}

/// "6 images"; of a run that ended early, how far it came.
fn images(tally: &Tally, facts: &Facts) -> String {
    let found = facts.discovered.max(tally.ended());
    let through = tally.ended().saturating_sub(tally.interrupted);
    match (facts.how, facts.expected) {
        (Some(HowEnded::Finished), _) => count(found, "image"),
        (None, None) => format!("{} so far", count(found, "image")),
        (_, Some(all)) => format!("{} of {}", grouped(through), count(all.max(found), "image")),
        (_, None) => format!("{} found so far", count(found, "image")),
    }
}

fn kept(tally: &Tally) -> String {
    let mut text = String::new();
    for (reason, number) in &tally.kept {
        let _ = writeln!(
            text,
            "  kept as they were: {} ({})",
            grouped(*number),
            words::kept_title(reason)
        );
    }
    text
}

fn skipped(tally: &Tally, facts: &Facts) -> String {
    // Where all were counted ahead, those that were not even found are left as well.
    let unseen = facts
        .expected
        .map_or(0, |all| all.saturating_sub(tally.ended()));
    let mut text = String::new();
    for (number, what) in [
        (tally.unchanged, "done by an earlier run, unchanged since"),
        (
            tally.failed_before,
            "failed in an earlier run, unchanged since; --retry-failed tries them again",
        ),
        (
            tally.exists,
            "left alone, because an output that is not ours has their name; see --overwrite",
        ),
        (
            tally.output_changed,
            "left alone, because the output of an earlier run was changed since; --recheck makes it again, or see --overwrite",
        ),
        (
            tally.interrupted + unseen,
            "not begun or not ended; run the same command again to do them",
        ),
    ] {
        if number > 0 {
            let _ = writeln!(text, "  {}: {what}", grouped(number));
        }
    }
    text
}

fn remarks(tally: &Tally, facts: &Facts, all_passed: bool) -> String {
    let mut text = String::new();
    if tally.deaths > 0 {
        let _ = writeln!(
            text,
            "  workers that died and were replaced: {}",
            grouped(tally.deaths)
        );
    }
    if tally.peak_rss > 0 {
        let _ = writeln!(
            text,
            "  peak memory of a worker: {}",
            show_memory(tally.peak_rss)
        );
    }
    if let Some(line) = passed_over(facts, all_passed) {
        let _ = writeln!(text, "  {line}");
    }
    if let Some(line) = how_ended(facts.how) {
        let _ = writeln!(text, "  {line}");
    }
    if facts.how.is_none() {
        let latest = super::text::moment(facts.started + facts.wall_ms);
        let _ = writeln!(
            text,
            "  its latest image ended on {latest}; what an earlier run had done is counted at the end"
        );
    }
    text
}

fn how_ended(how: Option<HowEnded>) -> Option<&'static str> {
    match how {
        Some(HowEnded::Finished) => None,
        Some(HowEnded::TimeUp) => {
            Some("stopped because --run-for was over; the same command goes on from here")
        }
        Some(HowEnded::TooManyFailures) => {
            Some("stopped because --max-fail was reached; look at the failures, then run again")
        }
        Some(HowEnded::Signal) => {
            Some("stopped by a signal; run the same command again to go on from here")
        }
        Some(HowEnded::DiskFull) => {
            Some("stopped because the disk is full; free some space, then run again")
        }
        Some(HowEnded::Broken) => {
            Some("stopped because the tool could not go on; the message above says why")
        }
        None => Some(
            "not finished: still going on, or killed; after a kill the same command goes on from here",
        ),
    }
}

/// What a quiet run says: nothing when all is well, otherwise one message of the size of a mail.
pub fn mail(tally: &Tally, facts: &Facts, known: KnownFailures) -> Option<String> {
    let well = tally.failed.is_empty()
        && is_known(tally.failed_before, known)
        && tally.left_alone() == 0
        && facts.how == Some(HowEnded::Finished);
    if well {
        return None;
    }
    let failed = tally.failed_in_all() + tally.failed_before;
    let images = count(facts.discovered.max(tally.ended()), "image");
    let output = name(&facts.output);
    let news = if failed > 0 {
        let before = match tally.failed_before {
            0 => String::new(),
            before => format!(", {} of them in an earlier run", grouped(before)),
        };
        format!(
            "{} of {images} into {output} failed{before}",
            grouped(failed)
        )
    } else if facts.how == Some(HowEnded::Finished) {
        format!(
            "{} of {images} into {output} left alone",
            grouped(tally.left_alone())
        )
    } else {
        format!(
            "{} into {output}, and the run ended early",
            self::images(tally, facts)
        )
    };
    Some(format!("pressroom: {news}\n{}", summary(tally, facts)))
}

/// Whether failures of earlier runs, if there are any, are no news.
pub fn is_known(failed_before: u64, known: KnownFailures) -> bool {
    match known {
        KnownFailures::Fail => failed_before == 0,
        KnownFailures::Ok => true,
    }
}

/// A progress line without a terminal's help.
pub(super) fn progress(standing: &Standing<'_>) -> String {
    let tally = standing.tally;
    let left = standing
        .left_ms
        .map_or_else(String::new, |ms| format!(", {} left", coarse(ms)));
    format!(
        "{} of {}{} images, {} failed, {} -> {}, {} images/s{left}",
        grouped(tally.ended()),
        grouped(standing.inputs),
        if standing.counted { "" } else { "+" },
        grouped(tally.failed_in_all()),
        show_size(tally.bytes_in),
        show_size(tally.bytes_out),
        rate(tally.done(), standing.elapsed_ms),
    )
}

#[cfg(test)]
mod tests;
