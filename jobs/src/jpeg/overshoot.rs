//! Lets white be whiter than white, and black blacker, beside edges: decoders cut off what lies beyond, so such samples are
//! free, and chosen well they take the ringing out of text and drawings. (The idea is mozjpeg's "deringing".)
//!
//! Values are found by projections in turn: what coarse steps would show of the block, then back to what the picture allows.

use super::dct::{back, transform};
use super::encode::Role;
use super::prepare;
use super::quant::recipe::Recipe;
use super::quant::tables::{NATURAL, wanted};

/// White and black around 0.
const WHITE: f32 = 127.0;
const BLACK: f32 = -128.0;
/// How far beyond samples may go: further ones are hidden in eight bits by coarse steps only.
const MOST: f32 = 32.0;
/// Projections; more change little.
const ROUNDS: usize = 4;

type Block = [[f32; 8]; 8];

/// Adjusts blocks of one component for steps of about one scale.
#[derive(Debug)]
pub(crate) struct Overshoot {
    /// Steps by row and column.
    steps: Block,
    /// Magnitudes below which a coefficient is not coded.
    floors: Block,
}

impl Overshoot {
    /// For a component of luma or gray at `scale`.
    pub(super) fn new(scale: f32, recipe: Recipe) -> Self {
        let floors = prepare::floors(Role::Detail, scale, recipe);
        let (mut steps, mut lowest) = (Block::default(), Block::default());
        for (k, &natural) in NATURAL.iter().enumerate() {
            let (row, column) = (usize::from(natural / 8), usize::from(natural % 8));
            steps[row][column] = wanted(Role::Detail, k, scale).clamp(1.0, 255.0);
            lowest[row][column] = floors[k];
        }
        lowest[0][0] = 0.0;
        Self {
            steps,
            floors: lowest,
        }
    }

    /// Samples of a block around 0, with white and black moved where others stand beside them.
    #[inline(always)]
    pub(super) fn adjusted(&self, samples: Block) -> Block {
        let (least, most) = range(&samples);
        if least == most || (most < WHITE && least > BLACK) {
            return samples;
        }
        self.projected(samples)
    }

    #[inline(never)]
    fn projected(&self, samples: Block) -> Block {
        let mut moved = samples;
        for _ in 0..ROUNDS {
            let shown = back(&self.coded(transform(&moved)));
            for y in 0..8 {
                for x in 0..8 {
                    moved[y][x] = match samples[y][x] {
                        WHITE => shown[y][x].clamp(WHITE, WHITE + MOST),
                        BLACK => shown[y][x].clamp(BLACK - MOST, BLACK),
                        between => between,
                    };
                }
            }
        }
        moved
    }

    /// What is left of coefficients.
    fn coded(&self, mut block: Block) -> Block {
        let limits = self
            .steps
            .iter()
            .flatten()
            .zip(self.floors.iter().flatten());
        for (value, (step, floor)) in block.iter_mut().flatten().zip(limits) {
            *value = if value.abs() < *floor {
                0.0
            } else {
                (*value / step).round() * step
            };
        }
        block
    }
}

/// The least and the most of a block: by columns first, which are eight at a time.
#[inline(always)]
fn range(block: &Block) -> (f32, f32) {
    let lower = |a: f32, b: f32| if b < a { b } else { a };
    let higher = |a: f32, b: f32| if b > a { b } else { a };
    let (mut least, mut most) = (block[0], block[0]);
    for row in &block[1..] {
        least = std::array::from_fn(|n| lower(least[n], row[n]));
        most = std::array::from_fn(|n| higher(most[n], row[n]));
    }
    let least = least.into_iter().fold(f32::MAX, lower);
    (least, most.into_iter().fold(f32::MIN, higher))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jpeg::quant::quantiser::Rounding;
    use crate::jpeg::quant::recipe::Weights;

    fn overshoot() -> Overshoot {
        let recipe = Recipe {
            rounding: Rounding::Weighed,
            weights: Weights::USUAL,
        };
        Overshoot::new(1.0, recipe)
    }

    /// Squared error of what is shown of `block`, cut off at white and black, against `samples`.
    fn error(block: &Block, samples: &Block) -> f32 {
        let shown = back(&overshoot().coded(transform(block)));
        let pairs = shown.iter().flatten().zip(samples.iter().flatten());
        let squares = pairs.map(|(shown, sample)| (shown.clamp(BLACK, WHITE) - sample).powi(2));
        squares.sum()
    }

    #[test]
    fn strokes_on_white_and_on_black_ring_less() {
        for (paper, ink) in [(WHITE, -100.0), (BLACK, 90.0), (WHITE, BLACK)] {
            for stroke in 1..6 {
                let column = |x: usize| {
                    if (stroke..stroke + 2).contains(&x) {
                        ink
                    } else {
                        paper
                    }
                };
                let samples: Block = std::array::from_fn(|_| std::array::from_fn(column));
                let moved = overshoot().adjusted(samples);
                let (before, after) = (error(&samples, &samples), error(&moved, &samples));
                assert!(
                    after <= before,
                    "{paper} {ink} {stroke}: {after} after {before}"
                );
                let all = moved.iter().flatten().zip(samples.iter().flatten());
                for (moved, sample) in all {
                    assert!((moved - sample).abs() <= MOST && moved.clamp(BLACK, WHITE) == *sample);
                }
            }
        }
    }

    #[test]
    fn what_has_no_edge_at_the_limits_stays() {
        let flat = [[WHITE; 8]; 8];
        let ramp: Block = std::array::from_fn(|y| std::array::from_fn(|x| (x * 8 + y) as f32));
        for block in [flat, ramp] {
            assert_eq!(overshoot().adjusted(block), block);
        }
    }
}
