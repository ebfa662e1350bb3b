//! Puts files that killed their workers where somebody can look at them, under names that cannot collide.

use crate::task::Task;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Makes a symbolic link to the input of `task` in `folder` and answers its path; `None` where it was there already. Not a
/// hard link: that would change the input itself, which then has another name and is no longer replaced in place.
pub(super) fn put(folder: &Path, task: &Task) -> io::Result<Option<PathBuf>> {
    fs::create_dir_all(folder)?;
    let link = folder.join(name(task));
    match symlink(&task.source, &link) {
        Ok(()) => Ok(Some(link)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(error),
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
        let made = [1, 1, 2].map(|ino| put(&folder, &task(source.clone(), ino)).unwrap());
        let link = folder.join("1-1-a.jpg");
        assert_eq!(made[0], Some(link.clone()));
        assert_eq!(made[1], None);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        assert_eq!(fs::read(link).unwrap(), b"bad");
        use std::os::unix::fs::MetadataExt;
        assert_eq!(
            source.metadata().unwrap().nlink(),
            1,
            "the input has no other name"
        );
    }

    #[test]
    fn a_name_that_would_be_too_long_is_left_out() {
        let long = PathBuf::from("/x").join("n".repeat(252));
        assert_eq!(name(&task(long, 2)), Path::new("1-2"));
    }
}
