//! The rename that makes a result visible, and what to do where a file system cannot rename like that.

use super::attributes::{self, Origin};
use super::failure::{again, failed, is};
use super::files::{Files, Found};
use super::inspect::{Stop, changed, stop};
use super::parcel::{Parcel, Placed, Placing, Ready};
use super::{Displace, Publisher};
use crate::task::{Ending, Skip};
use pressroom_shared::{Failed, FailureKind};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::path::Path;

impl<F: Files> Publisher<F> {
    /// Gives a ready result its name.
    pub(super) fn land(&mut self, parcel: &Parcel, ready: &Ready) -> Result<Placed, Stop> {
        let destination = parcel.destination();
        let over = match ready.placing {
            Placing::New => false,
            Placing::Replace(before) => {
                self.still_there(parcel, ready, &before)?;
                true
            }
            Placing::Adopt => {
                self.discard(&parcel.staged);
                return Ok(placed(ready, ready.result, false));
            }
        };
        let outcome = match self.rename(&parcel.staged, destination, over, &ready.result) {
            Ok(()) => Ok(placed(ready, ready.result, false)),
            Err(error) if is(&error, Errno::XDEV) => self
                .cross(parcel, ready, over)
                .map(|result| placed(ready, result, true)),
            Err(error) => Err(self.refused(destination, &error)),
        };
        if let Some(folder) = destination.parent() {
            self.folders.touch(folder);
        }
        if outcome.is_err() {
            self.folders.forget();
        }
        outcome
    }

    /// What is to be replaced must be what was looked at, to the last moment.
    fn still_there(&self, parcel: &Parcel, ready: &Ready, before: &Found) -> Result<(), Stop> {
        if self.in_place() {
            let task = &parcel.record.task;
            let now = self.source(&task.source, task.identity)?;
            let backed_up = u64::from(ready.backup.as_ref().is_some_and(|backup| !backup.stands));
            if now.links > ready.source.links + backed_up {
                return Err(stop(changed()));
            }
            return Ok(());
        }
        match again(|| self.files.look(parcel.destination())) {
            Ok(now) if now.same_file(before) && now.identity == before.identity => Ok(()),
            Err(error) if is(&error, Errno::NOENT) => Ok(()),
            Ok(_) => Err(self.taken()),
            Err(error) => Err(stop(failed(
                "look at the output",
                parcel.destination(),
                &error,
            ))),
        }
    }

    fn rename(&self, from: &Path, to: &Path, over: bool, result: &Found) -> io::Result<()> {
        let renamed = again(|| {
            if over {
                self.files.rename_over(from, to)
            } else {
                self.files.rename_new(from, to)
            }
        });
        match renamed {
            // Over a network the answer can be lost although the rename was done.
            Err(_) if self.landed(to, result) => Ok(()),
            Err(error) if !over && cannot_refuse(&error) => self.link_instead(from, to),
            renamed => renamed,
        }
    }

    fn landed(&self, to: &Path, result: &Found) -> bool {
        again(|| self.files.look(to)).is_ok_and(|found| found.same_file(result))
    }

    /// Not every file system can rename without replacing. A link refuses a taken name as well; where there are no links
    /// either (FAT), looking first must do.
    fn link_instead(&self, from: &Path, to: &Path) -> io::Result<()> {
        match again(|| self.files.link(from, to)) {
            Ok(()) => {
                self.discard(from);
                Ok(())
            }
            Err(error) if is(&error, Errno::EXIST) || is(&error, Errno::XDEV) => Err(error),
            Err(_) => match again(|| self.files.look(to)) {
                Ok(_) => Err(Errno::EXIST.into()),
                Err(error) if is(&error, Errno::NOENT) => {
                    again(|| self.files.rename_over(from, to))
                }
                Err(error) => Err(error),
            },
        }
    }

    /// Staging lies on another file system (a mount inside the output tree): the result is written out once more under a
    /// hidden name beside its destination and renamed there.
    fn cross(&self, parcel: &Parcel, ready: &Ready, over: bool) -> Result<Found, Stop> {
        let part = self.part(parcel);
        let written = self.write_part(&part, parcel, ready).and_then(|result| {
            self.rename(&part, parcel.destination(), over, &result)
                .map_err(|error| self.refused(parcel.destination(), &error))
                .map(|()| result)
        });
        match written {
            Ok(result) => {
                self.discard(&parcel.staged);
                Ok(result)
            }
            Err(ending) => {
                self.discard(&part);
                Err(ending)
            }
        }
    }

    fn write_part(&self, part: &Path, parcel: &Parcel, ready: &Ready) -> Result<Found, Stop> {
        let wrap = |error: io::Error| stop(failed("write", part, &error));
        self.discard(part);
        let file = again(|| self.files.create(part)).map_err(wrap)?;
        let staged = again(|| self.files.open(&parcel.staged)).map_err(wrap)?;
        copy(&self.files, &staged, &file).map_err(wrap)?;
        let origin = Origin {
            path: &parcel.record.task.source,
            found: &ready.source,
            in_place: self.in_place(),
        };
        attributes::apply(&self.files, &file, origin, self.policy.preserve, self.mode)
            .map_err(stop)?;
        self.files.sync(&file).map_err(wrap)?;
        let result = again(|| self.files.look_at(&file)).map_err(wrap)?;
        if result.identity.size == ready.result.identity.size {
            return Ok(result);
        }
        Err(stop(Failed {
            kind: FailureKind::Verify,
            message: "the result changed while it was copied; it was dropped, run again".to_owned(),
        }))
    }

    fn refused(&self, destination: &Path, error: &io::Error) -> Stop {
        if is(error, Errno::EXIST) {
            return self.taken();
        }
        stop(failed("rename the result to", destination, error))
    }

    /// Somebody else took the name between the look and the rename.
    fn taken(&self) -> Stop {
        match self.policy.overwrite {
            Displace::Never | Displace::Smaller => Box::new(Ending::Skipped(Skip::Exists)),
            Displace::Always => stop(Failed {
                kind: FailureKind::OutputExists,
                message: "the output was written by somebody else during the run; run again"
                    .to_owned(),
            }),
        }
    }
}

fn placed(ready: &Ready, result: Found, crossed: bool) -> Placed {
    Placed {
        result,
        hash: ready.hash,
        new: ready.placing == Placing::New,
        crossed,
    }
}

fn cannot_refuse(error: &io::Error) -> bool {
    [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP]
        .into_iter()
        .any(|errno| is(error, errno))
}

/// Copies from where `from` stands to its end.
pub(super) fn copy(files: &dyn Files, from: &File, to: &File) -> io::Result<()> {
    let mut buffer = [0; 32 << 10];
    loop {
        let taken = again(|| files.read(from, &mut buffer))?;
        if taken == 0 {
            return Ok(());
        }
        let mut rest = &buffer[..taken];
        while !rest.is_empty() {
            match again(|| files.write(to, rest))? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                written => rest = &rest[written..],
            }
        }
    }
}
