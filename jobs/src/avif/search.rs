//! The finest quantizer whose result fits: few encodes, each one real, so that what is answered was measured.
//!
//! libaom has 64 quantizers, and the logarithm of a size is nearly a straight line over them, so two results tell where to look
//! next. Knows no pixels: whoever calls codes and counts.

use super::libaom::COARSEST;
use crate::Error;

/// Where to begin: about quality 60.
const START: u8 = 25;
/// Fall of a size's logarithm per quantizer, before two results tell the real one; photographs have 0.05 to 0.08.
const USUAL_SLOPE: f64 = 0.065;
/// Encodes after which the line is no longer believed, and the room between is halved instead.
const TRUSTED: i32 = 4;

/// What the search found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fit<T> {
    /// The finest that fits.
    Found {
        /// 0 (finest) to 63.
        quantizer: u8,
        /// What was coded.
        coded: T,
    },
    /// Even the coarsest allowed is too large.
    Unreachable {
        /// Bytes there.
        smallest: u64,
    },
}

/// Searches between 0 and `coarsest`; `code` answers what it coded and how many bytes the file would have.
///
/// # Errors
/// Those of `code`.
pub(super) fn finest<T>(
    limit: u64,
    coarsest: u8,
    mut code: impl FnMut(u8) -> Result<(T, u64), Error>,
) -> Result<Fit<T>, Error> {
    let mut over: Option<(u8, u64)> = None;
    let mut fits: Option<(u8, u64, T)> = None;
    let mut quantizer = START.min(coarsest.min(COARSEST));
    for tried in 1.. {
        let (coded, bytes) = code(quantizer)?;
        if bytes <= limit {
            fits = Some((quantizer, bytes, coded));
        } else if quantizer >= coarsest {
            return Ok(Fit::Unreachable { smallest: bytes });
        } else {
            over = Some((quantizer, bytes));
        }
        let below = fits
            .as_ref()
            .map(|(quantizer, bytes, _)| (*quantizer, *bytes));
        match next(limit, below, over, (coarsest, tried)) {
            Some(next) => quantizer = next,
            None => break,
        }
    }
    Ok(match fits {
        Some((quantizer, _, coded)) => Fit::Found { quantizer, coded },
        // Not reached: without a fit there is always a coarser one to try, and the coarsest returns above.
        None => Fit::Unreachable { smallest: limit },
    })
}

/// The quantizer to try next; `None` where the finest that fits stands next to one that does not, or is 0.
fn next(
    limit: u64,
    fits: Option<(u8, u64)>,
    over: Option<(u8, u64)>,
    (coarsest, tried): (u8, i32),
) -> Option<u8> {
    let log = |bytes: u64| (bytes.max(1) as f64).ln();
    let step = |(quantizer, bytes): (u8, u64), slope: f64| {
        let away = (log(bytes) - log(limit)) / slope;
        // Coarser by so much that it fits.
        (f64::from(quantizer) + away).ceil().clamp(0.0, 255.0) as u8
    };
    // Strides grow as long as all results lie on one side.
    let usual = USUAL_SLOPE * 0.5_f64.powi(tried - 1);
    match (over, fits) {
        (Some(over), Some(fits)) => {
            let room = over.0 + 1..=fits.0.checked_sub(1)?;
            if room.is_empty() {
                return None;
            }
            let slope = (log(over.1) - log(fits.1)) / f64::from(fits.0 - over.0);
            let wished = if tried > TRUSTED {
                room.start().midpoint(*room.end())
            } else {
                step(over, slope.max(1e-6))
            };
            Some(wished.clamp(*room.start(), *room.end()))
        }
        (Some(over), None) => Some(step(over, usual).clamp(over.0 + 1, coarsest)),
        (None, Some(fits)) => {
            let finer = fits.0.checked_sub(1)?;
            Some(step(fits, usual).min(finer))
        }
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Sizes that fall with the quantizer, with a step of noise that never rises.
    fn size(quantizer: u8, scale: f64, slope: f64) -> u64 {
        (scale * (-slope * f64::from(quantizer)).exp()) as u64 + 40
    }

    proptest! {
        #[test]
        fn the_finest_that_fits_is_found_in_few_encodes(
            limit in 100_u64..3_000_000, scale in 1_000.0..20_000_000.0_f64, slope in 0.02..0.12_f64, coarsest in 0_u8..=63,
        ) {
            let mut encodes = 0;
            let found = finest(limit, coarsest, |quantizer| {
                encodes += 1;
                Ok((quantizer, size(quantizer, scale, slope)))
            }).expect("no error");
            prop_assert!(encodes <= 10, "{encodes}");
            match found {
                Fit::Found { quantizer, coded } => {
                    prop_assert_eq!(quantizer, coded);
                    prop_assert!(quantizer <= coarsest && size(quantizer, scale, slope) <= limit);
                    prop_assert!(quantizer == 0 || size(quantizer - 1, scale, slope) > limit);
                }
                Fit::Unreachable { smallest } => {
                    prop_assert!(smallest > limit && smallest == size(coarsest, scale, slope));
                }
            }
        }
    }
}
