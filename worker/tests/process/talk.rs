//! What is said after `Ready`, and how the worker leaves.

use crate::rig::{AVIF, Rig, Test};
use pressroom_shared::{
    Done, FailureKind, ImageFormat, KeptReason, Outcome, ToSupervisor, ToWorker, WorkerExit,
};
use std::fs::File;
use std::os::unix::fs::FileExt;

pub(crate) const TESTS: &[Test] = &[
    ("jobs_are_answered_in_order", jobs_are_answered_in_order),
    (
        "a_file_outside_the_run_cannot_be_read",
        a_file_outside_the_run_cannot_be_read,
    ),
    (
        "an_idle_worker_leaves_with_its_input",
        an_idle_worker_leaves_with_its_input,
    ),
    (
        "a_busy_worker_leaves_with_its_input",
        a_busy_worker_leaves_with_its_input,
    ),
    ("nonsense_ends_the_worker", nonsense_ends_the_worker),
    ("a_second_go_ends_the_worker", a_second_go_ends_the_worker),
];

fn done(message: Option<ToSupervisor>) -> Done {
    match message {
        Some(ToSupervisor::Done(done)) => *done,
        other => panic!("not done: {other:?}"),
    }
}

fn jobs_are_answered_in_order() {
    let (mut rig, _) = Rig::ready();
    let (first, second) = (rig.job(1, "a.avif", AVIF), rig.job(2, "b.jpg", b""));
    rig.send(&ToWorker::Job(first));
    rig.send(&ToWorker::Job(second));
    for id in [1, 2] {
        let started = rig.receive();
        assert!(
            matches!(started, Some(ToSupervisor::Started(started)) if started.id.0 == id),
            "{started:?}"
        );
        let done = done(rig.receive());
        assert_eq!(done.id.0, id);
        assert!(done.rss > 0 && done.peak_rss >= done.rss, "{done:?}");
        match done.outcome {
            Outcome::Kept(kept) => {
                assert_eq!(
                    (kept.reason, kept.format),
                    (KeptReason::UnsupportedFormat, ImageFormat::Avif)
                );
            }
            Outcome::Failed(failed) => assert_eq!(failed.kind, FailureKind::Empty),
            Outcome::Saved(saved) => panic!("saved {saved:?}"),
        }
    }
    assert_eq!(rig.staged(1).as_deref(), Some(AVIF));
    assert_eq!(rig.staged(2), None);
}

fn a_file_outside_the_run_cannot_be_read() {
    let (mut rig, ready) = Rig::ready();
    if ready.enforced.landlock_abi == 0 {
        eprintln!("SKIPPED: this kernel has no Landlock");
        return;
    }
    let elsewhere = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(elsewhere.path(), AVIF).unwrap();
    let job = rig.job_of(1, elsewhere.path());
    rig.send(&ToWorker::Job(job));
    rig.receive();
    let done = done(rig.receive());
    assert!(
        matches!(&done.outcome, Outcome::Failed(failed) if failed.kind == FailureKind::Unreadable),
        "{done:?}"
    );
}

fn left() -> Option<i32> {
    Some(i32::from(WorkerExit::Left.code()))
}

fn an_idle_worker_leaves_with_its_input() {
    let (mut rig, _) = Rig::ready();
    rig.close();
    assert_eq!(rig.receive(), None);
    assert_eq!(rig.wait(), left());
    assert_eq!(rig.last_words(), "");
}

/// The job copies a file with a hole of 3 GiB, which takes seconds.
fn a_busy_worker_leaves_with_its_input() {
    let (mut rig, _) = Rig::ready();
    let path = rig.inputs.path().join("big.avif");
    let file = File::create(&path).unwrap();
    file.write_all_at(AVIF, 0).unwrap();
    file.set_len(3 << 30).unwrap();
    let job = rig.job_of(1, &path);
    rig.send(&ToWorker::Job(job));
    assert!(matches!(rig.receive(), Some(ToSupervisor::Started(_))));
    rig.close();
    assert_eq!(rig.receive(), None, "the job was finished first");
    assert_eq!(rig.wait(), left());
}

fn nonsense_ends_the_worker() {
    let (mut rig, _) = Rig::ready();
    rig.send_bytes(&[1, 0, 0, 0, 0xc1]);
    assert_eq!(rig.receive(), None);
    assert_eq!(rig.wait(), Some(i32::from(WorkerExit::BadWire.code())));
    assert!(
        rig.last_words()
            .contains("does not hold the message expected")
    );
}

fn a_second_go_ends_the_worker() {
    let (mut rig, _) = Rig::ready();
    let go = rig.go();
    rig.send(&ToWorker::Go(Box::new(go)));
    assert_eq!(rig.receive(), None);
    assert_eq!(rig.wait(), Some(i32::from(WorkerExit::BadWire.code())));
}
