//! One file as the ledger and every report tell it: flat, in words, free of enums that only the pool needs.

use super::words;
use crate::plan::kept_name;
use crate::task::{Ending, Record};
use pressroom_shared::{FailureKind, Warning};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// What became of a file, without its reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// A smaller picture stands at the destination.
    Saved,
    /// The original bytes are the output.
    Kept,
    /// Nothing was done, for a reason that is no fault.
    Skipped,
    /// There is no output.
    Failed,
    /// The run ended first.
    Interrupted,
}

/// One file of a run. Made from a [`Record`] while a run goes on and from a ledger row afterwards.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Where the output was to go, relative to the output folder: the key of the row. People read [`Entry::output`].
    pub target: PathBuf,
    /// Absolute path of the input.
    pub source: PathBuf,
    /// What became of it.
    pub verdict: Verdict,
    /// Name of the reason, see [`words`]; empty for a saved or interrupted file.
    pub reason: Cow<'static, str>,
    /// The reason with its figures and what to do; may be empty.
    pub message: String,
    /// Things the user should know.
    pub warnings: Vec<String>,
    /// Name of the format found in the input.
    pub format: Option<Cow<'static, str>>,
    /// Bytes of the input.
    pub bytes_in: u64,
    /// Bytes of the output, where there is one.
    pub bytes_out: Option<u64>,
    /// Width of the result in stored pixels.
    pub width: Option<u32>,
    /// Height of the result in stored pixels.
    pub height: Option<u32>,
    /// Quality used.
    pub quality: Option<u8>,
    /// CPU time in microseconds.
    pub cpu_us: u64,
    /// Wall time in microseconds.
    pub wall_us: u64,
    /// Peak resident bytes of the worker that did it.
    pub peak_rss: u64,
    /// Workers that died on it.
    pub deaths: u8,
    /// Number of the seat that did it.
    pub seat: Option<u16>,
    /// Milliseconds from the start of the run to the start of the job.
    pub started_ms: u64,
    /// Milliseconds from the start of the run to its end.
    pub ended_ms: u64,
}

impl Entry {
    /// The record in words.
    pub fn of(record: &Record) -> Self {
        let mut entry = Self {
            target: record.task.target.clone(),
            source: record.task.source.clone(),
            verdict: Verdict::Interrupted,
            reason: Cow::Borrowed(""),
            message: String::new(),
            warnings: Vec::new(),
            format: record.format.map(|format| words::format(format).into()),
            bytes_in: record.task.identity.size,
            bytes_out: None,
            width: None,
            height: None,
            quality: None,
            cpu_us: record.cpu_us,
            wall_us: record.wall_us,
            peak_rss: record.peak_rss,
            deaths: record.deaths,
            seat: record.seat.map(|seat| seat.0),
            started_ms: record.started_ms,
            ended_ms: record.ended_ms,
        };
        entry.tell(&record.ending);
        entry
    }

    fn tell(&mut self, ending: &Ending) {
        match ending {
            Ending::Saved(saved) => {
                self.verdict = Verdict::Saved;
                self.bytes_out = Some(saved.bytes);
                self.width = Some(saved.width);
                self.height = Some(saved.height);
                self.quality = saved.quality;
                self.warn(&saved.warnings);
            }
            Ending::Kept(kept) => {
                self.verdict = Verdict::Kept;
                self.reason = words::kept(&kept.reason).into();
                self.message = words::kept_message(&kept.reason);
                self.bytes_out = Some(kept.bytes);
                self.warn(&kept.warnings);
            }
            Ending::Skipped(skip) => {
                self.verdict = Verdict::Skipped;
                self.reason = words::skip(*skip).into();
            }
            Ending::Failed(failed) => {
                self.verdict = Verdict::Failed;
                self.reason = words::failure(failed.kind).into();
                self.message.clone_from(&failed.message);
            }
            Ending::Interrupted => self.verdict = Verdict::Interrupted,
        }
    }

    fn warn(&mut self, warnings: &[Warning]) {
        self.warnings = warnings.iter().map(words::warning).collect();
    }

    /// The name of the output, relative to the output folder. An original that was kept although another format was asked
    /// for has its own extension, not that of the key.
    pub fn output(&self) -> Cow<'_, Path> {
        match self.verdict {
            Verdict::Kept => Cow::Owned(kept_name(&self.target, &self.source)),
            Verdict::Saved | Verdict::Skipped | Verdict::Failed | Verdict::Interrupted => {
                Cow::Borrowed(&self.target)
            }
        }
    }

    /// The kind of failure, where it failed.
    pub fn failure(&self) -> Option<FailureKind> {
        match self.verdict {
            Verdict::Failed => words::failure_of(&self.reason),
            Verdict::Saved | Verdict::Kept | Verdict::Skipped | Verdict::Interrupted => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_names_the_file_that_is_there() {
        let mut entry = Entry::of(&crate::recorder::sample_record());
        entry.source = PathBuf::from("/in/d/leaf.PNG");
        entry.target = PathBuf::from("d/leaf-s.webp");
        for (verdict, output) in [
            (Verdict::Saved, "d/leaf-s.webp"),
            (Verdict::Kept, "d/leaf-s.PNG"),
            (Verdict::Failed, "d/leaf-s.webp"),
        ] {
            entry.verdict = verdict;
            assert_eq!(entry.output(), Path::new(output), "{verdict:?}");
        }
    }
}
