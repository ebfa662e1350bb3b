//! Pictures by worker processes: the product's own pool and links, and hands that publish nothing.
//!
//! One loop, as in the supervisor: wait for something, tell the pool, carry out what it asks for. What is left out is what
//! has nothing to do with the question: search, ledger, publishing. All workers are ready before the clock is started, and
//! a heart beats in the loop to see how late it answers.

mod hands;

use super::lifeline::Lifeline;
use super::meter::{MemoryWatch, Used, micros};
use super::steps::one_thread;
use super::{ChildError, system};
use crate::messages::{Answer, Pictures, WorkerProcesses};
use hands::Hands;
use pressroom_shared::{JobId, ToSupervisor};
use pressroom_supervisor::link::{Heard, News};
use pressroom_supervisor::pool::{
    Cause, Command, Event, Finish, Machine, Moment, Policy, WorkerId,
};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::{Interval, MissedTickBehavior, interval};

/// Messages of workers that may wait.
const HEARD: usize = 256;

/// How often the heart beats. The clock of the loop has steps of one millisecond.
const BEAT: Duration = Duration::from_millis(5);

/// Does the pictures with so many worker processes.
pub(super) fn run(
    pictures: &Pictures,
    processes: WorkerProcesses,
    lifeline: &mut Lifeline,
) -> Result<Answer, ChildError> {
    std::fs::create_dir_all(&pictures.folder).map_err(system("cannot make a folder"))?;
    let runtime = one_thread()?;
    let before = Used::now();
    let memory = MemoryWatch::start();
    let (answer, finish) = runtime.block_on(async {
        let (sender, heard) = channel(HEARD);
        let hands = Hands::new(pictures, processes.nice, sender, &memory);
        Crew::new(hands, processes.count, heard)
            .work(lifeline)
            .await
    });
    if let Finish::Stopped(_) = finish {
        let words = answer
            .failure
            .unwrap_or_else(|| "they said nothing".to_owned());
        return Err(ChildError::Workers(words));
    }
    // The workers are gone by now, so what they used is counted.
    let used = Used::now().since(before);
    Ok(Answer {
        cpu_us: used.cpu_us,
        switches_voluntary: used.voluntary,
        switches_forced: used.forced,
        memory: memory.end(),
        ..answer
    })
}

/// The loop and what it holds.
struct Crew<'a> {
    machine: Machine,
    hands: Hands<'a>,
    heard: Receiver<Heard>,
    /// Workers that said hello while others had not.
    waiting: Vec<WorkerId>,
    seats: usize,
    open: bool,
    heart: Interval,
    started: Instant,
    opened: Instant,
    last_done: Instant,
    finish: Option<Finish>,
}

impl<'a> Crew<'a> {
    fn new(hands: Hands<'a>, seats: u16, heard: Receiver<Heard>) -> Self {
        let mut heart = interval(BEAT);
        heart.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let now = Instant::now();
        // With fewer jobs than seats only so many processes are started.
        let needed = usize::from(seats).min(hands.jobs());
        Self {
            machine: Machine::new(Policy {
                recycle_after: u32::MAX,
                ..Policy::new(seats)
            }),
            hands,
            heard,
            waiting: Vec::new(),
            seats: needed,
            open: false,
            heart,
            started: now,
            opened: now,
            last_done: now,
            finish: None,
        }
    }

    async fn work(mut self, lifeline: &mut Lifeline) -> (Answer, Finish) {
        for job in 0..self.hands.jobs() {
            self.handle(Event::Found(JobId(job as u64)));
        }
        self.handle(Event::WalkDone);
        let finish = loop {
            if let Some(finish) = self.finish {
                break finish;
            }
            self.turn(lifeline).await;
        };
        let mut answer = self.hands.into_answer();
        answer.wall_us = micros(self.last_done.saturating_duration_since(self.opened));
        answer.start_us = micros(self.opened.saturating_duration_since(self.started));
        // The last processes may still be leaving.
        while let Some(heard) = self.heard.recv().await {
            drop(heard);
        }
        (answer, finish)
    }

    /// Waits for one thing and deals with it.
    async fn turn(&mut self, lifeline: &mut Lifeline) {
        let deadline = self
            .machine
            .next_deadline()
            .map(|at| self.started + at.elapsed());
        tokio::select! {
            biased;
            Some(heard) = self.heard.recv() => self.hear(heard, lifeline),
            due = self.heart.tick() => {
                if self.open {
                    self.hands.beat(micros(Instant::now().saturating_duration_since(due.into_std())));
                }
            }
            () = sleep_until(deadline) => self.handle(Event::Tick),
        }
    }

    fn hear(&mut self, heard: Heard, lifeline: &mut Lifeline) {
        let worker = heard.worker;
        match heard.news {
            News::Message(ToSupervisor::Ready(_)) => self.ready(worker, lifeline),
            News::Message(ToSupervisor::Started(started)) => {
                self.handle(Event::Started(worker, started.id));
                self.hands.began(worker);
            }
            News::Message(ToSupervisor::Done(done)) => {
                self.last_done = Instant::now();
                let event = self.hands.done(worker, *done);
                self.handle(event);
            }
            News::Nonsense(words) => {
                self.hands.complain(words);
                self.handle(Event::Misbehaved(worker));
            }
            News::Exited(ended) => {
                let cause = self.hands.exited(worker, &ended);
                self.waiting.retain(|other| *other != worker);
                self.handle(Event::Exited(worker, cause));
            }
        }
    }

    /// The first hellos are kept until all have come; then the clock starts.
    fn ready(&mut self, worker: WorkerId, lifeline: &mut Lifeline) {
        self.hands.said_hello(worker);
        if self.open {
            return self.handle(Event::Ready(worker));
        }
        self.waiting.push(worker);
        if self.waiting.len() < self.seats {
            return;
        }
        self.open = true;
        lifeline.ready();
        self.opened = Instant::now();
        for worker in std::mem::take(&mut self.waiting) {
            self.handle(Event::Ready(worker));
        }
        self.heart.reset();
    }

    /// Tells the pool and carries out what it asks for; what goes wrong at once is told as well.
    fn handle(&mut self, event: Event) {
        let now = Moment::after(self.started.elapsed());
        self.machine.handle(now, event);
        while let Some(command) = self.machine.poll() {
            match command {
                Command::Finish(finish) => self.finish = Some(finish),
                Command::Spawn(..)
                | Command::Send(..)
                | Command::Close(..)
                | Command::Kill(..)
                | Command::WriteOff(..)
                | Command::Publish { .. }
                | Command::Report { .. }
                | Command::Reexamine(..)
                | Command::StopWalk => {
                    if let Some(event) = self.hands.obey(command) {
                        self.machine.handle(now, event);
                    }
                }
            }
        }
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

/// How a process ended, as far as an experiment must know.
fn cause(code: Option<i32>, said_hello: bool) -> Cause {
    match (code, said_hello) {
        (Some(0), true) => Cause::Left,
        (_, false) => Cause::CannotStart,
        (Some(_) | None, true) => Cause::Crashed,
    }
}

/// A folder for one worker's results.
fn staging(folder: &Path, worker: WorkerId) -> std::path::PathBuf {
    folder.join(format!("{}-{}", worker.seat.0, worker.incarnation.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_before_hello_is_a_bad_start() {
        assert_eq!(cause(Some(0), true), Cause::Left);
        assert_eq!(cause(None, true), Cause::Crashed);
        assert_eq!(cause(Some(101), true), Cause::Crashed);
        assert_eq!(cause(Some(3), false), Cause::CannotStart);
        assert_eq!(cause(None, false), Cause::CannotStart);
    }
}
