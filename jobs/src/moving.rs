//! Moving pictures at another size: frames laid on a canvas one after the other as their format says, each whole picture
//! resampled, and the part of it that differs from the one before. Holds a few canvases, whatever the number of frames.
//!
//! Pixels only: reading frames and writing them is for the formats' own modules. Pixels are straight RGBA in eight bits.

use crate::raster::Layout;
use crate::shrink::resample_rgb;
use crate::{Budget, Error};

/// A rectangle in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) left: u32,
    pub(crate) top: u32,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl Area {
    /// All of a picture.
    pub(crate) fn whole((width, height): (u32, u32)) -> Self {
        Self {
            left: 0,
            top: 0,
            width,
            height,
        }
    }

    /// The smallest that holds every pixel of a picture `width` wide that `is_in`; `None` where no pixel is.
    pub(crate) fn around(count: usize, width: u32, is_in: impl Fn(usize) -> bool) -> Option<Self> {
        let mut ends: Option<[u32; 4]> = None;
        for n in (0..count).filter(|&n| is_in(n)) {
            let (x, y) = (n as u32 % width, n as u32 / width);
            let [left, top, right, bottom] = ends.unwrap_or([x, y, x, y]);
            ends = Some([left.min(x), top.min(y), right.max(x), bottom.max(y)]);
        }
        ends.map(|[left, top, right, bottom]| Self {
            left,
            top,
            width: right - left + 1,
            height: bottom - top + 1,
        })
    }

    /// Indices of its pixels in a picture `width` wide, row by row.
    pub(crate) fn pixels(self, width: u32) -> impl Iterator<Item = usize> {
        let rows = self.top..self.top + self.height;
        let start = move |y: u32| (y * width + self.left) as usize;
        rows.flat_map(move |y| start(y)..start(y) + self.width as usize)
    }
}

/// How a frame is laid on what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Laid {
    /// Over it, as its alpha says.
    Over,
    /// In its place, alpha and all.
    Instead,
}

/// What becomes of a frame before the next one comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gone {
    /// It stays.
    Stays,
    /// Its place becomes transparent.
    Cleared,
    /// What was there before it comes back.
    Undone,
}

/// A frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patch<'a> {
    /// Pixels of its area.
    pub(crate) pixels: &'a [u8],
    /// Where it lies; what reaches beyond the canvas is not seen.
    pub(crate) area: Area,
    pub(crate) laid: Laid,
    pub(crate) gone: Gone,
}

/// The canvas of a moving picture, and its pictures at another size.
#[derive(Debug)]
pub(crate) struct Stage<'a> {
    size: (u32, u32),
    to: (u32, u32),
    linear: bool,
    budget: &'a Budget,
    canvas: Vec<u8>,
    /// What becomes of the frame that was laid last.
    pending: Option<(Area, Gone)>,
    /// The canvas before it, if that comes back.
    before: Vec<u8>,
}

impl<'a> Stage<'a> {
    /// A transparent canvas of `size`, to be seen at the size of `to`, resampled by its light if `linear`.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    pub(crate) fn new(
        size: (u32, u32),
        to: (u32, u32),
        linear: bool,
        budget: &'a Budget,
    ) -> Result<Self, Error> {
        let bytes = size.0 as usize * size.1 as usize * 4;
        let mut canvas = budget.vec(bytes)?;
        canvas.resize(bytes, 0);
        Ok(Self {
            size,
            to,
            linear,
            budget,
            canvas,
            pending: None,
            before: Vec::new(),
        })
    }

    /// The whole picture at the new size after this frame, claimed from the budget.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    pub(crate) fn show(&mut self, patch: Patch<'_>) -> Result<Vec<u8>, Error> {
        self.settle();
        if patch.gone == Gone::Undone {
            self.before = self.copy()?;
        }
        self.lay(patch);
        self.pending = Some((patch.area, patch.gone));
        let copy = self.copy()?;
        resample_rgb(
            copy,
            Layout::Rgba,
            self.size,
            self.to,
            self.linear,
            self.budget,
        )
    }

    fn copy(&self) -> Result<Vec<u8>, Error> {
        let mut copy = self.budget.vec(self.canvas.len())?;
        copy.extend_from_slice(&self.canvas);
        Ok(copy)
    }

    /// Does with the last frame what was to become of it.
    fn settle(&mut self) {
        match self.pending.take() {
            None | Some((_, Gone::Stays)) => {}
            Some((area, Gone::Cleared)) => self.rows(area, |_, row| row.fill(0)),
            Some((_, Gone::Undone)) => {
                let before = std::mem::take(&mut self.before);
                let after = std::mem::replace(&mut self.canvas, before);
                self.budget.free(after);
            }
        }
    }

    fn lay(&mut self, patch: Patch<'_>) {
        let stride = patch.area.width as usize * 4;
        self.rows(patch.area, |y, row| {
            let from = &patch.pixels[y * stride..][..row.len()];
            match patch.laid {
                Laid::Instead => row.copy_from_slice(from),
                Laid::Over => {
                    let pairs = row
                        .as_chunks_mut::<4>()
                        .0
                        .iter_mut()
                        .zip(from.as_chunks().0);
                    pairs.for_each(|(below, above)| *below = over(*above, *below));
                }
            }
        });
    }

    /// The rows of an area, as far as they lie on the canvas.
    fn rows(&mut self, area: Area, mut work: impl FnMut(usize, &mut [u8])) {
        let stride = self.size.0 as usize * 4;
        let left = area.left.min(self.size.0);
        let seen = area.width.min(self.size.0 - left) as usize * 4;
        let rows = self.canvas.chunks_exact_mut(stride).skip(area.top as usize);
        for (y, row) in rows.take(area.height as usize).enumerate() {
            work(y, &mut row[left as usize * 4..][..seen]);
        }
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        self.budget.free(std::mem::take(&mut self.canvas));
        self.budget.free(std::mem::take(&mut self.before));
    }
}

/// A pixel over another (PNG third edition, 13.16; the same as RFC 9649's), both straight.
fn over(above: [u8; 4], below: [u8; 4]) -> [u8; 4] {
    match (above[3], below[3]) {
        (255, _) => above,
        (0, _) => below,
        (_, 0) => above,
        (alpha, under) => {
            let (alpha, under) = (u32::from(alpha), u32::from(under));
            // All in units of 1 / (255 * 255).
            let (front, back) = (alpha * 255, under * (255 - alpha));
            let whole = front + back;
            let mix = |n: usize| {
                let sum = u32::from(above[n]) * front + u32::from(below[n]) * back;
                ((sum + whole / 2) / whole) as u8
            };
            [mix(0), mix(1), mix(2), ((whole + 127) / 255) as u8]
        }
    }
}

/// The part of a picture, row by row, claimed from the budget.
///
/// # Errors
/// [`Error::OverBudget`].
pub(crate) fn cut(
    picture: &[u8],
    width: u32,
    area: Area,
    budget: &Budget,
) -> Result<Vec<u8>, Error> {
    let pixels = picture.as_chunks::<4>().0;
    let mut part = budget.vec(area.width as usize * area.height as usize * 4)?;
    area.pixels(width)
        .for_each(|n| part.extend_from_slice(&pixels[n]));
    Ok(part)
}

/// Where a picture of this width differs from the one before; one pixel where it does not.
pub(crate) fn difference(picture: &[u8], before: Option<&[u8]>, size: (u32, u32)) -> Area {
    let Some(before) = before else {
        return Area::whole(size);
    };
    let (now, before) = (picture.as_chunks::<4>().0, before.as_chunks::<4>().0);
    let differs = |n: usize| now[n] != before[n];
    Area::around(now.len(), size.0, differs).unwrap_or(Area::whole((1, 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: [u8; 4] = [255, 0, 0, 255];
    const BLUE: [u8; 4] = [0, 0, 255, 255];
    const NONE: [u8; 4] = [0; 4];

    /// Pictures of four by one pixels, shown as they are, after frames of one colour each.
    fn shown(frames: &[(u32, u32, [u8; 4], Laid, Gone)]) -> Vec<Vec<[u8; 4]>> {
        let budget = Budget::new(1 << 20, 1 << 20);
        let mut stage = Stage::new((4, 1), (4, 1), false, &budget).expect("fits");
        let mut show = |&(left, width, colour, laid, gone): &(u32, u32, [u8; 4], Laid, Gone)| {
            let pixels = colour.repeat(width as usize);
            let area = Area {
                left,
                top: 0,
                width,
                height: 1,
            };
            let patch = Patch {
                pixels: &pixels,
                area,
                laid,
                gone,
            };
            let seen = stage.show(patch).expect("fits");
            seen.as_chunks().0.to_vec()
        };
        frames.iter().map(&mut show).collect()
    }

    #[test]
    fn frames_stay_go_and_come_back() {
        use Gone::{Cleared, Stays, Undone};
        let seen = shown(&[
            (0, 4, RED, Laid::Over, Stays),
            (1, 2, BLUE, Laid::Over, Undone),
            (3, 1, BLUE, Laid::Over, Cleared),
            (0, 1, BLUE, Laid::Over, Stays),
        ]);
        assert_eq!(seen[0], [RED; 4]);
        assert_eq!(seen[1], [RED, BLUE, BLUE, RED]);
        assert_eq!(seen[2], [RED, RED, RED, BLUE]);
        assert_eq!(seen[3], [BLUE, RED, RED, NONE]);
    }

    #[test]
    fn transparent_pixels_lie_over_or_instead_and_nothing_beyond_the_edge() {
        use Gone::Stays;
        let seen = shown(&[
            (0, 4, RED, Laid::Over, Stays),
            (0, 1, NONE, Laid::Over, Stays),
            (1, 1, NONE, Laid::Instead, Stays),
            (3, 9, BLUE, Laid::Over, Stays),
            (7, 2, RED, Laid::Over, Stays),
        ]);
        assert_eq!(seen[1], [RED; 4]);
        assert_eq!(seen[2], [RED, NONE, RED, RED]);
        assert_eq!(seen[4], [RED, NONE, RED, BLUE]);
    }

    #[test]
    fn half_transparent_pixels_mix() {
        assert_eq!(over([255, 0, 0, 128], BLUE), [128, 0, 127, 255]);
        // Two halves cover three quarters; two thirds of that is the upper one.
        let mixed = over([255, 0, 0, 128], [0, 0, 255, 128]);
        assert_eq!(mixed, [170, 0, 85, 192]);
    }

    #[test]
    fn the_difference_is_the_smallest_rectangle() {
        let before = NONE.repeat(6);
        let mut now = before.clone();
        now[4 * 4] = 9;
        let expected = Area {
            left: 1,
            top: 1,
            width: 1,
            height: 1,
        };
        assert_eq!(difference(&now, Some(&before), (3, 2)), expected);
        assert_eq!(difference(&now, Some(&now), (3, 2)), Area::whole((1, 1)));
        assert_eq!(difference(&now, None, (3, 2)), Area::whole((3, 2)));
    }
}
