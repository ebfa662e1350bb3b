//! The highest quality whose result fits: few encodes, each one real, so that what is answered was measured.
//!
//! The logarithm of a size is nearly a straight line over that of the quantiser's step, so one result tells where about to look
//! next and two tell where. Over libwebp's quality it is not: from 75 on a step of quality is three times as much. Knows no pixels:
//! whoever calls codes and counts.

use super::origin::{of_quantiser, quantiser};
use crate::Error;

/// Most encodes.
const MOST: usize = 10;
/// Share of the target that is close enough to stop.
const CLOSE: f64 = 0.995;
/// Where to aim within the target, so that noise of the model does not cross it.
const AIM: f64 = 0.998;
/// Difference of quantisers below which looking on gains nothing: each of four segments has its own, and they are whole numbers.
const FINEST: f32 = 0.15;
/// Least way to go while all results are on one side, times the tries so far: a size that hardly moves is left behind in time.
const LEAST: f32 = 1.0;
/// Loss of a size's logarithm per growth of the step's, before two results tell the real one.
const USUAL_SLOPE: f64 = 1.0;
/// Step of quantiser 0; each further one adds about one (RFC 6386 section 14.1).
const FIRST_STEP: f64 = 4.0;

/// What the search found.
#[derive(Debug, PartialEq)]
pub(super) enum Fit<T> {
    /// The best that fits.
    Found {
        /// Its quality.
        quality: f32,
        /// What was coded.
        coded: T,
    },
    /// Even the lowest quality is too large.
    Unreachable {
        /// Bytes at the lowest quality.
        smallest: u64,
    },
}

/// Searches from `start` between `lowest` and `highest`; `code` answers what it coded and how many bytes the file would have.
///
/// # Errors
/// Those of `code`.
pub(super) fn highest<T>(
    target: u64,
    (lowest, highest): (f32, f32),
    start: f32,
    mut code: impl FnMut(f32) -> Result<(T, u64), Error>,
) -> Result<Fit<T>, Error> {
    let mut fits: Option<(f32, u64, T)> = None;
    let mut over: Option<(f32, u64)> = None;
    let mut quality = start.min(highest).max(lowest);
    for tried in 1.. {
        let (coded, bytes) = code(quality)?;
        if bytes <= target {
            if fits.as_ref().is_none_or(|(best, ..)| *best < quality) {
                fits = Some((quality, bytes, coded));
            }
            if quality >= highest || bytes as f64 >= target as f64 * CLOSE {
                break;
            }
        } else {
            if quality <= lowest {
                return Ok(Fit::Unreachable { smallest: bytes });
            }
            if over.is_none_or(|(least, _)| quality < least) {
                over = Some((quality, bytes));
            }
        }
        let below = fits.as_ref().map(|(quality, bytes, _)| (*quality, *bytes));
        match next(target, below, over, (lowest, highest), tried) {
            Some(next) => quality = next,
            None => break,
        }
    }
    Ok(match fits {
        Some((quality, _, coded)) => Fit::Found { quality, coded },
        // Not reached: the loop ends without a fit only at the lowest quality, which returns above.
        None => Fit::Unreachable { smallest: target },
    })
}

/// The quality to try next, if it is worth it.
fn next(
    target: u64,
    below: Option<(f32, u64)>,
    over: Option<(f32, u64)>,
    (lowest, highest): (f32, f32),
    tried: usize,
) -> Option<f32> {
    let aim = (target as f64 * AIM).max(1.0).ln();
    let log = |bytes: u64| (bytes.max(1) as f64).ln();
    let from = |(quality, bytes): (f32, u64), slope: f64| {
        at_step(step(quality) - (aim - log(bytes)) / slope)
    };
    let least = LEAST * tried as f32;
    match (below, over) {
        (Some(low), Some(high)) => {
            let apart = quantiser(low.0) - quantiser(high.0);
            if tried >= MOST || apart <= FINEST {
                return None;
            }
            let slope = (log(high.1) - log(low.1)) / (step(low.0) - step(high.0));
            let edge = (high.0 - low.0) * 0.1;
            Some(from(low, slope.max(1e-6)).clamp(low.0 + edge, high.0 - edge))
        }
        (Some(_), None) if tried >= MOST => None,
        (Some(low), None) => {
            Some(from(low, USUAL_SLOPE).clamp((low.0 + least).min(highest), highest))
        }
        (None, Some(_)) if tried >= MOST => Some(lowest),
        (None, Some(high)) => {
            Some(from(high, USUAL_SLOPE).clamp(lowest, (high.0 - least).max(lowest)))
        }
        (None, None) => None,
    }
}

/// The logarithm of the quantiser's step at a quality.
fn step(quality: f32) -> f64 {
    (f64::from(quantiser(quality)) + FIRST_STEP).ln()
}

/// The quality with this logarithm of a step.
fn at_step(step: f64) -> f32 {
    of_quantiser((step.exp() - FIRST_STEP) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Sizes that grow with quality along a bent curve.
    fn size(quality: f32, scale: f64, bend: f64) -> u64 {
        let q = f64::from(quality);
        (scale * (0.02 * q + bend * (q / 100.0).powi(6)).exp()) as u64
    }

    #[test]
    fn the_lowest_quality_is_tried_before_giving_up() {
        let mut tried = Vec::new();
        let done = highest(10, (5.0, 100.0), 75.0, |quality| {
            tried.push(quality);
            Ok(((), 1000))
        });
        assert_eq!(done.expect("no error"), Fit::Unreachable { smallest: 1000 });
        assert_eq!(tried.last(), Some(&5.0));
    }

    #[test]
    fn all_that_fits_is_taken_at_the_top() {
        let done = highest(10, (5.0, 100.0), 75.0, |_| Ok(((), 1)));
        assert_eq!(
            done.expect("no error"),
            Fit::Found {
                quality: 100.0,
                coded: ()
            }
        );
    }

    #[test]
    fn nothing_above_the_highest_allowed_is_tried() {
        let mut tried = Vec::new();
        let done = highest(10, (5.0, 60.0), 75.0, |quality| {
            tried.push(quality);
            Ok(((), 1))
        });
        assert!(matches!(done, Ok(Fit::Found { quality: 60.0, .. })));
        assert_eq!(tried, [60.0]);
    }

    proptest! {
        #[test]
        fn what_is_found_fits_and_little_is_left(
            target in 1_000u64..5_000_000, scale in 500.0..500_000.0f64, bend in 0.0..3.0f64, start in 0.0..100.0f32,
        ) {
            let mut encodes = 0;
            let done = highest(target, (5.0, 100.0), start, |quality| {
                encodes += 1;
                let bytes = size(quality, scale, bend);
                Ok((bytes, bytes))
            }).expect("no error");
            prop_assert!(encodes <= MOST + 1);
            match done {
                Fit::Found { quality, coded } => {
                    prop_assert!(coded <= target && coded == size(quality, scale, bend));
                    prop_assert!(quality == 100.0 || size(quality + 0.4, scale, bend) > target || coded as f64 >= 0.99 * target as f64);
                }
                Fit::Unreachable { smallest } => prop_assert!(smallest > target && smallest == size(5.0, scale, bend)),
            }
        }
    }
}
