//! Opens folders so that no link on the way is followed, not even one that was put there a moment ago.

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, open, openat, openat2};
use rustix::io::{Errno, retry_on_intr};
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

const FLAGS: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// The folder at `path`, to make names in.
///
/// # Errors
/// `ELOOP` or `ENOTDIR` where a link stands on the way, and what else the system says.
pub(super) fn folder(path: &Path) -> io::Result<OwnedFd> {
    let way = ResolveFlags::NO_SYMLINKS;
    match retry_on_intr(|| openat2(CWD, path, FLAGS, Mode::empty(), way)) {
        // Older kernels do not know the call, some containers forbid what they do not know.
        Err(Errno::NOSYS | Errno::PERM) => step_by_step(path),
        opened => Ok(opened?),
    }
}

/// The folder of `path` and the name in it.
///
/// # Errors
/// As [`folder`].
pub(super) fn parent(path: &Path) -> io::Result<(OwnedFd, &OsStr)> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Errno::INVAL.into());
    };
    let above = if above.as_os_str().is_empty() {
        Path::new(".")
    } else {
        above
    };
    Ok((folder(above)?, name))
}

fn step_by_step(path: &Path) -> io::Result<OwnedFd> {
    let start = if path.has_root() { "/" } else { "." };
    let mut at = retry_on_intr(|| open(start, FLAGS, Mode::empty()))?;
    for part in path.components() {
        let name = match part {
            Component::RootDir | Component::CurDir | Component::Prefix(_) => continue,
            Component::ParentDir => OsStr::new(".."),
            Component::Normal(name) => name,
        };
        at = retry_on_intr(|| openat(&at, name, FLAGS, Mode::empty()))?;
    }
    Ok(at)
}

/// The first link on the way to `path`, to be named to the user.
pub(super) fn first_link(path: &Path) -> Option<PathBuf> {
    let mut way: Vec<&Path> = path.ancestors().collect();
    way.reverse();
    let is_link = |path: &&&Path| {
        path.symlink_metadata()
            .is_ok_and(|found| found.is_symlink())
    };
    way.iter().find(is_link).map(|path| path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_anywhere_on_the_way_is_refused_either_way() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("real/deep")).unwrap();
        std::os::unix::fs::symlink("real", root.join("link")).unwrap();
        for open in [folder, step_by_step] {
            open(&root.join("real/deep")).unwrap();
            for path in ["link", "link/deep"] {
                let errno = Errno::from_io_error(&open(&root.join(path)).unwrap_err()).unwrap();
                assert!(
                    [Errno::LOOP, Errno::NOTDIR].contains(&errno),
                    "{path}: {errno}"
                );
            }
            let gone = open(&root.join("real/none")).unwrap_err();
            assert_eq!(gone.kind(), io::ErrorKind::NotFound);
        }
        let link = first_link(&root.join("link/deep/a.jpg"));
        assert_eq!(link, Some(root.join("link")));
        assert_eq!(first_link(&root.join("real/deep")), None);
    }

    #[test]
    fn a_relative_path_is_taken_from_here() {
        folder(Path::new("src")).unwrap();
        step_by_step(Path::new("./src")).unwrap();
        let (_, name) = parent(Path::new("Cargo.toml")).unwrap();
        assert_eq!(name, "Cargo.toml");
    }
}
