//! The file-system calls that publishing makes, as a seam: the real ones here, ones that fail or forget in tests.
//!
//! Nothing here decides. `EINTR` is left to the callers, because not every call may be repeated. Whatever makes, moves or
//! removes a name does so in a folder that was reached without a link: an output tree that others may write to must not lead
//! anything elsewhere.

use super::unlinked;
use pressroom_shared::Identity;
use rustix::fs::{
    AtFlags, CWD, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps, UTIME_OMIT,
    Uid, XattrFlags,
};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    /// Which file.
    pub(crate) identity: Identity,
    /// An ordinary file, not a link, folder, pipe, socket or device.
    pub(crate) regular: bool,
    /// Names it has.
    pub(crate) links: u64,
    /// Permission bits.
    pub(crate) mode: u32,
    /// Owner.
    pub(crate) uid: u32,
    /// Group.
    pub(crate) gid: u32,
    /// Access time in nanoseconds since 1970.
    pub(crate) atime_ns: i64,
}

impl Found {
    /// Whether both are one file on disk, whatever changed in it.
    pub(crate) fn same_file(&self, other: &Self) -> bool {
        (self.identity.dev, self.identity.ino) == (other.identity.dev, other.identity.ino)
    }
}

/// Every call publishing makes.
pub(crate) trait Files {
    /// What stands at `path`; a link is not followed.
    fn look(&self, path: &Path) -> io::Result<Found>;
    /// What an open file is.
    fn look_at(&self, file: &File) -> io::Result<Found>;
    /// Opens an ordinary file to read; follows no link and waits for no writer.
    fn open(&self, path: &Path) -> io::Result<File>;
    /// Makes a file that must not exist yet.
    fn create(&self, path: &Path) -> io::Result<File>;
    /// Reads some bytes; 0 at the end.
    fn read(&self, file: &File, buffer: &mut [u8]) -> io::Result<usize>;
    /// Writes some bytes.
    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize>;
    /// Sets the permission bits.
    fn set_mode(&self, file: &File, mode: u32) -> io::Result<()>;
    /// Sets owner and group.
    fn set_owner(&self, file: &File, uid: u32, gid: u32) -> io::Result<()>;
    /// Sets modification time and, where given, access time.
    fn set_times(&self, file: &File, mtime_ns: i64, atime_ns: Option<i64>) -> io::Result<()>;
    /// Names of the extended attributes.
    fn attributes(&self, path: &Path) -> io::Result<Vec<OsString>>;
    /// One extended attribute.
    fn attribute(&self, path: &Path, name: &OsStr) -> io::Result<Vec<u8>>;
    /// Sets one extended attribute.
    fn set_attribute(&self, file: &File, name: &OsStr, value: &[u8]) -> io::Result<()>;
    /// Brings one file to disk, content and attributes.
    fn sync(&self, file: &File) -> io::Result<()>;
    /// Brings everything on the file system of `file` to disk.
    fn sync_all(&self, file: &File) -> io::Result<()>;
    /// Brings the names in a folder to disk.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    /// Makes a folder.
    fn make_folder(&self, folder: &Path) -> io::Result<()>;
    /// Whether a folder has this name, without a link on the way; an error says what is there instead.
    fn check_folder(&self, folder: &Path) -> io::Result<()>;
    /// Renames; fails where the new name is taken.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Renames over whatever has the new name.
    fn rename_over(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file a second name; fails where it is taken.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a name.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// The real file system.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Disk;

impl Files for Disk {
    fn look(&self, path: &Path) -> io::Result<Found> {
        Ok(found(&rustix::fs::lstat(path)?))
    }

    fn look_at(&self, file: &File) -> io::Result<Found> {
        Ok(found(&rustix::fs::fstat(file)?))
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (folder, name) = unlinked::parent(path)?;
        Ok(rustix::fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?.into())
    }

    fn read(&self, mut file: &File, buffer: &mut [u8]) -> io::Result<usize> {
        file.read(buffer)
    }

    fn write(&self, mut file: &File, bytes: &[u8]) -> io::Result<usize> {
        file.write(bytes)
    }

    fn set_mode(&self, file: &File, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(mode))?)
    }

    fn set_owner(&self, file: &File, uid: u32, gid: u32) -> io::Result<()> {
        let (owner, group) = (Uid::from_raw(uid), Gid::from_raw(gid));
        Ok(rustix::fs::fchown(file, Some(owner), Some(group))?)
    }

    fn set_times(&self, file: &File, mtime_ns: i64, atime_ns: Option<i64>) -> io::Result<()> {
        let untouched = Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_OMIT,
        };
        let times = Timestamps {
            last_access: atime_ns.map_or(untouched, timespec),
            last_modification: timespec(mtime_ns),
        };
        Ok(rustix::fs::futimens(file, &times)?)
    }

    fn attributes(&self, path: &Path) -> io::Result<Vec<OsString>> {
        let mut list = Vec::with_capacity(ATTRIBUTE_ROOM);
        rustix::fs::llistxattr(path, rustix::buffer::spare_capacity(&mut list))?;
        Ok(list
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty())
            .map(|name| OsStr::from_bytes(name).to_owned())
            .collect())
    }

    fn attribute(&self, path: &Path, name: &OsStr) -> io::Result<Vec<u8>> {
        let mut value = Vec::with_capacity(ATTRIBUTE_ROOM);
        rustix::fs::lgetxattr(path, name, rustix::buffer::spare_capacity(&mut value))?;
        Ok(value)
    }

    fn set_attribute(&self, file: &File, name: &OsStr, value: &[u8]) -> io::Result<()> {
        Ok(rustix::fs::fsetxattr(
            file,
            name,
            value,
            XattrFlags::empty(),
        )?)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        Ok(rustix::fs::fsync(file)?)
    }

    fn sync_all(&self, file: &File) -> io::Result<()> {
        Ok(rustix::fs::syncfs(file)?)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(folder, flags, Mode::empty())?;
        Ok(rustix::fs::fsync(folder)?)
    }

    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        let (above, name) = unlinked::parent(folder)?;
        Ok(rustix::fs::mkdirat(
            above,
            name,
            Mode::from_raw_mode(0o777),
        )?)
    }

    fn check_folder(&self, folder: &Path) -> io::Result<()> {
        unlinked::folder(folder).map(drop)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (folder, name) = unlinked::parent(to)?;
        Ok(rustix::fs::renameat_with(
            CWD,
            from,
            folder,
            name,
            RenameFlags::NOREPLACE,
        )?)
    }

    fn rename_over(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (folder, name) = unlinked::parent(to)?;
        Ok(rustix::fs::renameat(CWD, from, folder, name)?)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (folder, name) = unlinked::parent(to)?;
        Ok(rustix::fs::linkat(
            CWD,
            from,
            folder,
            name,
            AtFlags::empty(),
        )?)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let (folder, name) = unlinked::parent(path)?;
        Ok(rustix::fs::unlinkat(folder, name, AtFlags::empty())?)
    }
}

/// The kernel's own bound on a list of names and on one value.
const ATTRIBUTE_ROOM: usize = 64 << 10;

fn timespec(ns: i64) -> Timespec {
    Timespec {
        tv_sec: ns.div_euclid(1_000_000_000),
        tv_nsec: ns.rem_euclid(1_000_000_000),
    }
}

fn nanoseconds(seconds: i64, ns: u64) -> i64 {
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add_unsigned(ns)
}

fn found(stat: &Stat) -> Found {
    Found {
        identity: Identity {
            dev: stat.st_dev,
            ino: stat.st_ino,
            size: stat.st_size.cast_unsigned(),
            mtime_ns: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
        },
        regular: FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile,
        links: stat.st_nlink,
        mode: stat.st_mode & 0o7777,
        uid: stat.st_uid,
        gid: stat.st_gid,
        atime_ns: nanoseconds(stat.st_atime, stat.st_atime_nsec),
    }
}
