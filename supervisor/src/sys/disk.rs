//! How much room a disk has.

use std::io;
use std::path::{Path, PathBuf};

/// Room at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Room {
    /// The folder that was looked at.
    pub(crate) folder: PathBuf,
    /// Bytes an ordinary user may still write there.
    pub(crate) free: u64,
    /// Bytes there are in all.
    pub(crate) whole: u64,
}

impl Room {
    /// The room at `place`, or at the nearest folder above it that exists.
    pub(crate) fn at(place: &Path) -> io::Result<Self> {
        let absolute = std::path::absolute(place)?;
        let folder = absolute
            .ancestors()
            .find(|folder| folder.is_dir())
            .unwrap_or(Path::new("/"));
        let stat = rustix::fs::statvfs(folder)?;
        Ok(Self {
            folder: folder.to_path_buf(),
            free: stat.f_bavail.saturating_mul(stat.f_frsize),
            whole: stat.f_blocks.saturating_mul(stat.f_frsize),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_folder_that_exists_is_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let room = Room::at(&folder.path().join("not/yet")).unwrap();
        assert_eq!(room.folder, folder.path());
        assert!(room.free > 0 && room.free <= room.whole, "{room:?}");
    }
}
