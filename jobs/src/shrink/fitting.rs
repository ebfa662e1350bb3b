//! Fewer pixels where a size cannot be reached at the lowest quality: as many as still fit, found in few trials. Pure but
//! for the trials themselves, which somebody else does.

use crate::Error;
use crate::door::{Compressed, Keep, Kept, Note, Written};

/// How bytes at the lowest quality grow with a long edge, as an exponent, where nothing better is known.
const GROWTH: f64 = 1.6;
/// Exponents that are believed when two trials suggest them.
const BELIEVED: (f64, f64) = (0.8, 2.4);
/// How bytes fall with the scale of the tables, as an exponent.
const SLOPE: f64 = 0.85;
/// Most trials before the best so far is taken.
const TRIALS: usize = 5;
/// A larger edge is not looked for where it would be larger by less than this factor.
const CLOSE: f64 = 1.02;
/// Aimed at, as a share of the size asked for, so that a first trial usually fits.
const AIM: f64 = 0.97;

/// A picture whose size in bytes could not be reached.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unfitted {
    /// Width and height in pixels.
    pub(crate) size: (u32, u32),
    /// Its long edge in pixels, after whatever bounds were asked for.
    pub(crate) edge: u32,
    /// Long edge it must not fall below.
    pub(crate) floor: u32,
    /// Bytes asked for.
    pub(crate) target: u64,
    /// Bytes at the lowest quality.
    pub(crate) smallest: u64,
    /// The scale of the lowest quality's tables.
    pub(crate) coarsest: f64,
}

/// What is known about edges so far.
#[derive(Debug)]
struct Known {
    /// The smallest that did not fit, and its bytes at the lowest quality.
    above: (f64, f64),
    /// The largest that fits.
    below: Option<u32>,
    growth: f64,
}

/// Shrinks until it fits: `trial` compresses at a long edge and is called again for the best edge if that was not the
/// last. `scale_of` gives the scale of a quality's tables.
///
/// # Errors
/// Those of `trial`.
pub(crate) fn fit(
    picture: Unfitted,
    scale_of: impl Fn(u8) -> f64,
    trial: &mut dyn FnMut(u32) -> Result<Compressed, Error>,
) -> Result<Compressed, Error> {
    let mut known = Known {
        above: (f64::from(picture.edge), picture.smallest as f64),
        below: None,
        growth: GROWTH,
    };
    let aim = picture.target as f64 * AIM;
    let mut edge = known.edge_for(aim, picture.floor);
    let mut last = trial(edge)?;
    for _ in 1..TRIALS {
        let next = match &last {
            Compressed::Kept(Kept {
                why: Keep::TargetUnreachable { smallest, .. },
                ..
            }) => {
                known.too_large(edge, *smallest as f64);
                if edge <= picture.floor {
                    break;
                }
                known.edge_for(aim, picture.floor)
            }
            Compressed::Written(written) => {
                known.below = Some(edge.max(known.below.unwrap_or(0)));
                let bytes = at_lowest(written, picture.coarsest, &scale_of);
                known.edge_beyond(edge, bytes, aim)
            }
            Compressed::Kept(_) => break,
        };
        let (low, high) = (known.below.unwrap_or(0), known.above.0 as u32);
        if next <= low || next >= high {
            break;
        }
        edge = next;
        last = trial(edge)?;
    }
    match (known.below, &last) {
        (Some(best), Compressed::Kept(_)) => trial(best),
        (Some(_) | None, Compressed::Written(_) | Compressed::Kept(_)) => Ok(last),
    }
}

/// Bytes that a result would have had at the lowest quality, about.
fn at_lowest(written: &Written, coarsest: f64, scale_of: &impl Fn(u8) -> f64) -> f64 {
    let scale = written.quality.map_or(coarsest, scale_of);
    written.bytes as f64 * (scale / coarsest).min(1.0).powf(SLOPE)
}

impl Known {
    /// Takes in that an edge was too large.
    fn too_large(&mut self, edge: u32, bytes: f64) {
        let edge = f64::from(edge);
        let growth = (self.above.1 / bytes).ln() / (self.above.0 / edge).ln();
        if growth.is_finite() {
            self.growth = growth.clamp(BELIEVED.0, BELIEVED.1);
        }
        self.above = (edge, bytes);
    }

    /// The edge at which `bytes` are to be expected.
    fn edge_for(&self, bytes: f64, floor: u32) -> u32 {
        let edge = self.above.0 * (bytes / self.above.1).powf(1.0 / self.growth);
        let below = self.below.map_or(0.0, f64::from);
        // Between what fits and what does not, and never stuck at either.
        let edge = if edge <= below {
            (below + self.above.0) / 2.0
        } else {
            edge
        };
        (edge.min(self.above.0 - 1.0) as u32).max(floor)
    }

    /// A larger edge than one that fits, whose result would have so many `bytes` at the lowest quality; the same edge where
    /// that is as good as it gets.
    fn edge_beyond(&self, edge: u32, bytes: f64, aim: f64) -> u32 {
        let own = f64::from(edge);
        let wished = own * (aim / bytes).powf(1.0 / self.growth);
        let most = self.above.0 / own.max(1.0);
        if wished < own * CLOSE || most < CLOSE {
            return edge;
        }
        wished.min((own + 3.0 * self.above.0) / 4.0) as u32
    }
}

/// What the user should know about a picture that was shrunk to fit.
pub(crate) fn note((width, height): (u32, u32), min_quality: u8, written: &Written) -> Note {
    Note::Dropped(format!(
        "pixels: {width}x{height} became {}x{}, since the size asked for needs a quality below {min_quality}",
        written.width, written.height
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use proptest::prelude::*;

    /// A picture of `a * edge^growth` bytes at the lowest quality.
    fn model(target: u64, a: f64, growth: f64, edge: u32) -> Compressed {
        let smallest = (a * f64::from(edge).powf(growth)) as u64;
        if smallest > target {
            return Compressed::Kept(Kept {
                format: Format::Jpeg,
                why: Keep::TargetUnreachable { target, smallest },
                notes: Vec::new(),
            });
        }
        // Bytes rise to the target with finer tables: quality stands for scale itself here.
        let scale = (target as f64 / smallest as f64).powf(-1.0 / SLOPE) * 100.0;
        Compressed::Written(Written {
            format: Format::Jpeg,
            bytes: target,
            width: edge,
            height: edge / 2,
            quality: Some(scale.clamp(1.0, 100.0) as u8),
            notes: Vec::new(),
        })
    }

    proptest! {
        #[test]
        fn the_largest_edge_that_fits_is_found_within_a_few_hundredths(
            growth in 1.0f64..2.2, share in 0.02f64..0.99, edge in 200u32..9000
        ) {
            let (a, target) = (0.3, (0.3 * f64::from(edge).powf(growth) * share) as u64);
            prop_assume!(target > 10);
            let smallest = (a * f64::from(edge).powf(growth)) as u64;
            prop_assume!(smallest > target);
            let picture = Unfitted { size: (edge, 1), edge, floor: 1, target, smallest, coarsest: 100.0 };
            let mut trials = 0;
            let done = fit(picture, f64::from, &mut |edge| {
                trials += 1;
                Ok(model(target, a, growth, edge))
            });
            let Ok(Compressed::Written(written)) = done else {
                panic!("{done:?}");
            };
            let best = (target as f64 / a).powf(1.0 / growth);
            prop_assert!(trials <= TRIALS + 1);
            // The model counts whole bytes.
            let most = ((target + 1) as f64 / a).powf(1.0 / growth);
            prop_assert!(f64::from(written.width) <= most);
            prop_assert!(f64::from(written.width) >= best * 0.9 - 2.0, "{} of {best}", written.width);
        }
    }

    #[test]
    fn never_below_the_floor() {
        let picture = Unfitted {
            size: (4000, 3000),
            edge: 4000,
            floor: 1024,
            target: 1000,
            smallest: 400_000,
            coarsest: 100.0,
        };
        let mut tried = Vec::new();
        let done = fit(picture, f64::from, &mut |edge| {
            tried.push(edge);
            Ok(model(1000, 0.3, 1.7, edge))
        });
        assert_eq!(tried, [1024]);
        assert!(matches!(done, Ok(Compressed::Kept(_))));
    }
}
