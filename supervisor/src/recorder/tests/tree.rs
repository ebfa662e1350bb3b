//! Results published into a tree of their own.

use super::*;

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
    // The second time its row says that it was skipped, which is no reason to forget whose it is.
    for attempt in 0..2 {
        assert_eq!(
            publish(&world, world.publish(RESULT)).ending,
            Ending::Skipped(Skip::OutputChanged),
            "attempt {attempt}"
        );
    }
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
