//! Paints with a palette and passes the error on to the neighbours (Floyd and Steinberg 1976), rows in turn from the left and
//! from the right, all of it where the picture is smooth and less where texture hides it anyway: that keeps gradients free
//! of bands and the file free of noise nobody would see.

use super::histogram::contrast;
use super::nearest::Nearest;
use super::point::{Point, point, table};
use super::{Picture, Rgba};
use crate::{Budget, Error};

/// Largest error that is passed on, in units of a point's axes; more would run away as streaks.
const LIMIT: f32 = 0.04;
/// Contrast at which half of the error is passed on.
const TEXTURE: f32 = 12.0;

/// An index for every pixel.
///
/// # Errors
/// [`Error::OverBudget`].
pub(super) fn paint(
    picture: Picture<'_>,
    palette: &[Rgba],
    strength: f32,
    budget: &Budget,
) -> Result<Vec<u8>, Error> {
    let colours: Vec<Point> = palette.iter().map(|rgba| point(table(), *rgba)).collect();
    let mut indices = budget.vec(picture.pixels.len())?;
    indices.resize(picture.pixels.len(), 0);
    let mut painter = Painter {
        picture,
        colours: &colours,
        nearest: Nearest::new(&colours),
        strength,
        here: vec![[0.0; 4]; picture.width + 2],
        below: vec![[0.0; 4]; picture.width + 2],
    };
    for (row, indices) in indices.chunks_exact_mut(picture.width).enumerate() {
        painter.row(row, indices);
    }
    Ok(indices)
}

struct Painter<'a> {
    picture: Picture<'a>,
    colours: &'a [Point],
    nearest: Nearest<'a>,
    strength: f32,
    /// Errors passed to this row and to the next, with one place to spare at both ends.
    here: Vec<Point>,
    below: Vec<Point>,
}

impl Painter<'_> {
    fn row(&mut self, row: usize, indices: &mut [u8]) {
        let width = self.picture.width;
        let start = row * width;
        let leftward = row % 2 == 1;
        for step in 0..width {
            let column = if leftward { width - 1 - step } else { step };
            indices[column] = self.pixel(start + column, column, leftward);
        }
        std::mem::swap(&mut self.here, &mut self.below);
        self.below.fill([0.0; 4]);
    }

    fn pixel(&mut self, n: usize, column: usize, leftward: bool) -> u8 {
        let pixel = self.picture.pixels[n];
        let exact = point(table(), pixel);
        let wanted: Point = std::array::from_fn(|axis| exact[axis] + self.here[column + 1][axis]);
        let index = self.nearest.find(&wanted);
        let share = self.strength * self.share(n);
        let chosen = self.colours[index];
        let error: Point =
            std::array::from_fn(|axis| (wanted[axis] - chosen[axis]).clamp(-LIMIT, LIMIT) * share);
        // Places are shifted by one; ahead is where the row goes on.
        let (ahead, behind) = if leftward {
            (column, column + 2)
        } else {
            (column + 2, column)
        };
        add(&mut self.here[ahead], &error, 7.0 / 16.0);
        add(&mut self.below[behind], &error, 3.0 / 16.0);
        add(&mut self.below[column + 1], &error, 5.0 / 16.0);
        add(&mut self.below[ahead], &error, 1.0 / 16.0);
        index as u8
    }

    /// How much of the error is passed on at a pixel, by the contrast around it.
    fn share(&self, n: usize) -> f32 {
        let Picture { pixels, width } = self.picture;
        let pixel = pixels[n];
        let last = pixels.len() - 1;
        let around = [
            n.saturating_sub(1),
            n.saturating_sub(width),
            (n + 1).min(last),
            (n + width).min(last),
        ];
        let contrast: u32 = around
            .iter()
            .map(|&other| contrast(pixel, pixels[other]))
            .sum();
        TEXTURE / (TEXTURE + contrast as f32)
    }
}

fn add(to: &mut Point, error: &Point, share: f32) {
    for (to, error) in to.iter_mut().zip(error) {
        *to += error * share;
    }
}
