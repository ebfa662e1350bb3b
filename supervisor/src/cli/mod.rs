//! The command line: what was typed, the environment and the settings file become one [`Config`], or an error that says
//! what to do.
//!
//! `args` is the flags as typed, `layers` lays flags over variables over profile over file, `resolve` finds every
//! conflict and makes the [`Config`]. Nothing here starts anything or prints.

pub mod args;
pub mod config;
mod layers;
mod papers;
mod resolve;
mod suggest;
mod unbuilt;
mod values;

pub use args::{DoctorArgs, ReportArgs};
pub use config::Config;
pub(crate) use papers::{completions, manual};
pub(crate) use unbuilt::refusal;

use clap::{FromArgMatches, Subcommand};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What was asked for.
#[derive(Debug)]
pub enum Command {
    /// Compress images.
    Run(Box<Config>),
    /// Say what an earlier run did.
    Report(ReportArgs),
    /// Say what this machine offers.
    Doctor(DoctorArgs),
    /// Print this text.
    Print(String),
    /// Print what makes this shell complete the flags.
    Completions(clap_complete::Shell),
    /// Write the manual pages into this folder.
    Manual(PathBuf),
}

/// Why there is nothing to run. The text is complete; `Shown` goes to standard output with exit code 0, all others to
/// standard error with exit code 2 (see [`UsageError::exit`]).
#[derive(Debug, thiserror::Error)]
pub enum UsageError {
    /// Help or the version was asked for.
    #[error("{0}")]
    Shown(String),
    /// The request makes no sense; the text says why and what to do.
    #[error("{0}")]
    Invalid(String),
    /// The settings file cannot be read.
    #[error("cannot read the settings file {}: {error}; name another one with --config, or use --no-config", path.display())]
    ReadSettings {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The profiles that come with pressroom do not parse; a test keeps this from happening.
    #[error("the profiles that come with pressroom are damaged; please report this")]
    Shipped,
}

impl UsageError {
    /// How the program ends.
    pub fn exit(&self) -> crate::exit::Exit {
        match self {
            Self::Shown(_) => crate::exit::Exit::Success,
            Self::Invalid(_) | Self::ReadSettings { .. } | Self::Shipped => {
                crate::exit::Exit::Usage
            }
        }
    }

    /// The same error, with the command that the first word may have been meant for. A path would have a dot or a slash.
    fn or_command(self, first: Option<&OsString>) -> Self {
        let word = first.and_then(|word| word.to_str()).unwrap_or_default();
        let near = suggest::closest(word, layers::COMMANDS.into_iter());
        match (self, near) {
            (Self::Invalid(text), Some(near)) => {
                Self::Invalid(format!("{text}\nOr did you mean 'pressroom {near}'?"))
            }
            (other, _) => other,
        }
    }

    /// The same error, saying in which file or variable it was found.
    fn found_in(self, origin: &str) -> Self {
        match self {
            Self::Invalid(text) => Self::Invalid(format!("{origin}: {text}")),
            other @ (Self::Shown(_) | Self::ReadSettings { .. } | Self::Shipped) => other,
        }
    }
}

impl From<clap::Error> for UsageError {
    fn from(error: clap::Error) -> Self {
        if !error.use_stderr() {
            return Self::Shown(error.render().to_string());
        }
        let text = error.render().to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        let end = text
            .find("\n\nUsage:")
            .or_else(|| text.find("\n\nFor more"))
            .unwrap_or(text.len());
        let text = text[..end].trim_end();
        Self::Invalid(format!("{text}\nTry 'pressroom --help'."))
    }
}

/// Reads the command line, the environment and the settings file.
///
/// `args` is everything after the program's name.
///
/// # Errors
/// Help and version texts, and every request that makes no sense.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, UsageError> {
    let args: Vec<OsString> = args.into_iter().collect();
    let environment = std::env::vars_os().collect();
    interpret(&args, &environment, &|path: &Path| {
        std::fs::read_to_string(path)
    })
}

/// A run in which nothing but input and output is said: every setting has its default.
///
/// # Errors
/// None that could be told apart from a mistake in the defaults themselves, which a test rules out.
pub(crate) fn defaults() -> Result<Config, UsageError> {
    let mut args = args::RunArgs {
        paths: vec![PathBuf::from(".")],
        ..Default::default()
    };
    args.place.output = Some(PathBuf::from("out"));
    resolve::resolve(args).map_err(|conflict| conflict.explain(&[]))
}

/// As [`parse`], but pure.
pub(crate) fn interpret(
    args: &[OsString],
    environment: &layers::Environment,
    read: layers::ReadFile<'_>,
) -> Result<Command, UsageError> {
    let named = args.first().filter(|word| layers::is_command(word));
    match named.and_then(|word| word.to_str()) {
        None => run(args, environment, read).map_err(|error| error.or_command(args.first())),
        Some("run") => run(&args[1..], environment, read),
        Some("config") => {
            let effective = layers::effective(&args[1..], environment, read)?;
            Ok(Command::Print(settings_text(&effective.settings)))
        }
        Some(_) => other(args),
    }
}

fn run(
    typed: &[OsString],
    environment: &layers::Environment,
    read: layers::ReadFile<'_>,
) -> Result<Command, UsageError> {
    let effective = layers::effective(typed, environment, read)?;
    let config = resolve::resolve(effective.args)
        .map_err(|conflict| conflict.explain(&effective.settings))?;
    Ok(Command::Run(Box::new(config)))
}

fn other(args: &[OsString]) -> Result<Command, UsageError> {
    let command = args::Subcommands::augment_subcommands(clap::Command::new("pressroom"));
    let name = OsString::from("pressroom");
    let matches = command.try_get_matches_from(std::iter::once(&name).chain(args))?;
    match args::Subcommands::from_arg_matches(&matches)? {
        args::Subcommands::Report(report) => Ok(Command::Report(report)),
        args::Subcommands::Doctor(doctor) => Ok(Command::Doctor(doctor)),
        args::Subcommands::Completions(wanted) => Ok(Command::Completions(wanted.shell)),
        args::Subcommands::Man(wanted) => Ok(Command::Manual(wanted.folder)),
        args::Subcommands::Run(_) | args::Subcommands::Config(_) => Err(UsageError::Invalid(
            "name the command first: pressroom run PATH...".to_owned(),
        )),
    }
}

/// One line per setting with its origin, then those that have their default, as the help text names it.
fn settings_text(settings: &[layers::Setting]) -> String {
    let line = |setting: &layers::Setting| {
        let flags: Vec<_> = setting
            .flags
            .iter()
            .map(|flag| flag.to_string_lossy())
            .collect();
        format!("{}   # {}\n", flags.join(" "), setting.origin)
    };
    let set: String = settings.iter().map(line).collect();
    let defaults: String = layers::run_command()
        .get_arguments()
        .filter(|arg| arg.get_id() != "config")
        .filter(|arg| {
            !settings
                .iter()
                .any(|setting| Some(setting.key.as_str()) == arg.get_long())
        })
        .filter_map(default_of)
        .collect();
    format!("{set}# by default:\n{defaults}")
}

fn default_of(arg: &clap::Arg) -> Option<String> {
    let help = arg.get_help()?.to_string();
    let (_, default) = help.rsplit_once("[default: ")?;
    let default = default.trim_end_matches(']');
    Some(format!("#   --{} {default}\n", arg.get_long()?))
}

#[cfg(test)]
mod tests;
