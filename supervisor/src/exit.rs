//! Exit codes as a type: each named, documented and merged by one rule. The code tells the truth about the run.

use std::process::ExitCode;

/// How the program ends.
///
/// The order is the order of weight: when two things are true of a run, the later variant is told
/// (see [`Exit::merge`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Every image was done or rightly kept (or there was nothing to do): 0.
    Success,
    /// Some images failed, all others were done; or a report that was asked for is incomplete: 1.
    SomeFailed,
    /// Stopped early by a limit the user set (`--run-for`, `--max-fail`): 4.
    StoppedEarly,
    /// Another run holds the lock: 75, the code mail systems use for "try again later".
    Locked,
    /// The request makes no sense; nothing was touched: 2.
    Usage,
    /// The tool cannot go on: no worker starts, the output cannot be written, a required protection is missing: 3.
    CannotRun,
    /// Ended by this signal, after a clean stop: dies by it, so that the shell and cron see it.
    Signal(i32),
}

impl Exit {
    /// The code a shell sees; for a signal, 128 plus its number.
    pub fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::SomeFailed => 1,
            Self::Usage => 2,
            Self::CannotRun => 3,
            Self::StoppedEarly => 4,
            Self::Locked => 75,
            Self::Signal(number) => 128u8.saturating_add(u8::try_from(number).unwrap_or(u8::MAX)),
        }
    }

    /// The weightier of two; of two signals the first.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        match (self, other) {
            (Self::Signal(_), _) => self,
            (
                Self::Success
                | Self::SomeFailed
                | Self::StoppedEarly
                | Self::Locked
                | Self::Usage
                | Self::CannotRun,
                _,
            ) => self.max(other),
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Exit; 7] = [
        Exit::Success,
        Exit::SomeFailed,
        Exit::StoppedEarly,
        Exit::Locked,
        Exit::Usage,
        Exit::CannotRun,
        Exit::Signal(15),
    ];

    #[test]
    fn codes_are_the_documented_ones() {
        assert_eq!(ALL.map(Exit::code), [0, 1, 4, 75, 2, 3, 143]);
        assert_eq!(Exit::Signal(2).code(), 130);
        assert_eq!(Exit::Signal(4000).code(), 255);
    }

    #[test]
    fn the_weightier_wins_whatever_the_order() {
        for (weight, a) in ALL.into_iter().enumerate() {
            for (other, b) in ALL.into_iter().enumerate() {
                assert_eq!(a.merge(b), ALL[weight.max(other)], "{a:?} with {b:?}");
            }
        }
    }

    #[test]
    fn the_first_signal_stays() {
        assert_eq!(Exit::Signal(2).merge(Exit::Signal(15)), Exit::Signal(2));
        assert_eq!(Exit::Signal(15).merge(Exit::Signal(2)), Exit::Signal(15));
    }

    #[test]
    fn success_changes_nothing() {
        for exit in ALL {
            assert_eq!(exit.merge(Exit::Success), exit);
            assert_eq!(exit.merge(exit), exit);
        }
    }
}
