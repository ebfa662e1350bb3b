//! Replaces a file in one step, so that whoever reads it sees the old one or the new one and never half of either.

use std::io::{self, Write};
use std::path::Path;

/// Puts `text` at `path`.
pub(super) fn file(path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    // Collectors of metrics read only names that end in .prom, so the unfinished file ends in something else.
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = std::fs::File::create(&temporary)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        // What cannot be removed is a stray file with a telling name.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_replaced_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pressroom.prom");
        file(&path, "old").unwrap();
        file(&path, "new").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(file(Path::new("/nowhere/x.prom"), "new").is_err());
    }
}
