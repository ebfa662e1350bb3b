//! Makes the folders outputs need, and remembers which folders' names changed.

use super::failure::{again, failed};
use super::files::Files;
use super::unlinked;
use pressroom_shared::{Failed, FailureKind};
use rustix::io::Errno;
use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};

/// Folders known to exist, at most; a walk comes by folder, so a few would do.
const REMEMBERED: usize = 1024;

/// Folders that were made or changed.
#[derive(Debug, Default)]
pub(super) struct Folders {
    exist: HashSet<PathBuf>,
    touched: BTreeSet<PathBuf>,
}

impl Folders {
    /// Makes the folder of `file` and those above it, as far as they are missing.
    pub(super) fn make_for(&mut self, files: &dyn Files, file: &Path) -> Result<(), Failed> {
        let Some(folder) = file.parent() else {
            return Ok(());
        };
        if self.exist.contains(folder) {
            return Ok(());
        }
        self.make(files, folder)
            .map_err(|error| not_made(folder, &error))?;
        if self.exist.len() >= REMEMBERED {
            self.exist.clear();
        }
        self.exist.insert(folder.to_path_buf());
        Ok(())
    }

    fn make(&mut self, files: &dyn Files, folder: &Path) -> io::Result<()> {
        match self.make_one(files, folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let Some(above) = folder.parent() else {
                    return Err(error);
                };
                self.make(files, above)?;
                // Once: what is still missing now (a folder that was removed again, `/proc`) cannot be made.
                self.make_one(files, folder)
            }
            made => made,
        }
    }

    /// Makes one folder below one that exists. What stands there already must be a folder, reached without a link.
    fn make_one(&mut self, files: &dyn Files, folder: &Path) -> io::Result<()> {
        match again(|| files.make_folder(folder)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                again(|| files.check_folder(folder)).map_err(in_the_way)
            }
            Err(error) => Err(error),
            Ok(()) => {
                if let Some(above) = folder.parent() {
                    self.touch(above);
                }
                Ok(())
            }
        }
    }

    /// A name in `folder` changed.
    pub(super) fn touch(&mut self, folder: &Path) {
        if !self.touched.contains(folder) {
            self.touched.insert(folder.to_path_buf());
        }
    }

    /// A folder was gone after all; look again next time.
    pub(super) fn forget(&mut self) {
        self.exist.clear();
    }

    /// The folders whose names changed since the last call.
    pub(super) fn take_touched(&mut self) -> BTreeSet<PathBuf> {
        std::mem::take(&mut self.touched)
    }
}

/// A link is named by itself: where it leads is not the output folder that was asked for.
fn not_made(folder: &Path, error: &io::Error) -> Failed {
    match unlinked::first_link(folder) {
        Some(link) => Failed {
            kind: FailureKind::OutputExists,
            message: format!(
                "{} is a link, and links in the output folder are not followed; put a folder there (or mount it), or \
                 name where it leads as the output",
                link.display()
            ),
        },
        None => failed("create the folder", folder, error),
    }
}

/// A name that is taken, but leads to no folder: a file, or a link to something that is not there. What the system says of
/// the latter ("no such file") would be taken for a folder that can be made.
fn in_the_way(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::NotFound {
        return Errno::NOTDIR.into();
    }
    error
}

#[cfg(test)]
mod tests {
    use super::super::files::Disk;
    use super::*;

    fn make_for(file: &Path) -> Result<(), Failed> {
        Folders::default().make_for(&Disk, file)
    }

    #[test]
    fn what_cannot_become_a_folder_is_a_named_failure_and_no_endless_try() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        std::os::unix::fs::symlink("nowhere", root.join("dangling")).unwrap();
        std::os::unix::fs::symlink("loop", root.join("loop")).unwrap();
        std::fs::create_dir_all(root.join("real/deep")).unwrap();
        std::os::unix::fs::symlink("real", root.join("link")).unwrap();
        std::fs::write(root.join("file"), "").unwrap();
        for (file, kind) in [
            ("dangling/a.jpg", FailureKind::OutputExists),
            ("dangling/deep/er/a.jpg", FailureKind::OutputExists),
            ("file/a.jpg", FailureKind::OutputExists),
            ("file/deep/a.jpg", FailureKind::OutputExists),
            ("loop/a.jpg", FailureKind::OutputExists),
            ("link/a.jpg", FailureKind::OutputExists),
            ("link/deep/a.jpg", FailureKind::OutputExists),
        ] {
            let failed = make_for(&root.join(file)).unwrap_err();
            assert_eq!(failed.kind, kind, "{file}: {}", failed.message);
            let named = file.split('/').next().unwrap();
            assert!(failed.message.contains(named), "{file}: {}", failed.message);
        }
        let failed = make_for(Path::new("/proc/nobody/a.jpg")).unwrap_err();
        assert_eq!(failed.kind, FailureKind::Io, "{}", failed.message);
    }

    #[test]
    fn folders_are_made_below_each_other() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("real")).unwrap();
        make_for(&root.path().join("real/a/b/c.jpg")).unwrap();
        assert!(root.path().join("real/a/b").is_dir());
    }
}
