//! How many files this process may have open.

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

    /// Whether a run with one worker has a chance.
    pub(crate) fn suffice(self) -> bool {
        self.limit >= self.used + FOR_THE_REST
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
        assert!(files(10, 64).suffice() && !files(10, 25).suffice());
    }

    #[test]
    fn this_process_has_some_open() {
        raise_open_files();
        let now = OpenFiles::now();
        assert!(now.used >= 3 && now.limit >= now.used, "{now:?}");
    }
}
