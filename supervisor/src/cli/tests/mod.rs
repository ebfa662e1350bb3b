//! What is typed, set and written down, and what comes of it.

mod commands;
mod flags;
mod settings;

use super::config::{Amount, CountOrShare, Destination, Inputs, ListFrom, Sink, Workers};
use super::*;
use pressroom_shared::{Format, Goal, Metric, SizeLimit};
use std::io;
use std::time::Duration;

/// A request: flags, variables and a settings file in the usual place.
#[derive(Default)]
struct Request<'a> {
    flags: &'a [&'a str],
    variables: &'a [(&'a str, &'a str)],
    file: Option<&'a str>,
}

impl Request<'_> {
    fn interpret(&self) -> Result<Command, UsageError> {
        let args: Vec<OsString> = self.flags.iter().map(OsString::from).collect();
        let mut environment: layers::Environment = self
            .variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        environment.insert("HOME".into(), "/home/ann".into());
        interpret(&args, &environment, &|path| match self.file {
            Some(text) if path == Path::new("/home/ann/.config/pressroom/config.toml") => {
                Ok(text.to_owned())
            }
            _ => Err(io::ErrorKind::NotFound.into()),
        })
    }

    fn config(&self) -> Config {
        match self.interpret() {
            Ok(Command::Run(config)) => *config,
            other => panic!("{:?}: {other:?}", self.flags),
        }
    }

    fn error(&self) -> String {
        match self.interpret() {
            Err(error) => {
                assert_eq!(error.exit(), crate::exit::Exit::Usage);
                error.to_string()
            }
            Ok(command) => panic!("{:?}: {command:?}", self.flags),
        }
    }
}

fn config(flags: &[&str]) -> Config {
    Request {
        flags,
        ..Request::default()
    }
    .config()
}

fn error(flags: &[&str]) -> String {
    Request {
        flags,
        ..Request::default()
    }
    .error()
}
