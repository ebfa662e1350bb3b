//! The ledger: one SQLite file that remembers what became of every input.
//!
//! It is what makes resuming, skipping what is unchanged, `--retry-failed` and the reports possible. One [`Writer`] (owned
//! by the recorder) and any number of [`Reader`]s look at it at once. It knows no publishing, no pool and no wording of
//! reports; [`words`] only gives the closed enums their names.
//!
//! Tables: see [`schema`]; for people who query it themselves, LEDGER.md.

mod entry;
mod error;
mod hash;
mod key;
mod previous;
mod reader;
mod recovery;
mod row;
mod schema;
pub mod words;
mod writer;

pub use entry::{Entry, Verdict};
pub use error::LedgerError;
pub(crate) use hash::Hasher;
pub use key::Keys;
pub use previous::{Known, Previous};
pub use reader::{Lookup, Reader};
pub(crate) use row::{Published, Row};
pub use schema::{BUILD, Done, HowEnded, Run, RunEnd, RunStart};
pub(crate) use writer::{Intent, Ours, Totals, Writer};

use std::path::{Path, PathBuf};

/// Where the ledger of an output folder (in place: of an input root) stands unless `--state` says otherwise.
pub fn default_path(output: &Path) -> PathBuf {
    output.join(".pressroom").join("ledger.db")
}

/// What tells the rows of one output folder from those of another in the same ledger file.
///
/// Inside its own output folder a ledger has one folder to speak of, and calls it by no name, so that the folder can be
/// moved. A ledger elsewhere (`--state`) may serve several output folders and keeps them apart by their path.
pub(crate) fn root_key(ledger: &Path, output: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    if ledger.starts_with(output) {
        Vec::new()
    } else {
        output.as_os_str().as_bytes().to_vec()
    }
}

#[cfg(test)]
mod tests;
