//! A JPEG made smaller in pixels: every component on its own, in the file's own colours, so that gray, YCbCr, RGB and CMYK are
//! all the same to it, no profile is touched and no sampling is changed.

use super::forward::forward;
use super::inverse::Inverse;
use super::resample::{Samples, resample};
use crate::door::{Compressed, Keep, Note};
use crate::jpeg::chroma::Halving;
use crate::jpeg::decode::{Decoder, Picture, Survivors};
use crate::jpeg::encode::markers::Form;
use crate::jpeg::frame::{Coding, Component, Frame, MAX_COMPONENTS, QuantTable, Segment};
use crate::jpeg::outcome::{Around, Reached, kept};
use crate::jpeg::plane::{MAX_WORDS, Plane, Row, put_word};
use crate::jpeg::prepare::{self, Prepared};
use crate::jpeg::quant::quantiser::Rounding;
use crate::jpeg::quant::recipe::{Recipe, scale_of_quality};
use crate::jpeg::quant::tables::{NATURAL, SCALES, Steps};
use crate::jpeg::requantise::Shell;
use crate::jpeg::search::{Fit, Request, fit, once};
use crate::{Budget, Chroma, Error, Goal, Options, Progressive, Sink, Source};
use fast_image_resize::PixelType;

/// Effort from which on the trellis is used, and from which on results are progressive, as for pictures of the same size.
const TRELLIS_EFFORT: u8 = 5;
const PROGRESSIVE_EFFORT: u8 = 3;
/// Scale a search begins with.
const MIDDLE: f32 = 1.0;

/// Shrinks the JPEG in `source`, which holds one picture, to `size` and compresses it into `sink`.
///
/// # Errors
/// See [`Error`].
pub(crate) fn compress(
    source: &dyn Source,
    size: (u32, u32),
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    let decoder = Decoder::open(source, budget)?;
    let before = decoder.header().frame.clone();
    let sampling: Vec<_> = before
        .components
        .iter()
        .map(|c| (c.id, c.h, c.v, c.table))
        .collect();
    // Both fit: a frame's sides do, and this only shrinks them.
    let frame = Frame::new(Coding::Baseline, size.0 as u16, size.1 as u16, &sampling);
    let opened = open(decoder, size, budget)?;
    let mut planes = Vec::new();
    for (samples, (old, new)) in opened
        .samples
        .into_iter()
        .zip(before.components.iter().zip(&frame.components))
    {
        let used = samples.used(old, &before, opened.inverse.size());
        let small = resample(samples.all, used, extent(new, &frame), budget)?;
        planes.push(transform(&small, new, budget)?);
        budget.free(small.bytes);
    }
    let picture = Picture {
        tables: vec![QuantTable([1; 64]); planes.len()],
        frame,
        segments: opened.segments,
        restart_interval: 0,
        planes,
        trailer: 0..0,
        notes: opened.notes,
        second_parts: Vec::new(),
    };
    encode(picture, source.len(), sink, options, budget)
}

/// Samples of a component across and down in a picture of this frame.
fn extent(component: &Component, frame: &Frame) -> (u32, u32) {
    let share =
        |side: u16, own: u8, most: u8| (u32::from(side) * u32::from(own)).div_ceil(u32::from(most));
    (
        share(frame.width, component.h, frame.h_max),
        share(frame.height, component.v, frame.v_max),
    )
}

/// A component's samples at the size of the inverse transform, whole blocks.
struct Plain {
    all: Samples,
}

impl Plain {
    fn new(component: &Component, size: usize, budget: &Budget) -> Result<Self, Error> {
        let (width, height) = (
            component.blocks_across * size as u32,
            component.blocks_down * size as u32,
        );
        let length = width as usize * height as usize;
        let mut bytes = budget.vec(length)?;
        bytes.resize(length, 0);
        Ok(Self {
            all: Samples {
                bytes,
                width,
                height,
                kind: PixelType::U8,
            },
        })
    }

    /// How much of it is picture, in samples; not whole where sampling or the transform's size do not divide the picture.
    fn used(&self, component: &Component, frame: &Frame, size: usize) -> (f64, f64) {
        let share = |side: u16, own: u8, most: u8| {
            f64::from(side) * f64::from(own) / f64::from(most) * size as f64 / 8.0
        };
        (
            share(frame.width, component.h, frame.h_max),
            share(frame.height, component.v, frame.v_max),
        )
    }

    /// Puts a row of blocks where it belongs.
    fn put(&mut self, block_row: usize, row: Row<'_>, table: &QuantTable, inverse: &Inverse) {
        let (size, stride) = (inverse.size(), self.all.width as usize);
        let start = block_row * size * stride;
        for (column, (dc, words)) in row.enumerate() {
            let mut block = [0f32; 64];
            block[0] = f32::from(dc) * f32::from(table.0[0]);
            for (k, value) in words {
                block[usize::from(NATURAL[k])] = f32::from(value) * f32::from(table.0[k]);
            }
            inverse.samples(&block, &mut self.all.bytes[start + column * size..], stride);
        }
    }
}

/// A file read to samples.
struct Opened {
    samples: Vec<Plain>,
    inverse: Inverse,
    segments: Vec<Segment>,
    notes: Vec<Note>,
}

/// Decodes to samples, at the smallest size of the inverse transform that is not below the wanted size.
fn open(decoder: Decoder<'_>, size: (u32, u32), budget: &Budget) -> Result<Opened, Error> {
    let frame = decoder.header().frame.clone();
    let enough = |n: &usize| {
        let side = |side: u16| u64::from(side) * *n as u64;
        side(frame.width) >= u64::from(size.0) * 8 && side(frame.height) >= u64::from(size.1) * 8
    };
    let inverse = Inverse::new([1, 2, 4, 8].into_iter().find(enough).unwrap_or(8));
    let mut floors = [[1; 64]; MAX_COMPONENTS];
    for floor in floors
        .iter_mut()
        .flat_map(|floors| floors.iter_mut().zip(NATURAL))
    {
        *floor.0 = if inverse.uses(floor.1) { 1 } else { u16::MAX };
    }
    let keep = Survivors::from_floors(floors);
    let plain = |component| Plain::new(component, inverse.size(), budget);
    let mut samples: Vec<Plain> = frame
        .components
        .iter()
        .map(plain)
        .collect::<Result<_, _>>()?;
    let known: Option<Vec<QuantTable>> = decoder.header().tables.iter().cloned().collect();
    let (segments, notes) = match known {
        Some(tables) => {
            let ending = decoder.rows(&keep, &mut |mcu_row, planes| {
                for (n, plane) in planes.iter().enumerate() {
                    let first = mcu_row as usize * usize::from(frame.components[n].v);
                    (0..plane.down()).for_each(|row| {
                        samples[n].put(first + row, plane.row(row), &tables[n], &inverse)
                    });
                }
                Ok(())
            })?;
            (ending.segments, ending.notes)
        }
        // Tables that come between scans are known only at the end.
        None => {
            let picture = decoder.read(&keep)?;
            for (n, plane) in picture.planes.iter().enumerate() {
                (0..plane.down()).for_each(|row| {
                    samples[n].put(row, plane.row(row), &picture.tables[n], &inverse)
                });
            }
            let whole = (picture.segments.clone(), picture.notes.clone());
            picture.free(budget);
            whole
        }
    };
    Ok(Opened {
        samples,
        inverse,
        segments,
        notes,
    })
}

/// Coefficients of a component in steps of 1; blocks that reach over the edge repeat its last samples.
fn transform(samples: &Samples, component: &Component, budget: &Budget) -> Result<Plane, Error> {
    let (across, down) = (
        component.blocks_across as usize,
        component.blocks_down as usize,
    );
    let mut plane = Plane::new(across, down, usize::from(component.v), budget)?;
    let (right, bottom) = (samples.width as usize - 1, samples.height as usize - 1);
    for block_row in 0..down {
        let mut writer = plane.writer(block_row % usize::from(component.v));
        for column in 0..across {
            let block: [u8; 64] = std::array::from_fn(|n| {
                let (x, y) = (
                    (8 * column + n % 8).min(right),
                    (8 * block_row + n / 8).min(bottom),
                );
                samples.bytes[y * samples.width as usize + x]
            });
            let block = forward(&block).map(|value| value.round_ties_even() as i16);
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
            Goal::Lossless | Goal::Ssimulacra2(_) => Err(Error::Unsupported(
                "resizing a JPEG without a quality or a size".to_owned(),
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

/// Brings a picture whose coefficients are in steps of 1 to the goal.
fn encode(
    mut picture: Picture,
    input: u64,
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    let aim = Aim::of(options, input)?;
    let around = Around::of(&mut picture);
    let picture = Prepared::whole(picture);
    let rounding = if options.effort >= TRELLIS_EFFORT {
        Rounding::Trellis
    } else {
        Rounding::Deadzone
    };
    let recipe = Recipe {
        rounding,
        steps: Steps::Usual,
    };
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
