//! Signals of the operating system, as what they mean for a run.

use crate::sys;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// End the run; the number is the signal's.
    End(i32),
    /// Stand still until told to go on.
    Pause,
}

/// The signals a run listens to. One that was ignored when the run started stays ignored, as `nohup` wants it.
#[derive(Debug)]
pub(crate) struct Signals {
    end: Vec<(i32, Signal)>,
    pause: Option<Signal>,
}

const HANGUP: i32 = 1;
const INTERRUPT: i32 = 2;
const TERMINATE: i32 = 15;
const SUSPEND: i32 = 20;

impl Signals {
    /// Listens from now on. A signal that cannot be listened to keeps its usual effect.
    pub(crate) fn listen() -> Self {
        let end = [INTERRUPT, TERMINATE, HANGUP];
        Self {
            end: end
                .into_iter()
                .filter_map(|number| Some((number, open(number)?)))
                .collect(),
            pause: open(SUSPEND),
        }
    }

    /// Waits for the next one. Loses nothing when it is dropped while waiting.
    pub(crate) async fn next(&mut self) -> Asked {
        std::future::poll_fn(|context| {
            for (number, signal) in &mut self.end {
                if signal.poll_recv(context).is_ready() {
                    return std::task::Poll::Ready(Asked::End(*number));
                }
            }
            match &mut self.pause {
                Some(pause) => pause.poll_recv(context).map(|_| Asked::Pause),
                None => std::task::Poll::Pending,
            }
        })
        .await
    }
}

fn open(number: i32) -> Option<Signal> {
    if sys::is_ignored(number) {
        return None;
    }
    signal(SignalKind::from_raw(number)).ok()
}
