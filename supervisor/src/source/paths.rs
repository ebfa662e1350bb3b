//! Small things about paths. Knows no inputs and no outputs.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The same paths, but of those that lie deepest the folders that hold them.
pub(super) fn without_deepest(paths: BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let depth = |path: &Path| path.components().count();
    let deepest = paths.iter().map(|path| depth(path)).max();
    let above = |path: PathBuf| match path.parent() {
        Some(folder) if Some(depth(&path)) == deepest => folder.to_owned(),
        Some(_) | None => path,
    };
    paths.into_iter().map(above).collect()
}

/// An absolute path without its leading slash.
pub(super) fn unrooted(path: &Path) -> PathBuf {
    path.strip_prefix("/").unwrap_or(path).to_owned()
}

/// Whether both exist and are one and the same.
pub(super) fn same_file(one: &Path, other: &Path) -> bool {
    let id = |path: &Path| {
        fs::metadata(path)
            .map(|metadata| (metadata.dev(), metadata.ino()))
            .ok()
    };
    id(one).is_some_and(|one| Some(one) == id(other))
}
