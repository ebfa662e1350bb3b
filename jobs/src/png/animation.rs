//! Animations: every frame is coded anew by oxipng, none is dropped, nothing about time or place changes.

use super::chunk::{FRAMING, SIGNATURE};
use super::colour::Allowed;
use super::lossless::{failure, settings};
use super::scan::{Layout, read_exact};
use crate::{Budget, Error, Options, Source};

/// An end chunk.
const END: [u8; 12] = *b"\0\0\0\0IEND\xaeB`\x82";
/// Copies of one frame that oxipng holds at its worst moment.
const COPIES: u64 = 5;
/// Tables of the deflate encoder and small things.
const FIXED: u64 = 12 << 20;

/// An animated PNG of the same frames, without the other chunks.
///
/// # Errors
/// See [`Error`].
pub(super) fn recode(
    source: &dyn Source,
    layout: &Layout,
    options: &Options,
    budget: &Budget,
) -> Result<Vec<u8>, Error> {
    let bytes: u64 = layout.pixels.iter().map(|span| span.end - span.start).sum();
    let working = layout.header.raw_bytes().saturating_mul(COPIES) + 2 * bytes + FIXED;
    budget.claim(working)?;
    let bare = bare(source, layout, bytes, budget)?;
    let fixed = Allowed {
        reductions: false,
        gray: false,
    };
    let mut settings = settings(options.effort, fixed);
    settings.max_decompressed_size =
        usize::try_from(layout.header.raw_bytes() + u64::from(layout.header.height) * 2).ok();
    let png = oxipng::optimize_from_memory(&bare, &settings).map_err(failure)?;
    budget.free(bare);
    budget.release(working);
    Ok(png)
}

/// A file of the chunks that make pixels and no other.
fn bare(
    source: &dyn Source,
    layout: &Layout,
    bytes: u64,
    budget: &Budget,
) -> Result<Vec<u8>, Error> {
    let length = usize::try_from(bytes + FRAMING).unwrap_or(usize::MAX);
    let mut bare: Vec<u8> = budget.vec(length.saturating_add(SIGNATURE.len()))?;
    bare.extend_from_slice(SIGNATURE);
    for span in &layout.pixels {
        let start = bare.len();
        bare.resize(start + (span.end - span.start) as usize, 0);
        read_exact(source, span.start, &mut bare[start..])?;
    }
    bare.extend_from_slice(&END);
    Ok(bare)
}
