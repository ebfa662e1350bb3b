//! Animations: every frame is coded anew by oxipng, none is dropped, nothing about time or place changes.

use super::colour::Allowed;
use super::corrupt;
use super::lossless::{failure, settings};
use super::scan::Layout;
use super::splice::bare;
use crate::{Budget, Error, Options, Source};
use oxipng::PngError;

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
    let bare = bare(source, layout, budget)?;
    let fixed = Allowed {
        reductions: false,
        gray: false,
    };
    let mut settings = settings(options.effort, fixed);
    settings.max_decompressed_size =
        usize::try_from(layout.header.raw_bytes() + u64::from(layout.header.height) * 2).ok();
    let png = oxipng::optimize_from_memory(&bare, &settings).map_err(meaning)?;
    budget.free(bare);
    budget.release(working);
    Ok(png)
}

/// Unlike a still picture, the frames were not decoded before: what oxipng cannot read is damage of the file.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the library may add errors; those not named here are no damage of the file"
)]
fn meaning(error: PngError) -> Error {
    match error {
        PngError::CRCMismatch(_) => corrupt("the checksum of a chunk with pixels is wrong"),
        PngError::TruncatedData => corrupt("its pixels are cut off"),
        PngError::InflatedDataTooLong(_)
        | PngError::DeflatedDataTooLong(_)
        | PngError::IncorrectDataLength(..) => {
            corrupt("a frame has more or fewer pixels than it should")
        }
        PngError::InvalidData
        | PngError::NotPNG
        | PngError::ChunkMissing(_)
        | PngError::APNGOutOfOrder
        | PngError::InvalidDepthForType(..) => corrupt("its frames are damaged or out of order"),
        error => failure(error),
    }
}
