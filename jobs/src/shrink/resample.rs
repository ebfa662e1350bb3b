//! Lanczos resampling through `fast_image_resize`, of one or more channels, in eight or sixteen bits, as coded or as light.

use super::linear;
use super::transpose::transposed;
use crate::raster::Layout;
use crate::{Budget, Error};
use fast_image_resize::images::Image;
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};

/// Samples of a picture or of one of its components.
#[derive(Debug)]
pub(crate) struct Samples {
    /// Rows without gaps; sixteen-bit samples in the machine's byte order.
    pub(crate) bytes: Vec<u8>,
    /// Across.
    pub(crate) width: u32,
    /// Down.
    pub(crate) height: u32,
    /// Channels and depth.
    pub(crate) kind: PixelType,
}

/// What the samples of a picture are, and what of them is averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Nature {
    /// The last of two or four channels is alpha; it is multiplied in.
    pub(crate) alpha: bool,
    /// Light is averaged, not its code.
    pub(crate) linear: bool,
}

/// Resamples the upper left `used` (across and down, in samples) of a picture to a new size.
///
/// # Errors
/// [`Error::OverBudget`]; anything the library reports would be our mistake and is [`Error::Verify`].
pub(crate) fn resample(
    from: Samples,
    used: (f64, f64),
    to: (u32, u32),
    Nature { alpha, linear }: Nature,
    budget: &Budget,
) -> Result<Samples, Error> {
    if !linear {
        return convolved(from, used, to, alpha, budget);
    }
    let kind = from.kind;
    let small = convolved(linear::light(from, alpha, budget)?, used, to, alpha, budget)?;
    linear::code(small, kind, alpha, budget)
}

/// The same on the samples as they are.
fn convolved(
    from: Samples,
    used: (f64, f64),
    to: (u32, u32),
    alpha: bool,
    budget: &Budget,
) -> Result<Samples, Error> {
    let Samples {
        bytes,
        width,
        height,
        kind,
    } = from;
    let length = to.0 as usize * to.1 as usize * kind.size();
    let room: Vec<u8> = {
        let mut room = budget.vec(length)?;
        room.resize(length, 0);
        room
    };
    let wrong =
        |error: &dyn std::fmt::Display| Error::Verify(format!("resampling failed: {error}"));
    let source = Image::from_vec_u8(width, height, bytes, kind).map_err(|error| wrong(&error))?;
    let mut target = Image::from_vec_u8(to.0, to.1, room, kind).map_err(|error| wrong(&error))?;
    let options = ResizeOptions::new()
        .crop(
            0.0,
            0.0,
            used.0.min(width.into()),
            used.1.min(height.into()),
        )
        .use_alpha(alpha)
        .resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3));
    let mut resizer = Resizer::new();
    // It holds the picture once more, resampled one way, and with alpha multiplied in.
    let one_way = if to.0 == width {
        0
    } else {
        u64::from(to.0) * u64::from(height)
    };
    let alpha = if alpha {
        source.buffer().len() as u64
    } else {
        0
    };
    let working = one_way * kind.size() as u64 + alpha;
    budget.claim(working)?;
    let done = resizer.resize(&source, &mut target, &options);
    budget.release(working);
    budget.free(source.into_vec());
    done.map_err(|error| wrong(&error))?;
    Ok(Samples {
        bytes: target.into_vec(),
        width: to.0,
        height: to.1,
        kind,
    })
}

/// Resamples one channel of eight bits: down, and then across by way of its transpose, since rows of samples are added up many
/// times faster than samples within a row.
///
/// # Errors
/// Those of [`resample`].
pub(crate) fn resample_plane(
    from: Samples,
    (across, down): (f64, f64),
    to: (u32, u32),
    budget: &Budget,
) -> Result<Samples, Error> {
    let low = resample_down(from, down, to.1, budget)?;
    if across == f64::from(to.0) {
        return Ok(narrowed(low, to.0, budget));
    }
    let lying = transpose(low, budget)?;
    let small = resample_down(lying, across, to.0, budget)?;
    transpose(small, budget)
}

/// The left `width` columns.
fn narrowed(mut from: Samples, width: u32, budget: &Budget) -> Samples {
    let (before, after) = (from.width as usize, width as usize);
    if after < before {
        for row in 1..from.height as usize {
            from.bytes
                .copy_within(row * before..row * before + after, row * after);
        }
        from.width = width;
    }
    let length = from.width as usize * from.height as usize;
    shortened(from, length, budget)
}

/// Gives back what lies behind `length`.
fn shortened(mut from: Samples, length: usize, budget: &Budget) -> Samples {
    let before = from.bytes.capacity();
    from.bytes.truncate(length);
    from.bytes.shrink_to_fit();
    budget.release((before - from.bytes.capacity()) as u64);
    from
}

/// Resamples the upper `used` rows to `rows`.
fn resample_down(from: Samples, used: f64, rows: u32, budget: &Budget) -> Result<Samples, Error> {
    let width = from.width;
    if used == f64::from(rows) && rows <= from.height {
        let length = width as usize * rows as usize;
        let from = Samples {
            height: rows,
            ..from
        };
        return Ok(shortened(from, length, budget));
    }
    convolved(from, (width.into(), used), (width, rows), false, budget)
}

/// The same with rows as columns.
fn transpose(from: Samples, budget: &Budget) -> Result<Samples, Error> {
    let size = (from.width as usize, from.height as usize);
    let bytes = transposed(&from.bytes, size, budget)?;
    budget.free(from.bytes);
    Ok(Samples {
        bytes,
        width: from.height,
        height: from.width,
        kind: from.kind,
    })
}

/// Resamples rows of RGB or RGBA in eight bits; alpha is multiplied in on the way.
///
/// # Errors
/// [`Error::Unsupported`] for other layouts; those of [`resample`].
pub(crate) fn resample_rgb(
    bytes: Vec<u8>,
    layout: Layout,
    (width, height): (u32, u32),
    to: (u32, u32),
    linear: bool,
    budget: &Budget,
) -> Result<Vec<u8>, Error> {
    let kind = match layout {
        Layout::Rgb => PixelType::U8x3,
        Layout::Rgba => PixelType::U8x4,
        Layout::Gray | Layout::GrayAlpha | Layout::Cmyk => {
            return Err(Error::Unsupported("resampling these colours".to_owned()));
        }
    };
    let from = Samples {
        bytes,
        width,
        height,
        kind,
    };
    let used = (width.into(), height.into());
    let nature = Nature {
        alpha: true,
        linear,
    };
    resample(from, used, to, nature, budget).map(|small| small.bytes)
}
