//! Every file-system call of a batch fails once in every way, dies once, and loses power once. Whatever happens: no partial
//! file at a final name, the original as it was (in place: the old or the new one, whole), one record, nothing left over.

use super::world::{OLD_RESULT, ORIGINAL, RESULT, SCENES, Scene, World, identity};
use super::{Request, batch};
use crate::ledger::{Previous, Verdict};
use crate::publish::Publisher;
use crate::publish::faults::{Dead, Fail, Hooked, PowerCut, When};
use crate::stage;
use crate::task::{Ending, Record};
use rustix::io::Errno;
use std::cell::Cell;
use std::panic::AssertUnwindSafe;
use std::path::Path;

const ERRNOS: [Errno; 7] = [
    Errno::NOSPC,
    Errno::DQUOT,
    Errno::IO,
    Errno::ROFS,
    Errno::ACCESS,
    Errno::MFILE,
    Errno::INTR,
];

#[test]
fn every_call_may_fail_in_every_way() {
    let mut positions = 0;
    for scene in SCENES {
        for errno in ERRNOS {
            for when in [When::Once, When::FromThenOn, When::AfterDoing] {
                // A call that is interrupted for ever is made for ever.
                if errno != Errno::INTR || when == When::Once {
                    positions += fail_each_call(scene, errno, when);
                }
            }
        }
    }
    assert!(positions > 1000, "only {positions} faults fired");
}

fn fail_each_call(scene: Scene, errno: Errno, when: When) -> u32 {
    for at in 1.. {
        let world = World::new(scene);
        let fail = Fail {
            at,
            errno,
            when,
            calls: Cell::new(0),
        };
        let before = identity(&world.source());
        let mut writer = world.writer();
        let publish = Request::Publish(world.publish(RESULT));
        let records = world.work(Hooked(&fail), &mut writer, vec![publish]);
        if !fail.fired() {
            assert!(matches!(records[0].ending, Ending::Saved(_)), "{records:?}");
            return at - 1;
        }
        drop(writer);
        let label = format!("{scene:?}, call {at} fails with {errno:?} ({when:?})");
        if when == When::FromThenOn {
            // Nothing could be removed any more; the next start does it.
            stage::sweep(&world.output()).unwrap();
            world.writer();
        }
        check(&world, &records, when, &label);
        if !world.in_place() {
            assert_eq!(identity(&world.source()), before, "{label}");
        }
    }
    unreachable!()
}

fn check(world: &World, records: &[Record], when: When, label: &str) {
    assert_eq!(records.len(), 1, "{label}");
    let saved = matches!(records[0].ending, Ending::Saved(_));
    assert!(
        saved || matches!(records[0].ending, Ending::Failed(_)),
        "{label}: {records:?}"
    );
    let original = std::fs::read(world.source()).unwrap();
    let output = std::fs::read(world.destination()).ok();
    match world.scene {
        // Where it can neither be vouched for nor removed, a whole file stays that the next run takes for its own.
        Scene::New if when == When::FromThenOn && !saved => {
            assert!(
                output.is_none() || output.as_deref() == Some(RESULT),
                "{label}"
            );
        }
        Scene::New => assert_eq!(
            output.as_deref(),
            saved.then_some(RESULT),
            "{label}: {records:?}"
        ),
        Scene::Ours => assert_eq!(
            output.as_deref(),
            Some(if saved { RESULT } else { OLD_RESULT }),
            "{label}"
        ),
        Scene::Same => assert_eq!(output.as_deref(), Some(RESULT), "{label}"),
        Scene::InPlace | Scene::Backup => {
            assert_eq!(
                output.as_deref(),
                Some(if saved { RESULT } else { ORIGINAL }),
                "{label}"
            );
        }
    }
    if !world.in_place() {
        assert_eq!(original, ORIGINAL, "{label}");
    }
    check_rows(world, saved, label);
    check_leftovers(world, saved, label);
}

fn check_rows(world: &World, saved: bool, label: &str) {
    let mut rows = Vec::new();
    world
        .reader()
        .entries(None, &mut |entry| rows.push(entry.verdict))
        .unwrap();
    assert_eq!(
        rows,
        [if saved {
            Verdict::Saved
        } else {
            Verdict::Failed
        }],
        "{label}"
    );
    if saved {
        assert_eq!(world.previous(), Previous::Unchanged, "{label}");
    }
}

fn check_leftovers(world: &World, saved: bool, label: &str) {
    let mut expected = vec![world.source(), world.destination()];
    if world.scene == Scene::New && !saved && !world.destination().exists() {
        expected.pop();
    }
    if world.scene == Scene::Backup && saved {
        assert_eq!(std::fs::read(world.backup()).unwrap(), ORIGINAL, "{label}");
        expected.push(world.backup());
    }
    let mut expected: Vec<_> = expected
        .iter()
        .map(|path| {
            path.strip_prefix(world.folder.path())
                .unwrap()
                .to_path_buf()
        })
        .collect();
    expected.sort();
    expected.dedup();
    let mut found = world.files();
    // A backup that could not be removed costs room, never a picture.
    found.retain(|path| {
        saved || !path.starts_with("backup") || std::fs::read(world.backup()).unwrap() != ORIGINAL
    });
    assert_eq!(found, expected, "{label}");
}

#[test]
fn a_kill_at_every_call_loses_nothing() {
    let mut kills = 0;
    for scene in SCENES {
        for after in [false, true] {
            kills += die_at_each_call(scene, after, None);
        }
    }
    assert!(kills > 100, "only {kills} kills");
}

#[test]
fn a_power_cut_at_every_call_damages_no_saved_file() {
    let mut cuts = 0;
    for scene in SCENES {
        for after in [false, true] {
            for names_too in [false, true] {
                cuts += die_at_each_call(scene, after, Some(names_too));
            }
        }
    }
    assert!(cuts > 200, "only {cuts} power cuts");
}

/// The deaths of these tests are not worth a line each; real panics are.
fn quiet_deaths() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !info.payload().is::<Dead>() {
                usual(info);
            }
        }));
    });
}

/// `lose`: the power fails too, and what was not synced is lost; with `Some(true)` names as well as content.
fn die_at_each_call(scene: Scene, after: bool, lose: Option<bool>) -> u32 {
    quiet_deaths();
    for at in 1.. {
        let world = World::new(scene);
        let cut = PowerCut::new(at, after, world.folder.path().join("attic"));
        let publish = world.publish(RESULT);
        let staged = publish.staged.clone();
        let died = die(&world, &cut, publish);
        if !died {
            cut.lose(&[&staged], true);
            assert_eq!(
                std::fs::read(world.destination()).unwrap(),
                RESULT,
                "{scene:?}: answered before its name was safe"
            );
            return at - 1;
        }
        if let Some(names_too) = lose {
            let mut files = vec![staged.as_path()];
            let (destination, backup) = (world.destination(), world.backup());
            // What stood there before was on disk already.
            if std::fs::read(&destination).is_ok_and(|content| content == RESULT)
                && scene != Scene::Same
            {
                files.push(&destination);
            }
            if !world.in_place() {
                files.push(&backup);
            }
            cut.lose(&files, names_too);
        } else {
            let _ = std::fs::remove_dir_all(&cut.attic);
        }
        let label = format!("{scene:?}, dies at call {at} (after: {after}, lose: {lose:?})");
        check_after_death(&world, &label);
    }
    unreachable!()
}

fn die(world: &World, cut: &PowerCut, publish: super::Publish) -> bool {
    let mut writer = world.writer();
    let mut publisher = Publisher::new(Hooked(cut), world.policy.clone(), writer.run(), 0o022);
    let work = || batch::work(vec![Request::Publish(publish)], &mut writer, &mut publisher);
    match std::panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(records) => {
            assert!(matches!(records.unwrap()[0].ending, Ending::Saved(_)));
            false
        }
        Err(panic) => {
            assert!(
                panic.is::<Dead>(),
                "a real panic: {:?}",
                panic.downcast_ref::<String>()
            );
            true
        }
    }
}

fn check_after_death(world: &World, label: &str) {
    // The next start.
    stage::sweep(&world.output()).unwrap();
    drop(world.writer());
    let output = std::fs::read(world.destination()).ok();
    let whole: &[Option<&[u8]>] = match world.scene {
        Scene::New => &[None, Some(RESULT)],
        Scene::Ours => &[Some(OLD_RESULT), Some(RESULT)],
        Scene::Same => &[Some(RESULT)],
        Scene::InPlace | Scene::Backup => &[Some(ORIGINAL), Some(RESULT)],
    };
    assert!(whole.contains(&output.as_deref()), "{label}: {output:?}");
    let mut rows = Vec::new();
    world
        .reader()
        .entries(None, &mut |entry| rows.push(entry))
        .unwrap();
    let says_new = rows
        .iter()
        .any(|row| row.verdict == Verdict::Saved && row.bytes_out == Some(RESULT.len() as u64));
    if says_new {
        assert_eq!(
            output.as_deref(),
            Some(RESULT),
            "{label}: the row says saved"
        );
    }
    if world.in_place() && output.as_deref() == Some(RESULT) {
        assert!(
            says_new,
            "{label}: a result in place would be compressed again"
        );
        assert_eq!(world.previous(), Previous::Unchanged, "{label}");
    }
    if world.in_place() && output.as_deref() == Some(ORIGINAL) {
        assert_eq!(
            std::os::unix::fs::MetadataExt::nlink(&world.source().metadata().unwrap()),
            1,
            "{label}"
        );
    }
    run_again(world, says_new, label);
}

/// The next run ends as an undisturbed one would.
fn run_again(world: &World, done: bool, label: &str) {
    if !done {
        let mut writer = world.writer();
        let records = world.work(
            crate::publish::Disk,
            &mut writer,
            vec![Request::Publish(world.publish(RESULT))],
        );
        assert!(
            matches!(records[0].ending, Ending::Saved(_)),
            "{label}: {records:?}"
        );
    }
    assert_eq!(
        std::fs::read(world.destination()).unwrap(),
        RESULT,
        "{label}"
    );
    if !world.in_place() {
        assert_eq!(std::fs::read(world.source()).unwrap(), ORIGINAL, "{label}");
    }
    if world.scene == Scene::Backup {
        assert_eq!(std::fs::read(world.backup()).unwrap(), ORIGINAL, "{label}");
    }
    let odd = world
        .files()
        .into_iter()
        .filter(|path| is_odd(path))
        .count();
    assert_eq!(odd, 0, "{label}: {:?}", world.files());
}

fn is_odd(path: &Path) -> bool {
    !["in/d/a.jpg", "out/d/a.jpg", "backup/d/a.jpg"].contains(&path.to_str().unwrap())
}
