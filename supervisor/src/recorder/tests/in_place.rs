//! Results that replace their originals.

use super::*;

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
