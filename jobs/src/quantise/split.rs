//! Cuts the points into boxes: always the box with the largest spread, across the axis along which it spreads most, where the
//! two halves spread least (the criterion of Wu 1991, on points instead of a grid).

use super::histogram::Weighted;
use super::point::Point;

/// Centres of at most `count` boxes.
pub(super) fn split(points: &[Weighted], count: usize) -> Vec<Point> {
    let mut order: Vec<Weighted> = points.to_vec();
    let mut boxes = vec![Box::of(&order, 0, order.len())];
    while boxes.len() < count {
        let widest = boxes
            .iter()
            .enumerate()
            .max_by(|(_, a), (_, b)| a.spread.total_cmp(&b.spread));
        let Some((chosen, part)) = widest.filter(|(_, part)| part.spread > 0.0) else {
            break;
        };
        let (start, end, axis) = (part.start, part.end, part.axis);
        order[start..end].sort_unstable_by(|a, b| a.point[axis].total_cmp(&b.point[axis]));
        let cut = start + best_cut(&order[start..end]);
        boxes[chosen] = Box::of(&order, start, cut);
        boxes.push(Box::of(&order, cut, end));
    }
    boxes.iter().map(|part| part.centre).collect()
}

/// A range of the ordered points.
struct Box {
    start: usize,
    end: usize,
    centre: Point,
    /// Weighted sum of squared distances from the centre; 0 for what cannot be cut.
    spread: f32,
    axis: usize,
}

impl Box {
    fn of(order: &[Weighted], start: usize, end: usize) -> Self {
        let mut sums = Sums::default();
        for point in &order[start..end] {
            sums.add(point);
        }
        let spreads = sums.spreads();
        let axis = (0..4)
            .max_by(|&a, &b| spreads[a].total_cmp(&spreads[b]))
            .unwrap_or(0);
        let spread = if end - start < 2 {
            0.0
        } else {
            spreads.iter().sum::<f64>() as f32
        };
        Self {
            start,
            end,
            centre: sums.mean(),
            spread,
            axis,
        }
    }
}

/// Where to cut points that are in order along an axis, so that both halves together spread least; at least one stays
/// on each side.
fn best_cut(points: &[Weighted]) -> usize {
    let mut whole = Sums::default();
    for point in points {
        whole.add(point);
    }
    let mut left = Sums::default();
    let (mut best, mut cut) = (f64::MIN, points.len() / 2);
    for (n, point) in points[..points.len() - 1].iter().enumerate() {
        left.add(point);
        // Least spread within is most spread between: the sums of squares of the halves' means.
        let between = left.square_over_weight() + whole.minus(&left).square_over_weight();
        if between > best {
            (best, cut) = (between, n + 1);
        }
    }
    cut
}

/// Weighted sums of points and of their squares.
#[derive(Default, Clone, Copy)]
struct Sums {
    weight: f64,
    first: [f64; 4],
    second: [f64; 4],
}

impl Sums {
    fn add(&mut self, item: &Weighted) {
        let weight = f64::from(item.weight);
        self.weight += weight;
        for (axis, value) in item.point.iter().enumerate() {
            let value = f64::from(*value);
            self.first[axis] += weight * value;
            self.second[axis] += weight * value * value;
        }
    }

    fn minus(&self, other: &Self) -> Self {
        Self {
            weight: self.weight - other.weight,
            first: std::array::from_fn(|n| self.first[n] - other.first[n]),
            second: std::array::from_fn(|n| self.second[n] - other.second[n]),
        }
    }

    fn mean(&self) -> Point {
        self.first
            .map(|sum| (sum / self.weight.max(f64::MIN_POSITIVE)) as f32)
    }

    fn spreads(&self) -> [f64; 4] {
        let weight = self.weight.max(f64::MIN_POSITIVE);
        std::array::from_fn(|n| (self.second[n] - self.first[n] * self.first[n] / weight).max(0.0))
    }

    fn square_over_weight(&self) -> f64 {
        self.first.iter().map(|sum| sum * sum).sum::<f64>() / self.weight.max(f64::MIN_POSITIVE)
    }
}
