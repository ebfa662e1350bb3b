//! Passes on to the terminal what the driver tells.

use super::wording::Draft;
use crate::driver::Audience;
use crate::passed::Passed;
use crate::pool::WorkerId;
use crate::report::Terminal;
use crate::task::{Record, Task};
use crate::units::show_memory;
use pressroom_shared::Enforced;
use std::path::Path;

/// The terminal as an audience. The head of the run is held back until a worker has said what really is enforced.
pub(super) struct Show<'a> {
    terminal: &'a mut Terminal,
    header: Option<Draft>,
    verbose: bool,
    told_of_shortage: bool,
}

impl<'a> Show<'a> {
    pub(super) fn new(terminal: &'a mut Terminal, header: Draft) -> Self {
        Self {
            verbose: header.verbose(),
            terminal,
            header: Some(header),
            told_of_shortage: false,
        }
    }

    /// The run is over; where no worker was needed, its head says so.
    pub(super) fn end(mut self) -> &'a mut Terminal {
        self.show_header(None);
        self.terminal
    }

    fn show_header(&mut self, enforced: Option<&Enforced>) {
        if let Some(draft) = self.header.take() {
            self.terminal.header(&draft.complete(enforced));
        }
    }
}

impl Audience for Show<'_> {
    fn found(&mut self, so_far: u64) {
        self.terminal.found(so_far, false);
    }

    fn all_found(&mut self, total: u64) {
        self.terminal.found(total, true);
    }

    fn passed_over(&mut self, path: &Path, why: Passed) {
        self.terminal.passed_over(path, why);
    }

    fn ready(&mut self, enforced: &Enforced) {
        self.show_header(Some(enforced));
    }

    fn started(&mut self, worker: WorkerId, task: &Task) {
        self.terminal.started(worker.seat.0, &task.source);
    }

    fn idle(&mut self, worker: WorkerId) {
        self.terminal.idle(worker.seat.0);
    }

    fn recorded(&mut self, record: &Record) {
        self.terminal.record(record);
    }

    fn mishap(&mut self, worker: WorkerId, what: &str) {
        if self.verbose {
            self.terminal.note(&format!("{worker}: {what}"));
        }
    }

    fn no_process(&mut self, worker: WorkerId, why: &str) {
        if self.verbose || !self.told_of_shortage {
            self.told_of_shortage = true;
            self.terminal.note(&format!(
                "{} goes without a worker for a while: {why}",
                worker.seat
            ));
        }
    }

    fn memory(&mut self, free: Option<u64>) {
        if free.is_none() && !self.verbose {
            return;
        }
        self.terminal.note(&match free {
            Some(free) => format!(
                "only {} of memory are free: one image at a time until there is more",
                show_memory(free)
            ),
            None => "there is memory for all workers again".to_owned(),
        });
    }

    fn tick(&mut self) {
        self.terminal.tick();
    }

    fn note(&mut self, text: &str) {
        self.terminal.note(text);
    }

    fn stopping(&mut self, times: u32) {
        self.terminal.note(match times {
            1 => {
                "stopping: images being computed get ten seconds; ask again (Ctrl-C) to end at once"
            }
            2 => "ending at once; what is done is being recorded",
            _ => "leaving as it is",
        });
    }
}
