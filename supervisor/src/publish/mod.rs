//! Brings finished results from staging to their names, a batch at a time: nothing half-written is ever visible.
//!
//! ```text
//!   prepare    is the source still the one the walk saw? is the staged file what the worker says? may it go there?
//!              mode, times, owner, attributes
//!   sync       content and attributes to disk, all of the batch
//!   (ledger)   what is about to be renamed is written down
//!   place      one rename each; in place the original gets its backup name first
//!   sync       the folders' names to disk
//!   clear      what an earlier run made of the same input under another extension
//!   (ledger)   the rows
//! ```
//!
//! Each step can end a parcel with a named failure; the others go on. It decides about files only and knows no SQL.
//! Every call to the system goes through [`files::Files`], so that tests can make each of them fail.

mod attributes;
mod backup;
mod durable;
mod earlier;
mod failure;
mod files;
mod folders;
mod inspect;
mod land;
mod parcel;
mod policy;
mod unlinked;

#[cfg(test)]
pub(crate) mod faults;

pub(crate) use files::{Disk, Files};
pub(crate) use parcel::{Parcel, State};
pub use policy::{Displace, Inherit, Place, Policy};

use crate::ledger::Ours;
use crate::recorder::Publish;
use crate::task::Ending;
use folders::Folders;
use std::path::{Path, PathBuf};

/// What the ledger knows of an output, by its relative path.
pub(crate) type Known<'a> = dyn Fn(&Path) -> Result<Option<Ours>, pressroom_shared::Failed> + 'a;

/// Brings results to their places.
#[derive(Debug)]
pub(crate) struct Publisher<F> {
    files: F,
    policy: Policy,
    run: i64,
    /// Mode of outputs that do not take over their source's.
    mode: u32,
    folders: Folders,
}

impl<F: Files> Publisher<F> {
    /// `run` is the number of this run in the ledger, `umask` the permission bits new files go without.
    pub(crate) fn new(files: F, policy: Policy, run: i64, umask: u32) -> Self {
        Self {
            files,
            policy,
            run,
            mode: 0o666 & !umask,
            folders: Folders::default(),
        }
    }

    /// Whether results replace their sources.
    pub(crate) fn in_place(&self) -> bool {
        matches!(self.policy.place, Place::InPlace { .. })
    }

    /// Checks what a worker delivered and makes it ready to be renamed.
    pub(crate) fn prepare(&mut self, publish: Publish, known: &Known<'_>) -> Parcel {
        let mut parcel = Parcel::of(publish);
        match self.inspect(&parcel, known) {
            Ok(state) => {
                parcel.state = state;
                self.look_back(&mut parcel, known);
            }
            Err(ending) => parcel.end(*ending),
        }
        if parcel.ready().is_none() {
            self.discard(&parcel.staged);
        }
        parcel
    }

    /// Brings the ready ones to disk.
    pub(crate) fn sync(&self, parcels: &mut [Parcel]) {
        durable::sync_files(&self.files, parcels);
        self.drop_ended(parcels);
    }

    /// Gives the ready ones their names and brings those to disk.
    pub(crate) fn place(&mut self, parcels: &mut [Parcel]) {
        self.back_up(parcels);
        for parcel in parcels.iter_mut() {
            let ready = match std::mem::replace(&mut parcel.state, State::Ended(None)) {
                State::Ready(ready) => ready,
                state @ (State::Placed(_) | State::Ended(_)) => {
                    parcel.state = state;
                    continue;
                }
            };
            match self.land(parcel, &ready) {
                Ok(placed) => parcel.state = State::Placed(placed),
                Err(ending) => {
                    parcel.end(*ending);
                    self.drop_backup(&ready);
                    self.discard(&parcel.staged);
                }
            }
        }
        durable::sync_folders(
            &self.files,
            parcels,
            &self.folders.take_touched(),
            self.in_place(),
        );
        self.clear_away(parcels);
    }

    /// Gives up the ready ones: they cannot be recorded.
    pub(crate) fn give_up(&self, parcels: &mut [Parcel], failed: &pressroom_shared::Failed) {
        for parcel in parcels.iter_mut().filter(|parcel| parcel.ready().is_some()) {
            parcel.end(Ending::Failed(failed.clone()));
            self.discard(&parcel.staged);
        }
    }

    /// Where a result is written beside its destination if staging lies on another file system. Never longer than 64
    /// bytes, so that it fits wherever the destination's own name does.
    pub(crate) fn part(&self, parcel: &Parcel) -> PathBuf {
        let name = format!(".pressroom-{}-{}.part", self.run, parcel.record.task.id.0);
        parcel.destination().with_file_name(name)
    }

    fn drop_ended(&self, parcels: &[Parcel]) {
        for parcel in parcels {
            if parcel.ready().is_none() {
                self.discard(&parcel.staged);
            }
        }
    }

    /// Removes an unfinished file. What cannot be removed is left to the sweep at the next start.
    fn discard(&self, path: &Path) {
        let gone = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
        for _ in 0..2 {
            match failure::again(|| self.files.remove(path)) {
                Ok(()) => return,
                Err(error) if gone(&error) => return,
                Err(_) => {}
            }
        }
    }
}

/// The permission bits new files of this process go without.
pub(crate) fn umask() -> u32 {
    // The only way to ask without changing it, which would be seen by other threads.
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix("Umask:"))?;
            u32::from_str_radix(line.trim(), 8).ok()
        })
        .unwrap_or(0o022)
}
