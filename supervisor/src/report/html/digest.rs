//! What the page shows, gathered from entries one by one. Pure, and of bounded size.

use super::pictures::{Pair, Pictures};
use crate::ledger::{Entry, Run, Verdict};
use crate::report::text::name;
use crate::report::{Facts, Tally};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Rows of a table, at most.
const ROWS: usize = 20;
/// Failed files named per kind, at most.
const FAILED: usize = 50;
/// Folders counted on their own, at most; the rest is counted together.
const FOLDERS: usize = 1000;
/// Jobs drawn on their own, at most; beyond that only how busy each seat was.
const JOBS: usize = 1500;
/// Bars of a histogram.
pub(super) const BARS: usize = 20;
/// Columns of the timeline where jobs are too many to draw.
pub(super) const SLOTS: usize = 240;

/// Sums of a group of files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) files: u64,
    pub(super) bytes_in: u64,
    pub(super) bytes_out: u64,
}

/// One job on the timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) seat: u16,
    pub(super) started_ms: u64,
    pub(super) ended_ms: u64,
    pub(super) failed: bool,
    pub(super) deaths: u8,
    pub(super) name: PathBuf,
}

/// A file in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct File {
    pub(super) name: PathBuf,
    pub(super) bytes_in: u64,
    pub(super) bytes_out: Option<u64>,
    pub(super) wall_us: u64,
    pub(super) peak_rss: u64,
    pub(super) text: String,
}

/// A run whose files are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// What is known of it.
    pub facts: Facts,
    /// Its command line.
    pub command: String,
    /// Memory cap per worker in bytes.
    pub cap: Option<u64>,
    /// Whether the files are those of this run alone, and not everything its ledger knows.
    pub last_alone: bool,
}

/// Everything the page shows.
#[derive(Debug, Clone, Default)]
pub struct Digest {
    /// The last run of each ledger; the last of these is the one whose entries are being added.
    pub(super) runs: Vec<About>,
    /// Whether more than one ledger is shown, so that names must say whose they are.
    several: bool,
    pub(super) tally: Tally,
    pub(super) folders: BTreeMap<PathBuf, Sums>,
    pub(super) other_folders: Sums,
    pub(super) formats: BTreeMap<String, Sums>,
    /// Files by saving: under 5 %, under 10 %, ...
    pub(super) savings: [u64; BARS],
    /// Jobs by peak memory of their worker, in half octaves from [`memory_from`].
    pub(super) memory: [u64; BARS],
    pub(super) jobs: Vec<Job>,
    /// Milliseconds each seat was busy in each column; in use once there are too many jobs.
    pub(super) busy: BTreeMap<u16, Box<[u64; SLOTS]>>,
    pub(super) deaths_at: Vec<(u16, u64)>,
    pub(super) pictures: Pictures,
    pub(super) slowest: Vec<File>,
    pub(super) biggest: Vec<File>,
    pub(super) warned: Vec<File>,
    pub(super) failed: BTreeMap<String, (u64, Vec<File>)>,
    span_ms: u64,
}

impl Digest {
    /// Nothing gathered yet. `several`: from more than one ledger.
    pub fn new(several: bool) -> Self {
        Self {
            several,
            span_ms: 1,
            ..Self::default()
        }
    }

    /// The entries added from here on are of this run.
    pub fn begin(&mut self, run: About) {
        self.span_ms = run.facts.wall_ms.max(1);
        self.runs.push(run);
    }

    /// The one run that is shown, if it is one alone.
    pub(super) fn run(&self) -> Option<&Facts> {
        match &self.runs[..] {
            [run] if run.last_alone => Some(&run.facts),
            _ => None,
        }
    }

    /// Whether times and seats mean something.
    pub(super) fn one_run(&self) -> bool {
        self.run().is_some()
    }

    /// The memory cap, where it is one.
    pub(super) fn cap(&self) -> Option<u64> {
        match &self.runs[..] {
            [run] => run.cap,
            _ => None,
        }
    }

    /// What the page is about.
    pub(super) fn title(&self) -> String {
        match &self.runs[..] {
            [run] => name(&run.facts.output),
            runs => format!("{} ledgers", runs.len()),
        }
    }

    /// The pictures to be shown before and after, which somebody else makes small. In place the source is the result by now:
    /// what was there before stands in the folder of `originals`, if there is one, and both halves are the same if not.
    pub fn pictures(&self, originals: Option<&Path>) -> Vec<Pair<PathBuf>> {
        let mut files = self.pictures.files();
        for pair in files.iter_mut().filter(|pair| pair.before == pair.after) {
            let below = pair.after.strip_prefix(self.output()).ok();
            if let Some((originals, below)) = originals.zip(below) {
                pair.before = originals.join(below);
            }
        }
        files
    }

    /// Whether no file was done.
    pub fn is_empty(&self) -> bool {
        self.tally.done() == 0
    }

    /// Takes one file.
    pub fn add(&mut self, entry: &Entry) {
        self.tally.add(entry);
        self.add_sums(entry);
        self.add_job(entry);
        self.add_to_tables(entry);
        let shown = self.name_of(entry);
        let output = self.output().to_path_buf();
        self.pictures.add(entry, &output, &shown);
    }

    /// Takes from the run's own row what its entries cannot tell.
    pub(super) fn settle(&mut self, run: &Run) {
        if self.runs.last().is_some_and(|about| about.last_alone) {
            self.tally.unchanged += run.unchanged;
        }
    }

    fn output(&self) -> &Path {
        self.runs
            .last()
            .map_or(Path::new(""), |run| &run.facts.output)
    }

    /// What the page calls a file: its place below the output, or the whole of it where there are several outputs.
    fn name_of(&self, entry: &Entry) -> PathBuf {
        if self.several {
            self.output().join(entry.output())
        } else {
            entry.output().into_owned()
        }
    }

    /// The group a file's bytes are counted in.
    fn folder_of(&self, entry: &Entry) -> PathBuf {
        if self.several {
            return self.output().to_path_buf();
        }
        let mut parts = entry.target.components();
        let first = parts.next().map(|first| PathBuf::from(first.as_os_str()));
        first.filter(|_| parts.next().is_some()).unwrap_or_default()
    }

    fn add_sums(&mut self, entry: &Entry) {
        let Some(bytes_out) = entry.bytes_out else {
            return;
        };
        let folder = self.folder_of(entry);
        let known = self.folders.len() < FOLDERS || self.folders.contains_key(&folder);
        let sums = if known {
            self.folders.entry(folder).or_default()
        } else {
            &mut self.other_folders
        };
        sums.add(entry.bytes_in, bytes_out);
        let format = entry.format.as_deref().unwrap_or("unknown").to_owned();
        self.formats
            .entry(format)
            .or_default()
            .add(entry.bytes_in, bytes_out);
        let saved = entry.bytes_in.saturating_sub(bytes_out);
        self.savings[bar(saved, entry.bytes_in.max(1))] += 1;
    }

    fn add_job(&mut self, entry: &Entry) {
        let Some(seat) = entry.seat else { return };
        if entry.peak_rss > 0 {
            self.memory[memory_bar(entry.peak_rss)] += 1;
        }
        if entry.deaths > 0 && self.deaths_at.len() < JOBS {
            self.deaths_at.push((seat, entry.ended_ms));
        }
        if self.jobs.len() < JOBS {
            self.jobs.push(Job {
                seat,
                started_ms: entry.started_ms,
                ended_ms: entry.ended_ms,
                failed: entry.verdict == Verdict::Failed,
                deaths: entry.deaths,
                name: entry.output().into_owned(),
            });
        }
        let slots = self
            .busy
            .entry(seat)
            .or_insert_with(|| Box::new([0; SLOTS]));
        spread(
            slots.as_mut_slice(),
            self.span_ms,
            entry.started_ms,
            entry.ended_ms,
        );
    }

    /// Milliseconds the timeline spans.
    pub(super) fn span_ms(&self) -> u64 {
        self.span_ms
    }

    /// Whether there are too many jobs to draw each.
    pub(super) fn crowded(&self) -> bool {
        self.jobs.len() >= JOBS
    }

    fn add_to_tables(&mut self, entry: &Entry) {
        let name = self.name_of(entry);
        let file = |text: String| File::of(entry, name.clone(), text);
        if entry.wall_us > 0 {
            let file = file(String::new());
            top(&mut self.slowest, file, |file| file.wall_us);
        }
        if entry.bytes_out.is_some() {
            let file = file(String::new());
            top(&mut self.biggest, file, |file| file.bytes_out.unwrap_or(0));
        }
        if !entry.warnings.is_empty() && self.warned.len() < FAILED {
            self.warned.push(file(entry.warnings.join("; ")));
        }
        if entry.verdict == Verdict::Failed {
            let (count, files) = self.failed.entry(entry.reason.to_string()).or_default();
            *count += 1;
            if files.len() < FAILED {
                files.push(file(entry.message.clone()));
            }
        }
    }
}

impl Sums {
    fn add(&mut self, bytes_in: u64, bytes_out: u64) {
        self.files += 1;
        self.bytes_in += bytes_in;
        self.bytes_out += bytes_out;
    }

    /// Bytes saved; 0 where it grew.
    pub(super) fn saved(&self) -> u64 {
        self.bytes_in.saturating_sub(self.bytes_out)
    }
}

impl File {
    fn of(entry: &Entry, name: PathBuf, text: String) -> Self {
        Self {
            name,
            bytes_in: entry.bytes_in,
            bytes_out: entry.bytes_out,
            wall_us: entry.wall_us,
            peak_rss: entry.peak_rss,
            text,
        }
    }
}

/// The bar that `part` of `whole` falls into.
fn bar(part: u64, whole: u64) -> usize {
    let at = u128::from(part) * BARS as u128 / u128::from(whole);
    usize::try_from(at).unwrap_or(BARS).min(BARS - 1)
}

/// Bytes at which a bar of the memory histogram begins: 1 MiB, 1.4 MiB, 2 MiB, ... 724 MiB. Caps differ by orders of
/// magnitude from what most jobs need, so the scale is logarithmic.
pub(super) fn memory_from(bar: usize) -> u64 {
    let octave = 1u64 << (20 + bar / 2);
    if bar.is_multiple_of(2) {
        octave
    } else {
        octave * 181 / 128
    }
}

/// The bar of the memory histogram that `bytes` fall into.
pub(super) fn memory_bar(bytes: u64) -> usize {
    (1..BARS)
        .rev()
        .find(|bar| memory_from(*bar) <= bytes)
        .unwrap_or(0)
}

fn top(files: &mut Vec<File>, file: File, by: fn(&File) -> u64) {
    let at = files.partition_point(|other| by(other) >= by(&file));
    if at < ROWS {
        files.insert(at, file);
        files.truncate(ROWS);
    }
}

/// Adds the time from `start` to `end` to the columns it touches.
fn spread(slots: &mut [u64], span: u64, start: u64, end: u64) {
    let columns = slots.len() as u64;
    for (column, slot) in (0u64..).zip(slots) {
        let (from, to) = (span * column / columns, span * (column + 1) / columns);
        *slot += end.min(to).saturating_sub(start.max(from));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_spread_without_loss() {
        let mut slots = [0; 7];
        spread(&mut slots, 1000, 130, 771);
        assert_eq!(slots.iter().sum::<u64>(), 641);
        assert_eq!(slots[6], 0);
    }

    #[test]
    fn memory_is_told_in_half_octaves() {
        assert_eq!((memory_from(0), memory_from(2)), (1 << 20, 2 << 20));
        for bytes in [0, 1 << 20, 15 << 20, 64 << 20, 1 << 40] {
            let bar = memory_bar(bytes);
            assert!(bar == 0 || memory_from(bar) <= bytes);
            assert!(bar == BARS - 1 || bytes < memory_from(bar + 1));
        }
    }

    #[test]
    fn shares_fall_into_their_bar() {
        assert_eq!(
            (bar(0, 100), bar(4, 100), bar(5, 100), bar(99, 100)),
            (0, 0, 1, 19)
        );
        assert_eq!(bar(100, 100), 19);
        assert_eq!(bar(u64::MAX, 1), 19);
    }
}
