//! Between the source and the driver: takes out what needs no worker. Runs in a thread of its own, for it asks the ledger
//! about each image and may look at its output.

use crate::ledger::{Lookup, Reader};
use crate::passed::Passed;
use crate::source::Sighting;
use crate::task::{Ending, Record, Task};
use std::io;
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Instant;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Images that may wait between the two threads.
const WAITING: usize = 256;

/// What comes out.
#[derive(Debug)]
pub(crate) enum Sifted {
    /// An image for a worker.
    Todo(Task),
    /// Something the user should know, once.
    Note(String),
    /// An input whose end is known already.
    Aside(Box<Record>),
    /// Something that is no input of this run, and why.
    PassedOver(PathBuf, Passed),
    /// Nothing more.
    Ended,
}

/// Knows what needs no work.
#[derive(Debug)]
pub(crate) struct Sifter {
    /// Where earlier runs are looked up; `None` where there were none.
    pub(crate) reader: Option<Reader>,
    /// How.
    pub(crate) lookup: Lookup,
    /// When the run began.
    pub(crate) started: Instant,
    /// Where a run in place keeps originals.
    pub(crate) originals: Option<PathBuf>,
}

impl Sifter {
    /// Starts the thread; it ends when the source ends or nobody listens any more.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(crate) fn start(
        self,
        sightings: Receiver<Sighting>,
    ) -> io::Result<(JoinHandle<()>, Receiver<Sifted>)> {
        let (sender, receiver) = channel(WAITING);
        let thread = std::thread::Builder::new()
            .name("sift".to_owned())
            .spawn(move || self.run(sightings, &sender))?;
        Ok((thread, receiver))
    }

    fn run(self, mut sightings: Receiver<Sighting>, sender: &Sender<Sifted>) {
        let mut told = false;
        while let Some(sighting) = sightings.blocking_recv() {
            let sifted = self.sift(sighting);
            if let Sifted::Todo(task) = &sifted
                && !told
                && self.is_result(task)
            {
                told = true;
                if sender
                    .blocking_send(Sifted::Note(self.second_time(task)))
                    .is_err()
                {
                    return;
                }
            }
            if sender.blocking_send(sifted).is_err() {
                return;
            }
        }
    }

    fn is_result(&self, task: &Task) -> bool {
        self.reader
            .as_ref()
            .is_some_and(|reader| reader.is_result(task))
    }

    /// Compressing a result again costs quality that the original would not: said for the first, not for each.
    fn second_time(&self, task: &Task) -> String {
        let advice = match &self.originals {
            Some(folder) => format!(
                "for the best quality put the originals in {} back first",
                folder.display()
            ),
            None => "only a copy of the originals, if you have one, would give a better picture"
                .to_owned(),
        };
        format!(
            "{} was made smaller in place by an earlier run with other settings: it, and whatever else was, is compressed again \
             from what stands there now; {advice}",
            task.source.display()
        )
    }

    fn sift(&self, sighting: Sighting) -> Sifted {
        match sighting {
            Sighting::Image(task) => match self.skip(&task) {
                Some(skip) => self.aside(task, Ending::Skipped(skip)),
                None => Sifted::Todo(task),
            },
            Sighting::Refused { task, failed } => self.aside(task, Ending::Failed(failed)),
            Sighting::PassedOver { path, why } => Sifted::PassedOver(path, why),
            Sighting::Ended => Sifted::Ended,
        }
    }

    /// A ledger that cannot be read says nothing: the image is done again, which is safe.
    fn skip(&self, task: &Task) -> Option<crate::task::Skip> {
        self.reader.as_ref()?.skip(task, &self.lookup).ok()?
    }

    fn aside(&self, task: Task, ending: Ending) -> Sifted {
        let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Sifted::Aside(Box::new(Record {
            task,
            ending,
            format: None,
            cpu_us: 0,
            wall_us: 0,
            peak_rss: 0,
            deaths: 0,
            seat: None,
            started_ms: now,
            ended_ms: now,
        }))
    }
}
