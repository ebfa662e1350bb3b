//! Runs what a schedule asks for and keeps the answers. The only file here that reads the clock; compares nothing.

use crate::messages::{Answer, Pictures, Request, Work};
use crate::nursery::{Nursery, Outcome, RunError, folder};
use crate::schedule::{Schedule, Step};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A run may take so much longer than what is left of the budget before it is ended: its figures were nearly there.
const GRACE: Duration = Duration::from_secs(2);

/// Time in which a process of a load must answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Rounds that count, at most; more would not narrow an interval by much.
const MOST_ROUNDS: usize = 15;

/// One of the things that are compared.
#[derive(Debug, Clone)]
pub(crate) struct Variant {
    /// What it is called.
    pub(crate) label: String,
    /// The work; none to let the loads run alone for this long.
    pub(crate) act: Act,
    /// Processes that compute beside it.
    pub(crate) loads: usize,
}

/// What a variant does.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// A request to a child.
    Request(Box<Request>),
    /// Nothing but time.
    Idle(Duration),
}

impl Variant {
    /// A request with nothing beside it.
    pub(crate) fn new(label: impl Into<String>, request: Request) -> Self {
        Self {
            label: label.into(),
            act: Act::Request(Box::new(request)),
            loads: 0,
        }
    }
}

/// What one run brought.
#[derive(Debug, Clone, Default)]
pub(crate) struct Measured {
    /// The child's answer.
    pub(crate) answer: Answer,
    /// Rounds per second of each load beside it, taken together.
    pub(crate) load_rate: f64,
}

/// What an experiment's runs brought: for each variant one entry a round.
#[derive(Debug, Clone, Default)]
pub(crate) struct Collected {
    /// By variant, by round.
    pub(crate) runs: Vec<Vec<Measured>>,
    /// Whole rounds.
    pub(crate) rounds: usize,
    /// Why there are not more, where that is no matter of course.
    pub(crate) trouble: Option<String>,
}

impl Collected {
    /// One figure of a variant in each round.
    pub(crate) fn each(&self, variant: usize, figure: impl Fn(&Measured) -> f64) -> Vec<f64> {
        let runs = self.runs.get(variant).map_or(&[][..], Vec::as_slice);
        runs.iter().map(figure).collect()
    }

    /// One figure of two variants, paired by rounds.
    pub(crate) fn pairs(
        &self,
        this: usize,
        that: usize,
        figure: impl Fn(&Measured) -> f64,
    ) -> Vec<(f64, f64)> {
        let pair = self
            .each(this, &figure)
            .into_iter()
            .zip(self.each(that, &figure));
        pair.collect()
    }
}

/// Where experiments are made.
pub(crate) struct Lab {
    nursery: Nursery,
    scratch: PathBuf,
    started: Instant,
    budget: Duration,
    runs: usize,
    shows: bool,
    title: &'static str,
}

impl Lab {
    pub(crate) fn new(nursery: Nursery, scratch: &Path, budget: Duration, quiet: bool) -> Self {
        Self {
            nursery,
            scratch: scratch.to_path_buf(),
            started: Instant::now(),
            budget,
            runs: 0,
            shows: !quiet && std::io::stderr().is_terminal(),
            title: "",
        }
    }

    /// Time since the start.
    pub(crate) fn spent(&self) -> Duration {
        self.started.elapsed()
    }

    /// Time that is left.
    pub(crate) fn left(&self) -> Duration {
        self.budget.saturating_sub(self.spent())
    }

    /// What is being done from now on, for the display.
    pub(crate) fn begin(&mut self, title: &'static str) {
        self.title = title;
    }

    /// Runs the variants in the order of a schedule within `share` of time.
    ///
    /// # Errors
    /// Only when the user wants out; anything else is told in [`Collected::trouble`].
    pub(crate) fn collect(
        &mut self,
        variants: &[Variant],
        share: Duration,
    ) -> Result<Collected, RunError> {
        let began = Instant::now();
        let mut schedule = Schedule::new(variants.len(), share, MOST_ROUNDS);
        let mut collected = Collected {
            runs: vec![Vec::new(); variants.len()],
            ..Collected::default()
        };
        loop {
            let step = schedule.next(began.elapsed());
            let (variant, counts) = match step {
                Step::WarmUp(variant) => (variant, false),
                Step::Measure { variant, .. } => (variant, true),
                Step::Over => break,
            };
            let run = Instant::now();
            match self.run(&variants[variant]) {
                Ok(measured) if counts => collected.runs[variant].push(measured),
                Ok(_) => {}
                Err(error @ RunError::Interrupted(_)) => return Err(error),
                Err(error) => {
                    let trouble = format!("{}: {error}", variants[variant].label);
                    collected.trouble = Some(trouble);
                    break;
                }
            }
            schedule.done(step, run.elapsed());
        }
        collected.rounds = collected.runs.iter().map(Vec::len).min().unwrap_or(0);
        for runs in &mut collected.runs {
            runs.truncate(collected.rounds);
        }
        if collected.rounds == 0 && collected.trouble.is_none() {
            collected.trouble = Some(too_short(&schedule, share));
        }
        Ok(collected)
    }

    /// One run, with the loads beside it.
    fn run(&mut self, variant: &Variant) -> Result<Measured, RunError> {
        self.show(&variant.label);
        let load = Request {
            work: Work::Load,
            cpus: Vec::new(),
        };
        let mut loads = Vec::new();
        for _ in 0..variant.loads {
            loads.push(self.nursery.start(&load, self.left() + PATIENCE)?);
        }
        for load in &mut loads {
            load.order("go")?;
        }
        let outcome = match &variant.act {
            Act::Request(request) => {
                let request = prepared(request, &folder(&self.scratch, self.runs));
                let outcome = self.nursery.run(&request, self.left() + GRACE);
                let _ = std::fs::remove_dir_all(folder(&self.scratch, self.runs));
                Some(outcome?)
            }
            Act::Idle(time) => {
                std::thread::sleep(*time);
                None
            }
        };
        let mut load_rate = 0.0;
        for mut load in loads {
            load.order("stop")?;
            let answer = load.outcome()?.answer.unwrap_or_default();
            load_rate += answer.load_rounds as f64 / (answer.wall_us.max(1) as f64 / 1e6);
        }
        self.runs += 1;
        let answer = match outcome {
            None => Answer::default(),
            Some(outcome) => answered(outcome)?,
        };
        Ok(Measured { answer, load_rate })
    }

    /// One run by itself.
    ///
    /// # Errors
    /// Whatever goes wrong.
    pub(crate) fn once(&mut self, variant: &Variant) -> Result<Answer, RunError> {
        self.run(variant).map(|measured| measured.answer)
    }

    /// One run of something that is to abort; how many jobs were done and the answer, if there is one.
    ///
    /// # Errors
    /// Whatever goes wrong apart from the abort.
    pub(crate) fn abort(&mut self, request: &Request, label: &str) -> Result<Outcome, RunError> {
        self.show(label);
        let place = folder(&self.scratch, self.runs);
        self.runs += 1;
        let outcome = self
            .nursery
            .run(&prepared(request, &place), self.left() + GRACE);
        let _ = std::fs::remove_dir_all(place);
        outcome
    }

    /// Says on a terminal what is going on; takes the line away again when all is done.
    pub(crate) fn show(&self, what: &str) {
        if !self.shows {
            return;
        }
        let mut err = std::io::stderr().lock();
        let text = if what.is_empty() {
            "\r\x1b[K".to_owned()
        } else {
            let (spent, budget) = (self.spent().as_secs(), self.budget.as_secs());
            format!("\r\x1b[K{spent} of {budget} s  {}: {what}", self.title)
        };
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }
}

fn answered(outcome: Outcome) -> Result<Answer, RunError> {
    match (outcome.answer, outcome.died) {
        (Some(answer), _) => Ok(answer),
        (None, Some(status)) => Err(RunError::Died(status)),
        (None, None) => Ok(Answer::default()),
    }
}

fn too_short(schedule: &Schedule, share: Duration) -> String {
    let seconds = |time: Duration| format!("{:.1} s", time.as_secs_f64());
    if schedule.is_warm() {
        format!(
            "one round takes {}, the share of this experiment is {}; raise --budget",
            seconds(schedule.round_cost()),
            seconds(share)
        )
    } else {
        format!(
            "the share of this experiment, {}, is not enough to warm up; raise --budget",
            seconds(share)
        )
    }
}

/// The request with a folder of its own.
fn prepared(request: &Request, place: &Path) -> Request {
    let mut request = request.clone();
    match &mut request.work {
        Work::Workers(Pictures { folder, .. }, _)
        | Work::Threads(Pictures { folder, .. }, _)
        | Work::Tasks(Pictures { folder, .. }, _)
        | Work::Transfer(_, folder) => {
            // Where it cannot be made, the child says so.
            let _ = std::fs::create_dir_all(place);
            *folder = place.to_path_buf();
        }
        Work::Steps(_) | Work::Load => {}
    }
    request
}
