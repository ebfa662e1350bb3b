//! `pressroom bench`: the experiments that the design rests on, repeated on this machine and these pictures.
//!
//! The bench starts children of its own (this executable again, see `child`), one for each run, so that no variant inherits
//! another's memory or threads. Variants with worker processes use the product's pool, links and workers; the variants with
//! threads and tasks live here and nowhere else. Start reading at `session`: prepare, experiments in turn, report. What is
//! run and in which order (`schedule`, `experiments`), what may be said of it (`stats`, `advice`) and how it looks (`report`)
//! is pure; `lab`, `nursery` and `child` act.

mod advice;
mod args;
mod book;
mod child;
mod drawn;
mod experiments;
mod lab;
mod messages;
mod nursery;
mod out;
mod pictures;
mod place;
mod published;
mod report;
mod schedule;
mod session;
mod settings;
mod stats;
mod wording;

use args::Args;
use clap::{CommandFactory, Parser};
use pressroom_supervisor::exit::Exit;
use std::ffi::OsString;
use std::process::ExitCode;

/// `pressroom bench`: measures, reports, recommends. `args` is everything behind the word `bench`.
///
/// Where a signal asked for the end, the process dies by that signal in here, after its children and files are gone.
pub fn run(args: &[OsString]) -> ExitCode {
    let name = OsString::from("pressroom bench");
    let exit = match Args::try_parse_from(std::iter::once(&name).chain(args)) {
        Ok(args) => session::hold(&args),
        Err(error) if error.use_stderr() => {
            out::complain(&usage(&error));
            Exit::Usage
        }
        Err(error) => {
            out::say(&error.render().to_string());
            Exit::Success
        }
    };
    if let Exit::Signal(signal) = exit {
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
    exit.into()
}

/// The bench's command line, for manual pages and completions.
pub fn command() -> clap::Command {
    Args::command().name("bench")
}

/// Lives the life of a child of the bench. `args` is everything behind the hidden argument.
pub fn child(args: &[OsString]) -> ExitCode {
    child::run(args)
}

fn usage(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let end = text
        .find("\n\nUsage:")
        .or_else(|| text.find("\n\nFor more"))
        .unwrap_or(text.len());
    format!("{}\nTry 'pressroom bench --help'.", text[..end].trim_end())
}
