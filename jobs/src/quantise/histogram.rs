//! Gathers a picture's colours into weighted points.
//!
//! Colours share a bucket when their high bits agree, and a bucket's point is the mean of its pixels, so the number of
//! points is bounded whatever the picture. A pixel in a smooth place weighs more than one in texture, where a wrong
//! colour is hard to see.

use super::point::{Point, point, table};
use super::{Picture, Rgba};
use crate::{Budget, Error};
use std::collections::HashMap;

/// A point and the sum of its pixels' weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Weighted {
    pub(crate) point: Point,
    pub(crate) weight: f32,
}

/// Most colours that get a point each; beyond, buckets are used.
const EXACT: usize = 4096;
/// Bits of red, green, blue and alpha by which colours share a bucket; the first plan that needs no more than [`MOST`]
/// buckets is taken, and the last one cannot need more.
const PLANS: [[u32; 4]; 4] = [[6, 7, 6, 6], [6, 6, 6, 5], [5, 6, 5, 4], [4, 5, 4, 3]];
/// Most buckets.
const MOST: usize = 1 << 16;
/// Places of the table that finds a bucket, at least twice [`MOST`].
const PLACES: usize = 1 << 18;
/// Bytes of table and points, of the points' copy while they are split, and of both again while a vector grows.
pub(super) const BYTES: u64 = (PLACES * 8 + MOST * 20 * 4) as u64;

/// Points of a picture, and whether every colour has its own.
///
/// # Errors
/// [`Error::OverBudget`].
pub(super) fn gather(
    picture: Picture<'_>,
    budget: &Budget,
) -> Result<(Vec<Weighted>, bool), Error> {
    if let Some(points) = exact(picture) {
        return Ok((points, true));
    }
    buckets(picture, budget).map(|points| (points, false))
}

/// A point for every colour, where there are few.
fn exact(picture: Picture<'_>) -> Option<Vec<Weighted>> {
    let mut weights: HashMap<Rgba, f32> = HashMap::new();
    for (pixel, weight) in weighted(picture) {
        *weights.entry(visible(pixel)).or_default() += weight;
        if weights.len() > EXACT {
            return None;
        }
    }
    let mut sorted: Vec<_> = weights.into_iter().collect();
    // Equal input must give equal output, and a hash map's order is random.
    sorted.sort_unstable_by_key(|(colour, _)| *colour);
    let weighted = |(colour, weight)| Weighted {
        point: point(table(), colour),
        weight,
    };
    Some(sorted.into_iter().map(weighted).collect())
}

fn buckets(picture: Picture<'_>, budget: &Budget) -> Result<Vec<Weighted>, Error> {
    let mut points = Vec::new();
    for plan in PLANS {
        if let Some(found) = Buckets::new(plan, budget)?.fill(picture) {
            points = found;
            break;
        }
    }
    for sum in &mut points {
        sum.point = sum.point.map(|axis| axis / sum.weight);
    }
    Ok(points)
}

/// Buckets under way.
struct Buckets<'a> {
    plan: [u32; 4],
    /// Bucket number plus one and index of its point; 0 where there is none. Open addressing.
    places: Vec<(u32, u32)>,
    points: Vec<Weighted>,
    budget: &'a Budget,
}

impl<'a> Buckets<'a> {
    fn new(plan: [u32; 4], budget: &'a Budget) -> Result<Self, Error> {
        let mut places = budget.vec(PLACES)?;
        places.resize(PLACES, (0, 0));
        Ok(Self {
            plan,
            places,
            points: Vec::new(),
            budget,
        })
    }

    /// Sums up all pixels; `None` where the plan needs too many buckets.
    fn fill(mut self, picture: Picture<'_>) -> Option<Vec<Weighted>> {
        let table = table();
        let mut complete = true;
        for (pixel, weight) in weighted(picture) {
            let Some(index) = self.index(visible(pixel)) else {
                complete = false;
                break;
            };
            let sum = &mut self.points[index];
            for (sum, axis) in sum.point.iter_mut().zip(point(table, pixel)) {
                *sum += axis * weight;
            }
            sum.weight += weight;
        }
        self.budget.free(self.places);
        complete.then_some(self.points)
    }

    fn index(&mut self, pixel: Rgba) -> Option<usize> {
        let fold = |number: u32, (channel, bits): (u8, u32)| {
            number << bits | u32::from(channel >> (8 - bits))
        };
        let number = pixel.into_iter().zip(self.plan).fold(0, fold) + 1;
        let mut place = (number.wrapping_mul(0x9e37_79b1) >> 14) as usize;
        loop {
            match self.places[place] {
                (0, _) if self.points.len() == MOST => return None,
                (0, _) => {
                    self.places[place] = (number, self.points.len() as u32);
                    self.points.push(Weighted {
                        point: [0.0; 4],
                        weight: 0.0,
                    });
                    return Some(self.points.len() - 1);
                }
                (found, index) if found == number => return Some(index as usize),
                _ => place = (place + 1) % PLACES,
            }
        }
    }
}

/// Nothing is nothing, whatever colour it has.
fn visible(pixel: Rgba) -> Rgba {
    if pixel[3] == 0 { [0; 4] } else { pixel }
}

/// Every pixel with its weight: 1 where it is like its left and upper neighbour, less in texture.
fn weighted(picture: Picture<'_>) -> impl Iterator<Item = (Rgba, f32)> {
    let Picture { pixels, width } = picture;
    pixels.iter().enumerate().map(move |(n, &pixel)| {
        let left = pixels[n.saturating_sub(1)];
        let above = pixels[n.saturating_sub(width)];
        let contrast = contrast(pixel, left).max(contrast(pixel, above));
        (pixel, 1.0 / (1.0 + contrast as f32 * FLATNESS))
    })
}

/// How fast a pixel's weight falls with its contrast.
const FLATNESS: f32 = 1.0 / 24.0;

/// Difference of two colours, from 0 to about 1000, mostly of their green.
pub(super) fn contrast(a: Rgba, b: Rgba) -> u32 {
    let difference = |n: usize| u32::from(a[n].abs_diff(b[n]));
    (difference(0) + 2 * difference(1) + difference(2)) / 4 + difference(3)
}
