//! Whether an input was done before. The decision is pure; the caller brings what it found on disk.

use super::{Keys, Published, Verdict, words};
use pressroom_shared::Identity;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// What earlier runs say about an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Previous {
    /// No run finished it.
    Never,
    /// Done with the same settings; neither side changed since.
    Unchanged,
    /// Failed in a way that repeats; neither the input nor the limits nor this program changed since.
    FailedBefore,
    /// Done once, but the input, the settings or the output changed since.
    Changed,
}

/// What the ledger remembers of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Absolute path of the input.
    pub source: PathBuf,
    /// What became of it.
    pub verdict: Verdict,
    /// Name of the reason.
    pub reason: String,
    /// The input as it stood after that run.
    pub identity: Identity,
    /// Keys of that run.
    pub keys: Keys,
    pub(crate) published: Option<Published>,
}

/// The destination as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// Nothing there, or no file.
    Absent,
    /// A file.
    File {
        size: u64,
        mtime_ns: i64,
        /// More than one name.
        linked: bool,
        /// Fingerprint of the content, where `--recheck` asked for it.
        hash: Option<u64>,
    },
}

/// Decides. `strict` is `--recheck`: the inode must be the same too, and the output must have its fingerprint.
pub(crate) fn judge(
    known: &Known,
    now: Identity,
    keys: &Keys,
    output: Output,
    strict: bool,
) -> Previous {
    if !same_input(known.identity, now, strict) || known.keys.settings != keys.settings {
        return match known.verdict {
            Verdict::Interrupted => Previous::Never,
            Verdict::Saved | Verdict::Kept | Verdict::Skipped | Verdict::Failed => {
                Previous::Changed
            }
        };
    }
    let same_attempt = known.keys.attempt == keys.attempt;
    match known.verdict {
        Verdict::Saved if stands(known.published, output, strict) => Previous::Unchanged,
        Verdict::Kept if stands(known.published, output, strict) => {
            kept(known, output, same_attempt)
        }
        Verdict::Failed if same_attempt && repeats(&known.reason) => Previous::FailedBefore,
        Verdict::Saved | Verdict::Kept | Verdict::Failed | Verdict::Skipped => Previous::Changed,
        Verdict::Interrupted => Previous::Never,
    }
}

/// Size and time to the nanosecond, as rsync does it; device and inode change when a tree is copied or a network file
/// system is mounted again, so they count only where the user asked to look harder.
pub(super) fn same_input(before: Identity, now: Identity, strict: bool) -> bool {
    before.size == now.size
        && before.mtime_ns == now.mtime_ns
        && (!strict || (before.dev, before.ino) == (now.dev, now.ino))
}

fn stands(published: Option<Published>, output: Output, strict: bool) -> bool {
    let (
        Some(before),
        Output::File {
            size,
            mtime_ns,
            hash,
            ..
        },
    ) = (published, output)
    else {
        return false;
    };
    let same_content = before.hash.is_none() || hash == before.hash;
    before.size == size && before.mtime_ns == mtime_ns && (!strict || same_content)
}

fn kept(known: &Known, output: Output, same_attempt: bool) -> Previous {
    let unlinked = matches!(output, Output::File { linked: false, .. });
    let improvable = words::kept_may_improve(&known.reason) && !same_attempt;
    if improvable || (known.reason == "hard_linked" && unlinked) {
        Previous::Changed
    } else {
        Previous::Unchanged
    }
}

/// Whether what stands at the destination, with this size and time, is known not to be ours, so that the work would be for
/// nothing. Where the ledger knows too little (it was lost, or the output was copied and has another time), the work is done:
/// publishing compares, and takes an output that comes out the same for ours.
pub(crate) fn is_foreign(
    known: &Known,
    now: Identity,
    keys: &Keys,
    size: u64,
    mtime_ns: i64,
) -> bool {
    let ours = |before: Published| before.size == size && before.mtime_ns == mtime_ns;
    if known.published.is_some_and(ours) {
        return false;
    }
    let edited = known.published.is_some_and(|before| before.size != size);
    let compared = known.verdict == Verdict::Skipped
        && same_input(known.identity, now, false)
        && known.keys.settings == keys.settings;
    edited || compared
}

fn repeats(reason: &str) -> bool {
    words::failure_of(reason).is_some_and(words::failure_repeats)
}

/// Modification time in nanoseconds since 1970.
pub(crate) fn mtime_ns(found: &Metadata) -> i64 {
    found
        .mtime()
        .saturating_mul(1_000_000_000)
        .saturating_add(found.mtime_nsec())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: Keys = Keys {
        settings: 1,
        attempt: 2,
    };
    const INPUT: Identity = Identity {
        dev: 1,
        ino: 2,
        size: 300,
        mtime_ns: 4,
    };
    const OUTPUT: Published = Published {
        size: 30,
        mtime_ns: 4,
        hash: Some(9),
    };

    fn known(verdict: Verdict, reason: &str) -> Known {
        Known {
            source: PathBuf::from("/in/a.jpg"),
            verdict,
            reason: reason.to_owned(),
            identity: INPUT,
            keys: KEYS,
            published: Some(OUTPUT),
        }
    }

    fn there(size: u64) -> Output {
        Output::File {
            size,
            mtime_ns: 4,
            linked: false,
            hash: Some(9),
        }
    }

    fn judged(known: &Known, now: Identity, keys: Keys, output: Output) -> Previous {
        judge(known, now, &keys, output, false)
    }

    #[test]
    fn saved_and_untouched_is_unchanged() {
        let saved = known(Verdict::Saved, "");
        assert_eq!(judged(&saved, INPUT, KEYS, there(30)), Previous::Unchanged);
        let moved = Identity { ino: 77, ..INPUT };
        assert_eq!(judged(&saved, moved, KEYS, there(30)), Previous::Unchanged);
        assert_eq!(
            judge(&saved, moved, &KEYS, there(30), true),
            Previous::Changed
        );
    }

    #[test]
    fn an_output_is_foreign_only_if_that_is_known() {
        let foreign =
            |known: &Known, keys, size, mtime_ns| is_foreign(known, INPUT, &keys, size, mtime_ns);
        let saved = known(Verdict::Saved, "");
        assert!(!foreign(&saved, KEYS, 30, 4), "ours");
        assert!(foreign(&saved, KEYS, 31, 5), "edited");
        assert!(!foreign(&saved, KEYS, 30, 5), "perhaps copied");
        let other = Keys {
            settings: 7,
            ..KEYS
        };
        let mut unknown = known(Verdict::Interrupted, "");
        unknown.published = None;
        assert!(!foreign(&unknown, KEYS, 30, 4), "never compared");
        unknown.verdict = Verdict::Skipped;
        assert!(foreign(&unknown, KEYS, 30, 4), "compared before");
        assert!(!foreign(&unknown, other, 30, 4), "compared with another");
    }

    #[test]
    fn any_difference_means_doing_it_again() {
        let saved = known(Verdict::Saved, "");
        for input in [
            Identity { size: 301, ..INPUT },
            Identity {
                mtime_ns: 5,
                ..INPUT
            },
        ] {
            assert_eq!(judged(&saved, input, KEYS, there(30)), Previous::Changed);
        }
        let other = Keys {
            settings: 8,
            ..KEYS
        };
        assert_eq!(judged(&saved, INPUT, other, there(30)), Previous::Changed);
        assert_eq!(judged(&saved, INPUT, KEYS, there(31)), Previous::Changed);
        assert_eq!(
            judged(&saved, INPUT, KEYS, Output::Absent),
            Previous::Changed
        );
        let rotten = Output::File {
            size: 30,
            mtime_ns: 4,
            linked: false,
            hash: Some(1),
        };
        assert_eq!(judged(&saved, INPUT, KEYS, rotten), Previous::Unchanged);
        assert_eq!(judge(&saved, INPUT, &KEYS, rotten, true), Previous::Changed);
    }

    #[test]
    fn a_failure_of_the_file_is_not_repeated_but_one_of_its_surroundings_is() {
        let corrupt = known(Verdict::Failed, "corrupt");
        assert_eq!(
            judged(&corrupt, INPUT, KEYS, Output::Absent),
            Previous::FailedBefore
        );
        let full = known(Verdict::Failed, "disk_full");
        assert_eq!(
            judged(&full, INPUT, KEYS, Output::Absent),
            Previous::Changed
        );
    }

    #[test]
    fn a_bigger_cap_gives_failures_another_chance_and_leaves_successes() {
        let bigger = Keys { attempt: 3, ..KEYS };
        let capped = known(Verdict::Failed, "memory_cap");
        assert_eq!(
            judged(&capped, INPUT, bigger, Output::Absent),
            Previous::Changed
        );
        assert_eq!(
            judged(&known(Verdict::Saved, ""), INPUT, bigger, there(30)),
            Previous::Unchanged
        );
        let unsupported = known(Verdict::Kept, "unsupported_format");
        assert_eq!(
            judged(&unsupported, INPUT, bigger, there(30)),
            Previous::Changed
        );
        assert_eq!(
            judged(&unsupported, INPUT, KEYS, there(30)),
            Previous::Unchanged
        );
    }

    #[test]
    fn a_file_that_lost_its_other_names_is_looked_at_again() {
        let linked = known(Verdict::Kept, "hard_linked");
        assert_eq!(judged(&linked, INPUT, KEYS, there(30)), Previous::Changed);
        let still = Output::File {
            size: 30,
            mtime_ns: 4,
            linked: true,
            hash: None,
        };
        assert_eq!(judged(&linked, INPUT, KEYS, still), Previous::Unchanged);
    }

    #[test]
    fn an_interrupted_input_was_never_done() {
        let interrupted = known(Verdict::Interrupted, "");
        assert_eq!(
            judged(&interrupted, INPUT, KEYS, there(30)),
            Previous::Never
        );
    }
}
