//! Settings come from four places; this decides which one counts: flags over `PRESSROOM_*` variables over the chosen
//! profile over the top level of the settings file.
//!
//! What the lower places say is turned into flags and read by the same parser, so that a key means, and refuses, exactly
//! what the flag does. Knows keys and values, not what they mean.

mod files;
mod keys;
mod variables;

use self::keys::{Found, NOT_SETTINGS, flags_of, key_of};
use super::UsageError;
use super::args::{Cli, RunArgs, Subcommands};
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches, Subcommand};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

/// A setting given in a higher place silences these in every lower one: they answer the same question.
const SILENCES: [(&str, &[&str]); 14] = [
    (
        "quality",
        &["max_size", "target", "lossless", "shrink_to_fit"],
    ),
    ("max_size", &["quality", "target", "lossless"]),
    (
        "target",
        &["quality", "max_size", "lossless", "shrink_to_fit"],
    ),
    (
        "lossless",
        &["quality", "max_size", "target", "shrink_to_fit"],
    ),
    ("output", &["in_place", "backup"]),
    ("in_place", &["output", "flatten", "suffix", "overwrite"]),
    ("quiet", &["verbose"]),
    ("verbose", &["quiet"]),
    ("workers", &["reserve_cores"]),
    ("reserve_cores", &["workers"]),
    ("nice", &["background"]),
    ("background", &["nice"]),
    ("force", &["min_savings"]),
    ("min_savings", &["force"]),
];

/// What the help text opens with.
const ABOUT: &str = "Compresses directories of images: one worker process per physical core, nothing lost, nothing \
                     half-written";

/// The process environment, as far as it is looked at.
pub(crate) type Environment = BTreeMap<OsString, OsString>;

/// Reads a whole text file.
pub(crate) type ReadFile<'a> = &'a dyn Fn(&Path) -> std::io::Result<String>;

/// Where a setting was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Origin {
    /// The command line.
    Flag,
    /// An environment variable of this name.
    Variable(String),
    /// A settings file, and the profile in it.
    File(PathBuf, Option<String>),
    /// A profile that comes with pressroom.
    Shipped(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("command line"),
            Self::Variable(name) => write!(f, "variable {name}"),
            Self::File(path, None) => write!(f, "{}", path.display()),
            Self::File(path, Some(profile)) => {
                write!(f, "[profile.{profile}] in {}", path.display())
            }
            Self::Shipped(profile) => write!(f, "profile {profile}"),
        }
    }
}

/// A setting in force and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Setting {
    /// The flag without its dashes.
    pub(in crate::cli) key: String,
    /// The flags that say the same on a command line.
    pub(in crate::cli) flags: Vec<OsString>,
    /// Where it was found.
    pub(in crate::cli) origin: Origin,
}

/// All settings of a run after the places were laid over each other.
#[derive(Debug)]
pub(in crate::cli) struct Effective {
    /// As if all had been typed.
    pub(in crate::cli) args: RunArgs,
    /// Each with its origin, in the order of the help text.
    pub(in crate::cli) settings: Vec<Setting>,
}

/// Lays flags over variables over the profile over the file.
///
/// `typed` is what was typed after the name of the command.
pub(in crate::cli) fn effective(
    typed: &[OsString],
    environment: &Environment,
    read: ReadFile<'_>,
) -> Result<Effective, UsageError> {
    let command = run_command();
    let matches = parse(&command, typed)?;
    let choice = read_args(&matches)?;
    let mut merge = Merge::new(&command, &matches);
    merge.add(variables::layer(&command, environment)?);
    for layer in files::layers(&command, &choice, environment, read)? {
        merge.add(layer);
    }
    let mut all: Vec<OsString> = merge
        .settings
        .iter()
        .flat_map(|setting| setting.flags.clone())
        .collect();
    all.extend_from_slice(typed);
    let args = read_args(&parse(&command, &all)?)?;
    Ok(Effective {
        args,
        settings: merge.finish(&matches),
    })
}

/// The parser of `pressroom run`, under the name people type.
pub(in crate::cli) fn run_command() -> Command {
    let whole = Cli::command();
    let run = whole.find_subcommand("run").cloned().unwrap_or_default();
    run.name("pressroom")
        .bin_name("pressroom")
        .display_name("pressroom")
        .about(ABOUT)
        .version(env!("CARGO_PKG_VERSION"))
        .args_override_self(true)
}

fn parse(command: &Command, typed: &[OsString]) -> Result<ArgMatches, UsageError> {
    let name = OsString::from("pressroom");
    command
        .clone()
        .try_get_matches_from(std::iter::once(&name).chain(typed))
        .map_err(UsageError::from)
}

fn read_args(matches: &ArgMatches) -> Result<RunArgs, UsageError> {
    RunArgs::from_arg_matches(matches).map_err(UsageError::from)
}

/// What one place says.
type Layer = Vec<Found>;

/// The laying over each other.
struct Merge<'a> {
    command: &'a Command,
    settled: BTreeSet<String>,
    settings: Vec<Setting>,
}

impl<'a> Merge<'a> {
    fn new(command: &'a Command, matches: &ArgMatches) -> Self {
        let mut merge = Self {
            command,
            settled: BTreeSet::new(),
            settings: Vec::new(),
        };
        for id in typed_ids(command, matches) {
            merge.settle(&id);
        }
        merge
    }

    /// Takes from a lower place what no higher one has settled.
    fn add(&mut self, layer: Layer) {
        let fresh: Vec<Found> = layer
            .into_iter()
            .filter(|found| !self.settled.contains(&found.id))
            .collect();
        for found in fresh {
            self.settle(&found.id);
            if !found.setting.flags.is_empty() {
                self.settings.push(found.setting);
            }
        }
    }

    fn settle(&mut self, id: &str) {
        let silenced = SILENCES.iter().filter(|(winner, _)| *winner == id);
        self.settled.extend(
            silenced.flat_map(|(_, losers)| losers.iter().map(|loser| (*loser).to_owned())),
        );
        self.settled.insert(id.to_owned());
    }

    /// All settings with those that were typed, in the order of the help text.
    fn finish(mut self, matches: &ArgMatches) -> Vec<Setting> {
        for id in typed_ids(self.command, matches) {
            let arg = self
                .command
                .get_arguments()
                .find(|arg| arg.get_id() == id.as_str());
            if let Some(arg) = arg.filter(|_| !NOT_SETTINGS.contains(&id.as_str())) {
                self.settings.push(Setting {
                    key: key_of(arg),
                    flags: flags_of(arg, raw_values(matches, &id)),
                    origin: Origin::Flag,
                });
            }
        }
        let place = |key: &str| {
            self.command
                .get_arguments()
                .position(|arg| arg.get_long() == Some(key))
        };
        self.settings.sort_by_key(|setting| place(&setting.key));
        self.settings
    }
}

fn typed_ids(command: &Command, matches: &ArgMatches) -> Vec<String> {
    command
        .get_arguments()
        .map(|arg| arg.get_id().to_string())
        .filter(|id| matches.value_source(id) == Some(clap::parser::ValueSource::CommandLine))
        .collect()
}

fn raw_values(matches: &ArgMatches, id: &str) -> Vec<OsString> {
    let raw = matches.get_raw(id);
    raw.into_iter().flatten().map(OsStr::to_owned).collect()
}

/// The commands a person types.
pub(in crate::cli) const COMMANDS: [&str; 6] =
    ["run", "report", "doctor", "config", "bench", "completions"];

/// The commands by name, for telling a command from a PATH.
pub(in crate::cli) fn is_command(word: &OsStr) -> bool {
    let names = <Subcommands as Subcommand>::augment_subcommands(Command::new(""));
    word.to_str().is_some_and(|word| {
        names
            .get_subcommands()
            .any(|known| known.get_name() == word)
    })
}
