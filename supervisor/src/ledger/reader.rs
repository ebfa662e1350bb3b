//! Reads the ledger while another thread writes it: "was this done before?" for the walk, rows for the reports.

use super::previous::{Output, is_foreign, judge, mtime_ns, same_input};
use super::recovery::hash_of;
use super::row::{self, bytes, path};
use super::schema::{self, Done, HowEnded, Run, RunEnd};
use super::writer::published;
use super::{Entry, Keys, Known, LedgerError, Previous, Verdict, root_key, words};
use crate::plan::kept_place;
use crate::task::{Skip, Task};
use pressroom_shared::Identity;
use rusqlite::{Connection, OptionalExtension, params};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where the output of an earlier run stands: an original that was kept has its own extension.
fn place(known: &Known, task: &Task) -> PathBuf {
    match known.verdict {
        Verdict::Kept => kept_place(task).destination,
        Verdict::Saved | Verdict::Skipped | Verdict::Failed | Verdict::Interrupted => {
            task.destination.clone()
        }
    }
}

/// How the walk looks at what is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lookup {
    /// Keys of this run.
    pub keys: Keys,
    /// `--recheck`: compare the input's device and inode too, and read every output again to compare its content. A
    /// result that is no longer what was written is damaged and is made again.
    pub recheck: bool,
    /// `--retry-failed`: failed inputs are tried again although nothing changed.
    pub retry_failed: bool,
    /// `--overwrite never`: an output that is known not to be ours is left alone without any work, and that is no failure.
    pub leave_foreign: bool,
}

/// A reading connection. It may be moved to another thread, and any number of them may be open.
#[derive(Debug)]
pub struct Reader {
    connection: Connection,
    path: PathBuf,
    /// Whose rows are meant; `None` for all there are.
    root: Option<Vec<u8>>,
}

impl Reader {
    /// Opens an existing ledger; `output` is the output folder (in place: the input root) whose rows are meant.
    pub fn open(path: &Path, output: &Path) -> Result<Self, LedgerError> {
        Ok(Self {
            connection: schema::open_for_reading(path)?,
            path: path.to_path_buf(),
            root: Some(root_key(path, output)),
        })
    }

    /// Opens an existing ledger for a report over every output folder in it.
    pub fn open_whole(path: &Path) -> Result<Self, LedgerError> {
        Ok(Self {
            connection: schema::open_for_reading(path)?,
            path: path.to_path_buf(),
            root: None,
        })
    }

    /// Whether `task` needs no work, and why. `None`: it is to be done.
    pub fn skip(&self, task: &Task, lookup: &Lookup) -> Result<Option<Skip>, LedgerError> {
        match self.previous(task, &lookup.keys, lookup.recheck)? {
            Previous::Unchanged => Ok(Some(Skip::Unchanged)),
            Previous::FailedBefore if !lookup.retry_failed => Ok(Some(Skip::FailedBefore)),
            Previous::FailedBefore | Previous::Never | Previous::Changed => {
                if lookup.leave_foreign {
                    self.foreign(task, lookup)
                } else {
                    Ok(None)
                }
            }
        }
    }

    /// Whether what stands at `task`'s source is no original but the result of an earlier run in place. A ledger that cannot be
    /// read does not know.
    pub fn is_result(&self, task: &Task) -> bool {
        task.destination == task.source
            && self
                .known(&task.target)
                .ok()
                .flatten()
                .is_some_and(|known| {
                    known.verdict == Verdict::Saved
                        && same_input(known.identity, task.identity, false)
                })
    }

    /// What earlier runs say about `task`. About 10 microseconds where nothing changed; `recheck` reads the output.
    pub fn previous(
        &self,
        task: &Task,
        keys: &Keys,
        recheck: bool,
    ) -> Result<Previous, LedgerError> {
        let Some(known) = self.known(&task.target)? else {
            return Ok(Previous::Never);
        };
        let output = look(&place(&known, task), recheck);
        Ok(judge(&known, task.identity, keys, output, recheck))
    }

    /// Why an output that would not be replaced stays as it is, where that is known before any work.
    fn foreign(&self, task: &Task, lookup: &Lookup) -> Result<Option<Skip>, LedgerError> {
        if task.destination == task.source {
            return Ok(None);
        }
        let Some(known) = self.known(&task.target)? else {
            return Ok(None);
        };
        if lookup.recheck && known.published.is_some() {
            return Ok(None);
        }
        let Ok(found) = std::fs::symlink_metadata(place(&known, task)) else {
            return Ok(None);
        };
        let (size, mtime_ns) = (found.len(), mtime_ns(&found));
        let foreign = is_foreign(&known, task.identity, &lookup.keys, size, mtime_ns);
        let made = known.published.is_some() && known.source == task.source && found.is_file();
        let skip = if made {
            Skip::OutputChanged
        } else {
            Skip::Exists
        };
        Ok(foreign.then_some(skip))
    }

    fn known(&self, target: &Path) -> Result<Option<Known>, LedgerError> {
        self.known_in_sql(target)
            .map_err(|source| LedgerError::of("read", &self.path, source))
    }

    fn known_in_sql(&self, target: &Path) -> rusqlite::Result<Option<Known>> {
        self.connection
            .prepare_cached(
                "SELECT outcome, reason, size, mtime_ns, dev, ino, settings_key, attempt_key, out_size, out_mtime_ns, out_hash,
                    source
                 FROM files WHERE root = ?1 AND path = ?2",
            )?
            .query_row(params![self.root, bytes(target)], known)
            .optional()
    }

    /// The latest `count` runs, latest first.
    pub fn runs(&self, count: u32) -> Result<Vec<Run>, LedgerError> {
        self.runs_in_sql(count)
            .map_err(|source| LedgerError::of("read", &self.path, source))
    }

    fn runs_in_sql(&self, count: u32) -> rusqlite::Result<Vec<Run>> {
        // A ledger of an earlier program, which nobody may write to, has no such column.
        let ignored_by = if schema::has_ignored_by(&self.connection)? {
            "ignored_by"
        } else {
            "NULL"
        };
        self.connection
            .prepare_cached(&format!(
                "SELECT id, build, command, output, settings, limits, workers, started, ended, wall_ms, end, discovered,
                    ignored, unchanged, failed_before, saved, kept, failed, bytes_in, bytes_out, {ignored_by} FROM runs
                 WHERE ?1 IS NULL OR ?1 = x'' OR output = ?1 ORDER BY id DESC LIMIT ?2",
            ))?
            .query_map(params![self.root, count], run)?
            .collect()
    }

    /// Hands every row that run number `run` wrote, or where `None` every row there is, to `take`, in order of paths.
    pub fn entries(
        &self,
        run: Option<i64>,
        take: &mut dyn FnMut(Entry),
    ) -> Result<(), LedgerError> {
        self.entries_in_sql(run, take)
            .map_err(|source| LedgerError::of("read", &self.path, source))
    }

    fn entries_in_sql(
        &self,
        run: Option<i64>,
        take: &mut dyn FnMut(Entry),
    ) -> rusqlite::Result<()> {
        let mut select = self.connection.prepare_cached(&format!(
            "SELECT {} FROM files WHERE (?1 IS NULL OR root = ?1) AND (?2 IS NULL OR run = ?2) ORDER BY root, path",
            row::ENTRY_COLUMNS
        ))?;
        let mut rows = select.query(params![self.root, run])?;
        while let Some(found) = rows.next()? {
            take(row::entry(found)?);
        }
        Ok(())
    }
}

/// The destination as it is now. Anything that cannot be looked at is taken for absent: then the image is done again, and
/// publishing tells what is in the way.
fn look(destination: &Path, recheck: bool) -> Output {
    match std::fs::symlink_metadata(destination) {
        Ok(found) if found.is_file() => Output::File {
            size: found.len(),
            mtime_ns: mtime_ns(&found),
            linked: found.nlink() > 1,
            hash: recheck.then(|| hash_of(destination).ok()).flatten(),
        },
        Ok(_) | Err(_) => Output::Absent,
    }
}

fn known(row: &rusqlite::Row<'_>) -> rusqlite::Result<Known> {
    let outcome = row.get_ref(0)?.as_str()?;
    let dev: i64 = row.get(4)?;
    let ino: i64 = row.get(5)?;
    Ok(Known {
        source: path(row, 11)?,
        verdict: words::verdict_of(outcome).ok_or(rusqlite::Error::InvalidQuery)?,
        reason: row.get(1)?,
        identity: Identity {
            size: row.get(2)?,
            mtime_ns: row.get(3)?,
            dev: dev.cast_unsigned(),
            ino: ino.cast_unsigned(),
        },
        keys: Keys {
            settings: row.get(6)?,
            attempt: row.get(7)?,
        },
        published: published(row, 8)?,
    })
}

fn run(row: &rusqlite::Row<'_>) -> rusqlite::Result<Run> {
    let sum = |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<u64>>(column)?.unwrap_or(0));
    Ok(Run {
        id: row.get(0)?,
        build: row.get(1)?,
        command: row.get(2)?,
        output: path(row, 3)?,
        settings: row.get(4)?,
        limits: row.get(5)?,
        workers: row.get(6)?,
        started: row.get(7)?,
        end: end(row)?,
        unchanged: sum(13)?,
        failed_before: sum(14)?,
        done: Done {
            saved: sum(15)?,
            kept: sum(16)?,
            failed: sum(17)?,
            bytes_in: sum(18)?,
            bytes_out: sum(19)?,
        },
    })
}

fn end(row: &rusqlite::Row<'_>) -> rusqlite::Result<Option<RunEnd>> {
    let ended: Option<u64> = row.get(8)?;
    let how: Option<String> = row.get(10)?;
    let (Some(ended), Some(how)) = (ended, how.as_deref().and_then(HowEnded::of)) else {
        return Ok(None);
    };
    Ok(Some(RunEnd {
        ended,
        wall_ms: row.get(9)?,
        how,
        discovered: row.get(11)?,
        ignored: words::passed_over_of(row.get(12)?, row.get::<_, Option<String>>(20)?.as_deref()),
    }))
}
