//! Fills a target to the last bytes: of a requantised picture that is a little too big, as few coefficients are left out as
//! will do. Each try is written, because only that tells what byte stuffing adds.

use super::encode::view::Cut;
use super::requantise::{Requantised, Shell};
use crate::{Error, Sink};

/// Tries at most.
const TRIES: usize = 10;
/// A result this close below the target is full.
const FULL: f64 = 0.9995;

/// A result and the cut that made it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fitting {
    /// What was left out.
    pub(super) cut: Cut,
    /// Bytes written.
    pub(super) bytes: u64,
}

/// Replaces what `sink` holds, the result of `fits`, by the biggest one found that is not above `target`; its bytes.
///
/// # Errors
/// [`Error::Write`].
pub(super) fn fill(
    new: &Requantised,
    shell: Shell<'_>,
    target: u64,
    fits: Fitting,
    sink: &mut dyn Sink,
) -> Result<u64, Error> {
    let full = |bytes: u64| bytes as f64 >= target as f64 * FULL;
    let (mut least, mut best, mut held) = (Cut::NOTHING, fits, fits.cut);
    for _ in 0..TRIES {
        if full(best.bytes) || best.cut <= least {
            break;
        }
        let cut = Cut(least.0 + (best.cut.0 - least.0) / 2);
        sink.restart().map_err(Error::Write)?;
        let bytes = new.write_recounted(shell, cut, sink)?;
        held = cut;
        if bytes > target {
            least = Cut(cut.0 + 1);
        } else if bytes >= best.bytes {
            best = Fitting { cut, bytes };
        } else {
            break;
        }
    }
    if held == best.cut {
        return Ok(best.bytes);
    }
    sink.restart().map_err(Error::Write)?;
    if best.cut == fits.cut {
        return new.write(shell, best.cut, sink);
    }
    new.write_recounted(shell, best.cut, sink)
}
