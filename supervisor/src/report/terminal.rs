//! The only place that prints: standard output, standard error, the files of `--json` and `--csv`, and the live display.
//!
//! Nothing here may stop the work. A closed pipe, a full disk or a terminal that went away loses text, never an image:
//! the stream is given up and said to be incomplete at the end, and the ledger still has everything. Nor does anything here
//! wait for a reader while the work goes on; only the end does, for a while.

use super::bars::Bars;
use super::facts::{Facts, Header};
use super::lane::{Full, Outlet};
use super::occupied::{self, Kind, Occupied};
use super::tally::Tally;
use super::text::clean;
use super::{csv, human, json};
use crate::cli::config::{OutputConfig, Progress, Sink};
use crate::ledger::Entry;
use crate::task::Record;
use std::fs::File;
use std::io::{self, IsTerminal, LineWriter, Write};
use std::path::{Path, PathBuf};
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

/// Looks at the places of all files that were asked for, before any of them is touched.
fn check_places(output: &OutputConfig) -> Result<(), Occupied> {
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
        path.map_or(Ok(()), |path| occupied::check(path, kind))?;
    }
    Ok(())
}

/// Everything that is said.
#[derive(Debug)]
pub struct Terminal {
    quiet: bool,
    verbosity: u8,
    text: Stream,
    errors: Stream,
    json: Option<Stream>,
    csv: Option<Stream>,
    display: Display,
    tally: Tally,
    found: u64,
    walk_done: bool,
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
            verbosity: output.verbosity,
            text: if records_on_stdout {
                Stream::stderr()
            } else {
                Stream::stdout(Full::LeaveOut)
            },
            errors: Stream::stderr(),
            json: records_on_stdout.then(|| Stream::stdout(Full::GiveUp)),
            csv: None,
            display: Display::of(output),
            tally: Tally::default(),
            found: 0,
            walk_done: false,
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

    /// Inputs found so far, and whether that is all.
    pub fn found(&mut self, count: u64, walk_done: bool) {
        self.found = count;
        self.walk_done = walk_done;
        if let Display::Bars(bars) = &mut self.display {
            bars.found(count, walk_done);
        }
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

    /// An input has its ending.
    pub fn record(&mut self, record: &Record) {
        let entry = Entry::of(record);
        self.tally.add(&entry);
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
        self.progress();
    }

    fn progress(&mut self) {
        let elapsed = self.begun.elapsed();
        match &mut self.display {
            Display::Bars(bars) => bars.ended(&self.tally),
            Display::Lines { last } if last.elapsed() >= BETWEEN_LINES => {
                *last = Instant::now();
                let ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
                let line = human::progress(&self.tally, self.found, self.walk_done, ms);
                self.errors.write(&(line + "\n"));
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
        if let Some(json) = &mut self.json {
            json.write(&json::run(&self.tally, facts));
        }
        if self.quiet {
            if let Some(mail) = human::mail(&self.tally, facts) {
                self.errors.write(&mail);
            }
        } else {
            self.text.write(&human::summary(&self.tally, facts));
        }
        self.say_what_was_lost()
    }

    /// Prints a text that was asked for, such as a report, and waits until it is read: there is nothing else to do.
    pub fn print(&mut self, text: &str) {
        Stream::new("standard output", Box::new(io::stdout())).write(text);
    }

    fn say_what_was_lost(&mut self) -> bool {
        self.text.drain();
        if let Some(json) = &mut self.json {
            json.drain();
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

impl Display {
    fn of(output: &OutputConfig) -> Self {
        let lines = || Self::Lines {
            last: Instant::now(),
        };
        if output.quiet {
            return Self::Off;
        }
        match output.progress {
            Progress::Off => Self::Off,
            Progress::Lines => lines(),
            Progress::Bar if io::stderr().is_terminal() => Self::Bars(Bars::new()),
            Progress::Bar => lines(),
            Progress::Auto if io::stderr().is_terminal() => Self::Bars(Bars::new()),
            Progress::Auto => Self::Off,
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

/// Something that is written to until it fails.
struct Stream {
    name: String,
    writer: Box<dyn Write + Send>,
    /// Where what was written may still wait.
    outlet: Option<Outlet>,
    lost: Option<io::Error>,
}

impl Stream {
    fn stdout(full: Full) -> Self {
        Self::through("standard output", Outlet::stdout(full))
    }

    fn stderr() -> Self {
        Self::through("standard error", Outlet::stderr())
    }

    fn through(name: &str, outlet: Outlet) -> Self {
        Self {
            outlet: Some(outlet.clone()),
            ..Self::new(name, Box::new(outlet))
        }
    }

    fn file(path: &Path) -> Result<Self, OutputError> {
        let file = File::create(path).map_err(|source| OutputError::Create {
            path: path.to_path_buf(),
            source,
        })?;
        Ok(Self::new(
            &path.to_string_lossy(),
            Box::new(LineWriter::new(file)),
        ))
    }

    fn new(name: &str, writer: Box<dyn Write + Send>) -> Self {
        Self {
            name: name.to_owned(),
            writer,
            outlet: None,
            lost: None,
        }
    }

    fn write(&mut self, text: &str) {
        if self.lost.is_some() {
            return;
        }
        let written = self
            .writer
            .write_all(text.as_bytes())
            .and_then(|()| self.writer.flush());
        self.lost = written.err();
    }

    /// Waits for what was written to be read, as long as somebody reads.
    fn drain(&mut self) {
        if let (None, Some(outlet)) = (&self.lost, &self.outlet) {
            self.lost = outlet.drain().err();
        }
    }

    /// What to say about a loss. A reader that went away (`| head`) knows it.
    fn loss(&self) -> Option<String> {
        let error = self.lost.as_ref()?;
        if error.kind() == io::ErrorKind::BrokenPipe {
            return None;
        }
        Some(format!(
            "pressroom: {} is incomplete ({error}); `pressroom report` has everything\n",
            self.name
        ))
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream")
            .field("name", &self.name)
            .field("lost", &self.lost)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::HowEnded;

    fn quiet_with_json(json: Sink) -> OutputConfig {
        OutputConfig {
            verbosity: 0,
            quiet: true,
            progress: Progress::Auto,
            json: Some(json),
            csv: None,
            html: None,
            metrics: None,
            dry_run: false,
        }
    }

    /// A terminal of a run that has its lock.
    fn opened(output: &OutputConfig) -> Result<Terminal, OutputError> {
        let mut terminal = Terminal::new(output)?;
        terminal.open_records(output)?;
        Ok(terminal)
    }

    #[test]
    fn a_full_disk_loses_text_and_says_so_and_goes_on() {
        let mut terminal = opened(&quiet_with_json(Sink::File("/dev/full".into()))).unwrap();
        for _ in 0..3 {
            terminal.record(&crate::recorder::sample_record());
        }
        assert_eq!(terminal.tally().saved, 3);
        let facts = super::super::samples::facts();
        assert_eq!(facts.how, Some(HowEnded::Finished));
        assert!(!terminal.finish(&facts));
    }

    #[test]
    fn records_are_written_as_they_come() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.ndjson");
        let output = quiet_with_json(Sink::File(path.clone()));
        let _waiting = Terminal::new(&output).unwrap();
        assert!(!path.exists(), "another run's report may stand there");
        let mut terminal = opened(&output).unwrap();
        terminal.record(&crate::recorder::sample_record());
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 1);
        assert!(terminal.finish(&super::super::samples::facts()));
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 2);
    }

    #[test]
    fn a_photo_in_place_of_a_report_stays_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("photo");
        std::fs::write(&path, "\u{ff}\u{d8} a photo").unwrap();
        let mut places = [
            quiet_with_json(Sink::File(path.clone())),
            quiet_with_json(Sink::Stdout),
            quiet_with_json(Sink::Stdout),
            quiet_with_json(Sink::Stdout),
        ];
        places[1].csv = Some(path.clone());
        places[2].html = Some(path.clone());
        places[3].metrics = Some(path.clone());
        for output in places {
            let error = Terminal::new(&output).unwrap_err();
            assert!(matches!(error, OutputError::Occupied(_)), "{error}");
            assert_eq!(
                std::fs::read_to_string(&path).unwrap(),
                "\u{ff}\u{d8} a photo"
            );
        }
    }

    #[test]
    fn names_in_a_note_do_not_drive_the_terminal() {
        let text = note("no\u{1b}[31m\rsuch\u{202e}\nUsage: pressroom");
        assert_eq!(
            text,
            "pressroom: no\\u{1b}[31m\\rsuch\\u{202e}\nUsage: pressroom\n"
        );
    }

    #[test]
    fn a_file_that_cannot_be_made_is_named() {
        let error = opened(&quiet_with_json(Sink::File("/nowhere/at/all".into()))).unwrap_err();
        assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
    }
}
