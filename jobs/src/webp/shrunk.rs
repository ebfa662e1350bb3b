//! An animated WebP at another size: every picture of it as it is seen, resampled; times, loops and background stay. A frame
//! holds what changed since the one before and takes the place of what was there.
//!
//! Frames are stored without loss, quickly: coding them well, or with loss, is the task of whoever reads the file again.

use super::animation::{Animation, Frame};
use super::image::{Image, Plain, exactly};
use super::riff::{Piece, Shape};
use crate::moving::{Area, Gone, Laid, Patch, Stage, cut, difference};
use crate::raster::Layout;
use crate::{Budget, Error};
use std::borrow::Cow;

/// libwebp's quickest way.
const LEVEL: u8 = 0;
/// Flags of a frame (RFC 9649 section 2.7.1.1): its place is cleared afterwards, it lies instead of what was there.
const CLEARED: u8 = 1;
const INSTEAD: u8 = 2;

/// The file of control chunk and frames alone, claimed from the budget.
///
/// # Errors
/// See [`Error`].
pub(super) fn file(
    animation: &Animation<'_>,
    to: (u32, u32),
    linear: bool,
    budget: &Budget,
) -> Result<Vec<u8>, Error> {
    let mut stage = Stage::new(animation.canvas, to, linear, budget)?;
    let mut pieces = vec![animation.control.clone()];
    let mut before: Option<Vec<u8>> = None;
    for frame in &animation.frames {
        let pixels = rgba(&frame.image, budget)?;
        let small = stage.show(frame.patch(&pixels))?;
        budget.free(pixels);
        let part = even(difference(&small, before.as_deref(), to));
        let made = frame.made(&small, part, to.0, budget)?;
        budget.claim(made.length() as u64)?;
        pieces.push(made);
        if let Some(old) = before.replace(small) {
            budget.free(old);
        }
    }
    if let Some(before) = before {
        budget.free(before);
    }
    let shape = Shape {
        canvas: to,
        // Nobody asks an intermediate file for it.
        alpha: true,
        pieces: pieces.iter().collect(),
        tail: &[],
    };
    let mut file = budget.vec(shape.length() as usize)?;
    shape.write(&mut file)?;
    let held: usize = pieces.iter().skip(1).map(Piece::length).sum();
    budget.release(held as u64);
    Ok(file)
}

/// Frames begin at even places.
fn even(area: Area) -> Area {
    Area {
        left: area.left / 2 * 2,
        top: area.top / 2 * 2,
        width: area.width + area.left % 2,
        height: area.height + area.top % 2,
    }
}

/// The pixels of a frame, with alpha.
fn rgba(image: &Image<'_>, budget: &Budget) -> Result<Vec<u8>, Error> {
    let plain = image.plain(budget)?;
    if plain.layout == Layout::Rgba {
        return Ok(plain.samples);
    }
    let mut pixels = budget.vec(plain.samples.len() / 3 * 4)?;
    let colours = plain.samples.chunks_exact(3);
    pixels.extend(colours.flat_map(|rgb| [rgb[0], rgb[1], rgb[2], u8::MAX]));
    budget.free(plain.samples);
    Ok(pixels)
}

impl Frame<'_> {
    fn patch<'a>(&self, pixels: &'a [u8]) -> Patch<'a> {
        let number = |at: usize| {
            u32::from_le_bytes([self.head[at], self.head[at + 1], self.head[at + 2], 0])
        };
        let (flags, (width, height)) = (self.head[15], self.image.size);
        Patch {
            pixels,
            area: Area {
                left: 2 * number(0),
                top: 2 * number(3),
                width,
                height,
            },
            laid: if flags & INSTEAD == 0 {
                Laid::Over
            } else {
                Laid::Instead
            },
            gone: if flags & CLEARED == 0 {
                Gone::Stays
            } else {
                Gone::Cleared
            },
        }
    }

    /// A frame of the same time with the part of a picture `width` wide.
    fn made(
        &self,
        picture: &[u8],
        part: Area,
        width: u32,
        budget: &Budget,
    ) -> Result<Piece<'static>, Error> {
        let plain = Plain {
            samples: cut(picture, width, part, budget)?,
            layout: Layout::Rgba,
            size: (part.width, part.height),
        };
        let image = exactly(&plain, LEVEL, budget)?;
        budget.free(plain.samples);
        let numbers = [part.left / 2, part.top / 2, part.width - 1, part.height - 1];
        let mut payload: Vec<u8> = numbers
            .iter()
            .flat_map(|number| number.to_le_bytes().into_iter().take(3))
            .collect();
        payload.extend_from_slice(&self.head[12..15]);
        payload.push(INSTEAD);
        for piece in image.iter().chain(&self.others) {
            piece.write(&mut payload)?;
        }
        Ok(Piece {
            name: *b"ANMF",
            payload: Cow::Owned(payload),
        })
    }
}
