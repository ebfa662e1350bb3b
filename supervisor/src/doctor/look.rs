//! Gathers what the doctor knows. Changes nothing but a folder in the temporary directory, which it removes.

use super::{Findings, LedgerHealth, probe};
use crate::cli::Config;
use crate::cores::{self, Wish};
use crate::ledger::{HowEnded, Reader, Run, default_path};
use crate::sys::Room;
use crate::sys::cgroup::{self, Delegated};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Looks at the machine, at a worker and at `place`, where outputs would go. `config` is a run with its defaults.
pub(crate) fn look(config: &Config, place: &Path) -> Findings {
    let facts = cores::survey(Path::new("/"));
    let running = &config.running;
    let wish = Wish {
        workers: running.workers,
        memory_per_worker: running.memory_per_worker,
        memory_total: running.memory_total,
        files: None,
        by_open_files: crate::sys::OpenFiles::now().workers(),
    };
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let modules = std::fs::read_to_string("/sys/kernel/security/lsm").ok();
    Findings {
        count: cores::choose(&facts, &wish),
        facts,
        no_cgroup: Delegated::look(Path::new(cgroup::ROOT), &own, std::process::id())
            .err()
            .map(|error| error.to_string()),
        worker: probe::ask(config),
        modules: modules.map(|text| text.trim().to_owned()),
        kernel: rustix::system::uname()
            .release()
            .to_string_lossy()
            .into_owned(),
        disk: free(place),
        missing: missing(place),
        ledger: ledger(&default_path(place)),
    }
}

/// Bytes an ordinary user may still write at `place`, or at the nearest folder above it that exists.
fn free(place: &Path) -> Result<(std::path::PathBuf, u64), String> {
    let room = Room::at(place).map_err(|error| format!("{}: {error}", place.display()))?;
    Ok((room.folder, room.free))
}

/// The folder asked about, if it is not there.
fn missing(place: &Path) -> Option<std::path::PathBuf> {
    (!place.exists()).then(|| place.to_owned())
}

fn ledger(path: &Path) -> LedgerHealth {
    if !path.exists() {
        return LedgerHealth::None;
    }
    match Reader::open_whole(path).and_then(|reader| reader.runs(1)) {
        Ok(runs) => LedgerHealth::Good(
            path.to_owned(),
            runs.first().map_or("no run yet".to_owned(), last_run),
        ),
        Err(error) => LedgerHealth::Bad(path.to_owned(), error.to_string()),
    }
}

fn last_run(run: &Run) -> String {
    let started = UNIX_EPOCH + Duration::from_millis(run.started);
    let ago = SystemTime::now()
        .duration_since(started)
        .map_or(0, |ago| ago.as_secs());
    let ago = match ago {
        0..7200 => format!("{} minutes ago", ago / 60),
        7200..172_800 => format!("{} hours ago", ago / 3600),
        _ => format!("{} days ago", ago / 86_400),
    };
    let how = run
        .end
        .map_or("is at work, or was killed", |end| match end.how {
            HowEnded::Finished => "finished",
            HowEnded::TimeUp => "was stopped by --run-for",
            HowEnded::TooManyFailures => "was stopped by --max-fail",
            HowEnded::Signal => "was stopped by a signal",
            HowEnded::DiskFull => "stopped at a full disk",
            HowEnded::Broken => "could not go on",
        });
    format!("the last run, {ago}, {how}")
}
