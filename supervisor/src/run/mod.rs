//! One run from a [`Config`] to an [`Exit`]: takes the lock, opens what is needed, lets the driver work, says what happened.
//!
//! Everything that can refuse to start does so before the first file is touched.

mod marks;
mod room;
mod setup;
mod show;
mod wording;

use crate::cli::Config;
use crate::cli::config::KnownFailures;
use crate::commands;
use crate::cores::Gauge;
use crate::driver::{Driven, Driver, Pressure};
use crate::exit::Exit;
use crate::ledger::{HowEnded, LedgerError, RunEnd, default_path};
use crate::pool::{CannotGoOn, Finish, StopReason};
use crate::preview::{self, Means};
use crate::recorder::RecorderError;
use crate::report::{Facts, OutputError, Tally, Terminal, is_known, metrics};
use crate::sys::{self, OpenFiles};
use setup::Ready;
use show::Show;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Why a run did not start, and how the program ends because of it.
#[derive(Debug)]
struct Refusal {
    exit: Exit,
    message: String,
}

impl Refusal {
    fn cannot_run(error: &dyn std::fmt::Display) -> Self {
        Self {
            exit: Exit::CannotRun,
            message: error.to_string(),
        }
    }

    fn usage(error: &dyn std::fmt::Display) -> Self {
        Self {
            exit: Exit::Usage,
            message: error.to_string(),
        }
    }
}

/// Compresses what `config` says; `command_line` is how the user said it.
pub(crate) fn compress(config: Config, command_line: String) -> Exit {
    let config = Arc::new(config);
    sys::outlive_file_size_limit();
    sys::raise_open_files();
    let mut terminal = match Terminal::new(&config.output) {
        Ok(terminal) => terminal,
        Err(error @ OutputError::Occupied(_)) => return commands::complain(&error, Exit::Usage),
        Err(error @ OutputError::Create { .. }) => {
            return commands::complain(&error, Exit::CannotRun);
        }
    };
    match start(&config, command_line, &mut terminal) {
        Ok(exit) => exit,
        Err(refusal) => {
            if refusal.exit != Exit::Success || !config.output.quiet {
                terminal.note(&refusal.message);
            }
            refusal.exit
        }
    }
}

fn start(
    config: &Arc<Config>,
    command_line: String,
    terminal: &mut Terminal,
) -> Result<Exit, Refusal> {
    let files = OpenFiles::now();
    if !files.suffice() {
        return Err(Refusal::cannot_run(&wording::too_few_files(files.limit)));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Refusal::cannot_run(&error))?;
    runtime.block_on(async {
        let prepared = setup::prepare(config, command_line, terminal)?;
        Ok(conclude(config, prepared, terminal).await)
    })
}

/// Lets the driver work, closes the run in the ledger and tells the user.
async fn conclude(config: &Config, prepared: Ready, terminal: &mut Terminal) -> Exit {
    let Ready {
        driver_parts,
        header,
        kept_until_the_end,
        output,
        workers,
        started_at,
        started,
    } = prepared;
    let (machine, hands, sources) = driver_parts;
    let show = Show::new(terminal, header);
    let floor = config.running.memory_per_worker;
    let pressure = Pressure::new(Gauge::new(Path::new("/")), floor);
    let driver = Driver::new(machine, hands, sources, show, pressure, started);
    let (driven, hands, show) = driver.drive().await;
    let terminal = show.end();
    let end = RunEnd {
        ended: now_ms(),
        wall_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        how: how(driven.finish),
        discovered: driven.discovered,
        ignored: driven.ignored,
    };
    let mut facts = Facts::of_this_build(output, workers, started_at, &end);
    facts.expected = terminal.expected();
    facts.dry_run = config.output.dry_run;
    facts.place = place(config, &facts.output, kept_until_the_end.ledger());
    let closed = hands.into_recorder().finish(end);
    facts.how = Some(how_closed(end.how, closed.as_ref().err()));
    let recorded = closed.map_or_else(
        |error| {
            terminal.note(&error.to_string());
            Exit::CannotRun
        },
        |_| Exit::Success,
    );
    say_how_it_ended(&driven, terminal);
    let ledger = kept_until_the_end.ledger().to_path_buf();
    let written = write_pages(config, ledger, &facts, terminal).await;
    // The end of the text may wait for its reader; nothing else should.
    drop(kept_until_the_end);
    let told = if terminal.finish(&facts) {
        written
    } else {
        Exit::SomeFailed
    };
    exit(&driven, terminal.tally(), config.output.known_failures)
        .merge(recorded)
        .merge(told)
}

/// What `pressroom report` has to be told to find this run.
fn place(config: &Config, output: &Path, ledger: &Path) -> Option<PathBuf> {
    if config.output.dry_run {
        None
    } else if ledger == default_path(output) {
        Some(output.to_owned())
    } else {
        Some(ledger.to_owned())
    }
}

/// How the run ended, seen from what became of the ledger: where that had no room, the disk is full and nothing is broken.
fn how_closed(how: HowEnded, error: Option<&RecorderError>) -> HowEnded {
    match error {
        Some(RecorderError::Ledger(LedgerError::Full { .. })) => HowEnded::DiskFull,
        Some(_) | None => how,
    }
}

fn say_how_it_ended(driven: &Driven, terminal: &mut Terminal) {
    if driven.source_broke {
        terminal.note(wording::SOURCE_BROKE);
    }
    for pid in &driven.unkillable {
        terminal.note(&wording::unkillable(*pid));
    }
    if let Finish::Stopped(reason) = driven.finish
        && let Some(text) = wording::stopped(reason, driven.start_trouble.as_deref())
    {
        terminal.note(&text);
    }
}

/// Writes the files made of the whole run; a dry run's are made of the ledger that goes with it.
async fn write_pages(
    config: &Config,
    ledger: PathBuf,
    facts: &Facts,
    terminal: &mut Terminal,
) -> Exit {
    let mut exit = Exit::Success;
    if let Some(path) = &config.output.metrics
        && let Err(error) = metrics::write(path, &metrics::text(terminal.tally(), facts))
    {
        terminal.note(&format!("could not write {}: {error}", path.display()));
        exit = Exit::SomeFailed;
    }
    if let Some(path) = &config.output.html
        && let Err(error) = preview::write_page(&[ledger], path, &Means::of(config)).await
    {
        terminal.note(&error.to_string());
        exit = Exit::SomeFailed;
    }
    exit
}

fn how(finish: Finish) -> HowEnded {
    match finish {
        Finish::Complete => HowEnded::Finished,
        Finish::Stopped(StopReason::RunFor) => HowEnded::TimeUp,
        Finish::Stopped(StopReason::MaxFail) => HowEnded::TooManyFailures,
        Finish::Stopped(StopReason::Asked) => HowEnded::Signal,
        Finish::Stopped(StopReason::DiskFull) => HowEnded::DiskFull,
        Finish::Stopped(StopReason::CannotGoOn(
            CannotGoOn::BadStarts
            | CannotGoOn::IdleDeaths
            | CannotGoOn::NoSeatLeft
            | CannotGoOn::RecorderLost,
        )) => HowEnded::Broken,
    }
}

/// How the program ends: the truth about the files, and about what ended the run.
fn exit(driven: &Driven, tally: &Tally, known: KnownFailures) -> Exit {
    let failed = tally.failed_in_all() > 0
        || !is_known(tally.failed_before, known)
        || !driven.unkillable.is_empty();
    let files = if failed {
        Exit::SomeFailed
    } else {
        Exit::Success
    };
    let ended = match driven.finish {
        Finish::Complete => Exit::Success,
        Finish::Stopped(StopReason::RunFor | StopReason::MaxFail) => Exit::StoppedEarly,
        Finish::Stopped(StopReason::Asked) => driven.signal.map_or(Exit::Success, Exit::Signal),
        Finish::Stopped(StopReason::DiskFull | StopReason::CannotGoOn(_)) => Exit::CannotRun,
    };
    let source = if driven.source_broke {
        Exit::CannotRun
    } else {
        Exit::Success
    };
    files.merge(ended).merge(source)
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passed::PassedOver;

    fn driven(finish: Finish) -> Driven {
        Driven {
            finish,
            signal: Some(15),
            discovered: 0,
            ignored: PassedOver::default(),
            unkillable: Vec::new(),
            start_trouble: None,
            source_broke: false,
        }
    }

    #[test]
    fn the_exit_code_tells_what_ended_the_run() {
        let table = [
            (Finish::Complete, 0),
            (Finish::Stopped(StopReason::RunFor), 4),
            (Finish::Stopped(StopReason::MaxFail), 4),
            (Finish::Stopped(StopReason::Asked), 143),
            (Finish::Stopped(StopReason::DiskFull), 3),
            (
                Finish::Stopped(StopReason::CannotGoOn(CannotGoOn::BadStarts)),
                3,
            ),
        ];
        for (finish, code) in table {
            assert_eq!(
                exit(&driven(finish), &Tally::default(), KnownFailures::Fail).code(),
                code
            );
        }
    }

    #[test]
    fn a_ledger_without_room_is_a_full_disk() {
        let path = "ledger.db".into();
        let full = RecorderError::Ledger(LedgerError::Full { path });
        let broken = HowEnded::Broken;
        assert_eq!(how_closed(broken, Some(&full)), HowEnded::DiskFull);
        let other = RecorderError::Panicked;
        assert_eq!(how_closed(broken, Some(&other)), broken);
        assert_eq!(how_closed(HowEnded::Finished, None), HowEnded::Finished);
    }

    #[test]
    fn failed_files_are_told_of_unless_something_weightier_is() {
        let tally = Tally {
            failed_before: 1,
            ..Tally::default()
        };
        let of = |driven: &Driven, known| exit(driven, &tally, known).code();
        assert_eq!(of(&driven(Finish::Complete), KnownFailures::Fail), 1);
        assert_eq!(of(&driven(Finish::Complete), KnownFailures::Ok), 0);
        let early = driven(Finish::Stopped(StopReason::RunFor));
        assert_eq!(of(&early, KnownFailures::Fail), 4);
    }

    #[test]
    fn a_search_that_broke_off_is_no_success() {
        let mut driven = driven(Finish::Complete);
        driven.source_broke = true;
        assert_eq!(
            exit(&driven, &Tally::default(), KnownFailures::Ok).code(),
            3
        );
    }

    #[test]
    fn a_process_that_cannot_be_killed_is_no_success() {
        let mut driven = driven(Finish::Complete);
        driven.unkillable.push(7);
        assert_eq!(
            exit(&driven, &Tally::default(), KnownFailures::Ok).code(),
            1
        );
    }
}
