//! The mark on a folder of originals: what `--backup` put aside is never taken for input, neither by the run that put it
//! there nor by any later one. Knows the mark, not the walk.

use std::io;
use std::path::Path;

/// The file whose presence is the mark.
pub(crate) const MARK: &str = ".pressroom-originals";
/// What a person finds in it.
const WORDS: &str = "pressroom put originals aside in this folder (--backup). While this file is here, a search for\n\
                     images passes the folder over, so that no run makes them smaller.\n";

/// Makes `folder`, if need be, and marks it.
///
/// # Errors
/// When the folder or the mark cannot be made.
pub(crate) fn mark(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    if is_marked(folder) {
        return Ok(());
    }
    std::fs::write(folder.join(MARK), WORDS)
}

/// Whether `folder` holds originals.
pub(crate) fn is_marked(folder: &Path) -> bool {
    std::fs::symlink_metadata(folder.join(MARK)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marked_folder_is_known_and_marking_it_again_changes_nothing() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("photos/originals");
        assert!(!is_marked(&folder));
        mark(&folder).unwrap();
        std::fs::write(folder.join(MARK), "my own words").unwrap();
        mark(&folder).unwrap();
        assert!(is_marked(&folder));
        assert!(!is_marked(folder.parent().unwrap()));
        assert_eq!(std::fs::read(folder.join(MARK)).unwrap(), b"my own words");
    }
}
