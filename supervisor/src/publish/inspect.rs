//! Checks before anything is touched: the source, the staged file, the destination. Ends with a file that is ready to be
//! synced and renamed.

use super::attributes::{self, Origin};
use super::failure::{again, failed, is, plain};
use super::files::{Files, Found};
use super::parcel::{Parcel, Placing, Ready, State, left_alone};
use super::{Displace, Known, Place, Publisher, backup};
use crate::ledger::{Hasher, Ours, Published};
use crate::task::{Ending, Record, Skip};
use pressroom_shared::{Failed, FailureKind, Identity, ImageFormat, Kept, KeptReason};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::path::Path;

/// Why a parcel goes no further. Boxed, because it is large and rare.
pub(super) type Stop = Box<Ending>;

pub(super) fn stop(failed: Failed) -> Stop {
    Box::new(Ending::Failed(failed))
}

impl<F: Files> Publisher<F> {
    pub(super) fn inspect(&mut self, parcel: &Parcel, known: &Known<'_>) -> Result<State, Stop> {
        let task = &parcel.record.task;
        let expected = match &parcel.record.ending {
            Ending::Saved(saved) => saved.bytes,
            Ending::Kept(_) if self.in_place() => {
                return Ok(State::Ended(Some(left_alone(task.identity))));
            }
            Ending::Kept(_) => task.identity.size,
            Ending::Skipped(_) | Ending::Failed(_) | Ending::Interrupted => {
                return Ok(State::Ended(None));
            }
        };
        let source = self.source(&task.source, task.identity)?;
        if self.in_place() && source.links > 1 {
            return Err(Box::new(hard_linked(&parcel.record)));
        }
        let file = self.staged(&parcel.staged, expected)?;
        let hash = self.fingerprint(&file, &parcel.staged)?;
        let placing = self.placing(parcel, &source, expected, hash, known)?;
        if placing == Placing::Adopt {
            return self.adopt(parcel, source, hash);
        }
        self.folders
            .make_for(&self.files, &task.destination)
            .map_err(stop)?;
        let result = self.dress(&file, parcel, &source)?;
        let backup = match &self.policy.place {
            Place::Tree | Place::InPlace { backup: None } => None,
            Place::InPlace {
                backup: Some(folder),
            } => Some(backup::choose(&self.files, &source, task, folder).map_err(stop)?),
        };
        Ok(State::Ready(Box::new(Ready {
            file,
            result,
            hash,
            source,
            placing,
            backup,
        })))
    }

    /// The source, if it is still what the walk saw.
    pub(super) fn source(&self, path: &Path, expected: Identity) -> Result<Found, Stop> {
        match again(|| self.files.look(path)) {
            Ok(found) if found.regular && found.identity == expected => Ok(found),
            Ok(_) => Err(stop(changed())),
            Err(error) if is(&error, Errno::NOENT) => Err(stop(Failed {
                kind: FailureKind::Vanished,
                message: "it went away while the run went on; its result was dropped".to_owned(),
            })),
            Err(error) => Err(stop(failed("look again at", path, &error))),
        }
    }

    /// The worker's file, if it is what the worker says.
    fn staged(&self, path: &Path, expected: u64) -> Result<File, Stop> {
        let opened = again(|| self.files.open(path))
            .and_then(|file| again(|| self.files.look_at(&file)).map(|found| (file, found)));
        let (file, found) = opened.map_err(|error| {
            let mut failed = failed("open the result", path, &error);
            if is(&error, Errno::NOENT) || is(&error, Errno::LOOP) {
                failed.kind = FailureKind::Verify;
                failed.message = format!(
                    "the worker said it was done but left no file ({})",
                    plain(&error)
                );
            }
            stop(failed)
        })?;
        if found.regular && found.links <= 1 && found.identity.size == expected {
            return Ok(file);
        }
        Err(stop(Failed {
            kind: FailureKind::Verify,
            message: format!(
                "the worker said {expected} bytes, but its file has {} (names: {}); the result was dropped, run again",
                found.identity.size, found.links
            ),
        }))
    }

    fn fingerprint(&self, file: &File, path: &Path) -> Result<u64, Stop> {
        hash_of(&self.files, file).map_err(|error| stop(failed("read", path, &error)))
    }

    /// How the result may take its place, if it may.
    pub(super) fn placing(
        &self,
        parcel: &Parcel,
        source: &Found,
        size: u64,
        hash: u64,
        known: &Known<'_>,
    ) -> Result<Placing, Stop> {
        if self.in_place() {
            return Ok(Placing::Replace(*source));
        }
        let destination = parcel.destination();
        let found = match again(|| self.files.look(destination)) {
            Ok(found) => found,
            Err(error) if is(&error, Errno::NOENT) => return Ok(Placing::New),
            Err(error) => return Err(stop(failed("look at the output", destination, &error))),
        };
        let mut skip = Skip::Exists;
        if let Some(ours) = known(&parcel.record.task.target).map_err(stop)? {
            let other = ours.source != parcel.record.task.source;
            if other && ours.run == self.run {
                return Err(stop(collision(&ours)));
            }
            // Where ours stood under another extension, what is here is somebody else's.
            let here = !other && parcel.may_be_of(ours.verdict);
            if let (true, true, Some(before)) = (found.regular, here, ours.published) {
                if self.policy.restore || is_still(before, &found) {
                    return Ok(Placing::Replace(found));
                }
                skip = Skip::OutputChanged;
            }
        }
        if found.same_file(source) {
            return Err(stop(occupied(
                "it is the input itself; choose another output folder or use --in-place",
            )));
        }
        if found.regular && found.identity.size == size && self.has_content(destination, hash)? {
            return Ok(Placing::Adopt);
        }
        self.replace_foreign(found, size, skip)
    }

    /// An error must not pass for a difference.
    pub(super) fn has_content(&self, path: &Path, hash: u64) -> Result<bool, Stop> {
        let found = again(|| self.files.open(path)).and_then(|file| hash_of(&self.files, &file));
        match found {
            Ok(found) => Ok(found == hash),
            Err(error) => Err(stop(failed("read the output", path, &error))),
        }
    }

    fn replace_foreign(&self, found: Found, size: u64, skip: Skip) -> Result<Placing, Stop> {
        match self.policy.overwrite {
            Displace::Always => Ok(Placing::Replace(found)),
            Displace::Smaller if found.regular && size < found.identity.size => {
                Ok(Placing::Replace(found))
            }
            Displace::Smaller | Displace::Never => Err(Box::new(Ending::Skipped(skip))),
        }
    }

    /// Exactly the result stands there already: after a lost ledger, or where two runs met. It is taken for ours and left.
    fn adopt(&self, parcel: &Parcel, source: Found, hash: u64) -> Result<State, Stop> {
        let path = parcel.destination();
        let opened = again(|| self.files.open(path))
            .and_then(|file| again(|| self.files.look_at(&file)).map(|found| (file, found)));
        let (file, result) =
            opened.map_err(|error| stop(failed("open the output", path, &error)))?;
        Ok(State::Ready(Box::new(Ready {
            file,
            result,
            hash,
            source,
            placing: Placing::Adopt,
            backup: None,
        })))
    }

    fn dress(&self, file: &File, parcel: &Parcel, source: &Found) -> Result<Found, Stop> {
        let origin = Origin {
            path: &parcel.record.task.source,
            found: source,
            in_place: self.in_place(),
        };
        attributes::apply(&self.files, file, origin, self.policy.preserve, self.mode)
            .map_err(stop)?;
        again(|| self.files.look_at(file))
            .map_err(|error| stop(failed("look at", &parcel.staged, &error)))
    }
}

/// Fingerprint of an open file from where it stands.
pub(super) fn hash_of(files: &dyn Files, file: &File) -> io::Result<u64> {
    let mut hasher = Hasher::new();
    let mut buffer = [0; 32 << 10];
    loop {
        match again(|| files.read(file, &mut buffer))? {
            0 => return Ok(hasher.finish()),
            taken => hasher.push(&buffer[..taken]),
        }
    }
}

pub(super) fn is_still(before: Published, found: &Found) -> bool {
    before.size == found.identity.size && before.mtime_ns == found.identity.mtime_ns
}

fn hard_linked(record: &Record) -> Ending {
    Ending::Kept(Kept {
        reason: KeptReason::HardLinked,
        bytes: record.task.identity.size,
        format: record.format.unwrap_or(ImageFormat::Jpeg),
        warnings: Vec::new(),
    })
}

pub(super) fn changed() -> Failed {
    Failed {
        kind: FailureKind::Changed,
        message: "it changed while the run went on; its result was dropped, run again".to_owned(),
    }
}

fn collision(ours: &Ours) -> Failed {
    Failed {
        kind: FailureKind::Collision,
        message: format!(
            "its output would be that of {}, which this run wrote already; rename one of them",
            ours.source.display()
        ),
    }
}

fn occupied(what: &str) -> Failed {
    Failed {
        kind: FailureKind::OutputExists,
        message: format!("the output exists: {what}"),
    }
}
