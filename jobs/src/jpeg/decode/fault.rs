//! What can be wrong with entropy-coded data, small enough to be returned from the innermost loops.

use super::feed::{Cursor, Feed};
use super::reader::corrupt;
use crate::jpeg::plane::CHUNK_BYTES;
use crate::{Budget, Error};

/// What stopped a decoder.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fault {
    /// Bits that begin no code of the table.
    Code,
    /// A run beyond the end of its block or band.
    Run,
    /// A value larger than eight-bit samples can make.
    Range,
    /// The data ends before its blocks do.
    Starved,
    /// No memory for the result.
    Memory,
}

impl Fault {
    fn text(&self) -> &'static str {
        match self {
            Self::Code => "an invalid Huffman code",
            Self::Run => "a run of zeros beyond the end of a block",
            Self::Range => "a coefficient out of range",
            Self::Starved | Self::Memory => "data that ends too early",
        }
    }

    /// The error to report; `row` is the MCU row.
    pub(super) fn report(
        self,
        feed: &mut Feed<'_>,
        cursor: &Cursor,
        row: u32,
        budget: &Budget,
    ) -> Error {
        if let Some(error) = feed.failure() {
            return error;
        }
        if let Self::Memory = self {
            let claimed = budget.memory() - budget.left();
            return Error::OverBudget {
                needed: claimed + CHUNK_BYTES,
                cap: budget.memory(),
            };
        }
        let offset = feed.offset(cursor);
        // Bits invented behind the end can look like anything; what is wrong then is the end.
        let fault = if cursor.starved() {
            Self::Starved
        } else {
            self
        };
        corrupt(format!(
            "{} near byte {offset}, MCU row {row}",
            fault.text()
        ))
    }
}
