//! The thread's loop: gather a batch, do it, answer.

use super::batch;
use super::{Message, Receipt, RecorderError, Request};
use crate::ledger::{RunEnd, Writer};
use crate::publish::{Files, Publisher};
use crate::report::Tally;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;

/// Results in one batch, at most; each holds a file open, and there may be room for fewer.
pub(super) const MOST: usize = 128;

/// How long the first result of a batch waits for company, at most.
const LINGER: Duration = Duration::from_millis(25);

/// How long it waits without any coming. Where results come slower than this a batch of one costs little; where the disk
/// is slow, they gather while it flushes.
const GAP: Duration = Duration::from_millis(3);

pub(super) struct Thread<F> {
    writer: Writer,
    publisher: Publisher<F>,
    answers: UnboundedSender<Receipt>,
    tally: Tally,
    most: usize,
}

/// What was gathered.
#[derive(Default)]
struct Gathered {
    requests: Vec<Request>,
    end: Option<Box<RunEnd>>,
    closed: bool,
}

impl<F: Files> Thread<F> {
    /// Takes `most` results at a time, or fewer.
    pub(super) fn new(
        writer: Writer,
        publisher: Publisher<F>,
        answers: UnboundedSender<Receipt>,
        most: usize,
    ) -> Self {
        Self {
            writer,
            publisher,
            answers,
            tally: Tally::default(),
            most,
        }
    }

    /// Works until told to finish, or until nobody asks any more.
    pub(super) fn run(mut self, inbox: &Receiver<Message>) -> Result<Tally, RecorderError> {
        loop {
            let gathered = gather(inbox, self.most);
            if !gathered.requests.is_empty() {
                self.work(gathered.requests)?;
            }
            if let Some(end) = gathered.end {
                return self.finish(&end);
            }
            if gathered.closed {
                return Ok(self.tally);
            }
        }
    }

    fn work(&mut self, requests: Vec<Request>) -> Result<(), RecorderError> {
        for record in batch::work(requests, &mut self.writer, &mut self.publisher)? {
            self.tally.add_record(&record);
            // Nobody listens any more when the run is being torn down; the row stands all the same.
            let _ = self.answers.send(Receipt { record });
        }
        Ok(())
    }

    fn finish(mut self, end: &RunEnd) -> Result<Tally, RecorderError> {
        self.writer.finish(end, &self.tally.totals())?;
        let ended = self.tally.ended();
        if ended == end.discovered {
            return Ok(self.tally);
        }
        Err(RecorderError::Unaccounted {
            discovered: end.discovered,
            ended,
        })
    }
}

/// Waits for the first message, then takes what comes within [`LINGER`] without a [`GAP`], up to `most`.
fn gather(inbox: &Receiver<Message>, most: usize) -> Gathered {
    let mut gathered = Gathered::default();
    match inbox.recv() {
        Ok(message) => gathered.take(message),
        Err(_) => gathered.closed = true,
    }
    let until = Instant::now() + LINGER;
    while !gathered.complete(most) {
        let patience = if gathered.lingers() {
            until.saturating_duration_since(Instant::now()).min(GAP)
        } else {
            Duration::ZERO
        };
        match inbox.recv_timeout(patience) {
            Ok(Message::Flush) | Err(RecvTimeoutError::Timeout) => break,
            Ok(message) => gathered.take(message),
            Err(RecvTimeoutError::Disconnected) => gathered.closed = true,
        }
    }
    gathered
}

impl Gathered {
    fn take(&mut self, message: Message) {
        match message {
            Message::Request(request) => self.requests.push(*request),
            Message::Finish(end) => self.end = Some(end),
            Message::Flush => {}
        }
    }

    fn complete(&self, most: usize) -> bool {
        self.closed || self.end.is_some() || self.requests.len() >= most
    }

    /// Only results are worth waiting for: they cost flushes.
    fn lingers(&self) -> bool {
        self.requests
            .iter()
            .any(|request| matches!(request, Request::Publish(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample_record;
    use super::*;

    #[test]
    fn a_batch_is_no_larger_than_there_is_room_for() {
        let (sender, inbox) = std::sync::mpsc::channel();
        for _ in 0..5 {
            let request = Request::Record(sample_record());
            sender.send(Message::Request(Box::new(request))).unwrap();
        }
        let sizes = [(); 3].map(|()| gather(&inbox, 2).requests.len());
        assert_eq!(sizes, [2, 2, 1]);
    }
}
