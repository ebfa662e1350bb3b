//! Where jobs come from. A walk, a list of names and later a segment of a shared plan stand behind one trait, [`Source`];
//! what they find is placed by `plan` and sent on as [`Sighting`]s through a bounded channel.
//!
//! Runs in a thread of its own, because reading folders blocks. Opens no image.

mod content;
mod list;
mod outlook;
mod paths;
mod roots;
mod walk;

pub use outlook::{Expected, Outlook};
pub use roots::{Roots, RootsError};

use crate::cli::config::{Config, Inputs};
use crate::filter;
use crate::passed::Passed;
use crate::plan::{Census, Collisions, Place, PlanError, Planner};
use crate::task::Task;
use pressroom_shared::{Failed, FailureKind, Identity, JobId};
use std::fs::Metadata;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::mpsc::Sender;

/// What the source has to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sighting {
    /// An image to be done.
    Image(Task),
    /// An input that cannot be done. It has no output: its target is the absolute path of the input, which no output's
    /// target can be, and its destination is empty.
    Refused {
        /// The input; its identity is all zeros where it could not be read.
        task: Task,
        /// Why.
        failed: Failed,
    },
    /// Something that is no input.
    PassedOver {
        /// Absolute path.
        path: PathBuf,
        /// Why.
        why: Passed,
    },
    /// All has been told.
    Ended,
}

/// One thing a source came upon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Encounter {
    /// A regular file that is to be done.
    File {
        /// Absolute path, free of symbolic links.
        source: PathBuf,
        /// Its name below the output folder, if nothing changes it.
        mirrored: PathBuf,
        /// What the file looked like.
        identity: Identity,
    },
    /// Something that was asked for and cannot be done.
    Fault {
        /// Absolute path.
        path: PathBuf,
        /// Why.
        failed: Failed,
    },
    /// A file or folder that is no input.
    PassedOver {
        /// Absolute path.
        path: PathBuf,
        /// Why.
        why: Passed,
    },
}

impl Encounter {
    /// Where it stands.
    fn path(&self) -> &Path {
        match self {
            Self::File { source: path, .. }
            | Self::Fault { path, .. }
            | Self::PassedOver { path, .. } => path,
        }
    }
}

/// Told of each finding; answers whether to go on.
pub(crate) type Visit<'a> = &'a mut dyn FnMut(Encounter) -> ControlFlow<()>;

/// A place where jobs come from. Can be gone through more than once and gives the same order each time.
pub(crate) trait Source: Send {
    /// Tells of everything found.
    ///
    /// Breaks off as soon as `visit` says so.
    fn visit(&mut self, visit: Visit<'_>) -> ControlFlow<()>;

    /// Whether two findings could have one mirrored name.
    fn may_repeat_names(&self) -> bool;
}

/// Starts looking for images.
///
/// Sightings arrive in the order of the names within each folder. [`Sighting::Ended`] comes last; dropping the receiver
/// ends the thread.
///
/// # Errors
/// If the list of names cannot be read or the thread cannot be started.
pub fn start(
    config: &Arc<Config>,
    roots: Roots,
    sender: Sender<Sighting>,
) -> io::Result<JoinHandle<()>> {
    let planner = Planner::new(config, roots.output(), roots.folders());
    let mut source = open(config, roots, planner.can_collide())?;
    std::thread::Builder::new()
        .name("source".to_owned())
        .spawn(move || {
            // A receiver that is gone has stopped the walk; there is nobody left to tell.
            let _ = tell(source.as_mut(), &planner, &mut |sighting| match sender
                .blocking_send(sighting)
            {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            });
        })
}

/// Counts ahead how much there is to do, for a display; `None` for a list that can be read once only.
///
/// # Errors
/// If the list of names cannot be read or the thread cannot be started.
pub fn outlook(config: &Arc<Config>, roots: Roots) -> io::Result<Option<Arc<Outlook>>> {
    if let Inputs::List { from, .. } = &config.inputs
        && !list::is_repeatable(from)
    {
        return Ok(None);
    }
    outlook::start(open(config, roots, false)?).map(Some)
}

/// The source the configuration names; `repeatable` if more than one pass will be made.
fn open(config: &Arc<Config>, roots: Roots, repeatable: bool) -> io::Result<Box<dyn Source>> {
    Ok(match &config.inputs {
        Inputs::Paths(_) => Box::new(walk::Walk::new(Arc::clone(config), roots)),
        Inputs::List {
            from, separator, ..
        } => Box::new(list::List::open(
            Arc::clone(config),
            roots,
            from,
            *separator,
            repeatable,
        )?),
    })
}

/// Places what `source` finds and tells it, collisions first.
fn tell(
    source: &mut dyn Source,
    planner: &Planner,
    send: &mut dyn FnMut(Sighting) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut next = 0;
    let mut number = || {
        next += 1;
        JobId(next - 1)
    };
    let collisions = collisions(source, planner)?;
    for (path, failed) in collisions.refused() {
        let identity =
            std::fs::symlink_metadata(path).map_or(UNKNOWN, |metadata| identity(&metadata));
        send(refused(number(), path, identity, failed.clone()))?;
    }
    source.visit(&mut |finding| match finding {
        Encounter::Fault { path, failed } => send(refused(number(), &path, UNKNOWN, failed)),
        Encounter::PassedOver { path, why } => send(Sighting::PassedOver { path, why }),
        Encounter::File { source, .. } if collisions.refuses(&source) => ControlFlow::Continue(()),
        Encounter::File {
            source,
            mirrored,
            identity,
        } => send(placed(number(), planner, source, &mirrored, identity)),
    })?;
    send(Sighting::Ended)
}

/// Finds inputs that want the same output before any work starts, where there can be any.
fn collisions(source: &mut dyn Source, planner: &Planner) -> ControlFlow<(), Collisions> {
    if !planner.can_collide() && !source.may_repeat_names() {
        return ControlFlow::Continue(Collisions::default());
    }
    let mut census = Census::default();
    each_place(source, planner, &mut |_, _, target| census.note(target))?;
    let Some(mut contest) = census.contest() else {
        return ControlFlow::Continue(Collisions::default());
    };
    each_place(source, planner, &mut |source, mirrored, target| {
        contest.claim(source, mirrored, target)
    })?;
    ControlFlow::Continue(contest.settle())
}

fn each_place(
    source: &mut dyn Source,
    planner: &Planner,
    note: &mut dyn FnMut(&Path, &Path, &Path),
) -> ControlFlow<()> {
    source.visit(&mut |finding| {
        if let Encounter::File {
            source, mirrored, ..
        } = finding
            && let Ok(place) = place(planner, &source, &mirrored)
        {
            note(&source, &mirrored, &place.target);
        }
        ControlFlow::Continue(())
    })
}

/// The place of a result. What no build converts is kept under its own name from the start: it does not take the name of
/// a result that another input may become.
fn place(planner: &Planner, source: &Path, mirrored: &Path) -> Result<Place, PlanError> {
    let foreign = planner.changes_formats()
        && filter::may_be_foreign(source)
        && content::is_foreign(source).unwrap_or(false);
    if foreign {
        planner.place_kept(source, mirrored)
    } else {
        planner.place(source, mirrored)
    }
}

fn placed(
    id: JobId,
    planner: &Planner,
    source: PathBuf,
    mirrored: &Path,
    identity: Identity,
) -> Sighting {
    match place(planner, &source, mirrored) {
        Ok(place) => Sighting::Image(Task {
            id,
            source,
            identity,
            target: place.target,
            destination: place.destination,
        }),
        Err(error) => refused(id, &source, identity, Failed::from(error)),
    }
}

fn refused(id: JobId, path: &Path, identity: Identity, failed: Failed) -> Sighting {
    let task = Task {
        id,
        source: path.to_owned(),
        identity,
        target: path.to_owned(),
        destination: PathBuf::new(),
    };
    Sighting::Refused { task, failed }
}

/// Stands for a file that could not be looked at.
const UNKNOWN: Identity = Identity {
    dev: 0,
    ino: 0,
    size: 0,
    mtime_ns: 0,
};

/// A file as it looks now.
pub(crate) fn identity(metadata: &Metadata) -> Identity {
    Identity {
        dev: metadata.dev(),
        ino: metadata.ino(),
        size: metadata.len(),
        mtime_ns: metadata
            .mtime()
            .saturating_mul(1_000_000_000)
            .saturating_add(metadata.mtime_nsec()),
    }
}

/// The failure that stands for an error from the file system.
pub(crate) fn failure(operation: &str, error: &io::Error) -> Failed {
    let (kind, message) = if error.kind() == io::ErrorKind::NotFound {
        (FailureKind::Vanished, "does not exist".to_owned())
    } else if error.kind() == io::ErrorKind::PermissionDenied {
        let message = format!("permission denied: give yourself the right to {operation}");
        (FailureKind::Unreadable, message)
    } else {
        (FailureKind::Io, format!("cannot {operation}: {error}"))
    };
    Failed { kind, message }
}

/// The failure that stands for something that is no file.
pub(crate) fn not_a_file(file_type: std::fs::FileType) -> Failed {
    use std::os::unix::fs::FileTypeExt;
    let what = if file_type.is_fifo() {
        "a named pipe"
    } else if file_type.is_socket() {
        "a socket"
    } else if file_type.is_dir() {
        "a folder"
    } else {
        "a device"
    };
    Failed {
        kind: FailureKind::NotAnImage,
        message: format!("is {what}, not a file; it was not opened"),
    }
}

#[cfg(test)]
mod tests;
