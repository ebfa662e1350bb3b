//! Makes pictures smaller in pixels: never larger, by bounds that mean the picture as a person sees it.
//!
//! A JPEG is resized component by component in its own colours and sampling ([`jpeg`]): blocks are transformed back at the
//! smallest size that suffices, resampled, transformed again in steps of 1 and handed to the engine's own search. A PNG
//! ([`png`]) is resampled in its own depth, alpha multiplied in, and handed to the PNG module. [`linear`] is the way
//! through light instead of code, where that is asked for.

mod fitting;
mod jpeg;
mod linear;
mod png;
mod resample;
mod transpose;

pub(crate) use fitting::{Unfitted, fit, note};
pub(crate) use jpeg::compress as compress_jpeg;
pub(crate) use png::compress as compress_png;
pub(crate) use resample::{Nature, Samples, resample, resample_plane, resample_rgb};

use crate::door::{Compressed, Keep, Kept};
use crate::{Error, Format, Options, Resize};

/// Compresses a file of new pixels by `work`, which is given what is asked of it: there is no original to prefer, so whether
/// the result was worth it is asked of the real one, of `before` bytes.
///
/// # Errors
/// Those of `work`.
pub(crate) fn anew(
    format: Format,
    before: u64,
    options: &Options,
    work: impl FnOnce(&Options) -> Result<Compressed, Error>,
) -> Result<Compressed, Error> {
    let asked = Options {
        force: true,
        goal: options.goal.of_input(before),
        ..options.without_resize()
    };
    Ok(match work(&asked)? {
        Compressed::Written(written) if !options.is_worth(before, written.bytes) => {
            Compressed::Kept(Kept {
                format,
                why: Keep::NotSmaller,
                notes: written.notes,
            })
        }
        Compressed::Written(written) => Compressed::Written(written),
        Compressed::Kept(kept) => Compressed::Kept(kept),
    })
}

/// The size a picture of `width` by `height` stored pixels must shrink to; `None` where it is small enough.
///
/// `turned` says that a person sees it lying on its side, so that width bounds the stored height.
pub(crate) fn size(width: u32, height: u32, turned: bool, bounds: Resize) -> Option<(u32, u32)> {
    let (wide, tall) = if turned {
        (height, width)
    } else {
        (width, height)
    };
    let limits = [
        (bounds.max_width, wide),
        (bounds.max_height, tall),
        (bounds.long_edge, wide.max(tall)),
        (bounds.short_edge, wide.min(tall)),
    ];
    let ratio = |(limit, edge): (Option<u32>, u32)| limit.map(|limit| (limit.max(1), edge));
    // The tightest bound, compared as fractions so that it is met exactly.
    let (limit, edge) = limits
        .into_iter()
        .filter_map(ratio)
        .min_by(|(a, b), (c, d)| {
            (u64::from(*a) * u64::from(*d)).cmp(&(u64::from(*c) * u64::from(*b)))
        })?;
    if limit >= edge {
        return None;
    }
    let scaled = |side: u32| {
        let (side, limit, edge) = (u64::from(side), u64::from(limit), u64::from(edge));
        ((side * limit + edge / 2) / edge).max(1) as u32
    };
    Some((scaled(width), scaled(height)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Resize = Resize {
        max_width: None,
        max_height: None,
        long_edge: None,
        short_edge: None,
    };

    #[test]
    fn the_tightest_bound_decides_and_nothing_grows() {
        let both = Resize {
            max_width: Some(1000),
            max_height: Some(300),
            ..NONE
        };
        assert_eq!(size(4000, 3000, false, NONE), None);
        assert_eq!(size(4000, 3000, false, both), Some((400, 300)));
        assert_eq!(size(800, 200, false, both), None);
        assert_eq!(
            size(
                4000,
                3000,
                false,
                Resize {
                    long_edge: Some(1920),
                    ..NONE
                }
            ),
            Some((1920, 1440))
        );
        assert_eq!(
            size(
                4000,
                3000,
                false,
                Resize {
                    short_edge: Some(600),
                    ..NONE
                }
            ),
            Some((800, 600))
        );
        assert_eq!(
            size(
                10_000,
                3,
                false,
                Resize {
                    max_width: Some(100),
                    ..NONE
                }
            ),
            Some((100, 1))
        );
    }

    #[test]
    fn a_picture_on_its_side_is_measured_as_seen() {
        let narrow = Resize {
            max_width: Some(300),
            ..NONE
        };
        assert_eq!(size(400, 300, true, narrow), None);
        assert_eq!(size(400, 600, true, narrow), Some((200, 300)));
    }
}
