//! One run at a time per output folder: a lock the kernel gives back when the process ends, whichever way it ends.
//!
//! The file names the holder, so that the second run can say who is at work. The file stays; only the lock counts.

mod territory;

pub use territory::Territory;

use crate::cli::config::{HOME, LockMode};
use crate::exit::Exit;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Name of the lock file in pressroom's own folder.
const NAME: &str = "lock";

/// More than a holder ever writes.
const LONGEST: u64 = 1024;

/// The right to work on an output folder. Given back when dropped.
#[derive(Debug)]
pub struct Lock {
    /// Kept open: closing gives the lock back.
    _files: Vec<File>,
    /// Why there is less protection than there should be.
    warning: Option<String>,
}

/// Why there is no lock.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another run holds it.
    #[error(
        "another run is at work on {}{}: wait for it, or choose another output folder (--lock wait waits, --lock skip \
         ends quietly)", folder.display(), holder.as_ref().map(|holder| format!(" ({holder})")).unwrap_or_default()
    )]
    Busy {
        /// The folder whose lock it is.
        folder: PathBuf,
        /// Who holds it, if the file tells.
        holder: Option<Holder>,
    },
    /// Another run holds a folder that this one wants to work in, or one below it.
    #[error(
        "another run is at work in {}: wait for it (--lock wait waits, --lock skip ends quietly)", folder.display()
    )]
    Overlap {
        /// The folder where they meet.
        folder: PathBuf,
    },
    /// A link stands where pressroom's own folder should be. What is written and swept there would land elsewhere.
    #[error(
        "{} is a link, and pressroom keeps its own files under that name: remove it, or choose another place",
        path.display()
    )]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// The lock file cannot be made or written.
    #[error("cannot {operation} {}: {error}", path.display())]
    Io {
        /// What was tried.
        operation: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why it failed.
        error: io::Error,
    },
}

impl LockError {
    /// How the program ends: skipping is what was asked for, being in the way is not.
    pub fn exit(&self, mode: LockMode) -> Exit {
        match (self, mode) {
            (Self::Busy { .. } | Self::Overlap { .. }, LockMode::Skip) => Exit::Success,
            (Self::Busy { .. } | Self::Overlap { .. }, LockMode::Fail | LockMode::Wait) => {
                Exit::Locked
            }
            (Self::Link { .. } | Self::Io { .. }, _) => Exit::CannotRun,
        }
    }
}

/// The run that holds a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its process.
    pub pid: u32,
    /// The host it runs on.
    pub host: String,
    /// When it started, in seconds since 1970.
    pub since: u64,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {} on {}", self.pid, self.host)?;
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |now| now.as_secs());
        match now.saturating_sub(self.since) {
            seconds @ 0..120 => write!(f, ", started {seconds} seconds ago"),
            seconds @ 120..7200 => write!(f, ", started {} minutes ago", seconds / 60),
            seconds => write!(f, ", started {} hours ago", seconds / 3600),
        }
    }
}

impl Holder {
    /// This process.
    fn this() -> Self {
        let host = rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .replace(char::is_whitespace, "-");
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |now| now.as_secs());
        Self {
            pid: std::process::id(),
            host,
            since,
        }
    }

    fn to_line(&self) -> String {
        format!("pid {} host {} since {}\n", self.pid, self.host, self.since)
    }

    fn from_line(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["pid", pid, "host", host, "since", since] = words[..] else {
            return None;
        };
        // The file may be anybody's; what is printed must not drive a terminal.
        let printable = host.chars().all(|letter| !letter.is_control());
        let host = printable.then_some(host)?;
        Some(Self {
            pid: pid.parse().ok()?,
            host: host.to_owned(),
            since: since.parse().ok()?,
        })
    }
}

impl Lock {
    /// Takes the lock of `home` (pressroom's own folder, made if need be), and that of the ledger if it stands elsewhere.
    ///
    /// # Errors
    /// [`LockError::Busy`] if another run holds one of them and `mode` is not to wait; [`LockError::Link`] if `home` is
    /// a link; I/O errors with their path.
    pub fn take(home: &Path, state: Option<&Path>, mode: LockMode) -> Result<Self, LockError> {
        make_folder(home)?;
        refuse_link(home)?;
        let mut paths = vec![real(home).join(NAME)];
        if let Some(beside) = state.map(beside).transpose()?
            && !paths.contains(&beside)
        {
            paths.push(beside);
        }
        let mut lock = Self {
            _files: Vec::new(),
            warning: None,
        };
        for path in paths {
            let file = open(&path)?;
            if let Some(warning) = acquire(&file, &path, mode)? {
                lock.warning = Some(warning);
            }
            write_holder(&file, &path)?;
            lock._files.push(file);
        }
        Ok(lock)
    }

    /// Takes hold of the folders this run works in as well; see [`Territory`].
    ///
    /// # Errors
    /// [`LockError::Overlap`], and I/O errors with their path.
    pub fn claim(&mut self, territory: &Territory, mode: LockMode) -> Result<(), LockError> {
        self._files.extend(territory.hold(mode)?);
        Ok(())
    }

    /// Something the user should know: the file system has no locks.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }
}

/// The lock file of a ledger named by the user, whichever way it was spelled. Where the ledger is the one an output folder
/// keeps for itself, it is the lock that runs into that folder take.
fn beside(state: &Path) -> Result<PathBuf, LockError> {
    let folder = match state.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    make_folder(folder)?;
    let folder = real(folder);
    if folder.file_name() == Some(OsStr::new(HOME)) {
        return Ok(folder.join(NAME));
    }
    let mut name = state.file_name().unwrap_or_default().to_owned();
    name.push(".lock");
    Ok(folder.join(name))
}

/// The path without links; one that cannot be resolved stays as it is.
fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn refuse_link(home: &Path) -> Result<(), LockError> {
    let found = std::fs::symlink_metadata(home).map_err(|error| LockError::Io {
        operation: "look at the folder",
        path: home.to_owned(),
        error,
    })?;
    if found.is_symlink() {
        return Err(LockError::Link {
            path: home.to_owned(),
        });
    }
    Ok(())
}

fn make_folder(home: &Path) -> Result<(), LockError> {
    let failed = |error| LockError::Io {
        operation: "make the folder",
        path: home.to_owned(),
        error,
    };
    std::fs::create_dir_all(home).map_err(failed)
}

/// Opens the lock file, or makes it. Its content stays until the lock is held, and a link in its place is not followed:
/// what it leads to would be overwritten with the name of the holder.
fn open(path: &Path) -> Result<File, LockError> {
    let failed = |error| LockError::Io {
        operation: "open the lock file",
        path: path.to_owned(),
        error,
    };
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::from_raw_mode(0o666)) {
        Ok(file) => Ok(file.into()),
        Err(Errno::LOOP) => Err(LockError::Link {
            path: path.to_owned(),
        }),
        Err(errno) => Err(failed(errno.into())),
    }
}

/// Locks the file; where the file system has no locks, answers with a warning.
fn acquire(file: &File, path: &Path, mode: LockMode) -> Result<Option<String>, LockError> {
    let taken = match (file.try_lock(), mode) {
        (Err(TryLockError::WouldBlock), LockMode::Wait) => file.lock(),
        (Err(TryLockError::WouldBlock), LockMode::Fail | LockMode::Skip) => {
            return Err(LockError::Busy {
                folder: locked_folder(path),
                holder: read_holder(file),
            });
        }
        (Err(TryLockError::Error(error)), _) => Err(error),
        (Ok(()), _) => Ok(()),
    };
    match taken {
        Ok(()) => Ok(None),
        Err(error) if has_no_locks(&error) => Ok(Some(format!(
            "the file system of {} has no locks ({error}): make sure that no other run works on the same output",
            path.display()
        ))),
        Err(error) => Err(LockError::Io {
            operation: "lock",
            path: path.to_owned(),
            error,
        }),
    }
}

fn has_no_locks(error: &io::Error) -> bool {
    let none = [Errno::NOLCK, Errno::NOTSUP, Errno::NOSYS];
    error.kind() == io::ErrorKind::Unsupported
        || none
            .iter()
            .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// The folder a user knows the lock by: the one that holds pressroom's own.
fn locked_folder(path: &Path) -> PathBuf {
    let home = path.parent().unwrap_or(path);
    let own = home.file_name() == Some(OsStr::new(HOME));
    if own {
        home.parent().unwrap_or(home).to_owned()
    } else {
        path.to_owned()
    }
}

fn read_holder(mut file: &File) -> Option<Holder> {
    let mut line = String::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.take(LONGEST).read_to_string(&mut line).ok()?;
    Holder::from_line(&line)
}

fn write_holder(mut file: &File, path: &Path) -> Result<(), LockError> {
    let line = Holder::this().to_line();
    let write = || {
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(line.as_bytes())
    };
    let mut write = write;
    write().map_err(|error| LockError::Io {
        operation: "write the lock file",
        path: path.to_owned(),
        error,
    })
}

#[cfg(test)]
mod tests;
