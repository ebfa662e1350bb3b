//! Whether a file or folder found on the way is taken. Decides on names only; pure.

use crate::cli::config::Selection;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Extensions of image files, in lower case. Which of them are compressed is for the worker to say, by content: a format
/// that is not supported is still reported by name instead of being passed over in silence.
const EXTENSIONS: [&str; 56] = [
    "jpg", "jpeg", "jpe", "jfif", "png", "apng", "webp", "gif", "tif", "tiff", "bmp", "dib", "qoi",
    "pbm", "pgm", "ppm", "pnm", "pam", "ico", "cur", "avif", "heic", "heif", "jxl", "jp2", "j2k",
    "psd", "3fr", "arw", "cr2", "cr3", "crw", "dcr", "dng", "erf", "iiq", "kdc", "mef", "mos",
    "mrw", "nef", "nrw", "orf", "pef", "raf", "raw", "rw2", "rwl", "sr2", "srf", "srw", "x3f",
    "hif", "jpx", "psb", "mpo",
];

/// The folder with pressroom's own files; never entered, not even with `--hidden`.
const OWN: &str = crate::cli::config::HOME;

/// What a name says about a file or folder found in a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is taken, or entered.
    Take,
    /// It is passed over and counted.
    Ignore,
}

/// Whether a file found in a walk is taken. `relative` is its path below the folder that was named.
pub fn file(selection: &Selection, relative: &Path) -> Verdict {
    let taken = !hidden(selection, relative)
        && is_image_name(relative)
        && chosen(selection, relative) == Verdict::Take;
    if taken {
        Verdict::Take
    } else {
        Verdict::Ignore
    }
}

/// Whether a folder found in a walk is entered. `relative` is its path below the folder that was named.
pub fn folder(selection: &Selection, relative: &Path) -> Verdict {
    let own = relative.file_name() == Some(OsStr::new(OWN));
    let entered = selection.recurse
        && !own
        && !hidden(selection, relative)
        && !matches(&selection.exclude, relative);
    if entered {
        Verdict::Take
    } else {
        Verdict::Ignore
    }
}

/// Whether the user's own patterns let a file pass, named or found; its extension does not matter.
pub fn chosen(selection: &Selection, relative: &Path) -> Verdict {
    let included = selection
        .include
        .as_ref()
        .is_none_or(|globs| matches(globs, relative));
    if included && !matches(&selection.exclude, relative) {
        Verdict::Take
    } else {
        Verdict::Ignore
    }
}

/// Whether a name ends like an image's.
pub fn is_image_name(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str);
    extension.is_some_and(|extension| {
        EXTENSIONS
            .iter()
            .any(|known| known.eq_ignore_ascii_case(extension))
    })
}

/// Compiles patterns. `*` does not cross a slash, `**` does; a pattern without a slash is tried on names at any depth.
///
/// # Errors
/// A pattern that cannot be read, with the pattern and the reason.
pub fn globs(patterns: &[String]) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let anchored = pattern
            .strip_prefix("./")
            .unwrap_or(pattern)
            .trim_end_matches('/');
        let deep = if anchored.contains('/') {
            anchored.to_owned()
        } else {
            format!("**/{anchored}")
        };
        let deep = deep.strip_prefix('/').unwrap_or(&deep);
        set.add(GlobBuilder::new(deep).literal_separator(true).build()?);
    }
    set.build()
}

fn matches(globs: &GlobSet, relative: &Path) -> bool {
    !globs.is_empty() && globs.is_match(relative)
}

fn hidden(selection: &Selection, relative: &Path) -> bool {
    let dotted = relative
        .file_name()
        .is_some_and(|name| name.as_bytes().starts_with(b"."));
    dotted && !selection.hidden
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(include: &[&str], exclude: &[&str]) -> Selection {
        let list = |patterns: &[&str]| {
            globs(
                &patterns
                    .iter()
                    .map(|text| (*text).to_owned())
                    .collect::<Vec<_>>(),
            )
            .unwrap()
        };
        Selection {
            include: (!include.is_empty()).then(|| list(include)),
            exclude: list(exclude),
            recurse: true,
            ..Selection::default()
        }
    }

    fn takes(selection: &Selection, path: &str) -> bool {
        file(selection, Path::new(path)) == Verdict::Take
    }

    #[test]
    fn images_are_known_by_extension_in_any_case() {
        let all = selection(&[], &[]);
        for name in [
            "a.jpg", "a.JPG", "b/c.Jpeg", "x.jfif", "x.JPE", "a.heic", "a.CR2", "a.b.png",
            "-rf.jpg", "100%.jpg", "a.psb", "a.jpx", "a.mpo",
        ] {
            assert!(takes(&all, name), "{name}");
        }
        for name in [
            "a.txt",
            "jpg",
            "a.jpg.bak",
            "Thumbs.db",
            "a.jpg~",
            "noextension",
            "a.",
        ] {
            assert!(!takes(&all, name), "{name}");
        }
        assert!(is_image_name(Path::new(OsStr::from_bytes(b"\xff\xfe.jpg"))));
    }

    #[test]
    fn hidden_names_need_to_be_asked_for() {
        let mut all = selection(&[], &[]);
        assert!(!takes(&all, ".a.jpg"));
        assert_eq!(folder(&all, Path::new("x/.cache")), Verdict::Ignore);
        all.hidden = true;
        assert!(takes(&all, ".a.jpg"));
        assert_eq!(folder(&all, Path::new("x/.cache")), Verdict::Take);
        assert_eq!(folder(&all, Path::new("x/.pressroom")), Verdict::Ignore);
    }

    #[test]
    fn patterns_without_a_slash_are_tried_on_names() {
        let some = selection(&["*.jpg"], &["IMG_1*"]);
        assert!(takes(&some, "a/b/c.jpg"));
        assert!(!takes(&some, "a/b/c.png"));
        assert!(!takes(&some, "a/IMG_1234.jpg"));
    }

    #[test]
    fn patterns_with_a_slash_are_tried_on_paths() {
        let some = selection(&[], &["raw/*.jpg", "/old/**"]);
        assert!(!takes(&some, "raw/a.jpg"));
        assert!(takes(&some, "raw/deep/a.jpg"));
        assert!(takes(&some, "x/raw/a.jpg"));
        assert!(!takes(&some, "old/deep/a.jpg"));
    }

    #[test]
    fn an_excluded_folder_is_not_entered_and_an_included_pattern_does_not_stop_the_walk() {
        let some = selection(&["*.jpg"], &["node_modules/"]);
        assert_eq!(folder(&some, Path::new("a/node_modules")), Verdict::Ignore);
        assert_eq!(folder(&some, Path::new("a")), Verdict::Take);
    }

    #[test]
    fn without_recursion_no_folder_is_entered() {
        let flat = Selection {
            recurse: false,
            ..selection(&[], &[])
        };
        assert_eq!(folder(&flat, Path::new("a")), Verdict::Ignore);
    }
}
