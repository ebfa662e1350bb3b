//! Whether the file a report is to be written to may be replaced: nothing, an empty file or an earlier report of its kind
//! may be, anything else is somebody's. `--json *.jpg` must not cost a photo.

use crate::filter;
use rustix::fs::{Access, AtFlags, CWD, accessat};
use std::fs::{File, FileType};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Bytes at the start of a file that tell whether it is a report.
const ENOUGH: u64 = 4096;

/// What is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `--json`
    Json,
    /// `--csv`
    Csv,
    /// `--html`
    Html,
    /// `--metrics`
    Metrics,
}

/// Something else stands there.
#[derive(Debug, thiserror::Error)]
pub enum Occupied {
    /// The name is that of an image.
    #[error(
        "{flag} {} has the name of an image: give the report a name of its own, and if it stands before a pattern of the \
         shell, put it after the inputs", path.display()
    )]
    ImageName {
        /// The option.
        flag: &'static str,
        /// Its file.
        path: PathBuf,
    },
    /// There is content that no earlier report can have.
    #[error(
        "{flag} {} would replace a file that is no earlier report of that kind: choose another name, or move the file away",
        path.display()
    )]
    Foreign {
        /// The option.
        flag: &'static str,
        /// Its file.
        path: PathBuf,
    },
    /// Its folder is not there.
    #[error("{flag} {}: there is no folder {}; make it, or name another file", path.display(), folder.display())]
    NoFolder {
        /// The option.
        flag: &'static str,
        /// Its file.
        path: PathBuf,
        /// What should hold it.
        folder: PathBuf,
    },
    /// It may not be written.
    #[error("{flag} {}: you may not write there ({source}); name another file, or have the rights changed", path.display())]
    Forbidden {
        /// The option.
        flag: &'static str,
        /// Its file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder, or something that cannot be replaced in one step.
    #[error("{flag} {} is {what}, not a file; name a file", path.display())]
    NotAFile {
        /// The option.
        flag: &'static str,
        /// What was named.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// Nobody can tell.
    #[error("{flag} {} cannot be looked at ({source}): choose another name", path.display())]
    Unreadable {
        /// The option.
        flag: &'static str,
        /// Its file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Whether a report of this kind could be written to `path` now. `made` is a folder that will be made before that.
///
/// # Errors
/// The folder is missing, the rights are, or it is no file.
pub fn reachable(path: &Path, kind: Kind, made: Option<&Path>) -> Result<(), Occupied> {
    let flag = kind.flag();
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = whole.parent().unwrap_or(&whole);
    let place = match std::fs::metadata(&whole) {
        Ok(found) => {
            if let Some(what) = kind.refused(found.file_type()) {
                let path = path.to_path_buf();
                return Err(Occupied::NotAFile { flag, path, what });
            }
            if kind.is_replaced() { folder } else { &whole }
        }
        Err(_) if made.is_some_and(|made| whole.starts_with(made)) => return Ok(()),
        Err(_) if !folder.is_dir() => {
            return Err(Occupied::NoFolder {
                flag,
                path: path.to_path_buf(),
                folder: folder.to_path_buf(),
            });
        }
        Err(_) => folder,
    };
    accessat(CWD, place, Access::WRITE_OK, AtFlags::EACCESS).map_err(|error| Occupied::Forbidden {
        flag,
        path: path.to_path_buf(),
        source: error.into(),
    })
}

/// Whether a report of this kind may be written to `path`. Pipes and devices hold nothing that could be lost.
pub fn check(path: &Path, kind: Kind) -> Result<(), Occupied> {
    let (flag, path) = (kind.flag(), path.to_path_buf());
    if filter::is_image_name(&path) {
        return Err(Occupied::ImageName { flag, path });
    }
    match begins_as(&path, kind) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Occupied::Foreign { flag, path }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(Occupied::Unreadable { flag, path, source }),
    }
}

fn begins_as(path: &Path, kind: Kind) -> io::Result<bool> {
    let found = std::fs::metadata(path)?;
    if !found.is_file() || found.len() == 0 {
        return Ok(true);
    }
    let mut start = Vec::new();
    File::open(path)?.take(ENOUGH).read_to_end(&mut start)?;
    Ok(kind.is_start(&start))
}

impl Kind {
    fn flag(self) -> &'static str {
        match self {
            Self::Json => "--json",
            Self::Csv => "--csv",
            Self::Html => "--html",
            Self::Metrics => "--metrics",
        }
    }

    /// Whether the file is replaced as a whole at the end, by a rename in its folder, and not written line by line.
    fn is_replaced(self) -> bool {
        match self {
            Self::Json | Self::Csv => false,
            Self::Html | Self::Metrics => true,
        }
    }

    /// What stands there and cannot be written to: lines may go into a pipe or a device, a whole may not replace one.
    fn refused(self, found: FileType) -> Option<&'static str> {
        if found.is_dir() {
            Some("a folder")
        } else if self.is_replaced() && !found.is_file() {
            Some("a pipe or a device")
        } else {
            None
        }
    }

    /// Reports of other versions count too, so only what is not going to change is looked at.
    fn is_start(self, start: &[u8]) -> bool {
        match self {
            Self::Json => start.starts_with(b"{\"schema\":"),
            Self::Csv => start.starts_with(b"path,"),
            Self::Html => {
                let text = String::from_utf8_lossy(start);
                text.starts_with("<!doctype html>") && text.contains("<title>pressroom")
            }
            Self::Metrics => start.starts_with(b"# HELP pressroom_"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{csv, html, json, metrics, samples};
    use super::*;

    const KINDS: [Kind; 4] = [Kind::Json, Kind::Csv, Kind::Html, Kind::Metrics];

    #[test]
    fn anything_but_an_earlier_report_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report");
        for kind in KINDS {
            assert!(check(&path, kind).is_ok(), "nothing there");
            assert!(check(Path::new("/dev/null"), kind).is_ok());
            for theirs in [
                "\u{ff}\u{d8}",
                "# Dear diary",
                "{}",
                "<!doctype html><title>mine",
            ] {
                std::fs::write(&path, theirs).unwrap();
                let error = check(&path, kind).unwrap_err().to_string();
                assert!(error.contains(&path.display().to_string()), "{error}");
            }
            std::fs::write(&path, "").unwrap();
            assert!(check(&path, kind).is_ok(), "empty");
            std::fs::remove_file(&path).unwrap();
            let photo = folder.path().join("photo.JPG");
            assert!(matches!(
                check(&photo, kind),
                Err(Occupied::ImageName { .. })
            ));
        }
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named_with_the_way_out() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        for kind in KINDS {
            assert!(reachable(&place("new"), kind, None).is_ok());
            let missing = reachable(&place("no/where"), kind, None).unwrap_err();
            assert!(matches!(missing, Occupied::NoFolder { .. }), "{missing}");
            let made = place("no");
            assert!(reachable(&place("no/where"), kind, Some(&made)).is_ok());
            let itself = reachable(folder.path(), kind, None).unwrap_err();
            assert!(
                itself.to_string().contains("a folder, not a file"),
                "{itself}"
            );
            let device = reachable(Path::new("/dev/null"), kind, None);
            assert_eq!(device.is_err(), kind.is_replaced(), "{kind:?}");
        }
    }

    #[test]
    fn a_report_of_ours_may_be_replaced_by_one_of_its_kind_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report");
        let (tally, facts) = (samples::tally(), samples::facts());
        let digest = html::Digest::new(true);
        let texts = [
            json::run(&tally, &facts),
            csv::HEAD.to_owned(),
            html::page(&digest, &[]),
            metrics::text(&tally, &facts),
        ];
        for (ours, text) in KINDS.into_iter().zip(&texts) {
            std::fs::write(&path, text).unwrap();
            for kind in KINDS {
                assert_eq!(
                    check(&path, kind).is_ok(),
                    kind == ours,
                    "{ours:?} {kind:?}"
                );
            }
        }
    }
}
