//! The small commands, and how a command line ends that starts no run.

use crate::cli::ReportArgs;
use crate::cli::config::{OutputConfig, Progress, Workers};
use crate::cores::{self, Wish};
use crate::exit::Exit;
use crate::report::Terminal;
use crate::report::past::{self, Question};
use crate::sys::cgroup::{self, Delegated};
use std::ffi::OsString;
use std::fmt::{Display, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// A terminal for text that was asked for.
const PLAIN: OutputConfig = OutputConfig {
    verbosity: 0,
    quiet: false,
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
        Exit::Success
    })
}

/// Says what is wrong.
pub(crate) fn complain(error: &dyn Display, exit: Exit) -> Exit {
    with_terminal(|terminal| {
        terminal.note(&error.to_string());
        exit
    })
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
    with_terminal(
        |terminal| match past::answer(&question, &mut |text| terminal.print(text)) {
            Ok(()) => Exit::Success,
            Err(error) => {
                terminal.note(&error.to_string());
                Exit::CannotRun
            }
        },
    )
}

/// `pressroom doctor`: what this machine offers.
pub(crate) fn doctor() -> Exit {
    let facts = cores::survey(Path::new("/"));
    let memory_per_worker = 512 << 20;
    let count = cores::choose(
        &facts,
        &Wish {
            workers: Workers::Auto { reserve: 0 },
            memory_per_worker,
            memory_total: None,
            files: None,
        },
    );
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let cap = match Delegated::look(Path::new(cgroup::ROOT), &own, std::process::id()) {
        Ok(()) => "hard limit per worker by cgroup".to_owned(),
        Err(why) => format!(
            "process limit (RLIMIT_DATA) and memory watch; no cgroup: {why}\n          \
             for a hard limit: systemd-run --user --scope -p Delegate=yes pressroom ..."
        ),
    };
    let mut text = String::new();
    let _ = writeln!(text, "workers   {}", count.why);
    let _ = writeln!(text, "memory    {cap}");
    say(&text)
}
