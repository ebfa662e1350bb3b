//! The small commands, and how a command line ends that starts no run.

use crate::cli::config::{KnownFailures, OutputConfig, Progress};
use crate::cli::{self, DoctorArgs, ReportArgs};
use crate::doctor;
use crate::exit::Exit;
use crate::preview::{self, Means};
use crate::report::past::{self, Question};
use crate::report::{Kind, Terminal, check_place, reachable};
use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// A terminal for text that was asked for.
const PLAIN: OutputConfig = OutputConfig {
    verbosity: 0,
    quiet: false,
    known_failures: KnownFailures::Fail,
    progress: Progress::Off,
    json: None,
    csv: None,
    html: None,
    metrics: None,
    dry_run: false,
};

/// Prints a text that was asked for.
pub(crate) fn say(text: &str) -> Exit {
    with_terminal(|terminal| {
        terminal.print(text);
        all_printed(terminal)
    })
}

/// Says what is wrong.
pub(crate) fn complain(error: &dyn Display, exit: Exit) -> Exit {
    with_terminal(|terminal| {
        terminal.note(&error.to_string());
        exit
    })
}

fn all_printed(terminal: &mut Terminal) -> Exit {
    if terminal.printed() {
        Exit::Success
    } else {
        Exit::SomeFailed
    }
}

fn with_terminal(act: impl FnOnce(&mut Terminal) -> Exit) -> Exit {
    match Terminal::new(&PLAIN) {
        Ok(mut terminal) => act(&mut terminal),
        // Without any file to open this cannot happen; if it does, nobody can be told.
        Err(_) => Exit::CannotRun,
    }
}

/// The command line as a person would recognise it.
pub(crate) fn line(args: &[OsString]) -> String {
    let words = args.iter().map(|word| word.to_string_lossy());
    std::iter::once("pressroom".into())
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Writes files into a folder that may have to be made.
pub(crate) fn write(folder: &Path, files: &[(String, Vec<u8>)]) -> Exit {
    for (name, content) in files {
        let path = folder.join(name);
        let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, content));
        if let Err(error) = written {
            let text = format!(
                "could not write {}: {error}; name a folder you may write to",
                path.display()
            );
            return complain(&text, Exit::CannotRun);
        }
    }
    Exit::Success
}

/// `pressroom report`.
pub(crate) fn report(args: &ReportArgs) -> Exit {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX));
    let since = args.since.map(|span| {
        let span = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        now.saturating_sub(span)
    });
    let question = Question {
        places: args.places.clone(),
        failed: args.failed,
        json: args.json,
        since,
    };
    if let Some(page) = &args.html
        && let Err(error) =
            check_place(page, Kind::Html).and_then(|()| reachable(page, Kind::Html, None))
    {
        return complain(&error, Exit::Usage);
    }
    if let Some(page) = &args.html
        && let Err(error) = write_page(&args.places, page)
    {
        return complain(&error, Exit::CannotRun);
    }
    with_terminal(
        |terminal| match past::answer(&question, &mut |text| terminal.print(text)) {
            Ok(()) => all_printed(terminal),
            Err(error) => {
                terminal.note(&error.to_string());
                Exit::CannotRun
            }
        },
    )
}

fn write_page(places: &[PathBuf], page: &Path) -> anyhow::Result<()> {
    let means = Means::of(&cli::defaults()?);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let places = past::places(places);
    Ok(runtime.block_on(preview::write_page(&places, page, &means))?)
}

/// `pressroom doctor`: what this machine offers, and what mends the rest.
pub(crate) fn doctor(args: &DoctorArgs) -> Exit {
    let config = match cli::defaults() {
        Ok(config) => config,
        Err(error) => return complain(&error, error.exit()),
    };
    let findings = doctor::look(&config, &args.place);
    say(&findings.text()).merge(findings.exit())
}
