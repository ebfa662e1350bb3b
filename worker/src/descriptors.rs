//! The process's open files at birth: strangers are closed, the wire is moved to where no library can touch it.
//!
//! Afterwards descriptor 0 reads nothing, 1 and 2 are both the standard error, and the wire is two private descriptors.
//! So a `printf` in a C library cannot put bytes between two frames. Must be called before anything else is opened.

use crate::error::StartError;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::stdio;
use std::fs::File;
use std::io;
use std::os::fd::RawFd;

/// The first descriptor that is not one of the standard three.
const FIRST_PRIVATE: RawFd = 3;

/// The two ends of the wire.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) input: File,
    pub(crate) output: File,
}

/// Takes standard input and output away from everybody else.
///
/// # Errors
/// [`StartError::Descriptors`].
pub(crate) fn take_wire() -> Result<Wire, StartError> {
    close_strangers();
    move_aside().map_err(|errno| StartError::Descriptors(errno.into()))
}

fn move_aside() -> Result<Wire, Errno> {
    let input = fcntl_dupfd_cloexec(stdio::stdin(), FIRST_PRIVATE)?;
    let output = fcntl_dupfd_cloexec(stdio::stdout(), FIRST_PRIVATE)?;
    let nothing = rustix::fs::openat(
        CWD,
        c"/dev/null",
        OFlags::RDONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    stdio::dup2_stdin(&nothing)?;
    stdio::dup2_stdout(stdio::stderr())?;
    Ok(Wire {
        input: File::from(input),
        output: File::from(output),
    })
}

/// Closes what leaked in from whoever started the supervisor: Landlock does not bind a file that is already open.
///
/// Without /proc the leaked files are unknown and stay; confinement is then reported as usual, for nothing of ours leaks.
fn close_strangers() {
    for fd in open_descriptors().unwrap_or_default() {
        if fd >= FIRST_PRIVATE {
            // The listing's own descriptor is among them and already closed; nothing can be done about other errors.
            let _ = nix::unistd::close(fd);
        }
    }
}

fn open_descriptors() -> io::Result<Vec<RawFd>> {
    let entries = std::fs::read_dir("/proc/self/fd")?;
    let number =
        |entry: io::Result<std::fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
    Ok(entries.filter_map(number).collect())
}
