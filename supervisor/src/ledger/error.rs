//! What can go wrong with the ledger, in words a user can act on.

use rusqlite::ErrorCode;
use std::path::{Path, PathBuf};

/// The ledger cannot be used. Never about one image: it is the whole run that cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The folder for it cannot be made.
    #[error("could not create the folder {} for the ledger: {source}; check who may write there, or put it elsewhere with --state FILE", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is damaged or no ledger at all.
    #[error(
        "the ledger {} is damaged ({source}); move it away and run again: every image is then done once more, and outputs that come out the same are left as they are",
        path.display()
    )]
    Corrupt {
        /// The ledger.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// A newer version of this program wrote it.
    #[error(
        "the ledger {} was written by a newer version (format {found}, this version knows {known}); use that version, or another ledger with --state FILE",
        path.display()
    )]
    Newer {
        /// The ledger.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format known here.
        known: i64,
    },
    /// It holds things that this program never puts there.
    #[error(
        "the ledger {} holds a {what}, which pressroom never makes: it was changed by somebody, or is no ledger; move it away and run again",
        path.display()
    )]
    Strange {
        /// The ledger.
        path: PathBuf,
        /// Kind and name of the first such thing.
        what: String,
    },
    /// Another name of the same file would be written to as well.
    #[error(
        "the ledger {} is a link or has other names (hard links): put a copy in its place, or name another with --state FILE",
        path.display()
    )]
    Linked {
        /// The ledger.
        path: PathBuf,
    },
    /// Another program holds it.
    #[error(
        "the ledger {} is held by another program; wait for it to end or close it, then run again",
        path.display()
    )]
    Busy {
        /// The ledger.
        path: PathBuf,
    },
    /// No room.
    #[error("no room on disk to write the ledger {}; free some space and run again", path.display())]
    Full {
        /// The ledger.
        path: PathBuf,
    },
    /// The place does not allow it.
    #[error(
        "could not {doing} the ledger {}: {source}; if its file system is read-only or does not support SQLite, put it elsewhere with --state FILE",
        path.display()
    )]
    Database {
        /// What was being done, e.g. "open".
        doing: &'static str,
        /// The ledger.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
}

impl LedgerError {
    /// Sorts what SQLite said into what a user can do about it.
    pub(crate) fn of(doing: &'static str, path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_path_buf();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Corrupt { path, source }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(ErrorCode::DiskFull) => Self::Full { path },
            _ => Self::Database {
                doing,
                path,
                source,
            },
        }
    }
}
