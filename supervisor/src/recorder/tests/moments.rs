//! What happens just before a call to the system: changes behind our back, and syncs that fail.

use super::*;

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
