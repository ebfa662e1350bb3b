//! In place: the original gets a second name (or, on another file system, a copy) before it is replaced.

use super::attributes::{self, Origin};
use super::durable;
use super::failure::{again, failed, is};
use super::files::{Files, Found};
use super::inspect::hash_of;
use super::land::copy;
use super::parcel::{Backup, Parcel, Ready, State};
use super::policy::Inherit;
use super::{Place, Publisher};
use crate::task::{Ending, Task};
use pressroom_shared::{Failed, FailureKind};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Backups one name may have.
const MOST: u32 = 100;

/// Bytes a name may have on Linux's usual file systems.
const LONGEST_NAME: usize = 255;

/// Finds the name for the backup of `task`'s source. An earlier backup of the very same picture is used again; one of
/// another picture is never touched: it is the original of an original.
pub(super) fn choose(
    files: &dyn Files,
    source: &Found,
    task: &Task,
    folder: &Path,
) -> Result<Backup, Failed> {
    for number in 1..=MOST {
        let path = numbered(&folder.join(&task.target), number);
        match again(|| files.look(&path)) {
            Err(error) if is(&error, Errno::NOENT) => {
                return Ok(Backup {
                    path,
                    stands: false,
                    made: false,
                });
            }
            Err(error) => return Err(failed("look at the backup", &path, &error)),
            Ok(found) if is_copy_of(files, &found, &path, source, &task.source) => {
                return Ok(Backup {
                    path,
                    stands: true,
                    made: false,
                });
            }
            Ok(_) => {}
        }
    }
    Err(Failed {
        kind: FailureKind::OutputExists,
        message: format!(
            "there are {MOST} backups of it in {} already; move them away",
            folder.display()
        ),
    })
}

/// A name that has no room for the number is cut, between characters: the picture can then be made smaller again.
fn numbered(path: &Path, number: u32) -> PathBuf {
    let Some(name) = path.file_name().filter(|_| number > 1) else {
        return path.to_path_buf();
    };
    let (name, suffix) = (name.as_bytes(), format!(".~{number}~"));
    let room = name.len().min(LONGEST_NAME - suffix.len());
    let begins = |at: &usize| name.get(*at).is_none_or(|byte| byte & 0xC0 != 0x80);
    let mut cuts = (room.saturating_sub(3)..=room).rev();
    let cut = cuts.find(begins).unwrap_or(room);
    path.with_file_name(OsStr::from_bytes(
        &[&name[..cut], suffix.as_bytes()].concat(),
    ))
}

fn is_copy_of(
    files: &dyn Files,
    found: &Found,
    path: &Path,
    source: &Found,
    source_path: &Path,
) -> bool {
    let alike = found.regular
        && !found.same_file(source)
        && (found.identity.size, found.identity.mtime_ns)
            == (source.identity.size, source.identity.mtime_ns);
    let content = |path: &Path| again(|| files.open(path)).and_then(|file| hash_of(files, &file));
    alike && matches!((content(path), content(source_path)), (Ok(one), Ok(other)) if one == other)
}

impl<F: Files> Publisher<F> {
    /// Makes the backups the ready parcels need and brings their names to disk; those that fail end.
    pub(super) fn back_up(&mut self, parcels: &mut [Parcel]) {
        if !matches!(self.policy.place, Place::InPlace { backup: Some(_) }) {
            return;
        }
        let before = self.folders.take_touched();
        for parcel in parcels.iter_mut() {
            let State::Ready(ready) = &mut parcel.state else {
                continue;
            };
            if let Err(failed) = self.make_backup(&parcel.record.task, ready) {
                self.drop_backup(ready);
                self.discard(&parcel.staged);
                parcel.end(Ending::Failed(failed));
            }
        }
        for folder in self.folders.take_touched().union(&before) {
            if let Err(error) = durable::sync_folder(&self.files, folder) {
                self.fail_backups_in(parcels, folder, &error);
            }
        }
    }

    fn make_backup(&mut self, task: &Task, ready: &mut Ready) -> Result<(), Failed> {
        let Some(backup) = ready.backup.as_mut().filter(|backup| !backup.stands) else {
            return Ok(());
        };
        self.folders.make_for(&self.files, &backup.path)?;
        match again(|| self.files.link(&task.source, &backup.path)) {
            Ok(()) => backup.made = true,
            Err(error) if cannot_link(&error) => self
                .copy_original(task, &ready.source, backup)
                .map_err(|error| failed("write the backup", &backup.path, &error))?,
            Err(error) => return Err(failed("make the backup", &backup.path, &error)),
        }
        if let Some(folder) = backup.path.parent() {
            self.folders.touch(folder);
        }
        Ok(())
    }

    fn copy_original(&self, task: &Task, source: &Found, backup: &mut Backup) -> io::Result<()> {
        let original = again(|| self.files.open(&task.source))?;
        let file = again(|| self.files.create(&backup.path))?;
        backup.made = true;
        copy(&self.files, &original, &file)?;
        let origin = Origin {
            path: &task.source,
            found: source,
            in_place: true,
        };
        // A backup that another file system cannot give its owner or attributes is still a backup.
        attributes::apply(&self.files, &file, origin, Inherit::TREE, self.mode)
            .map_err(|failed| io::Error::other(failed.message))?;
        self.files.sync(&file)
    }

    fn fail_backups_in(&self, parcels: &mut [Parcel], folder: &Path, error: &io::Error) {
        for parcel in parcels.iter_mut() {
            let Some(ready) = parcel.ready() else {
                continue;
            };
            let there = ready
                .backup
                .as_ref()
                .is_some_and(|backup| backup.path.starts_with(folder));
            if there {
                self.drop_backup(ready);
                self.discard(&parcel.staged);
                parcel.end(Ending::Failed(failed(
                    "bring to disk the folder",
                    folder,
                    error,
                )));
            }
        }
    }

    /// Takes back a backup whose original was not replaced after all.
    pub(super) fn drop_backup(&self, ready: &Ready) {
        if let Some(backup) = ready.backup.as_ref().filter(|backup| backup.made) {
            self.discard(&backup.path);
        }
    }
}

fn cannot_link(error: &io::Error) -> bool {
    [Errno::XDEV, Errno::PERM, Errno::OPNOTSUPP, Errno::MLINK]
        .into_iter()
        .any(|errno| is(error, errno))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_numbered_name_fits_and_is_cut_between_characters() {
        let name = |name: &[u8], number| {
            let path = numbered(&Path::new("/b").join(OsStr::from_bytes(name)), number);
            assert_eq!(path.parent(), Some(Path::new("/b")));
            path.file_name().unwrap().as_bytes().to_vec()
        };
        assert_eq!(name(b"a.jpg", 1), b"a.jpg");
        assert_eq!(name(b"a.jpg", 2), b"a.jpg.~2~");
        assert_eq!(name(&[b'a'; 251], 2), [&[b'a'; 251], &b".~2~"[..]].concat());
        assert_eq!(name(&[b'a'; 255], 2), [&[b'a'; 251], &b".~2~"[..]].concat());
        assert_eq!(name(&[b'a'; 255], 10).len(), 255);
        let odd = "é".repeat(127);
        let cut = [&odd.as_bytes()[..250], b".~2~"].concat();
        assert_eq!(name(odd.as_bytes(), 2), cut);
        assert_eq!(name(&[0x80; 255], 2).len(), 255, "no characters at all");
    }
}
