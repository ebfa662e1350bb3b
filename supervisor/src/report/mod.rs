//! What a run has to say: sums, texts for people, lines for programs. Only [`terminal`] prints.

mod tally;

pub use tally::Tally;
