//! What publishing and recording promise, on a real file system.

mod in_place;
mod moments;
mod owners;
mod rows;
mod tree;

use super::world::{OLD_RESULT, ORIGINAL, RESULT, Scene, World, identity, put, scratch, start};
use super::*;
use crate::ledger::{HowEnded, Keys, Lookup, Previous, Verdict};
use crate::passed::{Passed, PassedOver};
use crate::publish::faults::{Call, Hook, Hooked};
use crate::publish::{Displace, Inherit, Place};
use crate::task::{Ending, Record, Skip, Task};
use pressroom_shared::{Failed, FailureKind, JobId, KeptReason, Outcome};
use rustix::io::Errno;
use std::cell::Cell;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

/// Publishes one result, and sees to it that nothing stays in staging.
fn publish(world: &World, publish: Publish) -> Record {
    let mut writer = world.writer();
    let stage = publish.staged.parent().unwrap().to_path_buf();
    let mut records = world.work(Disk, &mut writer, vec![Request::Publish(publish)]);
    assert_eq!(records.len(), 1);
    assert_eq!(std::fs::read_dir(stage).unwrap().count(), 0);
    records.remove(0)
}

fn failure(record: &Record) -> FailureKind {
    let Ending::Failed(failed) = &record.ending else {
        panic!("not failed: {:?}", record.ending);
    };
    failed.kind
}
