//! What a worker may do to a run: cost its own file, and nothing else.

use crate::cases::Case;
use crate::processes;
use crate::test_with_fake;
use libtest_mimic::Trial;
use rustix::process::Signal;
use std::time::Duration;

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test_with_fake("a_crash_costs_one_file_and_two_workers", crashes),
        test_with_fake(
            "a_crash_that_does_not_happen_again_costs_nothing",
            crash_once,
        ),
        test_with_fake(
            "half_of_the_inputs_crash_and_the_others_are_done",
            flood_of_crashes,
        ),
        test_with_fake("guilty_deaths_are_not_tried_again", guilty),
        test_with_fake("a_worker_killed_from_outside_is_replaced", killed_outside),
        test_with_fake("hanging_workers_are_ended_at_the_deadline", hangs),
        test_with_fake("nonsense_is_a_crash", nonsense),
        test_with_fake(
            "a_result_stands_whatever_its_worker_does_afterwards",
            after_done,
        ),
        test_with_fake("what_was_staged_before_a_death_is_discarded", before_done),
        test_with_fake("workers_that_do_not_start_end_the_run", bad_starts),
        test_with_fake(
            "a_worker_that_never_says_hello_is_not_waited_for_by_a_signal",
            silent,
        ),
        test_with_fake("one_bad_start_is_forgiven", one_bad_start),
        test_with_fake("a_worker_of_another_build_is_refused", other_build),
        test_with_fake("workers_that_die_idle_end_the_run", idle_deaths),
        test_with_fake("stderr_is_drained_and_made_harmless", flood),
        test_with_fake("a_grandchild_is_not_waited_for_and_not_left", grandchild),
        test_with_fake("memory_beyond_the_cap_is_named", memory),
        test_with_fake("what_needs_more_memory_runs_alone", oversize),
        test_with_fake("a_changed_source_is_tried_once_more", changed),
        test_with_fake("three_files_on_a_full_disk_stop_the_run", disk_full),
        test_with_fake("too_many_failures_stop_the_run", max_fail),
        test_with_fake("fat_and_old_workers_are_replaced", recycling),
        test_with_fake("guilty_files_are_put_into_quarantine", quarantine),
        test_with_fake("retries_are_a_number", retries),
    ]
}

const GOOD: [&str; 6] = [
    "ok.1.jpg", "ok.2.jpg", "ok.3.jpg", "ok.4.jpg", "ok.5.jpg", "ok.6.jpg",
];

/// A run over the good files and these, which must end with exit code 1 and fail all of `bad` for `reason`.
fn failing(bad: &[&str], reason: &str, deaths: u64, arguments: &[&str]) -> Case {
    let case = Case::fake("-");
    case.inputs(&GOOD).inputs(bad);
    let ran = case.run(arguments);
    ran.expect_code(1);
    let records = case.check(&ran, GOOD.len() + bad.len());
    for name in GOOD {
        assert_eq!(records.outcome(name), "saved", "{name}\n{}", ran.text());
    }
    for name in bad {
        assert_eq!(records.outcome(name), "failed", "{name}");
        assert_eq!(
            records.reason(name),
            reason,
            "{name}: {}",
            records.field(name, "message")
        );
        assert_eq!(records.deaths(name), deaths, "{name}");
    }
    assert_eq!(case.tree("out").len(), GOOD.len());
    case
}

fn crashes() {
    let bad = [
        "segv.jpg",
        "bus.jpg",
        "ill.jpg",
        "fpe.jpg",
        "abort.jpg",
        "exit0.jpg",
        "exit7.jpg",
    ];
    failing(&bad, "crashed", 2, &[]);
}

fn crash_once() {
    let case = Case::fake("-");
    case.inputs(&GOOD)
        .inputs(&["once-segv.jpg", "once-kill.jpg", "once-garbage.jpg"]);
    let ran = case.run(&[]);
    ran.expect_code(0);
    let records = case.check(&ran, 9);
    for name in ["once-segv.jpg", "once-kill.jpg", "once-garbage.jpg"] {
        assert_eq!(
            (records.outcome(name), records.deaths(name)),
            ("saved", 1),
            "{name}"
        );
    }
    assert_eq!(records.run["deaths"], 3);
}

fn flood_of_crashes() {
    let case = Case::fake("-");
    for number in 0..200 {
        case.inputs(&[&format!("ok.{number}.jpg"), &format!("segv.{number}.jpg")]);
    }
    let ran = case.run(&[]);
    ran.expect_code(1);
    let records = case.check(&ran, 400);
    assert_eq!(
        (&records.run["saved"], &records.run["failed"]),
        (&200.into(), &200.into())
    );
    assert!(
        records
            .files
            .values()
            .all(|file| file["deaths"].as_u64() <= Some(2))
    );
}

fn guilty() {
    failing(&["panic.jpg"], "crashed", 1, &[]);
    failing(&["sys.jpg"], "sandbox_violation", 1, &[]);
    failing(&["xcpu.jpg"], "timeout", 1, &[]);
    failing(&["xfsz.jpg"], "too_large", 1, &[]);
    failing(&["oom.jpg"], "memory_cap", 1, &[]);
}

fn killed_outside() {
    failing(&["kill.jpg", "term.jpg"], "killed", 2, &[]);
}

fn hangs() {
    let bad = ["sleep.jpg", "spin.jpg", "stop.jpg", "drip.jpg"];
    failing(&bad, "timeout", 1, &["--timeout", "1s", "-j", "4"]);
}

fn nonsense() {
    let bad = [
        "garbage.jpg",
        "oversize.jpg",
        "half.jpg",
        "wrongjob.jpg",
        "readyagain.jpg",
        "closeout.jpg",
    ];
    let case = Case::fake("-");
    case.inputs(&GOOD).inputs(&bad);
    let ran = case.run(&[]);
    ran.expect_code(1);
    let records = case.check(&ran, GOOD.len() + bad.len());
    for name in bad {
        assert_eq!(
            (records.outcome(name), records.deaths(name)),
            ("failed", 2),
            "{name}"
        );
        assert!(
            ["protocol", "crashed"].contains(&records.reason(name)),
            "{name}"
        );
    }
    assert_eq!(records.run["saved"], 6);
}

fn after_done() {
    let case = Case::fake("-");
    case.inputs(&GOOD).inputs(&["afterdone.jpg", "twice.jpg"]);
    let ran = case.run(&[]);
    ran.expect_code(0);
    let records = case.check(&ran, 8);
    assert_eq!(records.run["saved"], 8);
    assert_eq!(
        (records.deaths("afterdone.jpg"), records.deaths("twice.jpg")),
        (0, 0)
    );
}

fn before_done() {
    let case = failing(&["beforedone.jpg"], "crashed", 2, &[]);
    assert!(!case.path("out/beforedone.jpg").exists());
    let case = Case::fake("-");
    case.inputs(&["once-beforedone.jpg"]);
    let ran = case.run(&[]);
    ran.expect_code(0);
    assert_eq!(case.check(&ran, 1).outcome("once-beforedone.jpg"), "saved");
}

fn bad_starts() {
    let case = Case::fake("exit-at-start");
    case.inputs(&GOOD);
    let ran = case.run(&[]);
    ran.expect_code(3);
    assert!(
        ran.stderr.contains("built to fail"),
        "the worker's words are shown: {}",
        ran.text()
    );
    let records = case.check(&ran, records_of(&ran));
    assert_eq!(records.run["saved"], 0);
    assert!(case.tree("out").is_empty());
}

/// Inputs that were found before the run ended early.
fn records_of(ran: &crate::cases::Ran) -> usize {
    ran.records().files.len()
}

fn silent() {
    let case = Case::fake("silent");
    case.inputs(&GOOD);
    let child = case.start(&[]);
    let pid = child.id();
    assert!(processes::wait_until(Duration::from_secs(30), || {
        !processes::workers(&case.folder()).is_empty()
    }));
    std::thread::sleep(Duration::from_millis(200));
    processes::send(pid, Signal::TERM);
    std::thread::sleep(Duration::from_millis(500));
    processes::send(pid, processes::interrupt());
    let ran = case.finish(child);
    assert_eq!(ran.signal(), Some(15), "{}", ran.text());
    case.check(&ran, records_of(&ran));
}

fn one_bad_start() {
    let case = Case::fake("one-bad-start");
    case.inputs(&GOOD);
    let ran = case.run(&[]);
    ran.expect_code(0);
    assert_eq!(case.check(&ran, 6).run["saved"], 6);
}

fn other_build() {
    let case = Case::fake("other-build");
    case.inputs(&GOOD);
    let ran = case.run(&[]);
    ran.expect_code(3);
    assert_eq!(case.check(&ran, records_of(&ran)).run["saved"], 0);
}

fn idle_deaths() {
    let case = Case::fake("die-idle");
    case.inputs(&["unbegun.jpg"]);
    let ran = case.run(&[]);
    ran.expect_code(3);
    assert!(ran.stderr.contains("nothing to do"), "{}", ran.text());
    case.check(&ran, 1);
}

fn flood() {
    let case = Case::fake("-");
    case.inputs(&GOOD).inputs(&["flood.jpg"]);
    let ran = case.run(&["-vv"]);
    ran.expect_code(1);
    let records = case.check(&ran, 7);
    assert_eq!(records.reason("flood.jpg"), "crashed");
    let said = [
        ran.stdout.as_str(),
        &ran.stderr,
        records.field("flood.jpg", "message").as_str().unwrap_or(""),
    ];
    assert!(
        said.iter().all(|text| !text.contains('\x1b')),
        "an escape code came through"
    );
    assert!(
        ran.stderr.len() < 100_000,
        "{} bytes of chatter",
        ran.stderr.len()
    );
}

fn grandchild() {
    failing(&["grandchild.jpg"], "crashed", 2, &[]);
}

fn memory() {
    let case = failing(
        &["memory.jpg"],
        "memory_cap",
        1,
        &["--memory-per-worker", "64MiB"],
    );
    drop(case);
}

fn oversize() {
    failing(
        &["capped.jpg"],
        "memory_cap",
        0,
        &["--memory-per-worker", "64MiB"],
    );
    let case = Case::fake("-");
    case.inputs(&GOOD).inputs(&["capped.1.jpg", "capped.2.jpg"]);
    let ran = case.run(&["--memory-per-worker", "64MiB", "--oversize", "alone"]);
    ran.expect_code(0);
    let records = case.check(&ran, 8);
    assert_eq!(records.run["saved"], 8);
    let ended = |name: &str| records.field(name, "ended_ms").as_u64();
    let begun = |name: &str| records.field(name, "started_ms").as_u64();
    for good in GOOD {
        assert!(
            begun("capped.1.jpg") >= ended(good),
            "it was not alone at the end"
        );
    }
    assert!(
        begun("capped.2.jpg") >= ended("capped.1.jpg")
            || begun("capped.1.jpg") >= ended("capped.2.jpg")
    );
}

fn changed() {
    failing(&["changed.jpg"], "changed", 0, &[]);
    let case = Case::fake("-");
    case.inputs(&["once-changed.jpg"]);
    let ran = case.run(&[]);
    ran.expect_code(0);
    assert_eq!(case.check(&ran, 1).outcome("once-changed.jpg"), "saved");
}

fn disk_full() {
    let case = Case::fake("-");
    case.inputs(&[
        "a.jpg",
        "diskfull.1.jpg",
        "diskfull.2.jpg",
        "diskfull.3.jpg",
        "diskfull.4.jpg",
    ]);
    for number in 0..50 {
        case.inputs(&[&format!("slow.{number:02}.jpg")]);
    }
    let ran = case.run(&["-j", "1"]);
    ran.expect_code(3);
    assert!(ran.stderr.contains("disk is full"), "{}", ran.text());
    let records = case.check(&ran, records_of(&ran));
    assert!(records.run["failed"].as_u64() >= Some(3));
    assert!(records.run["interrupted"].as_u64() > Some(0));
    assert_eq!(case.tree("in").len(), 55, "originals are untouched");
}

fn max_fail() {
    let case = Case::fake("-");
    for number in 0..100 {
        case.inputs(&[
            &format!("corrupt.{number:03}.jpg"),
            &format!("slow.{number:03}.jpg"),
        ]);
    }
    let ran = case.run(&["--max-fail", "3", "-j", "1"]);
    ran.expect_code(4);
    let records = case.check(&ran, records_of(&ran));
    let failed = records.run["failed"].as_u64().expect("a number");
    assert!((3..20).contains(&failed), "{failed} failed");
}

fn recycling() {
    let case = Case::fake("-");
    case.inputs(&GOOD).inputs(&["fat.1.jpg", "fat.2.jpg"]);
    let ran = case.run(&["--recycle-after", "1"]);
    ran.expect_code(0);
    let records = case.check(&ran, 8);
    assert_eq!(
        (&records.run["saved"], &records.run["deaths"]),
        (&8.into(), &0.into())
    );
}

fn quarantine() {
    let case = Case::fake("-");
    case.inputs(&GOOD)
        .inputs(&["segv.jpg", "oom.jpg", "corrupt.jpg"]);
    let ran = case.run(&["--quarantine", "q"]);
    ran.expect_code(1);
    case.check(&ran, 9);
    let names: Vec<String> = case
        .tree("q")
        .into_keys()
        .map(|path| path.display().to_string())
        .collect();
    assert_eq!(names.len(), 2, "only what killed a worker: {names:?}");
    assert!(
        names.iter().any(|name| name.ends_with("segv.jpg")),
        "{names:?}"
    );
    assert_eq!(case.tree("in").len(), 9, "the originals stay");
}

fn retries() {
    failing(&["segv.jpg"], "crashed", 1, &["--retries", "0"]);
    failing(&["segv.jpg"], "crashed", 4, &["--retries", "3"]);
}
