//! How alike a result looks to its original: SSIMULACRA2 over the decoded pixels of both, within the memory allowed.
//!
//! Both files are decoded by a decoder that is not the engine's own, so that the engine is not its own judge. Where memory
//! is short the score is taken in strips; that was up to 0.1 higher than the score of the whole (12 and 18 megapixels),
//! so a little more is then asked for. It knows nothing of how results are made.

mod glance;
mod goal;
mod hunt;

pub use glance::Glance;

use super::frame::Frame;
use crate::{Budget, Error, Source};
use fast_ssim2::{PixelDescriptor, PixelSlice, Ssimulacra2Config, compute_ssimulacra2_with_config};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// Bytes of a decoded pixel.
const RGB: u64 = 3;
/// Bytes to a pixel that scoring a whole picture takes beside the pixels (101 were measured).
const WHOLE: u64 = 110;
/// The same for scoring in strips, beside the strip (8 were measured).
const STRIPPED: u64 = 10;
/// Bytes to a pixel of a strip (86 were measured).
const STRIP_PIXEL: u64 = 95;
/// Rows of a strip, and the rows around it that are looked at with it.
const STRIP_ROWS: usize = 128;
const HALO_ROWS: u64 = 192;
/// Bytes to a pixel that decoding takes for a while: coefficients of three components of full size.
const DECODING: u64 = 6;
/// What a score in strips may be too high by.
const STRIPS_ERR: f64 = 0.15;
/// Shortest side that can be scored.
const SHORTEST: u16 = 8;
/// Longest side of a JPEG.
const LONGEST: usize = 65_535;

/// How the score is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Whole,
    Strips,
}

impl Way {
    /// Bytes that scoring a picture of this frame takes beside the pixels of both.
    fn bytes(self, frame: &Frame) -> u64 {
        let (width, height) = (u64::from(frame.width), u64::from(frame.height));
        match self {
            Self::Whole => width * height * WHOLE,
            Self::Strips => {
                width * height * STRIPPED + width * (STRIP_ROWS as u64 + HALO_ROWS) * STRIP_PIXEL
            }
        }
    }
}

/// An original that results are compared with.
#[derive(Debug)]
pub struct Judge {
    original: Pixels,
    way: Way,
    /// Bytes claimed for its life.
    claimed: u64,
}

impl Judge {
    /// Takes the JPEG in `source`, whose header is `frame`, as the original; `None` if it cannot be scored: one of less than
    /// 8x8 pixels, of two or four components, or one that the other decoder does not read.
    ///
    /// # Errors
    /// [`Error::OverBudget`] where not even strips fit, [`Error::Read`].
    pub fn open(
        source: &dyn Source,
        frame: &Frame,
        budget: &Budget,
    ) -> Result<Option<Self>, Error> {
        let too_small = frame.width < SHORTEST || frame.height < SHORTEST;
        if too_small || !matches!(frame.components.len(), 1 | 3) {
            return Ok(None);
        }
        let pixels = u64::from(frame.width) * u64::from(frame.height);
        let need = |way: Way| {
            // The original's pixels, the result's, and what decoding and then scoring take; the original's file goes first.
            2 * RGB * pixels + (DECODING * pixels + source.len()).max(way.bytes(frame))
        };
        // Half of what is left stays for coefficients and results.
        let way = if need(Way::Whole) <= budget.left() / 2 {
            Way::Whole
        } else {
            Way::Strips
        };
        let claimed = need(way);
        budget.claim(claimed)?;
        let original = read_all(source).map(|file| Pixels::decode(&file));
        let Ok(Ok(original)) = original else {
            budget.release(claimed);
            return original.map(|_| None);
        };
        Ok(Some(Self {
            original,
            way,
            claimed,
        }))
    }

    /// What the scores it gives may be too high by.
    pub fn doubt(&self) -> f64 {
        match self.way {
            Way::Whole => 0.0,
            Way::Strips => STRIPS_ERR,
        }
    }

    /// The score of the JPEG in `result`; 100 is the same.
    ///
    /// # Errors
    /// [`Error::Verify`] where it does not decode to the original's size.
    pub fn score(&self, result: &[u8]) -> Result<f64, Error> {
        let result = Pixels::decode(result).map_err(Error::Verify)?;
        let config = match self.way {
            Way::Whole => Ssimulacra2Config::default(),
            Way::Strips => Ssimulacra2Config::strips(STRIP_ROWS),
        };
        let (original, result) = (self.original.view()?, result.view()?);
        compute_ssimulacra2_with_config(&original, &result, &config).map_err(failed)
    }

    /// Gives the memory back.
    pub fn free(self, budget: &Budget) {
        budget.release(self.claimed);
    }
}

fn failed(why: impl ToString) -> Error {
    Error::Verify(format!("scoring: {}", why.to_string()))
}

fn read_all(source: &dyn Source) -> Result<Vec<u8>, Error> {
    let mut file = vec![0; source.len() as usize];
    let mut at = 0;
    while at < file.len() {
        let count = source
            .read_at(at as u64, &mut file[at..])
            .map_err(Error::Read)?;
        if count == 0 {
            return Err(Error::Read(std::io::ErrorKind::UnexpectedEof.into()));
        }
        at += count;
    }
    Ok(file)
}

/// 8-bit sRGB triples; a colour profile is ignored on both sides alike.
#[derive(Debug)]
struct Pixels {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

impl Pixels {
    fn decode(file: &[u8]) -> Result<Self, String> {
        let options = DecoderOptions::default()
            .jpeg_set_out_colorspace(ColorSpace::RGB)
            .set_max_width(LONGEST)
            .set_max_height(LONGEST);
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(file), options);
        let rgb = decoder.decode().map_err(|error| error.to_string())?;
        let (width, height) = decoder.dimensions().ok_or("no dimensions")?;
        Ok(Self { width, height, rgb })
    }

    fn view(&self) -> Result<PixelSlice<'_>, Error> {
        let row = self.width * RGB as usize;
        let (width, height) = (self.width as u32, self.height as u32);
        PixelSlice::new(&self.rgb, width, height, row, PixelDescriptor::RGB8_SRGB).map_err(failed)
    }
}
