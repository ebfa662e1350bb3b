//! Each system call on a file fails, or kills its process, at each place where a run makes it (by `strace`).
//!
//! A normal run of the tests takes a few places of each call; `scripts/faults` takes them all (`FAULTS_ALL=1`).

use crate::cases::Case;
use crate::{pictures, processes, test};
use libtest_mimic::Trial;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("a_kill_at_any_system_call_loses_nothing", kills),
        test("an_error_of_any_system_call_loses_nothing", errors),
    ]
}

/// Calls that touch files, by any process of a run.
const CALLS: [&str; 14] = [
    "openat",
    "read",
    "write",
    "pwrite64",
    "fsync",
    "fdatasync",
    "renameat2",
    "linkat",
    "unlink",
    "mkdir",
    "ftruncate",
    "fchmod",
    "utimensat",
    "getdents64",
];

/// What a call may fail with.
const ERRORS: [&str; 7] = [
    "ENOSPC", "EDQUOT", "EIO", "EROFS", "EACCES", "EMFILE", "EINTR",
];

/// Places tried per call and fault in a normal run.
const SAMPLE: u32 = 3;

type Tree = BTreeMap<PathBuf, Vec<u8>>;

fn case() -> Case {
    let case = Case::new();
    case.input("a.jpg", &pictures::jpeg(1))
        .input("b/c.jpg", &pictures::jpeg(2));
    case
}

fn expected() -> Tree {
    let case = case();
    case.run(&[]).expect_code(0);
    case.tree("out")
}

fn is_everything_wanted() -> bool {
    std::env::var_os("FAULTS_ALL").is_some()
}

fn kills() {
    let faults: Vec<String> = CALLS
        .iter()
        .map(|call| format!("{call}:signal=KILL"))
        .collect();
    matrix(&faults);
}

fn errors() {
    let mut faults = Vec::new();
    for (number, call) in CALLS.iter().enumerate() {
        for (other, error) in ERRORS.iter().enumerate() {
            // In a normal run each call fails in one way and each way is taken by some call.
            if is_everything_wanted() || number % ERRORS.len() == other {
                faults.push(format!("{call}:error={error}"));
            }
        }
    }
    matrix(&faults);
}

fn matrix(faults: &[String]) {
    let traced = Command::new("strace")
        .args(["-qq", "-e", "trace=none", "true"])
        .status();
    if !traced.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: there is no strace here, or it may not trace");
        return;
    }
    let expected = expected();
    let mut places = 0;
    for fault in faults {
        places += every_place(fault, &expected);
    }
    eprintln!("{places} places, {} kinds of faults", faults.len());
    assert!(
        places as usize > faults.len(),
        "hardly any fault was ever met"
    );
}

/// Lets the fault happen at the first, second, third... time the call is made, until a run makes it no more.
fn every_place(fault: &str, expected: &Tree) -> u32 {
    let mut met = 0;
    let mut place = 1;
    while met < SAMPLE || is_everything_wanted() {
        if !faulty_run(fault, place, expected) {
            break;
        }
        met += 1;
        place += if is_everything_wanted() {
            1
        } else {
            1 + place * 2
        };
    }
    met
}

/// One run with one fault, and one without after it. Says whether the fault was met.
fn faulty_run(fault: &str, place: u32, expected: &Tree) -> bool {
    let case = case();
    let originals = case.tree("in");
    let usual = case.command(&["-j", "1"]);
    let mut command = Command::new("strace");
    command
        .args(["-f", "-qq", "-o", "trace", "-e"])
        .arg(format!(
            "trace={}",
            fault.split(':').next().unwrap_or_default()
        ))
        .arg("-e")
        .arg(format!("inject={fault}:when={place}"))
        .arg(usual.get_program())
        .args(usual.get_args())
        .current_dir(case.folder())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("strace was there");
    let mut status = None;
    let ended = processes::wait_until(Duration::from_secs(60), || {
        status = child.try_wait().expect("our own child");
        status.is_some()
    });
    let about = format!("{fault} at its place {place}");
    assert!(ended, "{about}: the run does not end");
    let trace = std::fs::read(case.path("trace")).unwrap_or_default();
    let trace = String::from_utf8_lossy(&trace).into_owned();
    let met = trace.contains("INJECTED") || trace.contains("killed by SIGKILL");
    let gone = processes::wait_until(Duration::from_secs(2), || {
        processes::inside(&case.folder()).is_empty()
    });
    assert!(gone, "{about}: processes are left");
    assert_eq!(case.tree("in"), originals, "{about}: an original changed");
    let after = case.tree("out");
    for (path, content) in &after {
        assert_eq!(
            Some(content),
            expected.get(path),
            "{about}: {} is half-done",
            path.display()
        );
    }
    if status.is_some_and(|status| status.success()) {
        assert_eq!(&after, expected, "{about}: success was claimed");
    }
    let ran = case.run(&["-j", "1", "--retry-failed"]);
    assert_eq!(ran.code(), Some(0), "{about}: the next run\n{}", ran.text());
    case.check(&ran, expected.len());
    assert_eq!(&case.tree("out"), expected, "{about}: the next run");
    met
}
