//! Settings from a TOML file: the top level, and the profile chosen.

use super::keys::{Value, found, lookup, unknown};
use super::{Environment, Layer, Origin, ReadFile};
use crate::cli::UsageError;
use crate::cli::args::RunArgs;
use clap::Command;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Profiles that come with pressroom.
const SHIPPED: &str = include_str!("../profiles.toml");

/// The chosen profile, then the top level of the settings file.
pub(super) fn layers(
    command: &Command,
    choice: &RunArgs,
    environment: &Environment,
    read: ReadFile<'_>,
) -> Result<Vec<Layer>, UsageError> {
    let file = settings_file(choice, environment, read)?;
    let mut top = Layer::new();
    let mut profiles = toml::Table::new();
    if let Some((path, mut table)) = file.clone() {
        profiles = profiles_of(&mut table, &path)?;
        top = from_table(command, &table, &Origin::File(path, None))?;
    }
    let named = |text: &OsString| text.to_string_lossy().into_owned();
    let variable = environment.get(OsStr::new("PRESSROOM_PROFILE")).map(named);
    let Some(name) = choice.output.profile.clone().or(variable) else {
        return Ok(vec![top]);
    };
    let mut shipped: toml::Table = SHIPPED.parse().map_err(|_| UsageError::Shipped)?;
    let shipped = profiles_of(&mut shipped, Path::new("profiles.toml"))?;
    let (table, origin) = match (profiles.get(&name), file, shipped.get(&name)) {
        (Some(own), Some((path, _)), _) => (own, Origin::File(path, Some(name))),
        (_, _, Some(shipped)) => (shipped, Origin::Shipped(name)),
        _ => return Err(no_profile(&name, &profiles, &shipped)),
    };
    let table = table.as_table().ok_or(UsageError::Shipped)?;
    Ok(vec![from_table(command, table, &origin)?, top])
}

fn no_profile(name: &str, own: &toml::Table, shipped: &toml::Table) -> UsageError {
    let names: BTreeSet<&str> = own
        .keys()
        .chain(shipped.keys())
        .map(String::as_str)
        .collect();
    let list: Vec<&str> = names.into_iter().collect();
    UsageError::Invalid(format!(
        "there is no profile {name:?}; there are {}",
        list.join(", ")
    ))
}

/// The settings file named, or the one in the usual place if it is there.
fn settings_file(
    choice: &RunArgs,
    environment: &Environment,
    read: ReadFile<'_>,
) -> Result<Option<(PathBuf, toml::Table)>, UsageError> {
    if choice.output.no_config {
        return Ok(None);
    }
    let variable = |name: &str| {
        environment
            .get(OsStr::new(name))
            .filter(|value| !value.is_empty())
    };
    let named = choice
        .output
        .config
        .clone()
        .or_else(|| variable("PRESSROOM_CONFIG").map(PathBuf::from));
    // The XDG base directory specification: a relative path is to be ignored.
    let usual = variable("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|folder| folder.is_absolute())
        .or_else(|| variable("HOME").map(|home| Path::new(home).join(".config")))
        .map(|folder| folder.join("pressroom/config.toml"));
    let must = named.is_some();
    let Some(path) = named.or(usual) else {
        return Ok(None);
    };
    let text = match read(&path) {
        Ok(text) => text,
        Err(error) if !must && is_absent(&error) => return Ok(None),
        Err(error) => return Err(UsageError::ReadSettings { path, error }),
    };
    let table = text.parse().map_err(|error: toml::de::Error| {
        UsageError::Invalid(format!("{}: {error}", path.display()))
    })?;
    Ok(Some((path, table)))
}

/// A home folder that is none (`/dev/null`, as some services have) holds no settings.
fn is_absent(error: &std::io::Error) -> bool {
    [
        std::io::ErrorKind::NotFound,
        std::io::ErrorKind::NotADirectory,
    ]
    .contains(&error.kind())
}

/// Takes the `[profile.*]` tables out of a settings file.
fn profiles_of(table: &mut toml::Table, path: &Path) -> Result<toml::Table, UsageError> {
    let wrong = |what: &str| {
        UsageError::Invalid(format!(
            "{}: {what} must be a table; write [profile.NAME] above its settings",
            path.display()
        ))
    };
    let profiles = match table.remove("profile") {
        None => return Ok(toml::Table::new()),
        Some(toml::Value::Table(profiles)) => profiles,
        Some(_) => return Err(wrong("profile")),
    };
    match profiles.iter().find(|(_, value)| !value.is_table()) {
        None => Ok(profiles),
        Some((name, _)) => Err(wrong(&format!("profile.{name}"))),
    }
}

fn from_table(
    command: &Command,
    table: &toml::Table,
    origin: &Origin,
) -> Result<Layer, UsageError> {
    let one = |(key, value): (&String, &toml::Value)| {
        let Some(arg) = lookup(command, key) else {
            let text = unknown(command, key, "key", |key| format!("{key:?}"));
            return Err(UsageError::Invalid(format!("{origin}: {text}")));
        };
        found(
            command,
            arg,
            table_value(key, value, origin)?,
            origin.clone(),
        )
    };
    table.iter().map(one).collect()
}

fn table_value(key: &str, value: &toml::Value, origin: &Origin) -> Result<Value, UsageError> {
    let text = |value: &toml::Value| match value {
        toml::Value::String(text) => Some(OsString::from(text)),
        toml::Value::Integer(number) => Some(number.to_string().into()),
        toml::Value::Float(number) => Some(number.to_string().into()),
        toml::Value::Boolean(_)
        | toml::Value::Datetime(_)
        | toml::Value::Array(_)
        | toml::Value::Table(_) => None,
    };
    let texts = match value {
        toml::Value::Boolean(on) => return Ok(Value::Switch(*on)),
        toml::Value::Integer(number @ 0..=255) => return Ok(Value::Times(*number as u8)),
        toml::Value::Array(list) => list.iter().map(text).collect(),
        one @ (toml::Value::String(_) | toml::Value::Integer(_) | toml::Value::Float(_)) => {
            text(one).map(|text| vec![text])
        }
        toml::Value::Datetime(_) | toml::Value::Table(_) => None,
    };
    texts.map(Value::Texts).ok_or_else(|| {
        UsageError::Invalid(format!(
            "{origin}: {key} wants text, a number, true or false, or a list of these"
        ))
    })
}
