//! Whether the file a report is to be written to may be replaced: nothing, an empty file or an earlier report of its kind
//! may be, anything else is somebody's. `--json *.jpg` must not cost a photo.

use crate::filter;
use std::fs::File;
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
