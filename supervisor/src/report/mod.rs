//! What a run has to say: sums, texts for people, lines for programs.
//!
//! [`tally`] adds up, [`human`], [`json`], [`csv`] and [`metrics`] turn sums and entries into text without printing it,
//! [`html`] makes a page of them, [`past`] asks the ledger, and [`terminal`] is the one place that prints.

mod ahead;
mod bars;
pub mod csv;
mod facts;
pub mod html;
pub mod human;
pub mod json;
mod lane;
pub mod metrics;
mod occupied;
pub mod past;
mod records;
mod replace;
mod screen;
mod stream;
mod tally;
mod terminal;
mod text;

#[cfg(test)]
mod samples;

pub use facts::{Facts, Header};
pub use human::is_known;
pub use occupied::{Kind, Occupied, check as check_place, reachable};
pub use tally::{Failures, Tally};
pub use terminal::{OutputError, Terminal, check_reach};
