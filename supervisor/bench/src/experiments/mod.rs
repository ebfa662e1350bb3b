//! The experiments. Each says which variants it compares (pure), lets the lab run them, and makes tables of what came back
//! (pure).

pub(crate) mod boundary;
pub(crate) mod busy;
pub(crate) mod cap;
pub(crate) mod loads;
pub(crate) mod scaling;
pub(crate) mod threads;

use crate::book::{Experiment, Figure, Unit};
use crate::lab::{Collected, Measured};
use crate::messages::{Pictures, Request, Work, WorkerProcesses};
use crate::stats::percentile;
use pressroom_shared::{Limits, Settings};
use std::path::PathBuf;
use std::time::Duration;

/// What the start and the end of a run with worker processes take, roughly: what a plan sets aside for each.
pub(crate) const OVERHEAD: Duration = Duration::from_millis(40);

/// Rounds a plan hopes for, the warm-up included; on a machine that is slower than the plan thought, fewer come of it.
const ROUNDS: f64 = 8.0;

/// What all experiments with pictures have in common.
#[derive(Debug, Clone)]
pub(crate) struct Bench {
    /// Pictures that can be done.
    pub(crate) files: Vec<PathBuf>,
    /// What each takes on one worker, in microseconds.
    pub(crate) costs_us: Vec<u64>,
    /// What the results look like.
    pub(crate) settings: Settings,
    /// What one job may use.
    pub(crate) limits: Limits,
    /// Workers that a run would start.
    pub(crate) usable: u16,
    /// CPUs that may be used, where they are more than cores.
    pub(crate) cpus: usize,
    /// One CPU of each core.
    pub(crate) cores: Vec<usize>,
}

impl Bench {
    /// Jobs for runs that are `relative` times one worker's time in all, so that some rounds of `variants` fit into `share`.
    pub(crate) fn jobs(
        &self,
        share: Duration,
        variants: usize,
        relative: f64,
        least: usize,
    ) -> Vec<PathBuf> {
        let target_us = target(share, variants, relative, OVERHEAD).as_micros();
        let target_us = u64::try_from(target_us).unwrap_or(u64::MAX);
        let places = crate::pictures::jobs(&self.costs_us, target_us, least);
        places
            .into_iter()
            .map(|place| self.files[place].clone())
            .collect()
    }

    /// A request's pictures.
    pub(crate) fn pictures(&self, files: &[PathBuf]) -> Pictures {
        Pictures {
            files: files.to_vec(),
            settings: self.settings.clone(),
            limits: self.limits.clone(),
            folder: PathBuf::new(),
            abort_at: None,
        }
    }

    /// The pictures by so many worker processes.
    pub(crate) fn workers(&self, files: &[PathBuf], count: u16) -> Request {
        let processes = WorkerProcesses { count, nice: 0 };
        everywhere(Work::Workers(self.pictures(files), processes))
    }

    /// The CPU that stands for a machine with one core.
    pub(crate) fn one_core(&self) -> Vec<usize> {
        self.cores.first().copied().into_iter().collect()
    }
}

/// A request that may use every CPU.
pub(crate) fn everywhere(work: Work) -> Request {
    Request {
        work,
        cpus: Vec::new(),
    }
}

/// What one worker's time may be in a run, so that some rounds fit; each run takes `overhead` for itself.
pub(crate) fn target(
    share: Duration,
    variants: usize,
    relative: f64,
    overhead: Duration,
) -> Duration {
    let round = share.div_f64(ROUNDS);
    let starts = overhead * u32::try_from(variants).unwrap_or(u32::MAX);
    round.saturating_sub(starts).div_f64(relative.max(0.1))
}

/// An experiment without figures yet.
pub(crate) fn experiment(key: &'static str, title: &'static str) -> Experiment {
    Experiment {
        key,
        title,
        ..Experiment::default()
    }
}

/// Seconds of a run.
pub(crate) fn wall(measured: &Measured) -> f64 {
    measured.answer.wall_us as f64 / 1e6
}

/// Images per second.
fn rate(measured: &Measured) -> f64 {
    measured.answer.jobs.len() as f64 / wall(measured).max(1e-9)
}

/// The time that this share of the jobs did not exceed, in seconds.
fn job_percentile(measured: &Measured, share: f64) -> f64 {
    let times: Vec<f64> = measured
        .answer
        .jobs
        .iter()
        .map(|job| job.wall_us as f64 / 1e6)
        .collect();
    percentile(&times, share).unwrap_or(0.0)
}

/// The lateness that this share of the heartbeats did not exceed, in seconds.
fn late_percentile(measured: &Measured, share: f64) -> f64 {
    let late: Vec<f64> = measured
        .answer
        .late_us
        .iter()
        .map(|us| *us as f64 / 1e6)
        .collect();
    percentile(&late, share).unwrap_or(f64::NAN)
}

/// One figure of a variant over all rounds.
pub(crate) fn over_rounds(
    collected: &Collected,
    variant: usize,
    name: &'static str,
    unit: Unit,
    figure: impl Fn(&Measured) -> f64,
) -> Option<Figure> {
    Figure::of(name, unit, &collected.each(variant, figure))
}

#[cfg(test)]
pub(crate) mod samples {
    //! Made-up answers.

    use super::*;
    use crate::lab::Collected;
    use crate::messages::{Answer, JobDone};

    /// A run of so many milliseconds with ten jobs.
    pub(crate) fn run(wall_ms: u64) -> Measured {
        let job = |index: usize| JobDone {
            index,
            wall_us: (index as u64 + 1) * 1000,
            peak: 40 << 20,
            fine: true,
        };
        Measured {
            answer: Answer {
                wall_us: wall_ms * 1000,
                cpu_us: 900_000,
                switches_voluntary: 40,
                switches_forced: 8,
                jobs: (0..10).map(job).collect(),
                memory: 50 << 20,
                memory_of_one: 41 << 20,
                late_us: vec![500, 800, 1200],
                ..Answer::default()
            },
            load_rate: 100.0,
        }
    }

    /// Variants with these times in each round.
    pub(crate) fn collected(times: &[&[u64]]) -> Collected {
        Collected {
            runs: times
                .iter()
                .map(|times| times.iter().map(|ms| run(*ms)).collect())
                .collect(),
            rounds: times.first().map_or(0, |times| times.len()),
            trouble: None,
        }
    }

    /// A machine with so many cores.
    pub(crate) fn bench(cores: u16) -> Bench {
        let config = pressroom_supervisor::cli::parse(
            ["--no-config", ".", "-o", "out"].map(std::ffi::OsString::from),
        );
        let Ok(pressroom_supervisor::cli::Command::Run(config)) = config else {
            panic!("a plain command line");
        };
        Bench {
            files: vec![PathBuf::from("/a.jpg"), PathBuf::from("/b.jpg")],
            costs_us: vec![10_000, 30_000],
            settings: config.settings,
            limits: config.limits,
            usable: cores,
            cpus: cores.into(),
            cores: (0..cores.into()).collect(),
        }
    }
}
