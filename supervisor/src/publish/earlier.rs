//! Where another format is asked for, an original that is kept has its own extension and a result the new one: what an earlier
//! run left under the other of the two is out of date once the input is done again, and nobody would know it any more.
//!
//! It is removed only if the ledger has it as made from this very input, it is unchanged since in size, time and content, and
//! no other row speaks of it. In every other case it stays, and the row says so.

use super::files::{Files, Found};
use super::inspect::is_still;
use super::parcel::{Earlier, Parcel, State};
use super::{Known, Publisher, failure};
use crate::ledger::{Ours, Verdict};
use crate::plan::{Place, kept_place};
use crate::task::{Ending, Task};
use pressroom_shared::Warning;
use rustix::io::Errno;

/// What the earlier output is to the user.
const ORIGINAL: &str = "the original that an earlier run kept";
const RESULT: &str = "the result of an earlier run";

impl<F: Files> Publisher<F> {
    /// Finds the output of an earlier run that this one makes obsolete.
    pub(super) fn look_back(&self, parcel: &mut Parcel, known: &Known<'_>) {
        let Some(ready) = parcel.ready() else { return };
        let Some((other, what)) = other_place(&parcel.record.task, &parcel.record.ending) else {
            return;
        };
        let Ok(found) = failure::again(|| self.files.look(&other.destination)) else {
            return;
        };
        if found.same_file(&ready.source) {
            return;
        }
        let task = &parcel.record.task;
        let own = |row: &Ours| row.source == task.source;
        // A row under the other name is that of a run with other settings: its output is not this one's to remove.
        if other.target != task.target {
            match known(&other.target) {
                Ok(Some(theirs)) if theirs.published.is_some() => {
                    if own(&theirs) && theirs.verdict == Verdict::Kept {
                        let why = "a run with other settings put it there";
                        parcel.warn(stays(&other, what, why));
                    }
                    return;
                }
                Ok(_) => {}
                Err(_) => return,
            }
        }
        let Ok(Some(ours)) = known(&task.target) else {
            return;
        };
        if !own(&ours) || !was_there(&ours, &parcel.record.ending) {
            return;
        }
        if self.is_unchanged(&other, &found, &ours) {
            parcel.earlier = Some(Earlier {
                path: other.destination,
                found,
            });
        } else {
            parcel.warn(stays(&other, what, "it was changed since"));
        }
    }

    fn is_unchanged(&self, other: &Place, found: &Found, ours: &Ours) -> bool {
        let Some(before) = ours.published else {
            return false;
        };
        let same = found.regular && found.links == 1 && is_still(before, found);
        let content = |hash| matches!(self.has_content(&other.destination, hash), Ok(true));
        same && before.hash.is_some_and(content)
    }

    /// Removes what is obsolete now that the new outputs stand. A power cut may bring it back, which costs a name, never a
    /// picture.
    pub(super) fn clear_away(&self, parcels: &mut [Parcel]) {
        for parcel in parcels {
            let Some(earlier) = parcel.earlier.take() else {
                continue;
            };
            let State::Placed(_) = parcel.state else {
                continue;
            };
            if let Err(why) = self.remove_earlier(&earlier) {
                let Some((other, what)) = other_place(&parcel.record.task, &parcel.record.ending)
                else {
                    continue;
                };
                parcel.warn(stays(&other, what, &why));
            }
        }
    }

    fn remove_earlier(&self, earlier: &Earlier) -> Result<(), String> {
        let gone = |error: &std::io::Error| failure::is(error, Errno::NOENT);
        match failure::again(|| self.files.look(&earlier.path)) {
            Ok(now) if now.same_file(&earlier.found) && now.identity == earlier.found.identity => {}
            Ok(_) => return Err("it was changed since".to_owned()),
            Err(error) if gone(&error) => return Ok(()),
            Err(error) => return Err(failure::plain(&error)),
        }
        match failure::again(|| self.files.remove(&earlier.path)) {
            Ok(()) => Ok(()),
            Err(error) if gone(&error) => Ok(()),
            Err(error) => Err(failure::plain(&error)),
        }
    }
}

/// Where an output of the input would stand that ended the other way, and what it would be; `None` where both have one name.
fn other_place(task: &Task, ending: &Ending) -> Option<(Place, &'static str)> {
    let kept = kept_place(task);
    if kept.destination == task.destination {
        return None;
    }
    match ending {
        Ending::Saved(_) => Some((kept, ORIGINAL)),
        Ending::Kept(_) => {
            let place = Place {
                target: task.target.clone(),
                destination: task.destination.clone(),
            };
            Some((place, RESULT))
        }
        Ending::Skipped(_) | Ending::Failed(_) | Ending::Interrupted => None,
    }
}

/// Whether the row's output stood at the other place.
fn was_there(ours: &Ours, ending: &Ending) -> bool {
    match ours.verdict {
        Verdict::Kept => matches!(ending, Ending::Saved(_)),
        Verdict::Saved => matches!(ending, Ending::Kept(_)),
        // Its last output may be either.
        Verdict::Skipped | Verdict::Failed | Verdict::Interrupted => false,
    }
}

fn stays(other: &Place, what: &str, why: &str) -> Warning {
    Warning::Stayed(format!("{}, {what}: {why}", other.target.display()))
}
