//! Names from a list (`--files-from`): one a line, or ended by NUL bytes. Streams; keeps sixteen bytes per name.

use super::roots::Roots;
use super::walk::{look, passed};
use super::{Encounter, Source, Visit, failure, not_a_file};
use crate::cli::config::{Config, HOME, ListFrom};
use crate::filter;
use crate::passed::Passed;
use pressroom_shared::{Failed, FailureKind};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// No path is longer; what is longer is not a list of names.
const LONGEST_NAME: u64 = 4096;

/// A list of names.
pub(super) struct List {
    config: Arc<Config>,
    roots: Roots,
    /// The current folder, which names are relative to as in any command.
    here: PathBuf,
    /// The folder whose tree is mirrored.
    base: PathBuf,
    from: Opened,
    separator: u8,
    hashers: [RandomState; 2],
}

/// Where the names are read from.
enum Opened {
    /// A file; opened anew for each pass.
    File(PathBuf),
    /// Standard input or a named pipe, which can be read once.
    Pipe(File),
    /// The same, read beforehand because more than one pass is needed.
    Kept(Vec<u8>),
}

impl Opened {
    /// `repeatable`: more than one pass will be made.
    fn new(from: &ListFrom, repeatable: bool) -> io::Result<Self> {
        let mut pipe = match from {
            ListFrom::File(path) => {
                let file = File::open(path)?;
                if file.metadata()?.is_file() {
                    return Ok(Self::File(path.clone()));
                }
                file
            }
            ListFrom::Stdin => File::from(io::stdin().as_fd().try_clone_to_owned()?),
        };
        if !repeatable {
            return Ok(Self::Pipe(pipe));
        }
        let mut names = Vec::new();
        pipe.read_to_end(&mut names)?;
        Ok(Self::Kept(names))
    }
}

/// Whether the list can be read more than once; a pipe, which the shell's `<(...)` is too, cannot.
pub(super) fn is_repeatable(from: &ListFrom) -> bool {
    match from {
        ListFrom::File(path) => fs::metadata(path).is_ok_and(|found| found.is_file()),
        ListFrom::Stdin => false,
    }
}

impl List {
    /// `repeatable`: more than one pass will be made.
    pub(super) fn open(
        config: Arc<Config>,
        roots: Roots,
        from: &ListFrom,
        separator: u8,
        repeatable: bool,
    ) -> io::Result<Self> {
        let base = roots.base.clone().unwrap_or_default();
        Ok(Self {
            config,
            roots,
            here: std::env::current_dir()?,
            base,
            from: Opened::new(from, repeatable)?,
            separator,
            hashers: Default::default(),
        })
    }

    fn reader(&self) -> io::Result<Box<dyn BufRead + '_>> {
        Ok(match &self.from {
            Opened::File(path) => Box::new(BufReader::new(File::open(path)?)),
            Opened::Pipe(pipe) => Box::new(BufReader::new(pipe)),
            Opened::Kept(names) => Box::new(Cursor::new(names.as_slice())),
        })
    }

    /// What one listed name stands for.
    fn name(&self, name: &OsStr) -> Encounter {
        let typed = self.here.join(name);
        let found = fs::canonicalize(&typed)
            .and_then(|real| fs::metadata(&real).map(|found| (real, found)));
        let (real, found) = match found {
            Ok(found) => found,
            Err(error) => {
                return Encounter::Fault {
                    path: typed,
                    failed: failure("find it", &error),
                };
            }
        };
        if found.is_dir() {
            return passed(&real, Passed::Folder);
        }
        if self.is_own(&real) {
            return passed(&real, Passed::Ours);
        }
        if !found.is_file() {
            return Encounter::Fault {
                path: real,
                failed: not_a_file(found.file_type()),
            };
        }
        let within = real.starts_with(&self.base) || self.config.selection.follow_symlinks;
        let Some(mirrored) = self.mirrored(&typed, &real).filter(|_| within) else {
            return Encounter::Fault {
                path: real,
                failed: self.outside(),
            };
        };
        if filter::chosen(&self.config.selection, &mirrored) {
            look(real, mirrored)
        } else {
            passed(&real, Passed::Excluded)
        }
    }

    /// The name below the base, as it was typed if possible.
    fn mirrored(&self, typed: &Path, real: &Path) -> Option<PathBuf> {
        let plain = without_parents(typed);
        let below = plain
            .as_deref()
            .and_then(|plain| plain.strip_prefix(&self.base).ok())
            .or_else(|| real.strip_prefix(&self.base).ok())?;
        below.file_name().is_some().then(|| below.to_owned())
    }

    fn is_own(&self, real: &Path) -> bool {
        let own = |folder: &PathBuf| real.starts_with(folder) && !self.base.starts_with(folder);
        real.components().any(|part| part.as_os_str() == HOME) || self.roots.own.iter().any(own)
    }

    fn outside(&self) -> Failed {
        let message = format!(
            "lies outside {}, whose tree is mirrored: give a folder that holds it as PATH (links out of it need \
             --follow-symlinks)",
            self.base.display()
        );
        Failed {
            kind: FailureKind::Unreadable,
            message,
        }
    }

    /// Two independent hashes of a path: a name that only looks as if it had been seen would be lost.
    fn fingerprint(&self, path: &Path) -> [u64; 2] {
        [0, 1].map(|which: usize| self.hashers[which].hash_one(path.as_os_str().as_bytes()))
    }
}

impl Source for List {
    fn visit(&mut self, visit: Visit<'_>) -> ControlFlow<()> {
        let mut seen = HashSet::new();
        let mut reader = match self.reader() {
            Ok(reader) => reader,
            Err(error) => return unreadable(&error, visit),
        };
        loop {
            let name = match next_name(&mut *reader, self.separator) {
                Ok(Some(name)) => name,
                Ok(None) => return ControlFlow::Continue(()),
                Err(error) => return unreadable(&error, visit),
            };
            match self.name(&name) {
                finding if !seen.insert(self.fingerprint(finding.path())) => {}
                finding => visit(finding)?,
            }
        }
    }

    /// Links can give one file two names, but a file is taken once; other names differ as their paths do.
    fn may_repeat_names(&self) -> bool {
        false
    }
}

fn unreadable(error: &io::Error, visit: Visit<'_>) -> ControlFlow<()> {
    let failed = failure("read the list of --files-from", error);
    visit(Encounter::Fault {
        path: PathBuf::from("--files-from"),
        failed,
    })
}

/// The next name that is not empty.
fn next_name(reader: &mut dyn BufRead, separator: u8) -> io::Result<Option<OsString>> {
    loop {
        let mut name = Vec::new();
        let length = (&mut *reader)
            .take(LONGEST_NAME + 1)
            .read_until(separator, &mut name)?;
        if length == 0 {
            return Ok(None);
        }
        let ended = name.last() == Some(&separator);
        if ended {
            name.pop();
        } else if length as u64 > LONGEST_NAME {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a name is longer than 4096 bytes; is it separated by NUL bytes? Then add -0",
            ));
        }
        if !name.is_empty() {
            return Ok(Some(OsString::from_vec(name)));
        }
    }
}

/// The path with every `..` resolved on disk: behind a link to a folder it does not lead back to where the link stands.
fn without_parents(path: &Path) -> Option<PathBuf> {
    if !path.components().any(|part| part == Component::ParentDir) {
        return Some(path.components().collect());
    }
    let folder = fs::canonicalize(path.parent()?).ok()?;
    Some(folder.join(path.file_name()?))
}
