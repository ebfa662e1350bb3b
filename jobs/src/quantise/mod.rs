//! Chooses up to 256 colours for a picture and paints it with them: what `-q` and `--max-size` mean for PNG.
//!
//! Colours live in Oklab with alpha (Ottosson 2020), multiplied by alpha so that what is nearly invisible counts little.
//! [`histogram`] gathers weighted points, [`split`] cuts them into boxes of least variance (after Wu 1991), [`refine`]
//! moves the centres (k-means), [`dither`] spreads the error where it would be seen and not where texture hides it.
//! Nothing here knows of files or formats.

mod dither;
mod histogram;
mod nearest;
mod point;
mod refine;
mod split;

use crate::{Budget, Error};

/// Red, green, blue and alpha, straight.
pub(crate) type Rgba = [u8; 4];

/// A picture in straight RGBA, row by row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Picture<'a> {
    /// Pixels, `width` times height of them.
    pub(crate) pixels: &'a [Rgba],
    /// Pixels of a row.
    pub(crate) width: usize,
}

/// A palette and an index for every pixel.
#[derive(Debug)]
pub(crate) struct Painted {
    /// 1 to 256 colours.
    pub(crate) palette: Vec<Rgba>,
    /// One index for every pixel.
    pub(crate) indices: Vec<u8>,
}

/// What was learnt about a picture's colours; any number of palettes can be made from it.
#[derive(Debug)]
pub(crate) struct Colours {
    points: Vec<histogram::Weighted>,
    exact: bool,
}

/// Bytes that [`Colours::gather`], [`Colours::palette`] and [`paint`] need beside the picture.
pub(crate) fn estimate(width: u64, height: u64) -> u64 {
    width.saturating_mul(height) + width * 64 + histogram::BYTES + nearest::BYTES
}

impl Colours {
    /// Gathers the colours of a picture.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    pub(crate) fn gather(picture: Picture<'_>, budget: &Budget) -> Result<Self, Error> {
        let (points, exact) = histogram::gather(picture, budget)?;
        Ok(Self { points, exact })
    }

    /// Whether every colour of the picture is a point of its own, and how many there are.
    pub(crate) fn exact_count(&self) -> Option<usize> {
        self.exact.then_some(self.points.len())
    }

    /// The best palette of at most `count` colours (1 to 256), and its mean squared error.
    pub(crate) fn palette(&self, count: usize) -> (Vec<Rgba>, f32) {
        let start = split::split(&self.points, count);
        refine::refine(&self.points, start)
    }
}

/// Paints a picture with a palette; `strength` is how much of the error is passed on, 0 to 1.
///
/// # Errors
/// [`Error::OverBudget`].
pub(crate) fn paint(
    picture: Picture<'_>,
    palette: Vec<Rgba>,
    strength: f32,
    budget: &Budget,
) -> Result<Painted, Error> {
    let indices = dither::paint(picture, &palette, strength, budget)?;
    Ok(Painted { palette, indices })
}
