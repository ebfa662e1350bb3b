//! Requantises the blocks of one component, one after the other, without knowing where they come from or go to.

use super::costs::Costs;
use super::tables::{interpolate, radius};
use super::trellis::{Candidate, Last, Trellis};
use crate::jpeg::encode::Role;
use crate::jpeg::encode::progressive::Range;
use crate::jpeg::frame::QuantTable;
use crate::jpeg::plane::{MAX_WORDS, Words, put_word};

/// How levels are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, small ones to zero.
    Deadzone,
    /// By rate and distortion.
    Trellis,
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
    /// Source step over new step.
    ratio: [f32; 64],
    /// Smallest magnitude in new steps that may survive.
    floor: [f32; 64],
    /// Bits that a squared error of one new step is worth.
    weight: [f32; 64],
    /// What a squared source level adds to the mean squared AC, over [`BUSY`].
    energy: [f32; 64],
    activity: [f32; DOUBLINGS << FINENESS],
    bands: &'static [Range],
    costs: Vec<Costs>,
    trellis: Trellis,
    candidates: [Candidate; 64],
    /// Candidates of the block taken last that no band has had yet.
    start: usize,
    count: usize,
}

impl Quantiser {
    /// From steps of `source` to steps of `new`; `costs` holds one entry for each of `bands`.
    pub fn new(
        role: Role,
        source: &QuantTable,
        new: &QuantTable,
        tuning: &Tuning,
        bands: &'static [Range],
        costs: Vec<Costs>,
    ) -> Self {
        let step = |k: usize| f32::from(new.0[k]);
        let own = |k: usize| f32::from(source.0[k]);
        let weight: [f32; 64] = std::array::from_fn(|k| weight(role, step(k), tuning));
        let floor = std::array::from_fn(|k| floor(role, k, weight[k], tuning.rounding));
        let busy = |i: usize| {
            let middle = ((i as f32 + 0.5) / (1 << FINENESS) as f32).exp2();
            middle.powf(-tuning.activity)
        };
        Self {
            rounding: tuning.rounding,
            ratio: std::array::from_fn(|k| own(k) / step(k)),
            floor,
            weight,
            energy: std::array::from_fn(|k| own(k) * own(k) / (63.0 * BUSY)),
            activity: std::array::from_fn(busy),
            bands,
            costs,
            trellis: Trellis::default(),
            candidates: [Candidate::default(); 64],
            start: 0,
            count: 0,
        }
    }

    /// The DC level.
    #[inline]
    pub fn dc(&self, dc: i16) -> i16 {
        let x = f32::from(dc) * self.ratio[0];
        (x + 0.5_f32.copysign(x)) as i16
    }

    /// Takes the AC coefficients of the next block; [`Quantiser::band`] then gives its bands in order. False if none can
    /// survive.
    #[inline]
    pub fn take(&mut self, words: Words<'_>) -> bool {
        let (mut count, mut energy) = (0, 0.0);
        for (index, value) in words {
            let index = index & 63;
            let magnitude = f32::from(value.unsigned_abs());
            let x = magnitude * self.ratio[index];
            energy += magnitude * magnitude * self.energy[index];
            self.candidates[count & 63] = Candidate {
                index: index as u8,
                negative: value < 0,
                x,
                weight: self.weight[index],
            };
            count += usize::from(x >= self.floor[index]);
        }
        (self.start, self.count) = (0, count.min(63));
        if count == 0 {
            return false;
        }
        if self.rounding == Rounding::Trellis {
            let factor = self.activity_of(energy);
            for candidate in &mut self.candidates[..self.count] {
                candidate.weight *= factor;
            }
        }
        true
    }

    /// Requantises band `n` of the block taken last into `out`; call it for 0, 1 and so on.
    #[inline]
    pub fn band(&mut self, n: usize, out: &mut [u16; MAX_WORDS]) -> Block {
        let range = self.bands[n];
        let ahead = &self.candidates[self.start..self.count];
        let inside = ahead.iter().take_while(|c| usize::from(c.index) <= range.1);
        let end = self.start + inside.count();
        let candidates = &self.candidates[self.start..end];
        self.start = end;
        let costs = &self.costs[n];
        if candidates.is_empty() {
            return Block::EMPTY;
        }
        match self.rounding {
            Rounding::Deadzone => round(candidates, range, costs, out),
            Rounding::Trellis => optimise(&mut self.trellis, candidates, range, costs, out),
        }
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
fn round(
    candidates: &[Candidate],
    range: Range,
    costs: &Costs,
    out: &mut [u16; MAX_WORDS],
) -> Block {
    let (mut words, mut next, mut run) = (0, range.0, 0);
    for candidate in candidates {
        words += put(out, words, candidate, (candidate.x + 0.5) as u32);
        run = usize::from(candidate.index) - next;
        next = usize::from(candidate.index) + 1;
    }
    let last = &candidates[candidates.len() - 1];
    let worth = Last {
        bits: costs.of_size(1)[run & 63],
        loss: last.weight * (2.0 * last.x - 1.0),
    };
    Block::new(words, (last.x < 1.5).then_some(worth))
}

/// Chooses levels by rate and distortion.
#[inline]
fn optimise(
    trellis: &mut Trellis,
    candidates: &[Candidate],
    range: Range,
    costs: &Costs,
    out: &mut [u16; MAX_WORDS],
) -> Block {
    let (kept, last) = trellis.run(candidates, range, costs);
    let mut words = 0;
    for (i, level) in trellis.kept(kept) {
        words += put(out, words, &candidates[i], level);
    }
    Block::new(words, last)
}

/// Writes a coefficient at word `at`; returns the words it took.
#[inline(always)]
fn put(out: &mut [u16; MAX_WORDS], at: usize, candidate: &Candidate, level: u32) -> usize {
    let level = level as i16;
    let value = if candidate.negative { -level } else { level };
    // Sixty-three coefficients of two words each cannot reach the end; the mask only tells the compiler so.
    put_word(&mut out[at & 127..], usize::from(candidate.index), value)
}

impl Block {
    /// No coefficients.
    const EMPTY: Self = Self {
        words: 0,
        rank: NOTHING,
        bits: 0.0,
    };

    /// Ranks by the logarithm of loss over bits saved, 32 ranks to a doubling, 1 and below first.
    #[inline]
    fn new(words: usize, last: Option<Last>) -> Self {
        let Some(last) = last.filter(|last| last.bits > 0.0) else {
            return Self {
                words,
                ..Self::EMPTY
            };
        };
        let worth = (last.loss / last.bits).max(1.0);
        let rank = (worth.to_bits() >> 18) - (127 << 5);
        Self {
            words,
            rank: rank.min(u32::from(NOTHING) - 1) as u8,
            bits: last.bits,
        }
    }
}

/// Bits that a squared error of one step is worth.
pub fn weight(role: Role, step: f32, tuning: &Tuning) -> f32 {
    let coarse = (step / (16.0 * tuning.scale)).powf(STEP_EXPONENT);
    let role = match role {
        Role::Detail => 1.0,
        Role::Chroma => CHROMA_WEIGHT,
    };
    tuning.lambda * coarse * role
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
        Rounding::Trellis => 0.5 * (1.0 + FEWEST_BITS / weight),
    }
}
