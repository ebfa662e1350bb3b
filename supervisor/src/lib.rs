//! The deciding half of pressroom.
//!
//! One executable plays two parts. A person or cron starts it as the supervisor, which is this crate: it walks the
//! inputs, keeps one worker process per usable core in work, and writes down what became of every file. It starts itself
//! again as a worker, which is told one file at a time, writes its result into a staging folder and answers; nothing but
//! paths and small numbers crosses the pipe between them. Workers are expected to crash, hang and lie, so what one of them
//! does can cost its own file and no other. Every decision about that is taken in [`pool`], which does no I/O at all: start
//! reading there, then see `driver`, the one loop that carries its decisions out.

pub mod cli;
mod commands;
pub mod cores;
mod death;
mod doctor;
mod driver;
pub mod exit;
pub mod filter;
pub mod ledger;
pub mod link;
pub mod lock;
mod marks;
pub mod passed;
pub mod plan;
pub mod pool;
mod preview;
pub mod publish;
pub mod recorder;
pub mod report;
mod run;
mod signal;
pub mod source;
pub mod stage;
mod sys;
pub mod task;
pub mod units;

use cli::{Command, UsageError};
use exit::Exit;
use std::ffi::OsString;
use std::process::ExitCode;

/// Does what the command line says and answers how the program ends. `args` is everything behind the program's name; `bench` is
/// the command that stands in the manual and in completions beside those of this crate.
///
/// Where the run was ended by a signal, the process dies by that signal in here, after everything was put in order.
pub fn run(args: impl IntoIterator<Item = OsString>, bench: clap::Command) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let exit = match cli::parse(args.clone()) {
        Ok(Command::Run(config)) => match cli::refusal(&config.settings) {
            Some(error) => commands::complain(&error, error.exit()),
            None => run::compress(*config, commands::line(&args)),
        },
        Ok(Command::Report(report)) => commands::report(&report),
        Ok(Command::Doctor(doctor)) => commands::doctor(&doctor),
        Ok(Command::Print(text)) => commands::say(&text),
        Ok(Command::Completions(shell)) => commands::say(&cli::completions(shell, bench)),
        Ok(Command::Manual(folder)) => match cli::manual(bench) {
            Ok(pages) => commands::write(&folder, &pages),
            Err(error) => commands::complain(&error, Exit::CannotRun),
        },
        Err(UsageError::Shown(text)) => commands::say(&text),
        Err(error) => commands::complain(&error, error.exit()),
    };
    if let Exit::Signal(signal) = exit {
        sys::die_by(signal);
    }
    exit.into()
}
