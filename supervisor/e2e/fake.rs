//! A worker that misbehaves. What it does with a file is the first word of the file's name; what it does before any file is
//! in `PRESSROOM_TEST_SCRIPT`, together with a folder in which it notes what it did already.

use pressroom_shared::frame::{self, Decoder};
use pressroom_shared::{
    BUILD_ID, Done, Enforced, Failed, FailureKind, Go, ImageFormat, JOB_MARK, Job, JobId, Outcome,
    PROTOCOL, Ready, Saved, Started, ToSupervisor, ToWorker,
};
use rustix::process::{Signal, getpid, kill_process};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Where the script and the notes are.
pub(crate) const SCRIPT: &str = "PRESSROOM_TEST_SCRIPT";

struct Fake {
    decoder: Decoder<ToWorker>,
    go: Option<Go>,
    notes: PathBuf,
}

/// A worker's life.
pub(crate) fn work() -> ExitCode {
    let script = std::env::var(SCRIPT).unwrap_or_default();
    let (start, notes) = script.split_once(' ').unwrap_or((&script, ""));
    let mut fake = Fake {
        decoder: Decoder::new(),
        go: None,
        notes: PathBuf::from(notes),
    };
    before_hello(start, &fake);
    match fake.next() {
        Some(ToWorker::Go(go)) => fake.go = Some(*go),
        Some(ToWorker::Job(_)) | None => return ExitCode::from(2),
    }
    say(&ready(start));
    if start == "die-idle" {
        std::process::exit(0);
    }
    while let Some(ToWorker::Job(job)) = fake.next() {
        fake.job(&job);
    }
    ExitCode::SUCCESS
}

fn before_hello(start: &str, fake: &Fake) {
    match start {
        "exit-at-start" => {
            eprintln!("this worker was built to fail");
            std::process::exit(2);
        }
        "one-bad-start" if fake.first("bad-start") => std::process::exit(2),
        "silent" => forever(),
        _ => {}
    }
}

fn ready(start: &str) -> ToSupervisor {
    let build = if start == "other-build" {
        "another program"
    } else {
        BUILD_ID
    };
    ToSupervisor::Ready(Ready {
        protocol: PROTOCOL,
        build: build.to_owned(),
        enforced: Enforced::default(),
    })
}

impl Fake {
    fn next(&mut self) -> Option<ToWorker> {
        loop {
            if let Some(message) = self.decoder.next().expect("the supervisor speaks frames") {
                return Some(message);
            }
            let mut chunk = [0; 4096];
            match std::io::stdin().read(&mut chunk) {
                Ok(0) | Err(_) => return None,
                Ok(count) => self.decoder.push(&chunk[..count]),
            }
        }
    }

    /// Whether this is the first time that `what` is asked about.
    fn first(&self, what: &str) -> bool {
        std::fs::File::create_new(self.notes.join(what)).is_ok()
    }

    fn job(&self, job: &Job) {
        let name = job.source.as_path().file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let word = name.split(['.', '+']).next().unwrap_or_default();
        if word == "unstarted" {
            return say(&self.done(job));
        }
        say(&ToSupervisor::Started(Started { id: job.id }));
        let _ = std::io::stderr().write_all(&[JOB_MARK]);
        let word = match word.strip_prefix("once-") {
            Some(_) if !self.first(&name) => "ok",
            Some(word) => word,
            None => word,
        };
        self.act(word, job);
    }

    fn act(&self, word: &str, job: &Job) {
        if let Some(signal) = signal(word) {
            raise(signal);
            return forever();
        }
        match word {
            "exit0" => std::process::exit(0),
            "exit7" => std::process::exit(7),
            "panic" => std::process::exit(101),
            "oom" => {
                eprintln!("memory allocation of 123456789 bytes failed");
                raise(Signal::ABORT);
            }
            "spin" => loop {
                std::hint::spin_loop();
            },
            "sleep" => forever(),
            "slow" => {
                std::thread::sleep(Duration::from_millis(400));
                say(&self.done(job));
            }
            "memory" => self.grow(),
            "capped" => say(&self.capped(job)),
            "changed" => say(&failed(job.id, FailureKind::Changed)),
            "diskfull" => say(&failed(job.id, FailureKind::DiskFull)),
            "corrupt" => say(&failed(job.id, FailureKind::Corrupt)),
            "grandchild" => self.leave_a_grandchild(),
            _ => self.misspeak(word, job),
        }
    }

    fn misspeak(&self, word: &str, job: &Job) {
        match word {
            "garbage" => raw(b"<html>not found</html>"),
            "oversize" => raw(&u32::MAX.to_le_bytes()),
            "half" => {
                let frame = frame::encode(&self.done(job)).expect("small");
                raw(&frame[..frame.len() / 2]);
                std::process::exit(0);
            }
            "drip" => {
                for byte in frame::encode(&self.done(job)).expect("small") {
                    raw(&[byte]);
                    std::thread::sleep(Duration::from_millis(200));
                }
            }
            "wrongjob" => say(&failed(JobId(999_999), FailureKind::Corrupt)),
            "twice" => {
                say(&self.done(job));
                say(&self.done(job));
            }
            "readyagain" => say(&ready("")),
            "closeout" => {
                rustix::stdio::dup2_stdout(std::fs::File::open("/dev/null").expect("there"))
                    .expect("stdout is open");
                forever();
            }
            "flood" => {
                let line = [&b"\x1b[2J\x1b]0;owned\x07"[..], &[b'x'; 4096]].concat();
                for _ in 0..1000 {
                    let _ = std::io::stderr().write_all(&line);
                }
                raise(Signal::SEGV);
            }
            "beforedone" => {
                self.done(job);
                raise(Signal::SEGV);
            }
            "afterdone" => {
                say(&self.done(job));
                raise(Signal::SEGV);
            }
            "fat" => {
                let mut done = self.outcome(job);
                done.rss = u64::MAX / 2;
                say(&ToSupervisor::Done(Box::new(done)));
            }
            _ => say(&self.done(job)),
        }
    }

    /// A result of half the size, left in staging.
    fn done(&self, job: &Job) -> ToSupervisor {
        ToSupervisor::Done(Box::new(self.outcome(job)))
    }

    fn outcome(&self, job: &Job) -> Done {
        let source = std::fs::read(job.source.as_path()).unwrap_or_default();
        let result = &source[..source.len() / 2];
        let staging = self
            .go
            .as_ref()
            .map(|go| go.confinement.staging.as_path().to_path_buf());
        let staged = staging.unwrap_or_default().join(job.staged.as_path());
        std::fs::write(staged, result).expect("staging can be written");
        answer(
            job.id,
            Outcome::Saved(Saved {
                bytes: result.len() as u64,
                format: ImageFormat::Jpeg,
                width: 1,
                height: 1,
                quality: Some(75),
                warnings: Vec::new(),
            }),
        )
    }

    /// Takes half as much again as it may.
    fn grow(&self) {
        let cap = self.go.as_ref().map_or(0, |go| go.limits.memory);
        let bytes = usize::try_from(cap / 2 * 3).expect("64 bits");
        let mut hoard = vec![0_u8; bytes];
        for page in hoard.chunks_mut(4096) {
            page[0] = 1;
        }
        forever();
        drop(hoard);
    }

    /// Needs more than the usual cap of these tests, 64 MiB.
    fn capped(&self, job: &Job) -> ToSupervisor {
        let cap = self.go.as_ref().map_or(0, |go| go.limits.memory);
        if cap > 64 << 20 {
            self.done(job)
        } else {
            failed(job.id, FailureKind::MemoryCap)
        }
    }

    fn leave_a_grandchild(&self) {
        let sleeper = std::process::Command::new("sleep").arg("300").spawn();
        drop(sleeper);
        std::process::exit(7);
    }
}

fn signal(word: &str) -> Option<Signal> {
    Some(match word {
        "segv" => Signal::SEGV,
        "bus" => Signal::BUS,
        "ill" => Signal::ILL,
        "fpe" => Signal::FPE,
        "abort" => Signal::ABORT,
        "kill" => Signal::KILL,
        "term" => Signal::TERM,
        "sys" => Signal::SYS,
        "xcpu" => Signal::XCPU,
        "xfsz" => Signal::XFSZ,
        "stop" => Signal::STOP,
        _ => return None,
    })
}

fn raise(signal: Signal) {
    // Twice: the first SIGSEGV or SIGBUS only takes Rust's own handler away, which looks for stack overflows.
    for _ in 0..2 {
        let _ = kill_process(getpid(), signal);
    }
}

fn forever() {
    // Even a forgotten fake ends some day.
    std::thread::sleep(Duration::from_secs(600));
    std::process::exit(9);
}

fn failed(id: JobId, kind: FailureKind) -> ToSupervisor {
    let message = "as the file's name asks".to_owned();
    ToSupervisor::Done(Box::new(answer(
        id,
        Outcome::Failed(Failed { kind, message }),
    )))
}

fn answer(id: JobId, outcome: Outcome) -> Done {
    Done {
        id,
        outcome,
        cpu_us: 1,
        wall_us: 1,
        peak_rss: 1 << 20,
        rss: 1 << 20,
    }
}

fn say(message: &ToSupervisor) {
    raw(&frame::encode(message).expect("small"));
}

fn raw(bytes: &[u8]) {
    let mut stdout = std::io::stdout();
    if stdout
        .write_all(bytes)
        .and_then(|()| stdout.flush())
        .is_err()
    {
        std::process::exit(0);
    }
}

/// Where this executable is, for the supervisor to start.
pub(crate) fn executable() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| Path::new("/proc/self/exe").to_path_buf())
}
