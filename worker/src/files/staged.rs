//! The output: a file in the worker's own staging folder, removed again unless it is kept.
//!
//! Created by exclusive create under its own name, the first time bytes reach it, so a job that fails or keeps its
//! original touches no disk. Not O_TMPFILE and a link: that needs either /proc or a capability that a confined worker
//! has not, and what it buys, no leftovers after a kill, the supervisor's sweep of the staging folder buys as well.

use super::source::read_at;
use super::{FileError, Operation};
use pressroom_jobs::{Sink, Source};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, unlinkat};
use rustix::io::{Errno, retry_on_intr};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

/// Bytes gathered before they are written.
const BUFFER: usize = 64 * 1024;

/// The worker's own staging folder, held open.
#[derive(Debug)]
pub(crate) struct Staging {
    folder: OwnedFd,
    path: PathBuf,
}

impl Staging {
    /// Opens the folder, which the supervisor made.
    ///
    /// # Errors
    /// Whatever the system says.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self {
            folder: openat(CWD, path, flags, Mode::empty())?,
            path: path.to_path_buf(),
        })
    }

    /// A file to be, with this name in the folder.
    ///
    /// # Errors
    /// [`FileError::BadName`] unless `name` is one plain name.
    pub(crate) fn file(&self, name: &Path) -> Result<Staged<'_>, FileError> {
        let mut parts = name.components();
        match (parts.next(), parts.next()) {
            (Some(Component::Normal(only)), None) if only == name.as_os_str() => Ok(Staged {
                staging: self,
                name: name.to_path_buf(),
                file: None,
                buffer: Vec::new(),
                written: 0,
                keep: false,
            }),
            _ => Err(FileError::BadName {
                path: name.to_path_buf(),
            }),
        }
    }

    fn create(&self, name: &Path) -> Result<File, Errno> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Nobody else has business here; the supervisor sets the final mode.
        let mode = Mode::RUSR | Mode::WUSR;
        retry_on_intr(|| openat(&self.folder, name, flags, mode)).map(File::from)
    }
}

/// An output being made. Dropped without [`Staged::finish`] or [`Staged::copy`], it leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Staged<'a> {
    staging: &'a Staging,
    name: PathBuf,
    file: Option<File>,
    buffer: Vec<u8>,
    written: u64,
    keep: bool,
}

impl Staged<'_> {
    /// Completes the output and answers its length.
    ///
    /// # Errors
    /// [`FileError::Io`].
    pub(crate) fn finish(&mut self) -> Result<u64, FileError> {
        let done = self.flush().and_then(|()| self.file().map(drop));
        done.map_err(|error| self.failed(Operation::Write, error))?;
        self.keep = true;
        Ok(self.written)
    }

    /// The finished output as it stands in the folder, to be read again.
    ///
    /// # Errors
    /// [`FileError::Io`].
    pub(crate) fn stored(&self) -> Result<Stored<'_>, FileError> {
        let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound.into());
        file.and_then(Stored::of)
            .map_err(|error| self.failed(Operation::ReadAgain, error))
    }

    /// Makes the output a copy of `source`, byte for byte, in place of anything written so far, and answers its length.
    ///
    /// The standard library lets the kernel copy, by reference where the file system can, and falls back to plain reads.
    ///
    /// # Errors
    /// [`FileError::Io`].
    pub(crate) fn copy(&mut self, source: &File) -> Result<u64, FileError> {
        let copied = self.restart().and_then(|()| copy_all(source, self.file()?));
        self.written = copied.map_err(|error| self.failed(Operation::Copy, error))?;
        self.keep = true;
        Ok(self.written)
    }

    /// Takes back a promise to keep the file: something else went wrong.
    pub(crate) fn discard(mut self) {
        self.keep = false;
    }

    fn file(&mut self) -> io::Result<&mut File> {
        let file = match self.file.take() {
            Some(file) => file,
            None => self.staging.create(&self.name)?,
        };
        Ok(self.file.insert(file))
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let buffer = std::mem::take(&mut self.buffer);
        let outcome = self.file()?.write_all(&buffer);
        self.buffer = buffer;
        self.buffer.clear();
        outcome
    }

    fn failed(&self, operation: Operation, source: io::Error) -> FileError {
        FileError::Io {
            operation: if self.file.is_none() {
                Operation::Create
            } else {
                operation
            },
            path: self.staging.path.join(&self.name),
            source,
        }
    }
}

/// A finished output, read again through the file it was written to.
#[derive(Debug)]
pub(crate) struct Stored<'a> {
    file: &'a File,
    length: u64,
}

impl<'a> Stored<'a> {
    fn of(file: &'a File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file, length })
    }
}

impl Source for Stored<'_> {
    fn len(&self) -> u64 {
        self.length
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        read_at(self.file, self.length, offset, buffer)
    }
}

/// Copies from where `source` stands to where `output` stands, and answers where that has come to.
fn copy_all(mut source: &File, output: &mut File) -> io::Result<u64> {
    loop {
        match io::copy(&mut source, output) {
            Ok(_) => return output.stream_position(),
            // Both files stand where the copy was interrupted.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

impl Sink for Staged<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.flush()?;
        }
        if bytes.len() >= BUFFER {
            self.file()?.write_all(bytes)?;
        } else {
            self.buffer
                .try_reserve(BUFFER)
                .map_err(|_| io::ErrorKind::OutOfMemory)?;
            self.buffer.extend_from_slice(bytes);
        }
        self.written = self.written.saturating_add(bytes.len() as u64);
        Ok(())
    }

    fn restart(&mut self) -> io::Result<()> {
        self.buffer.clear();
        self.written = 0;
        if let Some(file) = &mut self.file {
            file.set_len(0)?;
            file.rewind()?;
        }
        Ok(())
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if self.file.is_some() && !self.keep {
            // What cannot be removed now is swept by the supervisor.
            let _ = unlinkat(&self.staging.folder, &self.name, AtFlags::empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn staging() -> (tempfile::TempDir, Staging) {
        let folder = tempfile::tempdir().unwrap();
        let staging = Staging::open(folder.path()).unwrap();
        (folder, staging)
    }

    fn content(folder: &tempfile::TempDir) -> Vec<Vec<u8>> {
        let entries = std::fs::read_dir(folder.path()).unwrap();
        entries
            .map(|entry| std::fs::read(entry.unwrap().path()).unwrap())
            .collect()
    }

    #[test]
    fn what_is_written_in_any_pieces_is_there_after_finish() {
        let (folder, staging) = staging();
        let mut staged = staging.file(Path::new("1")).unwrap();
        let mut expected = Vec::new();
        for length in [0, 1, 1000, BUFFER - 1, BUFFER, BUFFER + 1, 3 * BUFFER, 5] {
            let piece: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
            staged.write(&piece).unwrap();
            expected.extend(piece);
        }
        assert_eq!(staged.finish().unwrap(), expected.len() as u64);
        drop(staged);
        assert_eq!(content(&folder), [expected]);
    }

    #[test]
    fn a_restart_forgets_buffered_and_written_bytes() {
        let (folder, staging) = staging();
        let mut staged = staging.file(Path::new("1")).unwrap();
        staged.write(&vec![1; 2 * BUFFER]).unwrap();
        staged.write(b"and some in the buffer").unwrap();
        staged.restart().unwrap();
        staged.write(b"second").unwrap();
        assert_eq!(staged.finish().unwrap(), 6);
        assert_eq!(content(&folder), [b"second"]);
    }

    #[test]
    fn nothing_is_left_unless_finished() {
        let (folder, staging) = staging();
        let mut staged = staging.file(Path::new("1")).unwrap();
        staged.write(b"never reaches the disk").unwrap();
        assert!(content(&folder).is_empty());
        staged.write(&vec![1; 2 * BUFFER]).unwrap();
        assert_eq!(content(&folder).len(), 1);
        drop(staged);
        assert!(content(&folder).is_empty());

        let mut staged = staging.file(Path::new("1")).unwrap();
        staged.write(b"finished").unwrap();
        staged.finish().unwrap();
        staged.discard();
        assert!(content(&folder).is_empty());
    }

    #[test]
    fn a_panic_in_mid_job_leaves_nothing() {
        let (folder, staging) = staging();
        let job = std::panic::AssertUnwindSafe(|| {
            let mut staged = staging.file(Path::new("1")).unwrap();
            staged.write(&vec![1; 2 * BUFFER]).unwrap();
            panic!("in mid-job");
        });
        assert!(std::panic::catch_unwind(job).is_err());
        assert!(content(&folder).is_empty());
    }

    #[test]
    fn a_copy_replaces_what_was_written() {
        let (folder, staging) = staging();
        let original = tempfile::tempdir().unwrap();
        let path = original.path().join("a.jpg");
        std::fs::write(&path, vec![7; 300_000]).unwrap();
        let mut staged = staging.file(Path::new("1")).unwrap();
        staged.write(&vec![1; 2 * BUFFER]).unwrap();
        assert_eq!(staged.copy(&File::open(&path).unwrap()).unwrap(), 300_000);
        drop(staged);
        assert_eq!(content(&folder), [vec![7; 300_000]]);
    }

    #[test]
    fn an_existing_file_is_never_opened() {
        let (folder, staging) = staging();
        std::fs::write(folder.path().join("1"), b"old").unwrap();
        let mut staged = staging.file(Path::new("1")).unwrap();
        staged.write(b"new").unwrap();
        let error = staged.finish().unwrap_err().to_string();
        assert!(
            error.starts_with("creating ") && error.contains("/1 failed: "),
            "{error}"
        );
        drop(staged);
        assert_eq!(content(&folder), [b"old"]);
    }

    #[test]
    fn only_a_plain_name_is_accepted() {
        let (_folder, staging) = staging();
        for name in ["", ".", "..", "a/b", "/a", "../a", "a/", "./a"] {
            assert!(staging.file(Path::new(name)).is_err(), "{name:?}");
        }
        assert!(staging.file(Path::new("..a")).is_ok());
    }

    #[test]
    fn new_files_are_private() {
        use std::os::unix::fs::PermissionsExt;
        let (folder, staging) = staging();
        let mut staged = staging.file(Path::new("1")).unwrap();
        staged.write(b"x").unwrap();
        staged.finish().unwrap();
        let mode = std::fs::metadata(folder.path().join("1"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o177, 0);
    }
}
