//! Starts this very executable again as a worker: piped, in a process group of its own, with next to no environment.

use crate::sys;
use pressroom_shared::SeatId;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

/// The one argument that makes the executable a worker.
pub(crate) const WORKER_ARGUMENT: &str = "__worker";

/// What is started as a worker.
#[derive(Debug, Clone)]
pub struct Launcher {
    program: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
}

/// A process that was just started.
pub(super) struct Launched {
    pub(super) child: Child,
    pub(super) pid: u32,
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

/// How glibc's allocator behaves in a worker; other C libraries do not read this.
///
/// One arena instead of one per thread: address space and resident memory stay close to what is used. Up to 8 MiB stay
/// with the process between jobs, which otherwise pays 3 to 4 % of a photograph's time for having its pages cleared anew;
/// single blocks of 4 MiB or more are given back at once.
const ALLOCATOR: [(&str, &str); 3] = [
    ("MALLOC_ARENA_MAX", "1"),
    ("MALLOC_TRIM_THRESHOLD_", "8388608"),
    ("MALLOC_MMAP_THRESHOLD_", "4194304"),
];

impl Launcher {
    /// Starts this executable, even if its file was replaced or removed meanwhile.
    pub fn own() -> Self {
        Self {
            program: sys::own_executable(),
            arguments: vec![WORKER_ARGUMENT.into()],
            environment: ALLOCATOR
                .map(|(name, value)| (name.into(), value.into()))
                .to_vec(),
        }
    }

    /// Starts another program, for tests.
    #[cfg(debug_assertions)]
    pub(crate) fn program(program: PathBuf, arguments: Vec<OsString>) -> Self {
        Self {
            program,
            arguments,
            environment: Vec::new(),
        }
    }

    /// Hands one more variable to the process, for tests.
    #[cfg(debug_assertions)]
    pub(crate) fn with_variable(mut self, name: &str, value: OsString) -> Self {
        self.environment.push((name.into(), value));
        self
    }

    pub(super) fn launch(&self, seat: SeatId) -> io::Result<Launched> {
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .arg0(format!("pressroom-worker-{}", seat.0))
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // The terminal's Ctrl-C must not reach workers, or a run could not end in good order.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let missing = || io::Error::other("a pipe or the process id is missing");
        Ok(Launched {
            pid: child.id().ok_or_else(missing)?,
            stdin: child.stdin.take().ok_or_else(missing)?,
            stdout: child.stdout.take().ok_or_else(missing)?,
            stderr: child.stderr.take().ok_or_else(missing)?,
            child,
        })
    }
}
