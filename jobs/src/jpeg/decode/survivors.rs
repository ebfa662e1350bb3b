//! Which coefficients are worth keeping while decoding: those that a coarser quantiser would not round to nothing.

use crate::jpeg::frame::MAX_COMPONENTS;

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

    /// Smallest magnitudes kept of `component`.
    pub fn floors(&self, component: usize) -> &[u16; 64] {
        &self.floors[component]
    }

    /// Whether everything is kept.
    pub fn keeps_all(&self) -> bool {
        self.floors.iter().flatten().all(|&floor| floor <= 1)
    }
}
