//! Who is told how a run goes on. The driver tells; it does not know what is shown.

use crate::passed::Passed;
use crate::pool::WorkerId;
use crate::task::{Record, Task};
use pressroom_shared::Enforced;
use std::path::Path;

/// Told of everything worth showing, in the order it happens. Must not block.
pub(crate) trait Audience {
    /// So many inputs were found up to now.
    fn found(&mut self, so_far: u64);
    /// The source has ended; this many inputs were found in all.
    fn all_found(&mut self, total: u64);
    /// Something was found that is no input.
    fn passed_over(&mut self, path: &Path, why: Passed);
    /// The first worker is ready and says what is in force on it.
    fn ready(&mut self, enforced: &Enforced);
    /// A worker begins an image.
    fn started(&mut self, worker: WorkerId, task: &Task);
    /// A worker is through with its image, whatever came of it.
    fn idle(&mut self, worker: WorkerId);
    /// An input's record is safe.
    fn recorded(&mut self, record: &Record);
    /// A worker died or could not be started; `what` says how, for people who want to know everything.
    fn mishap(&mut self, worker: WorkerId, what: &str);
    /// No process could be started for this worker; it is tried again later.
    fn no_process(&mut self, worker: WorkerId, why: &str);
    /// So little memory is free that there is one image at a time; `None` once there is enough again.
    fn memory(&mut self, free: Option<u64>);
    /// Some time has passed; told many times a second.
    fn tick(&mut self);
    /// Something that is worth saying whatever is shown.
    fn note(&mut self, text: &str);
    /// The run was asked to end for the first, second, third time.
    fn stopping(&mut self, times: u32);
}
