//! Keeps runs apart whose folders lie within each other, whatever the folders are called.
//!
//! A run in place holds each of its folders for itself, and shares the folders above them; a run into a tree shares that
//! tree's folder and those above. So whoever wants a folder for itself meets whoever is at work anywhere below it, or above.
//! The locks are the kernel's, on the folders as they are on disk: a second way there (a link, a mount) leads to the same
//! lock. What stays open: folders above that this user may not open, and what is reached only by `--follow-symlinks`.

use super::{LockError, has_no_locks};
use crate::cli::config::LockMode;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Folders a run holds for itself, at most; beyond that, the folder that holds them all.
const MOST: usize = 64;

/// How a folder is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Hold {
    /// Together with others that work elsewhere in it.
    Shared,
    /// Alone.
    Own,
}

/// The folders a run works in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Territory(BTreeMap<PathBuf, Hold>);

impl Territory {
    /// Of a run that changes what is in `own` and adds to what is in `shared`; absolute paths without links.
    pub fn new(own: Vec<PathBuf>, shared: Vec<PathBuf>) -> Self {
        let own = if own.len() > MOST {
            common(&own).into_iter().collect()
        } else {
            own
        };
        let mut folders = BTreeMap::new();
        let above = own.iter().flat_map(|path| path.ancestors().skip(1));
        for path in above.chain(shared.iter().flat_map(|path| path.ancestors())) {
            folders.insert(path.to_owned(), Hold::Shared);
        }
        folders.extend(own.into_iter().map(|path| (path, Hold::Own)));
        Self(folders)
    }

    /// Takes hold of all folders, those above first. Where a file system has no locks on folders there is none.
    ///
    /// # Errors
    /// [`LockError::Overlap`] if another run is at work there and `mode` is not to wait; I/O errors with their path.
    pub(super) fn hold(&self, mode: LockMode) -> Result<Vec<File>, LockError> {
        let mut held: HashMap<(u64, u64), File> = HashMap::new();
        // By inode, for a folder mounted within itself comes twice; held alone counts.
        let mut wanted: Vec<(&Path, Hold)> = Vec::new();
        let own = |hold: &Hold| *hold == Hold::Own;
        wanted.extend(self.0.iter().map(|(path, hold)| (path.as_path(), *hold)));
        wanted.sort_by_key(|(path, hold)| (!own(hold), path.components().count()));
        for (path, hold) in wanted {
            let Some(file) = open(path, hold)? else {
                continue;
            };
            let found = file.metadata().map_err(|error| failed(path, error))?;
            let inode = (found.dev(), found.ino());
            if !held.contains_key(&inode) && take(&file, path, hold, mode)? {
                held.insert(inode, file);
            }
        }
        Ok(held.into_values().collect())
    }
}

/// The deepest folder that holds all of `paths`.
fn common(paths: &[PathBuf]) -> Option<PathBuf> {
    let (first, rest) = paths.split_first()?;
    let holds_all = |folder: &&Path| rest.iter().all(|path| path.starts_with(folder));
    first.ancestors().find(holds_all).map(Path::to_owned)
}

/// The folder, if there is one that this user may open: what somebody else works on up there is not ours to see.
fn open(path: &Path, hold: Hold) -> Result<Option<File>, LockError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match (rustix::fs::open(path, flags, Mode::empty()), hold) {
        (Ok(folder), _) => Ok(Some(folder.into())),
        (Err(_), Hold::Shared) | (Err(Errno::NOENT | Errno::NOTDIR), Hold::Own) => Ok(None),
        (Err(errno), Hold::Own) => Err(failed(path, errno.into())),
    }
}

/// Whether the folder is held now; `false` where its file system has no such locks.
fn take(file: &File, path: &Path, hold: Hold, mode: LockMode) -> Result<bool, LockError> {
    let operation = match (hold, mode) {
        (Hold::Own, LockMode::Wait) => FlockOperation::LockExclusive,
        (Hold::Shared, LockMode::Wait) => FlockOperation::LockShared,
        (Hold::Own, LockMode::Fail | LockMode::Skip) => FlockOperation::NonBlockingLockExclusive,
        (Hold::Shared, LockMode::Fail | LockMode::Skip) => FlockOperation::NonBlockingLockShared,
    };
    match retry_on_intr(|| rustix::fs::flock(file, operation)) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Err(LockError::Overlap {
            folder: path.to_owned(),
        }),
        // A network file system may want a folder opened for writing, which no folder can be.
        Err(Errno::BADF) => Ok(false),
        Err(errno) if has_no_locks(&errno.into()) => Ok(false),
        Err(errno) => Err(failed(path, errno.into())),
    }
}

fn failed(path: &Path, error: std::io::Error) -> LockError {
    LockError::Io {
        operation: "lock the folder",
        path: path.to_owned(),
        error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct World(tempfile::TempDir);

    impl World {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            for path in ["a/b/c", "a/d", "other"] {
                std::fs::create_dir_all(folder.path().join(path)).unwrap();
            }
            Self(folder)
        }

        fn paths(&self, names: &[&str]) -> Vec<PathBuf> {
            let real = |name: &&str| self.0.path().join(name).canonicalize().unwrap();
            names.iter().map(real).collect()
        }

        fn run(&self, own: &[&str], shared: &[&str]) -> Result<Vec<File>, LockError> {
            Territory::new(self.paths(own), self.paths(shared)).hold(LockMode::Fail)
        }
    }

    #[test]
    fn runs_in_place_meet_above_below_and_through_links() {
        let world = World::new();
        std::os::unix::fs::symlink(world.0.path().join("a/b"), world.0.path().join("link"))
            .unwrap();
        for (first, second) in [
            ("a", "a"),
            ("a", "a/b"),
            ("a", "a/b/c"),
            ("a/b/c", "a"),
            ("a/b", "link"),
            ("link", "a"),
        ] {
            let held = world.run(&[first], &[]).unwrap();
            let refused = world.run(&[second], &[]);
            assert!(
                matches!(refused, Err(LockError::Overlap { .. })),
                "{first} {second}: {refused:?}"
            );
            drop(held);
            world.run(&[second], &[]).unwrap();
        }
    }

    #[test]
    fn runs_beside_each_other_do_not_meet() {
        let world = World::new();
        let _first = world.run(&["a/b"], &[]).unwrap();
        let _second = world.run(&["a/d"], &["other"]).unwrap();
        let _third = world.run(&[], &["other"]).unwrap();
        let _fourth = world.run(&[], &["a/d"]).unwrap_err();
    }

    #[test]
    fn a_tree_that_is_written_below_a_run_in_place_meets_it() {
        let world = World::new();
        let tree = world.run(&[], &["a/b/c"]).unwrap();
        assert!(world.run(&["a"], &[]).is_err());
        assert!(world.run(&["a/b/c"], &[]).is_err());
        drop(tree);
        let _in_place = world.run(&["a"], &[]).unwrap();
        assert!(world.run(&[], &["a/b/c"]).is_err());
    }

    #[test]
    fn a_run_is_not_in_its_own_way() {
        let world = World::new();
        let held = world.run(&["a", "a/b", "a/b/c"], &["a/d"]).unwrap();
        assert!(held.len() >= 4);
    }

    #[test]
    fn a_crowd_of_folders_is_held_by_the_one_above() {
        let world = World::new();
        let names: Vec<String> = (0..=MOST).map(|n| format!("a/b/c/{n}")).collect();
        for name in &names {
            std::fs::create_dir(world.0.path().join(name)).unwrap();
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let held = world.run(&names, &[]).unwrap();
        assert!(held.len() < MOST, "{}", held.len());
        assert!(world.run(&["a/b/c"], &[]).is_err());
        assert!(world.run(&["a/b/c/7"], &[]).is_err());
        world.run(&["a/d"], &[]).unwrap();
    }
}
