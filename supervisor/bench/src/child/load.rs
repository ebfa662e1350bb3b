//! Another program's load: computes for nothing on one thread until it is told to stop, and counts how far it came.

use super::lifeline::Lifeline;
use super::steps::count;
use crate::messages::Answer;
use std::time::Instant;

/// Computes until told otherwise.
pub(super) fn run(lifeline: &mut Lifeline) -> Answer {
    lifeline.ready();
    let began = Instant::now();
    let mut rounds = 0;
    while !lifeline.was_called() {
        count();
        rounds += 1;
    }
    Answer {
        wall_us: super::meter::micros(began.elapsed()),
        load_rounds: rounds,
        ..Answer::default()
    }
}
