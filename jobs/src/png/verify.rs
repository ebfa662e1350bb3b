//! Decodes source and result side by side and compares every pixel of every frame. Nothing leaves this module tree
//! without having passed here.

use super::frames::{Frames, Kind};
use super::scan::{Layout, scan};
use crate::door::Written;
use crate::{Budget, Error, Source};
use ::png::{BitDepth, ColorType, Transformations};

/// Compares the pixels of the PNG in `source` with those of `result`.
///
/// # Errors
/// [`Error::Verify`] names the first difference.
pub(super) fn same_pixels(
    source: &dyn Source,
    layout: &Layout,
    result: &[u8],
    budget: &Budget,
) -> Result<(), Error> {
    let other = scan(&result, budget)?;
    if layout.has(b"iCCP") && layout.header.colour.is_gray() != other.header.colour.is_gray() {
        return Err(Error::Verify(
            "the colour profile would no longer fit".to_owned(),
        ));
    }
    let mut before = Frames::open(source, layout, Transformations::EXPAND, budget)?;
    let mut after = Frames::open(&result, &other, Transformations::EXPAND, budget)?;
    let mut number = 0;
    loop {
        match (before.next(budget)?, after.next(budget)?) {
            (false, false) => return Ok(()),
            (true, true) => compare(&mut before, &mut after, number, budget)?,
            (_, _) => return Err(Error::Verify("the number of frames changed".to_owned())),
        }
        number += 1;
    }
}

/// Decodes every row of every frame of a result that was stored, which must have the size that was told.
///
/// # Errors
/// [`Error::Verify`], and what decoding reports.
pub(crate) fn check(result: &dyn Source, written: &Written, budget: &Budget) -> Result<(), Error> {
    let layout = scan(result, budget)?;
    let size = (layout.header.width, layout.header.height);
    if size != (written.width, written.height) {
        return Err(Error::Verify(format!(
            "it decodes to {}x{}",
            size.0, size.1
        )));
    }
    let mut frames = Frames::open(result, &layout, Transformations::IDENTITY, budget)?;
    while frames.next(budget)? {
        while frames.row(budget)?.is_some() {}
    }
    Ok(())
}

fn compare(
    before: &mut Frames<'_>,
    after: &mut Frames<'_>,
    frame: usize,
    budget: &Budget,
) -> Result<(), Error> {
    if before.control() != after.control() {
        return Err(Error::Verify(format!(
            "time or place of frame {frame} changed"
        )));
    }
    let (kind, other_kind) = (before.kind(), after.kind());
    for row in 0.. {
        match (before.row(budget)?, after.row(budget)?) {
            (None, None) => return Ok(()),
            (Some(a), Some(b)) if same_row(a, kind, b, other_kind) => {}
            (_, _) => return Err(Error::Verify(format!("row {row} of frame {frame} differs"))),
        }
    }
    Ok(())
}

fn same_row(a: &[u8], a_kind: Kind, b: &[u8], b_kind: Kind) -> bool {
    if a_kind == b_kind {
        return a == b;
    }
    let mut other = rgba(b, b_kind);
    rgba(a, a_kind).all(|pixel| other.next() == Some(pixel)) && other.next().is_none()
}

/// Pixels of a decoded row as 16-bit red, green, blue and alpha.
fn rgba(row: &[u8], (colour, depth): Kind) -> impl Iterator<Item = [u16; 4]> {
    let wide = depth == BitDepth::Sixteen;
    let size = colour.samples() * if wide { 2 } else { 1 };
    row.chunks_exact(size).map(move |pixel| {
        let sample = |n: usize| {
            if wide {
                u16::from_be_bytes([pixel[2 * n], pixel[2 * n + 1]])
            } else {
                u16::from(pixel[n]) * 257
            }
        };
        match colour {
            ColorType::Grayscale | ColorType::Indexed => {
                [sample(0), sample(0), sample(0), u16::MAX]
            }
            ColorType::GrayscaleAlpha => [sample(0), sample(0), sample(0), sample(1)],
            ColorType::Rgb => [sample(0), sample(1), sample(2), u16::MAX],
            ColorType::Rgba => [sample(0), sample(1), sample(2), sample(3)],
        }
    })
}
