//! What the thread answers, and the rows a run leaves in the ledger.

use super::*;

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
    crate::recorder::start(setup).unwrap()
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
        Some(Skip::OutputChanged)
    );
    let mut other = world.task();
    other.source = world.folder.path().join("elsewhere.jpg");
    let foreign = Lookup {
        leave_foreign: true,
        ..lookup
    };
    assert_eq!(
        world.reader().skip(&other, &foreign).unwrap(),
        Some(Skip::Exists),
        "made from another input"
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
    let error = crate::recorder::start(Setup {
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
