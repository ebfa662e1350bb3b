//! Puts files that killed their workers where somebody can look at them, under names that cannot collide.

use crate::task::Task;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Links the input of `task` into `folder`: a hard link, so that it stays when the input goes; a symbolic one where that
/// is not possible. A link that is there already is left alone.
pub(super) fn put(folder: &Path, task: &Task) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let link = folder.join(name(task));
    let there = |error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists;
    let linked = match fs::hard_link(&task.source, &link) {
        Err(error) if !there(&error) => symlink(&task.source, &link),
        linked => linked,
    };
    match linked {
        Err(error) if there(&error) => Ok(()),
        linked => linked,
    }
}

/// Inode and name: two inputs of one name get two links.
fn name(task: &Task) -> PathBuf {
    let mut name = OsString::from(format!("{:x}-{:x}-", task.identity.dev, task.identity.ino));
    if let Some(last) = task.source.file_name() {
        name.push(last);
    }
    if name.len() > 255 {
        return format!("{:x}-{:x}", task.identity.dev, task.identity.ino).into();
    }
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pressroom_shared::{Identity, JobId};

    fn task(source: PathBuf, ino: u64) -> Task {
        Task {
            id: JobId(1),
            identity: Identity {
                dev: 1,
                ino,
                size: 3,
                mtime_ns: 0,
            },
            target: "a.jpg".into(),
            destination: source.clone(),
            source,
        }
    }

    #[test]
    fn the_same_file_twice_is_one_link_and_two_of_one_name_are_two() {
        let root = tempfile::tempdir().unwrap();
        let source = root.path().join("a.jpg");
        fs::write(&source, "bad").unwrap();
        let folder = root.path().join("q");
        for ino in [1, 1, 2] {
            put(&folder, &task(source.clone(), ino)).unwrap();
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        fs::remove_file(&source).unwrap();
        assert_eq!(fs::read(folder.join("1-1-a.jpg")).unwrap(), b"bad");
    }

    #[test]
    fn a_name_that_would_be_too_long_is_left_out() {
        let long = PathBuf::from("/x").join("n".repeat(252));
        assert_eq!(name(&task(long, 2)), Path::new("1-2"));
    }
}
