//! Restart intervals: when a marker is due and that it is the right one (T.81 E.2.4).

use super::feed::{Cursor, Feed};
use super::reader::corrupt;
use crate::{Error, Note};

/// Counts MCUs between restart markers.
#[derive(Debug)]
pub(super) struct Restarts {
    interval: u32,
    left: u32,
    next: u8,
}

impl Restarts {
    /// For markers every `interval` MCUs, 0 for none.
    pub(super) fn new(interval: u32) -> Self {
        Self {
            interval,
            left: interval,
            next: 0,
        }
    }

    /// How many of `wanted` MCUs can be decoded before the next marker; 0 means that it is due.
    pub(super) fn allow(&self, wanted: u32) -> u32 {
        match self.interval {
            0 => wanted,
            _ => wanted.min(self.left),
        }
    }

    /// Counts MCUs that were decoded.
    pub(super) fn count(&mut self, mcus: u32) {
        if self.interval > 0 {
            self.left -= mcus;
        }
    }

    /// Passes the marker that is due.
    ///
    /// # Errors
    /// [`Error::Corrupt`] where another marker stands there.
    pub(super) fn pass(
        &mut self,
        feed: &mut Feed<'_>,
        cursor: &mut Cursor,
        notes: &mut Vec<Note>,
    ) -> Result<(), Error> {
        let due = 0xd0 + self.next;
        let found = feed.leave(cursor, notes)?;
        if found != Some(due) {
            let offset = feed.offset(cursor);
            let found = found.map_or("the end of the file".into(), |m| format!("FF{m:02X}"));
            return Err(corrupt(format!(
                "{found} where restart marker FF{due:02X} is due, before byte {offset}"
            )));
        }
        self.next = (self.next + 1) % 8;
        self.left = self.interval;
        Ok(())
    }
}
