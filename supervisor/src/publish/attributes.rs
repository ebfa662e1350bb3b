//! Gives a result the mode, times, owner and extended attributes of its source, through the open file.

use super::failure::{again, failed, is};
use super::files::{Files, Found};
use super::policy::Inherit;
use pressroom_shared::Failed;
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Where attributes come from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'a> {
    /// Path of the source.
    pub(crate) path: &'a Path,
    /// What it is.
    pub(crate) found: &'a Found,
    /// Whether the result takes the source's very place.
    pub(crate) in_place: bool,
}

/// Sets what is to be kept. Owner first, because a change of owner clears mode bits; times last, because nothing may
/// touch the file after them. `mode` is what the file gets where the source's is not wanted.
pub(crate) fn apply(
    files: &dyn Files,
    file: &File,
    origin: Origin<'_>,
    preserve: Inherit,
    mode: u32,
) -> Result<(), Failed> {
    if preserve.owner {
        take_owner(files, file, origin)?;
    }
    if preserve.xattr {
        take_attributes(files, file, origin.path)?;
    }
    let mode = if preserve.mode {
        origin.found.mode & 0o777
    } else {
        mode
    };
    again(|| files.set_mode(file, mode))
        .map_err(|error| failed("set the mode of the result for", origin.path, &error))?;
    if preserve.times {
        let atime = origin.in_place.then_some(origin.found.atime_ns);
        again(|| files.set_times(file, origin.found.identity.mtime_ns, atime))
            .map_err(|error| failed("set the times of the result for", origin.path, &error))?;
    }
    Ok(())
}

fn take_owner(files: &dyn Files, file: &File, origin: Origin<'_>) -> Result<(), Failed> {
    let result = again(|| files.look_at(file))
        .map_err(|error| failed("look at the result for", origin.path, &error))?;
    let (uid, gid) = (origin.found.uid, origin.found.gid);
    if (result.uid, result.gid) == (uid, gid) {
        return Ok(());
    }
    again(|| files.set_owner(file, uid, gid)).map_err(|error| {
        let mut failed = failed("keep the owner of", origin.path, &error);
        if is(&error, Errno::PERM) {
            failed.message = format!(
                "it belongs to another user (uid {uid}, gid {gid}) and its owner could not be kept; run as that user or as root, or leave owner out of --preserve"
            );
        }
        failed
    })
}

fn take_attributes(files: &dyn Files, file: &File, source: &Path) -> Result<(), Failed> {
    let names = match again(|| files.attributes(source)) {
        Ok(names) => names,
        Err(error) if is(&error, Errno::OPNOTSUPP) => return Ok(()),
        Err(error) => return Err(failed("list the extended attributes of", source, &error)),
    };
    for name in names {
        let copied = again(|| files.attribute(source, &name))
            .and_then(|value| again(|| files.set_attribute(file, &name, &value)));
        match copied {
            Ok(()) => {}
            Err(error) if is_systems_own(&name) && is_refusal(&error) => {}
            Err(error) => return Err(failed("keep the extended attributes of", source, &error)),
        }
    }
    Ok(())
}

/// Labels that the system gives and only it may set; an ordinary user cannot carry them over, and need not.
fn is_systems_own(name: &OsStr) -> bool {
    [b"security.".as_slice(), b"trusted."]
        .iter()
        .any(|prefix| name.as_bytes().starts_with(prefix))
}

fn is_refusal(error: &std::io::Error) -> bool {
    is(error, Errno::PERM) || is(error, Errno::ACCESS) || is(error, Errno::OPNOTSUPP)
}
