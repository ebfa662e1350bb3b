//! A row of `files`: an [`Entry`] with what is needed to know the input and the output again. Turns it into columns and back.

use super::{Entry, Keys, words};
use pressroom_shared::Identity;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use std::borrow::Cow;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// An output as this program put it at its destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Published {
    /// Bytes.
    pub(crate) size: u64,
    /// Modification time in nanoseconds since 1970.
    pub(crate) mtime_ns: i64,
    /// XXH64 of the content, where it was read.
    pub(crate) hash: Option<u64>,
}

/// A row to be written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// What became of the input.
    pub(crate) entry: Entry,
    /// The input as the next run will see it.
    pub(crate) identity: Identity,
    /// What stands at the destination now, where this run put something there.
    pub(crate) published: Option<Published>,
}

/// Columns of a row, in the order of [`super::schema::COLUMNS`].
pub(super) fn columns<'a>(
    row: &'a Row,
    root: &'a [u8],
    run: i64,
    keys: &Keys,
) -> [ToSqlOutput<'a>; 30] {
    let entry = &row.entry;
    [
        blob(root),
        blob(entry.target.as_os_str().as_bytes()),
        blob(entry.source.as_os_str().as_bytes()),
        integer(run),
        count(row.identity.size),
        integer(row.identity.mtime_ns),
        bits(row.identity.dev),
        bits(row.identity.ino),
        integer(keys.settings),
        integer(keys.attempt),
        text(words::verdict(entry.verdict)),
        text(&entry.reason),
        text(&entry.message),
        warnings(&entry.warnings),
        entry.format.as_deref().map_or_else(null, text),
        count(entry.bytes_in),
        entry.bytes_out.map_or_else(null, count),
        row.published.map_or_else(null, |output| count(output.size)),
        row.published
            .map_or_else(null, |output| integer(output.mtime_ns)),
        row.published
            .and_then(|output| output.hash)
            .map_or_else(null, bits),
        entry.width.map_or_else(null, |width| integer(width.into())),
        entry
            .height
            .map_or_else(null, |height| integer(height.into())),
        entry
            .quality
            .map_or_else(null, |quality| integer(quality.into())),
        count(entry.cpu_us),
        count(entry.wall_us),
        count(entry.peak_rss),
        integer(entry.deaths.into()),
        entry.seat.map_or_else(null, |seat| integer(seat.into())),
        count(entry.started_ms),
        count(entry.ended_ms),
    ]
}

fn blob(bytes: &[u8]) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(ValueRef::Blob(bytes))
}

fn text(text: &str) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes()))
}

fn integer<'a>(number: i64) -> ToSqlOutput<'a> {
    ToSqlOutput::Owned(Value::Integer(number))
}

/// A count that people add up: never negative, at most 2^63 - 1.
fn count<'a>(number: u64) -> ToSqlOutput<'a> {
    integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// A number that is only compared: all 64 bits are kept, shown as signed.
fn bits<'a>(number: u64) -> ToSqlOutput<'a> {
    integer(number.cast_signed())
}

fn null<'a>() -> ToSqlOutput<'a> {
    ToSqlOutput::Owned(Value::Null)
}

fn warnings<'a>(warnings: &[String]) -> ToSqlOutput<'a> {
    if warnings.is_empty() {
        return null();
    }
    let list = serde_json::to_string(warnings).unwrap_or_default();
    ToSqlOutput::Owned(Value::Text(list))
}

/// Columns that [`entry`] reads, in its order.
pub(super) const ENTRY_COLUMNS: &str = "path, source, outcome, reason, message, warnings, format, bytes_in, bytes_out, \
    width, height, quality, cpu_us, wall_us, peak_rss, deaths, seat, started_ms, ended_ms";

/// A row as the reports tell it.
pub(super) fn entry(row: &rusqlite::Row<'_>) -> rusqlite::Result<Entry> {
    let outcome: String = row.get(2)?;
    let warnings: Option<String> = row.get(5)?;
    Ok(Entry {
        target: path(row, 0)?,
        source: path(row, 1)?,
        verdict: words::verdict_of(&outcome).ok_or(rusqlite::Error::InvalidQuery)?,
        reason: Cow::Owned(row.get(3)?),
        message: row.get(4)?,
        warnings: warnings
            .and_then(|list| serde_json::from_str(&list).ok())
            .unwrap_or_default(),
        format: row.get::<_, Option<String>>(6)?.map(Cow::Owned),
        bytes_in: row.get(7)?,
        bytes_out: row.get(8)?,
        width: row.get(9)?,
        height: row.get(10)?,
        quality: row.get(11)?,
        cpu_us: row.get(12)?,
        wall_us: row.get(13)?,
        peak_rss: row.get(14)?,
        deaths: row.get(15)?,
        seat: row.get(16)?,
        started_ms: row.get(17)?,
        ended_ms: row.get(18)?,
    })
}

/// A path kept as its bytes.
pub(super) fn path(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<PathBuf> {
    Ok(PathBuf::from(OsString::from_vec(row.get(column)?)))
}

/// A path as its bytes.
pub(super) fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}
