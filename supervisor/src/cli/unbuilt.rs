//! Flags that are understood but whose image work this version does not have: refused before anything is touched. Pure.

use super::UsageError;
use pressroom_shared::{Format, Settings};

/// Why this version cannot do what `settings` ask for, if so.
///
/// Without this a worker would refuse to start, and the run would end as one that cannot go on.
pub(crate) fn refusal(settings: &Settings) -> Option<UsageError> {
    let asked = [(settings.format == Format::Avif, "--format avif")];
    let (_, flag) = asked.into_iter().find(|(given, _)| *given)?;
    Some(UsageError::Invalid(format!(
        "{flag} is not in this version: drop it; nothing was touched"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Command, parse};

    fn refused(flags: &[&str]) -> Option<String> {
        let words = ["photos", "-o", "out"].iter().chain(flags);
        match parse(words.map(std::ffi::OsString::from)) {
            Ok(Command::Run(config)) => refusal(&config.settings).map(|error| error.to_string()),
            other => panic!("{flags:?}: {other:?}"),
        }
    }

    #[test]
    fn what_is_not_built_is_refused_by_its_flag_and_nothing_else_is() {
        assert_eq!(refused(&[]), None);
        assert_eq!(
            refused(&["--max-size", "300KB", "--long-edge", "800", "--lossy-png"]),
            None
        );
        for flags in [
            &["--max-size", "300KB", "--shrink-to-fit=800"][..],
            &["--format", "jpeg", "--orient", "apply", "--icc", "srgb"],
            &["--format", "webp"],
            &["--format", "png"],
            &["--target", "ssimulacra2:80"],
        ] {
            assert_eq!(refused(flags), None);
        }
        let text = refused(&["--format", "avif"]).expect("a refusal");
        assert!(text.contains("--format avif"), "{text}");
    }
}
