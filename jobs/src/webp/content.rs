//! What a WebP file shows, still or moving, and the ways to code it anew.

use super::animation::Animation;
use super::image::{self, Image, Lossy, Pieces, Plain};
use super::riff::{self, Around, File};
use super::search::{Fit, highest};
use super::shrunk;
use crate::door::Keep;
use crate::raster::Layout;
use crate::{Budget, Error, Goal, Options, Resize, shrink};

/// A picture that fills a file.
#[derive(Debug)]
pub(super) enum Content<'a> {
    /// As it is stored.
    Still(Image<'a>),
    /// With pixels of a new size; the second value says whether the original was stored without loss.
    Resized(Plain, bool),
    /// Frames.
    Moving(Animation<'a>),
}

/// How to code a picture anew.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Way {
    /// Without loss.
    Exact,
    /// At a quality.
    Quality(u8),
    /// At the highest quality within so many bytes of the whole file, without loss where that suffices.
    Fit(u64),
}

impl Way {
    /// What is asked of this picture; a picture stored without loss stays so at any quality.
    pub(super) fn of(content: &Content<'_>, limit: Option<u64>, options: &Options) -> Self {
        match (limit, options.goal) {
            (Some(limit), _) => Self::Fit(limit),
            (None, Goal::Quality(quality)) if !content.is_exact() => Self::Quality(quality),
            (None, Goal::Quality(_) | Goal::MaxSize(_) | Goal::Ssimulacra2(_) | Goal::Lossless) => {
                Self::Exact
            }
        }
    }
}

/// A picture coded anew.
#[derive(Debug)]
pub(super) struct Coded {
    pub(super) pieces: Pieces,
    /// libwebp's quality, where it is lossy.
    pub(super) quality: Option<u8>,
}

/// What became of it, or why the original is better.
pub(super) type Outcome = Result<Coded, Keep>;

/// What is asked once the pixels may be gone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts {
    pub(super) canvas: (u32, u32),
    pub(super) alpha: bool,
    pub(super) resized: bool,
}

/// Highest quality of libwebp's scale.
pub(super) const BEST: f32 = 100.0;
/// Where the search for a size begins.
const START: f32 = 70.0;
/// A file may be this many times the limit for the exact way to be tried at all.
const HOPE: u64 = 3;

impl<'a> Content<'a> {
    /// Finds what the file shows.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub(super) fn find(file: &File<'a>) -> Result<Self, Error> {
        if file.animated {
            return Animation::find(file).map(Self::Moving);
        }
        let image = Image::find(&file.pieces)?;
        if file.canvas.is_some_and(|canvas| canvas != image.size) {
            return Err(super::corrupt("its headers give two sizes"));
        }
        Ok(Self::Still(image))
    }

    pub(super) fn facts(&self) -> Facts {
        let (canvas, alpha, resized) = match self {
            Self::Still(image) => (image.size, image.alpha, false),
            Self::Resized(plain, _) => (plain.size, plain.layout == Layout::Rgba, true),
            Self::Moving(animation) => (animation.canvas, animation.alpha(), animation.resized),
        };
        Facts {
            canvas,
            alpha,
            resized,
        }
    }

    /// Decodes all of it, for nothing but what may be wrong.
    ///
    /// # Errors
    /// See [`Error`].
    pub(super) fn decode(&self, budget: &Budget) -> Result<(), Error> {
        let images: Vec<&Image<'_>> = match self {
            Self::Still(image) => vec![image],
            Self::Resized(..) => Vec::new(),
            Self::Moving(animation) => animation.images().collect(),
        };
        for image in images {
            budget.free(image.plain(budget)?.samples);
        }
        Ok(())
    }

    /// Whether all of it is stored without loss.
    fn is_exact(&self) -> bool {
        match self {
            Self::Still(image) => image.exact,
            Self::Resized(_, exact) => *exact,
            Self::Moving(animation) => animation.is_exact(),
        }
    }

    /// The size it must shrink to, if any.
    pub(super) fn smaller(&self, orientation: Option<u16>, bounds: Resize) -> Option<(u32, u32)> {
        let (width, height) = self.facts().canvas;
        let turned = orientation.is_some_and(|turn| turn >= 5);
        shrink::size(width, height, turned, bounds)
    }

    /// A file of an animation's frames at a new size; nothing for a still picture.
    ///
    /// # Errors
    /// See [`Error`].
    pub(super) fn film(
        &self,
        to: (u32, u32),
        linear: bool,
        budget: &Budget,
    ) -> Result<Vec<u8>, Error> {
        match self {
            Self::Still(_) | Self::Resized(..) => Ok(Vec::new()),
            Self::Moving(animation) => shrunk::file(animation, to, linear, budget),
        }
    }

    /// The picture at a new size, `linear` by its light; an animation as it stands in `film`.
    ///
    /// # Errors
    /// See [`Error`].
    pub(super) fn resized(
        self,
        to: (u32, u32),
        film: &'a [u8],
        linear: bool,
        budget: &Budget,
    ) -> Result<Self, Error> {
        match self {
            Self::Still(image) => {
                let plain = image.plain(budget)?;
                let Plain {
                    samples,
                    layout,
                    size,
                } = plain;
                let samples = shrink::resample_rgb(samples, layout, size, to, linear, budget)?;
                let plain = Plain {
                    samples,
                    layout,
                    size: to,
                };
                Ok(Self::Resized(plain, image.exact))
            }
            Self::Resized(..) => Ok(self),
            Self::Moving(animation) => {
                let small = Animation::find(&riff::parse(film)?)?;
                Ok(Self::Moving(small.in_place_of(&animation)))
            }
        }
    }

    /// Codes it anew; `around` is the rest of the file, `before` the original's bytes.
    ///
    /// # Errors
    /// See [`Error`].
    pub(super) fn code(
        self,
        way: Way,
        (around, before): (&Around, u64),
        options: &Options,
        budget: &Budget,
    ) -> Result<Outcome, Error> {
        let quality = match way {
            Way::Exact => return self.exactly(options.effort, budget),
            Way::Quality(quality) => quality,
            Way::Fit(limit) => return self.fit(limit, (around, before), options, budget),
        };
        let quality = f32::from(quality).min(self.own_quality());
        let pieces = self.lossily(options.effort, budget, |code| code(quality))?;
        Ok(Ok(Coded {
            pieces,
            quality: Some(quality.round() as u8),
        }))
    }

    fn exactly(&self, effort: u8, budget: &Budget) -> Result<Outcome, Error> {
        let level = level(effort);
        let pieces = match self {
            Self::Still(image) if image.exact => {
                let plain = image.plain(budget)?;
                let pieces = image::exactly(&plain, level, budget)?;
                budget.free(plain.samples);
                pieces
            }
            Self::Resized(plain, true) => image::exactly(plain, level, budget)?,
            Self::Resized(_, false) => return Err(without_quality()),
            Self::Moving(animation) if animation.stands_for_lossy() => {
                return Err(without_quality());
            }
            Self::Moving(animation) if animation.has_exact() => animation.exactly(level, budget)?,
            // What was lost before cannot be coded smaller without losing more.
            Self::Still(_) | Self::Moving(_) => return Ok(Err(Keep::NotSmaller)),
        };
        Ok(Ok(Coded {
            pieces,
            quality: None,
        }))
    }

    /// The quality above which bytes would be spent on what the source no longer has. The frames of an animation have one each.
    fn own_quality(&self) -> f32 {
        match self {
            Self::Still(image) => image.own_quality(),
            Self::Resized(..) | Self::Moving(_) => BEST,
        }
    }

    /// Runs `work` with a coder that takes a quality.
    fn lossily<T>(
        self,
        effort: u8,
        budget: &Budget,
        work: impl FnOnce(&mut dyn FnMut(f32) -> Result<Pieces, Error>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let method = method(effort);
        match self {
            Self::Still(image) => Lossy::of(&image, budget)?.code(method, budget, work),
            Self::Resized(plain, _) => Lossy::of_plain(plain, budget)?.code(method, budget, work),
            Self::Moving(animation) => {
                work(&mut |quality| animation.lossily(quality, method, budget))
            }
        }
    }

    fn fit(
        self,
        limit: u64,
        (around, before): (&Around, u64),
        options: &Options,
        budget: &Budget,
    ) -> Result<Outcome, Error> {
        if self.is_exact() && before <= limit.saturating_mul(HOPE) {
            let exact = self.exactly(options.effort, budget)?;
            if let Ok(coded) = exact
                && around.with(&coded.pieces) <= limit
            {
                return Ok(Ok(coded));
            }
        }
        let range = (options.min_quality, self.own_quality());
        self.lossily(options.effort, budget, |code| {
            fitted(limit, around, range, code)
        })
    }
}

fn without_quality() -> Error {
    super::unsupported("resizing a lossy WebP without a quality or a size")
}

/// The highest quality, from the lowest to the best allowed, whose file is within `limit`.
///
/// # Errors
/// Those of `code`.
pub(super) fn fitted(
    limit: u64,
    around: &Around,
    (lowest, best): (u8, f32),
    code: &mut dyn FnMut(f32) -> Result<Pieces, Error>,
) -> Result<Outcome, Error> {
    let best = best.max(lowest.into());
    let found = highest(limit, (lowest.into(), best), START, |quality| {
        let pieces = code(quality)?;
        let bytes = around.with(&pieces);
        Ok((pieces, bytes))
    })?;
    Ok(match found {
        Fit::Found { quality, coded } => Ok(Coded {
            pieces: coded,
            quality: Some(quality as u8),
        }),
        Fit::Unreachable { smallest } => Err(Keep::TargetUnreachable {
            target: limit,
            smallest,
        }),
    })
}

/// The method of [`libwebp`](super::libwebp) for an effort.
pub(super) fn method(effort: u8) -> u8 {
    [0, 1, 2, 3, 4, 4, 5, 6, 6, 7][usize::from(effort.min(9))]
}

/// libwebp's level of lossless coding for an effort.
pub(super) fn level(effort: u8) -> u8 {
    [0, 1, 2, 4, 6, 6, 7, 8, 9, 9][usize::from(effort.min(9))]
}

/// Whether any of a coded picture's pixels may be transparent.
///
/// # Errors
/// [`Error::Corrupt`] would be libwebp's mistake.
pub(super) fn has_alpha(pieces: &Pieces) -> Result<bool, Error> {
    if pieces.iter().any(|piece| &piece.name == b"ANMF") {
        return Animation::any_alpha(pieces);
    }
    Ok(Image::find(pieces)?.alpha)
}
