//! What a run is to do, fully resolved: no text to parse, no conflict left. Plain data.

use globset::GlobSet;
use pressroom_shared::{Limits, SandboxMode, Settings};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use crate::units::{Amount, CountOrShare};

/// Name of the folder with pressroom's own files, below the output folder (in place: below the first input folder).
pub const HOME: &str = ".pressroom";

/// Everything a run needs to know.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where images are looked for.
    pub inputs: Inputs,
    /// Where results go.
    pub destination: Destination,
    /// What outputs are called.
    pub naming: Naming,
    /// What the results look like; travels to the workers and is the key of "already done".
    pub settings: Settings,
    /// What one job may use.
    pub limits: Limits,
    /// Which files are taken.
    pub selection: Selection,
    /// How existing and new files are treated on disk.
    pub publishing: Publishing,
    /// Workers, limits of the run, behaviour on failure.
    pub running: Running,
    /// What is said and where.
    pub output: OutputConfig,
}

/// Where images are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inputs {
    /// Files and folders as named, in that order.
    Paths(Vec<PathBuf>),
    /// Names from a list.
    List {
        /// Where the list is read from.
        from: ListFrom,
        /// Byte between two names: newline or NUL.
        separator: u8,
        /// Folder whose tree is mirrored; what is listed must lie in it. Relative names start at the current folder.
        base: PathBuf,
    },
}

/// Where a list of names is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListFrom {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

/// Where results go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// A tree of its own.
    Tree {
        /// The output folder.
        root: PathBuf,
    },
    /// Over the originals.
    InPlace {
        /// Folder that gets a copy of each original first.
        backup: Option<PathBuf>,
    },
}

/// What outputs are called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Naming {
    /// All outputs directly in the output folder.
    pub flatten: bool,
    /// Text put between the name and its extension.
    pub suffix: Option<String>,
}

/// Which files are taken.
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each switch is a flag of its own on the command line"
)]
pub struct Selection {
    /// At least one must match, if there are any.
    pub include: Option<GlobSet>,
    /// None may match; a folder that matches is not entered.
    pub exclude: GlobSet,
    /// Enter sub-folders.
    pub recurse: bool,
    /// Take names that start with a dot.
    pub hidden: bool,
    /// Go by names only: no file is opened to see whether it is a picture.
    pub by_name: bool,
    /// Follow symbolic links found in the walk; links named on the command line are always followed.
    pub follow_symlinks: bool,
}

/// How existing and new files are treated on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publishing {
    /// What happens to an output that exists and is not ours.
    pub overwrite: Overwrite,
    /// What outputs take over from their inputs.
    pub preserve: Preserve,
}

/// What happens to an output that exists and is not ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Overwrite {
    /// It stays; the input is skipped.
    Never,
    /// It is replaced by something smaller only.
    Smaller,
    /// It is replaced.
    Always,
}

/// What outputs take over from their inputs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each attribute is chosen on its own"
)]
pub struct Preserve {
    /// Permission bits.
    pub mode: bool,
    /// Access and modification times.
    pub times: bool,
    /// Owner and group, as far as the user may set them.
    pub owner: bool,
    /// Extended attributes, ACLs among them.
    pub xattr: bool,
}

/// Workers, limits of the run, behaviour on failure.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each switch is a flag of its own on the command line"
)]
pub struct Running {
    /// How many workers.
    pub workers: Workers,
    /// Bytes of memory per worker.
    pub memory_per_worker: u64,
    /// Refuse to start unless the kernel enforces the memory cap.
    pub require_hard_limit: bool,
    /// Memory all workers may have together.
    pub memory_total: Option<Amount>,
    /// What happens to an image that needs more than the cap.
    pub oversize: Oversize,
    /// Wall-clock time one image may take.
    pub timeout: Duration,
    /// Time after which no new image is started.
    pub run_for: Option<Duration>,
    /// Further attempts after an ambiguous death of a worker.
    pub retries: u8,
    /// Failures after which the run stops.
    pub max_fail: Option<CountOrShare>,
    /// Jobs after which a worker is replaced by a fresh one.
    pub recycle_after: u32,
    /// Niceness added to workers.
    pub nice: Option<u8>,
    /// Nice 19, batch scheduling, idle I/O.
    pub background: bool,
    /// How much confinement.
    pub sandbox: SandboxMode,
    /// Room there must be on the output's disk before a run starts.
    pub min_free: Option<Amount>,
    /// Folder that gets a link to each file that killed its workers.
    pub quarantine: Option<PathBuf>,
    /// The ledger, where it does not stand in the output folder.
    pub state: Option<PathBuf>,
    /// Do files again that failed before.
    pub retry_failed: bool,
    /// Check that outputs of unchanged files still stand as the ledger has them.
    pub recheck: bool,
    /// What happens when another run holds the lock.
    pub lock: LockMode,
}

/// How many workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workers {
    /// One per usable physical core, less some.
    Auto {
        /// Cores to leave free.
        reserve: u16,
    },
    /// So many, whatever the machine has.
    Exactly(u16),
}

/// What happens to an image that needs more than the memory cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Oversize {
    /// It fails, with the bytes it needs.
    Refuse,
    /// It is done at the end by one worker with a bigger cap while the others pause.
    Alone,
}

/// What happens when another run holds the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum LockMode {
    /// End at once with exit code 75.
    Fail,
    /// Wait for the other run.
    Wait,
    /// End at once with exit code 0.
    Skip,
}

/// What is said and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputConfig {
    /// 0 for the summary only, 1 for a line per file, 2 for everything.
    pub verbosity: u8,
    /// Say nothing unless something is wrong.
    pub quiet: bool,
    /// Whether known failures are news.
    pub known_failures: KnownFailures,
    /// The progress display.
    pub progress: Progress,
    /// One JSON object per file and one for the run.
    pub json: Option<Sink>,
    /// One line per file.
    pub csv: Option<PathBuf>,
    /// A page to look at.
    pub html: Option<PathBuf>,
    /// Prometheus text file.
    pub metrics: Option<PathBuf>,
    /// Do everything but publish.
    pub dry_run: bool,
}

/// What is made of files that failed in an earlier run and are as they were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum KnownFailures {
    /// They are failures as any other: the exit code and a quiet run say so. Whoever starts a run without a word gets the
    /// truth about all of its files.
    #[default]
    Fail,
    /// They were told of when they were new; they are counted and listed, and only new failures are news.
    Ok,
}

/// The long edge of `--shrink-to-fit` without a value.
pub const USUAL_EDGE: u32 = 1024;

/// The progress display.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Progress {
    /// A bar on a terminal, plain lines on one that cannot move its cursor (TERM=dumb), nothing otherwise.
    Auto,
    /// A line per worker and a bar.
    Bar,
    /// A plain line now and then.
    Lines,
    /// None.
    Off,
}

/// Where a stream of records goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sink {
    /// Standard output.
    Stdout,
    /// A file.
    File(PathBuf),
}

impl Config {
    /// Whether originals are replaced.
    pub fn in_place(&self) -> bool {
        matches!(self.destination, Destination::InPlace { .. })
    }

    /// Folders that pressroom itself writes to and that are therefore never taken as input.
    pub fn own_folders(&self) -> Vec<&Path> {
        let output = match &self.destination {
            Destination::Tree { root } => Some(root),
            Destination::InPlace { backup } => backup.as_ref(),
        };
        output
            .into_iter()
            .chain(self.running.quarantine.as_ref())
            .map(PathBuf::as_path)
            .collect()
    }
}
