//! How a worker died, from what was left: status, our own reason for killing it, its last words, the cgroup's counters.
//!
//! Pure. A signal alone proves little: a refused allocation and a stack overflow both end in SIGABRT, and a SIGKILL may
//! be ours, the kernel's or a stranger's. So the evidence is looked at in a fixed order, ours first.

use crate::pool::{Cause, KillReason};
use crate::sys::cgroup::OomCounters;
use pressroom_shared::{Failed, FailureKind, WorkerExit, memory_marker};

/// Signal numbers, which are the same on every Linux that matters here.
mod number {
    pub(super) const ABORT: i32 = 6;
    pub(super) const KILL: i32 = 9;
    pub(super) const XCPU: i32 = 24;
    pub(super) const XFSZ: i32 = 25;
    pub(super) const SYS: i32 = 31;
    /// Signals that people and other programs send: HUP, INT, QUIT, PIPE, ALRM, TERM.
    pub(super) const FROM_OUTSIDE: [i32; 6] = [1, 2, 3, 13, 14, 15];
}

/// Longest piece of a worker's last words that goes into a message.
const QUOTE: usize = 200;

/// How a process left, as the system tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Departure {
    /// With a code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// The system could not tell.
    Unknown,
}

/// All there is to go by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evidence<'a> {
    /// How it left.
    pub(crate) exit: Departure,
    /// Why we killed it, noted before the kill.
    pub(crate) killed: Option<KillReason>,
    /// The end of its standard error.
    pub(crate) words: &'a [u8],
    /// What its cgroup counted, if it had one.
    pub(crate) cgroup: Option<OomCounters>,
}

/// The verdict on one death.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Death {
    /// How it came to its end.
    pub(crate) cause: Cause,
    /// The same in words for a person, without the cap and the time limit, which the evidence does not hold.
    pub(crate) what: String,
}

/// Looks at the evidence.
pub(crate) fn verdict(evidence: &Evidence<'_>) -> Death {
    let cause = match (evidence.killed, evidence.exit) {
        (Some(reason), Departure::Signal(number::KILL) | Departure::Unknown) => reason.into(),
        // It left by itself before the kill could reach it, and what it was killed for stands.
        (
            Some(reason @ (KillReason::Stopped | KillReason::Misbehaved | KillReason::NeverLeft)),
            Departure::Code(_),
        ) => reason.into(),
        (_, Departure::Code(code)) => by_code(code),
        (_, Departure::Signal(signal)) => by_signal(signal, evidence),
        (None, Departure::Unknown) => Cause::Crashed,
    };
    let what = describe(cause, evidence);
    Death { cause, what }
}

fn by_code(code: i32) -> Cause {
    match WorkerExit::from_code(code) {
        Some(WorkerExit::Left | WorkerExit::Replace) => Cause::Left,
        Some(WorkerExit::CannotStart) => Cause::CannotStart,
        Some(WorkerExit::BadWire) => Cause::Protocol,
        None if code == 101 => Cause::Panicked,
        None => Cause::Crashed,
    }
}

fn by_signal(signal: i32, evidence: &Evidence<'_>) -> Cause {
    match signal {
        number::KILL => by_foreign_kill(evidence.cgroup.unwrap_or_default()),
        number::ABORT if memory_marker(evidence.words).is_some() => Cause::MemoryCap,
        number::SYS => Cause::Sandbox,
        number::XCPU => Cause::Timeout,
        number::XFSZ => Cause::OutputTooLarge,
        other if number::FROM_OUTSIDE.contains(&other) => Cause::KilledOutside,
        _ => Cause::Crashed,
    }
}

/// A SIGKILL that is not ours. If the leaf ran out itself it was the cap; if only a kill was counted, an ancestor ran out.
fn by_foreign_kill(counters: OomCounters) -> Cause {
    match counters {
        OomCounters { oom_kill: 0, .. } => Cause::KilledOutside,
        OomCounters { oom: 0, .. } => Cause::HostMemory,
        OomCounters { .. } => Cause::MemoryCap,
    }
}

fn describe(cause: Cause, evidence: &Evidence<'_>) -> String {
    let how = match evidence.exit {
        Departure::Code(code) => format!("exit code {code}"),
        Departure::Signal(signal) => format!("signal {signal}{}", signal_name(signal)),
        Departure::Unknown => "unknown exit".to_owned(),
    };
    match cause {
        Cause::MemoryCap => match memory_marker(evidence.words) {
            Some(bytes) => format!("an allocation of {bytes} bytes was refused"),
            None => "the worker went over its memory cap".to_owned(),
        },
        Cause::HostMemory => "the system ran out of memory and ended the worker".to_owned(),
        Cause::KilledOutside => format!(
            "the worker was killed from outside ({how}); often that is the system running out of memory"
        ),
        Cause::Crashed | Cause::Panicked => {
            format!("the worker crashed ({how}){}", quote(evidence.words))
        }
        Cause::Timeout => "it took too long".to_owned(),
        Cause::Sandbox => format!("the worker tried something the sandbox forbids ({how})"),
        Cause::OutputTooLarge => "the result grew past the largest file allowed".to_owned(),
        Cause::Protocol => format!("the worker sent nonsense ({how}){}", quote(evidence.words)),
        Cause::CannotStart => format!(
            "the worker could not start ({how}){}",
            quote(evidence.words)
        ),
        Cause::Stopped => "the run was ended".to_owned(),
        Cause::Left => format!(
            "the worker left in the middle of it ({how}){}",
            quote(evidence.words)
        ),
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        4 => ", illegal instruction",
        number::ABORT => ", abort",
        7 => ", bus error",
        8 => ", arithmetic fault",
        number::KILL => ", kill",
        11 => ", segmentation fault",
        15 => ", terminate",
        _ => "",
    }
}

/// The last line a worker said, if any, made harmless for a terminal.
fn quote(words: &[u8]) -> String {
    let text = printable(words);
    match text.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => {
            let line: String = line.trim().chars().take(QUOTE).collect();
            format!(": {line}")
        }
        None => String::new(),
    }
}

/// A worker's words without anything that a terminal would obey.
pub(crate) fn printable(words: &[u8]) -> String {
    String::from_utf8_lossy(words)
        .chars()
        .filter(|c| *c == '\n' || !(c.is_control() || is_invisible(*c)))
        .collect()
}

/// Characters that change the direction or the look of the text around them.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// The row of a file whose worker died on it. `cap` in bytes and `seconds` are the limits that were in force.
pub(crate) fn failed(cause: Cause, what: &str, cap: u64, seconds: u64) -> Failed {
    let (kind, advice) = match cause {
        Cause::MemoryCap => (
            FailureKind::MemoryCap,
            format!(
                "; the cap is {} MiB, raise --memory-per-worker or use --oversize alone",
                cap >> 20
            ),
        ),
        Cause::Timeout => (
            FailureKind::Timeout,
            format!("; the limit is {seconds} s, raise it with --timeout"),
        ),
        Cause::HostMemory => (
            FailureKind::HostMemory,
            "; use fewer --workers or a smaller --memory-per-worker".to_owned(),
        ),
        Cause::KilledOutside => (FailureKind::Killed, String::new()),
        Cause::Crashed | Cause::Panicked | Cause::CannotStart | Cause::Left | Cause::Stopped => {
            (FailureKind::Crashed, String::new())
        }
        Cause::Sandbox => (
            FailureKind::SandboxViolation,
            "; this is a fault in pressroom, please report it".to_owned(),
        ),
        Cause::OutputTooLarge => (FailureKind::TooLarge, String::new()),
        Cause::Protocol => (FailureKind::Protocol, String::new()),
    };
    Failed {
        kind,
        message: format!("{what}{advice}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(exit: Departure) -> Evidence<'static> {
        Evidence {
            exit,
            killed: None,
            words: b"",
            cgroup: None,
        }
    }

    fn cause(evidence: Evidence<'_>) -> Cause {
        verdict(&evidence).cause
    }

    const OOM: &[u8] = b"noise\nmemory allocation of 4096 bytes failed\n";

    #[test]
    fn signals_without_other_evidence() {
        let table = [
            (4, Cause::Crashed),
            (6, Cause::Crashed),
            (7, Cause::Crashed),
            (8, Cause::Crashed),
            (9, Cause::KilledOutside),
            (11, Cause::Crashed),
            (15, Cause::KilledOutside),
            (24, Cause::Timeout),
            (25, Cause::OutputTooLarge),
            (31, Cause::Sandbox),
        ];
        for (signal, expected) in table {
            assert_eq!(
                cause(evidence(Departure::Signal(signal))),
                expected,
                "{signal}"
            );
        }
    }

    #[test]
    fn exit_codes() {
        let table = [
            (0, Cause::Left),
            (2, Cause::CannotStart),
            (3, Cause::Protocol),
            (4, Cause::Left),
            (101, Cause::Panicked),
            (1, Cause::Crashed),
        ];
        for (code, expected) in table {
            assert_eq!(cause(evidence(Departure::Code(code))), expected, "{code}");
        }
    }

    #[test]
    fn our_own_kill_is_known_by_its_reason() {
        for reason in [
            KillReason::NeverReady,
            KillReason::NeverStarted,
            KillReason::Timeout,
            KillReason::MemoryCap,
            KillReason::Misbehaved,
            KillReason::NeverLeft,
            KillReason::Stopped,
        ] {
            let mut evidence = evidence(Departure::Signal(9));
            evidence.killed = Some(reason);
            evidence.cgroup = Some(OomCounters {
                oom: 1,
                oom_kill: 1,
            });
            assert_eq!(cause(evidence), reason.into());
        }
    }

    #[test]
    fn a_crash_that_came_before_our_kill_is_a_crash() {
        let mut evidence = evidence(Departure::Signal(11));
        evidence.killed = Some(KillReason::Timeout);
        assert_eq!(cause(evidence), Cause::Crashed);
    }

    #[test]
    fn a_worker_that_left_before_our_kill() {
        let left = |reason| {
            let mut evidence = evidence(Departure::Code(0));
            evidence.killed = Some(reason);
            cause(evidence)
        };
        assert_eq!(left(KillReason::Stopped), Cause::Stopped);
        assert_eq!(left(KillReason::Misbehaved), Cause::Protocol);
        assert_eq!(left(KillReason::NeverLeft), Cause::Left);
        assert_eq!(left(KillReason::Timeout), Cause::Left);
    }

    #[test]
    fn an_abort_is_the_cap_only_with_the_marker() {
        let mut abort = evidence(Departure::Signal(6));
        abort.words = OOM;
        assert_eq!(cause(abort), Cause::MemoryCap);
        abort.words = b"thread 'main' has overflowed its stack";
        assert_eq!(cause(abort), Cause::Crashed);
        let mut segv = evidence(Departure::Signal(11));
        segv.words = OOM;
        assert_eq!(
            cause(segv),
            Cause::Crashed,
            "the marker alone proves nothing"
        );
    }

    #[test]
    fn a_foreign_kill_is_told_by_the_counters() {
        let kill = |oom, oom_kill| {
            let mut evidence = evidence(Departure::Signal(9));
            evidence.cgroup = Some(OomCounters { oom, oom_kill });
            cause(evidence)
        };
        assert_eq!(kill(0, 0), Cause::KilledOutside);
        assert_eq!(kill(1, 0), Cause::KilledOutside);
        assert_eq!(kill(0, 1), Cause::HostMemory);
        assert_eq!(kill(2, 1), Cause::MemoryCap);
    }

    #[test]
    fn words_cannot_steer_a_terminal() {
        let words = b"\x1b[2J\x1b]0;owned\x07line\r\nlast\xff \xe2\x80\xaeword\n\n";
        let text = printable(words);
        assert!(
            text.chars().all(|c| c == '\n' || !c.is_control()),
            "{text:?}"
        );
        let death = verdict(&Evidence {
            words,
            ..evidence(Departure::Signal(11))
        });
        assert_eq!(
            death.what,
            "the worker crashed (signal 11, segmentation fault): last\u{fffd} word"
        );
    }

    #[test]
    fn a_row_says_what_to_do() {
        let row = failed(
            Cause::MemoryCap,
            "an allocation of 9 bytes was refused",
            512 << 20,
            120,
        );
        assert_eq!(row.kind, FailureKind::MemoryCap);
        assert!(row.message.contains("512 MiB"), "{}", row.message);
        let row = failed(Cause::Timeout, "it took too long", 0, 120);
        assert!(row.message.contains("120 s"), "{}", row.message);
    }
}
