//! Pictures that come from samples: transformed in steps of 1, then brought to the goal by the engine's own search.

use super::chroma::Halving;
use super::dct::{self, rounded};
use super::decode::Picture;
use super::encode::Role;
use super::encode::markers::Form;
use super::frame::{Component, Frame};
use super::outcome::{Around, Reached, kept};
use super::overshoot::Overshoot;
use super::plane::{MAX_WORDS, Plane, put_word};
use super::prepare::{self, Prepared};
use super::quant::quantiser::Rounding;
use super::quant::recipe::{Recipe, Weights, scale_of_quality};
use super::quant::tables::{NATURAL, SCALES};
use super::requantise::Shell;
use super::search::{Fit, Request, fit, once};
use crate::door::{Compressed, Keep};
use crate::shrink::Samples;
use crate::{Budget, Chroma, Error, Goal, Options, Progressive, Sink};

/// Effort from which on levels are weighed, from which on results are progressive, and from which on scans are chosen and
/// targets filled to the last bytes, as for pictures of the same size.
const WEIGHED_EFFORT: u8 = 5;
const PROGRESSIVE_EFFORT: u8 = 3;
const THOROUGH_EFFORT: u8 = 6;
/// Scale a search begins with.
const MIDDLE: f32 = 1.0;

/// Coefficients of a component in steps of 1, less those smaller than `floors` (zigzag order); blocks that reach over the edge
/// repeat its last samples. With an `overshoot`, white and black go beyond themselves beside edges.
///
/// # Errors
/// [`Error::OverBudget`].
pub(crate) fn transform(
    samples: &Samples,
    component: &Component,
    floors: &[f32; 64],
    overshoot: Option<&Overshoot>,
    budget: &Budget,
) -> Result<Plane, Error> {
    let (across, down) = (
        component.blocks_across as usize,
        component.blocks_down as usize,
    );
    let mut plane = Plane::new(across, down, usize::from(component.v), budget)?;
    let floors = Floors::new(floors);
    let mut strip = Strip::new(across, budget)?;
    for block_row in 0..down {
        strip.fill(samples, block_row);
        let mut writer = plane.writer(block_row % usize::from(component.v));
        for column in 0..across {
            let samples = strip.block(column);
            let samples = overshoot.map_or(samples, |overshoot| overshoot.adjusted(samples));
            let block = dct::transform(&samples);
            writer.block(rounded(block[0][0]), budget, |room| {
                floors.keep(&block, room)
            })?;
        }
    }
    budget.free(strip.bytes);
    Ok(plane)
}

/// Eight rows of samples, as long as whole blocks.
#[derive(Debug)]
struct Strip {
    bytes: Vec<u8>,
}

impl Strip {
    fn new(blocks: usize, budget: &Budget) -> Result<Self, Error> {
        let mut bytes = budget.vec(64 * blocks)?;
        bytes.resize(64 * blocks, 0);
        Ok(Self { bytes })
    }

    /// Takes in a row of blocks.
    fn fill(&mut self, samples: &Samples, block_row: usize) {
        let (width, height) = (samples.width as usize, samples.height as usize);
        let length = self.bytes.len() / 8;
        for (y, row) in self.bytes.chunks_exact_mut(length).enumerate() {
            let from = (8 * block_row + y).min(height - 1) * width;
            let from = &samples.bytes[from..from + width];
            let (inside, beyond) = row.split_at_mut(width.min(length));
            inside.copy_from_slice(&from[..inside.len()]);
            beyond.fill(from[width - 1]);
        }
    }

    /// A block, around 0.
    #[inline(always)]
    fn block(&self, column: usize) -> [[f32; 8]; 8] {
        let length = self.bytes.len() / 8;
        std::array::from_fn(|y| {
            let row = self.bytes.get(y * length + 8 * column..);
            let row = row.and_then(<[u8]>::first_chunk::<8>).unwrap_or(&[128; 8]);
            row.map(|sample| f32::from(sample) - 128.0)
        })
    }
}

/// Smallest magnitudes worth keeping, by row and column; all above the half that rounds to something.
#[derive(Debug)]
struct Floors([[f32; 8]; 8]);

impl Floors {
    fn new(floors: &[f32; 64]) -> Self {
        let mut rows = [[0.5; 8]; 8];
        for (&floor, natural) in floors.iter().zip(NATURAL) {
            rows[usize::from(natural) / 8][usize::from(natural) % 8] = floor.max(0.5);
        }
        // The DC value is not among the words.
        rows[0][0] = f32::INFINITY;
        Self(rows)
    }

    /// Writes what is large enough as words, in zigzag order; returns how many.
    #[inline(always)]
    fn keep(&self, block: &[[f32; 8]; 8], room: &mut [u16; MAX_WORDS]) -> usize {
        let mut kept = 0_u64;
        for (row, (values, floors)) in block.iter().zip(&self.0).enumerate() {
            // Mostly nothing is large enough, which eight at a time tell without a branch.
            let large = |x: usize| u32::from(values[x].abs() >= floors[x]) << x;
            let mut large: u32 = (0..8).map(large).sum();
            while large != 0 {
                let x = large.trailing_zeros() as usize & 7;
                large &= large - 1;
                kept |= 1_u64 << ZIGZAG[row][x];
            }
        }
        let mut used = 0;
        while kept != 0 {
            let k = kept.trailing_zeros() as usize & 63;
            kept &= kept - 1;
            let natural = usize::from(NATURAL[k] & 63);
            let level = rounded(block[natural / 8][natural % 8]);
            used += put_word(&mut room[used..], k, level);
        }
        used
    }
}

/// Zigzag indices by row and column.
const ZIGZAG: [[u8; 8]; 8] = {
    let mut zigzag = [[0; 8]; 8];
    let mut k = 0;
    while k < 64 {
        zigzag[(NATURAL[k] / 8) as usize][(NATURAL[k] % 8) as usize] = k as u8;
        k += 1;
    }
    zigzag
};

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
    fn halving(self, frame: &Frame, roles: &[Role], chroma: Chroma, input: u64) -> Option<Halving> {
        match self.target {
            Some(target) => prepare::halving(frame, roles, chroma, target, input),
            None => prepare::halving_for_scale(frame, roles, chroma, self.start, None),
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

/// How a picture that comes from samples will be coded: known before it is transformed, so that chroma is resampled once and
/// coefficients that cannot survive are never stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outlook {
    aim: Aim,
    recipe: Recipe,
}

impl Outlook {
    /// For an original of `input` bytes.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for goals that samples alone cannot be brought to.
    pub(crate) fn of(options: &Options, input: u64) -> Result<Self, Error> {
        let rounding = if options.effort >= WEIGHED_EFFORT {
            Rounding::Weighed
        } else {
            Rounding::Deadzone
        };
        Ok(Self {
            aim: Aim::of(options, input)?,
            recipe: Recipe {
                rounding,
                weights: Weights::USUAL,
            },
        })
    }

    /// The frame with chroma as it will be stored.
    pub(crate) fn frame(&self, frame: Frame, roles: &[Role], chroma: Chroma, input: u64) -> Frame {
        let halving = self.aim.halving(&frame, roles, chroma, input);
        halving.map_or_else(|| frame.clone(), |halving| halving.frame(&frame))
    }

    /// For samples as they were drawn; where sizes are asked for, the scale is not known and a middling one stands for it.
    pub(crate) fn overshoot(&self, role: Role) -> Option<Overshoot> {
        (role == Role::Detail).then(|| Overshoot::new(self.aim.start, self.recipe))
    }

    /// Smallest magnitudes worth keeping of a component, in zigzag order.
    pub(crate) fn floors(&self, role: Role) -> [f32; 64] {
        prepare::floors(role, self.aim.scales.0, self.recipe)
    }
}

/// Brings a picture whose coefficients are in steps of 1 to the goal; `input` is the original's size in bytes.
///
/// # Errors
/// See [`Error`].
pub(crate) fn encode(
    mut picture: Picture,
    outlook: Outlook,
    input: u64,
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    let Outlook { aim, recipe } = outlook;
    let around = Around::of(&mut picture);
    let picture = Prepared::whole(picture);
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
        thorough: options.effort >= THOROUGH_EFFORT,
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
