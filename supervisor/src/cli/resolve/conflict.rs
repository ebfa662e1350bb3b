//! Flags that do not go together, told so that the user knows which of them to drop and where each comes from.

use crate::cli::UsageError;
use crate::cli::layers::{Origin, Setting};

/// Flags that do not go together, or are missing, with what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Conflict {
    /// What is wrong and what to do.
    text: String,
    /// Settings the text speaks of; where one was not typed, the user must be told where it comes from.
    keys: Vec<&'static str>,
}

impl Conflict {
    pub(super) fn new(keys: &[&'static str], text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            keys: keys.to_vec(),
        }
    }

    /// The error a user reads: settings that were not typed are named with their place.
    pub(in crate::cli) fn explain(self, settings: &[Setting]) -> UsageError {
        let elsewhere = settings
            .iter()
            .filter(|setting| self.keys.contains(&setting.key.as_str()))
            .filter(|setting| setting.origin != Origin::Flag)
            .map(|setting| format!("\n--{} comes from {}.", setting.key, setting.origin));
        let places: String = elsewhere.collect();
        UsageError::Invalid(format!("{}{places}", self.text))
    }
}

/// A part of the [`Config`](crate::cli::Config), or why there is none.
pub(super) type Resolved<T> = Result<T, Conflict>;
