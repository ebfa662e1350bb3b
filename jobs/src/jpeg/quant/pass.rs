//! One pass over a component, row by row: requantise, store, rank and count at once.

use super::quantiser::{NOTHING, Quantiser};
use crate::jpeg::encode::Role;
use crate::jpeg::encode::markers::Form;
use crate::jpeg::encode::progressive::{Band, Dc, Statistics};
use crate::jpeg::encode::view::ViewRow;
use crate::jpeg::huffman_out::Histogram;
use crate::jpeg::plane::Plane;
use crate::{Budget, Error};

/// Most bands a component has.
const MOST_BANDS: usize = 2;
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

    /// Counts one block's DC value.
    #[inline]
    pub fn dc(&mut self, dc: i16) {
        self.dc.block(dc, &mut self.counts);
    }

    /// Where coefficients of band `n` are counted.
    #[inline(always)]
    pub fn histogram(&mut self, n: usize) -> &mut Histogram {
        &mut self.counts.histograms[n + 1]
    }

    /// Ends a block that has coefficients in band `n`; `next` is the zigzag index behind the last of them.
    #[inline(always)]
    pub fn close(&mut self, n: usize, next: usize) {
        self.bands[n].finish(&mut self.counts);
        self.bands[n].close(next, &mut self.counts);
    }

    /// Counts `count` blocks that have nothing in band `n`.
    #[inline]
    pub fn skip(&mut self, n: usize, count: usize) {
        self.bands[n].skip(count as u32, &mut self.counts);
    }

    /// Ends the runs.
    pub fn finish(mut self) -> Statistics {
        for band in &mut self.bands {
            band.finish(&mut self.counts);
        }
        self.counts
    }
}

/// One band of a result.
#[derive(Debug)]
pub struct BandPlane {
    /// Its blocks; the first band of a component also has the DC values.
    pub plane: Plane,
    /// Rank of each block.
    pub ranks: Vec<u8>,
}

/// A pass over one component.
#[derive(Debug)]
pub struct Pass {
    quantiser: Quantiser,
    /// Counts so far.
    pub counter: Counter,
    /// Savings so far.
    pub savings: Box<Savings>,
    /// The result so far, by band.
    pub bands: Vec<BandPlane>,
}

impl Pass {
    /// A pass over a component of `across` by `down` blocks.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    pub fn new(
        quantiser: Quantiser,
        counter: Counter,
        (across, down): (usize, usize),
        budget: &Budget,
    ) -> Result<Self, Error> {
        let band = |_: &Band| -> Result<BandPlane, Error> {
            Ok(BandPlane {
                plane: Plane::new(across, down, 1, budget)?,
                ranks: budget.vec(across * down)?,
            })
        };
        let bands = counter.bands.iter().map(band).collect::<Result<_, _>>()?;
        Ok(Self {
            quantiser,
            counter,
            savings: Box::new([0.0; RANKS]),
            bands,
        })
    }

    /// Forgets the rows done and keeps the memory.
    pub fn clear(&mut self) {
        for band in &mut self.bands {
            band.plane.clear();
            band.ranks.clear();
        }
    }

    /// Requantises one row of blocks.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    pub fn row(&mut self, mut source: ViewRow<'_>, budget: &Budget) -> Result<(), Error> {
        let across = source.dc_values().len();
        self.begin_row(source.dc_values(), budget)?;
        // Blocks of the row that each band's counter has seen.
        let mut seen = [0; MOST_BANDS];
        while let Some((column, words)) = source.next_filled() {
            if self.quantiser.take(words) {
                self.block(column, across, &mut seen, budget)?;
            }
        }
        for (n, seen) in seen.iter().enumerate().take(self.bands.len()) {
            self.counter.skip(n, across - seen);
        }
        Ok(())
    }

    /// DC values of the row, and all its blocks empty for now.
    fn begin_row(&mut self, dc: &[i16], budget: &Budget) -> Result<(), Error> {
        for (n, band) in self.bands.iter_mut().enumerate() {
            let ranks = band.ranks.len() + dc.len();
            band.ranks.resize(ranks, NOTHING);
            let lane = band.plane.lane();
            if n > 0 {
                lane.begin_filled_row(dc.iter().map(|_| 0), budget)?;
                continue;
            }
            let levels = dc.iter().map(|&dc| self.quantiser.dc(dc));
            for &dc in lane.begin_filled_row(levels, budget)? {
                self.counter.dc(dc);
            }
        }
        Ok(())
    }

    /// Requantises the AC coefficients that the quantiser has taken.
    #[inline(always)]
    fn block(
        &mut self,
        column: usize,
        across: usize,
        seen: &mut [usize; MOST_BANDS],
        budget: &Budget,
    ) -> Result<(), Error> {
        for (n, band) in self.bands.iter_mut().enumerate() {
            if !self.quantiser.reaches(n) {
                continue;
            }
            let lane = band.plane.lane();
            let room = lane.room(budget)?;
            self.counter.skip(n, column - seen[n]);
            seen[n] = column;
            let block = self.quantiser.band(n, &mut self.counter, room);
            if block.words == 0 {
                continue;
            }
            seen[n] = column + 1;
            lane.fill(across - column, block.words);
            self.savings[usize::from(block.rank)] += f64::from(block.bits);
            let at = band.ranks.len() - across + column;
            band.ranks[at] = block.rank;
        }
        Ok(())
    }
}
