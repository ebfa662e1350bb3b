//! The closed enums in words: names for scripts (snake case, stable, used in `--json`, `--csv` and the ledger) and
//! sentences for people.

use super::Verdict;
use crate::passed::{Passed, PassedOver};
use crate::task::Skip;
use pressroom_shared::{FailureKind, ImageFormat, KeptReason, Warning};
use std::collections::BTreeMap;

/// Every kind of failure, in the order of the enum.
pub const FAILURES: [FailureKind; 21] = [
    FailureKind::Empty,
    FailureKind::NotAnImage,
    FailureKind::Corrupt,
    FailureKind::Unsupported,
    FailureKind::TooLarge,
    FailureKind::MemoryCap,
    FailureKind::HostMemory,
    FailureKind::Timeout,
    FailureKind::Crashed,
    FailureKind::Killed,
    FailureKind::SandboxViolation,
    FailureKind::Protocol,
    FailureKind::Unreadable,
    FailureKind::Vanished,
    FailureKind::Changed,
    FailureKind::Io,
    FailureKind::DiskFull,
    FailureKind::NameTooLong,
    FailureKind::Collision,
    FailureKind::OutputExists,
    FailureKind::Verify,
];

/// Name of an outcome.
pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Saved => "saved",
        Verdict::Kept => "kept",
        Verdict::Skipped => "skipped",
        Verdict::Failed => "failed",
        Verdict::Interrupted => "interrupted",
    }
}

/// The outcome of a name.
pub fn verdict_of(name: &str) -> Option<Verdict> {
    [
        Verdict::Saved,
        Verdict::Kept,
        Verdict::Skipped,
        Verdict::Failed,
        Verdict::Interrupted,
    ]
    .into_iter()
    .find(|candidate| verdict(*candidate) == name)
}

/// Name of a kind of failure.
pub fn failure(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Empty => "empty",
        FailureKind::NotAnImage => "not_an_image",
        FailureKind::Corrupt => "corrupt",
        FailureKind::Unsupported => "unsupported",
        FailureKind::TooLarge => "too_large",
        FailureKind::MemoryCap => "memory_cap",
        FailureKind::HostMemory => "host_memory",
        FailureKind::Timeout => "timeout",
        FailureKind::Crashed => "crashed",
        FailureKind::Killed => "killed",
        FailureKind::SandboxViolation => "sandbox_violation",
        FailureKind::Protocol => "protocol",
        FailureKind::Unreadable => "unreadable",
        FailureKind::Vanished => "vanished",
        FailureKind::Changed => "changed",
        FailureKind::Io => "io",
        FailureKind::DiskFull => "disk_full",
        FailureKind::NameTooLong => "name_too_long",
        FailureKind::Collision => "collision",
        FailureKind::OutputExists => "output_exists",
        FailureKind::Verify => "verify",
    }
}

/// The kind of failure of a name.
pub fn failure_of(name: &str) -> Option<FailureKind> {
    FAILURES.into_iter().find(|kind| failure(*kind) == name)
}

/// A kind of failure as a heading over the files it befell.
pub fn failure_title(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Empty => "empty file",
        FailureKind::NotAnImage => "not an image",
        FailureKind::Corrupt => "damaged or cut off",
        FailureKind::Unsupported => "not supported",
        FailureKind::TooLarge => "too large",
        FailureKind::MemoryCap => "needs more memory than the cap",
        FailureKind::HostMemory => "the system ran out of memory",
        FailureKind::Timeout => "took too long",
        FailureKind::Crashed => "crashed its worker",
        FailureKind::Killed => "worker killed from outside",
        FailureKind::SandboxViolation => "stopped by the sandbox",
        FailureKind::Protocol => "worker answered nonsense",
        FailureKind::Unreadable => "may not be read",
        FailureKind::Vanished => "does not exist",
        FailureKind::Changed => "changed during the run",
        FailureKind::Io => "reading or writing failed",
        FailureKind::DiskFull => "disk full",
        FailureKind::NameTooLong => "name too long",
        FailureKind::Collision => "two inputs for one output",
        FailureKind::OutputExists => "output exists and is not ours",
        FailureKind::Verify => "result did not pass its check",
    }
}

/// Whether the same image, untouched, fails the same way again under the same limits in the same version. The others
/// depend on what surrounds the file (permissions, disk, memory of the machine), so they are tried at every run.
pub fn failure_repeats(kind: FailureKind) -> bool {
    match kind {
        FailureKind::Empty
        | FailureKind::NotAnImage
        | FailureKind::Corrupt
        | FailureKind::Unsupported
        | FailureKind::TooLarge
        | FailureKind::MemoryCap
        | FailureKind::Timeout
        | FailureKind::Crashed
        | FailureKind::SandboxViolation
        | FailureKind::Protocol
        | FailureKind::Verify => true,
        FailureKind::HostMemory
        | FailureKind::Killed
        | FailureKind::Unreadable
        | FailureKind::Vanished
        | FailureKind::Changed
        | FailureKind::Io
        | FailureKind::DiskFull
        | FailureKind::NameTooLong
        | FailureKind::Collision
        | FailureKind::OutputExists => false,
    }
}

/// Name of a reason to keep the original.
pub fn kept(reason: &KeptReason) -> &'static str {
    match reason {
        KeptReason::WithinTarget => "within_target",
        KeptReason::NotSmaller => "not_smaller",
        KeptReason::TargetUnreachable { .. } => "target_unreachable",
        KeptReason::UnsupportedFormat => "unsupported_format",
        KeptReason::WouldLose(_) => "would_lose",
        KeptReason::HardLinked => "hard_linked",
    }
}

/// Whether a newer version of this program may do better than keep the original.
pub fn kept_may_improve(name: &str) -> bool {
    matches!(name, "unsupported_format" | "would_lose")
}

/// A reason to keep the original, as a heading over the files it befell.
pub fn kept_title(name: &str) -> &'static str {
    match name {
        "within_target" => "already within the size asked for",
        "not_smaller" => "would not have become smaller",
        "target_unreachable" => "size asked for out of reach at the lowest quality allowed",
        "unsupported_format" => "format not compressed by this version",
        "would_lose" => "would have lost something",
        "hard_linked" => "has other hard links",
        _ => "for a reason this version does not know",
    }
}

/// A reason to keep the original, with its figures; empty where the name says it all.
pub fn kept_message(reason: &KeptReason) -> String {
    match reason {
        KeptReason::TargetUnreachable { target, smallest } => format!(
            "asked for {target} bytes, {smallest} is the least that was reached; lower --min-quality, raise the size, let --shrink-to-fit=EDGE go to a smaller edge or leave metadata out with --strip"
        ),
        KeptReason::WouldLose(what) => format!("compressing would lose {what}"),
        KeptReason::HardLinked => {
            "other names point to the same file and would keep the old picture".to_owned()
        }
        KeptReason::WithinTarget | KeptReason::NotSmaller | KeptReason::UnsupportedFormat => {
            String::new()
        }
    }
}

/// Name of a reason to skip.
pub fn skip(skip: Skip) -> &'static str {
    match skip {
        Skip::Unchanged => "unchanged",
        Skip::FailedBefore => "failed_before",
        Skip::Exists => "exists",
        Skip::OutputChanged => "output_changed",
    }
}

/// Name of a format.
pub fn format(format: ImageFormat) -> &'static str {
    match format {
        ImageFormat::Jpeg => "jpeg",
        ImageFormat::Png => "png",
        ImageFormat::Apng => "apng",
        ImageFormat::Gif => "gif",
        ImageFormat::Webp => "webp",
        ImageFormat::Tiff => "tiff",
        ImageFormat::Bmp => "bmp",
        ImageFormat::Qoi => "qoi",
        ImageFormat::Pnm => "pnm",
        ImageFormat::Ico => "ico",
        ImageFormat::Avif => "avif",
        ImageFormat::Heic => "heic",
        ImageFormat::Jxl => "jxl",
        ImageFormat::Jp2 => "jp2",
        ImageFormat::Psd => "psd",
        ImageFormat::Raw => "raw",
    }
}

/// A warning as a line of text.
pub fn warning(warning: &Warning) -> String {
    match warning {
        Warning::LowQuality(quality) => {
            format!("quality {quality} was needed to reach the size; the picture will show it")
        }
        Warning::NameMismatch { content } => {
            format!(
                "the name says another format; the content is {}",
                content.name()
            )
        }
        Warning::Repaired(what) => format!("repaired: {what}"),
        Warning::Dropped(what) => format!("dropped: {what}"),
        Warning::Stayed(what) => format!("not removed: {what}"),
    }
}

/// Numbers of files passed over, as JSON for the ledger.
pub(super) fn passed_over(over: &PassedOver) -> String {
    let by_kind: BTreeMap<&str, u64> = over
        .kinds()
        .map(|(kind, count)| (kind.name(), count))
        .collect();
    serde_json::to_string(&by_kind).unwrap_or_default()
}

/// The same read again. An earlier program wrote the sum alone: then nobody knows more than that they were no pictures by name.
pub(super) fn passed_over_of(total: u64, by_kind: Option<&str>) -> PassedOver {
    let by_kind: Option<BTreeMap<String, u64>> =
        by_kind.and_then(|text| serde_json::from_str(text).ok());
    let mut over = PassedOver::default();
    match by_kind {
        None => over.set(Passed::NotPicture, total),
        Some(by_kind) => {
            for kind in Passed::ALL {
                over.set(kind, by_kind.get(kind.name()).copied().unwrap_or(0));
            }
        }
    }
    over
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_passed_over_come_back_from_the_ledger() {
        let mut over = PassedOver::default();
        over.set(Passed::Dangling, 2);
        over.set(Passed::Hidden, 1);
        let text = passed_over(&over);
        assert_eq!(text, r#"{"dangling_link":2,"hidden":1}"#);
        assert_eq!(passed_over_of(3, Some(&text)), over);
        assert_eq!(passed_over_of(3, None).of(Passed::NotPicture), 3);
    }

    #[test]
    fn advice_holds_where_it_was_taken_already() {
        let reason = KeptReason::TargetUnreachable {
            target: 3000,
            smallest: 90_558,
        };
        assert_eq!(
            kept_message(&reason),
            "asked for 3000 bytes, 90558 is the least that was reached; lower --min-quality, raise the size, \
             let --shrink-to-fit=EDGE go to a smaller edge or leave metadata out with --strip"
        );
    }

    #[test]
    fn names_lead_back_to_their_kinds() {
        for kind in FAILURES {
            assert_eq!(failure_of(failure(kind)), Some(kind));
        }
        assert_eq!(failure_of("nonsense"), None);
        assert_eq!(verdict_of("kept"), Some(Verdict::Kept));
        assert_eq!(verdict_of("Kept"), None);
    }

    #[test]
    fn every_kind_is_listed_once() {
        let names: std::collections::BTreeSet<_> = FAILURES.into_iter().map(failure).collect();
        assert_eq!(names.len(), FAILURES.len());
    }
}
