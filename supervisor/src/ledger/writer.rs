//! The one hand that writes: begins the run, notes what is about to be renamed, commits rows, closes the run.
//!
//! Two commits per batch. [`Writer::intend`] is synced to disk before the first rename and already holds the complete
//! rows; [`Writer::commit`] makes them final and need not be synced, because a lost one is rebuilt from the intents at the
//! next start (see [`super::recovery`]). So a batch costs one sync of the log, whatever its size.

use super::row::{Published, Row, bytes, columns};
use super::schema::{self, COLUMNS, HowEnded, RunEnd, RunStart};
use super::{Keys, LedgerError, Verdict, recovery, root_key, words};
use crate::task::Skip;
use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};
use std::path::{Path, PathBuf};

/// A result that is about to be renamed into place.
#[derive(Debug)]
pub(crate) struct Intent<'a> {
    /// The row it will get.
    pub(crate) row: &'a Row,
    /// Absolute path of the output.
    pub(crate) destination: &'a Path,
    /// Name beside it that is used where the staging folder lies on another file system.
    pub(crate) part: &'a Path,
    /// Second name the original gets first, where asked for.
    pub(crate) backup: Option<&'a Path>,
}

/// What the ledger knows of an output: that it is ours, and how it looked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ours {
    /// Run that spoke of it last.
    pub(crate) run: i64,
    /// Input it was made from.
    pub(crate) source: PathBuf,
    /// What became of that input.
    pub(crate) verdict: Verdict,
    /// What was put there, where anything was.
    pub(crate) published: Option<Published>,
}

/// Owns the writing connection.
#[derive(Debug)]
pub(crate) struct Writer {
    connection: Connection,
    path: PathBuf,
    root: Vec<u8>,
    keys: Keys,
    run: i64,
    covers: Vec<PathBuf>,
    upsert: String,
    note: String,
}

impl Writer {
    /// Opens the ledger, mends what a killed run left, and begins a run.
    pub(crate) fn open(path: &Path, output: &Path, start: &RunStart) -> Result<Self, LedgerError> {
        let mut connection = schema::open_for_writing(path)?;
        recovery::recover(&mut connection)
            .map_err(|source| LedgerError::of("repair", path, source))?;
        let run = begin(&connection, output, start)
            .map_err(|source| LedgerError::of("write", path, source))?;
        Ok(Self {
            connection,
            path: path.to_path_buf(),
            root: root_key(path, output),
            keys: Keys::of(&start.settings, &start.limits),
            run,
            covers: start.covers.clone(),
            upsert: upsert(),
            note: note(),
        })
    }

    /// Number of this run.
    pub(crate) fn run(&self) -> i64 {
        self.run
    }

    /// What is known of the output `target`.
    pub(crate) fn ours(&self, target: &Path) -> Result<Option<Ours>, LedgerError> {
        self.ours_in_sql(target)
            .map_err(|source| LedgerError::of("read", &self.path, source))
    }

    fn ours_in_sql(&self, target: &Path) -> rusqlite::Result<Option<Ours>> {
        self.connection
            .prepare_cached(
                "SELECT run, source, outcome, out_size, out_mtime_ns, out_hash FROM files WHERE root = ?1 AND path = ?2",
            )?
            .query_row(params![self.root, bytes(target)], |row| {
                let outcome = words::verdict_of(row.get_ref(2)?.as_str()?);
                Ok(Ours {
                    run: row.get(0)?,
                    source: super::row::path(row, 1)?,
                    verdict: outcome.ok_or(rusqlite::Error::InvalidQuery)?,
                    published: published(row, 3)?,
                })
            })
            .optional()
    }

    /// Writes down, for good, what is about to be renamed.
    pub(crate) fn intend(&mut self, intents: &[Intent<'_>]) -> Result<(), LedgerError> {
        self.intend_in_sql(intents)
            .map_err(|source| LedgerError::of("write", &self.path, source))
    }

    fn intend_in_sql(&mut self, intents: &[Intent<'_>]) -> rusqlite::Result<()> {
        schema::sync_every_commit(&self.connection, true)?;
        let transaction = self.connection.transaction()?;
        {
            let mut insert = transaction.prepare_cached(&self.note)?;
            for intent in intents {
                let own = columns(intent.row, &self.root, self.run, &self.keys);
                insert.execute(params_from_iter(
                    own.into_iter().chain([
                        ToSqlOutput::from(bytes(intent.destination)),
                        ToSqlOutput::from(bytes(intent.part)),
                        intent
                            .backup
                            .map_or(ToSqlOutput::Owned(Value::Null), |backup| {
                                bytes(backup).into()
                            }),
                    ]),
                ))?;
            }
        }
        transaction.commit()
    }

    /// Makes rows final, all or none, and forgets what was intended.
    pub(crate) fn commit(&mut self, rows: &[Row]) -> Result<(), LedgerError> {
        self.commit_in_sql(rows)
            .map_err(|source| LedgerError::of("write", &self.path, source))
    }

    fn commit_in_sql(&mut self, rows: &[Row]) -> rusqlite::Result<()> {
        schema::sync_every_commit(&self.connection, false)?;
        let transaction = self.connection.transaction()?;
        for row in rows {
            write(
                &transaction,
                row,
                &self.upsert,
                &self.root,
                self.run,
                &self.keys,
            )?;
        }
        transaction
            .prepare_cached("DELETE FROM pending")?
            .execute([])?;
        transaction.commit()
    }

    /// Closes the run and brings everything to disk.
    pub(crate) fn finish(&mut self, end: &RunEnd, totals: &Totals) -> Result<(), LedgerError> {
        self.finish_in_sql(end, totals)
            .map_err(|source| LedgerError::of("write", &self.path, source))
    }

    fn finish_in_sql(&mut self, end: &RunEnd, totals: &Totals) -> rusqlite::Result<()> {
        schema::sync_every_commit(&self.connection, true)?;
        self.connection.execute(
            "UPDATE runs SET ended = ?2, wall_ms = ?3, end = ?4, discovered = ?5, ignored = ?6, saved = ?7, kept = ?8,
                skipped = ?9, failed = ?10, interrupted = ?11, unchanged = ?12, failed_before = ?13,
                bytes_in = ?14, bytes_out = ?15, cpu_us = ?16, peak_rss = ?17, deaths = ?18, ignored_by = ?19 WHERE id = ?1",
            params![
                self.run,
                end.ended,
                end.wall_ms,
                end.how.name(),
                end.discovered,
                end.ignored.total(),
                totals.saved,
                totals.kept,
                totals.skipped,
                totals.failed,
                totals.interrupted,
                totals.unchanged,
                totals.failed_before,
                totals.bytes_in,
                totals.bytes_out,
                totals.cpu_us,
                totals.peak_rss,
                totals.deaths,
                words::passed_over(&end.ignored),
            ],
        )?;
        if end.how == HowEnded::Finished {
            self.forget_refusals()?;
        }
        // Leaves one file behind instead of three; a reader in the way only makes it smaller later.
        self.connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    }
}

impl Writer {
    /// Inputs that were refused before they had an output have rows under their own paths. Those that this run looked for
    /// and did not refuse again are gone, or readable by now.
    fn forget_refusals(&self) -> rusqlite::Result<()> {
        let mut forget = self.connection.prepare(
            "DELETE FROM files WHERE root = ?1 AND run <> ?2 AND outcome = 'failed' AND path = source
                AND (path = ?3 OR (path >= ?4 AND path < ?5))",
        )?;
        for covered in &self.covers {
            let path = bytes(covered);
            let below = [path, if path.ends_with(b"/") { b"" } else { b"/" }].concat();
            let behind = [&below[..below.len() - 1], b"0"].concat();
            forget.execute(params![self.root, self.run, path, below, behind])?;
        }
        Ok(())
    }
}

/// The sums of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) saved: u64,
    pub(crate) kept: u64,
    pub(crate) skipped: u64,
    pub(crate) failed: u64,
    pub(crate) interrupted: u64,
    pub(crate) unchanged: u64,
    pub(crate) failed_before: u64,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    pub(crate) cpu_us: u64,
    pub(crate) peak_rss: u64,
    pub(crate) deaths: u64,
}

pub(super) fn published(
    row: &rusqlite::Row<'_>,
    first: usize,
) -> rusqlite::Result<Option<Published>> {
    let size: Option<u64> = row.get(first)?;
    let mtime_ns: Option<i64> = row.get(first + 1)?;
    let hash: Option<i64> = row.get(first + 2)?;
    Ok(size.zip(mtime_ns).map(|(size, mtime_ns)| Published {
        size,
        mtime_ns,
        hash: hash.map(i64::cast_unsigned),
    }))
}

fn begin(connection: &Connection, output: &Path, start: &RunStart) -> rusqlite::Result<i64> {
    schema::sync_every_commit(connection, false)?;
    connection.execute(
        "INSERT INTO runs (build, command, output, settings, limits, workers, started) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            schema::BUILD,
            start.command,
            bytes(output),
            serde_json::to_string(&start.settings).unwrap_or_default(),
            serde_json::to_string(&start.limits).unwrap_or_default(),
            start.workers,
            start.started,
        ],
    )?;
    Ok(connection.last_insert_rowid())
}

/// Skips leave the earlier row as it is, and an interruption leaves what is known of the output as it is.
fn write(
    connection: &Connection,
    row: &Row,
    upsert: &str,
    root: &[u8],
    run: i64,
    keys: &Keys,
) -> rusqlite::Result<()> {
    match row.entry.verdict {
        Verdict::Saved | Verdict::Kept | Verdict::Failed | Verdict::Interrupted => {}
        Verdict::Skipped
            if [Skip::Exists, Skip::OutputChanged]
                .map(words::skip)
                .contains(&&*row.entry.reason) => {}
        Verdict::Skipped if row.entry.reason == words::skip(Skip::FailedBefore) => {
            return connection
                .prepare_cached("UPDATE files SET run = ?3 WHERE root = ?1 AND path = ?2")?
                .execute(params![root, bytes(&row.entry.target), run])
                .map(|_| ());
        }
        Verdict::Skipped => return Ok(()),
    }
    connection
        .prepare_cached(upsert)?
        .execute(params_from_iter(columns(row, root, run, keys)))
        .map(|_| ())
}

/// Everything is replaced, except that an attempt without an output leaves what is known of the one that stands there, as
/// far as that was made from the same input: the row speaks of one input, and an output of another is not its own.
fn upsert() -> String {
    let names: Vec<&str> = COLUMNS.split(',').map(str::trim).collect();
    let marks = vec!["?"; names.len()].join(", ");
    let sets: Vec<String> = names
        .iter()
        .skip(2)
        .map(|name| {
            if name.starts_with("out_") {
                format!(
                    "{name} = CASE WHEN excluded.source = files.source
                        THEN COALESCE(excluded.{name}, files.{name}) ELSE excluded.{name} END"
                )
            } else {
                format!("{name} = excluded.{name}")
            }
        })
        .collect();
    format!(
        "INSERT INTO files ({COLUMNS}) VALUES ({marks}) ON CONFLICT (root, path) DO UPDATE SET {}",
        sets.join(", ")
    )
}

fn note() -> String {
    let marks = vec!["?"; COLUMNS.split(',').count() + 3].join(", ");
    format!(
        "INSERT OR REPLACE INTO pending ({COLUMNS}, destination, part, backup) VALUES ({marks})"
    )
}
