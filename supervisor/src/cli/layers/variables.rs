//! Settings from the environment: `PRESSROOM_MAX_SIZE=300KB` and the like. `PRESSROOM_TEST_*` belongs to the tests.

use super::keys::{Value, found, lookup, unknown};
use super::{Environment, Layer, Origin};
use crate::cli::UsageError;
use clap::{Arg, ArgAction, Command};
use std::ffi::OsStr;

/// What the environment says.
pub(super) fn layer(command: &Command, environment: &Environment) -> Result<Layer, UsageError> {
    let mut layer = Vec::new();
    for (name, value) in environment {
        let Some(key) = setting_variable(name) else {
            continue;
        };
        let Some(arg) = lookup(command, &key) else {
            let show = |key: &str| format!("PRESSROOM_{}", key.replace('-', "_").to_uppercase());
            return Err(UsageError::Invalid(unknown(
                command, &key, "variable", show,
            )));
        };
        let origin = Origin::Variable(name.to_string_lossy().into_owned());
        layer.push(found(
            command,
            arg,
            variable_value(arg, value, &origin)?,
            origin,
        )?);
    }
    Ok(layer)
}

fn setting_variable(name: &OsStr) -> Option<String> {
    let key = name.to_str()?.strip_prefix("PRESSROOM_")?;
    let own = key == "CONFIG" || key == "PROFILE" || key.starts_with("TEST_");
    (!own).then(|| key.to_lowercase().replace('_', "-"))
}

fn variable_value(arg: &Arg, value: &OsStr, origin: &Origin) -> Result<Value, UsageError> {
    // What is not UTF-8 is no word of these two kinds; a path or name goes on as its bytes.
    let text = value.to_str().unwrap_or("\u{fffd}");
    match arg.get_action() {
        ArgAction::SetTrue => match text {
            "1" | "true" | "yes" | "on" => Ok(Value::Switch(true)),
            "" | "0" | "false" | "no" | "off" => Ok(Value::Switch(false)),
            _ => Err(UsageError::Invalid(format!("{origin}: write 1 or 0"))),
        },
        ArgAction::Count => text
            .parse()
            .map(Value::Times)
            .map_err(|_| UsageError::Invalid(format!("{origin}: write a number such as 1"))),
        ArgAction::Set
        | ArgAction::Append
        | ArgAction::SetFalse
        | ArgAction::Help
        | ArgAction::HelpShort
        | ArgAction::HelpLong
        | ArgAction::Version
        | _ => Ok(Value::Texts(vec![value.to_owned()])),
    }
}
