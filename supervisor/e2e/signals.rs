//! What people and systems send to a run, and the run being killed itself.

use crate::cases::{Case, Ran};
use crate::processes;
use crate::{pictures, test, test_with_fake};
use libtest_mimic::Trial;
use rustix::process::Signal;
use std::process::Child;
use std::time::Duration;

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test_with_fake(
            "the_first_signal_lets_workers_end_what_they_compute",
            drains,
        ),
        test_with_fake("the_second_signal_ends_the_run_at_once", kills),
        test_with_fake("hangup_ends_a_run", hangup),
        test_with_fake("hangup_ignored_at_the_start_is_ignored", nohup),
        test_with_fake("stop_and_continue_do_not_count_as_working_time", pause),
        test_with_fake(
            "a_time_limit_for_the_run_leaves_the_rest_for_the_next",
            run_for,
        ),
        test_with_fake("workers_leave_when_the_supervisor_is_killed", orphans),
        test(
            "a_real_worker_leaves_when_the_supervisor_is_killed",
            real_orphans,
        ),
        test(
            "killed_at_any_moment_and_run_again_gives_the_same_tree",
            killed_and_run_again,
        ),
        test_with_fake("two_runs_into_one_output_do_not_meet", overlapping),
        test_with_fake(
            "two_runs_in_place_over_folders_within_each_other_do_not_meet",
            overlapping_in_place,
        ),
    ]
}

/// Waits until at least one worker has begun a file.
fn wait_for_workers(case: &Case) {
    let there = processes::wait_until(Duration::from_secs(60), || {
        !processes::workers(&case.folder()).is_empty()
    });
    assert!(there, "no worker ever started");
    std::thread::sleep(Duration::from_millis(150));
}

fn signalled(case: &Case, child: Child, signals: &[Signal]) -> Ran {
    wait_for_workers(case);
    for signal in signals {
        processes::send(child.id(), *signal);
        std::thread::sleep(Duration::from_millis(50));
    }
    case.finish(child)
}

fn slow_case(count: usize) -> Case {
    let case = Case::fake("-");
    for number in 0..count {
        case.inputs(&[&format!("slow.{number:03}.jpg")]);
    }
    case
}

fn check_interrupted(case: &Case, ran: &Ran) -> (u64, u64) {
    let records = case.check(ran, ran.records().files.len());
    let number = |name: &str| records.run[name].as_u64().expect("a number");
    (number("saved"), number("interrupted"))
}

fn drains() {
    let case = slow_case(30);
    let child = case.start(&["-j", "2"]);
    let interrupt = processes::interrupt();
    let ran = signalled(&case, child, &[interrupt]);
    assert_eq!(ran.signal(), Some(interrupt.as_raw()), "{}", ran.text());
    let (saved, interrupted) = check_interrupted(&case, &ran);
    assert!(
        saved >= 1 && interrupted >= 1,
        "{saved} saved, {interrupted} interrupted"
    );
    let again = case.run(&["-j", "2"]);
    again.expect_code(0);
    let records = case.check(&again, 30);
    assert_eq!(records.run["skipped"], saved, "what was done stays done");
    assert_eq!(case.tree("out").len(), 30);
}

fn kills() {
    let case = Case::fake("-");
    case.inputs(&["sleep.jpg", "ok.jpg"]);
    let child = case.start(&["-j", "2"]);
    let ran = signalled(&case, child, &[Signal::TERM, Signal::TERM]);
    assert_eq!(ran.signal(), Some(15), "{}", ran.text());
    let (_, interrupted) = check_interrupted(&case, &ran);
    assert_eq!(interrupted, 1);
}

fn hangup() {
    if processes::is_ignored(Signal::HUP) {
        eprintln!("SKIPPED: started by nohup, which makes all runs ignore a hangup");
        return;
    }
    let case = slow_case(20);
    let child = case.start(&["-j", "1"]);
    let ran = signalled(&case, child, &[Signal::HUP]);
    assert_eq!(ran.signal(), Some(1), "{}", ran.text());
    check_interrupted(&case, &ran);
}

fn nohup() {
    let case = slow_case(4);
    let mut command = std::process::Command::new("nohup");
    let usual = case.command(&["-j", "1"]);
    command.arg(usual.get_program()).args(usual.get_args());
    command.current_dir(case.folder());
    for (name, value) in usual.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let child = command.spawn().expect("nohup is part of every system");
    let ran = signalled(&case, child, &[Signal::HUP]);
    ran.expect_code(0);
    assert_eq!(case.check(&ran, 4).run["saved"], 4);
}

fn pause() {
    let case = Case::fake("-");
    case.inputs(&["slow.jpg"]);
    let child = case.start(&["--timeout", "2s", "-j", "1"]);
    let pid = child.id();
    wait_for_workers(&case);
    processes::send(pid, Signal::TSTP);
    std::thread::sleep(Duration::from_secs(3));
    processes::send(pid, Signal::CONT);
    for _ in 0..50 {
        std::thread::sleep(Duration::from_millis(5));
        processes::send(pid, Signal::TSTP);
        std::thread::sleep(Duration::from_millis(5));
        processes::send(pid, Signal::CONT);
    }
    let ran = case.finish(child);
    ran.expect_code(0);
    assert_eq!(case.check(&ran, 1).outcome("slow.jpg"), "saved");
}

fn run_for() {
    let case = slow_case(40);
    let ran = case.run(&["-j", "1", "--run-for", "2s"]);
    ran.expect_code(4);
    let (saved, interrupted) = check_interrupted(&case, &ran);
    assert!(
        saved >= 1 && interrupted >= 1,
        "{saved} saved, {interrupted} interrupted"
    );
}

fn gone_within_a_second(case: &Case) {
    let gone = processes::wait_until(Duration::from_secs(1), || {
        processes::workers(&case.folder()).is_empty()
    });
    assert!(
        gone,
        "workers are left: {:?}",
        processes::workers(&case.folder())
    );
}

fn orphans() {
    let case = slow_case(20);
    let mut child = case.start(&["-j", "2"]);
    wait_for_workers(&case);
    processes::send(child.id(), Signal::KILL);
    child.wait().expect("our own child");
    gone_within_a_second(&case);
    let ran = case.run(&["-j", "2"]);
    ran.expect_code(0);
    case.check(&ran, 20);
    assert_eq!(case.tree("out").len(), 20);
}

fn photos(case: &Case) {
    for round in 0..2 {
        for name in [
            "birches.jpg",
            "dunes.jpg",
            "granite.jpg",
            "lake.jpg",
            "town.jpg",
            "leaf.png",
        ] {
            case.input(format!("{round}/{name}"), &pictures::photo(name));
        }
    }
}

fn real_orphans() {
    let case = Case::new();
    photos(&case);
    let mut child = case.start(&["-j", "2"]);
    wait_for_workers(&case);
    processes::send(child.id(), Signal::KILL);
    child.wait().expect("our own child");
    gone_within_a_second(&case);
}

fn killed_and_run_again() {
    let undisturbed = Case::new();
    for number in 0..60 {
        undisturbed.input(format!("{number}.jpg"), &pictures::jpeg(number));
    }
    undisturbed.run(&["-j", "2"]).expect_code(0);
    let expected = undisturbed.tree("out");
    assert_eq!(expected.len(), 60);
    let case = Case::new();
    for number in 0..60 {
        case.input(format!("{number}.jpg"), &pictures::jpeg(number));
    }
    for round in 0..12_u64 {
        let mut child = case.start(&["-j", "2"]);
        std::thread::sleep(Duration::from_millis(20 + round * 23 % 170));
        processes::send(child.id(), Signal::KILL);
        child.wait().expect("our own child");
        for (path, content) in case.tree("out") {
            assert_eq!(
                Some(&content),
                expected.get(&path),
                "{} is half-done",
                path.display()
            );
        }
        gone_within_a_second(&case);
    }
    let ran = case.run(&["-j", "2"]);
    ran.expect_code(0);
    case.check(&ran, 60);
    assert_eq!(case.tree("out"), expected);
}

/// Runs in place whose folders lie within each other hold different ledgers, and must meet all the same.
fn overlapping_in_place() {
    let case = Case::fake("-");
    for number in 0..4 {
        case.inputs(&[&format!("sub/deep/slow.{number}.jpg")]);
    }
    std::os::unix::fs::symlink(case.path("in/sub"), case.path("way")).expect("a link");
    let start = |folder: &str| {
        let mut command = case.bare();
        command.args([folder, "--in-place", "-q", "75", "-j", "1", "--no-config"]);
        command
    };
    let first = start("in/sub").spawn().expect("it starts");
    wait_for_workers(&case);
    for folder in ["in", "in/sub/deep", "way", "way/deep"] {
        let output = start(folder).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(75), "{folder}: {said}");
        assert!(said.contains("another run is at work"), "{folder}: {said}");
    }
    case.finish(first).expect_code(0);
}

fn overlapping() {
    let case = slow_case(8);
    let child = case.start(&["-j", "1"]);
    let pid = child.id();
    wait_for_workers(&case);
    let mut second = case.bare();
    second.args(["in", "-o", "out", "-q", "75", "--no-config"]);
    let output = second.output().expect("it starts");
    assert_eq!(output.status.code(), Some(75));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains(&pid.to_string()),
        "the first run is named: {said}"
    );
    let ran = case.finish(child);
    ran.expect_code(0);
    case.check(&ran, 8);
}
