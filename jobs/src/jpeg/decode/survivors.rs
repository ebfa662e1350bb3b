//! Which coefficients are worth keeping while decoding: those that a coarser quantiser would not round to nothing.
//!
//! A permission, not an order: a decoder may keep more where sorting out costs more than it saves.

use crate::jpeg::frame::MAX_COMPONENTS;
use crate::jpeg::turn::transposed;
use crate::turn::Turn;

/// The smallest magnitude worth keeping, per component and zigzag index, in steps of the source's own table.
///
/// DC values are always kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survivors {
    floors: [[u16; 64]; MAX_COMPONENTS],
}

impl Survivors {
    /// Keeps everything.
    pub fn all() -> Self {
        Self {
            floors: [[1; 64]; MAX_COMPONENTS],
        }
    }

    /// Keeps what is at least `floors[component][zigzag index]` in magnitude; 0 and 1 keep everything.
    pub fn from_floors(floors: [[u16; 64]; MAX_COMPONENTS]) -> Self {
        let floors = floors.map(|component| component.map(|floor| floor.max(1)));
        Self { floors }
    }

    /// What must be kept of a picture that is turned after decoding, if `self` is what the turned one needs.
    pub(crate) fn turned(self, turn: Turn) -> Self {
        if !turn.transpose {
            return self;
        }
        let turned = |floors: [u16; 64]| std::array::from_fn(|k| floors[transposed(k)]);
        Self {
            floors: self.floors.map(turned),
        }
    }

    /// Smallest magnitudes kept of `component`.
    pub fn floors(&self, component: usize) -> &[u16; 64] {
        &self.floors[component]
    }

    /// What a sequential decoder does: the floor below which everything of `component` is dropped, and whether to look at
    /// each coefficient besides.
    ///
    /// Dropping below one floor is free, looking at each coefficient takes a fifth of the decoding time (measured). That
    /// pays only where the one floor drops nothing and the floors would drop most of what is not dropped with the tail.
    pub(super) fn sequential(&self, component: usize) -> (u16, bool) {
        let mut sorted = self.floors[component];
        let head = &mut sorted[1..self.tail(component).unwrap_or(64)];
        head.sort_unstable();
        match (head.first(), head.get(head.len() / 2)) {
            (Some(&least), Some(&middle)) => (least, least == 1 && middle > 2),
            (_, _) => (u16::MAX, false),
        }
    }

    /// The zigzag index (1 to 63) from which on nothing of `component` is kept, whatever it is.
    pub(super) fn tail(&self, component: usize) -> Option<usize> {
        let kept = self.floors[component]
            .iter()
            .rposition(|&floor| floor < u16::MAX);
        let from = kept.map_or(1, |last| last + 1);
        (from < 64).then_some(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_begins_behind_the_last_that_is_kept() {
        let tail = |floors: [u16; 64]| Survivors::from_floors([floors; 4]).tail(0);
        assert_eq!(tail([1; 64]), None);
        assert_eq!(tail([u16::MAX; 64]), Some(1));
        let mut floors = [u16::MAX; 64];
        floors[0] = 1;
        assert_eq!(tail(floors), Some(1));
        floors[24] = 9;
        assert_eq!(tail(floors), Some(25));
        floors[63] = 9;
        assert_eq!(tail(floors), None);
    }

    #[test]
    fn looks_at_each_coefficient_only_where_that_pays() {
        let sequential = |floors: [u16; 64]| Survivors::from_floors([floors; 4]).sequential(0);
        assert_eq!(Survivors::all().sequential(0), (1, false));
        assert_eq!(sequential([4; 64]), (4, false));
        let mut floors = [9; 64];
        (floors[0], floors[1]) = (0, 2);
        assert_eq!(sequential(floors), (2, false));
        floors[1] = 1;
        assert_eq!(sequential(floors), (1, true));
        floors[..40].fill(1);
        assert_eq!(sequential(floors), (1, false));
        // Of four before the tail, one is dropped.
        floors[1..].fill(u16::MAX);
        [floors[1], floors[2], floors[4]] = [1; 3];
        assert_eq!(sequential(floors), (1, false));
        assert_eq!(sequential([u16::MAX; 64]), (u16::MAX, false));
    }
}
