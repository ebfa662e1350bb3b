//! A JPEG read to samples, component by component, in the file's own colours and sampling; smaller where that suffices.

use super::dct::Inverse;
use super::decode::{Decoder, Survivors};
use super::frame::{Component, Frame, MAX_COMPONENTS, QuantTable, Segment};
use super::plane::Row;
use super::quant::tables::NATURAL;
use crate::shrink::Samples;
use crate::{Budget, Error, Note};
use fast_image_resize::PixelType;

/// Samples of a component across and down in a picture of this frame.
pub(crate) fn extent(component: &Component, frame: &Frame) -> (u32, u32) {
    let share =
        |side: u16, own: u8, most: u8| (u32::from(side) * u32::from(own)).div_ceil(u32::from(most));
    (
        share(frame.width, component.h, frame.h_max),
        share(frame.height, component.v, frame.v_max),
    )
}

/// A component's samples at the size of the inverse transform, whole blocks.
#[derive(Debug)]
pub(crate) struct Plain {
    pub(crate) all: Samples,
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
    pub(crate) fn used(&self, component: &Component, frame: &Frame, size: usize) -> (f64, f64) {
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
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) samples: Vec<Plain>,
    /// Samples a block has each way: 1, 2, 4 or 8.
    pub(crate) scale: usize,
    pub(crate) segments: Vec<Segment>,
    pub(crate) notes: Vec<Note>,
}

/// Decodes to samples, at the smallest size of the inverse transform that is not below the wanted size.
///
/// # Errors
/// Those of decoding.
pub(crate) fn open(
    decoder: Decoder<'_>,
    size: (u32, u32),
    budget: &Budget,
) -> Result<Opened, Error> {
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
        scale: inverse.size(),
        segments,
        notes,
    })
}
