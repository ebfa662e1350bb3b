//! One executable, three parts: with the one hidden argument it is a worker, told to measure it is the bench (with a hidden
//! argument a child of it), otherwise the supervisor.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    match &args[..] {
        [only] if only == "__worker" => pressroom_worker::run(),
        [first, rest @ ..] if first == "bench" => pressroom_bench::run(rest),
        [first, rest @ ..] if first == "__bench-child" => pressroom_bench::child(rest),
        _ => pressroom_supervisor::run(args, pressroom_bench::command()),
    }
}
