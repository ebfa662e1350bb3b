//! Every system call of a job fails once, in every way it can; every call is the last one; memory is refused at each
//! request. strace makes the kernel do it, so the worker under test is the one that ships.
//!
//! Whatever fails, the worker answers or leaves. What it says is true: a picture said to be there is there and whole, one
//! said to have failed has left nothing behind, and the input is untouched.

use crate::rig::{AVIF, Rig, Test};
use pressroom_shared::{Done, Outcome, ToSupervisor, ToWorker, memory_marker};
use std::process::{Command, Stdio};

pub(crate) const TESTS: &[Test] = &[
    (
        "every_failing_call_is_survived",
        every_failing_call_is_survived,
    ),
    (
        "every_kill_leaves_inputs_alone",
        every_kill_leaves_inputs_alone,
    ),
    (
        "every_refused_allocation_is_named",
        every_refused_allocation_is_named,
    ),
];

/// Noise in strong compression: it shrinks at quality 75.
const JPEG: &[u8] = include_bytes!("noise.jpg");

/// A picture that is kept and one that is saved.
const PICTURES: &[(&str, &[u8])] = &[("a.avif", AVIF), ("a.jpg", JPEG)];

const ERRORS: &[&str] = &[
    "ENOSPC", "EDQUOT", "EIO", "EROFS", "EACCES", "EMFILE", "EINTR",
];

/// Calls that reach neither a file nor the wire.
const HARMLESS: &[&str] = &[
    "futex",
    "clock_gettime",
    "sched_yield",
    "madvise",
    "getrandom",
];

/// Calls that a signal can interrupt; that is no reason to fail.
const INTERRUPTIBLE: &[&str] = &["openat", "pread64", "write", "copy_file_range"];

const MEMORY: &[&str] = &["mmap", "brk", "mremap"];

/// One call of a job: its name and its number among the calls of that name since the process began.
type Position = (String, usize);

/// How a job went under strace.
struct Tale {
    rig: Rig,
    done: Option<Done>,
    killed: bool,
    words: Vec<u8>,
    input: std::path::PathBuf,
    content: &'static [u8],
    log: String,
}

/// Does one job in a worker whose calls are tampered with as `inject` says.
fn tell(picture: (&str, &'static [u8]), inject: Option<&str>) -> Tale {
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o"]).arg(log.path());
    strace.args(inject.iter().flat_map(|inject| ["-e", inject]));
    strace
        .arg(std::env::current_exe().unwrap())
        .arg(crate::rig::WORKER);
    let mut rig = Rig::spawn_by(strace);
    let go = rig.go();
    rig.start(go);
    let job = rig.job(1, picture.0, picture.1);
    let input = job.source.as_path().to_path_buf();
    rig.send(&ToWorker::Job(job));
    let mut done = None;
    while done.is_none() {
        match rig.receive() {
            Some(ToSupervisor::Done(answer)) => done = Some(*answer),
            Some(ToSupervisor::Started(_)) => {}
            Some(ToSupervisor::Ready(_)) => panic!("ready twice"),
            None => break,
        }
    }
    rig.close();
    let killed = rig.wait().is_none();
    Tale {
        done,
        killed,
        words: rig.last_words().into_bytes(),
        input,
        content: picture.1,
        log: std::fs::read_to_string(log.path()).unwrap(),
        rig,
    }
}

impl Tale {
    /// The calls between `Ready` and `Done`, as far as they are the main thread's.
    fn positions(&self) -> Vec<Position> {
        let main = self.log.split_whitespace().next().unwrap();
        let lines = self.log.lines().filter_map(|line| line.strip_prefix(main));
        let lines = lines
            .map(str::trim_start)
            .filter(|line| !line.starts_with('<'));
        let mut counts = std::collections::HashMap::new();
        let mut positions = None;
        for line in lines {
            let Some((call, arguments)) = line.split_once('(') else {
                continue;
            };
            let count = counts.entry(call.to_owned()).or_insert(0);
            *count += 1;
            match &mut positions {
                None if arguments.contains("Ready") => positions = Some(Vec::new()),
                None => {}
                Some(positions) => positions.push((call.to_owned(), *count)),
            }
            if call == "write" && arguments.contains("Done") {
                break;
            }
        }
        positions.unwrap()
    }

    fn is_done_well(&self) -> bool {
        match self.done.as_ref().map(|done| &done.outcome) {
            Some(Outcome::Saved(_) | Outcome::Kept(_)) => true,
            Some(Outcome::Failed(_)) | None => false,
        }
    }

    fn is_true(&self, about: &str) {
        assert_eq!(
            std::fs::read(&self.input).unwrap(),
            self.content,
            "{about}: the input changed"
        );
        let staged = self.rig.staged(1);
        match self.done.as_ref().map(|done| &done.outcome) {
            Some(Outcome::Saved(saved)) => {
                let staged = staged.unwrap();
                assert_eq!(staged.len() as u64, saved.bytes, "{about}");
                assert!(
                    staged.starts_with(b"\xff\xd8") && staged.ends_with(b"\xff\xd9"),
                    "{about}"
                );
            }
            Some(Outcome::Kept(_)) => assert_eq!(staged.as_deref(), Some(self.content), "{about}"),
            Some(Outcome::Failed(failed)) => {
                assert_eq!(staged, None, "{about}: {failed:?} left something behind");
                assert!(!failed.message.is_empty(), "{about}");
            }
            None => {}
        }
    }
}

/// Whether strace can be used; says so where it cannot.
fn can_inject() -> bool {
    let mut probe = Command::new("strace");
    probe.args(["-qq", "-e", "inject=chdir:error=EIO", "true"]);
    let able = probe.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let able = able.is_ok_and(|status| status.success());
    if !able {
        eprintln!("SKIPPED: strace is not there or may not trace");
    }
    able
}

fn each(calls: impl Fn(&str) -> bool, test: impl Fn((&str, &'static [u8]), &Position)) {
    if !can_inject() {
        return;
    }
    let mut count = 0;
    for picture in PICTURES {
        let clean = tell(*picture, None);
        clean.is_true("undisturbed");
        assert!(clean.is_done_well(), "{:?}", clean.done);
        let positions = clean.positions();
        for position in positions.iter().filter(|(call, _)| calls(call)) {
            test(*picture, position);
            count += 1;
        }
    }
    println!("{count} calls tampered with");
    assert!(count > 0);
}

fn is_file_call(call: &str) -> bool {
    !HARMLESS.contains(&call) && !MEMORY.contains(&call)
}

fn every_failing_call_is_survived() {
    each(is_file_call, |picture, (call, number)| {
        for error in ERRORS {
            let inject = format!("inject={call}:error={error}:when={number}");
            let tale = tell(picture, Some(&inject));
            let about = format!("{} {inject}", picture.0);
            tale.is_true(&about);
            assert!(!tale.killed, "{about}: died");
            if error == &"EINTR" && INTERRUPTIBLE.contains(&call.as_str()) {
                assert!(tale.is_done_well(), "{about}: {:?}", tale.done);
            }
            // Only a wire that fails leaves a job without an answer.
            assert!(tale.done.is_some() || call == "write", "{about}: no answer");
        }
    });
}

fn every_kill_leaves_inputs_alone() {
    each(is_file_call, |picture, (call, number)| {
        let inject = format!("inject={call}:signal=KILL:when={number}");
        let tale = tell(picture, Some(&inject));
        tale.is_true(&format!("{} {inject}", picture.0));
        let staged = std::fs::read_dir(tale.rig.staging.path()).unwrap();
        assert!(staged.count() <= 1);
    });
}

fn every_refused_allocation_is_named() {
    each(
        |call| MEMORY.contains(&call),
        |picture, (call, number)| {
            for times in [String::new(), "+".to_owned()] {
                // brk does not answer with an error but with where the heap still ends.
                let refusal = if call == "brk" {
                    "retval=0"
                } else {
                    "error=ENOMEM"
                };
                let inject = format!("inject={call}:{refusal}:when={number}{times}");
                let tale = tell(picture, Some(&inject));
                let about = format!("{} {inject}", picture.0);
                tale.is_true(&about);
                let marked = memory_marker(&tale.words).is_some();
                assert!(
                    tale.done.is_some() || marked,
                    "{about}: {}",
                    String::from_utf8_lossy(&tale.words)
                );
            }
        },
    );
}
