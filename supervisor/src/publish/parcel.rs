//! One result on its way to its place, and how far it has come.

use super::files::Found;
use crate::ledger::{Entry, Published, Row, Verdict};
use crate::plan::kept_place;
use crate::recorder::Publish;
use crate::task::{Ending, Record};
use pressroom_shared::{Identity, Outcome, Warning};
use std::fs::File;
use std::path::{Path, PathBuf};

/// One result on its way.
#[derive(Debug)]
pub(crate) struct Parcel {
    /// What will be recorded; its ending changes when something goes wrong on the way.
    pub(crate) record: Record,
    /// Where the worker left its file.
    pub(crate) staged: PathBuf,
    /// Where it goes: an original that is kept although another format was asked for keeps its extension.
    destination: PathBuf,
    /// How far it has come.
    pub(crate) state: State,
    /// What an earlier run made of the input under another extension, and this one makes obsolete.
    pub(super) earlier: Option<Earlier>,
}

/// An output of an earlier run that is to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Earlier {
    /// Its name.
    pub(super) path: PathBuf,
    /// The file as it was compared.
    pub(super) found: Found,
}

/// How far a parcel has come.
#[derive(Debug)]
pub(crate) enum State {
    /// On its way.
    Ready(Box<Ready>),
    /// At its destination.
    Placed(Placed),
    /// Nothing more to do; the record's ending says how it ended.
    Ended(Option<Published>),
}

/// Checked, given its attributes, and waiting to be renamed.
#[derive(Debug)]
pub(crate) struct Ready {
    /// The file that will be the output.
    pub(crate) file: File,
    /// What that file is.
    pub(crate) result: Found,
    /// Fingerprint of its content.
    pub(crate) hash: u64,
    /// The source as it was checked.
    pub(crate) source: Found,
    /// How it takes its place.
    pub(crate) placing: Placing,
    /// Where the original is kept first.
    pub(crate) backup: Option<Backup>,
}

/// Where the original is kept first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Backup {
    /// Its second name.
    pub(crate) path: PathBuf,
    /// It stands there already, from an earlier run.
    pub(crate) stands: bool,
    /// This run made it, and takes it back if the original is not replaced after all.
    pub(crate) made: bool,
}

/// How a result takes its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placing {
    /// The name is free.
    New,
    /// It replaces this file.
    Replace(Found),
    /// Exactly these bytes stand there already.
    Adopt,
}

/// At its destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Placed {
    /// The output.
    pub(crate) result: Found,
    /// Fingerprint of its content.
    pub(crate) hash: u64,
    /// Nothing had this name before.
    pub(crate) new: bool,
    /// Staging lies on another file system.
    pub(crate) crossed: bool,
}

impl Parcel {
    /// What the worker delivered, believed in nothing yet.
    pub(crate) fn of(publish: Publish) -> Self {
        let format = format_of(&publish.done.outcome);
        let destination = match &publish.done.outcome {
            Outcome::Kept(_) => kept_place(&publish.task).destination,
            Outcome::Saved(_) | Outcome::Failed(_) => publish.task.destination.clone(),
        };
        let record = Record {
            task: publish.task,
            ending: match publish.done.outcome {
                Outcome::Saved(saved) => Ending::Saved(saved),
                Outcome::Kept(kept) => Ending::Kept(kept),
                Outcome::Failed(failed) => Ending::Failed(failed),
            },
            format,
            cpu_us: publish.done.cpu_us,
            wall_us: publish.done.wall_us,
            peak_rss: publish.done.peak_rss,
            deaths: publish.deaths,
            seat: publish.seat,
            started_ms: publish.started_ms,
            ended_ms: publish.ended_ms,
        };
        Self {
            record,
            staged: publish.staged,
            destination,
            state: State::Ended(None),
            earlier: None,
        }
    }

    /// Adds to what the user should know, where there is an output.
    pub(super) fn warn(&mut self, warning: Warning) {
        match &mut self.record.ending {
            Ending::Saved(saved) => saved.warnings.push(warning),
            Ending::Kept(kept) => kept.warnings.push(warning),
            Ending::Skipped(_) | Ending::Failed(_) | Ending::Interrupted => {}
        }
    }

    /// Absolute path of the output.
    pub(crate) fn destination(&self) -> &Path {
        &self.destination
    }

    /// Whether an earlier output of the input, whose row says so much of it, can have stood at the destination.
    pub(super) fn may_be_of(&self, verdict: Verdict) -> bool {
        match verdict {
            Verdict::Saved => self.destination == self.record.task.destination,
            Verdict::Kept => self.destination == kept_place(&self.record.task).destination,
            // Its last output may be either.
            Verdict::Skipped | Verdict::Failed | Verdict::Interrupted => true,
        }
    }

    /// The parcel, if it is still on its way.
    pub(crate) fn ready(&self) -> Option<&Ready> {
        match &self.state {
            State::Ready(ready) => Some(ready),
            State::Placed(_) | State::Ended(_) => None,
        }
    }

    /// Where this run will keep the original first, as far as it is to make that name.
    pub(crate) fn backup(&self) -> Option<&Path> {
        let backup = self.ready()?.backup.as_ref()?;
        (!backup.stands).then_some(backup.path.as_path())
    }

    /// It ended on the way. An original that is kept in place is its own output.
    pub(crate) fn end(&mut self, ending: Ending) {
        let identity = self.record.task.identity;
        let kept = matches!(ending, Ending::Kept(_)).then(|| left_alone(identity));
        self.record.ending = ending;
        self.state = State::Ended(kept);
    }

    /// The row for the ledger: as it will be if all goes well, or as it is.
    pub(crate) fn row(&self, in_place: bool) -> Row {
        let (result, hash) = match &self.state {
            State::Ready(ready) => (ready.result, ready.hash),
            State::Placed(placed) => (placed.result, placed.hash),
            State::Ended(published) => return self.row_with(self.record.task.identity, *published),
        };
        let published = Published {
            size: result.identity.size,
            mtime_ns: result.identity.mtime_ns,
            hash: Some(hash),
        };
        let identity = if in_place {
            result.identity
        } else {
            self.record.task.identity
        };
        self.row_with(identity, Some(published))
    }

    fn row_with(&self, identity: Identity, published: Option<Published>) -> Row {
        Row {
            entry: Entry::of(&self.record),
            identity,
            published,
        }
    }
}

/// An original left as it is, as the output it stands for. Its content is not read for that.
pub(super) fn left_alone(identity: Identity) -> Published {
    Published {
        size: identity.size,
        mtime_ns: identity.mtime_ns,
        hash: None,
    }
}

/// The worker names the input's format where it kept the original; a saved result says only what came out.
fn format_of(outcome: &Outcome) -> Option<pressroom_shared::ImageFormat> {
    match outcome {
        Outcome::Saved(saved) => Some(saved.format),
        Outcome::Kept(kept) => Some(kept.format),
        Outcome::Failed(_) => None,
    }
}
