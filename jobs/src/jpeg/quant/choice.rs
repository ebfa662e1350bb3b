//! Levels by rate and distortion, one coefficient after the other: a coefficient stays if the distortion it takes away is
//! worth more than its own bits.
//!
//! A dynamic programme over all coefficients of a band (the trellis of mozjpeg) also weighs that a coefficient shortens the
//! run before the next one. It was measured and left out: at equal sizes it scored no higher in SSIMULACRA2, and it took
//! twice the time.

use super::costs::{Costs, LEVELS};
use crate::jpeg::encode::emit::{SIZES, size};
use crate::jpeg::encode::progressive::{Range, SIXTEEN_ZEROS};
use crate::jpeg::huffman_out::Histogram;
use crate::jpeg::plane::{MAX_WORDS, Words, pair, put_pair};
use std::hint::select_unpredictable;

/// Adding this to a number below 2^22 leaves the nearest integer in the lowest bits of its mantissa.
const ROUND: f32 = 8_388_608.0;
/// Magnitudes below, in new steps, have levels whose bits stand in a table; nearly all have.
const SMALL: f32 = LEVELS as f32 - 1.5;

/// A coefficient that may survive.
#[derive(Debug, Clone, Copy, Default)]
pub struct Candidate {
    /// Value in new steps, not rounded.
    pub x: f32,
    /// Zigzag index, below 64.
    pub index: u32,
}

impl Candidate {
    #[inline(always)]
    fn place(self) -> usize {
        (self.index & 63) as usize
    }

    /// The nearest level without its sign, the even one of two as near, as both kinds of number; never less than 1.
    #[inline(always)]
    fn level(self) -> (u32, f32) {
        let sum = self.x.abs().max(1.0) + ROUND;
        (sum.to_bits() & 0x7F_FFFF, sum - ROUND)
    }

    /// `level` with the candidate's sign.
    #[inline(always)]
    pub fn signed(self, level: u32) -> i16 {
        let sign = self.x.to_bits() as i32 >> 31;
        ((level as i32 ^ sign) - sign) as i16
    }

    /// Distortion, in squared steps, taken away by coding `level` instead of zero: x^2 - (x - level)^2.
    #[inline(always)]
    pub fn gain(self, level: f32) -> f32 {
        level * (2.0 * self.x.abs() - level)
    }
}

/// The last coefficient kept and what leaving it out would bring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Last {
    /// Bits saved.
    pub bits: f32,
    /// Distortion added, in bits of the same scale.
    pub loss: f32,
}

/// What became of a band.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chosen {
    /// Words written; the other fields mean nothing if there are none.
    pub words: usize,
    /// Zigzag index behind the last coefficient.
    pub next: usize,
    /// What the last coefficient is worth, if its level is 1.
    pub last: Option<Last>,
}

impl Chosen {
    const NOTHING: Self = Self {
        words: 0,
        next: 0,
        last: None,
    };
}

/// What decides.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// Limits of the band.
    pub range: Range,
    /// Bits of its symbols.
    pub costs: &'a Costs,
    /// Bits that a squared error of one step is worth, by zigzag index.
    pub weights: &'a [f32; 64],
    /// Factor on those.
    pub factor: f32,
}

/// A band while its levels are chosen.
struct Choosing {
    words: usize,
    /// Zigzag index behind the last coefficient kept.
    next: usize,
    /// What all coefficients kept are worth in bits, less those of coding them.
    net: f32,
    /// Of the last coefficient kept: its candidate, its level, and the run before it.
    last: usize,
    level: u32,
    run: usize,
}

impl Terms<'_> {
    /// Writes the levels chosen for the band's `candidates` into `out` and counts their symbols.
    #[inline(always)]
    pub fn choose(
        &self,
        candidates: &[Candidate],
        out: &mut [u16; MAX_WORDS],
        counts: &mut Histogram,
    ) -> Chosen {
        let mut band = Choosing {
            words: 0,
            next: self.range.0,
            net: 0.0,
            last: 0,
            level: 0,
            run: 0,
        };
        for (n, &candidate) in candidates.iter().enumerate() {
            if candidate.x.abs() < SMALL {
                self.decide::<true>(n, candidate, &mut band, out, counts);
            } else {
                self.decide::<false>(n, candidate, &mut band, out, counts);
            }
        }
        let ending = if band.next <= self.range.1 {
            self.costs.end
        } else {
            0.0
        };
        if band.net <= ending {
            self.take_back(&out[..band.words & 127], counts);
            return Chosen::NOTHING;
        }
        let last = candidates[band.last];
        // The only one leaves an empty band behind.
        let ending = if band.words == 1 { ending } else { 0.0 };
        let worth = Last {
            bits: self.costs.of_size(1)[band.run] + ending,
            loss: self.weights[last.place()] * self.factor * last.gain(1.0),
        };
        Chosen {
            words: band.words,
            next: band.next,
            last: (band.level == 1).then_some(worth),
        }
    }

    /// Keeps the better one of a candidate's nearest level and the one below, or drops it.
    ///
    /// Which coefficients stay is chance, so nothing here branches on it: the word is written and the symbol looked up in
    /// any case, and what is dropped advances nothing and counts for zero.
    #[inline(always)]
    fn decide<const IS_SMALL: bool>(
        &self,
        n: usize,
        candidate: Candidate,
        band: &mut Choosing,
        out: &mut [u16; MAX_WORDS],
        counts: &mut Histogram,
    ) {
        let place = candidate.place();
        let run = place.wrapping_sub(band.next) & 63;
        let (nearest, value) = candidate.level();
        let size_of = |level: u32| {
            if IS_SMALL {
                SIZES[(level & 15) as usize].into()
            } else {
                size(level)
            }
        };
        let weight = self.weights[place] * self.factor;
        let bits = |level: u32| {
            if IS_SMALL {
                self.costs.of_level(level)[run]
            } else {
                self.costs.of_size(size(level) as usize)[run]
            }
        };
        let higher = weight * candidate.gain(value) - bits(nearest);
        let lower = weight * candidate.gain(value - 1.0) - bits(nearest - 1);
        let level = nearest - u32::from(lower > higher);
        let gain = if lower > higher { lower } else { higher };
        let kept = gain > 0.0;
        let (pair, used) = pair::<IS_SMALL>(place, candidate.signed(level));
        put_pair(out, band.words, pair);
        count(counts, run, size_of(level), kept.into());
        band.net += if kept { gain } else { 0.0 };
        band.words += select_unpredictable(kept, used, 0);
        band.next = select_unpredictable(kept, place + 1, band.next);
        band.last = select_unpredictable(kept, n, band.last);
        band.level = select_unpredictable(kept, level, band.level);
        band.run = select_unpredictable(kept, run, band.run);
    }

    /// Counts `words` no longer.
    #[cold]
    fn take_back(&self, words: &[u16], counts: &mut Histogram) {
        let mut next = self.range.0;
        for (index, value) in Words::new(words) {
            count(
                counts,
                index - next,
                size(value.unsigned_abs().into()),
                1_u32.wrapping_neg(),
            );
            next = index + 1;
        }
    }
}

/// Counts `times` (or not at all) a coefficient of `size` bits after `run` zeros (T.81 F.1.2.2).
#[inline(always)]
pub fn count(counts: &mut Histogram, run: usize, size: u32, times: u32) {
    let symbol = (run & 15) << 4 | size as usize & 15;
    counts.0[symbol] = counts.0[symbol].wrapping_add(times);
    if run > 15 {
        let zeros = &mut counts.0[usize::from(SIXTEEN_ZEROS)];
        *zeros = zeros.wrapping_add((run as u32 >> 4).wrapping_mul(times));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jpeg::encode::emit::Emit;
    use crate::jpeg::encode::progressive::{Band, Statistics};
    use crate::jpeg::plane::put_word;
    use proptest::prelude::*;

    const RANGE: Range = (3, 63);

    fn costs() -> Costs {
        let mut counts = Statistics::default();
        for (symbol, count) in [
            (0x01, 900),
            (0x11, 300),
            (0x02, 200),
            (0x21, 90),
            (0x00, 400),
        ] {
            (0..count).for_each(|_| counts.emit(1, symbol, 0, 0));
        }
        Costs::of_runs(&counts.histograms[1])
    }

    fn choose(candidates: &[Candidate], weight: f32) -> (Vec<(usize, i16)>, Chosen, Histogram) {
        let (costs, weights) = (costs(), [weight; 64]);
        let terms = Terms {
            range: RANGE,
            costs: &costs,
            weights: &weights,
            factor: 1.0,
        };
        let (mut out, mut counts) = ([0; MAX_WORDS], Histogram::default());
        let chosen = terms.choose(candidates, &mut out, &mut counts);
        let words = Words::new(&out[..chosen.words]).collect();
        (words, chosen, counts)
    }

    fn candidates(values: &[(u32, f32)]) -> Vec<Candidate> {
        let candidate = |&(index, x): &(u32, f32)| Candidate { x, index };
        values.iter().map(candidate).collect()
    }

    #[test]
    fn dear_bits_leave_nothing_and_cheap_ones_round_to_the_nearest() {
        let band = candidates(&[(3, -0.8), (9, 1.7), (40, -600.4)]);
        assert_eq!(choose(&band[..2], 0.01).0, []);
        assert_eq!(choose(&band, 1e6).0, [(3, -1), (9, 2), (40, -600)]);
        assert_eq!(choose(&band[..1], 1e6).0, [(3, -1)]);
    }

    #[test]
    fn one_less_is_taken_where_it_saves_more_than_it_costs() {
        // Of size 2 to size 1 saves at least a bit; 1.6 is hardly nearer to 2 than to 1.
        assert_eq!(choose(&candidates(&[(3, 1.6)]), 3.0).0, [(3, 1)]);
        assert_eq!(choose(&candidates(&[(3, 1.9)]), 100.0).0, [(3, 2)]);
    }

    #[test]
    fn only_a_last_one_can_be_left_out_later() {
        let ends_in_one = choose(&candidates(&[(3, 5.0), (9, 1.1)]), 50.0).1;
        assert!(
            ends_in_one
                .last
                .is_some_and(|last| last.bits > 0.0 && last.loss > 0.0)
        );
        assert_eq!(ends_in_one.next, 10);
        assert_eq!(
            choose(&candidates(&[(3, 1.1), (9, 5.0)]), 50.0).1.last,
            None
        );
    }

    proptest! {
        #[test]
        fn what_is_counted_is_what_is_stored(
            values in prop::collection::btree_map(3_u32..64, 0.6_f32..6.0, 1..40),
            signs: u64,
            weight in 0.5_f32..20.0,
        ) {
            let sign = |index: u32| if signs >> index & 1 == 1 { -1.0 } else { 1.0 };
            let values: Vec<_> = values.into_iter().map(|(k, x)| (k, x * sign(k))).collect();
            let (words, _, counts) = choose(&candidates(&values), weight);
            let (mut stored, mut out) = ([0; MAX_WORDS], Statistics::default());
            let used = words.iter().fold(0, |at, &(index, value)| at + put_word(&mut stored[at..], index, value));
            Band::new(1, RANGE).block(&mut Words::new(&stored[..used]), &mut out);
            prop_assert_eq!(&counts, &out.histograms[1]);
        }
    }
}
