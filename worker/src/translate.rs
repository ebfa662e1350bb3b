//! The words of `jobs` about a picture in those of the wire ([`asked`] is the other way). Pure.

mod asked;

pub use asked::options;

use crate::files::{FileError, Operation};
use crate::limits;
use pressroom_jobs as jobs;
use pressroom_shared::{
    Failed, FailureKind, ImageFormat, Kept, KeptReason, Outcome, Saved, Warning,
};
use std::any::Any;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Longest text sent about one file; codecs quote what they find, and a frame has a limit.
const LONGEST_TEXT: usize = 1000;

/// Most warnings sent about one file; with texts of [`LONGEST_TEXT`] letters of four bytes they fill three quarters of a
/// frame. A file from a stranger can give rise to any number of them.
const MOST_WARNINGS: usize = 12;

/// A result, as it is told.
pub(crate) fn saved(written: jobs::Written) -> Saved {
    let jobs::Written {
        format,
        bytes,
        width,
        height,
        quality,
        notes,
    } = written;
    Saved {
        bytes,
        format: format_of(format),
        width,
        height,
        quality,
        warnings: warnings(notes),
    }
}

/// A kept original of so many bytes, as it is told.
pub(crate) fn kept(kept: jobs::Kept, bytes: u64) -> Kept {
    let jobs::Kept { format, why, notes } = kept;
    Kept {
        reason: reason(why),
        bytes,
        format: format_of(format),
        warnings: warnings(notes),
    }
}

/// An original of so many bytes that is left alone because it has other names.
pub(crate) fn hard_linked(format: jobs::Format, bytes: u64) -> Kept {
    Kept {
        reason: KeptReason::HardLinked,
        bytes,
        format: format_of(format),
        warnings: Vec::new(),
    }
}

fn reason(why: jobs::Keep) -> KeptReason {
    match why {
        jobs::Keep::WithinTarget => KeptReason::WithinTarget,
        jobs::Keep::NotSmaller => KeptReason::NotSmaller,
        jobs::Keep::TargetUnreachable { target, smallest } => {
            KeptReason::TargetUnreachable { target, smallest }
        }
        jobs::Keep::UnsupportedFormat => KeptReason::UnsupportedFormat,
        jobs::Keep::WouldLose(what) => KeptReason::WouldLose(short(what)),
    }
}

/// As many as fit, what was lost or looks bad before what could be mended; the rest is counted.
fn warnings(mut notes: Vec<jobs::Note>) -> Vec<Warning> {
    notes.dedup();
    notes.sort_by_key(|note| matches!(note, jobs::Note::Repaired(_)));
    let more = notes.len().saturating_sub(MOST_WARNINGS);
    notes.truncate(MOST_WARNINGS);
    let mut warnings: Vec<Warning> = notes.into_iter().map(warning).collect();
    if more > 0 {
        warnings.push(Warning::Dropped(format!(
            "{more} further warnings about this file"
        )));
    }
    warnings
}

fn warning(note: jobs::Note) -> Warning {
    match note {
        jobs::Note::LowQuality(quality) => Warning::LowQuality(quality),
        jobs::Note::Repaired(what) => Warning::Repaired(short(what)),
        jobs::Note::Dropped(what) => Warning::Dropped(short(what)),
        jobs::Note::Stayed(what) => Warning::Stayed(short(what)),
    }
}

fn format_of(format: jobs::Format) -> ImageFormat {
    match format {
        jobs::Format::Jpeg => ImageFormat::Jpeg,
        jobs::Format::Png => ImageFormat::Png,
        jobs::Format::Apng => ImageFormat::Apng,
        jobs::Format::Gif => ImageFormat::Gif,
        jobs::Format::Webp => ImageFormat::Webp,
        jobs::Format::Tiff => ImageFormat::Tiff,
        jobs::Format::Bmp => ImageFormat::Bmp,
        jobs::Format::Qoi => ImageFormat::Qoi,
        jobs::Format::Pnm => ImageFormat::Pnm,
        jobs::Format::Ico => ImageFormat::Ico,
        jobs::Format::Avif => ImageFormat::Avif,
        jobs::Format::Heic => ImageFormat::Heic,
        jobs::Format::Jxl => ImageFormat::Jxl,
        jobs::Format::Jp2 => ImageFormat::Jp2,
        jobs::Format::Psd => ImageFormat::Psd,
        jobs::Format::Raw => ImageFormat::Raw,
    }
}

/// Why a picture was not done, in a user's words. `cap` is the whole worker's memory cap in bytes.
pub(crate) fn failure(error: jobs::Error, cap: u64) -> Failed {
    let kind = match &error {
        jobs::Error::Empty => FailureKind::Empty,
        jobs::Error::NotAnImage(_) => FailureKind::NotAnImage,
        jobs::Error::Corrupt { .. } => FailureKind::Corrupt,
        jobs::Error::Unsupported(_) => FailureKind::Unsupported,
        jobs::Error::TooManyPixels { .. } => FailureKind::TooLarge,
        jobs::Error::OverBudget { needed, .. } => return over_cap(*needed, cap),
        jobs::Error::Codec { .. } => FailureKind::Crashed,
        jobs::Error::Verify(_) => FailureKind::Verify,
        jobs::Error::Read(error) => return classified("reading it", error, ANYTIME),
        jobs::Error::Write(error) => return classified("writing the result", error, ANYTIME),
    };
    failed(kind, error.to_string())
}

/// The worker itself needs a part of the cap, so what a user must ask for is that much more than the job's buffers.
fn over_cap(needed: u64, cap: u64) -> Failed {
    let needed = mebibytes(needed.saturating_add(limits::RESERVE));
    let cap = mebibytes(cap);
    let message = format!(
        "needs about {needed} MiB of memory, the cap is {cap} MiB; raise --memory-per-worker"
    );
    failed(FailureKind::MemoryCap, message)
}

fn mebibytes(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}

/// A file of more bytes than allowed, before it is opened.
pub(crate) fn input_too_large(bytes: u64, limit: u64) -> Failed {
    let message = format!("the file has {bytes} bytes, more than the limit of {limit}");
    failed(FailureKind::TooLarge, message)
}

/// A panic that got past every fence.
pub(crate) fn panicked(payload: &(dyn Any + Send)) -> Failed {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    let message = format!(
        "the worker panicked ({}); please report this file",
        text.unwrap_or("without a message")
    );
    failed(FailureKind::Crashed, message)
}

impl From<FileError> for Failed {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Io {
                operation,
                path: _,
                source,
            } => file_failure(operation, &source),
            FileError::Changed { path: _, what } => failed(
                FailureKind::Changed,
                format!(
                    "it changed since it was found ({what}); run again once nothing writes to it"
                ),
            ),
            FileError::BadName { path } => failed(
                FailureKind::Protocol,
                format!("{} is no name for a staged file", path.display()),
            ),
        }
    }
}

fn file_failure(operation: Operation, error: &io::Error) -> Failed {
    match operation {
        Operation::Open => classified("opening it", error, OPENING),
        Operation::Create => classified("creating the result", error, ANYTIME),
        Operation::Write => classified("writing the result", error, ANYTIME),
        Operation::ReadAgain => classified("reading the result again", error, ANYTIME),
        Operation::Copy => classified("copying it", error, ANYTIME),
    }
}

/// What the system refused, what that makes of the job, and what a user can do about it.
type Refusal = (ErrorKind, FailureKind, &'static str);

const OPENING: &[Refusal] = &[
    (
        ErrorKind::NotFound,
        FailureKind::Vanished,
        "it went away after it was found",
    ),
    (
        ErrorKind::NotADirectory,
        FailureKind::Vanished,
        "its folder went away after it was found",
    ),
    (
        ErrorKind::PermissionDenied,
        FailureKind::Unreadable,
        "check its owner and mode",
    ),
];

const ANYTIME: &[Refusal] = &[
    (
        ErrorKind::StorageFull,
        FailureKind::DiskFull,
        "free some space and run again",
    ),
    (
        ErrorKind::QuotaExceeded,
        FailureKind::DiskFull,
        "free some space and run again",
    ),
    (
        ErrorKind::FileTooLarge,
        FailureKind::TooLarge,
        "the result is larger than allowed",
    ),
    (
        ErrorKind::OutOfMemory,
        FailureKind::MemoryCap,
        "raise --memory-per-worker",
    ),
];

fn classified(doing: &str, error: &io::Error, refusals: &[Refusal]) -> Failed {
    let known = refusals.iter().find(|(kind, _, _)| *kind == error.kind());
    let (kind, advice) = known.map_or(
        (FailureKind::Io, "check the disk and run again"),
        |(_, kind, advice)| (*kind, *advice),
    );
    failed(kind, format!("{doing} failed: {error}; {advice}"))
}

fn failed(kind: FailureKind, message: String) -> Failed {
    let message = short(message);
    Failed { kind, message }
}

/// One line of bounded length: text about a stranger's file ends up in terminals and in frames.
fn short(text: String) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().take(LONGEST_TEXT).map(plain).collect()
}

/// Adds a warning where the file's name says another format than its content. A result of the format that was `wanted`
/// gets that format's name.
pub(crate) fn warn_of_name(path: &Path, wanted: jobs::Wanted, outcome: &mut Outcome) {
    let (content, warnings) = match outcome {
        Outcome::Saved(_) if wanted != jobs::Wanted::Same => return,
        Outcome::Saved(saved) => (saved.format, &mut saved.warnings),
        Outcome::Kept(kept) => (kept.format, &mut kept.warnings),
        Outcome::Failed(_) => return,
    };
    if let Some(named) = named(path)
        && !named.contains(&content)
    {
        warnings.push(Warning::NameMismatch { content });
    }
}

/// The formats that a file of this name may hold without surprise, or `None` where the name says nothing known.
fn named(path: &Path) -> Option<&'static [ImageFormat]> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    Some(match extension.as_str() {
        "jpg" | "jpeg" | "jpe" | "jfif" => &[ImageFormat::Jpeg],
        "png" | "apng" => &[ImageFormat::Png, ImageFormat::Apng],
        "gif" => &[ImageFormat::Gif],
        "webp" => &[ImageFormat::Webp],
        // Several cameras write their raw files as TIFF by any of these names.
        "tif" | "tiff" => &[ImageFormat::Tiff, ImageFormat::Raw],
        "bmp" | "dib" => &[ImageFormat::Bmp],
        "qoi" => &[ImageFormat::Qoi],
        "pbm" | "pgm" | "ppm" | "pnm" | "pam" => &[ImageFormat::Pnm],
        "ico" | "cur" => &[ImageFormat::Ico],
        "avif" => &[ImageFormat::Avif],
        "heic" | "heif" | "hif" => &[ImageFormat::Heic],
        "jxl" => &[ImageFormat::Jxl],
        "jp2" | "j2k" | "jpx" => &[ImageFormat::Jp2],
        "psd" | "psb" => &[ImageFormat::Psd],
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
