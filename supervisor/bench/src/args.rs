//! The bench's own command line. Checks each value on its own and does nothing.

use clap::Parser;
use pressroom_supervisor::units;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  pressroom bench photos
      a minute of experiments with a sample of the pictures in photos, then a recommendation
  pressroom bench photos --budget 5m --html bench.html --json bench.json
      more rounds, so that smaller differences show; a page with plots; every figure for programs
  pressroom bench photos --write-config -- --max-size 300KB --effort 9
      what the nightly run does, measured; the recommendation becomes pressroom.toml
  pressroom bench
      with pictures that it draws itself

Children of the bench end with it. Pictures are read only; results go to the folder for temporary files (TMPDIR) and are removed.

Exit codes: 0 done (also where the machine was too noisy to tell), 2 wrong usage, 3 cannot run.";

/// `pressroom bench`.
#[derive(Debug, Parser)]
#[command(
    name = "pressroom bench",
    about = "Measures on this machine what the number of workers, processes and memory caps should be",
    after_help = EXAMPLES,
    override_usage = "pressroom bench [OPTIONS] [PATH]... [-- RUN FLAGS]"
)]
pub(crate) struct Args {
    /// Pictures, or folders with pictures, of which a sample is used; without any, pictures are drawn
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Time to take in all, for example 60s or 5m
    #[arg(long, value_name = "DUR", default_value = "60s", value_parser = budget)]
    pub(crate) budget: Duration,

    /// Write a page with tables and plots
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Write every figure as one JSON object; with - it goes to standard output and the tables to standard error
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<PathBuf>,

    /// Write the recommendation as a settings file for --config
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "pressroom.toml")]
    pub(crate) write_config: Option<PathBuf>,

    /// Say only the recommendation
    #[arg(short = 'Q', long)]
    pub(crate) quiet: bool,

    /// Settings of the runs to measure, as `pressroom run` takes them
    #[arg(last = true, value_name = "RUN FLAGS")]
    pub(crate) flags: Vec<OsString>,
}

/// Shortest budget that can show anything.
const SHORTEST: Duration = Duration::from_secs(2);

fn budget(text: &str) -> Result<Duration, String> {
    match units::duration(text) {
        Ok(budget) if budget < SHORTEST => {
            Err("at least 2s are needed to show anything".to_owned())
        }
        Ok(budget) => Ok(budget),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parse(words: &[&str]) -> Result<Args, clap::Error> {
        Args::try_parse_from(std::iter::once("pressroom bench").chain(words.iter().copied()))
    }

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn defaults_and_flags() {
        let args = parse(&[]).unwrap();
        assert_eq!(
            (args.budget, args.paths.len()),
            (Duration::from_secs(60), 0)
        );
        assert_eq!(args.write_config, None);
        let args = parse(&["a", "b", "--budget", "5s", "--", "--max-size", "300KB"]).unwrap();
        assert_eq!((args.paths.len(), args.flags.len()), (2, 2));
        let args = parse(&["--write-config", "--json", "-"]).unwrap();
        assert_eq!(args.write_config, Some("pressroom.toml".into()));
        assert_eq!(args.json, Some("-".into()));
    }

    #[test]
    fn a_budget_is_a_time_that_can_show_something() {
        for text in ["1s", "0s", "60", "soon"] {
            assert!(parse(&["--budget", text]).is_err(), "{text}");
        }
    }
}
