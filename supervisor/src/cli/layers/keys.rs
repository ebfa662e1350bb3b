//! Keys of settings files and names of variables are the long flags; this turns one into the flags it stands for.

use super::{Origin, Setting, parse};
use crate::cli::UsageError;
use crate::cli::suggest::closest;
use clap::{Arg, ArgAction, Command};
use std::ffi::OsString;

/// Flags that say where settings come from; they cannot stand in a settings file.
pub(super) const NOT_SETTINGS: [&str; 5] = ["config", "no_config", "profile", "help", "paths"];

/// One key of one place. No flags means "switched off here", which silences lower places all the same.
pub(super) struct Found {
    /// Name of the flag inside the parser.
    pub(super) id: String,
    /// What it says.
    pub(super) setting: Setting,
}

pub(super) fn key_of(arg: &Arg) -> String {
    arg.get_long().unwrap_or_default().to_owned()
}

/// The flags that give `arg` these values.
pub(super) fn flags_of(arg: &Arg, values: Vec<OsString>) -> Vec<OsString> {
    let dashed = OsString::from(format!("--{}", key_of(arg)));
    if !arg.get_action().takes_values() {
        return vec![dashed];
    }
    let joined = |value: OsString| {
        let mut flag = dashed.clone();
        flag.push("=");
        flag.push(value);
        flag
    };
    values.into_iter().map(joined).collect()
}

/// The flag a key stands for, under its name or an alias.
pub(super) fn lookup<'a>(command: &'a Command, key: &str) -> Option<&'a Arg> {
    settings_of(command).find(|arg| names_of(arg).any(|name| name == key))
}

fn settings_of(command: &Command) -> impl Iterator<Item = &Arg> {
    command
        .get_arguments()
        .filter(|arg| !NOT_SETTINGS.contains(&arg.get_id().as_str()) && arg.get_long().is_some())
}

fn names_of(arg: &Arg) -> impl Iterator<Item = &str> {
    arg.get_long()
        .into_iter()
        .chain(arg.get_visible_aliases().unwrap_or_default())
}

pub(super) fn unknown(
    command: &Command,
    key: &str,
    what: &str,
    show: impl Fn(&str) -> String,
) -> String {
    let known = settings_of(command).flat_map(names_of);
    let hint = closest(key, known).map_or_else(
        || "; the keys are the flags of pressroom --help".to_owned(),
        |near| format!("; did you mean {}?", show(near)),
    );
    format!("unknown {what} {}{hint}", show(key))
}

/// What one switch or value of a lower place says.
pub(super) enum Value {
    Switch(bool),
    Times(u8),
    Texts(Vec<OsString>),
}

/// Turns one key of a lower place into flags and lets the parser check them.
pub(super) fn found(
    command: &Command,
    arg: &Arg,
    value: Value,
    origin: Origin,
) -> Result<Found, UsageError> {
    let key = key_of(arg);
    let mismatch = |wanted: &str| UsageError::Invalid(format!("{origin}: {key} wants {wanted}"));
    let flags = match (arg.get_action(), value) {
        (ArgAction::SetTrue, Value::Switch(on)) => {
            vec![OsString::from(format!("--{key}")); usize::from(on)]
        }
        (ArgAction::SetTrue, _) => return Err(mismatch("true or false")),
        (ArgAction::Count, Value::Times(times)) => {
            vec![OsString::from(format!("--{key}")); usize::from(times)]
        }
        (ArgAction::Count, _) => return Err(mismatch("a number such as 1")),
        (_, Value::Texts(texts)) => flags_of(arg, texts),
        (_, Value::Times(number)) => flags_of(arg, vec![number.to_string().into()]),
        (_, Value::Switch(_)) => return Err(mismatch("a value, not true or false")),
    };
    parse(command, &flags).map_err(|error| error.found_in(&origin.to_string()))?;
    let setting = Setting { key, flags, origin };
    Ok(Found {
        id: arg.get_id().to_string(),
        setting,
    })
}
