//! A glance at a result: the score of a mosaic of small pieces of the picture, a tenth of the work of its score. It ranks
//! results of one picture and, set against one real score, tells others within about a point; it is never a promise.

use super::{DECODING, Pixels, RGB, WHOLE, failed, read_all};
use crate::jpeg::frame::Frame;
use crate::{Budget, Error, Source};
use fast_ssim2::compute_ssimulacra2;

/// Samples of a piece across and down, and pieces of the mosaic: coarse scales of the score still see shapes in them.
const PIECE: usize = 256;
const PIECES: usize = 4;
/// Side of the mosaic.
const SIDE: usize = PIECE * PIECES;
/// A picture of fewer mosaics is scored as fast as glanced at.
const ENOUGH: u64 = 3;

/// Pieces of an original.
#[derive(Debug)]
pub struct Glance {
    original: Pixels,
    claimed: u64,
}

impl Glance {
    /// Takes the JPEG in `source`, whose header is `frame`, as the original; `None` where there is nothing to save or no
    /// memory for it: a glance is a help, not a need.
    ///
    /// # Errors
    /// [`Error::Read`].
    pub fn open(
        source: &dyn Source,
        frame: &Frame,
        budget: &Budget,
    ) -> Result<Option<Self>, Error> {
        let (width, height) = (usize::from(frame.width), usize::from(frame.height));
        let pixels = (width * height) as u64;
        let mosaic = (SIDE * SIDE) as u64;
        let worth = width >= SIDE && height >= SIDE && pixels >= ENOUGH * mosaic;
        // Beside the original's pieces: first a file decoded, then only its pieces, scored.
        let claimed = ((RGB + DECODING) * pixels + source.len()).max(mosaic * (RGB + WHOLE))
            + mosaic * 2 * RGB;
        if !worth || !matches!(frame.components.len(), 1 | 3) || claimed > budget.left() / 2 {
            return Ok(None);
        }
        budget.claim(claimed)?;
        let original = Pixels::decode(&read_all(source)?);
        let Some(original) = original.ok().and_then(|all| mosaic_of(&all)) else {
            budget.release(claimed);
            return Ok(None);
        };
        Ok(Some(Self { original, claimed }))
    }

    /// How alike the JPEG in `result` looks; 100 is the same.
    ///
    /// # Errors
    /// [`Error::Verify`] where it does not decode.
    pub fn score(&self, result: &[u8]) -> Result<f64, Error> {
        let pieces = mosaic_of(&Pixels::decode(result).map_err(Error::Verify)?)
            .ok_or_else(|| failed("a result of another size"))?;
        compute_ssimulacra2(&self.original.view()?, &pieces.view()?).map_err(failed)
    }

    /// Gives the memory back.
    pub fn free(self, budget: &Budget) {
        budget.release(self.claimed);
    }
}

/// Pieces evenly spread over the picture, side by side; `None` if it is smaller than they are.
fn mosaic_of(all: &Pixels) -> Option<Pixels> {
    let pixel = RGB as usize;
    let place = |n: usize, length: usize| {
        let cell = length / PIECES;
        Some(n * cell + cell.checked_sub(PIECE)? / 2)
    };
    let mut rgb = Vec::with_capacity(SIDE * SIDE * pixel);
    for row in 0..SIDE {
        let top = place(row / PIECE, all.height)? + row % PIECE;
        for piece in 0..PIECES {
            let first = (top * all.width + place(piece, all.width)?) * pixel;
            rgb.extend(all.rgb.get(first..first + PIECE * pixel)?);
        }
    }
    Some(Pixels {
        width: SIDE,
        height: SIDE,
        rgb,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_from_everywhere_in_the_picture() {
        let (width, height) = (2100, 1500);
        let quarter = |x: usize, length: usize| (x * 4 / length) as u8;
        let pixel = |n: usize| [quarter(n % width, width), quarter(n / width, height), 7];
        let rgb = (0..width * height).flat_map(pixel).collect();
        let mosaic = mosaic_of(&Pixels { width, height, rgb }).expect("large enough");
        for (n, pixel) in mosaic.rgb.as_chunks::<3>().0.iter().enumerate() {
            assert_eq!(
                *pixel,
                [quarter(n % SIDE, SIDE), quarter(n / SIDE, SIDE), 7]
            );
        }
        assert!(
            mosaic_of(&Pixels {
                width: 1023,
                height: 1024,
                rgb: vec![0; 1023 * 1024 * 3]
            })
            .is_none()
        );
    }
}
