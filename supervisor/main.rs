//! One executable, two parts: with the one hidden argument it is a worker, otherwise the supervisor.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    match &args[..] {
        [only] if only == "__worker" => pressroom_worker::run(),
        _ => pressroom_supervisor::run(args),
    }
}
