//! The only place that prints: standard output, standard error, the files of `--json` and `--csv`, and the live display.
//!
//! Nothing here may stop the work. A closed pipe, a full disk or a terminal that went away loses text, never an image:
//! the stream is given up and said to be incomplete at the end, and the ledger still has everything. Nor does anything here
//! wait for a reader while the work goes on; only the end does, for a while.

use super::ahead::Pace;
use super::bars::{Bars, Standing};
use super::facts::{Facts, Header};
use super::lane::Full;
use super::occupied::{self, Kind, Occupied};
use super::stream::Stream;
use super::tally::Tally;
use super::text::clean;
use super::{csv, human, json};
use crate::cli::config::{KnownFailures, OutputConfig, Progress, Sink};
use crate::ledger::Entry;
use crate::passed::Passed;
use crate::source::{Expected, Outlook};
use crate::task::Record;
use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between two progress lines where there are no bars.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// A file that was asked for cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// A file for records could not be made.
    #[error("could not create {}: {source}; check the folder and who may write there", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something stands there that is not to be replaced.
    #[error(transparent)]
    Occupied(#[from] Occupied),
}

/// Whether all files that were asked for could be written; `made` is the folder that the run will make.
///
/// # Errors
/// The first that could not.
pub fn check_reach(output: &OutputConfig, made: Option<&Path>) -> Result<(), Occupied> {
    each_place(output, &mut |path, kind| {
        occupied::reachable(path, kind, made)
    })
}

/// Looks at the places of all files that were asked for, before any of them is touched.
fn check_places(output: &OutputConfig) -> Result<(), Occupied> {
    each_place(output, &mut occupied::check)
}

fn each_place(
    output: &OutputConfig,
    check: &mut dyn FnMut(&Path, Kind) -> Result<(), Occupied>,
) -> Result<(), Occupied> {
    let json = match &output.json {
        None | Some(Sink::Stdout) => None,
        Some(Sink::File(path)) => Some(path),
    };
    let places = [
        (json, Kind::Json),
        (output.csv.as_ref(), Kind::Csv),
        (output.html.as_ref(), Kind::Html),
        (output.metrics.as_ref(), Kind::Metrics),
    ];
    for (path, kind) in places {
        path.map_or(Ok(()), |path| check(path, kind))?;
    }
    Ok(())
}

/// Everything that is said.
#[derive(Debug)]
pub struct Terminal {
    quiet: bool,
    known_failures: KnownFailures,
    verbosity: u8,
    text: Stream,
    errors: Stream,
    /// Where a text goes that was asked for.
    asked: Stream,
    json: Option<Stream>,
    csv: Option<Stream>,
    display: Display,
    tally: Tally,
    found: u64,
    walk_done: bool,
    outlook: Option<Arc<Outlook>>,
    pace: Pace,
    begun: Instant,
}

#[derive(Debug)]
enum Display {
    Bars(Bars),
    Lines { last: Instant },
    Off,
}

impl Terminal {
    /// What can be said to before the run has its lock: the terminal, and records on standard output.
    ///
    /// # Errors
    /// A file that was asked for would replace something else.
    pub fn new(output: &OutputConfig) -> Result<Self, OutputError> {
        check_places(output)?;
        let records_on_stdout = output.json == Some(Sink::Stdout);
        Ok(Self {
            quiet: output.quiet,
            known_failures: output.known_failures,
            verbosity: output.verbosity,
            text: if records_on_stdout {
                Stream::stderr()
            } else {
                Stream::stdout(Full::LeaveOut)
            },
            errors: Stream::stderr(),
            asked: Stream::new("standard output", Box::new(io::stdout())),
            json: records_on_stdout.then(|| Stream::stdout(Full::GiveUp)),
            csv: None,
            display: Display::of(output),
            tally: Tally::default(),
            found: 0,
            walk_done: false,
            outlook: None,
            pace: Pace::default(),
            begun: Instant::now(),
        })
    }

    /// Opens the files of `--json` and `--csv`. Only for a run that has its lock: one that leaves because another is at work
    /// must not empty the other's reports.
    ///
    /// # Errors
    /// A file cannot be made.
    pub fn open_records(&mut self, output: &OutputConfig) -> Result<(), OutputError> {
        if let Some(Sink::File(path)) = &output.json {
            self.json = Some(Stream::file(path)?);
        }
        if let Some(path) = &output.csv {
            let mut csv = Stream::file(path)?;
            csv.write(csv::HEAD);
            self.csv = Some(csv);
        }
        Ok(())
    }

    /// Says what the run is about to do.
    pub fn header(&mut self, header: &Header) {
        if !self.quiet {
            let head = human::header(header);
            let text = &mut self.text;
            self.display.aside(|| text.write(&head));
        }
    }

    /// Says something that is worth it even in a quiet run. Names in it must not drive the terminal.
    pub fn note(&mut self, text: &str) {
        let line = note(text);
        let errors = &mut self.errors;
        self.display.aside(|| errors.write(&line));
    }

    /// Whether somebody looks on who would like to know how much is still to come.
    pub fn is_watched(&self) -> bool {
        match self.display {
            Display::Bars(_) | Display::Lines { .. } => true,
            Display::Off => false,
        }
    }

    /// Where it can be read how much there is to do.
    pub fn look_ahead(&mut self, outlook: Arc<Outlook>) {
        self.outlook = Some(outlook);
    }

    /// How many inputs there are in all, if they were counted ahead.
    pub fn expected(&self) -> Option<u64> {
        let expected = self.so_far().filter(|expected| expected.complete)?;
        Some(expected.inputs)
    }

    fn so_far(&self) -> Option<Expected> {
        self.outlook.as_ref().map(|outlook| outlook.so_far())
    }

    /// Inputs found so far, and whether that is all.
    pub fn found(&mut self, count: u64, walk_done: bool) {
        self.found = count;
        self.walk_done = walk_done;
    }

    /// Some time has passed.
    pub fn tick(&mut self) {
        self.progress();
    }

    /// A worker began a file.
    pub fn started(&mut self, seat: u16, source: &Path) {
        if let Display::Bars(bars) = &mut self.display {
            bars.started(seat, source);
        }
    }

    /// A worker has nothing to do or is gone.
    pub fn idle(&mut self, seat: u16) {
        if let Display::Bars(bars) = &mut self.display {
            bars.idle(seat);
        }
    }

    /// Something is no input of this run.
    pub fn passed_over(&mut self, path: &Path, why: Passed) {
        if self.verbosity > 0 && !self.quiet {
            let line = human::passed_line(path, why) + "\n";
            let text = &mut self.text;
            self.display.aside(|| text.write(&line));
        }
    }

    /// An input has its ending.
    pub fn record(&mut self, record: &Record) {
        let entry = Entry::of(record);
        self.tally.add(&entry);
        self.pace.add(&entry);
        if let Some(json) = &mut self.json {
            json.write(&json::file(&entry));
        }
        if let Some(csv) = &mut self.csv {
            csv.write(&csv::file(&entry));
        }
        if self.verbosity > 0 && !self.quiet {
            let line = human::line(&entry) + "\n";
            let text = &mut self.text;
            self.display.aside(|| text.write(&line));
        }
    }

    fn progress(&mut self) {
        let elapsed_ms = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let expected = self.so_far();
        let standing = Standing {
            tally: &self.tally,
            inputs: expected.map_or(self.found, |expected| expected.inputs.max(self.found)),
            counted: self.walk_done || expected.is_some_and(|expected| expected.complete),
            elapsed_ms,
            left_ms: self.pace.left_ms(expected, elapsed_ms),
        };
        match &mut self.display {
            Display::Bars(bars) => bars.stand(&standing),
            Display::Lines { last } if last.elapsed() >= BETWEEN_LINES => {
                *last = Instant::now();
                self.errors.write(&(human::progress(&standing) + "\n"));
            }
            Display::Lines { .. } | Display::Off => {}
        }
    }

    /// The sums so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Says what the run did. Returns whether everything that was asked to be written was written.
    pub fn finish(&mut self, facts: &Facts) -> bool {
        self.display.clear();
        if let Some(outlook) = &self.outlook {
            outlook.forget();
        }
        if let Some(json) = &mut self.json {
            json.write(&json::run(&self.tally, facts));
        }
        if self.quiet {
            if let Some(mail) = human::mail(&self.tally, facts, self.known_failures) {
                self.errors.write(&mail);
            }
        } else {
            self.text.write(&human::summary(&self.tally, facts));
        }
        self.say_what_was_lost()
    }

    /// Prints a text that was asked for, such as a report, and waits until it is read: there is nothing else to do.
    pub fn print(&mut self, text: &str) {
        self.asked.write(text);
    }

    /// Whether all of that was printed; what was lost is said, except to a reader that went away.
    pub fn printed(&mut self) -> bool {
        let Some(error) = &self.asked.lost else {
            return true;
        };
        if error.kind() != io::ErrorKind::BrokenPipe {
            self.note(&format!("standard output is incomplete: {error}"));
        }
        false
    }

    fn say_what_was_lost(&mut self) -> bool {
        self.text.drain();
        for records in [&mut self.json, &mut self.csv].into_iter().flatten() {
            records.drain();
        }
        let streams = [Some(&self.text), self.json.as_ref(), self.csv.as_ref()];
        let lost: Vec<&Stream> = streams
            .into_iter()
            .flatten()
            .filter(|stream| stream.lost.is_some())
            .collect();
        for loss in lost.iter().filter_map(|stream| stream.loss()) {
            self.errors.write(&loss);
        }
        lost.is_empty()
    }
}

/// A note as it is printed: of all control characters only the ends of lines keep their meaning.
fn note(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(clean).collect();
    format!("pressroom: {}\n", lines.join("\n"))
}

/// What a display is to look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Bars,
    Lines,
    Off,
}

/// Bars need a terminal that moves its cursor. As git and terminfo have it, one that calls itself dumb or nothing does not.
fn form(asked: Progress, is_terminal: bool, term: Option<&OsStr>) -> Form {
    let moves = is_terminal && term.is_some_and(|term| !term.is_empty() && term != "dumb");
    match asked {
        Progress::Off => Form::Off,
        Progress::Auto | Progress::Bar if moves => Form::Bars,
        Progress::Auto if !is_terminal => Form::Off,
        Progress::Auto | Progress::Bar | Progress::Lines => Form::Lines,
    }
}

impl Display {
    fn of(output: &OutputConfig) -> Self {
        let lines = || Self::Lines {
            last: Instant::now(),
        };
        if output.quiet {
            return Self::Off;
        }
        let term = std::env::var_os("TERM");
        match form(output.progress, io::stderr().is_terminal(), term.as_deref()) {
            Form::Bars => Self::Bars(Bars::new()),
            Form::Lines => lines(),
            Form::Off => Self::Off,
        }
    }

    /// Prints while the bars stand aside.
    fn aside(&mut self, print: impl FnOnce()) {
        match self {
            Self::Bars(bars) => bars.aside(print),
            Self::Lines { .. } | Self::Off => print(),
        }
    }

    fn clear(&mut self) {
        if let Self::Bars(bars) = self {
            bars.clear();
        }
        *self = Self::Off;
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.display.clear();
        self.errors.drain();
    }
}

#[cfg(test)]
mod tests;
