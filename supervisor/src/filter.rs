//! Whether a file or folder found on the way is taken. Decides on names only, and says where a name does not tell; pure.

use crate::cli::config::Selection;
use crate::passed::Passed;
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

/// Extensions, in lower case, of what lies beside pictures and is none: not even opened. Half of a download belongs to them.
const OTHERS: [&str; 78] = [
    "7z",
    "3gp",
    "aac",
    "aae",
    "aup",
    "avi",
    "bin",
    "c",
    "cfg",
    "conf",
    "crdownload",
    "css",
    "csv",
    "db",
    "dll",
    "doc",
    "docx",
    "download",
    "epub",
    "exe",
    "flac",
    "flv",
    "gz",
    "h",
    "htm",
    "html",
    "ics",
    "ini",
    "iso",
    "jar",
    "java",
    "js",
    "json",
    "lnk",
    "lock",
    "log",
    "lrv",
    "m4a",
    "m4v",
    "md",
    "mkv",
    "mov",
    "mp3",
    "mp4",
    "mpeg",
    "mpg",
    "mts",
    "odt",
    "ogg",
    "on1",
    "part",
    "partial",
    "pdf",
    "pp3",
    "ppt",
    "pptx",
    "py",
    "rar",
    "rs",
    "rtf",
    "sh",
    "so",
    "sqlite",
    "svg",
    "tar",
    "thm",
    "tmp",
    "toml",
    "txt",
    "url",
    "wav",
    "webm",
    "wmv",
    "xls",
    "xlsx",
    "xml",
    "xmp",
    "zip",
];

/// The folder with pressroom's own files; never entered, not even with `--hidden`.
const OWN: &str = crate::cli::config::HOME;

/// What the name of a file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByName {
    /// It is taken.
    Picture,
    /// It can be anything; its first bytes tell.
    Anything,
    /// It is passed over.
    Passed(Passed),
}

/// Whether a file found in a walk is taken. `relative` is its path below the folder that was named.
pub fn file(selection: &Selection, relative: &Path) -> ByName {
    if hidden(selection, relative) {
        return ByName::Passed(Passed::Hidden);
    }
    if !chosen(selection, relative) {
        return ByName::Passed(Passed::Excluded);
    }
    if is_image_name(relative) {
        return ByName::Picture;
    }
    if selection.by_name || ends_as(relative, &OTHERS) {
        return ByName::Passed(Passed::NotPicture);
    }
    ByName::Anything
}

/// Why a folder found in a walk is not entered; `relative` is its path below the folder that was named. Nothing where it is
/// entered.
pub fn folder(selection: &Selection, relative: &Path) -> Option<Passed> {
    if is_own(relative) {
        Some(Passed::Ours)
    } else if hidden(selection, relative) {
        Some(Passed::Hidden)
    } else if !selection.recurse || matches(&selection.exclude, relative) {
        Some(Passed::Excluded)
    } else {
        None
    }
}

/// Whether it is the folder of pressroom's own files, of which nobody needs to be told.
pub fn is_own(path: &Path) -> bool {
    path.file_name() == Some(OsStr::new(OWN))
}

/// Whether the user's own patterns let a file pass, named or found; its extension does not matter.
pub fn chosen(selection: &Selection, relative: &Path) -> bool {
    let included = selection
        .include
        .as_ref()
        .is_none_or(|globs| matches(globs, relative));
    included && !matches(&selection.exclude, relative)
}

/// Whether a name ends like an image's.
pub fn is_image_name(path: &Path) -> bool {
    ends_as(path, &EXTENSIONS)
}

/// Whether a name leaves open that the picture is of a format that is only recognised, never converted.
pub fn may_be_foreign(path: &Path) -> bool {
    const CONVERTED: [&str; 16] = [
        "jpg", "jpeg", "jpe", "jfif", "png", "apng", "webp", "gif", "tif", "tiff", "bmp", "dib",
        "qoi", "pgm", "ppm", "pnm",
    ];
    !ends_as(path, &CONVERTED)
}

fn ends_as(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().and_then(OsStr::to_str);
    extension.is_some_and(|extension| {
        extensions
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
        file(selection, Path::new(path)) == ByName::Picture
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
        for name in ["IMG_0001", "a.jpg~", "a.jpg.bak", "scan.2024", "a."] {
            assert_eq!(file(&all, Path::new(name)), ByName::Anything, "{name}");
        }
        let by_name = Selection {
            by_name: true,
            ..selection(&[], &[])
        };
        let not = ByName::Passed(Passed::NotPicture);
        assert_eq!(file(&by_name, Path::new("IMG_0001")), not);
        for name in ["a.txt", "a.XMP", "a.jpg.crdownload"] {
            assert_eq!(file(&all, Path::new(name)), not, "{name}");
        }
        assert!(is_image_name(Path::new(OsStr::from_bytes(b"\xff\xfe.jpg"))));
    }

    #[test]
    fn hidden_names_need_to_be_asked_for() {
        let mut all = selection(&[], &[]);
        assert!(!takes(&all, ".a.jpg"));
        assert_eq!(folder(&all, Path::new("x/.cache")), Some(Passed::Hidden));
        all.hidden = true;
        assert!(takes(&all, ".a.jpg"));
        assert_eq!(folder(&all, Path::new("x/.cache")), None);
        assert_eq!(folder(&all, Path::new("x/.pressroom")), Some(Passed::Ours));
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
        assert_eq!(
            folder(&some, Path::new("a/node_modules")),
            Some(Passed::Excluded)
        );
        assert_eq!(folder(&some, Path::new("a")), None);
    }

    #[test]
    fn without_recursion_no_folder_is_entered() {
        let flat = Selection {
            recurse: false,
            ..selection(&[], &[])
        };
        assert_eq!(folder(&flat, Path::new("a")), Some(Passed::Excluded));
    }
}
