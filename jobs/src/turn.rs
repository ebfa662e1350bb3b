//! How a picture must be turned and mirrored to stand upright (EXIF's orientation), and turning of samples in memory.

use crate::{Budget, Error};

/// From a stored picture to the upright one: mirrored first, then transposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Turn {
    /// Left and right change places.
    pub(crate) mirror_x: bool,
    /// Top and bottom change places.
    pub(crate) mirror_y: bool,
    /// Rows become columns.
    pub(crate) transpose: bool,
}

impl Turn {
    /// What an orientation of 1 to 8 asks for (CIPA DC-008, tag 274); anything else is upright.
    pub(crate) fn of(orientation: u16) -> Self {
        let (mirror_x, mirror_y, transpose) = match orientation {
            2 => (true, false, false),
            3 => (true, true, false),
            4 => (false, true, false),
            5 => (false, false, true),
            6 => (false, true, true),
            7 => (true, true, true),
            8 => (true, false, true),
            _ => (false, false, false),
        };
        Self {
            mirror_x,
            mirror_y,
            transpose,
        }
    }

    /// Whether nothing is to be done.
    pub(crate) fn is_upright(self) -> bool {
        self == Self::default()
    }

    /// Width and height afterwards; it is its own inverse.
    pub(crate) fn size<T>(self, (width, height): (T, T)) -> (T, T) {
        if self.transpose {
            (height, width)
        } else {
            (width, height)
        }
    }

    /// Turns rows of samples; `unit` is the bytes of a pixel. Gives back the memory of what was there.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    pub(crate) fn apply(
        self,
        samples: Vec<u8>,
        (width, height): (u32, u32),
        unit: usize,
        budget: &Budget,
    ) -> Result<Vec<u8>, Error> {
        if self.is_upright() {
            return Ok(samples);
        }
        let (width, height) = (width as usize, height as usize);
        let mut out = budget.vec(samples.len())?;
        let (across, down) = self.size((width, height));
        for y in 0..down {
            for x in 0..across {
                let (x, y) = if self.transpose { (y, x) } else { (x, y) };
                let x = if self.mirror_x { width - 1 - x } else { x };
                let y = if self.mirror_y { height - 1 - y } else { y };
                let at = (y * width + x) * unit;
                out.extend_from_slice(&samples[at..at + unit]);
            }
        }
        budget.free(samples);
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_orientation_turns_as_the_standard_draws_it() {
        let budget = Budget::new(1000, 1000);
        // 1 2 3
        // 4 5 6
        let turned = |orientation| {
            Turn::of(orientation)
                .apply(vec![1, 2, 3, 4, 5, 6], (3, 2), 1, &budget)
                .unwrap_or_default()
        };
        assert_eq!(turned(1), [1, 2, 3, 4, 5, 6]);
        assert_eq!(turned(2), [3, 2, 1, 6, 5, 4]);
        assert_eq!(turned(3), [6, 5, 4, 3, 2, 1]);
        assert_eq!(turned(4), [4, 5, 6, 1, 2, 3]);
        assert_eq!(turned(5), [1, 4, 2, 5, 3, 6]);
        assert_eq!(turned(6), [4, 1, 5, 2, 6, 3]);
        assert_eq!(turned(7), [6, 3, 5, 2, 4, 1]);
        assert_eq!(turned(8), [3, 6, 2, 5, 1, 4]);
        assert_eq!(turned(9), turned(1));
    }

    #[test]
    fn pixels_of_several_bytes_stay_whole() {
        let budget = Budget::new(1000, 1000);
        let turned = Turn::of(2).apply(vec![1, 2, 3, 4, 5, 6], (2, 1), 3, &budget);
        assert_eq!(turned.unwrap_or_default(), [4, 5, 6, 1, 2, 3]);
    }
}
