//! Tests of the real executable: what it leaves behind whatever happens to its workers, its files, its system or itself.
//!
//! Started with the hidden worker argument this executable is a worker that misbehaves (see `fake`), which a supervisor
//! built with debug assertions can be told to use. Otherwise it runs the tests: `cases` says what each must leave behind.

#![expect(
    clippy::print_stderr,
    clippy::exit,
    reason = "a test executable with a main of its own: it speaks to whoever runs it, and its worker dies in many ways"
)]

mod bench;
mod cases;
mod chaos;
mod cost;
mod environment;
mod everyday;
mod fake;
mod files;
mod formats;
mod people;
mod pictures;
mod processes;
mod readme;
mod signals;
mod syscalls;
mod workers;

use libtest_mimic::{Arguments, Trial};

fn main() -> std::process::ExitCode {
    if std::env::args().nth(1).as_deref() == Some("__worker") {
        return fake::work();
    }
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for group in [
        workers::tests(),
        signals::tests(),
        files::tests(),
        formats::tests(),
        environment::tests(),
        people::tests(),
        everyday::tests(),
        readme::tests(),
        cost::tests(),
        syscalls::tests(),
        chaos::tests(),
        bench::tests(),
    ] {
        trials.extend(group);
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A test by name.
fn test(name: &str, run: fn()) -> Trial {
    Trial::test(name, move || {
        run();
        Ok(())
    })
}

/// A test that needs the misbehaving worker, which a release build does not know.
fn test_with_fake(name: &str, run: fn()) -> Trial {
    if cfg!(debug_assertions) {
        return test(name, run);
    }
    Trial::test(name, || {
        eprintln!(
            "SKIPPED: a release build has no door for a misbehaving worker; run it without --release"
        );
        Ok(())
    })
}
