//! The marks on folders that pressroom filled itself: originals that `--backup` put aside, and results. What stands in them is
//! never taken for input by a search that comes by, neither by the run that put it there nor by any later one; who names such a
//! folder means it. Knows the marks, not the walk.

use crate::cli::config::HOME;
use std::io;
use std::path::{Path, PathBuf};

/// The file whose presence marks a folder of originals.
pub(crate) const ORIGINALS: &str = ".pressroom-originals";
/// What a person finds in it.
const ABOUT_ORIGINALS: &str = "pressroom put originals aside in this folder (--backup). While this file is here, a search for\n\
                               images passes the folder over, so that no run makes them smaller.\n";
/// The file in the folder of pressroom's own files whose presence marks a folder of results.
const RESULTS: &str = "results";
/// What a person finds in it.
const ABOUT_RESULTS: &str = "The folder above has results of pressroom. While this file is here, a search for images passes the\n\
                             folder over, so that no run takes results for photographs; naming the folder still takes it.\n";

/// Makes `folder`, if need be, and marks it as one of originals.
///
/// # Errors
/// When the folder or the mark cannot be made.
pub(crate) fn mark_originals(folder: &Path) -> io::Result<()> {
    mark(&folder.join(ORIGINALS), ABOUT_ORIGINALS)
}

/// Marks `folder` as one of results, if it holds nothing yet: in one that somebody keeps other things in, they would be passed
/// over as well.
///
/// # Errors
/// When the mark cannot be made.
pub(crate) fn mark_results(folder: &Path) -> io::Result<()> {
    if !holds_nothing(folder) {
        return Ok(());
    }
    mark(&results(folder), ABOUT_RESULTS)
}

/// Whether `folder` holds originals that were put aside, or results.
pub(crate) fn is_ours(folder: &Path) -> bool {
    [folder.join(ORIGINALS), results(folder)]
        .iter()
        .any(|mark| std::fs::symlink_metadata(mark).is_ok())
}

fn results(folder: &Path) -> PathBuf {
    folder.join(HOME).join(RESULTS)
}

/// Nothing but pressroom's own files, or not there at all.
fn holds_nothing(folder: &Path) -> bool {
    std::fs::read_dir(folder).map_or(true, |entries| {
        entries.flatten().all(|entry| entry.file_name() == HOME)
    })
}

fn mark(file: &Path, words: &str) -> io::Result<()> {
    if std::fs::symlink_metadata(file).is_ok() {
        return Ok(());
    }
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marked_folder_is_known_and_marking_it_again_changes_nothing() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("photos/originals");
        assert!(!is_ours(&folder));
        mark_originals(&folder).unwrap();
        std::fs::write(folder.join(ORIGINALS), "my own words").unwrap();
        mark_originals(&folder).unwrap();
        assert!(is_ours(&folder));
        assert!(!is_ours(folder.parent().unwrap()));
        assert_eq!(
            std::fs::read(folder.join(ORIGINALS)).unwrap(),
            b"my own words"
        );
    }

    #[test]
    fn only_a_folder_that_begins_empty_is_one_of_results() {
        let place = tempfile::tempdir().unwrap();
        let [fresh, used] = ["fresh", "used"].map(|name| place.path().join(name));
        mark_results(&fresh).unwrap();
        assert!(is_ours(&fresh));
        std::fs::create_dir(&used).unwrap();
        std::fs::write(used.join("theirs.jpg"), "a photo").unwrap();
        mark_results(&used).unwrap();
        assert!(!is_ours(&used));
    }
}
