//! A child's input: orders line by line, and the end of the child when it closes.

use super::say;
use crate::messages::{Request, Said};
use std::io::BufRead;
use std::sync::mpsc::{Receiver, channel};

/// Orders from the bench.
pub(super) struct Lifeline {
    orders: Receiver<String>,
}

impl Lifeline {
    /// Listens in a thread of its own, which ends the process when the bench is gone.
    pub(super) fn start() -> Self {
        let (sender, orders) = channel();
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                let Ok(line) = line else { break };
                if sender.send(line).is_err() {
                    break;
                }
            }
            std::process::exit(0);
        });
        Self { orders }
    }

    /// The request, which comes first.
    pub(super) fn request(&mut self) -> Option<Request> {
        serde_json::from_str(&self.orders.recv().ok()?).ok()
    }

    /// Says that everything is prepared and waits for the word to go.
    pub(super) fn ready(&mut self) {
        say(&Said::Ready);
        self.wait();
    }

    /// Waits for the next word.
    pub(super) fn wait(&mut self) {
        // Without the thread that listens the process is about to end.
        let _ = self.orders.recv();
    }

    /// Whether a word has come meanwhile.
    pub(super) fn was_called(&self) -> bool {
        self.orders.try_recv().is_ok()
    }
}
