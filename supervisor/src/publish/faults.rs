//! File systems for tests: one whose calls fail, one that dies, one that forgets what was not synced.

use super::files::{Disk, Files, Found};
use rustix::io::Errno;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What is about to be called, as far as a hook needs to know.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Call<'a> {
    Plain,
    Sync(&'a File),
    SyncAll,
    SyncFolder(&'a Path),
    Create(&'a Path),
    MakeFolder(&'a Path),
    Link(&'a Path),
    Rename(&'a Path, &'a Path),
    Remove,
}

/// Sees every call before and after it is made.
pub(crate) trait Hook {
    fn before(&self, call: Call<'_>) -> io::Result<()>;
    fn after(&self, _call: Call<'_>) -> io::Result<()> {
        Ok(())
    }
}

/// The real file system with a hook on every call.
#[derive(Debug)]
pub(crate) struct Hooked<H>(pub(crate) H);

impl<H: Hook> Hooked<H> {
    fn run<T>(&self, call: Call<'_>, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.0.before(call)?;
        let value = act()?;
        self.0.after(call)?;
        Ok(value)
    }
}

impl<H: Hook> Files for Hooked<H> {
    fn look(&self, path: &Path) -> io::Result<Found> {
        self.run(Call::Plain, || Disk.look(path))
    }
    fn look_at(&self, file: &File) -> io::Result<Found> {
        self.run(Call::Plain, || Disk.look_at(file))
    }
    fn open(&self, path: &Path) -> io::Result<File> {
        self.run(Call::Plain, || Disk.open(path))
    }
    fn create(&self, path: &Path) -> io::Result<File> {
        self.run(Call::Create(path), || Disk.create(path))
    }
    fn read(&self, file: &File, buffer: &mut [u8]) -> io::Result<usize> {
        self.run(Call::Plain, || Disk.read(file, buffer))
    }
    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize> {
        // Short writes are allowed, so they are made here.
        let some = &bytes[..bytes.len().min(5)];
        self.run(Call::Plain, || Disk.write(file, some))
    }
    fn set_mode(&self, file: &File, mode: u32) -> io::Result<()> {
        self.run(Call::Plain, || Disk.set_mode(file, mode))
    }
    fn set_owner(&self, file: &File, uid: u32, gid: u32) -> io::Result<()> {
        self.run(Call::Plain, || Disk.set_owner(file, uid, gid))
    }
    fn set_times(&self, file: &File, mtime_ns: i64, atime_ns: Option<i64>) -> io::Result<()> {
        self.run(Call::Plain, || Disk.set_times(file, mtime_ns, atime_ns))
    }
    fn attributes(&self, path: &Path) -> io::Result<Vec<OsString>> {
        self.run(Call::Plain, || Disk.attributes(path))
    }
    fn attribute(&self, path: &Path, name: &OsStr) -> io::Result<Vec<u8>> {
        self.run(Call::Plain, || Disk.attribute(path, name))
    }
    fn set_attribute(&self, file: &File, name: &OsStr, value: &[u8]) -> io::Result<()> {
        self.run(Call::Plain, || Disk.set_attribute(file, name, value))
    }
    fn sync(&self, file: &File) -> io::Result<()> {
        self.run(Call::Sync(file), || Ok(()))
    }
    fn sync_all(&self, _file: &File) -> io::Result<()> {
        self.run(Call::SyncAll, || Ok(()))
    }
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.run(Call::SyncFolder(folder), || Ok(()))
    }
    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        self.run(Call::MakeFolder(folder), || Disk.make_folder(folder))
    }
    fn check_folder(&self, folder: &Path) -> io::Result<()> {
        self.run(Call::Plain, || Disk.check_folder(folder))
    }
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.run(Call::Rename(from, to), || Disk.rename_new(from, to))
    }
    fn rename_over(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.run(Call::Rename(from, to), || Disk.rename_over(from, to))
    }
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.run(Call::Link(to), || Disk.link(from, to))
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.run(Call::Remove, || Disk.remove(path))
    }
}

/// When a fault strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// The k-th call is not made.
    Once,
    /// From the k-th call on none is made.
    FromThenOn,
    /// The k-th call is made, and then said to have failed.
    AfterDoing,
}

/// Fails the k-th call.
#[derive(Debug)]
pub(crate) struct Fail {
    pub(crate) at: u32,
    pub(crate) errno: Errno,
    pub(crate) when: When,
    pub(crate) calls: Cell<u32>,
}

impl Fail {
    pub(crate) fn fired(&self) -> bool {
        self.calls.get() >= self.at
    }
}

impl Hook for &Fail {
    fn before(&self, _: Call<'_>) -> io::Result<()> {
        self.calls.set(self.calls.get() + 1);
        let strikes = match self.when {
            When::Once => self.calls.get() == self.at,
            When::FromThenOn => self.calls.get() >= self.at,
            When::AfterDoing => false,
        };
        if strikes {
            Err(self.errno.into())
        } else {
            Ok(())
        }
    }

    fn after(&self, _: Call<'_>) -> io::Result<()> {
        let strikes = self.when == When::AfterDoing && self.calls.get() == self.at;
        if strikes {
            Err(self.errno.into())
        } else {
            Ok(())
        }
    }
}

/// What a panic of [`PowerCut`] carries.
pub(crate) struct Dead;

/// Dies at the k-th call, before or after it was made, and knows what was not yet on disk then.
#[derive(Debug)]
pub(crate) struct PowerCut {
    pub(crate) at: u32,
    pub(crate) after: bool,
    pub(crate) calls: Cell<u32>,
    /// Folder for what renames replaced.
    pub(crate) attic: PathBuf,
    /// Inodes whose content is on disk.
    synced: RefCell<HashSet<u64>>,
    all_synced: Cell<bool>,
    names: RefCell<Vec<Name>>,
}

/// A change of a name that is not on disk yet.
#[derive(Debug)]
enum Name {
    Made(PathBuf),
    MadeFolder(PathBuf),
    Renamed {
        from: PathBuf,
        to: PathBuf,
        replaced: Option<PathBuf>,
    },
}

impl Name {
    fn path(&self) -> &Path {
        match self {
            Self::Made(path) | Self::MadeFolder(path) | Self::Renamed { to: path, .. } => path,
        }
    }
}

impl PowerCut {
    pub(crate) fn new(at: u32, after: bool, attic: PathBuf) -> Self {
        Self {
            at,
            after,
            calls: Cell::new(0),
            attic,
            synced: RefCell::default(),
            all_synced: Cell::new(false),
            names: RefCell::default(),
        }
    }

    fn strike(&self) {
        std::panic::panic_any(Dead);
    }

    /// Loses what was not on disk: content of `file` where it was not synced, and where `names_too` every change of a
    /// name that was not synced. What the disk keeps of either is its own choice, so both must be survived.
    pub(crate) fn lose(&self, files: &[&Path], names_too: bool) {
        for file in files {
            let Ok(found) = std::fs::symlink_metadata(file) else {
                continue;
            };
            if !self.all_synced.get() && !self.synced.borrow().contains(&found.ino()) {
                File::options()
                    .write(true)
                    .open(file)
                    .unwrap()
                    .set_len(found.len() / 2)
                    .unwrap();
            }
        }
        for name in self.names.borrow_mut().drain(..).rev() {
            if names_too {
                name.undo();
            }
        }
        let _ = std::fs::remove_dir_all(&self.attic);
    }
}

impl Name {
    fn undo(self) {
        match self {
            Self::Made(path) => drop(std::fs::remove_file(path)),
            Self::MadeFolder(path) => drop(std::fs::remove_dir_all(path)),
            Self::Renamed { from, to, replaced } => {
                if from.parent().is_some_and(Path::is_dir) {
                    std::fs::rename(&to, &from).unwrap();
                }
                if let Some(replaced) = replaced {
                    std::fs::rename(replaced, to).unwrap();
                }
            }
        }
    }
}

impl Hook for &PowerCut {
    fn before(&self, call: Call<'_>) -> io::Result<()> {
        self.calls.set(self.calls.get() + 1);
        if !self.after && self.calls.get() == self.at {
            self.strike();
        }
        if let Call::Rename(_, to) = call
            && to.exists()
        {
            std::fs::create_dir_all(&self.attic).unwrap();
            std::fs::hard_link(to, self.attic.join(self.calls.get().to_string())).unwrap();
        }
        Ok(())
    }

    fn after(&self, call: Call<'_>) -> io::Result<()> {
        let mut names = self.names.borrow_mut();
        match call {
            Call::Plain | Call::Remove => {}
            Call::Sync(file) => drop(
                self.synced
                    .borrow_mut()
                    .insert(file.metadata().unwrap().ino()),
            ),
            Call::SyncAll => {
                self.all_synced.set(true);
                names.clear();
            }
            Call::SyncFolder(folder) => names.retain(|name| name.path().parent() != Some(folder)),
            Call::Create(path) | Call::Link(path) => names.push(Name::Made(path.to_path_buf())),
            Call::MakeFolder(path) => names.push(Name::MadeFolder(path.to_path_buf())),
            Call::Rename(from, to) => {
                let replaced = self.attic.join(self.calls.get().to_string());
                names.push(Name::Renamed {
                    from: from.to_path_buf(),
                    to: to.to_path_buf(),
                    replaced: replaced.exists().then_some(replaced),
                });
            }
        }
        drop(names);
        if self.after && self.calls.get() == self.at {
            self.strike();
        }
        Ok(())
    }
}
