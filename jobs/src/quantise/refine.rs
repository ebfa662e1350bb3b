//! Moves the centres to where their points are, a few times over (Lloyd's k-means), and rounds them to colours.

use super::Rgba;
use super::histogram::Weighted;
use super::nearest::Nearest;
use super::point::{Point, colour, distance, point, table};

/// Rounds at most.
const ROUNDS: usize = 12;
/// A round that lowers the error by less than this share is the last.
const GAIN: f64 = 0.002;

/// The palette around `centres`, without doubles, and its mean squared error.
pub(super) fn refine(points: &[Weighted], mut centres: Vec<Point>) -> (Vec<Rgba>, f32) {
    let mut last = f64::MAX;
    for _ in 0..ROUNDS {
        let error = round(points, &mut centres);
        if error > last * (1.0 - GAIN) {
            break;
        }
        last = error;
    }
    let mut palette: Vec<Rgba> = centres.into_iter().map(colour).collect();
    palette.sort_unstable();
    palette.dedup();
    let rounded: Vec<Point> = palette.iter().map(|rgba| point(table(), *rgba)).collect();
    let error = error_of(points, &rounded);
    (palette, error)
}

/// One round; returns the error before it.
fn round(points: &[Weighted], centres: &mut [Point]) -> f64 {
    let mut sums = vec![[0f64; 5]; centres.len()];
    let mut error = 0.0;
    let mut nearest = Nearest::new(centres);
    for item in points {
        let index = nearest.find(&item.point);
        let weight = f64::from(item.weight);
        error += weight * f64::from(distance(&item.point, &centres[index]));
        let sum = &mut sums[index];
        for (sum, axis) in sum.iter_mut().zip(item.point) {
            *sum += weight * f64::from(axis);
        }
        sum[4] += weight;
    }
    for (centre, sum) in centres.iter_mut().zip(&sums) {
        if sum[4] > 0.0 {
            *centre = std::array::from_fn(|axis| (sum[axis] / sum[4]) as f32);
        }
    }
    error
}

/// Mean squared error of points painted with a palette.
fn error_of(points: &[Weighted], palette: &[Point]) -> f32 {
    let mut nearest = Nearest::new(palette);
    let (mut error, mut total) = (0.0, 0.0);
    for item in points {
        let weight = f64::from(item.weight);
        error += weight * f64::from(distance(&item.point, &palette[nearest.find(&item.point)]));
        total += weight;
    }
    (error / f64::max(total, f64::MIN_POSITIVE)) as f32
}
