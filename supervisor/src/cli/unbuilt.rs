//! Flags that are understood but whose image work this version does not have: refused before anything is touched. Pure.

use super::UsageError;
use pressroom_shared::{Format, IccPolicy, OrientPolicy, Settings};

/// Why this version cannot do what `settings` ask for, if so.
///
/// Without this a worker would refuse to start, and the run would end as one that cannot go on.
pub(crate) fn refusal(settings: &Settings) -> Option<UsageError> {
    let asked = [
        (settings.format != Format::Same, "--format"),
        (settings.orient == OrientPolicy::Apply, "--orient apply"),
        (settings.icc == IccPolicy::Srgb, "--icc srgb"),
    ];
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
        assert_eq!(refused(&["--target", "ssimulacra2:80"]), None);
        assert_eq!(
            refused(&["--max-size", "300KB", "--long-edge", "800", "--lossy-png"]),
            None
        );
        assert_eq!(
            refused(&["--max-size", "300KB", "--shrink-to-fit=800"]),
            None
        );
        for flags in [
            &["--format", "webp"][..],
            &["--orient", "apply"],
            &["--icc", "srgb"],
        ] {
            let text = refused(flags).unwrap_or_else(|| panic!("{flags:?} was taken"));
            let flag = flags
                .iter()
                .rev()
                .find(|word| word.starts_with("--"))
                .unwrap();
            assert!(text.contains(flag), "{flags:?}: {text}");
        }
    }
}
