//! What publishing and recording promise, on a real file system.

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

#[test]
fn a_result_takes_its_place_with_mode_and_time_of_its_source() {
    let world = World::new(Scene::New);
    let record = publish(&world, world.publish(RESULT));
    assert!(matches!(record.ending, Ending::Saved(_)));
    let (source, output) = (
        world.source().metadata().unwrap(),
        world.destination().metadata().unwrap(),
    );
    assert_eq!(output.mode() & 0o7777, 0o640);
    assert_eq!(
        (output.mtime(), output.mtime_nsec()),
        (source.mtime(), source.mtime_nsec())
    );
    assert_eq!(output.nlink(), 1);
    assert_eq!(world.previous(), Previous::Unchanged);
}

#[test]
fn without_preserve_an_output_is_a_new_file() {
    let mut world = World::new(Scene::New);
    world.policy.preserve = Inherit {
        mode: false,
        times: false,
        ..Inherit::TREE
    };
    publish(&world, world.publish(RESULT));
    let output = world.destination().metadata().unwrap();
    assert_eq!(output.mode() & 0o7777, 0o644);
    assert!(output.mtime() > 1_700_000_000);
    assert_eq!(world.previous(), Previous::Unchanged);
}

#[test]
fn set_user_id_is_never_handed_on() {
    let world = World::new(Scene::New);
    std::fs::set_permissions(world.source(), std::fs::Permissions::from_mode(0o6755)).unwrap();
    publish(&world, world.publish(RESULT));
    assert_eq!(
        world.destination().metadata().unwrap().mode() & 0o7777,
        0o755
    );
}

#[test]
fn a_kept_original_is_copied_so_that_the_tree_is_complete() {
    let world = World::new(Scene::New);
    let record = publish(&world, world.publish_kept());
    assert!(matches!(record.ending, Ending::Kept(_)));
    assert_eq!(std::fs::read(world.destination()).unwrap(), ORIGINAL);
    assert_eq!(world.previous(), Previous::Unchanged);
}

#[test]
fn a_worker_that_failed_leaves_a_row_and_no_file() {
    let world = World::new(Scene::New);
    let staged = world.staged(b"half of it");
    let failed = Failed {
        kind: FailureKind::Corrupt,
        message: "cut off".to_owned(),
    };
    let record = publish(
        &world,
        world.publish_of(staged, Outcome::Failed(failed.clone())),
    );
    assert_eq!(record.ending, Ending::Failed(failed));
    assert!(!world.destination().exists());
    assert_eq!(world.previous(), Previous::FailedBefore);
}

#[test]
fn an_output_that_is_not_ours_is_replaced_only_when_asked() {
    for (overwrite, theirs, replaced) in [
        (Displace::Never, "something of mine that is long", false),
        (Displace::Smaller, "something of mine that is long", true),
        (Displace::Smaller, "short", false),
        (Displace::Always, "short", true),
    ] {
        let mut world = World::new(Scene::New);
        world.policy.overwrite = overwrite;
        std::fs::create_dir_all(world.destination().parent().unwrap()).unwrap();
        std::fs::write(world.destination(), theirs).unwrap();
        let record = publish(&world, world.publish(RESULT));
        let now = std::fs::read(world.destination()).unwrap();
        assert_eq!(
            now,
            if replaced { RESULT } else { theirs.as_bytes() },
            "{overwrite:?}"
        );
        match (overwrite, replaced) {
            (_, true) => assert!(matches!(record.ending, Ending::Saved(_))),
            (_, false) => assert_eq!(record.ending, Ending::Skipped(Skip::Exists)),
        }
    }
}

#[test]
fn our_output_is_replaced_and_one_the_user_edited_is_not() {
    let world = World::new(Scene::Ours);
    std::fs::write(world.destination(), "touched up by hand").unwrap();
    assert_eq!(
        publish(&world, world.publish(RESULT)).ending,
        Ending::Skipped(Skip::Exists)
    );
    assert_eq!(
        std::fs::read(world.destination()).unwrap(),
        b"touched up by hand"
    );

    let world = World::new(Scene::Ours);
    publish(&world, world.publish(RESULT));
    assert_eq!(std::fs::read(world.destination()).unwrap(), RESULT);
}

#[test]
fn an_output_stays_ours_when_a_later_attempt_fails() {
    let world = World::new(Scene::Ours);
    let failed = Failed {
        kind: FailureKind::Io,
        message: "a read error".to_owned(),
    };
    publish(
        &world,
        world.publish_of(world.staged(b""), Outcome::Failed(failed)),
    );
    assert_eq!(std::fs::read(world.destination()).unwrap(), OLD_RESULT);
    assert!(matches!(
        publish(&world, world.publish(RESULT)).ending,
        Ending::Saved(_)
    ));
    assert_eq!(std::fs::read(world.destination()).unwrap(), RESULT);
}

#[test]
fn a_folder_or_a_file_in_the_way_is_named() {
    let mut world = World::new(Scene::New);
    std::fs::create_dir_all(world.destination()).unwrap();
    assert_eq!(
        publish(&world, world.publish(RESULT)).ending,
        Ending::Skipped(Skip::Exists)
    );
    world.policy.overwrite = Displace::Always;
    assert_eq!(
        failure(&publish(&world, world.publish(RESULT))),
        FailureKind::OutputExists
    );

    let mut world = World::new(Scene::New);
    world.policy.overwrite = Displace::Always;
    std::fs::write(world.destination().parent().unwrap(), "a file").unwrap();
    assert_eq!(
        failure(&publish(&world, world.publish(RESULT))),
        FailureKind::OutputExists
    );
}

#[test]
fn a_source_that_changed_or_went_away_gets_no_output() {
    let world = World::new(Scene::New);
    let delivery = world.publish(RESULT);
    put(&world.source(), b"another picture");
    assert_eq!(failure(&publish(&world, delivery)), FailureKind::Changed);
    assert!(!world.destination().exists());

    let world = World::new(Scene::New);
    let delivery = world.publish(RESULT);
    std::fs::remove_file(world.source()).unwrap();
    assert_eq!(failure(&publish(&world, delivery)), FailureKind::Vanished);
}

#[test]
fn what_a_worker_left_is_believed_only_as_far_as_it_goes() {
    let breaks: [fn(&Path); 4] = [
        |staged| std::fs::write(staged, "too short").unwrap(),
        |staged| std::fs::remove_file(staged).unwrap(),
        |staged| {
            std::fs::remove_file(staged).unwrap();
            std::os::unix::fs::symlink("/etc/passwd", staged).unwrap();
        },
        |staged| std::fs::hard_link(staged, staged.with_file_name("second")).unwrap(),
    ];
    for break_it in breaks {
        let world = World::new(Scene::New);
        let delivery = world.publish(RESULT);
        break_it(&delivery.staged);
        let mut writer = world.writer();
        let records = world.work(Disk, &mut writer, vec![Request::Publish(delivery)]);
        assert_eq!(failure(&records[0]), FailureKind::Verify);
        assert!(!world.destination().exists());
    }
}

#[test]
fn two_inputs_never_share_an_output() {
    let world = World::new(Scene::New);
    let mut writer = world.writer();
    let mut first = world.publish(RESULT);
    let other = world.folder.path().join("in/b.jpg");
    std::fs::write(&other, ORIGINAL).unwrap();
    first.task.source.clone_from(&other);
    first.task.identity = identity(&other);
    world.work(Disk, &mut writer, vec![Request::Publish(first)]);
    let second = world.publish(OLD_RESULT);
    let records = world.work(Disk, &mut writer, vec![Request::Publish(second)]);
    assert_eq!(failure(&records[0]), FailureKind::Collision);
    assert_eq!(std::fs::read(world.destination()).unwrap(), RESULT);
}

/// The same delivery, as if it had been made from another input.
fn from_another(world: &World, result: &[u8]) -> Publish {
    let mut other = world.publish(result);
    other.task.source = world.folder.path().join("elsewhere.jpg");
    std::fs::write(&other.task.source, ORIGINAL).unwrap();
    other.task.identity = identity(&other.task.source);
    other
}

#[test]
fn an_output_made_from_another_input_in_an_earlier_run_is_not_replaced() {
    for (overwrite, replaced) in [(Displace::Never, false), (Displace::Always, true)] {
        let mut world = World::new(Scene::Ours);
        world.policy.overwrite = overwrite;
        for attempt in 0..2 {
            let record = publish(&world, from_another(&world, RESULT));
            let stands = std::fs::read(world.destination()).unwrap();
            if replaced {
                assert!(matches!(record.ending, Ending::Saved(_)), "{record:?}");
                assert_eq!(stands, RESULT);
            } else {
                let ending = Ending::Skipped(Skip::Exists);
                assert_eq!(record.ending, ending, "attempt {attempt}");
                assert_eq!(stands, OLD_RESULT, "attempt {attempt}");
            }
        }
    }
}

#[test]
fn a_failure_of_another_input_does_not_make_the_output_its_own() {
    let world = World::new(Scene::Ours);
    let mut failed = from_another(&world, RESULT);
    failed.done.outcome = pressroom_shared::Outcome::Failed(Failed {
        kind: FailureKind::Corrupt,
        message: "damaged".to_owned(),
    });
    publish(&world, failed);
    let record = publish(&world, from_another(&world, RESULT));
    assert_eq!(record.ending, Ending::Skipped(Skip::Exists));
    assert_eq!(std::fs::read(world.destination()).unwrap(), OLD_RESULT);
    // Its own input finds it again by its content.
    let own = publish(&world, world.publish(OLD_RESULT));
    assert!(matches!(own.ending, Ending::Saved(_)), "{own:?}");
}

#[test]
fn in_place_everything_but_the_content_stays() {
    let world = World::new(Scene::InPlace);
    let attribute = "user.comment";
    let source = world.source();
    let carries =
        rustix::fs::setxattr(&source, attribute, b"mine", rustix::fs::XattrFlags::empty()).is_ok();
    let before = source.metadata().unwrap();
    let record = publish(&world, world.publish(RESULT));
    assert!(matches!(record.ending, Ending::Saved(_)));
    let after = source.metadata().unwrap();
    assert_eq!(std::fs::read(&source).unwrap(), RESULT);
    let kept = |found: &std::fs::Metadata| {
        (
            found.mode(),
            found.uid(),
            found.gid(),
            found.mtime_nsec(),
            found.atime(),
        )
    };
    assert_eq!(kept(&after), kept(&before));
    if carries {
        let mut value = [0; 16];
        let length = rustix::fs::getxattr(&source, attribute, &mut value[..]).unwrap();
        assert_eq!(&value[..length], b"mine");
    }
    assert_eq!(world.previous(), Previous::Unchanged);
}

#[test]
fn in_place_a_kept_original_is_not_touched() {
    let world = World::new(Scene::InPlace);
    let before = identity(&world.source());
    let delivery = Publish {
        staged: world.staged(b""),
        ..world.publish_kept()
    };
    assert!(matches!(publish(&world, delivery).ending, Ending::Kept(_)));
    assert_eq!(identity(&world.source()), before);
    assert_eq!(world.previous(), Previous::Unchanged);
}

#[test]
fn in_place_a_hard_linked_original_is_left_alone_until_it_stands_alone() {
    let world = World::new(Scene::InPlace);
    let second = world.folder.path().join("in/second.jpg");
    std::fs::hard_link(world.source(), &second).unwrap();
    let Ending::Kept(kept) = publish(&world, world.publish(RESULT)).ending else {
        panic!("replaced one of two names");
    };
    assert_eq!(kept.reason, KeptReason::HardLinked);
    assert_eq!(kept.bytes, ORIGINAL.len() as u64);
    assert_eq!(std::fs::read(world.source()).unwrap(), ORIGINAL);
    assert_eq!(world.previous(), Previous::Unchanged);
    std::fs::remove_file(second).unwrap();
    assert_eq!(world.previous(), Previous::Changed);
}

#[test]
fn a_backup_of_another_picture_is_never_touched_and_one_of_the_same_is_used() {
    let world = World::new(Scene::Backup);
    std::fs::create_dir_all(world.backup().parent().unwrap()).unwrap();
    std::fs::write(world.backup(), "an older original").unwrap();
    publish(&world, world.publish(RESULT));
    assert_eq!(std::fs::read(world.backup()).unwrap(), b"an older original");
    let second = world.backup().with_file_name("a.jpg.~2~");
    assert_eq!(std::fs::read(&second).unwrap(), ORIGINAL);
    // The user puts the original back and runs again.
    put(&world.source(), ORIGINAL);
    put(&second, ORIGINAL);
    publish(&world, world.publish(RESULT));
    assert!(!world.backup().with_file_name("a.jpg.~3~").exists());
}

#[test]
fn staging_on_another_file_system_still_ends_in_one_rename() {
    for scene in [Scene::New, Scene::Ours, Scene::InPlace, Scene::Backup] {
        let mut world = World::new(scene);
        let elsewhere = tempfile::tempdir().unwrap();
        let (here, there) = (
            world.folder.path().metadata().unwrap(),
            elsewhere.path().metadata().unwrap(),
        );
        if here.dev() == there.dev() {
            println!("SKIPPED: there is no second file system here");
            return;
        }
        world.stage = Some(elsewhere.path().to_path_buf());
        std::fs::create_dir_all(crate::stage::root(&world.output())).unwrap();
        let record = publish(&world, world.publish(RESULT));
        assert!(
            matches!(record.ending, Ending::Saved(_)),
            "{scene:?}: {record:?}"
        );
        assert_eq!(std::fs::read(world.destination()).unwrap(), RESULT);
        assert_eq!(
            world.destination().metadata().unwrap().mode() & 0o7777,
            0o640
        );
        assert_eq!(world.previous(), Previous::Unchanged, "{scene:?}");
        assert!(
            world
                .files()
                .iter()
                .all(|path| !path.to_string_lossy().contains(".part"))
        );
    }
}

#[test]
fn any_name_comes_out_byte_for_byte_and_one_too_long_is_named() {
    let long = [b"n".repeat(251), b".jpg".to_vec()].concat();
    let longer = [b"n".repeat(252), b".jpg".to_vec()].concat();
    for (name, fits) in [
        (b"new\nline -- \x01\xff\xfe.jpg".as_slice(), true),
        (b"-rf", true),
        (&long, true),
        (&longer, false),
    ] {
        let world = World::new(Scene::New);
        let mut delivery = world.publish(RESULT);
        delivery.task.target = PathBuf::from(OsStr::from_bytes(name));
        delivery.task.destination = world.output().join(&delivery.task.target);
        let task = delivery.task.clone();
        let record = publish(&world, delivery);
        if fits {
            assert_eq!(std::fs::read(&task.destination).unwrap(), RESULT);
            let keys = Keys::of(&super::world::settings(), &super::world::limits());
            let previous = world.reader().previous(&task, &keys, false).unwrap();
            assert_eq!(previous, Previous::Unchanged);
        } else {
            assert_eq!(failure(&record), FailureKind::NameTooLong);
        }
    }
}

#[test]
fn one_ledger_for_two_outputs_keeps_them_apart() {
    let world = World::new(Scene::New);
    let state = world.folder.path().join("state.db");
    let other = world.folder.path().join("other");
    let mut writer = crate::ledger::Writer::open(&state, &world.output(), &start()).unwrap();
    world.work(
        Disk,
        &mut writer,
        vec![Request::Publish(world.publish(RESULT))],
    );
    let keys = Keys::of(&super::world::settings(), &super::world::limits());
    let here = Reader::open(&state, &world.output()).unwrap();
    assert_eq!(
        here.previous(&world.task(), &keys, false).unwrap(),
        Previous::Unchanged
    );
    let there = Reader::open(&state, &other).unwrap();
    assert_eq!(
        there.previous(&world.task(), &keys, false).unwrap(),
        Previous::Never
    );
    assert_eq!(
        (here.runs(9).unwrap().len(), there.runs(9).unwrap().len()),
        (1, 0)
    );
}

fn setup(world: &World) -> Setup {
    Setup {
        ledger: world.ledger(),
        output: world.output(),
        policy: world.policy.clone(),
        run: start(),
    }
}

fn passed_over() -> PassedOver {
    let mut over = PassedOver::default();
    over.set(Passed::Dangling, 3);
    over.set(Passed::Hidden, 1);
    over
}

fn end(discovered: u64) -> RunEnd {
    RunEnd {
        ended: 3_000,
        wall_ms: 2_000,
        how: HowEnded::Finished,
        discovered,
        ignored: passed_over(),
    }
}

fn record(world: &World, name: &str, ending: Ending) -> Record {
    Record {
        task: Task {
            target: PathBuf::from(name),
            destination: world.output().join(name),
            ..world.task()
        },
        ending,
        ..sample_record()
    }
}

#[test]
fn the_thread_answers_each_request_once_and_closes_the_run() {
    let world = World::new(Scene::New);
    let delivery = world.publish(RESULT);
    let (recorder, mut answers) = start_recorder(setup(&world));
    recorder.send(Request::Publish(delivery));
    recorder.send(Request::Record(record(
        &world,
        "later.jpg",
        Ending::Interrupted,
    )));
    recorder.flush();
    let tally = recorder.finish(end(2)).unwrap();
    assert_eq!((tally.saved, tally.interrupted), (1, 1));
    let mut endings = Vec::new();
    while let Ok(recorded) = answers.try_recv() {
        endings.push(recorded.ending().clone());
    }
    assert_eq!(endings.len(), 2);
    let run = world.reader().runs(1).unwrap().remove(0);
    assert_eq!(run.end, Some(end(2)));
    assert_eq!(
        std::fs::read_dir(world.output().join(".pressroom"))
            .unwrap()
            .count(),
        3,
        "README, ledger.db, stage"
    );
}

fn start_recorder(setup: Setup) -> (Recorder, UnboundedReceiver<Receipt>) {
    super::start(setup).unwrap()
}

#[test]
fn inputs_without_an_ending_are_noticed() {
    let world = World::new(Scene::New);
    let (recorder, _answers) = start_recorder(setup(&world));
    let error = recorder.finish(end(1)).unwrap_err();
    assert!(
        matches!(
            error,
            RecorderError::Unaccounted {
                discovered: 1,
                ended: 0
            }
        ),
        "{error}"
    );
}

#[test]
fn skipped_and_interrupted_inputs_keep_their_earlier_row() {
    let world = World::new(Scene::New);
    publish(&world, world.publish(RESULT));
    let (recorder, _answers) = start_recorder(setup(&world));
    recorder.send(Request::Record(Record {
        ending: Ending::Skipped(Skip::Unchanged),
        ..record(&world, "d/a.jpg", Ending::Interrupted)
    }));
    let tally = recorder.finish(end(1)).unwrap();
    assert_eq!(tally.unchanged, 1);
    assert_eq!(world.previous(), Previous::Unchanged);
    let mut rows = Vec::new();
    world
        .reader()
        .entries(Some(1), &mut |entry| rows.push(entry.verdict))
        .unwrap();
    assert_eq!(rows, [Verdict::Saved]);
}

#[test]
fn the_walk_learns_what_needs_no_work() {
    let world = World::new(Scene::New);
    let lookup = Lookup {
        keys: Keys::of(&super::world::settings(), &super::world::limits()),
        recheck: false,
        retry_failed: false,
        leave_foreign: false,
    };
    let ask = |lookup: &Lookup| world.reader().skip(&world.task(), lookup).unwrap();
    drop(world.writer());
    assert_eq!(ask(&lookup), None);
    let failed = Failed {
        kind: FailureKind::Corrupt,
        message: String::new(),
    };
    publish(
        &world,
        world.publish_of(world.staged(b""), Outcome::Failed(failed)),
    );
    assert_eq!(ask(&lookup), Some(Skip::FailedBefore));
    assert_eq!(
        ask(&Lookup {
            retry_failed: true,
            ..lookup
        }),
        None
    );
    publish(&world, world.publish(RESULT));
    assert_eq!(ask(&lookup), Some(Skip::Unchanged));
    std::fs::write(world.destination(), "edited").unwrap();
    assert_eq!(ask(&lookup), None);
    assert_eq!(
        ask(&Lookup {
            leave_foreign: true,
            ..lookup
        }),
        Some(Skip::Exists)
    );
}

#[test]
fn after_a_lost_ledger_outputs_of_ours_are_known_again_and_others_stay() {
    for (stands, again, ending) in [
        (RESULT, Some(Skip::Unchanged), None),
        (b"mine".as_slice(), Some(Skip::Exists), Some(Skip::Exists)),
    ] {
        let mut world = World::new(Scene::New);
        world.policy.overwrite = Displace::Never;
        std::fs::create_dir_all(world.destination().parent().unwrap()).unwrap();
        std::fs::write(world.destination(), stands).unwrap();
        drop(world.writer());
        let lookup = Lookup {
            keys: Keys::of(&super::world::settings(), &super::world::limits()),
            recheck: false,
            retry_failed: false,
            leave_foreign: true,
        };
        let ask = || world.reader().skip(&world.task(), &lookup).unwrap();
        assert_eq!(ask(), None, "nothing is known, so the work decides");
        let record = publish(&world, world.publish(RESULT));
        match ending {
            None => assert!(matches!(record.ending, Ending::Saved(_)), "{record:?}"),
            Some(skip) => assert_eq!(record.ending, Ending::Skipped(skip)),
        }
        assert_eq!(std::fs::read(world.destination()).unwrap(), stands);
        assert_eq!(ask(), again, "the next run knows");
    }
}

#[test]
fn an_unwritable_place_for_the_ledger_is_named() {
    let folder = scratch();
    let blocked = folder.path().join("blocked");
    std::fs::write(&blocked, "a file").unwrap();
    let error = super::start(Setup {
        ledger: blocked.join("ledger.db"),
        output: folder.path().to_path_buf(),
        policy: crate::publish::Policy {
            place: Place::Tree,
            overwrite: Displace::Never,
            restore: false,
            preserve: Inherit::TREE,
        },
        run: start(),
    })
    .unwrap_err();
    assert!(error.to_string().contains("blocked"), "{error}");
}

/// Does something at the first call that brings content to disk: after all checks, before the rename.
struct AtSync<F: Fn()>(F);

impl<F: Fn()> Hook for AtSync<F> {
    fn before(&self, call: Call<'_>) -> std::io::Result<()> {
        if matches!(call, Call::Sync(_)) {
            (self.0)();
        }
        Ok(())
    }
}

#[test]
fn what_changes_after_the_checks_is_noticed_before_the_rename() {
    let world = World::new(Scene::InPlace);
    let mut writer = world.writer();
    let edit = AtSync(|| put(&world.source(), b"edited at the last moment"));
    let delivery = Request::Publish(world.publish(RESULT));
    let records = world.work(Hooked(edit), &mut writer, vec![delivery]);
    assert_eq!(failure(&records[0]), FailureKind::Changed);
    assert_eq!(
        std::fs::read(world.source()).unwrap(),
        b"edited at the last moment"
    );

    for (scene, content) in [(Scene::New, "theirs"), (Scene::Ours, "theirs, over ours")] {
        let world = World::new(scene);
        let mut writer = world.writer();
        let edit = AtSync(|| std::fs::write(world.destination(), content).unwrap());
        let delivery = Request::Publish(world.publish(RESULT));
        let records = world.work(Hooked(edit), &mut writer, vec![delivery]);
        assert_eq!(records[0].ending, Ending::Skipped(Skip::Exists));
        assert_eq!(
            std::fs::read(world.destination()).unwrap(),
            content.as_bytes()
        );
    }
}

/// A file system that cannot sync folders.
struct NoFolderSync(rustix::io::Errno);

impl Hook for NoFolderSync {
    fn before(&self, call: Call<'_>) -> std::io::Result<()> {
        if matches!(call, Call::SyncFolder(_)) {
            return Err(self.0.into());
        }
        Ok(())
    }
}

#[test]
fn where_folders_cannot_be_synced_pictures_are_done_all_the_same() {
    use rustix::io::Errno;
    for scene in [Scene::New, Scene::Ours, Scene::InPlace, Scene::Backup] {
        for errno in [Errno::INVAL, Errno::OPNOTSUPP] {
            let world = World::new(scene);
            let mut writer = world.writer();
            let delivery = Request::Publish(world.publish(RESULT));
            let records = world.work(Hooked(NoFolderSync(errno)), &mut writer, vec![delivery]);
            assert!(
                matches!(records[0].ending, Ending::Saved(_)),
                "{scene:?} {errno}: {records:?}"
            );
        }
    }
}

/// Refuses to sync the file system as a whole, and the third file.
struct BadSyncs {
    whole: Cell<u32>,
    single: Cell<u32>,
}

impl Hook for &BadSyncs {
    fn before(&self, call: Call<'_>) -> std::io::Result<()> {
        let fails = match call {
            Call::SyncAll => {
                self.whole.set(self.whole.get() + 1);
                true
            }
            Call::Sync(_) => {
                self.single.set(self.single.get() + 1);
                self.single.get() == 3
            }
            Call::Plain
            | Call::SyncFolder(_)
            | Call::Create(_)
            | Call::MakeFolder(_)
            | Call::Link(_)
            | Call::Rename(..)
            | Call::Remove => false,
        };
        if fails { Err(Errno::IO.into()) } else { Ok(()) }
    }
}

#[test]
fn a_crowd_is_synced_at_once_and_asked_one_by_one_when_that_fails() {
    let world = World::new(Scene::New);
    let staged = world.staged(RESULT);
    let delivery = world.publish(RESULT);
    let requests = (0..6).map(|number| {
        let mut one = delivery.clone();
        one.staged = staged.with_file_name(format!("s{number}"));
        std::fs::write(&one.staged, RESULT).unwrap();
        one.task.id = JobId(number);
        one.task.target = PathBuf::from(format!("{number}.jpg"));
        one.task.destination = world.output().join(&one.task.target);
        Request::Publish(one)
    });
    let syncs = BadSyncs {
        whole: Cell::new(0),
        single: Cell::new(0),
    };
    let mut writer = world.writer();
    let records = world.work(Hooked(&syncs), &mut writer, requests.collect());
    assert_eq!((syncs.whole.get(), syncs.single.get()), (1, 6));
    for record in &records {
        let failed = record.task.id == JobId(2);
        assert_eq!(
            matches!(record.ending, Ending::Failed(_)),
            failed,
            "{record:?}"
        );
        assert_eq!(record.task.destination.exists(), !failed);
    }
}
