//! Pictures that come from samples: transformed in steps of 1, then brought to the goal by the engine's own search.

use super::chroma::Halving;
use super::dct::{forward, rounded};
use super::decode::Picture;
use super::encode::markers::Form;
use super::frame::Component;
use super::outcome::{Around, Reached, kept};
use super::plane::{MAX_WORDS, Plane, put_word};
use super::prepare::{self, Prepared};
use super::quant::quantiser::Rounding;
use super::quant::recipe::{Recipe, scale_of_quality};
use super::quant::tables::{NATURAL, SCALES};
use super::requantise::Shell;
use super::search::{Fit, Request, fit, once};
use crate::door::{Compressed, Keep};
use crate::shrink::Samples;
use crate::{Budget, Chroma, Error, Goal, Options, Progressive, Sink};

/// Effort from which on levels are weighed, and from which on results are progressive, as for pictures of the same size.
const WEIGHED_EFFORT: u8 = 5;
const PROGRESSIVE_EFFORT: u8 = 3;
/// Scale a search begins with.
const MIDDLE: f32 = 1.0;

/// Coefficients of a component in steps of 1; blocks that reach over the edge repeat its last samples.
///
/// # Errors
/// [`Error::OverBudget`].
pub(crate) fn transform(
    samples: &Samples,
    component: &Component,
    budget: &Budget,
) -> Result<Plane, Error> {
    let (across, down) = (
        component.blocks_across as usize,
        component.blocks_down as usize,
    );
    let mut plane = Plane::new(across, down, usize::from(component.v), budget)?;
    let (right, bottom) = (samples.width as usize - 1, samples.height as usize - 1);
    for block_row in 0..down {
        let mut writer = plane.writer(block_row % usize::from(component.v));
        for column in 0..across {
            let block: [f32; 64] = std::array::from_fn(|n| {
                let (x, y) = (
                    (8 * column + n % 8).min(right),
                    (8 * block_row + n / 8).min(bottom),
                );
                f32::from(samples.bytes[y * samples.width as usize + x]) - 128.0
            });
            let block = forward(&block).map(rounded);
            writer.block(block[0], budget, |out: &mut [u16; MAX_WORDS]| {
                let levels = (1..64)
                    .map(|k| (k, block[usize::from(NATURAL[k])]))
                    .filter(|(_, level)| *level != 0);
                levels.fold(0, |used, (k, level)| {
                    used + put_word(&mut out[used..], k, level)
                })
            })?;
        }
    }
    Ok(plane)
}

/// What is aimed at.
#[derive(Debug, Clone, Copy)]
struct Aim {
    /// Bytes, where a size is asked for.
    target: Option<u64>,
    /// Scale to begin with.
    start: f32,
    /// Scales allowed.
    scales: (f32, f32),
}

impl Aim {
    fn of(options: &Options, input: u64) -> Result<Self, Error> {
        match options.goal {
            Goal::Quality(quality) => {
                let scale = scale_of_quality(quality);
                Ok(Self {
                    target: None,
                    start: scale,
                    scales: (scale, scale),
                })
            }
            Goal::MaxSize(limit) => {
                let coarsest = scale_of_quality(options.min_quality).max(SCALES.0);
                let target = Some(limit.bytes(input));
                Ok(Self {
                    target,
                    start: MIDDLE,
                    scales: (SCALES.0, coarsest),
                })
            }
            Goal::Lossless => Err(Error::Unsupported(
                "resizing a JPEG without a quality or a size".to_owned(),
            )),
            Goal::Ssimulacra2(_) => Err(Error::Unsupported(
                "--target with new pixels for a JPEG (use -q or --max-size)".to_owned(),
            )),
        }
    }

    /// What becomes of the chroma.
    fn halving(self, picture: &Prepared, chroma: Chroma, input: u64) -> Option<Halving> {
        match self.target {
            Some(target) => prepare::halving(&picture.frame, &picture.roles, chroma, target, input),
            None => {
                prepare::halving_for_scale(&picture.frame, &picture.roles, chroma, self.start, None)
            }
        }
    }

    /// Writes the picture; the error of the inner result is the size of the smallest result where none fits.
    fn write(
        self,
        request: Request<'_>,
        budget: &Budget,
        sink: &mut dyn Sink,
    ) -> Result<Result<(u64, f32), u64>, Error> {
        if self.target.is_none() {
            return Ok(Ok((once(&request, budget, sink)?, self.start)));
        }
        match fit(&request, budget, sink)? {
            Fit::Written { bytes, scale } => Ok(Ok((bytes, scale))),
            Fit::Unreachable { smallest } => Ok(Err(smallest)),
            // The target is more than the finest tables fill: write those.
            Fit::TooCoarse => {
                let finest = Request {
                    start: SCALES.0,
                    scales: (SCALES.0, SCALES.0),
                    ..request
                };
                Ok(Ok((once(&finest, budget, sink)?, SCALES.0)))
            }
        }
    }
}

/// Brings a picture whose coefficients are in steps of 1 to the goal; `input` is the original's size in bytes.
///
/// # Errors
/// See [`Error`].
pub(crate) fn encode(
    mut picture: Picture,
    input: u64,
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    let aim = Aim::of(options, input)?;
    let around = Around::of(&mut picture);
    let picture = Prepared::whole(picture);
    let rounding = if options.effort >= WEIGHED_EFFORT {
        Rounding::Weighed
    } else {
        Rounding::Deadzone
    };
    let recipe = Recipe { rounding };
    let halving = aim.halving(&picture, options.chroma, input);
    let picture = picture.with_chroma(halving, aim.scales.0, recipe, budget)?;
    let segments = picture.segments();
    let request = Request {
        shell: Shell {
            frame: &picture.frame,
            segments: &segments,
        },
        views: &picture.views(),
        source: &picture.tables,
        roles: &picture.roles,
        form: form(options),
        recipe,
        target: aim.target.unwrap_or(u64::MAX),
        start: aim.start,
        scales: aim.scales,
    };
    let (bytes, scale) = match aim.write(request, budget, sink)? {
        Ok(reached) => reached,
        Err(smallest) => {
            let target = aim.target.unwrap_or(0);
            return Ok(kept(
                Keep::TargetUnreachable { target, smallest },
                around.notes,
            ));
        }
    };
    if !options.is_worth(input, bytes) {
        return Ok(kept(Keep::NotSmaller, around.notes));
    }
    let reached = Reached::lossy(bytes, scale, &picture.roles, &picture.tables);
    Ok(around.written(bytes, reached))
}

fn form(options: &Options) -> Form {
    match options.progressive {
        Progressive::On => Form::Progressive,
        Progressive::Auto if options.effort >= PROGRESSIVE_EFFORT => Form::Progressive,
        Progressive::Auto | Progressive::Off => Form::Sequential,
    }
}
