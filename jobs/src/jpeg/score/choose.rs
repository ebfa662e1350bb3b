//! At high efforts: several results of one size, and the one that looks most like the original.

use super::Judge;
use crate::door::Written;
use crate::jpeg::compress::Job;
use crate::jpeg::decode::Decoder;
use crate::jpeg::quant::tables::Steps;
use crate::{Compressed, Error, Sink};

/// A result and how it looks.
struct Entry {
    bytes: Vec<u8>,
    written: Written,
    score: f64,
}

impl Job<'_> {
    /// At most `target` bytes, the best looking of several ways to get there; the usual way where nothing can be scored.
    pub(in crate::jpeg) fn fit_judged(
        &self,
        target: u64,
        sink: &mut dyn Sink,
    ) -> Result<Compressed, Error> {
        // Nothing to make, or nothing to compare a turned picture with.
        let within = self.source.len() <= target && !self.options.force;
        if within || !self.turn.is_upright() {
            return self.fit(target, sink);
        }
        let frame = Decoder::open(self.source, &self.budget.part())?
            .header()
            .frame
            .clone();
        let judge = match Judge::open(self.source, &frame, self.budget) {
            Ok(judge) => judge,
            Err(Error::OverBudget { .. } | Error::Unsupported(_)) => return self.fit(target, sink),
            Err(error) => return Err(error),
        };
        // The best so far and the one being made.
        let room = target.saturating_mul(2);
        if self.budget.claim(room).is_err() {
            judge.free(self.budget);
            return self.fit(target, sink);
        }
        let best = self.best_of_all(target, &judge)?;
        judge.free(self.budget);
        self.budget.release(room);
        match best {
            Some(Entry { bytes, written, .. }) => {
                sink.write(&bytes).map_err(Error::Write)?;
                Ok(Compressed::Written(written))
            }
            None => self.fit(target, sink),
        }
    }

    /// `None` if the usual way makes no result or memory is too short.
    fn best_of_all(&self, target: u64, judge: &Judge) -> Result<Option<Entry>, Error> {
        let mut best: Option<Entry> = None;
        for steps in Steps::ALL {
            let budget = self.budget.part();
            let way = Job {
                source: self.source,
                turn: self.turn,
                options: self.options,
                budget: &budget,
                steps,
            };
            let mut bytes = Vec::new();
            let done = way.fit(target, &mut bytes);
            // Claimed and given back at once, so that the peak is known.
            self.budget.claim(budget.peak())?;
            self.budget.release(budget.peak());
            let written = match done {
                Ok(Compressed::Written(written)) => written,
                Ok(Compressed::Kept(_)) | Err(Error::OverBudget { .. }) => return Ok(best),
                Err(error) => return Err(error),
            };
            let score = judge.score(&bytes)?;
            if best.as_ref().is_none_or(|best| score > best.score) {
                best = Some(Entry {
                    bytes,
                    written,
                    score,
                });
            }
        }
        Ok(best)
    }
}
