//! Everything a run needs before it starts, in an order in which each step may still refuse.

use super::{Refusal, marks, now_ms, room, wording};
use crate::cli::Config;
use crate::cli::config::{self, Destination, Oversize};
use crate::cores::{self, Wish, WorkerCount};
use crate::driver::{Caps, Hands, Sifter, Sources, WorkerSetup};
use crate::ledger::{Keys, Lookup, Reader, RunStart, default_path};
use crate::link::Launcher;
use crate::lock::{Lock, Territory};
use crate::pool::{Machine, MaxFail, Policy};
use crate::publish;
use crate::recorder::{self, Setup};
use crate::report::{Terminal, check_reach};
use crate::signal::Signals;
use crate::source::{self, Roots};
use crate::sys::Room;
use crate::sys::cgroup::{self, Delegated};
use crate::sys::{self, OpenFiles, Priority};
use crate::units::{Amount, CountOrShare};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc;

/// Sightings that may wait for the pool.
const SIGHTINGS: usize = 256;

/// Messages of workers that may wait for the driver.
const HEARD: usize = 256;

/// Ready to start.
pub(super) struct Ready {
    pub(super) driver_parts: (Machine, Hands, Sources),
    pub(super) header: wording::Draft,
    /// Held until the ledger is closed: the lock, and what removes the folders of a dry run.
    pub(super) kept_until_the_end: Kept,
    pub(super) output: PathBuf,
    pub(super) workers: u32,
    pub(super) started_at: u64,
    pub(super) started: Instant,
}

/// Held until the end; dropped in this order.
pub(super) struct Kept {
    home: Home,
    _lock: Option<Lock>,
}

impl Kept {
    /// The ledger that this run wrote.
    pub(super) fn ledger(&self) -> &Path {
        &self.home.ledger
    }
}

/// Where pressroom's own files of this run are.
struct Home {
    /// Folder that staging and, unless it stands elsewhere, the ledger lie below.
    output: PathBuf,
    ledger: PathBuf,
    /// Whether all of it is to be removed at the end.
    passing: bool,
}

impl Drop for Home {
    fn drop(&mut self) {
        // What cannot be removed is swept by the next run (staging) or by the system (a dry run's folder).
        let _ = if self.passing {
            std::fs::remove_dir_all(&self.output)
        } else {
            crate::stage::clear(&self.output).map_err(std::io::Error::other)
        };
    }
}

/// Gets everything ready; must be called inside the runtime, on the main thread.
pub(super) fn prepare(
    config: &Arc<Config>,
    command_line: String,
    terminal: &mut Terminal,
) -> Result<Ready, Refusal> {
    let started = Instant::now();
    let started_at = now_ms();
    let roots = Roots::resolve(config).map_err(|error| Refusal::usage(&error))?;
    let made = Some(roots.output()).filter(|_| !config.output.dry_run);
    check_reach(&config.output, made).map_err(|error| Refusal::usage(&error))?;
    let cgroup = cgroup(config)?;
    let lock = claim(config, &roots, terminal)?;
    // Whoever waits for the lock can be ended by a signal as any program is: nothing has been touched yet.
    let signals = Signals::listen();
    marks::mark(config, &roots)?;
    let facts = cores::survey(Path::new("/"));
    let count = cores::choose(&facts, &wish(config, &roots));
    let home = home(config, &roots)?;
    crate::stage::sweep(&home.output).map_err(|error| Refusal::cannot_run(&error))?;
    let run = RunStart {
        started: started_at,
        command: command_line,
        settings: config.settings.clone(),
        limits: config.limits.clone(),
        workers: u32::from(count.count),
        covers: roots.covered(),
    };
    let (recorder, recorded) = recorder::start(Setup {
        ledger: home.ledger.clone(),
        output: home.output.clone(),
        policy: publishing(config, &roots),
        run,
    })
    .map_err(|error| Refusal::cannot_run(&error))?;
    let sifter = sifter(config, &roots, &recorder, started)?;
    let header = wording::Draft::new(config, &count, cgroup.is_some());
    let caps = caps(config, facts.memory.map(|memory| memory.available));
    let setup = worker_setup(config, &roots, caps, cgroup, &home);
    look_ahead(config, &roots, terminal).map_err(|error| Refusal::cannot_run(&error))?;
    let output = roots.output().to_path_buf();
    let (found, sightings) = mpsc::channel(SIGHTINGS);
    source::start(config, roots, found).map_err(|error| Refusal::cannot_run(&error))?;
    let (_, sifted) = sifter
        .start(sightings)
        .map_err(|error| Refusal::cannot_run(&error))?;
    let (sender, heard) = mpsc::channel(HEARD);
    let sources = Sources {
        heard,
        sifted: Some(sifted),
        recorded,
        signals,
    };
    let machine = Machine::new(policy(config, &count));
    Ok(Ready {
        driver_parts: (machine, Hands::new(setup, sender, recorder), sources),
        header,
        workers: u32::from(count.count),
        output,
        started_at,
        started,
        kept_until_the_end: Kept { home, _lock: lock },
    })
}

/// Whether the output's disk has room to begin with. One that cannot be asked is left to show it.
fn enough_room(config: &Config, roots: &Roots) -> Result<(), Refusal> {
    let Ok(found) = Room::at(roots.output()) else {
        return Ok(());
    };
    let too_little = room::too_little(config.running.min_free, &found);
    match too_little.filter(|_| !config.output.dry_run) {
        Some(why) => Err(Refusal::cannot_run(&why)),
        None => Ok(()),
    }
}

/// Counts ahead how much there is to do, where somebody looks on or will want to know how far the run came.
fn look_ahead(config: &Arc<Config>, roots: &Roots, terminal: &mut Terminal) -> std::io::Result<()> {
    if !terminal.is_watched() && config.running.run_for.is_none() {
        return Ok(());
    }
    if let Some(outlook) = source::outlook(config, roots.clone())? {
        terminal.look_ahead(outlook);
    }
    Ok(())
}

/// Sees that there is room, takes the lock, then the files of records, which before that may be another run's.
fn claim(config: &Config, roots: &Roots, terminal: &mut Terminal) -> Result<Option<Lock>, Refusal> {
    enough_room(config, roots)?;
    let lock = lock(config, roots, terminal)?;
    terminal
        .open_records(&config.output)
        .map_err(|error| Refusal::usage(&error))?;
    Ok(lock)
}

fn lock(config: &Config, roots: &Roots, terminal: &mut Terminal) -> Result<Option<Lock>, Refusal> {
    if config.output.dry_run {
        return Ok(None);
    }
    let running = &config.running;
    let lock = Lock::take(roots.home(), running.state.as_deref(), running.lock)
        .and_then(|mut lock| {
            lock.claim(&territory(config, roots), running.lock)?;
            Ok(lock)
        })
        .map_err(|error| Refusal {
            exit: error.exit(running.lock),
            message: error.to_string(),
        })?;
    if let Some(warning) = lock.warning() {
        terminal.note(warning);
    }
    Ok(Some(lock))
}

/// In place a run needs its folders for itself; into a tree it only adds to one.
fn territory(config: &Config, roots: &Roots) -> Territory {
    let own = if config.in_place() {
        roots.folders_in_place()
    } else {
        Vec::new()
    };
    Territory::new(own, roots.folders_added_to())
}

/// A dry run keeps everything it must write in a folder of its own, away from input and output.
fn home(config: &Config, roots: &Roots) -> Result<Home, Refusal> {
    if config.output.dry_run {
        let output = sys::new_folder(&std::env::temp_dir(), "pressroom-dry-run-")
            .map_err(|error| Refusal::cannot_run(&wording::no_folder(&error)))?;
        return Ok(Home {
            ledger: default_path(&output),
            output,
            passing: true,
        });
    }
    let output = roots.output().to_path_buf();
    Ok(Home {
        ledger: ledger(config, &output),
        output,
        passing: false,
    })
}

fn ledger(config: &Config, output: &Path) -> PathBuf {
    let state = config.running.state.as_deref().map(absolute);
    state.unwrap_or_else(|| default_path(output))
}

/// The same place, whatever becomes of the current folder; without one the path stays as it is.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// What takes out inputs that need no worker.
fn sifter(
    config: &Config,
    roots: &Roots,
    recorder: &recorder::Recorder,
    started: Instant,
) -> Result<Sifter, Refusal> {
    Ok(Sifter {
        reader: reader(config, roots, recorder)?,
        lookup: lookup(config),
        started,
        originals: roots.backup().map(Path::to_owned),
    })
}

/// Where earlier runs are looked up. A dry run looks into the real ledger, if there is one.
fn reader(
    config: &Config,
    roots: &Roots,
    recorder: &recorder::Recorder,
) -> Result<Option<Reader>, Refusal> {
    if !config.output.dry_run {
        let reader = recorder
            .reader()
            .map_err(|error| Refusal::cannot_run(&error))?;
        return Ok(Some(reader));
    }
    let ledger = ledger(config, roots.output());
    Ok(Reader::open(&ledger, roots.output()).ok())
}

fn lookup(config: &Config) -> Lookup {
    Lookup {
        keys: Keys::of(&config.settings, &config.limits),
        recheck: config.running.recheck,
        retry_failed: config.running.retry_failed,
        leave_foreign: config.publishing.overwrite == config::Overwrite::Never,
    }
}

/// The group in which each worker gets a leaf with a hard limit; required only on request.
fn cgroup(config: &Config) -> Result<Option<Delegated>, Refusal> {
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    match Delegated::take(Path::new(cgroup::ROOT), &own, std::process::id()) {
        Ok(group) => Ok(Some(group)),
        Err(error) if config.running.require_hard_limit => {
            Err(Refusal::cannot_run(&wording::no_hard_limit(&error)))
        }
        Err(_) => Ok(None),
    }
}

fn wish(config: &Config, roots: &Roots) -> Wish {
    let running = &config.running;
    Wish {
        workers: running.workers,
        memory_per_worker: running.memory_per_worker,
        memory_total: running.memory_total,
        files: roots.file_count(),
        by_open_files: OpenFiles::now().workers(),
    }
}

/// A worker that runs alone may have what all workers may have together.
fn caps(config: &Config, available: Option<u64>) -> Caps {
    let usual = config.running.memory_per_worker;
    let free = available.unwrap_or(usual);
    let total = match config.running.memory_total {
        Some(Amount::Bytes(bytes)) => bytes,
        Some(Amount::Permille(share)) => free / 1000 * u64::from(share),
        None => free / 5 * 4,
    };
    Caps {
        usual,
        big: total.max(usual),
    }
}

fn worker_setup(
    config: &Config,
    roots: &Roots,
    caps: Caps,
    cgroup: Option<Delegated>,
    home: &Home,
) -> WorkerSetup {
    let running = &config.running;
    WorkerSetup {
        launcher: launcher(),
        settings: config.settings.clone(),
        limits: config.limits.clone(),
        caps,
        sandbox: running.sandbox,
        readable: roots.readable(),
        output: home.output.clone(),
        in_place: config.in_place(),
        priority: if running.background {
            Some(Priority::Background)
        } else {
            running.nice.map(Priority::Nice)
        },
        cgroup,
        quarantine: running.quarantine.as_deref().map(absolute),
        dry_run: config.output.dry_run,
    }
}

#[cfg(not(debug_assertions))]
fn launcher() -> Launcher {
    Launcher::own()
}

/// A build for tests can be told to start something else as a worker; a release build does not know the variable.
#[cfg(debug_assertions)]
fn launcher() -> Launcher {
    let Some(program) = std::env::var_os("PRESSROOM_TEST_WORKER") else {
        return Launcher::own();
    };
    let launcher = Launcher::program(program.into(), vec![crate::link::WORKER_ARGUMENT.into()]);
    let script = std::env::var_os("PRESSROOM_TEST_SCRIPT").unwrap_or_default();
    launcher.with_variable("PRESSROOM_TEST_SCRIPT", script)
}

fn publishing(config: &Config, roots: &Roots) -> publish::Policy {
    let publishing = &config.publishing;
    publish::Policy {
        place: match &config.destination {
            Destination::Tree { .. } => publish::Place::Tree,
            Destination::InPlace { .. } => publish::Place::InPlace {
                backup: roots.backup().map(Path::to_owned),
            },
        },
        restore: config.running.recheck,
        overwrite: match publishing.overwrite {
            config::Overwrite::Never => publish::Displace::Never,
            config::Overwrite::Smaller => publish::Displace::Smaller,
            config::Overwrite::Always => publish::Displace::Always,
        },
        preserve: publish::Inherit {
            mode: publishing.preserve.mode,
            times: publishing.preserve.times,
            owner: publishing.preserve.owner,
            xattr: publishing.preserve.xattr,
        },
    }
}

fn policy(config: &Config, count: &WorkerCount) -> Policy {
    let running = &config.running;
    Policy {
        job_timeout: running.timeout,
        retries: running.retries,
        run_for: running.run_for,
        max_fail: running.max_fail.map(|most| match most {
            CountOrShare::Count(count) => MaxFail::Count(count),
            CountOrShare::Permille(share) => MaxFail::Permille(share),
        }),
        recycle_after: running.recycle_after,
        recycle_rss: running.memory_per_worker / 2,
        oversize_alone: running.oversize == Oversize::Alone,
        ..Policy::new(count.count)
    }
}
