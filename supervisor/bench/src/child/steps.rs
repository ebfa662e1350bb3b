//! Work that is no picture: hashing, counting, counting and sleeping; by one process, processes, threads or tasks.

use super::lifeline::Lifeline;
use super::meter::{Used, micros};
use super::{CHILD_ARGUMENT, ChildError, system};
use crate::messages::{Answer, Kind, Request, Shape, Steps, Work};
use crate::nursery::own_executable;
use sha2::{Digest, Sha256};
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Bytes hashed in each round of a step.
const BLOCK: usize = 128 << 10;

/// Rounds of SHA-256 in one step.
const HASH_ROUNDS: usize = 8;

/// Turns of the counting loop in one step.
const TURNS: u64 = 1_000_000;

/// Does the steps.
pub(super) fn run(steps: &Steps, lifeline: &mut Lifeline) -> Result<Answer, ChildError> {
    match steps.shape {
        Shape::One => Ok(one(steps, lifeline)),
        Shape::Processes => processes(steps, lifeline),
        Shape::Threads => Ok(threads(steps, lifeline)),
        Shape::Tasks => tasks(steps, lifeline),
    }
}

/// A runtime on this thread only.
pub(super) fn one_thread() -> Result<tokio::runtime::Runtime, ChildError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.map_err(system("cannot make a runtime"))
}

/// One turn of the counting loop, which no compiler can shorten.
pub(super) fn count() {
    let mut sum = 0u64;
    for turn in 0..TURNS {
        sum = black_box(sum ^ turn);
    }
    black_box(sum);
}

/// Bytes that look random and are the same every time (xorshift64, Marsaglia 2003).
fn random_block() -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..BLOCK / 8).flat_map(|_| next().to_le_bytes()).collect()
}

/// One step, but for the sleep.
fn step(kind: Kind, block: &[u8]) {
    match kind {
        Kind::Hash => {
            for _ in 0..HASH_ROUNDS {
                black_box(Sha256::digest(block));
            }
        }
        Kind::Count | Kind::Mixed => count(),
    }
}

/// Sleep after each step.
fn pause(steps: &Steps) -> Option<Duration> {
    match steps.kind {
        Kind::Mixed => Some(Duration::from_micros(steps.sleep_us)),
        Kind::Hash | Kind::Count => None,
    }
}

fn task(steps: &Steps, block: &[u8]) {
    for _ in 0..steps.steps {
        step(steps.kind, block);
        if let Some(pause) = pause(steps) {
            std::thread::sleep(pause);
        }
    }
}

fn one(steps: &Steps, lifeline: &mut Lifeline) -> Answer {
    let block = random_block();
    lifeline.ready();
    timed(|| {
        for _ in 0..steps.tasks {
            task(steps, &block);
        }
    })
}

fn threads(steps: &Steps, lifeline: &mut Lifeline) -> Answer {
    let block = random_block();
    let gate = Barrier::new(steps.tasks + 1);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..steps.tasks)
            .map(|_| {
                scope.spawn(|| {
                    gate.wait();
                    task(steps, &block);
                })
            })
            .collect();
        lifeline.ready();
        timed(|| {
            gate.wait();
            for worker in workers {
                // A task that only counts cannot panic.
                let _ = worker.join();
            }
        })
    })
}

fn tasks(steps: &Steps, lifeline: &mut Lifeline) -> Result<Answer, ChildError> {
    let block = random_block();
    let runtime = one_thread()?;
    let block = &block;
    let all: Vec<_> = (0..steps.tasks)
        .map(|_| async move {
            for _ in 0..steps.steps {
                step(steps.kind, block);
                match pause(steps) {
                    Some(pause) => tokio::time::sleep(pause).await,
                    None => tokio::task::yield_now().await,
                }
            }
        })
        .collect();
    lifeline.ready();
    Ok(timed(|| {
        runtime.block_on(together(all));
    }))
}

/// Runs futures side by side on this thread, each polled when it may go on, and answers what they answer.
pub(super) async fn together<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = futures
        .into_iter()
        .map(|future| Some(Box::pin(future)))
        .collect();
    let mut answers: Vec<Option<F::Output>> = waiting.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        let mut all = true;
        for (future, answer) in waiting.iter_mut().zip(&mut answers) {
            let Some(pending) = future else { continue };
            match pending.as_mut().poll(context) {
                std::task::Poll::Ready(value) => {
                    *answer = Some(value);
                    *future = None;
                }
                std::task::Poll::Pending => all = false,
            }
        }
        if all {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    answers.into_iter().flatten().collect()
}

fn timed(work: impl FnOnce()) -> Answer {
    let (before, began) = (Used::now(), Instant::now());
    work();
    let wall_us = micros(began.elapsed());
    let used = Used::now().since(before);
    Answer {
        wall_us,
        cpu_us: used.cpu_us,
        switches_voluntary: used.voluntary,
        switches_forced: used.forced,
        ..Answer::default()
    }
}

/// A process for each task; all are started and ready before the clock is.
fn processes(steps: &Steps, lifeline: &mut Lifeline) -> Result<Answer, ChildError> {
    let single = Request {
        work: Work::Steps(Steps {
            shape: Shape::One,
            tasks: 1,
            ..*steps
        }),
        cpus: Vec::new(),
    };
    let mut crew = Vec::new();
    for _ in 0..steps.tasks {
        crew.push(Grandchild::start(&single)?);
    }
    for member in &mut crew {
        member.line()?;
    }
    lifeline.ready();
    let (before, began) = (Used::now(), Instant::now());
    for member in &mut crew {
        member.order("go")?;
    }
    for member in &mut crew {
        member.line()?;
    }
    let wall_us = micros(began.elapsed());
    for member in crew {
        member.end();
    }
    let used = Used::now().since(before);
    Ok(Answer {
        wall_us,
        cpu_us: used.cpu_us,
        switches_voluntary: used.voluntary,
        switches_forced: used.forced,
        ..Answer::default()
    })
}

/// A process that does one task.
struct Grandchild {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Grandchild {
    fn start(request: &Request) -> Result<Self, ChildError> {
        let mut child = Command::new(own_executable())
            .arg(CHILD_ARGUMENT)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(system("cannot start a process"))?;
        let out = child.stdout.take().ok_or(ChildError::Silent)?;
        let mut member = Self {
            child,
            out: BufReader::new(out),
        };
        let request = serde_json::to_string(request).map_err(|_| ChildError::Silent)?;
        member.order(&request)?;
        Ok(member)
    }

    fn order(&mut self, text: &str) -> Result<(), ChildError> {
        let input = self.child.stdin.as_mut().ok_or(ChildError::Silent)?;
        writeln!(input, "{text}").map_err(|_| ChildError::Silent)
    }

    /// Waits for it to say something.
    fn line(&mut self) -> Result<(), ChildError> {
        let mut line = String::new();
        match self.out.read_line(&mut line) {
            Ok(length) if length > 0 => Ok(()),
            Ok(_) | Err(_) => Err(ChildError::Silent),
        }
    }

    /// Lets it leave and waits until it is gone, so that its processor time is counted.
    fn end(mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_looks_random_and_is_always_the_same() {
        let block = random_block();
        assert_eq!((block.len(), &block), (BLOCK, &random_block()));
        let ones: u32 = block.iter().map(|byte| byte.count_ones()).sum();
        let half = (BLOCK * 4) as f64;
        assert!((f64::from(ones) / half - 1.0).abs() < 0.01, "{ones}");
    }

    #[test]
    fn tasks_take_turns_on_one_thread() {
        use std::cell::RefCell;
        let log = RefCell::new(Vec::new());
        let task = |name: u8| {
            let log = &log;
            async move {
                for _ in 0..2 {
                    log.borrow_mut().push(name);
                    tokio::task::yield_now().await;
                }
                name
            }
        };
        let runtime = one_thread().unwrap();
        let answers = runtime.block_on(together(vec![task(1), task(2)]));
        assert_eq!(answers, [1, 2]);
        assert_eq!(*log.borrow(), [1, 2, 1, 2]);
    }
}
