//! What a run says about itself in words: its head, and why it ended early. Pure.

use crate::cli::Config;
use crate::cli::config::{Destination, Inputs};
use crate::cores::WorkerCount;
use crate::pool::{CannotGoOn, StopReason};
use crate::report::Header;
use crate::units::{show_memory, show_size};
use pressroom_shared::{Enforced, Goal, Metric, SandboxMode, Settings, SizeLimit};
use std::path::PathBuf;

/// The head of a run, but for what only a worker can say.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    inputs: Vec<PathBuf>,
    output: Option<PathBuf>,
    goal: String,
    count: WorkerCount,
    memory: u64,
    cgroup: bool,
    sandbox: SandboxMode,
    verbose: bool,
}

impl Draft {
    pub(super) fn new(config: &Config, count: &WorkerCount, cgroup: bool) -> Self {
        Self {
            inputs: match &config.inputs {
                Inputs::Paths(paths) => paths.clone(),
                Inputs::List { base, .. } => vec![base.clone()],
            },
            output: match &config.destination {
                Destination::Tree { root } => Some(root.clone()),
                Destination::InPlace { .. } => None,
            },
            goal: goal(&config.settings),
            count: count.clone(),
            memory: config.running.memory_per_worker,
            cgroup,
            sandbox: config.running.sandbox,
            verbose: config.output.verbosity > 1,
        }
    }

    /// Whether everything is to be said.
    pub(super) fn verbose(&self) -> bool {
        self.verbose
    }

    /// The whole head; `enforced` is what the first worker found to be in force.
    pub(super) fn complete(self, enforced: Option<&Enforced>) -> Header {
        let memory = show_memory(self.memory);
        let cap = match enforced {
            None => format!("{memory} per worker (none was needed)"),
            Some(_) if self.cgroup => format!("{memory} per worker, hard limit (cgroup)"),
            Some(enforced) if enforced.rlimit_data.is_some() => {
                format!("{memory} per worker (process limit; page cache not counted)")
            }
            Some(_) => format!("{memory} per worker (sampled; short peaks may exceed it)"),
        };
        Header {
            sandbox: enforced.map_or_else(
                || "none was needed".to_owned(),
                |enforced| sandbox(self.sandbox, enforced),
            ),
            inputs: self.inputs,
            output: self.output,
            goal: self.goal,
            workers: u32::from(self.count.count),
            workers_why: reason(&self.count).to_owned(),
            cap,
        }
    }
}

/// Why so many workers, without the number, which the head gives itself.
fn reason(count: &WorkerCount) -> &str {
    let number = count.count.to_string();
    let why = count.why.strip_prefix(&number).unwrap_or(&count.why);
    let why = why
        .trim_start()
        .trim_start_matches("workers")
        .trim_start_matches("worker");
    why.trim_start_matches(':').trim_start()
}

fn sandbox(mode: SandboxMode, enforced: &Enforced) -> String {
    if mode == SandboxMode::Off {
        return "off, as asked for".to_owned();
    }
    let files = match (enforced.landlock_abi, enforced.landlock_full) {
        (0, _) => "no Landlock in this kernel: files are not confined",
        (_, true) => "Landlock",
        (_, false) => "Landlock, in part",
    };
    let calls = if enforced.seccomp {
        "system-call filter"
    } else {
        "no system-call filter"
    };
    format!("{files}, {calls}")
}

fn goal(settings: &Settings) -> String {
    match settings.goal {
        Goal::Quality(quality) => format!("quality {quality}"),
        Goal::MaxSize(SizeLimit::Bytes(bytes)) => {
            format!("each image at most {}", show_size(bytes))
        }
        Goal::MaxSize(SizeLimit::Permille(share)) => format!(
            "each image at most {}.{}% of its size",
            share / 10,
            share % 10
        ),
        Goal::Score(Metric::Ssimulacra2, score) => {
            format!("as small as SSIMULACRA2 {score} allows")
        }
        Goal::Lossless => "the same pixels in fewer bytes".to_owned(),
    }
}

/// What the user should know about a run that ended early, beyond what the summary says.
pub(super) fn stopped(reason: StopReason, trouble: Option<&str>) -> Option<String> {
    let trouble = trouble.unwrap_or("nothing was said");
    match reason {
        StopReason::RunFor | StopReason::MaxFail | StopReason::Asked => None,
        StopReason::DiskFull => Some(
            "the disk is full: three files in a row could not be written. Make room and run the same command again; \
             what is done stays done"
                .to_owned(),
        ),
        StopReason::CannotGoOn(why) => Some(match why {
            CannotGoOn::BadStarts => {
                format!("workers do not start: {trouble}. `pressroom doctor` tries one and says what is missing")
            }
            CannotGoOn::IdleDeaths => format!(
                "workers die while they have nothing to do: {trouble}. `pressroom doctor` tries one and says what is missing"
            ),
            CannotGoOn::NoSeatLeft => {
                "no worker is left: those that were killed do not end, which happens when a disk or network file \
                 system hangs. Look at the mount and the system log, then run again"
                    .to_owned()
            }
            CannotGoOn::RecorderLost => "nothing can be recorded any more, so the work was stopped; what is recorded stays done, run again to go on".to_owned(),
        }),
    }
}

/// The walk ended by a defect.
pub(super) const SOURCE_BROKE: &str = "the search for images broke off by a defect of this program, so some files may not \
    have been seen; please report this";

/// A process that stays.
pub(super) fn unkillable(pid: u32) -> String {
    format!(
        "process {pid} was killed but does not end, which happens when a disk or network file system hangs; its image \
         counts as failed"
    )
}

/// A run would fail here and there for want of files.
pub(super) fn too_few_files(limit: u64) -> String {
    format!(
        "only {limit} files may be open here, which is too few to work with: raise the limit (ulimit -n 256)"
    )
}

/// A dry run has nowhere to put what it must write.
pub(super) fn no_folder(why: &dyn std::fmt::Display) -> String {
    format!(
        "cannot make a folder for the dry run in {}: {why}; set TMPDIR to a folder that can be written",
        std::env::temp_dir().display()
    )
}

/// The hard limit that was required is not to be had.
pub(super) fn no_hard_limit(why: &dyn std::fmt::Display) -> String {
    format!(
        "a hard memory limit was required and cannot be set: {why}. Start pressroom in a cgroup of its own, for example \
         with systemd-run --user --scope -p Delegate=yes, or drop ,require from --memory-per-worker"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sandbox_is_told_as_it_is() {
        let full = Enforced {
            rlimit_data: None,
            landlock_abi: 7,
            landlock_full: true,
            seccomp: true,
        };
        assert_eq!(
            sandbox(SandboxMode::Auto, &full),
            "Landlock, system-call filter"
        );
        assert_eq!(
            sandbox(SandboxMode::Auto, &Enforced::default()),
            "no Landlock in this kernel: files are not confined, no system-call filter"
        );
        assert_eq!(sandbox(SandboxMode::Off, &full), "off, as asked for");
    }

    #[test]
    fn the_number_of_workers_is_said_once() {
        let count = |count, why: &str| WorkerCount {
            count,
            why: why.to_owned(),
        };
        assert_eq!(reason(&count(2, "2 workers: 2 cores")), "2 cores");
        assert_eq!(
            reason(&count(3, "3 workers as asked for (2 would fit: 2 cores)")),
            "as asked for (2 would fit: 2 cores)"
        );
    }

    #[test]
    fn only_the_tools_own_trouble_needs_a_word_more() {
        assert_eq!(stopped(StopReason::Asked, None), None);
        let text = stopped(
            StopReason::CannotGoOn(CannotGoOn::BadStarts),
            Some("no memory"),
        );
        assert!(text.is_some_and(|text| {
            text.starts_with("workers do not start: no memory. `pressroom doctor`")
        }));
    }
}
