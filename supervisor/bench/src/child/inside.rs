//! The same image work without worker processes: by threads of this process, or by tasks on one of them.
//!
//! These variants exist here and nowhere else; the product does not have them.

use super::lifeline::Lifeline;
use super::meter::{MemoryWatch, Used, micros, own_peak};
use super::{ChildError, say};
use crate::messages::{Answer, JobDone, Pictures, Said};
use pressroom_jobs::{Budget, Options, Sink, Source, compress};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// What a worker keeps back from its cap, so that the jobs here get the same budget.
const RESERVE: u64 = 8 << 20;

/// Bytes gathered before they are written, as a worker does.
const BUFFER: usize = 64 * 1024;

/// What all jobs have in common.
struct Common<'a> {
    pictures: &'a Pictures,
    options: Options,
    next: AtomicUsize,
}

impl<'a> Common<'a> {
    fn new(pictures: &'a Pictures) -> Result<Self, ChildError> {
        Ok(Self {
            pictures,
            options: pressroom_worker::options(&pictures.settings).map_err(ChildError::Settings)?,
            next: AtomicUsize::new(0),
        })
    }

    /// Does the next job that nobody has begun.
    fn step(&self, place: &Path) -> Option<(JobDone, Option<String>)> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let file = self.pictures.files.get(index)?;
        if self.pictures.abort_at == Some(index + 1) {
            std::process::abort();
        }
        let began = Instant::now();
        let failure = self.job(file, place).err();
        let done = JobDone {
            index,
            wall_us: micros(began.elapsed()),
            peak: 0,
            fine: failure.is_none(),
        };
        if self.pictures.abort_at.is_some() {
            say(&Said::JobDone);
        }
        Some((done, failure))
    }

    fn job(&self, file: &Path, place: &Path) -> Result<(), String> {
        let limits = &self.pictures.limits;
        let budget = Budget::new(limits.memory.saturating_sub(RESERVE), limits.pixels);
        let source = Input::open(file).map_err(|error| error.to_string())?;
        let mut sink = Output::create(place).map_err(|error| error.to_string())?;
        let result = compress(&source, &mut sink, &self.options, &budget);
        result.map_err(|error| error.to_string())?;
        sink.finish().map_err(|error| error.to_string())
    }
}

/// Does the pictures with so many threads.
pub(super) fn threads(
    pictures: &Pictures,
    count: usize,
    lifeline: &mut Lifeline,
) -> Result<Answer, ChildError> {
    let common = Common::new(pictures)?;
    measured(lifeline, || {
        std::thread::scope(|scope| {
            let start = |seat: usize| {
                let place = pictures.folder.join(format!("thread-{seat}"));
                let common = &common;
                scope.spawn(move || std::iter::from_fn(|| common.step(&place)).collect::<Vec<_>>())
            };
            let threads: Vec<_> = (0..count).map(start).collect();
            // A codec's panic is caught at the door of the image work; a thread that dies all the same did nothing.
            threads
                .into_iter()
                .filter_map(|thread| thread.join().ok())
                .flatten()
                .collect()
        })
    })
}

/// Does the pictures with so many tasks on this one thread; each lets the others go after every picture.
pub(super) fn tasks(
    pictures: &Pictures,
    count: usize,
    lifeline: &mut Lifeline,
) -> Result<Answer, ChildError> {
    let common = Common::new(pictures)?;
    let runtime = super::steps::one_thread()?;
    measured(lifeline, || {
        let task = |seat: usize| {
            let place = pictures.folder.join(format!("task-{seat}"));
            let common = &common;
            async move {
                let mut done = Vec::new();
                while let Some(one) = common.step(&place) {
                    done.push(one);
                    tokio::task::yield_now().await;
                }
                done
            }
        };
        let all: Vec<_> = (0..count).map(task).collect();
        runtime
            .block_on(super::steps::together(all))
            .into_iter()
            .flatten()
            .collect()
    })
}

fn measured(
    lifeline: &mut Lifeline,
    work: impl FnOnce() -> Vec<(JobDone, Option<String>)>,
) -> Result<Answer, ChildError> {
    let memory = MemoryWatch::start();
    memory.add(std::process::id());
    lifeline.ready();
    let (before, began) = (Used::now(), Instant::now());
    let done = work();
    let wall_us = micros(began.elapsed());
    let used = Used::now().since(before);
    let failed = done.iter().filter(|(job, _)| !job.fine).count();
    Ok(Answer {
        wall_us,
        cpu_us: used.cpu_us,
        switches_voluntary: used.voluntary,
        switches_forced: used.forced,
        failed: failed as u64,
        failure: done.iter().find_map(|(_, failure)| failure.clone()),
        jobs: done.into_iter().map(|(job, _)| job).collect(),
        memory: memory.end(),
        memory_of_one: own_peak(),
        ..Answer::default()
    })
}

/// A picture read in pieces, as a worker reads it.
struct Input {
    file: File,
    bytes: u64,
}

impl Input {
    fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        Ok(Self { file, bytes })
    }
}

impl Source for Input {
    fn len(&self) -> u64 {
        self.bytes
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(buffer, offset)
    }
}

/// A result that is written and removed again.
struct Output {
    file: File,
    path: PathBuf,
    buffer: Vec<u8>,
}

impl Output {
    fn create(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: File::create(path)?,
            path: path.to_path_buf(),
            buffer: Vec::with_capacity(BUFFER),
        })
    }

    fn finish(mut self) -> io::Result<()> {
        self.file.write_all(&self.buffer)?;
        std::fs::remove_file(&self.path)
    }
}

impl Sink for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER {
            self.file.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    fn restart(&mut self) -> io::Result<()> {
        self.buffer.clear();
        self.file.set_len(0)?;
        self.file.rewind()
    }
}
