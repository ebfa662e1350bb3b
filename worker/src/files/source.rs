//! The input: opened without following a link or blocking on a pipe, and the very file the walk saw, before and after.
//!
//! Read with positioned reads and never mapped: a file that is cut short under a mapping kills the process.

use super::{FileError, Operation};
use pressroom_jobs::Source;
use pressroom_shared::{Identity, Job};
use rustix::fs::{Advice, CWD, FileType, Mode, OFlags, Stat, fadvise, fstat, openat};
use rustix::io::{Errno, retry_on_intr};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const NANOSECONDS: i64 = 1_000_000_000;

/// Bytes asked for with one advice. The kernel reads no more for one than its read-ahead window, 128 KiB by default.
const AHEAD_STEP: u64 = 128 * 1024;

/// Most bytes read ahead for a job that waits; beyond it the kernel's own read-ahead has caught up.
const AHEAD: u64 = 16 * 1024 * 1024;

/// An open input.
#[derive(Debug)]
pub(crate) struct SourceFile {
    file: File,
    path: PathBuf,
    identity: Identity,
    names: u64,
}

impl SourceFile {
    /// Opens the file at `path`, which must be the one with this identity.
    ///
    /// # Errors
    /// [`FileError::Io`] and [`FileError::Changed`].
    pub(crate) fn open(path: &Path, identity: Identity) -> Result<Self, FileError> {
        let file = open(path).map_err(|errno| refused(path, errno))?;
        let mut source = Self {
            file,
            path: path.to_path_buf(),
            identity,
            names: 1,
        };
        source.names = source.look()?.st_nlink;
        Ok(source)
    }

    /// Whether the open file still is what the walk saw. Asked again after the work, before its result is believed.
    ///
    /// # Errors
    /// [`FileError::Io`] and [`FileError::Changed`].
    pub(crate) fn check(&self) -> Result<(), FileError> {
        self.look().map(drop)
    }

    /// Whether it had other names when it was opened.
    pub(crate) fn has_other_names(&self) -> bool {
        self.names > 1
    }

    fn look(&self) -> Result<Stat, FileError> {
        let stat = retry_on_intr(|| fstat(&self.file)).map_err(|errno| FileError::Io {
            operation: Operation::Open,
            path: self.path.clone(),
            source: errno.into(),
        })?;
        match difference(&stat, self.identity) {
            None => Ok(stat),
            Some(what) => Err(FileError::Changed {
                path: self.path.clone(),
                what,
            }),
        }
    }

    /// The file itself, positioned at its start.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }
}

impl Source for SourceFile {
    fn len(&self) -> u64 {
        self.identity.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        read_at(&self.file, self.identity.size, offset, buffer)
    }
}

/// Fills the buffer unless the file of `size` bytes ends first, whatever the system's mood about short reads and signals.
/// Damaged files point far behind their end, where the system takes an offset for a negative one.
pub(super) fn read_at(file: &File, size: u64, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    if offset >= size {
        return Ok(0);
    }
    fill(buffer, |done, rest| {
        file.read_at(rest, offset.saturating_add(done))
    })
}

/// Reads with `read(bytes so far, rest of the buffer)` until the buffer is full or nothing comes.
fn fill(
    buffer: &mut [u8],
    mut read: impl FnMut(u64, &mut [u8]) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        match read(done as u64, &mut buffer[done..]) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// Asks the kernel to have the file in memory by the time its job begins. Advice only, so nothing is reported.
pub(crate) fn read_ahead(job: &Job) {
    let Ok(file) = open(job.source.as_path()) else {
        return;
    };
    let end = job.identity.size.min(AHEAD);
    let mut offset = 0;
    while offset < end {
        let length = NonZeroU64::new(AHEAD_STEP);
        if fadvise(&file, offset, length, Advice::WillNeed).is_err() {
            return;
        }
        offset += AHEAD_STEP;
    }
}

fn open(path: &Path) -> Result<File, Errno> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    retry_on_intr(|| openat(CWD, path, flags, Mode::empty())).map(File::from)
}

/// The walk saw a regular file: where a link or a socket stands now, it was replaced.
fn refused(path: &Path, errno: Errno) -> FileError {
    let path = path.to_path_buf();
    if errno == Errno::LOOP || errno == Errno::NXIO {
        let what = "something else stands in its place";
        return FileError::Changed { path, what };
    }
    FileError::Io {
        operation: Operation::Open,
        path,
        source: errno.into(),
    }
}

/// What tells the file apart from the one the walk saw, if anything.
fn difference(stat: &Stat, identity: Identity) -> Option<&'static str> {
    let mtime_ns = stat
        .st_mtime
        .saturating_mul(NANOSECONDS)
        .saturating_add(i64::try_from(stat.st_mtime_nsec).unwrap_or(0));
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        Some("it is no regular file any more")
    } else if (stat.st_dev, stat.st_ino) != (identity.dev, identity.ino) {
        Some("another file took its place")
    } else if u64::try_from(stat.st_size) != Ok(identity.size) {
        Some("its size is another")
    } else if mtime_ns != identity.mtime_ns {
        Some("its modification time is another")
    } else {
        None
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;

    /// The identity as the walk takes it.
    pub(crate) fn identity(path: &Path) -> Identity {
        let data = std::fs::symlink_metadata(path).unwrap();
        Identity {
            dev: data.dev(),
            ino: data.ino(),
            size: data.size(),
            mtime_ns: data.mtime() * NANOSECONDS + data.mtime_nsec(),
        }
    }

    fn file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jpg");
        std::fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    fn why(result: Result<impl Sized, FileError>) -> &'static str {
        match result {
            Err(FileError::Changed { what, .. }) => what,
            Err(error) => panic!("unexpected: {error}"),
            Ok(_) => panic!("unchanged"),
        }
    }

    #[test]
    fn reads_pieces_at_any_offset() {
        let (_folder, path) = file(b"0123456789");
        let source = SourceFile::open(&path, identity(&path)).unwrap();
        let mut buffer = [0; 4];
        assert_eq!(source.len(), 10);
        assert_eq!(source.read_at(3, &mut buffer).unwrap(), 4);
        assert_eq!(&buffer, b"3456");
        assert_eq!(source.read_at(8, &mut buffer).unwrap(), 2);
        assert_eq!(source.read_at(10, &mut buffer).unwrap(), 0);
        assert_eq!(source.read_at(1 << 40, &mut buffer).unwrap(), 0);
        for offset in [i64::MAX as u64, 1 << 63, u64::MAX] {
            assert_eq!(source.read_at(offset, &mut buffer).unwrap(), 0);
        }
    }

    #[test]
    fn short_reads_and_interruptions_are_gone_over() {
        let mut calls = 0;
        let mut buffer = [0; 5];
        let read = |done: u64, rest: &mut [u8]| {
            calls += 1;
            if calls % 2 == 0 {
                return Err(ErrorKind::Interrupted.into());
            }
            rest[0] = b'a' + u8::try_from(done).unwrap();
            Ok(1)
        };
        assert_eq!(fill(&mut buffer, read).unwrap(), 5);
        assert_eq!(&buffer, b"abcde");
    }

    #[test]
    fn a_failing_read_is_reported() {
        let failing = |_, _: &mut [u8]| Err(ErrorKind::PermissionDenied.into());
        assert!(fill(&mut [0; 5], failing).is_err());
    }

    #[test]
    fn growth_rewriting_and_replacement_are_noticed() {
        let (folder, path) = file(b"old");
        let seen = identity(&path);
        let source = SourceFile::open(&path, seen).unwrap();
        source.check().unwrap();

        let mut writer = File::options().append(true).open(&path).unwrap();
        writer.write_all(b"more").unwrap();
        assert_eq!(why(source.check()), "its size is another");

        writer.set_len(3).unwrap();
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
        writer.set_modified(later).unwrap();
        assert_eq!(why(source.check()), "its modification time is another");

        let other = folder.path().join("b.jpg");
        std::fs::write(&other, b"new").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(
            why(SourceFile::open(&path, seen)),
            "another file took its place"
        );
    }

    #[test]
    fn links_pipes_and_folders_are_refused_without_blocking() {
        let (folder, path) = file(b"old");
        let seen = identity(&path);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(
            why(SourceFile::open(&link, seen)),
            "something else stands in its place"
        );

        let pipe = folder.path().join("pipe");
        let kind = FileType::Fifo;
        rustix::fs::mknodat(CWD, &pipe, kind, Mode::RUSR, 0).unwrap();
        assert_eq!(
            why(SourceFile::open(&pipe, seen)),
            "it is no regular file any more"
        );
        assert_eq!(
            why(SourceFile::open(folder.path(), seen)),
            "it is no regular file any more"
        );
    }

    #[test]
    fn a_missing_file_is_an_error_with_its_path() {
        let gone = Path::new("/nowhere/at/all.jpg");
        let identity = Identity {
            dev: 0,
            ino: 0,
            size: 0,
            mtime_ns: 0,
        };
        let error = SourceFile::open(gone, identity).unwrap_err().to_string();
        assert!(
            error.starts_with("opening /nowhere/at/all.jpg failed: "),
            "{error}"
        );
    }

    #[test]
    fn reading_ahead_is_harmless_whatever_stands_there() {
        let (folder, path) = file(&vec![1; 300_000]);
        for path in [path.as_path(), folder.path(), Path::new("/nowhere")] {
            read_ahead(&Job {
                id: pressroom_shared::JobId(1),
                source: path.into(),
                identity: Identity {
                    dev: 0,
                    ino: 0,
                    size: u64::MAX,
                    mtime_ns: 0,
                },
                staged: path.into(),
                copy_kept: false,
            });
        }
    }
}
