//! Makes the folders outputs need, and remembers which folders' names changed.

use super::failure::{again, failed};
use super::files::Files;
use pressroom_shared::Failed;
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
            .map_err(|error| failed("create the folder", folder, &error))?;
        if self.exist.len() >= REMEMBERED {
            self.exist.clear();
        }
        self.exist.insert(folder.to_path_buf());
        Ok(())
    }

    fn make(&mut self, files: &dyn Files, folder: &Path) -> io::Result<()> {
        match again(|| files.make_folder(folder)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let Some(above) = folder.parent() else {
                    return Err(error);
                };
                self.make(files, above)?;
                self.make(files, folder)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
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
