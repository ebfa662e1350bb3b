//! Where the control groups of this process stand in the file tree: for each controller the own group and its ancestors.
//!
//! Reads `/proc/self/cgroup` and `/proc/self/mountinfo`; knows version 1, version 2 and both side by side.

use std::path::{Path, PathBuf};

/// A resource controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Controller {
    /// Processor time.
    Cpu,
    /// Memory.
    Memory,
}

impl Controller {
    fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Memory => "memory",
        }
    }
}

/// Which interface a group's files follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// One hierarchy per controller.
    V1,
    /// The unified hierarchy.
    V2,
}

/// One hierarchy this process is in.
#[derive(Debug, Clone)]
struct Hierarchy {
    version: Version,
    /// Controllers of a version 1 hierarchy.
    controllers: Vec<String>,
    /// Path of the group within the hierarchy.
    group: PathBuf,
}

/// A mounted hierarchy.
#[derive(Debug, Clone)]
struct Mount {
    version: Version,
    /// Controllers of a version 1 hierarchy.
    controllers: Vec<String>,
    /// The group that appears at the mount point.
    root: PathBuf,
    /// Where it is mounted.
    point: PathBuf,
}

/// The control groups of this process.
#[derive(Debug)]
pub(super) struct Groups {
    root: PathBuf,
    hierarchies: Vec<Hierarchy>,
    mounts: Vec<Mount>,
}

impl Groups {
    /// Reads them below `root`; what cannot be read is as if it were not there.
    pub(super) fn of_this_process(root: &Path) -> Self {
        let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_default();
        Self {
            root: root.to_owned(),
            hierarchies: read("proc/self/cgroup")
                .lines()
                .filter_map(hierarchy)
                .collect(),
            mounts: read("proc/self/mountinfo")
                .lines()
                .filter_map(mount)
                .collect(),
        }
    }

    /// Folders of the group and of every ancestor that can be seen, the own group first, in each hierarchy that may hold
    /// the controller.
    pub(super) fn folders(&self, controller: Controller) -> Vec<(Version, PathBuf)> {
        let mut folders = Vec::new();
        for hierarchy in self
            .hierarchies
            .iter()
            .filter(|one| holds(one.version, &one.controllers, controller))
        {
            let mount = self.mounts.iter().find(|mount| {
                mount.version == hierarchy.version
                    && holds(mount.version, &mount.controllers, controller)
            });
            let Some(mount) = mount else { continue };
            // A group outside the part that is mounted (another namespace) is seen as the mount point only.
            let below = hierarchy
                .group
                .strip_prefix(&mount.root)
                .unwrap_or(Path::new(""));
            let point = mount.point.strip_prefix("/").unwrap_or(&mount.point);
            let chain = below
                .ancestors()
                .map(|part| self.root.join(point).join(part));
            folders.extend(chain.map(|folder| (hierarchy.version, folder)));
        }
        folders
    }
}

fn holds(version: Version, controllers: &[String], controller: Controller) -> bool {
    match version {
        Version::V1 => controllers.iter().any(|name| name == controller.name()),
        Version::V2 => true,
    }
}

/// A line of `/proc/self/cgroup`: `4:cpu,cpuacct:/a/b`, or `0::/a/b` for version 2.
fn hierarchy(line: &str) -> Option<Hierarchy> {
    let mut fields = line.splitn(3, ':');
    let (number, controllers, group) = (fields.next()?, fields.next()?, fields.next()?);
    let version = if number == "0" && controllers.is_empty() {
        Version::V2
    } else {
        Version::V1
    };
    Some(Hierarchy {
        version,
        controllers: controllers.split(',').map(str::to_owned).collect(),
        group: PathBuf::from(group),
    })
}

/// A line of `/proc/self/mountinfo`, if a cgroup hierarchy is mounted there (proc(5) has the fields).
fn mount(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(3);
    let (root, point) = (left.next()?, left.next()?);
    let mut right = right.split(' ');
    let (kind, options) = (right.next()?, right.nth(1).unwrap_or_default());
    let version = match kind {
        "cgroup" => Version::V1,
        "cgroup2" => Version::V2,
        _ => return None,
    };
    Some(Mount {
        version,
        controllers: options.split(',').map(str::to_owned).collect(),
        root: PathBuf::from(unescape(root)),
        point: PathBuf::from(unescape(point)),
    })
}

/// Blanks in mountinfo are written as `\040`.
fn unescape(text: &str) -> String {
    text.replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\012", "\n")
        .replace("\\134", "\\")
}
