//! Records as NDJSON: one JSON object per line, one for each file and at the end one for the run.
//!
//! Schema 1. Fields are only ever added within a schema number; a reader passes over those it does not know.
//!
//! Every object has `"schema": 1` and `"type"`, which is `"file"` or `"run"`. Strings never hold a raw newline, so a line
//! is an object. Fields that do not apply are left out.
//!
//! A file:
//!
//! | field | what |
//! |---|---|
//! | `path` | output relative to the output folder; where the name is not UTF-8, the offending bytes are replaced |
//! | `path_base64` | the exact bytes of `path`, only where the name is not UTF-8 |
//! | `source`, `source_base64` | absolute path of the input, in the same two spellings |
//! | `outcome` | `saved`, `kept`, `skipped`, `failed` or `interrupted` |
//! | `reason` | why it was kept (`within_target`, `not_smaller`, `target_unreachable`, `unsupported_format`, `would_lose`, `hard_linked`), skipped (`unchanged`, `failed_before`, `exists`, `output_changed`) or how it failed (`empty`, `not_an_image`, `corrupt`, `unsupported`, `too_large`, `memory_cap`, `host_memory`, `timeout`, `crashed`, `killed`, `sandbox_violation`, `protocol`, `unreadable`, `vanished`, `changed`, `io`, `disk_full`, `name_too_long`, `collision`, `output_exists`, `verify`) |
//! | `message` | the reason with its figures and what to do |
//! | `warnings` | list of texts |
//! | `format` | `jpeg`, `png`, `apng`, `gif`, `webp`, `tiff`, `bmp`, `qoi`, `pnm`, `ico`, `avif`, `heic`, `jxl`, `jp2`, `psd`, `raw` |
//! | `bytes_in`, `bytes_out` | bytes before and after; no `bytes_out` where there is no output |
//! | `width`, `height`, `quality` | of a saved result |
//! | `cpu_us`, `wall_us` | time its worker spent on it |
//! | `peak_rss` | bytes, high-water mark of that worker so far |
//! | `deaths` | workers that died on it |
//! | `seat` | number of the worker's seat |
//! | `started_ms`, `ended_ms` | since the start of the run |
//!
//! The run:
//!
//! | field | what |
//! |---|---|
//! | `build` | version |
//! | `output`, `output_base64` | output folder (in place: input root) |
//! | `end` | `finished`, `time_up`, `too_many_failures`, `signal`, `disk_full`, `broken`; none where it was killed |
//! | `started_unix_ms`, `wall_ms`, `workers` | when, how long, with how many |
//! | `discovered`, `saved`, `kept`, `skipped`, `failed`, `interrupted` | inputs; the first is the sum of the others |
//! | `kept_by`, `skipped_by`, `failed_by` | the same by reason |
//! | `ignored`, `ignored_by` | files and folders passed over, in all and by kind: `not_a_picture`, `hidden`, `excluded`, `link`, `dangling_link`, `ours`, `folder`, `special_file`, `unreadable` |
//! | `warned` | files with a warning |
//! | `bytes_in`, `bytes_out` | over the files that have an output |
//! | `cpu_us`, `peak_rss`, `deaths` | sum, highest, sum |

use super::facts::Facts;
use super::tally::Tally;
use crate::ledger::{Entry, words};
use crate::task::Skip;
use serde::Serialize;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Number of the schema.
pub const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct File<'a> {
    schema: u32,
    r#type: &'static str,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_base64: Option<String>,
    source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_base64: Option<String>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    message: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'a str>,
    bytes_in: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_out: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<u8>,
    cpu_us: u64,
    wall_us: u64,
    peak_rss: u64,
    deaths: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    seat: Option<u16>,
    started_ms: u64,
    ended_ms: u64,
}

#[derive(Serialize)]
struct Run<'a> {
    schema: u32,
    r#type: &'static str,
    build: &'a str,
    output: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_base64: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<&'static str>,
    started_unix_ms: u64,
    wall_ms: u64,
    workers: u32,
    discovered: u64,
    saved: u64,
    kept: u64,
    skipped: u64,
    failed: u64,
    interrupted: u64,
    kept_by: &'a BTreeMap<String, u64>,
    skipped_by: BTreeMap<&'static str, u64>,
    failed_by: BTreeMap<&'static str, u64>,
    ignored: u64,
    ignored_by: BTreeMap<&'static str, u64>,
    warned: u64,
    bytes_in: u64,
    bytes_out: u64,
    cpu_us: u64,
    peak_rss: u64,
    deaths: u64,
}

/// The line of a file, with its newline.
pub fn file(entry: &Entry) -> String {
    let output = entry.output();
    line(&File {
        schema: SCHEMA,
        r#type: "file",
        path: output.to_string_lossy().into_owned(),
        path_base64: exact(&output),
        source: entry.source.to_string_lossy().into_owned(),
        source_base64: exact(&entry.source),
        outcome: words::verdict(entry.verdict),
        reason: &entry.reason,
        message: &entry.message,
        warnings: &entry.warnings,
        format: entry.format.as_deref(),
        bytes_in: entry.bytes_in,
        bytes_out: entry.bytes_out,
        width: entry.width,
        height: entry.height,
        quality: entry.quality,
        cpu_us: entry.cpu_us,
        wall_us: entry.wall_us,
        peak_rss: entry.peak_rss,
        deaths: entry.deaths,
        seat: entry.seat,
        started_ms: entry.started_ms,
        ended_ms: entry.ended_ms,
    })
}

/// The line of a run, with its newline.
pub fn run(tally: &Tally, facts: &Facts) -> String {
    line(&Run {
        schema: SCHEMA,
        r#type: "run",
        build: &facts.build,
        output: facts.output.to_string_lossy().into_owned(),
        output_base64: exact(&facts.output),
        end: facts.how.map(crate::ledger::HowEnded::name),
        started_unix_ms: facts.started,
        wall_ms: facts.wall_ms,
        workers: facts.workers,
        discovered: facts.discovered,
        saved: tally.saved,
        kept: tally.kept_in_all(),
        skipped: tally.skipped(),
        failed: tally.failed_in_all(),
        interrupted: tally.interrupted,
        kept_by: &tally.kept,
        skipped_by: skips(tally),
        failed_by: failures(tally),
        ignored: facts.ignored.total(),
        ignored_by: facts
            .ignored
            .kinds()
            .map(|(kind, count)| (kind.name(), count))
            .collect(),
        warned: tally.warned,
        bytes_in: tally.bytes_in,
        bytes_out: tally.bytes_out,
        cpu_us: tally.cpu_us,
        peak_rss: tally.peak_rss,
        deaths: tally.deaths,
    })
}

fn skips(tally: &Tally) -> BTreeMap<&'static str, u64> {
    [
        (words::skip(Skip::Unchanged), tally.unchanged),
        (words::skip(Skip::FailedBefore), tally.failed_before),
        (words::skip(Skip::Exists), tally.exists),
        (words::skip(Skip::OutputChanged), tally.output_changed),
    ]
    .into_iter()
    .filter(|(_, number)| *number > 0)
    .collect()
}

fn failures(tally: &Tally) -> BTreeMap<&'static str, u64> {
    tally
        .failed
        .iter()
        .map(|(kind, failures)| (words::failure(*kind), failures.count))
        .collect()
}

fn line(value: &impl Serialize) -> String {
    // Structs of strings and numbers always serialise.
    let mut line = serde_json::to_string(value).unwrap_or_default();
    line.push('\n');
    line
}

/// The bytes of a name that is not UTF-8.
pub(super) fn exact(path: &Path) -> Option<String> {
    path.to_str()
        .is_none()
        .then(|| base64(path.as_os_str().as_bytes()))
}

/// Base64 with the standard alphabet and padding (RFC 4648, section 4).
pub(super) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let [a, b, c] = [0, 1, 2].map(|at| u32::from(group.get(at).copied().unwrap_or(0)));
        let word = a << 16 | b << 8 | c;
        for at in 0..4 {
            let letter = ALPHABET[(word >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= group.len() {
                char::from(letter)
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use proptest::prelude::*;
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    use std::path::PathBuf;

    #[test]
    fn base64_gives_the_values_of_the_rfc() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn a_file_is_one_line() {
        insta::assert_snapshot!(file(&samples::saved()), @r#"{"schema":1,"type":"file","path":"a/one.jpg","source":"/in/a/one.jpg","outcome":"saved","format":"jpeg","bytes_in":4500000,"bytes_out":299000,"width":4000,"height":3000,"quality":61,"cpu_us":40000,"wall_us":41000,"peak_rss":14680064,"deaths":0,"seat":1,"started_ms":5,"ended_ms":46}"#);
        insta::assert_snapshot!(file(&samples::failed("b/two\nlines.jpg")), @r#"{"schema":1,"type":"file","path":"b/two\nlines.jpg","source":"/in/b/two\nlines.jpg","outcome":"failed","reason":"corrupt","message":"the data ends after 12 of 40 rows","bytes_in":2000,"cpu_us":0,"wall_us":0,"peak_rss":0,"deaths":1,"started_ms":0,"ended_ms":0}"#);
    }

    #[test]
    fn an_original_that_was_kept_is_named_as_it_is_there() {
        let mut entry = samples::kept();
        entry.target = PathBuf::from("a/small.webp");
        let value: serde_json::Value = serde_json::from_str(&file(&entry)).unwrap();
        assert_eq!(value["path"], "a/small.jpg");
    }

    #[test]
    fn the_run_is_the_last_line() {
        insta::assert_snapshot!(run(&samples::tally(), &samples::facts()), @r#"{"schema":1,"type":"run","build":"pressroom 1.2.3","output":"/out","end":"finished","started_unix_ms":0,"wall_ms":1200,"workers":2,"discovered":6,"saved":1,"kept":1,"skipped":1,"failed":2,"interrupted":1,"kept_by":{"within_target":1},"skipped_by":{"unchanged":1},"failed_by":{"corrupt":2},"ignored":3,"ignored_by":{"not_a_picture":3},"warned":1,"bytes_in":4600000,"bytes_out":399000,"cpu_us":40000,"peak_rss":14680064,"deaths":2}"#);
    }

    proptest! {
        #[test]
        fn any_name_comes_through_exactly(bytes in proptest::collection::vec(1u8.., 1..40)) {
            let mut entry = samples::saved();
            entry.target = PathBuf::from(OsString::from_vec(bytes.clone()));
            let line = file(&entry);
            prop_assert_eq!(line.matches('\n').count(), 1);
            let value: serde_json::Value = serde_json::from_str(&line).unwrap();
            match std::str::from_utf8(&bytes) {
                Ok(name) => {
                    prop_assert_eq!(value["path"].as_str(), Some(name));
                    prop_assert!(value.get("path_base64").is_none());
                }
                Err(_) => prop_assert_eq!(unbase64(value["path_base64"].as_str().unwrap()), bytes),
            }
        }
    }

    fn unbase64(text: &str) -> Vec<u8> {
        let digit = |letter: u8| match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        let mut bytes = Vec::new();
        for group in text.trim_end_matches('=').as_bytes().chunks(4) {
            let word = group
                .iter()
                .fold(0u32, |word, letter| word << 6 | u32::from(digit(*letter)));
            let word = word << (6 * (4 - group.len()) + 8);
            bytes.extend_from_slice(&word.to_be_bytes()[..group.len() - 1]);
        }
        bytes
    }
}
