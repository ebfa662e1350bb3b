//! Requantises the blocks of one component, one after the other, without knowing where they come from or go to.

use super::choice::{Candidate, Chosen, Last, Terms, count};
use super::costs::Costs;
use super::pass::Counter;
use super::tables::{interpolate, radius};
use crate::jpeg::encode::Role;
use crate::jpeg::encode::emit::size;
use crate::jpeg::encode::progressive::Range;
use crate::jpeg::frame::QuantTable;
use crate::jpeg::huffman_out::Histogram;
use crate::jpeg::plane::{MAX_WORDS, MOVED, Words, put_word};

/// How levels are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, small ones to zero.
    Deadzone,
    /// By rate and distortion.
    Weighed,
}

/// What steers the choice of levels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuning {
    /// How levels are chosen.
    pub rounding: Rounding,
    /// Bits that a squared error of one step is worth, before weights.
    pub lambda: f32,
    /// Exponent of the busy-block factor, 0 for none.
    pub activity: f32,
    /// Scale of the tables, against which steps are weighed.
    pub scale: f32,
}

/// Adding this to a number that 16 bits hold leaves the nearest integer in the lowest bits of the sum's mantissa.
const ROUND: f32 = 12_582_912.0;
/// Rank of a block with nothing to leave out.
pub const NOTHING: u8 = 255;
/// Added to one half, how large a coefficient must be in new steps not to be zeroed, by distance from DC.
const DETAIL_ZONE: [(f32, f32); 5] = [
    (1.0, 0.10),
    (2.0, 0.12),
    (3.5, 0.17),
    (5.5, 0.25),
    (9.0, 0.30),
];
/// The same for chroma.
const CHROMA_ZONE: [(f32, f32); 5] = [
    (1.0, 0.10),
    (2.0, 0.15),
    (3.5, 0.20),
    (5.5, 0.30),
    (9.0, 0.30),
];
/// Worth of chroma errors against luma.
const CHROMA_WEIGHT: f32 = 0.78;
/// Exponent by which errors of coarse steps are worth less than their square.
const STEP_EXPONENT: f32 = -0.4;
/// Fewest bits that keeping one more coefficient can cost.
const FEWEST_BITS: f32 = 2.0;
/// Mean squared AC at which a block counts as busy.
const BUSY: f32 = 400.0;
/// Entries of the activity table for each doubling, as a power of two.
const FINENESS: u32 = 2;
/// Doublings the activity table covers: coefficients have at most 15 bits, their squares 30.
const DOUBLINGS: usize = 32;

/// A band of a block done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Block {
    /// Words written.
    pub words: usize,
    /// Worth of the last coefficient, the lower the cheaper to lose; [`NOTHING`] if it must stay.
    pub rank: u8,
    /// Bits that leaving it out saves.
    pub bits: f32,
}

/// Requantises blocks of one component.
#[derive(Debug, Clone)]
pub struct Quantiser {
    rounding: Rounding,
    /// By zigzag index: source step over new step and [`MOVED`].
    ratios: [f32; 64],
    /// Smallest magnitude in new steps that may survive.
    floors: [f32; 64],
    /// What a squared source level adds to the mean squared AC, over [`BUSY`] and the square of [`MOVED`].
    energies: [f32; 64],
    /// Bits that a squared error of one new step is worth.
    weights: [f32; 64],
    activity: [f32; DOUBLINGS << FINENESS],
    bands: &'static [Range],
    costs: Vec<Costs>,
    candidates: [Candidate; 64],
    /// Candidates of the block taken last, and how many of them are in the first band.
    count: usize,
    first: usize,
    /// Factor on the weights of that block.
    factor: f32,
}

impl Quantiser {
    /// From steps of `source` to steps of `new`, which are so many times coarser than wanted as `excess` says; `costs` holds one
    /// entry for each of `bands`.
    pub fn new(
        role: Role,
        source: &QuantTable,
        (new, excess): (&QuantTable, &[f32; 64]),
        tuning: &Tuning,
        bands: &'static [Range],
        costs: Vec<Costs>,
    ) -> Self {
        let weights: [f32; 64] =
            std::array::from_fn(|k| weight(role, new.0[k].into(), excess[k], tuning));
        let own = |k: usize| f32::from(source.0[k]);
        let busy = |i: usize| {
            let middle = ((i as f32 + 0.5) / (1 << FINENESS) as f32).exp2();
            middle.powf(-tuning.activity)
        };
        Self {
            rounding: tuning.rounding,
            ratios: std::array::from_fn(|k| own(k) / f32::from(new.0[k]) / MOVED),
            floors: std::array::from_fn(|k| floor(role, k, weights[k], tuning.rounding)),
            energies: std::array::from_fn(|k| (own(k) / MOVED).powi(2) / (63.0 * BUSY)),
            weights,
            activity: std::array::from_fn(busy),
            bands,
            costs,
            candidates: [Candidate::default(); 64],
            count: 0,
            first: 0,
            factor: 1.0,
        }
    }

    /// The DC level.
    #[inline(always)]
    pub fn dc(&self, dc: i16) -> i16 {
        // The lowest bits of the sum's mantissa are the nearest integer, in two's complement.
        (f32::from(dc) * (self.ratios[0] * MOVED) + ROUND).to_bits() as i16
    }

    /// Takes the AC coefficients of the next block; [`Quantiser::band`] then gives its bands in order. False if none can
    /// survive.
    // A function of its own: inlined, its loop lost its registers to what is around it.
    #[inline(never)]
    pub fn take(&mut self, words: Words<'_>) -> bool {
        let (mut count, mut first, mut energy) = (0, 0, 0.0);
        let end = self.bands[0].1;
        for (index, value) in words.moved() {
            let value = value as f32;
            let x = value * self.ratios[index];
            energy += value * value * self.energies[index];
            self.candidates[count & 63] = Candidate {
                x,
                index: index as u32,
            };
            count += usize::from(x.abs() >= self.floors[index]);
            // Candidates come in order, so this ends up as the count when the first band was passed.
            first = if index <= end { count } else { first };
        }
        (self.count, self.first) = (count.min(63), first.min(63));
        if self.rounding == Rounding::Weighed {
            self.factor = self.activity_of(energy);
        }
        count > 0
    }

    /// Whether band `n` of the block taken last has coefficients that may survive.
    #[inline(always)]
    pub fn reaches(&self, n: usize) -> bool {
        match n {
            0 => self.first > 0,
            _ => self.count > self.first,
        }
    }

    /// Requantises band `n` of the block taken last into `out`, counting it with `counter`. An empty band is not counted.
    #[inline(always)]
    pub fn band(&mut self, n: usize, counter: &mut Counter, out: &mut [u16; MAX_WORDS]) -> Block {
        let candidates = match n {
            0 => &self.candidates[..self.first],
            _ => &self.candidates[self.first..self.count.max(self.first)],
        };
        if candidates.is_empty() {
            return Block::EMPTY;
        }
        let terms = Terms {
            range: self.bands[n],
            costs: &self.costs[n],
            weights: &self.weights,
            factor: self.factor,
        };
        let chosen = match self.rounding {
            Rounding::Deadzone => round(candidates, &terms, counter.histogram(n), out),
            Rounding::Weighed => terms.choose(candidates, out, counter.histogram(n)),
        };
        if chosen.words == 0 {
            return Block::EMPTY;
        }
        counter.close(n, chosen.next);
        Block::new(chosen.words, chosen.last)
    }

    /// Lookup of (1 + energy)^-exponent: the exponent bits of a float and the first of its mantissa are its logarithm.
    #[inline]
    fn activity_of(&self, energy: f32) -> f32 {
        let bits = (1.0 + energy).to_bits() >> (23 - FINENESS);
        let index = (bits - (127 << FINENESS)) as usize;
        self.activity[index.min(self.activity.len() - 1)]
    }
}

/// Rounds to the nearest level; there is at least one candidate.
#[inline]
fn round(
    candidates: &[Candidate],
    terms: &Terms<'_>,
    counts: &mut Histogram,
    out: &mut [u16; MAX_WORDS],
) -> Chosen {
    let (mut words, mut next, mut run) = (0, terms.range.0, 0);
    for candidate in candidates {
        let index = (candidate.index & 63) as usize;
        let level = (candidate.x.abs() + 0.5) as u32;
        run = (index - next) & 63;
        count(counts, run, size(level), 1);
        words += put_word(&mut out[words & 127..], index, candidate.signed(level));
        next = index + 1;
    }
    let last = &candidates[candidates.len() - 1];
    let worth = Last {
        bits: terms.costs.of_size(1)[run],
        loss: terms.weights[(last.index & 63) as usize] * last.gain(1.0),
    };
    Chosen {
        words,
        next,
        last: (last.x.abs() < 1.5).then_some(worth),
    }
}

impl Block {
    /// No coefficients.
    const EMPTY: Self = Self {
        words: 0,
        rank: NOTHING,
        bits: 0.0,
    };

    /// Ranks by the logarithm of loss over bits saved, 32 ranks to a doubling, 1 and below first.
    #[inline(always)]
    fn new(words: usize, last: Option<Last>) -> Self {
        let last = last.filter(|last| last.bits > 0.0);
        let worth = last.map_or(f32::MAX, |last| (last.loss / last.bits).max(1.0));
        let rank = (worth.to_bits() >> 18) - (127 << 5);
        let most = u32::from(NOTHING) - u32::from(last.is_some());
        Self {
            words,
            rank: rank.min(most) as u8,
            bits: last.map_or(0.0, |last| last.bits),
        }
    }
}

/// Bits that a squared error of one step is worth.
///
/// The scale says what an error of the step it wants is worth. Where the source's own step is `excess` times as coarse, one of
/// its steps is that many wanted ones: without that, the finer the scale, the more of a coarse source would be zeroed.
pub fn weight(role: Role, step: f32, excess: f32, tuning: &Tuning) -> f32 {
    let coarse = (step / excess / (16.0 * tuning.scale)).powf(STEP_EXPONENT);
    let role = match role {
        Role::Detail => 1.0,
        Role::Chroma => CHROMA_WEIGHT,
    };
    tuning.lambda * coarse * role * excess * excess
}

/// Smallest magnitude, in new steps, worth considering.
pub fn floor(role: Role, k: usize, weight: f32, rounding: Rounding) -> f32 {
    let zone = match role {
        Role::Detail => &DETAIL_ZONE,
        Role::Chroma => &CHROMA_ZONE,
    };
    match rounding {
        Rounding::Deadzone => 0.5 + interpolate(zone, radius(k)),
        // Keeping x as 1 takes weight * (2x - 1) off the distortion.
        Rounding::Weighed => 0.5 * (1.0 + FEWEST_BITS / weight),
    }
}
