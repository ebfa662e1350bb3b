//! The scale to begin with, from a blind look at the file: good to a tenth or two, which is enough to know what the
//! decoder may drop.
//!
//! Bits are estimated as if every frequency were coded for itself: where its coefficients stand by the entropy of zero
//! or not, their values by sign and magnitude.

use super::decode::presample::{BINS, ComponentSample, Sample, smallest_in};
use super::encode::Role;
use super::frame::{Frame, QuantTable};
use super::quant::quantiser::{Rounding, floor};
use super::quant::tables::{SCALES, table};

/// Real bits over estimated ones: blocks are alike in what they lack, which the estimate does not see.
const ALIKE: f64 = 0.70;
/// How much of the error in estimating the file's own size is made again at other scales.
const PERSISTENCE: f64 = 0.7;
/// Bits of a block's DC difference at scale 1; one less for each doubling of the step.
const DC_BITS: f64 = 4.5;
/// Halvings of the range of scales; the last is finer than the estimate is good for.
const STEPS: usize = 12;

/// A file looked at.
#[derive(Debug, Clone, Copy)]
pub struct Looked<'a> {
    /// Bytes of the file.
    pub bytes: u64,
    /// What was seen.
    pub sample: &'a Sample,
    /// Sizes and sampling of the file.
    pub frame: &'a Frame,
    /// Steps of the file, by component.
    pub tables: &'a [QuantTable],
    /// Role of each component.
    pub roles: &'a [Role],
    /// Samples of chroma planes that a result keeps: 1 for all, less where they are halved.
    pub chroma_share: f64,
}

impl Looked<'_> {
    /// The scale that gives about `target` bytes.
    pub fn scale_for(&self, target: u64) -> f32 {
        let own = Self {
            chroma_share: 1.0,
            ..*self
        }
        .estimate(SCALES.0);
        let target = target as f64 * (own / self.bytes as f64).powf(PERSISTENCE);
        let (mut low, mut high) = (SCALES.0.ln(), SCALES.1.ln());
        for _ in 0..STEPS {
            let middle = (low + high) / 2.0;
            if self.estimate(middle.exp()) > target {
                low = middle;
            } else {
                high = middle;
            }
        }
        low.midpoint(high).exp()
    }

    /// Roughly how many bytes tables of `scale` give.
    fn estimate(&self, scale: f32) -> f64 {
        let mut bits = 0.0;
        for (c, sample) in self.sample.components.iter().enumerate() {
            let component = &self.frame.components[c];
            let blocks = f64::from(component.blocks_across) * f64::from(component.blocks_down);
            let share = match self.roles[c] {
                Role::Detail => 1.0,
                Role::Chroma => self.chroma_share,
            };
            let own = &self.tables[c];
            let steps = table(self.roles[c], scale, own);
            let per_block = ac_bits(sample, self.roles[c], own, &steps) * ALIKE + dc_bits(scale);
            bits += blocks * share * per_block;
        }
        bits / 8.0
    }
}

fn dc_bits(scale: f32) -> f64 {
    (DC_BITS - f64::from(scale).log2()).max(1.0)
}

/// Estimated AC bits of a block.
fn ac_bits(sample: &ComponentSample, role: Role, own: &QuantTable, steps: &QuantTable) -> f64 {
    let blocks = f64::from(sample.blocks.max(1));
    let mut bits = 0.0;
    for k in 1..64 {
        let ratio = f32::from(own.0[k]) / f32::from(steps.0[k]);
        let least = floor(role, k, 1.0, Rounding::Deadzone);
        let (mut kept, mut magnitudes) = (0.0, 0.0);
        for bin in 1..BINS {
            let level = smallest_in(bin) as f32 * ratio;
            if level >= least {
                let count = f64::from(sample.magnitudes[k][bin]);
                kept += count;
                // Sign, and two bits for each doubling: one for the size category, one in the magnitude.
                magnitudes += count * (1.0 + 2.0 * f64::from(level.max(1.0).log2()));
            }
        }
        bits += entropy(kept / blocks) + magnitudes / blocks;
    }
    bits
}

/// Bits to say whether something of probability `p` is so.
fn entropy(p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        return 0.0;
    }
    -(p * p.log2() + (1.0 - p) * (1.0 - p).log2())
}
