//! Whose an output is: two inputs, two runs and two trees never take each other's.

use super::*;

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
