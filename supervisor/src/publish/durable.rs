//! Brings a batch to disk: first content, later names.
//!
//! A sync of one file costs the disk a flush whatever its size (3 ms on the machine this was written on, 64 files 200 ms);
//! a sync of the whole file system costs one flush for all of them (64 files 3 ms). So a few results are synced one by
//! one, and a crowd, which gathers only where results come faster than the disk can flush, by file system. That writes
//! other programs' waiting data too, which the kernel would have done within its 30 seconds anyway.
//!
//! A failed sync is never tried again: the kernel may have dropped the data and would then report success.

use super::failure::{failed, is};
use super::files::Files;
use super::parcel::{Parcel, Placing, State};
use crate::task::Ending;
use pressroom_shared::Failed;
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// From so many files or folders on, the file system is synced as a whole.
const CROWD: usize = 4;

/// Syncs the content of all ready parcels; those that fail end.
pub(super) fn sync_files(files: &dyn Files, parcels: &mut [Parcel]) {
    let together = staged_device(parcels).filter(|device| sync_crowd(files, parcels, *device));
    for parcel in parcels {
        let Some(ready) = parcel.ready() else {
            continue;
        };
        if Some(ready.result.identity.dev) == together {
            continue;
        }
        if let Err(error) = files.sync(&ready.file) {
            let failed = failed("bring to disk the result for", parcel.destination(), &error);
            parcel.end(Ending::Failed(failed));
        }
    }
}

fn staged_device(parcels: &[Parcel]) -> Option<u64> {
    parcels
        .iter()
        .filter_map(Parcel::ready)
        .find(|ready| ready.placing != Placing::Adopt)
        .map(|ready| ready.result.identity.dev)
}

/// Whether one sync did for all files on `device`. After an error each file is asked on its own whose it was.
fn sync_crowd(files: &dyn Files, parcels: &[Parcel], device: u64) -> bool {
    let mut there = parcels
        .iter()
        .filter_map(Parcel::ready)
        .filter(|ready| ready.result.identity.dev == device);
    let first = there.next();
    let more = there.count();
    first.is_some_and(|ready| more + 1 >= CROWD && files.sync_all(&ready.file).is_ok())
}

/// Syncs the names in all folders that changed; parcels below a folder that fails end, and their outputs go. In place
/// there is nothing to take back: whichever of the two names the disk kept, it names a whole file.
pub(super) fn sync_folders(
    files: &dyn Files,
    parcels: &mut [Parcel],
    touched: &BTreeSet<PathBuf>,
    in_place: bool,
) {
    let elsewhere = folders_elsewhere(parcels);
    let crowd = touched.len() >= CROWD && sync_names(files, parcels);
    for folder in touched {
        if crowd && !elsewhere.contains(folder) {
            continue;
        }
        if let Err(error) = sync_folder(files, folder)
            && !in_place
        {
            let failed = failed("bring to disk the folder", folder, &error);
            take_back(files, parcels, folder, &failed);
        }
    }
}

/// Folders that do not lie on the file system of the staging folder.
fn folders_elsewhere(parcels: &[Parcel]) -> BTreeSet<PathBuf> {
    parcels
        .iter()
        .filter(|parcel| matches!(&parcel.state, State::Placed(placed) if placed.crossed))
        .flat_map(|parcel| parcel.destination().ancestors().skip(1))
        .map(Path::to_path_buf)
        .collect()
}

fn sync_names(files: &dyn Files, parcels: &[Parcel]) -> bool {
    let placed = parcels
        .iter()
        .find(|parcel| matches!(&parcel.state, State::Placed(placed) if !placed.crossed));
    placed.is_some_and(|parcel| {
        files
            .open(parcel.destination())
            .and_then(|file| files.sync_all(&file))
            .is_ok()
    })
}

/// Syncs the names in one folder, as far as its file system can.
pub(super) fn sync_folder(files: &dyn Files, folder: &Path) -> io::Result<()> {
    match files.sync_folder(folder) {
        // Some network and FUSE file systems cannot; there is nothing better to do on them.
        Err(error) if is(&error, Errno::INVAL) || is(&error, Errno::OPNOTSUPP) => Ok(()),
        result => result,
    }
}

fn take_back(files: &dyn Files, parcels: &mut [Parcel], folder: &Path, failed: &Failed) {
    for parcel in parcels {
        let State::Placed(placed) = &parcel.state else {
            continue;
        };
        if placed.new && parcel.destination().starts_with(folder) {
            // What cannot be removed is a whole file that the next run finds to be its own result.
            let _ = files.remove(parcel.destination());
            parcel.end(Ending::Failed(failed.clone()));
        }
    }
}
