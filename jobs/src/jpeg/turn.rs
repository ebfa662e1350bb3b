//! Turns and mirrors a picture of coefficients without leaving the coefficient domain, where its edges allow.
//!
//! A block is mirrored by the signs of its odd frequencies and transposed by changing rows for columns; that loses nothing. Where
//! a mirrored side of a component ends within a block, its blocks would begin within one: such a component is transformed
//! back, turned as samples of a sixteenth's precision and transformed again, in steps of 1. Where chroma is halved and the
//! side is odd, samples lie between two of the old ones and are their average.

use super::dct::{Inverse, Size, forward, rounded};
use super::decode::Picture;
use super::frame::{Coding, Component, Frame, QuantTable};
use super::plane::{MAX_WORDS, Plane, Words, put_word};
use super::quant::tables::NATURAL;
use crate::turn::Turn;
use crate::{Budget, Error};

/// Zigzag index of each natural one.
const ZIGZAG: [u8; 64] = {
    let mut zigzag = [0; 64];
    let mut k = 0;
    while k < 64 {
        zigzag[NATURAL[k] as usize] = k as u8;
        k += 1;
    }
    zigzag
};

/// Zigzag index of the transposed coefficient.
pub(crate) fn transposed(k: usize) -> usize {
    let natural = NATURAL[k & 63];
    usize::from(ZIGZAG[usize::from((natural & 7) << 3 | natural >> 3)])
}

/// A table for the turned picture.
pub(crate) fn table(table: &QuantTable, turn: Turn) -> QuantTable {
    if turn.transpose {
        QuantTable(std::array::from_fn(|k| table.0[transposed(k)]))
    } else {
        table.clone()
    }
}

/// The frame of the turned picture.
pub(crate) fn frame(old: &Frame, turn: Turn) -> Frame {
    let (width, height) = turn.size((old.width, old.height));
    let sampling: Vec<_> = old
        .components
        .iter()
        .map(|c| {
            let (h, v) = turn.size((c.h, c.v));
            (c.id, h, v, c.table)
        })
        .collect();
    Frame::new(Coding::Extended, width, height, &sampling)
}

/// Whether every component of a picture turns without loss.
pub(crate) fn is_exact(frame: &Frame, turn: Turn) -> bool {
    frame
        .components
        .iter()
        .all(|component| Sides::of(component, frame).are_whole(turn))
}

/// Turns the picture.
///
/// # Errors
/// [`Error::OverBudget`].
pub(crate) fn turned(mut picture: Picture, turn: Turn, budget: &Budget) -> Result<Picture, Error> {
    if turn.is_upright() {
        return Ok(picture);
    }
    let new = frame(&picture.frame, turn);
    let mut planes = Vec::new();
    for (c, plane) in picture.planes.drain(..).enumerate() {
        let (before, after) = (&picture.frame.components[c], &new.components[c]);
        let sides = Sides::of(before, &picture.frame);
        let done = if sides.are_whole(turn) {
            picture.tables[c] = table(&picture.tables[c], turn);
            by_blocks(&plane, turn, after, budget)?
        } else {
            let done = by_samples(&plane, &picture.tables[c], sides, turn, after, budget)?;
            picture.tables[c] = QuantTable([1; 64]);
            done
        };
        plane.free(budget);
        planes.push(done);
    }
    picture.frame = new;
    picture.planes = planes;
    Ok(picture)
}

/// A component's sides in samples, as numerator and denominator: 33 pixels of halved chroma are 33/2.
#[derive(Debug, Clone, Copy)]
struct Sides {
    across: (u32, u32),
    down: (u32, u32),
}

impl Sides {
    fn of(component: &Component, frame: &Frame) -> Self {
        let side =
            |pixels: u16, own: u8, most: u8| (u32::from(pixels) * u32::from(own), u32::from(most));
        Self {
            across: side(frame.width, component.h, frame.h_max),
            down: side(frame.height, component.v, frame.v_max),
        }
    }

    /// Whether the sides that are mirrored are whole blocks.
    fn are_whole(self, turn: Turn) -> bool {
        let whole = |(samples, share): (u32, u32)| samples.is_multiple_of(8 * share);
        (!turn.mirror_x || whole(self.across)) && (!turn.mirror_y || whole(self.down))
    }
}

/// A block of a plane.
type Block<'a> = (i16, Words<'a>);

/// All blocks of a plane in raster order.
fn blocks<'a>(plane: &'a Plane, budget: &Budget) -> Result<Vec<Block<'a>>, Error> {
    let mut blocks = budget.vec(plane.across() * plane.down())?;
    (0..plane.down()).for_each(|row| blocks.extend(plane.row(row)));
    Ok(blocks)
}

fn by_blocks(
    plane: &Plane,
    turn: Turn,
    after: &Component,
    budget: &Budget,
) -> Result<Plane, Error> {
    let old = blocks(plane, budget)?;
    let (width, height) = (plane.across(), plane.down());
    let mut new = new_plane(after, budget)?;
    for row in 0..after.blocks_down as usize {
        let mut writer = new.writer(row % usize::from(after.v));
        for column in 0..after.blocks_across as usize {
            let (x, y) = turn.size((column, row));
            let x = if turn.mirror_x { width - 1 - x } else { x };
            let y = if turn.mirror_y { height - 1 - y } else { y };
            let (dc, words) = old[y * width + x];
            writer.block(dc, budget, |room| put_turned(words, turn, room))?;
        }
    }
    budget.free(old);
    Ok(new)
}

fn new_plane(component: &Component, budget: &Budget) -> Result<Plane, Error> {
    let (across, down) = (component.blocks_across, component.blocks_down);
    Plane::new(
        across as usize,
        down as usize,
        usize::from(component.v),
        budget,
    )
}

/// Writes a block's coefficients turned, in zigzag order.
fn put_turned(words: Words<'_>, turn: Turn, room: &mut [u16; MAX_WORDS]) -> usize {
    let mut values = [0_i16; 64];
    let mut used = 0_u64;
    for (k, value) in words {
        let natural = NATURAL[k & 63];
        let odd = (turn.mirror_x && natural & 1 == 1) != (turn.mirror_y && natural >> 3 & 1 == 1);
        let k = if turn.transpose { transposed(k) } else { k };
        values[k & 63] = if odd { value.wrapping_neg() } else { value };
        used |= 1 << (k & 63);
    }
    let mut count = 0;
    while used != 0 {
        let k = used.trailing_zeros() as usize;
        used &= used - 1;
        count += put_word(&mut room[count..], k, values[k]);
    }
    count
}

/// Samples around 0 in sixteenths, rows of whole blocks.
struct Fine {
    samples: Vec<i16>,
    stride: usize,
}

fn samples_of(plane: &Plane, table: &QuantTable, budget: &Budget) -> Result<Fine, Error> {
    let inverse = Inverse::new(Size::WHOLE);
    let weighed = inverse.weighed(&table.0.map(f32::from));
    let stride = 8 * plane.across();
    let length = stride * 8 * plane.down();
    let mut samples = budget.vec(length)?;
    samples.resize(length, 0_i16);
    for block_row in 0..plane.down() {
        for (column, (dc, words)) in plane.row(block_row).enumerate() {
            let start = 8 * block_row * stride + 8 * column;
            for (y, row) in inverse.exact(dc, words, &weighed).iter().enumerate() {
                let out = &mut samples[start + y * stride..][..8];
                let pairs = out.iter_mut().zip(row);
                pairs.for_each(|(out, sample)| *out = rounded(sample * 16.0));
            }
        }
    }
    Ok(Fine { samples, stride })
}

/// Where sample `at` of a turned side comes from: one or two old samples.
fn origin(at: usize, (samples, share): (u32, u32), mirrored: bool) -> (usize, usize) {
    let last = (samples.div_ceil(share) as usize).saturating_sub(1);
    if !mirrored {
        return (at.min(last), at.min(last));
    }
    // In shares of a sample, from the side's far end: `samples - share - at * share`, between two where it is no multiple.
    let place = i64::from(samples) - i64::from(share) * (at as i64 + 1);
    let below = place.div_euclid(i64::from(share));
    let above = below + i64::from(place.rem_euclid(i64::from(share)) != 0);
    let clamp = |n: i64| (n.max(0) as usize).min(last);
    (clamp(below), clamp(above))
}

fn by_samples(
    plane: &Plane,
    table: &QuantTable,
    sides: Sides,
    turn: Turn,
    after: &Component,
    budget: &Budget,
) -> Result<Plane, Error> {
    let Fine { samples, stride } = samples_of(plane, table, budget)?;
    let mut new = new_plane(after, budget)?;
    let average = |(a, b): (i16, i16)| (f32::from(a) + f32::from(b)) / 32.0;
    for row in 0..after.blocks_down as usize {
        let mut writer = new.writer(row % usize::from(after.v));
        for column in 0..after.blocks_across as usize {
            let block: [f32; 64] = std::array::from_fn(|n| {
                let (x, y) = turn.size((8 * column + n % 8, 8 * row + n / 8));
                let (left, right) = origin(x, sides.across, turn.mirror_x);
                let (upper, lower) = origin(y, sides.down, turn.mirror_y);
                let at = |x: usize, y: usize| samples[y * stride + x];
                let top = average((at(left, upper), at(right, upper)));
                let bottom = average((at(left, lower), at(right, lower)));
                (top + bottom) / 2.0
            });
            let block = forward(&block).map(rounded);
            writer.block(block[0], budget, |room| {
                let levels = (1..64).map(|k| (k, block[usize::from(NATURAL[k])]));
                let levels = levels.filter(|(_, level)| *level != 0);
                levels.fold(0, |used, (k, level)| {
                    used + put_word(&mut room[used..], k, level)
                })
            })?;
        }
    }
    budget.free(samples);
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposing_twice_is_nothing() {
        for k in 0..64 {
            assert_eq!(transposed(transposed(k)), k);
        }
        assert_eq!((transposed(1), transposed(5), transposed(63)), (2, 3, 63));
    }

    #[test]
    fn mirrored_samples_come_from_where_they_lay() {
        // Sixteen whole samples.
        assert_eq!(origin(0, (32, 2), true), (15, 15));
        assert_eq!(origin(15, (32, 2), true), (0, 0));
        // 33 pixels, chroma halved: 17 samples, the last half covered.
        assert_eq!(origin(0, (33, 2), true), (15, 16));
        assert_eq!(origin(15, (33, 2), true), (0, 1));
        assert_eq!(origin(16, (33, 2), true), (0, 0));
        assert_eq!(origin(40, (33, 2), false), (16, 16));
    }
}
