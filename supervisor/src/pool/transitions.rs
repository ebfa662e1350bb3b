//! One test per transition and rule, each told as a few events and the commands they must cause.

use super::*;
use pressroom_shared::{Incarnation, JobId, SeatId};
use std::time::Duration;

mod deaths;
mod ending;
mod starting;

/// A machine on a table, in milliseconds.
struct Table(Machine);

fn table(change: impl FnOnce(&mut Policy)) -> Table {
    let mut policy = Policy::new(1);
    change(&mut policy);
    Table(Machine::new(policy))
}

fn one_seat() -> Table {
    table(|_| {})
}

fn worker(seat: u16, incarnation: u32) -> WorkerId {
    WorkerId {
        seat: SeatId(seat),
        incarnation: Incarnation(incarnation),
    }
}

const A: JobId = JobId(1);
const B: JobId = JobId(2);
const C: JobId = JobId(3);
const D: JobId = JobId(4);

/// The processes of seat 0, in order.
fn first() -> WorkerId {
    worker(0, 1)
}
fn second() -> WorkerId {
    worker(0, 2)
}

fn done(worker: WorkerId, job: JobId, finding: Finding) -> Event {
    Event::Done {
        worker,
        job,
        finding,
        rss: 0,
    }
}

fn report(job: JobId, verdict: Ruling, seat: Option<u16>, deaths: u8) -> Command {
    Command::Report {
        job,
        verdict,
        seat: seat.map(SeatId),
        deaths,
    }
}

fn publish(job: JobId, worker: WorkerId, deaths: u8) -> Command {
    Command::Publish {
        job,
        worker,
        deaths,
    }
}

impl Table {
    fn at(&mut self, ms: u64, event: Event) -> Vec<Command> {
        let now = Moment::after(Duration::from_millis(ms));
        self.0.handle(now, event);
        std::iter::from_fn(|| self.0.poll()).collect()
    }

    fn tell(&mut self, event: Event) -> Vec<Command> {
        self.at(0, event)
    }

    fn all(&mut self, events: &[Event]) -> Vec<Command> {
        events.iter().flat_map(|event| self.tell(*event)).collect()
    }

    /// Seat 0 has a live worker that computes `A` and holds `B`; `C` waits.
    fn busy(mut self) -> Self {
        self.all(&[
            Event::Found(A),
            Event::Ready(first()),
            Event::Found(B),
            Event::Found(C),
            Event::Started(first(), A),
        ]);
        self
    }

    fn deadline_ms(&self) -> Option<u128> {
        self.0.next_deadline().map(|at| at.elapsed().as_millis())
    }
}
