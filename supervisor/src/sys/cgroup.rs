//! A cgroup v2 leaf per worker, where the tree is ours to write: the one memory cap that counts everything.
//!
//! Leaves are siblings below the group that the supervisor was started in, which must be delegated to it and hold nobody
//! else: a group with processes of its own cannot hand out the memory controller. The supervisor moves itself into a leaf
//! too, or the kernel would end it together with a worker. Everything works below a given root, so tests use a made-up tree.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where cgroup v2 is mounted nearly everywhere.
pub(crate) const ROOT: &str = "/sys/fs/cgroup";

/// A group whose children may be given memory limits.
#[derive(Debug)]
pub(crate) struct Delegated {
    group: PathBuf,
}

/// The group of one worker; removed when dropped.
#[derive(Debug)]
pub(crate) struct Leaf {
    path: PathBuf,
}

/// What the kernel counted in a leaf.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OomCounters {
    /// Times the limit could not be kept.
    pub(crate) oom: u64,
    /// Processes killed for it, here or because an ancestor ran out.
    pub(crate) oom_kill: u64,
}

/// Why there is no cap by cgroup here.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoCgroup {
    /// This process is in no cgroup v2.
    #[error("this process is in no cgroup v2")]
    NotMounted,
    /// The memory controller is not handed down to this group.
    #[error("the memory controller is not available in {}", .0.display())]
    NoController(PathBuf),
    /// Somebody else is in the group.
    #[error("{} holds other processes", .0.display())]
    Shared(PathBuf),
    /// The tree is read-only or belongs to somebody else.
    #[error("{} cannot be written to: {source}", path.display())]
    NotWritable {
        /// What could not be written.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Delegated {
    /// Takes the group of this process, `pid`, as told by `self_cgroup` (the text of `/proc/self/cgroup`).
    ///
    /// # Errors
    /// Why that is not possible; nothing has been changed then.
    pub(crate) fn take(root: &Path, self_cgroup: &str, pid: u32) -> Result<Self, NoCgroup> {
        let group = candidate(root, self_cgroup, pid)?;
        let own_leaf = group.join("pressroom-supervisor");
        make(&own_leaf)?;
        write(&own_leaf.join("cgroup.procs"), &pid.to_string())?;
        let delegated = Self { group };
        if let Err(error) = delegated.hand_down(pid) {
            let _ = fs::remove_dir(&own_leaf);
            return Err(error);
        }
        Ok(delegated)
    }

    /// Whether [`Delegated::take`] has a chance, without changing anything.
    ///
    /// # Errors
    /// Why it has none.
    pub(crate) fn look(root: &Path, self_cgroup: &str, pid: u32) -> Result<(), NoCgroup> {
        candidate(root, self_cgroup, pid).map(|_| ())
    }

    /// Lets children have memory limits; if that fails, everything is as before.
    fn hand_down(&self, pid: u32) -> Result<(), NoCgroup> {
        let control = self.group.join("cgroup.subtree_control");
        write(&control, "+memory").inspect_err(|_| {
            let _ = write(&self.group.join("cgroup.procs"), &pid.to_string());
        })
    }

    /// A leaf with a hard limit of `cap` bytes and no swap.
    ///
    /// # Errors
    /// What could not be written.
    pub(crate) fn leaf(&self, name: &str, cap: u64) -> Result<Leaf, NoCgroup> {
        let path = self.group.join(name);
        make(&path)?;
        let leaf = Leaf { path };
        write(&leaf.path.join("memory.max"), &cap.to_string())?;
        // Not there without swap accounting; then there is no swap to hide in either.
        let _ = write(&leaf.path.join("memory.swap.max"), "0");
        Ok(leaf)
    }
}

impl Leaf {
    /// Moves a process in.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(crate) fn adopt(&self, pid: u32) -> Result<(), NoCgroup> {
        write(&self.path.join("cgroup.procs"), &pid.to_string())
    }

    /// What was counted since the leaf was made.
    pub(crate) fn counters(&self) -> OomCounters {
        let events = fs::read_to_string(self.path.join("memory.events")).unwrap_or_default();
        let count = |name: &str| {
            events
                .lines()
                .filter_map(|line| line.split_once(' '))
                .find(|(key, _)| *key == name)
                .and_then(|(_, value)| value.parse().ok())
                .unwrap_or(0)
        };
        OomCounters {
            oom: count("oom"),
            oom_kill: count("oom_kill"),
        }
    }
}

impl Drop for Leaf {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.path);
    }
}

/// The group of this process, if it has the controller and nobody else is in it.
fn candidate(root: &Path, self_cgroup: &str, pid: u32) -> Result<PathBuf, NoCgroup> {
    let own = own_group(self_cgroup).ok_or(NoCgroup::NotMounted)?;
    let group = root.join(own.trim_start_matches('/'));
    let controllers = read_words(&group.join("cgroup.controllers"));
    if !controllers.iter().any(|name| name == "memory") {
        return Err(NoCgroup::NoController(group));
    }
    if read_words(&group.join("cgroup.procs")) != [pid.to_string()] {
        return Err(NoCgroup::Shared(group));
    }
    Ok(group)
}

/// The path of the v2 group in the text of `/proc/self/cgroup`.
fn own_group(self_cgroup: &str) -> Option<&str> {
    self_cgroup
        .lines()
        .find_map(|line| line.strip_prefix("0::"))
}

fn read_words(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

fn make(path: &Path) -> Result<(), NoCgroup> {
    match fs::create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(not_writable(path)(error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn write(path: &Path, text: &str) -> Result<(), NoCgroup> {
    fs::write(path, text).map_err(not_writable(path))
}

fn not_writable(path: &Path) -> impl FnOnce(io::Error) -> NoCgroup + '_ {
    move |source| NoCgroup::NotWritable {
        path: path.to_path_buf(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A made-up tree; its files are plain files, so what was written can be read back.
    fn tree(procs: &str, controllers: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let group = root.path().join("user.slice/nightly.service");
        fs::create_dir_all(&group).unwrap();
        fs::write(group.join("cgroup.controllers"), controllers).unwrap();
        fs::write(group.join("cgroup.procs"), procs).unwrap();
        root
    }

    const SELF: &str = "3:memory:/elsewhere\n0::/user.slice/nightly.service\n";

    #[test]
    fn the_supervisor_moves_into_a_leaf_and_hands_memory_down() {
        let root = tree("77\n", "cpu memory pids");
        Delegated::take(root.path(), SELF, 77).unwrap();
        let group = root.path().join("user.slice/nightly.service");
        let read = |name: &str| fs::read_to_string(group.join(name)).unwrap();
        assert_eq!(read("pressroom-supervisor/cgroup.procs"), "77");
        assert_eq!(read("cgroup.subtree_control"), "+memory");
    }

    #[test]
    fn a_leaf_has_the_cap_and_takes_the_worker_in() {
        let root = tree("77\n", "memory");
        let delegated = Delegated::take(root.path(), SELF, 77).unwrap();
        let leaf = delegated.leaf("worker-0", 1 << 20).unwrap();
        leaf.adopt(99).unwrap();
        let read = |name: &str| fs::read_to_string(leaf.path.join(name)).unwrap();
        assert_eq!(read("memory.max"), "1048576");
        assert_eq!(read("memory.swap.max"), "0");
        assert_eq!(read("cgroup.procs"), "99");
        assert_eq!(leaf.counters(), OomCounters::default());
        fs::write(
            leaf.path.join("memory.events"),
            "low 0\nhigh 0\nmax 4\noom 2\noom_kill 1\noom_group_kill 0\n",
        )
        .unwrap();
        assert_eq!(
            leaf.counters(),
            OomCounters {
                oom: 2,
                oom_kill: 1
            }
        );
    }

    #[test]
    fn a_group_with_others_in_it_is_left_alone() {
        let root = tree("1\n77\n", "memory");
        let refused = Delegated::take(root.path(), SELF, 77).unwrap_err();
        assert!(matches!(refused, NoCgroup::Shared(_)));
        assert!(
            !root
                .path()
                .join("user.slice/nightly.service/pressroom-supervisor")
                .exists()
        );
    }

    #[test]
    fn without_the_controller_or_the_tree_there_is_no_cap() {
        let root = tree("77\n", "cpu pids");
        assert!(matches!(
            Delegated::take(root.path(), SELF, 77),
            Err(NoCgroup::NoController(_))
        ));
        assert!(matches!(
            Delegated::take(root.path(), "3:memory:/x\n", 77),
            Err(NoCgroup::NotMounted)
        ));
    }
}
