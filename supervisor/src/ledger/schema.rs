//! The tables, how they are opened and how they grow.
//!
//! `runs`: one row per run. `ended_ms` is NULL while a run goes on, and stays NULL where it was killed. `settings` and
//! `limits` are JSON for people to read, and so is `ignored_by`: numbers of files passed over by kind. Times in `started` and `ended` are milliseconds since 1970 in UTC.
//!
//! `files`: one row per output, the latest word on it. `path` is the output relative to its folder and `source` the input,
//! both as the exact bytes (`CAST(path AS TEXT)` shows them). `root` is empty, except in a ledger put elsewhere with
//! `--state`, where it holds the output folder. `size`, `mtime_ns`, `dev` and `ino` are the input as it stands after the
//! run (in place that is the result). `bytes_in` and `bytes_out` are what the reports count. `out_size`, `out_mtime_ns`
//! and `out_hash` (XXH64) describe what this program last put at the destination, and are kept when a later attempt fails.
//! `outcome` is one of saved, kept, skipped, failed, interrupted; `reason` has the names of `--json`; `warnings` is a JSON
//! array of texts.
//!
//! `pending`: rows of results that are just being renamed into place; empty unless a run was killed at that very moment.

use super::LedgerError;
use crate::passed::PassedOver;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Number of this format, kept in `PRAGMA user_version`.
pub(crate) const VERSION: i64 = 1;

/// The columns that `files` and `pending` share, in the order in which rows are written and read.
pub(super) const COLUMNS: &str = "root, path, source, run, size, mtime_ns, dev, ino, settings_key, attempt_key, \
    outcome, reason, message, warnings, format, bytes_in, bytes_out, out_size, out_mtime_ns, out_hash, \
    width, height, quality, cpu_us, wall_us, peak_rss, deaths, seat, started_ms, ended_ms";

const FILE_COLUMNS: &str = "
    root BLOB NOT NULL, path BLOB NOT NULL, source BLOB NOT NULL, run INTEGER NOT NULL,
    size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, dev INTEGER NOT NULL, ino INTEGER NOT NULL,
    settings_key INTEGER NOT NULL, attempt_key INTEGER NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('saved', 'kept', 'skipped', 'failed', 'interrupted')),
    reason TEXT NOT NULL, message TEXT NOT NULL, warnings TEXT, format TEXT,
    bytes_in INTEGER NOT NULL, bytes_out INTEGER,
    out_size INTEGER, out_mtime_ns INTEGER, out_hash INTEGER,
    width INTEGER, height INTEGER, quality INTEGER,
    cpu_us INTEGER NOT NULL, wall_us INTEGER NOT NULL, peak_rss INTEGER NOT NULL,
    deaths INTEGER NOT NULL, seat INTEGER, started_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL";

const RUNS: &str = "CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    build TEXT NOT NULL, command TEXT NOT NULL, output BLOB NOT NULL,
    settings TEXT NOT NULL, limits TEXT NOT NULL, workers INTEGER NOT NULL,
    started INTEGER NOT NULL, ended INTEGER, wall_ms INTEGER, end TEXT,
    discovered INTEGER, saved INTEGER, kept INTEGER, skipped INTEGER, failed INTEGER, interrupted INTEGER,
    unchanged INTEGER, failed_before INTEGER, ignored INTEGER, ignored_by TEXT,
    bytes_in INTEGER, bytes_out INTEGER, cpu_us INTEGER, peak_rss INTEGER, deaths INTEGER)";

/// What is known when a run starts.
#[derive(Debug, Clone, PartialEq)]
pub struct RunStart {
    /// Milliseconds since 1970.
    pub started: u64,
    /// The command line, for people to recognise the run by.
    pub command: String,
    /// What the user asked for.
    pub settings: pressroom_shared::Settings,
    /// What a worker may use.
    pub limits: pressroom_shared::Limits,
    /// Workers the run was started with.
    pub workers: u32,
    /// Files and folders that it looks through from end to end.
    pub covers: Vec<PathBuf>,
}

/// What is known when a run ends, apart from what the rows themselves tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunEnd {
    /// Milliseconds since 1970.
    pub ended: u64,
    /// Wall time of the run in milliseconds.
    pub wall_ms: u64,
    /// Why it ended.
    pub how: HowEnded,
    /// Inputs found; every one of them has an ending.
    pub discovered: u64,
    /// Files and folders passed over because they are no business of this run, by kind.
    pub ignored: PassedOver,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HowEnded {
    /// Everything found was dealt with.
    Finished,
    /// `--run-for` was over.
    TimeUp,
    /// `--max-fail` was reached.
    TooManyFailures,
    /// A signal.
    Signal,
    /// The disk was full.
    DiskFull,
    /// The tool could not go on.
    Broken,
}

impl HowEnded {
    /// Name for scripts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::TimeUp => "time_up",
            Self::TooManyFailures => "too_many_failures",
            Self::Signal => "signal",
            Self::DiskFull => "disk_full",
            Self::Broken => "broken",
        }
    }

    /// The ending of a name.
    pub fn of(name: &str) -> Option<Self> {
        [
            Self::Finished,
            Self::TimeUp,
            Self::TooManyFailures,
            Self::Signal,
            Self::DiskFull,
            Self::Broken,
        ]
        .into_iter()
        .find(|how| how.name() == name)
    }
}

/// A row of `runs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Number of the run in this ledger, counted from 1.
    pub id: i64,
    /// Version that ran.
    pub build: String,
    /// Its command line.
    pub command: String,
    /// Output folder (in place: input root).
    pub output: PathBuf,
    /// What the user asked for, as JSON.
    pub settings: String,
    /// What a worker might use, as JSON.
    pub limits: String,
    /// Workers it was started with.
    pub workers: u32,
    /// Milliseconds since 1970.
    pub started: u64,
    /// How it ended; `None` where it goes on still or was killed.
    pub end: Option<RunEnd>,
    /// Inputs an earlier run had done already.
    pub unchanged: u64,
    /// Inputs that failed in an earlier run and were left alone.
    pub failed_before: u64,
    /// Its sums when it ended: the rows of images that a later run did again are rows of that run now.
    pub done: Done,
}

/// What a run had done when it ended; nothing where it goes on still or was killed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    /// Smaller pictures written.
    pub saved: u64,
    /// Originals kept.
    pub kept: u64,
    /// Inputs that failed.
    pub failed: u64,
    /// Bytes of inputs that had an output.
    pub bytes_in: u64,
    /// Bytes of those outputs.
    pub bytes_out: u64,
}

impl Done {
    /// Images it dealt with.
    pub fn images(&self) -> u64 {
        self.saved + self.kept + self.failed
    }
}

impl Run {
    /// Memory cap per worker in bytes, where its limits can still be read.
    pub fn memory(&self) -> Option<u64> {
        let limits: serde_json::Value = serde_json::from_str(&self.limits).ok()?;
        limits.get("memory")?.as_u64()
    }
}

/// The name and version of this program, as runs are marked with it.
pub const BUILD: &str = concat!("pressroom ", env!("CARGO_PKG_VERSION"));

/// Opens the ledger for writing and brings its tables up to this version.
pub(super) fn open_for_writing(path: &Path) -> Result<Connection, LedgerError> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|source| LedgerError::Folder {
            path: folder.to_path_buf(),
            source,
        })?;
    }
    let wrap = |source| LedgerError::of("open", path, source);
    refuse_link(path)?;
    let mut connection = Connection::open(path).map_err(wrap)?;
    distrust(&connection, path)?;
    settle(&connection).map_err(wrap)?;
    upgrade(&mut connection, path)?;
    Ok(connection)
}

/// Opens an existing ledger for reading.
pub(super) fn open_for_reading(path: &Path) -> Result<Connection, LedgerError> {
    let wrap = |source| LedgerError::of("open", path, source);
    let (connection, found) = shared(path)
        .or_else(|error| frozen(path).map_err(|_| error))
        .map_err(wrap)?;
    if found > VERSION {
        return Err(newer(path, found));
    }
    distrust(&connection, path)?;
    connection
        .pragma_update(None, "query_only", true)
        .map_err(wrap)?;
    Ok(connection)
}

/// A ledger that may be written at the same time, and its version.
fn shared(path: &Path) -> rusqlite::Result<(Connection, i64)> {
    // Not read-only: a reader of a WAL database must be able to make the shared-memory file beside it.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    let found = version(&connection)?;
    Ok((connection, found))
}

/// A ledger that cannot be written (another user's, or on a read-only file system), and its version. Without a log that a
/// writer left behind the file itself is whole, and SQLite is told that nobody will change it.
fn frozen(path: &Path) -> rusqlite::Result<(Connection, i64)> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if std::fs::metadata(log).is_ok_and(|log| log.len() > 0) {
        return Err(rusqlite::Error::InvalidPath(path.to_path_buf()));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(immutable(path), flags)?;
    let found = version(&connection)?;
    Ok((connection, found))
}

/// The path as SQLite's URI for a file that does not change.
fn immutable(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri + "?immutable=1"
}

/// How long to wait for another program's hold on the file.
const PATIENCE: Duration = Duration::from_secs(5);

/// A ledger may be found among a stranger's files. Nothing that somebody wrote into its schema is run, and one that holds
/// more than our tables is not ours.
fn distrust(connection: &Connection, path: &Path) -> Result<(), LedgerError> {
    let wrap = |source| LedgerError::of("open", path, source);
    connection
        .pragma_update(None, "trusted_schema", false)
        .and_then(|()| connection.pragma_update(None, "cell_size_check", true))
        .and_then(|()| connection.busy_timeout(PATIENCE))
        .map_err(wrap)?;
    let strange: Option<String> = connection
        .query_row(
            "SELECT type || ' ' || name FROM sqlite_schema WHERE type IN ('trigger', 'view')
                OR sql LIKE 'CREATE VIRTUAL%' OR sql LIKE '%GENERATED%' LIMIT 1",
            [],
            |row| row.get(0),
        )
        .optional()
        .map_err(wrap)?;
    match strange {
        None => Ok(()),
        Some(what) => Err(LedgerError::Strange {
            path: path.to_path_buf(),
            what: what.chars().filter(|c| !c.is_control()).take(100).collect(),
        }),
    }
}

/// What a link in the ledger's place leads to is not ours to write.
fn refuse_link(path: &Path) -> Result<(), LedgerError> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() || found.nlink() > 1 => Err(LedgerError::Linked {
            path: path.to_path_buf(),
        }),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn settle(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(32);
    // WAL: the walk reads while the recorder writes.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    sync_every_commit(connection, true)?;
    connection.pragma_update(None, "cache_size", -4096)
}

/// FULL syncs the log at every commit, NORMAL only at checkpoints (what is lost then in a power cut is the end of the log,
/// never its order). The writer says per commit which one it needs.
pub(super) fn sync_every_commit(connection: &Connection, on: bool) -> rusqlite::Result<()> {
    connection
        .prepare_cached(if on {
            "PRAGMA synchronous = FULL"
        } else {
            "PRAGMA synchronous = NORMAL"
        })?
        .execute([])
        .map(|_| ())
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn newer(path: &Path, found: i64) -> LedgerError {
    LedgerError::Newer {
        path: path.to_path_buf(),
        found,
        known: VERSION,
    }
}

fn upgrade(connection: &mut Connection, path: &Path) -> Result<(), LedgerError> {
    let wrap = |source| LedgerError::of("open", path, source);
    let found = version(connection).map_err(wrap)?;
    if found > VERSION {
        return Err(newer(path, found));
    }
    if found == VERSION {
        return add_columns(connection).map_err(wrap);
    }
    let transaction = connection.transaction().map_err(wrap)?;
    transaction.execute_batch(&first_version()).map_err(wrap)?;
    transaction
        .pragma_update(None, "user_version", VERSION)
        .map_err(wrap)?;
    transaction.commit().map_err(wrap)
}

/// Columns that came later within this version.
fn add_columns(connection: &Connection) -> rusqlite::Result<()> {
    if has_ignored_by(connection)? {
        return Ok(());
    }
    connection.execute_batch("ALTER TABLE runs ADD COLUMN ignored_by TEXT")
}

/// Whether the ledger says why files were passed over; one of an earlier program does not.
pub(super) fn has_ignored_by(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row(
        "SELECT count(*) > 0 FROM pragma_table_info('runs') WHERE name = 'ignored_by'",
        [],
        |row| row.get(0),
    )
}

fn first_version() -> String {
    format!(
        "{RUNS};
        CREATE TABLE files ({FILE_COLUMNS}, PRIMARY KEY (root, path)) WITHOUT ROWID;
        CREATE TABLE pending ({FILE_COLUMNS}, destination BLOB NOT NULL, part BLOB NOT NULL, backup BLOB,
            PRIMARY KEY (root, path)) WITHOUT ROWID;"
    )
}

#[cfg(test)]
mod tests;
