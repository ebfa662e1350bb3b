//! How a worker starts, and how it refuses to.

use crate::rig::{Rig, Test};
use pressroom_shared::{BUILD_ID, Go, PROTOCOL, SandboxMode, ToWorker, WorkerExit};
use std::path::PathBuf;
use std::time::Instant;

pub(crate) const TESTS: &[Test] = &[
    (
        "the_greeting_names_protocol_and_build",
        the_greeting_names_protocol_and_build,
    ),
    (
        "a_cap_below_its_own_need_is_refused",
        a_cap_below_its_own_need_is_refused,
    ),
    ("another_build_is_refused", another_build_is_refused),
    (
        "a_missing_staging_folder_is_refused",
        a_missing_staging_folder_is_refused,
    ),
    (
        "what_cannot_be_done_is_refused",
        what_cannot_be_done_is_refused,
    ),
    ("a_job_before_go_is_refused", a_job_before_go_is_refused),
    (
        "the_end_of_input_before_go_is_refused",
        the_end_of_input_before_go_is_refused,
    ),
    (
        "a_required_sandbox_is_all_there_or_refused",
        a_required_sandbox_is_all_there_or_refused,
    ),
    (
        "no_sandbox_is_reported_as_none",
        no_sandbox_is_reported_as_none,
    ),
];

fn the_greeting_names_protocol_and_build() {
    let (rig, ready) = Rig::ready();
    // The kernel keeps fifteen bytes of a name.
    let name = std::fs::read_to_string(rig.proc("comm")).expect("a process");
    assert_eq!(name.trim_end(), "pressroom-worke");
    assert_eq!((ready.protocol, ready.build.as_str()), (PROTOCOL, BUILD_ID));
}

/// What a worker says when it does not start with this `Go`.
fn refusal(change: impl FnOnce(&mut Go)) -> String {
    let mut rig = Rig::spawn();
    let mut go = rig.go();
    change(&mut go);
    rig.send(&ToWorker::Go(Box::new(go)));
    refused(rig)
}

fn refused(mut rig: Rig) -> String {
    assert_eq!(rig.receive(), None);
    assert_eq!(rig.wait(), Some(i32::from(WorkerExit::CannotStart.code())));
    rig.last_words()
}

fn a_cap_below_its_own_need_is_refused() {
    let words = refusal(|go| go.limits.memory = 1 << 20);
    assert!(words.contains("raise --memory-per-worker"), "{words}");
}

fn another_build_is_refused() {
    for change in [(|go: &mut Go| go.protocol += 1) as fn(&mut Go), |go| {
        go.build.push('x')
    }] {
        let words = refusal(change);
        assert!(words.contains("another build"), "{words}");
    }
}

fn a_missing_staging_folder_is_refused() {
    let words = refusal(|go| go.confinement.staging = PathBuf::from("/nowhere/stage").into());
    assert!(words.contains("/nowhere/stage"), "{words}");
}

fn what_cannot_be_done_is_refused() {
    if pressroom_shared::AVIF {
        eprintln!("SKIPPED: this build can do all that can be asked for");
        return;
    }
    let words = refusal(|go| go.settings.format = pressroom_shared::Format::Avif);
    assert!(words.contains("--format avif is not supported"), "{words}");
}

fn a_job_before_go_is_refused() {
    let mut rig = Rig::spawn();
    let job = rig.job(1, "a.jpg", b"x");
    rig.send(&ToWorker::Job(job));
    let words = refused(rig);
    assert!(words.contains("got a job"), "{words}");
}

fn the_end_of_input_before_go_is_refused() {
    let mut rig = Rig::spawn();
    rig.close();
    let words = refused(rig);
    assert!(words.contains("not by hand"), "{words}");
}

fn a_required_sandbox_is_all_there_or_refused() {
    let (_rig, found) = Rig::ready();
    let mut rig = Rig::spawn();
    let mut go = rig.go();
    go.confinement.mode = SandboxMode::Require;
    if found.enforced.landlock_full && found.enforced.seccomp {
        assert_eq!(rig.start(go).enforced, found.enforced);
    } else {
        rig.send(&ToWorker::Go(Box::new(go)));
        assert!(refused(rig).contains("--sandbox=require cannot be met"));
    }
}

fn no_sandbox_is_reported_as_none() {
    let mut rig = Rig::spawn();
    let mut go = rig.go();
    go.confinement.mode = SandboxMode::Off;
    let enforced = rig.start(go).enforced;
    assert_eq!((enforced.landlock_abi, enforced.seccomp), (0, false));
    assert!(enforced.rlimit_data.is_some());
}

/// Not a test: prints how long a worker takes from spawn to `Ready`.
pub(crate) fn measure() {
    let mut times: Vec<u128> = (0..200)
        .map(|_| {
            let begin = Instant::now();
            let _rig = Rig::ready();
            begin.elapsed().as_micros()
        })
        .collect();
    times.sort_unstable();
    let at = |share: usize| times[times.len() * share / 100];
    println!(
        "spawn to Ready, microseconds: median {}, p99 {}",
        at(50),
        at(99)
    );
}
