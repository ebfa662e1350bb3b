//! A worker as a real process: this binary, started again with a hidden argument, spoken to over its pipes.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test program without the ordinary test runner, so clippy does not know that it is one"
)]

mod inject;
mod limits;
mod rig;
mod start;
mod talk;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some(rig::WORKER) => return pressroom_worker::run(),
        Some(limits::GREEDY) => return limits::be_greedy(),
        Some(_) | None => {}
    }
    let mut trials = Vec::new();
    for (name, test) in [talk::TESTS, limits::TESTS, start::TESTS, inject::TESTS].concat() {
        trials.push(Trial::test(name, move || {
            test();
            Ok(())
        }));
    }
    let measure = Trial::test("start_up_time", || {
        start::measure();
        Ok(())
    });
    trials.push(measure.with_ignored_flag(true));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
