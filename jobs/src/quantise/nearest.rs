//! Finds the nearest colour of a palette, exactly and quickly.
//!
//! Space is cut into cells; for each cell the first visit lists the colours that can be nearest to anything inside, a
//! handful out of 256. A point outside all cells is compared with every colour.

use super::point::{Point, distance};

/// Cells along each axis.
const CELLS: [usize; 4] = [32, 24, 24, 6];
/// Where the cells begin and how wide they are together; Oklab's axes stay within.
const FROM: Point = [-0.02, -0.30, -0.36, -0.01];
const SPAN: Point = [1.06, 0.62, 0.60, 0.73];
const COUNT: usize = CELLS[0] * CELLS[1] * CELLS[2] * CELLS[3];
/// Bytes of the table and of the lists at their worst in practice.
pub(super) const BYTES: u64 = (COUNT * 24 + COUNT * 16) as u64;

/// A palette prepared for many questions.
pub(super) struct Nearest<'a> {
    palette: &'a [Point],
    cells: Vec<Vec<u8>>,
}

impl<'a> Nearest<'a> {
    /// At most 256 colours, at least one.
    pub(super) fn new(palette: &'a [Point]) -> Self {
        Self {
            palette,
            cells: vec![Vec::new(); COUNT],
        }
    }

    /// Index of the nearest colour; the first of equals.
    #[inline]
    pub(super) fn find(&mut self, point: &Point) -> usize {
        let Some((number, cell)) = cell(point) else {
            return self.among(point, 0..self.palette.len());
        };
        if self.cells[number].is_empty() {
            self.cells[number] = self.candidates(cell);
        }
        let list = &self.cells[number];
        let mut best = (f32::MAX, 0);
        for &index in list {
            let far = distance(point, &self.palette[usize::from(index)]);
            if far < best.0 {
                best = (far, usize::from(index));
            }
        }
        best.1
    }

    fn among(&self, point: &Point, indices: impl Iterator<Item = usize>) -> usize {
        let far = |index: &usize| distance(point, &self.palette[*index]);
        indices
            .min_by(|a, b| far(a).total_cmp(&far(b)))
            .unwrap_or(0)
    }

    /// Colours that are nearest to some point of a cell: those not farther from its middle than the nearest one is by
    /// more than the cell's diagonal.
    fn candidates(&self, cell: [usize; 4]) -> Vec<u8> {
        let width: Point = std::array::from_fn(|n| SPAN[n] / CELLS[n] as f32);
        let middle: Point = std::array::from_fn(|n| FROM[n] + (cell[n] as f32 + 0.5) * width[n]);
        let diagonal = width.iter().map(|width| width * width).sum::<f32>().sqrt();
        let far: Vec<f32> = self
            .palette
            .iter()
            .map(|colour| distance(&middle, colour).sqrt())
            .collect();
        let reach = far.iter().copied().fold(f32::MAX, f32::min) + diagonal * 1.001;
        (0u8..=255)
            .zip(far)
            .filter(|(_, far)| *far <= reach)
            .map(|(index, _)| index)
            .collect()
    }
}

/// The cell a point lies in.
#[inline]
fn cell(point: &Point) -> Option<(usize, [usize; 4])> {
    let mut number = 0;
    let mut cell = [0; 4];
    for axis in 0..4 {
        let place = (point[axis] - FROM[axis]) * (CELLS[axis] as f32 / SPAN[axis]);
        if !(0.0..CELLS[axis] as f32).contains(&place) {
            return None;
        }
        cell[axis] = place as usize;
        number = number * CELLS[axis] + cell[axis];
    }
    Some((number, cell))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantise::point::{point, table};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_same_as_looking_at_every_colour(
            palette in proptest::collection::vec(any::<[u8; 4]>(), 1..=256),
            asked in proptest::collection::vec(any::<[u8; 4]>(), 100),
        ) {
            let palette: Vec<_> = palette.into_iter().map(|rgba| point(table(), rgba)).collect();
            let mut nearest = Nearest::new(&palette);
            for rgba in asked {
                let at = point(table(), rgba);
                let slow = nearest.among(&at, 0..palette.len());
                let fast = nearest.find(&at);
                prop_assert_eq!(distance(&at, &palette[fast]), distance(&at, &palette[slow]));
            }
        }
    }
}
