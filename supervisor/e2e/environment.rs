//! Where a run finds itself: no environment, closed outputs, a replaced executable, few resources.

use crate::cases::Case;
use crate::{pictures, processes, test, test_with_fake};
use libtest_mimic::Trial;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("without_any_environment", no_environment),
        test("a_closed_stdout_does_not_stop_the_work", closed_stdout),
        test(
            "a_stdout_that_nobody_reads_does_not_stop_the_work",
            blocked_stdout,
        ),
        test("a_full_stdout_does_not_stop_the_work", full_stdout),
        test_with_fake("the_door_for_tests_is_open_here", door),
        test("the_executable_may_be_replaced_during_a_run", replaced),
        test("a_worker_without_a_supervisor_leaves", lonely_worker),
        test("an_unwritable_output_is_refused_at_once", unwritable),
        test("few_open_files_are_enough", few_files),
        test("a_limit_on_the_size_of_files_ends_in_words", small_files),
        test(
            "a_full_file_system_stops_the_run_and_loses_nothing",
            full_disk,
        ),
        test("an_unreadable_file_is_one_row", unreadable),
        test_with_fake(
            "workers_in_the_background_stand_back_for_everything",
            background,
        ),
        test("help_and_usage_errors_are_told_apart", usage),
        test("every_wrong_turn_says_what_to_do", wrong_turns),
    ]
}

fn three_photos(case: &Case) {
    for name in ["lake.jpg", "town.jpg", "leaf.png"] {
        case.input(name, &pictures::photo(name));
    }
}

/// A file of `/proc` says niceness and policy of a process, `ionice` its class on the disk.
fn background() {
    let case = Case::fake("");
    case.inputs(&["sleep.jpg"]);
    let child = case.start(&["-j", "1", "--background", "--timeout", "3s"]);
    let mut workers = Vec::new();
    let started = processes::wait_until(Duration::from_secs(5), || {
        workers = processes::workers(&case.folder());
        let notes = workers.first().and_then(|pid| stat_fields(*pid));
        notes.is_some_and(|fields| fields[19 - 3] == "19" && fields[41 - 3] == "3")
    });
    assert!(started, "nice 19 and SCHED_BATCH (3): {workers:?}");
    match Command::new("ionice")
        .args(["-p", &workers[0].to_string()])
        .output()
    {
        Ok(said) => assert_eq!(String::from_utf8_lossy(&said.stdout).trim(), "idle"),
        Err(_) => eprintln!("SKIPPED: no ionice to ask for the class on the disk"),
    }
    case.finish(child);
}

/// What `/proc/PID/stat` says behind the name; the first of these is field 3 of proc(5).
fn stat_fields(pid: u32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let rest = stat.rsplit(") ").next()?;
    Some(rest.split(' ').map(str::to_owned).collect())
}

fn no_environment() {
    let case = Case::new();
    three_photos(&case);
    let mut command = case.command(&[]);
    command.env_clear();
    let ran = case.finish(command.spawn().expect("it starts"));
    ran.expect_code(0);
    case.check(&ran, 3);
}

fn closed_stdout() {
    let case = Case::new();
    three_photos(&case);
    let mut child = case.start(&["-v"]);
    drop(child.stdout.take());
    let ran = case.finish(child);
    assert!([Some(0), Some(1)].contains(&ran.code()), "{}", ran.text());
    case.check(&ran, 3);
    assert_eq!(case.tree("out").len(), 3);
}

/// `pressroom -v | less`: the reader stands still, the work does not.
fn blocked_stdout() {
    const MANY: usize = 1500;
    let case = Case::new();
    let picture = pictures::jpeg(1);
    for number in 0..MANY {
        // Long names, so that the lines fill any pipe.
        let name = format!("{}{number:04}.jpg", "x".repeat(200));
        case.input(name, &picture);
    }
    let mut command = case.command(&["-v"]);
    let (stdout, out) = std::io::pipe().expect("a pipe");
    command.stdout(out);
    let child = command.spawn().expect("it starts");
    drop(command);
    let done = processes::wait_until(Duration::from_secs(100), || case.tree("out").len() == MANY);
    assert!(done, "only {} of {MANY} are done", case.tree("out").len());
    let mut said = String::new();
    let mut stdout = stdout;
    stdout.read_to_string(&mut said).expect("text");
    let ran = case.finish(child);
    ran.expect_code(0);
    case.check(&ran, MANY);
    let lines = said.lines().filter(|line| line.contains("xxx")).count();
    assert!(
        lines == MANY || said.contains("were left out"),
        "{lines} lines"
    );
    assert!(said.contains("smaller"), "the summary is there");
}

fn full_stdout() {
    let case = Case::new();
    three_photos(&case);
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .expect("Linux has it");
    let mut command = case.command(&["-v"]);
    command.stdout(full);
    let ran = case.finish(command.spawn().expect("it starts"));
    ran.expect_code(1);
    case.check(&ran, 3);
    assert_eq!(case.tree("out").len(), 3);
}

/// All tests with a misbehaving worker would prove nothing if it were never started.
fn door() {
    let case = Case::fake("-");
    case.inputs(&["corrupt.jpg"]);
    let ran = case.run(&[]);
    let records = case.check(&ran, 1);
    assert_eq!(
        records.field("corrupt.jpg", "message"),
        "as the file's name asks"
    );
}

fn replaced() {
    let case = Case::new();
    for number in 0..400 {
        case.input(format!("{number}.jpg"), &pictures::jpeg(number));
    }
    let copy = case.path("pressroom-copy");
    fs::copy(crate::cases::executable(), &copy).expect("a copy");
    let mut command = Command::new(&copy);
    command
        .args([
            "in",
            "-o",
            "out",
            "-q",
            "75",
            "--json",
            "json",
            "--no-config",
            "-j",
            "2",
            "--recycle-after",
            "20",
        ])
        .current_dir(case.folder())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().expect("it starts");
    processes::wait_until(Duration::from_secs(30), || {
        !processes::workers(&case.folder()).is_empty()
    });
    fs::remove_file(&copy).expect("our own copy");
    fs::write(&copy, "#!/bin/sh\nexit 1\n").expect("something else in its place");
    let ran = case.finish(child);
    ran.expect_code(0);
    assert_eq!(case.check(&ran, 400).run["failed"], 0);
}

fn lonely_worker() {
    let mut child = Command::new(crate::cases::executable())
        .arg("__worker")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut said = Vec::new();
    child
        .stdout
        .take()
        .expect("piped")
        .read_to_end(&mut said)
        .expect("readable");
    let status = child.wait().expect("our own child");
    assert!(!status.success() && status.code().is_some(), "{status:?}");
    assert_eq!(said, b"", "a worker says nothing before it is spoken to");
}

fn unwritable() {
    let case = Case::new();
    three_photos(&case);
    fs::write(case.path("out"), "a file, not a folder").expect("our own");
    let ran = case.run(&[]);
    assert!([Some(2), Some(3)].contains(&ran.code()), "{}", ran.text());
    assert!(ran.stderr.contains("out"), "{}", ran.text());
}

fn few_files() {
    let case = Case::new();
    for number in 0..60 {
        case.input(format!("{number}/{number}.jpg"), &pictures::jpeg(number));
    }
    let limited = |limit: &str| {
        let script = format!("ulimit {limit}; exec \"$@\"");
        let mut command = wrapped(&case, &["sh", "-c", &script, "sh"], &["-j", "2"]);
        case.finish(command.spawn().expect("it starts"))
    };
    let none = limited("-n 24");
    none.expect_code(3);
    assert!(none.stderr.contains("ulimit -n"), "{}", none.text());
    let few = limited("-n 64");
    few.expect_code(0);
    case.check(&few, 60);
    case.input("new.jpg", &pictures::photo("lake.jpg"));
    limited("-Sn 24").expect_code(0);
}

fn small_files() {
    let case = Case::new();
    case.input("small.jpg", &pictures::jpeg(1))
        .input("large.jpg", &pictures::photo("lake.jpg"));
    // A ledger with a log larger than the limit; what is written to it fails.
    let script = "ulimit -f 8; exec \"$@\"";
    let mut command = wrapped(&case, &["sh", "-c", script, "sh"], &["-j", "1"]);
    let ran = case.finish(command.spawn().expect("it starts"));
    assert_eq!(ran.signal(), None, "{}", ran.text());
    assert!(matches!(ran.code(), Some(1 | 3)), "{}", ran.text());
    assert!(ran.stderr.contains("pressroom:"), "{}", ran.text());
}

/// Says that a test proved nothing here.
fn skip(why: &str) {
    eprintln!("SKIPPED: {why}");
}

/// The usual run, started by another program that is given the command as its last arguments.
fn wrapped(case: &Case, wrapper: &[&str], arguments: &[&str]) -> Command {
    let usual = case.command(arguments);
    let mut command = Command::new(wrapper[0]);
    command
        .args(&wrapper[1..])
        .arg(usual.get_program())
        .args(usual.get_args())
        .current_dir(case.folder())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// A file system of two megabytes, in a mount namespace of its own.
fn full_disk() {
    let case = Case::new();
    for number in 0..30 {
        case.input(format!("{number}.jpg"), &pictures::photo("town.jpg"));
    }
    fs::create_dir(case.path("out")).expect("an output folder");
    let mount = "mount -t tmpfs -o size=2m none out && exec \"$@\"";
    let may = Command::new("unshare").args(["-rm", "true"]).status();
    if !may.is_ok_and(|status| status.success()) {
        return skip("no mount namespaces here");
    }
    let before = case.tree("in");
    let mut command = wrapped(
        &case,
        &["unshare", "-rm", "sh", "-c", mount, "sh"],
        &["-j", "1"],
    );
    let ran = case.finish(command.spawn().expect("it starts"));
    ran.expect_code(3);
    let said = ran.stderr.contains("full") || ran.stderr.contains("no room");
    assert!(said, "{}", ran.text());
    assert_eq!(case.tree("in"), before);
    case.check_leftovers();
}

fn unreadable() {
    let case = Case::new();
    three_photos(&case);
    let closed = case.path("in/town.jpg");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("our own");
    let wrapper: &[&str] = if rustix::process::geteuid().is_root() {
        fs::set_permissions(case.folder(), fs::Permissions::from_mode(0o777)).expect("our own");
        &[
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
        ]
    } else {
        &["env"]
    };
    let Ok(child) = wrapped(&case, wrapper, &[]).spawn() else {
        return skip("there is no setpriv to become somebody else with");
    };
    let ran = case.finish(child);
    if ran.stderr.contains("setpriv:") {
        return skip("setpriv may not become somebody else");
    }
    ran.expect_code(1);
    let records = case.check(&ran, 3);
    assert_eq!(records.reason("town.jpg"), "unreadable");
    assert_eq!(records.run["failed"], 1);
}

fn usage() {
    let case = Case::new();
    let code = |arguments: &[&str]| {
        let output = case.bare().args(arguments).output().expect("it starts");
        (
            output.status.code(),
            output.stdout.is_empty(),
            output.stderr.is_empty(),
        )
    };
    assert_eq!(code(&["--help"]), (Some(0), false, true));
    assert_eq!(code(&["--version"]), (Some(0), false, true));
    assert_eq!(code(&["--no-such-flag"]), (Some(2), true, false));
    assert_eq!(code(&[]), (Some(2), true, false));
    assert_eq!(code(&["doctor"]), (Some(0), false, true));

    case.input("a.jpg", &pictures::jpeg(1));
    case.run(&[]).expect_code(0);
    for arguments in [&["--help"][..], &["report", "out"]] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let mut command = case.bare();
        command.args(arguments).stdout(full.expect("a full disk"));
        let output = command.output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert_eq!(
            said.matches("standard output is incomplete").count(),
            1,
            "{said}"
        );
    }
}

fn wrong_turns() {
    let case = Case::new();
    let said = |arguments: &[&str]| {
        let output = case.bare().args(arguments).output().expect("it starts");
        assert_ne!(output.status.code(), Some(0), "{arguments:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(said(&["nowhere", "-o", "out", "-q", "75"]).contains("nowhere"));
    assert!(said(&["in", "-o", "in", "-q", "75"]).contains("--in-place"));
    assert!(said(&["report", "nowhere"]).contains("ledger"));
}
