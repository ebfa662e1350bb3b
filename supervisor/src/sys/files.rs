//! How many files this process may have open, and folders of its own for a while.

use std::fs::DirBuilder;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Open files of this process, now and at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OpenFiles {
    /// Open now.
    pub(crate) used: u64,
    /// The most that may be.
    pub(crate) limit: u64,
}

/// Files that everything but workers and results needs: ledger, lock, search, reports, staging.
const FOR_THE_REST: u64 = 32;

/// Files that a worker needs here: three pipes, its process, its memory group, and some room while it is started.
const PER_WORKER: u64 = 6;

impl OpenFiles {
    /// As it is now; a limit of any height where the system does not say.
    pub(crate) fn now() -> Self {
        let used = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        Self {
            used: used as u64,
            limit: getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX),
        }
    }

    /// What is left for results, each of which is open until it is on disk, beside so many workers; at least one.
    pub(crate) fn left_beside(self, workers: u32) -> u64 {
        let others = u64::from(workers) * PER_WORKER + FOR_THE_REST;
        self.limit.saturating_sub(self.used + others).max(1)
    }

    /// Workers that there is room for; at least one.
    pub(crate) fn workers(self) -> u64 {
        let room = self.limit.saturating_sub(self.used + FOR_THE_REST);
        (room / PER_WORKER).max(1)
    }

    /// Whether a run with one worker has a chance.
    pub(crate) fn suffice(self) -> bool {
        self.limit >= self.used + FOR_THE_REST
    }
}

/// Makes a folder that only this user may enter, below one where others may make names too: what stands there already, a
/// link first of all, is never taken for it, and nobody can guess the name and stand there before.
///
/// # Errors
/// Whatever the system says.
pub(crate) fn new_folder(above: &Path, prefix: &str) -> io::Result<PathBuf> {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    loop {
        let chance = RandomState::new().build_hasher().finish();
        let folder = above.join(format!("{prefix}{chance:016x}"));
        match builder.create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Takes as many as may be had without asking: shells start programs with a low limit for the sake of old ones.
pub(crate) fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    // What is not granted leaves it at what there is.
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_what_nobody_else_needs() {
        let files = |used, limit| OpenFiles { used, limit };
        assert_eq!(files(10, 1024).left_beside(4), 958);
        assert_eq!(files(10, 64).left_beside(2), 10);
        assert_eq!(files(10, 25).left_beside(2), 1);
        assert_eq!(files(10, u64::MAX).left_beside(1), u64::MAX - 48);
        assert_eq!(files(10, 64).workers(), 3);
        assert_eq!(files(10, 25).workers(), 1);
        assert!(files(10, 64).suffice() && !files(10, 25).suffice());
    }

    #[test]
    fn a_new_folder_is_private_and_never_the_same() {
        use std::os::unix::fs::PermissionsExt;
        let above = tempfile::tempdir().unwrap();
        let [one, other] = [(); 2].map(|()| new_folder(above.path(), "x-").unwrap());
        assert_ne!(one, other);
        let mode = one.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert!(new_folder(&above.path().join("none"), "x-").is_err());
    }

    #[test]
    fn this_process_has_some_open() {
        raise_open_files();
        let now = OpenFiles::now();
        assert!(now.used >= 3 && now.limit >= now.used, "{now:?}");
    }
}
