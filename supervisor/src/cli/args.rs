//! The command line as it is typed: every flag, its help text and the form of its value.
//!
//! Parsing checks each value on its own and does nothing; what flags mean together is decided in `resolve`.

use super::config::{KnownFailures, LockMode, Oversize, Overwrite, Progress};
use super::values::{
    self, ChromaArg, FormatArg, IccArg, MemoryCap, OrientArg, PreserveArg, ProgressiveArg,
    SandboxArg, StripArg, WorkersArg,
};
use crate::units::{self, Amount, CountOrShare};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

/// The whole command line.
#[derive(Debug, Parser)]
#[command(name = "pressroom", version, about, long_about = None, disable_help_subcommand = true)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Subcommands,
}

/// What can be asked for.
#[derive(Debug, Subcommand)]
pub(super) enum Subcommands {
    /// Compress images (understood when no other command is named)
    Run(Box<RunArgs>),
    /// Say what the last run did: totals, failures, slowest files
    Report(ReportArgs),
    /// Say what this machine offers: cores, memory caps, sandbox
    Doctor(DoctorArgs),
    /// Print the settings a run would use and where each comes from
    Config(Box<RunArgs>),
    /// Print what makes a shell complete pressroom's flags
    Completions(CompletionsArgs),
    /// Write the manual pages into a folder.
    #[command(name = "__man", hide = true)]
    Man(ManArgs),
}

const EXAMPLES: &str = "\
Examples:
  pressroom photos -o small --max-size 300KB
      each picture in photos at most 300,000 bytes, at the best quality that fits
  pressroom photos -o web -q 75 --long-edge 2048 --strip gps
      a fixed quality, nothing longer than 2048 pixels, no position
  pressroom photos --in-place --backup originals --min-savings 5%
      replace the originals where it saves 5 % or more, and keep a copy
  find . -name '*.jpg' -newer stamp -print0 | pressroom --files-from - -0 -o small
      only the files of a list
  pressroom photos -o small --run-for 2h --background -Q
      from cron: stops after two hours and goes on the next night; with --known-failures ok a file that
      fails for good is told of once, not every night

Other commands: pressroom report [DIR...], pressroom doctor [DIR], pressroom config [FLAGS],
pressroom bench [PATH...], pressroom completions SHELL. Each has --help.
A folder called like a command is written ./report.

Exit codes:
  0  all done or rightly kept        3  cannot run
  1  some files failed               4  stopped by --run-for or --max-fail
  2  wrong usage                     75 another run is at work on the same output";

/// `pressroom run`, and `pressroom` alone.
#[derive(Debug, Default, Args)]
#[command(after_help = EXAMPLES, override_usage = "pressroom [OPTIONS] PATH... (-o DIR | --in-place)")]
pub struct RunArgs {
    /// Files and folders to take; folders are searched for images
    ///
    /// The contents of a single folder land directly in the output folder; of several, each keeps its own name below it.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Where results go.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// What results look like.
    #[command(flatten)]
    pub result: ResultArgs,
    /// What happens to metadata.
    #[command(flatten)]
    pub metadata: MetadataArgs,
    /// Which files.
    #[command(flatten)]
    pub files: FileArgs,
    /// How the run goes.
    #[command(flatten)]
    pub running: RunningArgs,
    /// What is said.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Where results go.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Destination (one is needed)")]
pub struct PlaceArgs {
    /// Folder for the results; the tree of the input is mirrored in it
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Replace the originals
    #[arg(long)]
    pub in_place: bool,
    /// With --in-place: keep a copy of each original here; another one of the same name becomes photo.jpg.~2~, and so on
    #[arg(long, value_name = "DIR")]
    pub backup: Option<PathBuf>,
}

/// What results look like.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Result")]
pub struct ResultArgs {
    /// Quality from 1 to 100 on the scale of libjpeg, for WebP of libwebp, for AVIF of libheif [default: 80, unless a size or score is asked for]
    #[arg(short, long, value_name = "N", value_parser = values::within::<u8>(1, 100))]
    pub quality: Option<u8>,
    /// Largest size of each result, such as 300KB (300,000 bytes), 300KiB or 40% of the input; the best quality that fits
    #[arg(long, value_name = "SIZE|PCT", visible_alias = "target-size", value_parser = units::amount)]
    pub max_size: Option<Amount>,
    /// Smallest result that keeps a score, such as ssimulacra2:80 (90 looks the same, 50 is visibly compressed)
    #[arg(long, value_name = "METRIC:N")]
    pub target: Option<String>,
    /// Only what leaves every pixel as it is
    #[arg(long)]
    pub lossless: bool,
    /// Lowest quality --max-size may use; below it the original is kept [default: 5]
    #[arg(long, value_name = "N", value_parser = values::within::<u8>(1, 100))]
    pub min_quality: Option<u8>,
    /// Format of the results; avif only in a build with --features avif [default: same]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<FormatArg>,
    /// From 0 (fastest) to 9 (smallest) [default: 5]
    #[arg(long, value_name = "N", value_parser = values::within::<u8>(0, 9))]
    pub effort: Option<u8>,
    /// Progressive JPEG; auto takes the smaller form [default: auto]
    #[arg(long, value_enum, value_name = "WHEN")]
    pub progressive: Option<ProgressiveArg>,
    /// Resolution of colour in lossy results; never more than the input has [default: auto]
    #[arg(long, value_enum, value_name = "MODE")]
    pub chroma: Option<ChromaArg>,
    /// Nothing wider than this, in pixels as a person sees the picture; never enlarges
    #[arg(long, value_name = "N", value_parser = values::within::<u32>(1, 65535))]
    pub max_width: Option<u32>,
    /// Nothing taller than this
    #[arg(long, value_name = "N", value_parser = values::within::<u32>(1, 65535))]
    pub max_height: Option<u32>,
    /// No long edge above this
    #[arg(long, value_name = "N", value_parser = values::within::<u32>(1, 65535))]
    pub long_edge: Option<u32>,
    /// No short edge above this
    #[arg(long, value_name = "N", value_parser = values::within::<u32>(1, 65535))]
    pub short_edge: Option<u32>,
    /// Resize in linear light: fine bright detail stays bright; slower
    #[arg(long)]
    pub linear_light: bool,
    /// If --max-size cannot be met at --min-quality, shrink the picture, but not below this long edge [default edge: 1024]
    #[arg(long, value_name = "EDGE", num_args = 0..=1, require_equals = true, default_missing_value = "1024",
          value_parser = values::within::<u32>(1, 65535))]
    pub shrink_to_fit: Option<u32>,
    /// Allow PNG to be reduced to a palette
    #[arg(long)]
    pub lossy_png: bool,
}

/// What happens to metadata.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Metadata (kept by default)")]
pub struct MetadataArgs {
    /// Kinds to remove, separated by commas
    ///
    /// "all" is every kind but icc: without its profile a picture shows wrong colours. Name icc as well to drop it.
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',')]
    pub strip: Vec<StripArg>,
    /// Keep the orientation tag, or turn the pixels and reset it [default: keep]
    #[arg(long, value_enum, value_name = "HOW")]
    pub orient: Option<OrientArg>,
    /// Keep the colour profile, or convert the pixels to sRGB [default: keep]
    #[arg(long, value_enum, value_name = "HOW")]
    pub icc: Option<IccArg>,
}

/// Which files.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Files")]
pub struct FileArgs {
    /// Take only files that match; a pattern without a slash is tried on names, one with a slash on paths. May be repeated
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// Leave out files and folders that match. May be repeated
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
    /// Take the files listed in FILE, one a line (- is standard input); PATH, or else the current folder, is the tree that is mirrored
    #[arg(long, value_name = "FILE|-")]
    pub files_from: Option<PathBuf>,
    /// With --files-from: names end with a NUL byte, as from find -print0
    #[arg(short = '0', long)]
    pub null: bool,
    /// Folders are searched whether or not this is given.
    #[arg(short, long, hide = true)]
    pub recursive: bool,
    /// Do not enter sub-folders
    #[arg(long)]
    pub no_recursive: bool,
    /// Take files and enter folders whose name starts with a dot
    #[arg(long)]
    pub hidden: bool,
    /// Take only files whose name ends like a picture's; otherwise the first bytes of a file of any other name tell
    #[arg(long)]
    pub by_name: bool,
    /// Follow symbolic links found in folders
    #[arg(long)]
    pub follow_symlinks: bool,
    /// Put all results directly in the output folder
    #[arg(long)]
    pub flatten: bool,
    /// Text to put before the extension of each result, such as -small
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub suffix: Option<String>,
    /// What to do where a result's name is taken by a file of another origin [default: never]
    #[arg(long, value_enum, value_name = "WHEN")]
    pub overwrite: Option<Overwrite>,
    /// Keep the original unless at least this share or size is saved, such as 5% or 20KB
    #[arg(short = 'T', long, value_name = "PCT|SIZE", value_parser = units::amount_or_zero)]
    pub min_savings: Option<Amount>,
    /// Write results even where they are larger than the input
    #[arg(short, long)]
    pub force: bool,
    /// Attributes to take over, separated by commas [default: mode,times; in place: all]
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',')]
    pub preserve: Vec<PreserveArg>,
}

/// How the run goes.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Running")]
pub struct RunningArgs {
    /// Worker processes; auto is one per usable physical core [default: auto]
    #[arg(short = 'j', long, visible_alias = "jobs", value_name = "N|auto", value_parser = values::workers)]
    pub workers: Option<WorkersArg>,
    /// Cores to leave free
    #[arg(long, value_name = "N")]
    pub reserve_cores: Option<u16>,
    /// Memory cap of each worker; with ",require" the run starts only where the kernel enforces it [default: 512MiB]
    #[arg(long, value_name = "SIZE[,require]", visible_alias = "memory-limit", value_parser = values::memory_cap)]
    pub memory_per_worker: Option<MemoryCap>,
    /// Memory all workers may use together, such as 4GiB or 50% of what is free
    #[arg(long, value_name = "SIZE|PCT", value_parser = units::amount)]
    pub memory_total: Option<Amount>,
    /// An image that needs more than the cap is refused, or done alone at the end with a bigger one [default: refuse]
    #[arg(long, value_enum, value_name = "HOW")]
    pub oversize: Option<Oversize>,
    /// Most pixels an image may have, such as 100MP [default: 250MP]
    #[arg(long, value_name = "N", value_parser = units::pixels)]
    pub max_pixels: Option<u64>,
    /// Longest time for one image [default: 120s]
    #[arg(long, value_name = "DUR", value_parser = units::duration)]
    pub timeout: Option<Duration>,
    /// Start no image after this time, such as 2h; the next run goes on
    #[arg(long, value_name = "DUR", value_parser = units::duration)]
    pub run_for: Option<Duration>,
    /// Further attempts where a worker died and it is not clear why [default: 1]
    #[arg(long, value_name = "N", value_parser = values::within::<u8>(0, 5))]
    pub retries: Option<u8>,
    /// Stop after so many failures, such as 20 or 5%
    #[arg(long, value_name = "N|PCT", value_parser = units::count_or_share)]
    pub max_fail: Option<CountOrShare>,
    /// Start only if this much is free on the disk of the output, such as 2GB or 5% [default: 1%, at most 256MiB]
    #[arg(long, value_name = "SIZE|PCT", value_parser = units::amount)]
    pub min_free: Option<Amount>,
    /// Replace a worker after so many images [default: 1000]
    #[arg(long, value_name = "N", value_parser = values::within::<u32>(1, u32::MAX))]
    pub recycle_after: Option<u32>,
    /// Niceness of the workers, from 0 to 19
    #[arg(long, value_name = "N", value_parser = values::within::<u8>(0, 19))]
    pub nice: Option<u8>,
    /// Stay out of the way of everything else: nice 19, batch scheduling, idle disk priority
    #[arg(long)]
    pub background: bool,
    /// Confine workers as far as the kernel can, or refuse to run where it cannot, or not at all [default: auto]
    #[arg(long, value_enum, value_name = "MODE")]
    pub sandbox: Option<SandboxArg>,
    /// Put a link to each file that killed its worker here
    #[arg(long, value_name = "DIR")]
    pub quarantine: Option<PathBuf>,
    /// Ledger of what is done [default: .pressroom/ledger.db in the output folder]
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Try files again that failed before and have not changed
    #[arg(long)]
    pub retry_failed: bool,
    /// Check that results of earlier runs still are what was written, and make again what is missing or differs
    #[arg(long)]
    pub recheck: bool,
    /// When another run is at work on the same output: fail (exit 75), wait, or skip (exit 0) [default: fail]
    #[arg(long, value_enum, value_name = "HOW")]
    pub lock: Option<LockMode>,
}

/// What is said.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Do the work and say what would be saved, but publish nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Say more: -v a line for each file, -vv everything
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Say nothing unless something is wrong
    #[arg(short = 'Q', long)]
    pub quiet: bool,
    /// Files that failed in an earlier run, for a reason of their own, and have not changed: fail (exit 1, and -Q speaks), or ok (counted and listed, but no news) [default: fail]
    #[arg(long, value_enum, value_name = "HOW")]
    pub known_failures: Option<KnownFailures>,
    /// The progress display [default: auto]
    #[arg(long, value_enum, value_name = "HOW")]
    pub progress: Option<Progress>,
    /// Write one JSON object for each file and one for the run
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
    /// Write one CSV line for each file
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write a page to look at
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write Prometheus metrics
    #[arg(long, value_name = "FILE")]
    pub metrics: Option<PathBuf>,
    /// Read settings from this TOML file [default: pressroom/config.toml in the configuration folder, if it is there]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Read no settings file
    #[arg(long)]
    pub no_config: bool,
    /// Use the settings of [profile.NAME]; web, mail and archive come with pressroom
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
}

/// `pressroom report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Output folders or ledger files of earlier runs [default: the current folder]
    #[arg(value_name = "DIR|FILE")]
    pub places: Vec<PathBuf>,
    /// Write a page to look at
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print one JSON object for each file
    #[arg(long)]
    pub json: bool,
    /// Only files that failed
    #[arg(long)]
    pub failed: bool,
    /// Only what happened within this time, such as 24h or 7d
    #[arg(long, value_name = "DUR", value_parser = units::duration)]
    pub since: Option<Duration>,
}

/// `pressroom doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// The output folder to look at
    #[arg(value_name = "DIR", default_value = ".")]
    pub place: PathBuf,
}

/// `pressroom completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: clap_complete::Shell,
}

/// `pressroom __man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The folder the pages are written to
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}
