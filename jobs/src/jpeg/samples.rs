//! A JPEG read to samples, component by component, in the file's own colours and sampling; smaller where that suffices.

use super::dct::{Inverse, Size, Weighed};
use super::decode::{Decoder, Survivors};
use super::frame::{Component, Frame, MAX_COMPONENTS, QuantTable, Segment};
use super::plane::Row;
use super::quant::tables::NATURAL;
use crate::shrink::{Samples, resample_plane};
use crate::{Budget, Error, Note};
use fast_image_resize::PixelType;

/// Samples of a component across and down in a picture of this frame.
pub(crate) fn extent(component: &Component, frame: &Frame) -> (u32, u32) {
    let (across, down) = share(component, frame);
    (across.ceil() as u32, down.ceil() as u32)
}

/// Samples that the picture covers, across and down; the last one may be covered in part.
pub(crate) fn share(component: &Component, frame: &Frame) -> (f64, f64) {
    let share = |side: u16, own: u8, most: u8| f64::from(side) * f64::from(own) / f64::from(most);
    (
        share(frame.width, component.h, frame.h_max),
        share(frame.height, component.v, frame.v_max),
    )
}

/// For all components the smallest common size of the inverse transform that makes the picture at least so wide and high.
pub(crate) fn together(frame: &Frame, (width, height): (u32, u32)) -> Vec<Size> {
    let n =
        eighths(frame.width.into(), width.into()).max(eighths(frame.height.into(), height.into()));
    vec![Size { across: n, down: n }; frame.components.len()]
}

/// For a component the smallest size of the inverse transform at which the picture covers at least so many samples across and
/// down.
pub(crate) fn alone(component: &Component, frame: &Frame, (across, down): (f64, f64)) -> Size {
    let own = share(component, frame);
    Size {
        across: eighths(own.0, across),
        down: eighths(own.1, down),
    }
}

/// The fewest eighths of `side` that are at least `wanted`, out of 1, 2, 4 and 8: three and five eighths were up to 0.6 worse in
/// SSIMULACRA2 on photographs at 1920 pixels.
fn eighths(side: f64, wanted: f64) -> usize {
    let enough = |n: &usize| side * *n as f64 >= wanted * 8.0;
    [1, 2, 4].into_iter().find(enough).unwrap_or(8)
}

/// A component's samples at the size of the inverse transform, whole blocks and what the transform may scribble on.
#[derive(Debug)]
pub(crate) struct Plain {
    pub(crate) all: Samples,
    inverse: Inverse,
}

impl Plain {
    fn new(component: &Component, size: Size, budget: &Budget) -> Result<Self, Error> {
        let inverse = Inverse::new(size);
        let (across, down) = (size.across as u32, size.down as u32);
        let (width, height) = (
            component.blocks_across * across + inverse.slack() as u32,
            component.blocks_down * down,
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
            inverse,
        })
    }

    /// How much of it is picture, in samples; not whole where sampling or the transform's size do not divide the picture.
    pub(crate) fn used(&self, component: &Component, frame: &Frame) -> (f64, f64) {
        let (own, size) = (share(component, frame), self.inverse.size());
        let part = |own: f64, size: usize| own * size as f64 / 8.0;
        (part(own.0, size.across), part(own.1, size.down))
    }

    /// Resamples it so that the picture covers `share` samples; a last sample that is covered in part reaches beyond it.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    pub(crate) fn resampled(
        self,
        component: &Component,
        frame: &Frame,
        share: (f64, f64),
        budget: &Budget,
    ) -> Result<Samples, Error> {
        let used = self.used(component, frame);
        let beyond = |used: f64, share: f64| used * (share.ceil() / share);
        let used = (beyond(used.0, share.0), beyond(used.1, share.1));
        let to = (share.0.ceil() as u32, share.1.ceil() as u32);
        resample_plane(self.all, used, to, budget)
    }

    /// Puts a row of blocks where it belongs.
    fn put(&mut self, block_row: usize, row: Row<'_>, weighed: &Weighed) {
        let stride = self.all.width as usize;
        let start = block_row * self.inverse.size().down * stride;
        let place = &mut self.all.bytes[start..];
        self.inverse.row(row, weighed, place, stride);
    }
}

/// A file read to samples.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) samples: Vec<Plain>,
    pub(crate) segments: Vec<Segment>,
    pub(crate) notes: Vec<Note>,
}

/// Decodes to samples, each component at the size `wanted` of the inverse transform.
///
/// # Errors
/// Those of decoding.
pub(crate) fn open(
    decoder: Decoder<'_>,
    wanted: &[Size],
    budget: &Budget,
) -> Result<Opened, Error> {
    let frame = decoder.header().frame.clone();
    let mut samples: Vec<Plain> = frame
        .components
        .iter()
        .zip(wanted)
        .map(|(component, size)| Plain::new(component, *size, budget))
        .collect::<Result<_, _>>()?;
    let keep = survivors(&samples);
    let weighed =
        |plain: &Plain, table: &QuantTable| plain.inverse.weighed(&table.0.map(f32::from));
    let known: Option<Vec<QuantTable>> = decoder.header().tables.iter().cloned().collect();
    let (segments, notes) = match known {
        Some(tables) => {
            let pairs = samples.iter().zip(&tables);
            let tables: Vec<_> = pairs.map(|(plain, table)| weighed(plain, table)).collect();
            let ending = decoder.rows(&keep, &mut |mcu_row, planes| {
                for (n, plane) in planes.iter().enumerate() {
                    let first = mcu_row as usize * usize::from(frame.components[n].v);
                    (0..plane.down())
                        .for_each(|row| samples[n].put(first + row, plane.row(row), &tables[n]));
                }
                Ok(())
            })?;
            (ending.segments, ending.notes)
        }
        // Tables that come between scans are known only at the end.
        None => {
            let picture = decoder.read(&keep)?;
            for (n, plane) in picture.planes.iter().enumerate() {
                let weighed = weighed(&samples[n], &picture.tables[n]);
                (0..plane.down()).for_each(|row| samples[n].put(row, plane.row(row), &weighed));
            }
            let whole = (picture.segments.clone(), picture.notes.clone());
            picture.free(budget);
            whole
        }
    };
    Ok(Opened {
        samples,
        segments,
        notes,
    })
}

/// What the transforms use.
fn survivors(samples: &[Plain]) -> Survivors {
    let mut floors = [[1; 64]; MAX_COMPONENTS];
    for (floors, plain) in floors.iter_mut().zip(samples) {
        for (floor, natural) in floors.iter_mut().zip(NATURAL) {
            *floor = if plain.inverse.uses(natural) {
                1
            } else {
                u16::MAX
            };
        }
    }
    Survivors::from_floors(floors)
}
