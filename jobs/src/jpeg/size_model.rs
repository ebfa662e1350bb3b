//! Predicts the size of a requantisation from a sample of the picture's blocks.
//!
//! The sample takes short stretches from every block row, at places that move from row to row, so that it covers the
//! picture evenly. Whatever hangs on coefficients is scaled up by the share of coefficients sampled, whatever hangs on
//! blocks by the share of blocks.

use super::decode::presample;
use super::encode::Role;
use super::encode::markers::Form;
use super::encode::progressive::{DC, Statistics};
use super::encode::view::View;
use super::huffman_out::{Code, Histogram, extra_bits};
use super::plane::{MAX_WORDS, Row, Words};
use super::quant::plan::Plan;
use crate::{Budget, Error};

/// Blocks a sample should have over all components, where the picture has as many.
const ENOUGH: usize = 24_000;
/// Blocks in a stretch, about: shorter ones would measure mostly their own ends.
const STRETCH: usize = 16;
const GOLDEN: f64 = 0.618_033_988_749_895;

/// A sample of one component.
#[derive(Debug, Default)]
struct Part {
    /// DC value before each stretch, and its blocks.
    stretches: Vec<(i16, usize)>,
    dc: Vec<i16>,
    lengths: Vec<u8>,
    words: Vec<u16>,
    /// All blocks over sampled ones.
    block_share: f64,
    /// All words over sampled ones.
    word_share: f64,
}

/// A sample of a picture.
#[derive(Debug)]
pub struct Sample {
    parts: Vec<Part>,
}

/// A predicted requantisation.
#[derive(Debug, Clone)]
pub struct Predicted {
    /// Bytes of scans with their tables, without the picture's header.
    pub bytes: f64,
    /// What the sample counted, for costs.
    pub counts: Vec<Statistics>,
}

impl Sample {
    /// Samples the picture in `views`.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    pub fn gather(views: &[View<'_>], budget: &Budget) -> Result<Self, Error> {
        Self::thinned(views, 1, budget)
    }

    /// Samples a part of the blocks that a size would need: enough to tell what symbols will cost.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    pub fn for_costs(views: &[View<'_>], budget: &Budget) -> Result<Self, Error> {
        Self::thinned(views, 4, budget)
    }

    fn thinned(views: &[View<'_>], by: usize, budget: &Budget) -> Result<Self, Error> {
        let blocks = by * views.iter().map(View::blocks).sum::<usize>();
        let part = |view: &View<'_>| {
            let mut gatherer = Gatherer::new(view.across(), view.down(), blocks, budget)?;
            for row in 0..view.down() {
                gatherer.row(view.source_row(row), budget)?;
            }
            Ok(gatherer)
        };
        let parts = views.iter().map(part).collect::<Result<_, Error>>()?;
        Ok(Self::from_rows(parts))
    }

    /// What a blind look at the file found, for a first guess. Each component's blocks stand for as many as `blocks` says.
    pub fn of_look(look: presample::Sample, blocks: &[f64]) -> Self {
        let part = |(of, &blocks): (presample::ComponentSample, &f64)| {
            let seen = of.differences.len();
            let share = blocks / seen.max(1) as f64;
            Part {
                // Differences are coded as such if each block follows a value of 0.
                stretches: vec![(0, 1); seen],
                dc: of.differences,
                lengths: of.lengths,
                words: of.words,
                block_share: share,
                word_share: share,
            }
        };
        Self {
            parts: look.components.into_iter().zip(blocks).map(part).collect(),
        }
    }

    /// The sample of all components whose rows were gathered one by one.
    pub fn from_rows(components: Vec<Gatherer>) -> Self {
        Self {
            parts: components.into_iter().map(Gatherer::finish).collect(),
        }
    }

    /// Gives the memory back.
    pub fn free(self, budget: &Budget) {
        for part in self.parts {
            budget.free(part.dc);
            budget.free(part.lengths);
            budget.free(part.words);
        }
    }

    /// Predicts what `plan` makes of the picture.
    pub fn predict(&self, plan: &Plan) -> Predicted {
        let parts = self.parts.iter().enumerate();
        let counts: Vec<Statistics> = parts.map(|(c, part)| part.requantise(plan, c)).collect();
        let bytes = match plan.form {
            Form::Progressive => self.progressive_bytes(&counts, &plan.roles),
            Form::Sequential => self.sequential_bytes(&counts, &plan.roles),
        };
        Predicted { bytes, counts }
    }

    fn progressive_bytes(&self, counts: &[Statistics], roles: &[Role]) -> f64 {
        let mut bytes = 0.0;
        for ((part, counts), role) in self.parts.iter().zip(counts).zip(roles) {
            for table in 0..=role.bands(Form::Progressive).len() {
                // DHT and SOS take 14 bytes beside the code's own definition.
                bytes += 14.0 + scaled(&part.weighted(counts, table));
            }
        }
        bytes
    }

    fn sequential_bytes(&self, counts: &[Statistics], roles: &[Role]) -> f64 {
        let mut bytes = 12.0 + 2.0 * roles.len() as f64;
        for role in [Role::Detail, Role::Chroma] {
            for table in [DC, 1] {
                let mut sum = [0.0; 256];
                for ((part, counts), own) in self.parts.iter().zip(counts).zip(roles) {
                    if *own == role {
                        for (sum, more) in sum.iter_mut().zip(part.weighted(counts, table)) {
                            *sum += more;
                        }
                    }
                }
                bytes += scaled(&sum);
            }
        }
        bytes
    }
}

/// Gathers the sample of one component from its block rows.
#[derive(Debug)]
pub struct Gatherer {
    part: Part,
    across: usize,
    /// Stretches in a row, each in a cell of its own.
    cells: usize,
    stretch: usize,
    /// Where in its cell the next stretch lies, 0 to 1.
    place: f64,
    rows: usize,
    words: usize,
}

impl Gatherer {
    /// For a component of `across` by `down` blocks in a picture of `blocks` blocks in all.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    pub fn new(across: usize, down: usize, blocks: usize, budget: &Budget) -> Result<Self, Error> {
        let share = (ENOUGH as f64 / blocks as f64).min(1.0);
        let wanted = across as f64 * share;
        let cells = ((wanted / STRETCH as f64).ceil() as usize).clamp(1, across.max(1));
        let stretch = ((wanted / cells as f64).ceil() as usize).min(across / cells);
        let room = stretch * cells * down;
        Ok(Self {
            part: Part {
                dc: budget.vec(room)?,
                lengths: budget.vec(room)?,
                ..Part::default()
            },
            across,
            cells,
            stretch,
            place: 0.5,
            rows: 0,
            words: 0,
        })
    }

    /// Takes the next block row.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    pub fn row(&mut self, mut blocks: Row<'_>, budget: &Budget) -> Result<(), Error> {
        let mut at = 0;
        for cell in 0..self.cells {
            let first = cell * self.across / self.cells;
            let spare = (cell + 1) * self.across / self.cells - first - self.stretch;
            let start = first + (self.place * (spare + 1) as f64) as usize;
            self.place = (self.place + GOLDEN).fract();
            self.words += self
                .part
                .stretch(&mut blocks, start - at, self.stretch, budget)?;
            at = start + self.stretch;
        }
        self.words += blocks.skip_blocks(self.across - at);
        self.rows += 1;
        Ok(())
    }

    fn finish(self) -> Part {
        let Self {
            mut part,
            across,
            rows,
            words,
            ..
        } = self;
        part.block_share = (across * rows) as f64 / part.dc.len().max(1) as f64;
        part.word_share = words.max(1) as f64 / part.words.len().max(1) as f64;
        part
    }
}

impl Part {
    /// Passes `gap` blocks and takes `stretch` more; returns the words in all of them.
    fn stretch(
        &mut self,
        blocks: &mut Row<'_>,
        gap: usize,
        stretch: usize,
        budget: &Budget,
    ) -> Result<usize, Error> {
        let mut all = blocks.skip_blocks(gap.saturating_sub(1));
        let before = if gap == 0 {
            self.dc.last().copied().unwrap_or(0)
        } else {
            let before = blocks.next();
            all += before.map_or(0, |(_, words)| words.as_slice().len());
            before.map_or(0, |(dc, _)| dc)
        };
        self.stretches.push((before, stretch));
        for (dc, words) in blocks.by_ref().take(stretch) {
            all += words.as_slice().len();
            self.take(dc, words.as_slice(), budget)?;
        }
        Ok(all)
    }

    fn take(&mut self, dc: i16, words: &[u16], budget: &Budget) -> Result<(), Error> {
        if self.words.capacity() - self.words.len() < words.len() {
            let bigger = budget.vec(2 * self.words.capacity() + 16 * 1024)?;
            let smaller = std::mem::replace(&mut self.words, bigger);
            self.words.extend_from_slice(&smaller);
            budget.free(smaller);
        }
        self.words.extend_from_slice(words);
        self.dc.push(dc);
        self.lengths.push(words.len() as u8);
        Ok(())
    }

    fn requantise(&self, plan: &Plan, c: usize) -> Statistics {
        let (mut quantiser, mut counter) = (plan.quantiser(c), plan.counter(c));
        let mut room = [0; MAX_WORDS];
        let mut blocks = self.dc.iter().zip(&self.lengths);
        let mut words = &self.words[..];
        for &(before, count) in &self.stretches {
            counter.follow(quantiser.dc(before));
            for (&dc, &length) in blocks.by_ref().take(count) {
                let (own, rest) = words.split_at(usize::from(length));
                words = rest;
                counter.dc(quantiser.dc(dc));
                let any = quantiser.take(Words::new(own));
                for n in 0..plan.costs[c].len() {
                    if !any || quantiser.band(n, &mut counter, &mut room).words == 0 {
                        counter.skip(n, 1);
                    }
                }
            }
        }
        counter.finish()
    }

    /// Symbols scaled up to the whole picture.
    fn weighted(&self, counts: &Statistics, table: usize) -> [f64; 256] {
        let histogram = &counts.histograms[table];
        std::array::from_fn(|symbol| {
            let coefficient = table != DC && (symbol & 15 != 0 || symbol == 0xF0);
            let share = if coefficient {
                self.word_share
            } else {
                self.block_share
            };
            f64::from(histogram.0[symbol]) * share
        })
    }
}

/// Bytes of the code for symbols that occur so often, and of the data.
fn scaled(counts: &[f64; 256]) -> f64 {
    let histogram = Histogram(counts.map(|count| count.ceil() as u32));
    let code = Code::optimal(&histogram);
    let bits = |(symbol, count): (usize, &f64)| {
        let (_, length) = code.of(symbol as u8);
        count * (f64::from(length) + extra_bits(symbol) as f64)
    };
    let data: f64 = counts.iter().enumerate().map(bits).sum();
    code.definition_bytes() as f64 + data / 8.0
}
