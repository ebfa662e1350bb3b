//! What becomes of an output that an earlier run gave another extension.

use super::world::{ORIGINAL, RESULT, Scene, World, identity, put};
use super::*;
use crate::publish::faults::{Call, Hook, Hooked};
use crate::publish::{Disk, Files};
use crate::task::{Ending, Record};
use rustix::io::Errno;
use std::path::PathBuf;

/// A delivery of a run that asked for WebP.
fn webp(world: &World, publish: Publish) -> Publish {
    let mut publish = publish;
    publish.task.target = PathBuf::from("d/a.webp");
    publish.task.destination = result_of(world);
    publish
}

fn result_of(world: &World) -> PathBuf {
    world.output().join("d/a.webp")
}

fn work(world: &World, files: impl Files, publish: Publish) -> Record {
    let mut writer = world.writer();
    let mut records = world.work(files, &mut writer, vec![Request::Publish(publish)]);
    assert_eq!(records.len(), 1);
    records.remove(0)
}

fn warnings(record: &Record) -> Vec<String> {
    let warnings = match &record.ending {
        Ending::Saved(saved) => &saved.warnings,
        Ending::Kept(kept) => &kept.warnings,
        Ending::Skipped(_) | Ending::Failed(_) | Ending::Interrupted => panic!("{record:?}"),
    };
    warnings.iter().map(crate::ledger::words::warning).collect()
}

/// The original was kept when WebP was asked for.
fn kept() -> World {
    let world = World::new(Scene::New);
    work(&world, Disk, webp(&world, world.publish_kept()));
    assert_eq!(std::fs::read(world.destination()).unwrap(), ORIGINAL);
    world
}

#[test]
fn a_kept_original_goes_when_its_result_comes_and_the_other_way_round() {
    let world = kept();
    let record = work(&world, Disk, webp(&world, world.publish(RESULT)));
    assert_eq!(warnings(&record), [""; 0]);
    assert_eq!(std::fs::read(result_of(&world)).unwrap(), RESULT);
    assert!(!world.destination().exists());

    let record = work(&world, Disk, webp(&world, world.publish_kept()));
    assert_eq!(warnings(&record), [""; 0]);
    assert_eq!(std::fs::read(world.destination()).unwrap(), ORIGINAL);
    assert!(!result_of(&world).exists());
    assert!(world.source().exists());
}

#[test]
fn one_that_was_changed_stays_and_the_row_says_so() {
    let edited = [b"touched up".as_slice(), &ORIGINAL.to_ascii_uppercase()];
    for content in edited {
        let world = kept();
        // The second has the size and the time of before.
        put(&world.destination(), content);
        let record = work(&world, Disk, webp(&world, world.publish(RESULT)));
        let said =
            "not removed: d/a.jpg, the original that an earlier run kept: it was changed since";
        assert_eq!(warnings(&record), [said]);
        assert_eq!(std::fs::read(world.destination()).unwrap(), content);
        assert_eq!(std::fs::read(result_of(&world)).unwrap(), RESULT);
    }
    let world = kept();
    let second = world.folder.path().join("second");
    std::fs::hard_link(world.destination(), &second).unwrap();
    let record = work(&world, Disk, webp(&world, world.publish(RESULT)));
    assert_eq!(warnings(&record).len(), 1);
    assert!(world.destination().exists());
}

#[test]
fn what_a_run_with_other_settings_put_there_stays() {
    let world = World::new(Scene::New);
    work(&world, Disk, world.publish_kept());
    // The second run takes the first one's copy for its own, and both have a row.
    work(&world, Disk, webp(&world, world.publish_kept()));
    let record = work(&world, Disk, webp(&world, world.publish(RESULT)));
    let said = "not removed: d/a.jpg, the original that an earlier run kept: a run with other settings put it there";
    assert_eq!(warnings(&record), [said]);
    assert!(world.destination().exists());

    let world = World::new(Scene::Ours);
    let record = work(&world, Disk, webp(&world, world.publish(RESULT)));
    assert_eq!(warnings(&record), [""; 0]);
    assert!(world.destination().exists());
}

#[test]
fn what_the_ledger_does_not_have_from_this_input_stays() {
    let world = World::new(Scene::New);
    std::fs::create_dir_all(world.destination().parent().unwrap()).unwrap();
    put(&world.destination(), ORIGINAL);
    let record = work(&world, Disk, webp(&world, world.publish(RESULT)));
    assert_eq!(warnings(&record), [""; 0]);
    assert!(world.destination().exists());

    let world = kept();
    let mut other = webp(&world, world.publish(RESULT));
    other.task.source = world.folder.path().join("in/b.jpg");
    put(&other.task.source, ORIGINAL);
    other.task.identity = identity(&other.task.source);
    let record = work(&world, Disk, other);
    assert_eq!(warnings(&record), [""; 0]);
    assert!(world.destination().exists());
}

/// Does something before files are synced, or refuses to remove.
struct Meddle<'a> {
    at_sync: &'a dyn Fn(),
    removes: bool,
}

impl Hook for Meddle<'_> {
    fn before(&self, call: Call<'_>) -> std::io::Result<()> {
        match call {
            Call::Sync(_) | Call::SyncAll => (self.at_sync)(),
            Call::Remove if !self.removes => return Err(Errno::ACCESS.into()),
            Call::Plain
            | Call::SyncFolder(_)
            | Call::Create(_)
            | Call::MakeFolder(_)
            | Call::Link(_)
            | Call::Rename(..)
            | Call::Remove => {}
        }
        Ok(())
    }
}

#[test]
fn what_changes_or_cannot_be_removed_at_the_last_moment_stays_and_is_said() {
    let world = kept();
    let edit = Meddle {
        at_sync: &|| put(&world.destination(), b"touched up"),
        removes: true,
    };
    let record = work(&world, Hooked(edit), webp(&world, world.publish(RESULT)));
    assert!(warnings(&record)[0].ends_with("it was changed since"));
    assert!(world.destination().exists());

    let world = kept();
    let refuse = Meddle {
        at_sync: &|| {},
        removes: false,
    };
    let record = work(&world, Hooked(refuse), webp(&world, world.publish(RESULT)));
    assert!(matches!(record.ending, Ending::Saved(_)));
    assert!(warnings(&record)[0].starts_with("not removed: d/a.jpg"));
    assert!(world.destination().exists());
}

#[test]
fn a_result_that_does_not_land_removes_nothing() {
    let world = kept();
    put(&result_of(&world), b"somebody else's, and much longer");
    let record = work(&world, Disk, webp(&world, world.publish(RESULT)));
    assert!(matches!(record.ending, Ending::Skipped(_)), "{record:?}");
    assert!(world.destination().exists());
}

/// Not even where damaged results are to be made again.
#[test]
fn somebody_elses_file_under_the_new_extension_is_not_taken_for_a_damaged_result() {
    let mut world = kept();
    world.policy.restore = true;
    put(&result_of(&world), b"somebody else's");
    let record = work(&world, Disk, webp(&world, world.publish(RESULT)));
    assert!(matches!(record.ending, Ending::Skipped(_)), "{record:?}");
    assert_eq!(
        std::fs::read(result_of(&world)).unwrap(),
        b"somebody else's"
    );
    assert!(world.destination().exists());
}
