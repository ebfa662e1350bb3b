//! One pass over a component, row by row: requantise, store, rank and count at once.

use super::quantiser::Quantiser;
use crate::jpeg::encode::Role;
use crate::jpeg::encode::markers::Form;
use crate::jpeg::encode::progressive::{Band, Dc, Statistics};
use crate::jpeg::plane::{Words, Writer};
use crate::{Budget, Error};

/// Ranks there are.
const RANKS: usize = 256;

/// Bits that leaving out last coefficients saves, by rank.
pub type Savings = [f64; RANKS];

/// Counts requantised blocks as they come.
#[derive(Debug, Clone)]
pub struct Counter {
    dc: Dc,
    bands: Vec<Band>,
    /// What was counted; complete after [`Counter::finish`].
    pub counts: Statistics,
}

impl Counter {
    /// Nothing counted yet. A sequential result's DC differences are those of raster order here.
    pub fn new(role: Role, form: Form) -> Self {
        let bands = match form {
            Form::Sequential => vec![Band::sequential(1)],
            Form::Progressive => {
                let ranges = role.bands(form).iter().enumerate();
                ranges.map(|(n, &range)| Band::new(n + 1, range)).collect()
            }
        };
        Self {
            dc: Dc::default(),
            bands,
            counts: Statistics::default(),
        }
    }

    /// Takes the DC value of a block that is not counted but comes before the next.
    pub fn follow(&mut self, dc: i16) {
        self.dc = Dc::after(dc);
    }

    /// Counts one block.
    #[inline]
    pub fn block(&mut self, dc: i16, mut words: Words<'_>) {
        self.dc.block(dc, &mut self.counts);
        for band in &mut self.bands {
            band.block(&mut words, &mut self.counts);
        }
    }

    /// Ends the runs.
    pub fn finish(mut self) -> Statistics {
        for band in &mut self.bands {
            band.finish(&mut self.counts);
        }
        self.counts
    }
}

/// A pass over one component.
#[derive(Debug, Clone)]
pub struct Pass {
    quantiser: Quantiser,
    /// Counts so far.
    pub counter: Counter,
    /// Savings so far.
    pub savings: Box<Savings>,
    /// Rank of each block so far.
    pub ranks: Vec<u8>,
}

impl Pass {
    /// Ranks go into `ranks`, which should have room for all blocks.
    pub fn new(quantiser: Quantiser, counter: Counter, ranks: Vec<u8>) -> Self {
        Self {
            quantiser,
            counter,
            savings: Box::new([0.0; RANKS]),
            ranks,
        }
    }

    /// Requantises one row of blocks into `out`.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    pub fn row<'a>(
        &mut self,
        source: impl Iterator<Item = (i16, Words<'a>)>,
        out: &mut Writer<'_>,
        budget: &Budget,
    ) -> Result<(), Error> {
        for (dc, words) in source {
            let dc = self.quantiser.dc(dc);
            out.block(dc, budget, |room| {
                let block = self.quantiser.block(words, room);
                self.counter.block(dc, Words::new(&room[..block.words]));
                self.savings[usize::from(block.rank)] += f64::from(block.bits);
                self.ranks.push(block.rank);
                block.words
            })?;
        }
        Ok(())
    }
}
