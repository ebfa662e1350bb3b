//! A decoded AV1 picture as rows of pixels: chroma spread out, colours by the matrix the file names (ITU-T H.273), eight bits as
//! they are and more as sixteen. Knows no files.

use super::libaom::{Decoded, Fault};
use super::planes::Sampling;
use super::{meaning, unsupported};
use crate::raster::{Depth, Layout};
use crate::{Budget, Error};

/// How samples become colours.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Matrix {
    /// Planes are green, blue and red.
    Identity,
    /// Weights of red and blue in luma.
    Weights(f32, f32),
}

impl Matrix {
    fn of(number: u8) -> Result<Self, Error> {
        Ok(match number {
            0 => Self::Identity,
            1 => Self::Weights(0.2126, 0.0722),
            // Unspecified is read as JPEG's.
            2 | 5 | 6 => Self::Weights(0.299, 0.114),
            9 => Self::Weights(0.2627, 0.0593),
            other => {
                let what = format!("an AVIF with the colour matrix {other}");
                return Err(unsupported(what));
            }
        })
    }
}

/// Pixels of a picture.
#[derive(Debug)]
pub(super) struct Pixels {
    pub(super) layout: Layout,
    pub(super) depth: Depth,
    /// Claimed from the budget.
    pub(super) samples: Vec<u8>,
}

/// The picture with its alpha, if any, which must be as large; `matrix` and `full` say how to read its samples.
///
/// # Errors
/// [`Error::Unsupported`] names a matrix that is not read; [`Error::Corrupt`], [`Error::OverBudget`].
pub(super) fn of(
    colour: &Decoded,
    alpha: Option<(&Decoded, bool)>,
    (matrix, full): (u8, bool),
    budget: &Budget,
) -> Result<Pixels, Error> {
    let shape = colour.shape;
    let gray = shape.sampling == Sampling::None;
    let matrix = Matrix::of(matrix)?;
    if matrix == Matrix::Identity && !gray && shape.sampling != Sampling::Full {
        return Err(super::corrupt("red and blue of another size than green"));
    }
    let layout = match (gray, alpha.is_some()) {
        (true, false) => Layout::Gray,
        (true, true) => Layout::GrayAlpha,
        (false, false) => Layout::Rgb,
        (false, true) => Layout::Rgba,
    };
    let depth = if shape.bits == 8 {
        Depth::Eight
    } else {
        Depth::Sixteen
    };
    let (width, height) = shape.size;
    let unit = layout.channels() * depth.bytes();
    let mut samples = budget.vec(width as usize * height as usize * unit)?;
    let mut rows = Rows::new(width as usize, budget)?;
    for y in 0..height {
        rows.read(colour, y, (matrix, full)).map_err(meaning)?;
        if let Some((alpha, full)) = alpha {
            line(alpha, 0, y, &mut rows.alpha, Range::luma(alpha, full)).map_err(meaning)?;
        }
        for x in 0..width as usize {
            let colours = rows.colours(x, gray, matrix);
            let used = if gray { 1 } else { 3 };
            let alpha = alpha.is_some().then_some(rows.alpha[x]);
            for value in colours.into_iter().take(used).chain(alpha) {
                push(&mut samples, value, depth);
            }
        }
    }
    rows.free(budget);
    Ok(Pixels {
        layout,
        depth,
        samples,
    })
}

/// Appends a value of 0 to 1.
fn push(samples: &mut Vec<u8>, value: f32, depth: Depth) {
    let value = value.clamp(0.0, 1.0);
    match depth {
        Depth::Eight => samples.push((value * 255.0 + 0.5) as u8),
        Depth::Sixteen => {
            samples.extend_from_slice(&((value * 65_535.0 + 0.5) as u16).to_ne_bytes());
        }
    }
}

/// What a sample's numbers mean: `(sample - zero) * scale`.
#[derive(Debug, Clone, Copy)]
struct Range {
    zero: f32,
    scale: f32,
}

impl Range {
    fn luma(picture: &Decoded, full: bool) -> Self {
        let step = f32::from(1_u16 << (picture.shape.bits - 8));
        if full {
            let most = 256.0 * step - 1.0;
            Self {
                zero: 0.0,
                scale: 1.0 / most,
            }
        } else {
            Self {
                zero: 16.0 * step,
                scale: 1.0 / (219.0 * step),
            }
        }
    }

    /// Chroma around zero, from -1/2 to 1/2.
    fn chroma(picture: &Decoded, full: bool) -> Self {
        let step = f32::from(1_u16 << (picture.shape.bits - 8));
        let width = if full {
            256.0 * step - 1.0
        } else {
            224.0 * step
        };
        Self {
            zero: 128.0 * step,
            scale: 1.0 / width,
        }
    }
}

/// One row of every plane, chroma spread to the width of luma.
struct Rows {
    luma: Vec<f32>,
    chroma: [Vec<f32>; 2],
    alpha: Vec<f32>,
    near: Vec<f32>,
    far: Vec<f32>,
}

impl Rows {
    fn new(width: usize, budget: &Budget) -> Result<Self, Error> {
        let row = || {
            let mut row = budget.vec(width)?;
            row.resize(width, 0.0);
            Ok(row)
        };
        Ok(Self {
            luma: row()?,
            chroma: [row()?, row()?],
            alpha: row()?,
            near: row()?,
            far: row()?,
        })
    }

    fn free(self, budget: &Budget) {
        let [blue, red] = self.chroma;
        [self.luma, blue, red, self.alpha, self.near, self.far]
            .into_iter()
            .for_each(|row| budget.free(row));
    }

    fn read(
        &mut self,
        picture: &Decoded,
        y: u32,
        (matrix, full): (Matrix, bool),
    ) -> Result<(), Fault> {
        line(picture, 0, y, &mut self.luma, Range::luma(picture, full))?;
        let sampling = picture.shape.sampling;
        if sampling == Sampling::None {
            return Ok(());
        }
        let (across, down) = sampling.shifts();
        let size = sampling.chroma(picture.shape.size);
        let range = match matrix {
            Matrix::Identity => Range::luma(picture, full),
            Matrix::Weights(..) => Range::chroma(picture, full),
        };
        for plane in 1..3 {
            let to = &mut self.chroma[plane - 1];
            if across == 0 {
                line(picture, plane, y, to, range)?;
                continue;
            }
            let (near, far) = (
                &mut self.near[..size.0 as usize],
                &mut self.far[..size.0 as usize],
            );
            line(picture, plane, y >> down, near, range)?;
            if down == 1 {
                // Samples lie between two rows of luma: three quarters of the nearer one, a quarter of the other.
                let other = if y.is_multiple_of(2) {
                    (y / 2).saturating_sub(1)
                } else {
                    y / 2 + 1
                };
                line(picture, plane, other.min(size.1 - 1), far, range)?;
                for (near, far) in near.iter_mut().zip(&*far) {
                    *near = 0.75 * *near + 0.25 * far;
                }
            }
            spread(near, to);
        }
        Ok(())
    }

    /// Red, green and blue of a pixel, or gray.
    fn colours(&self, x: usize, gray: bool, matrix: Matrix) -> [f32; 3] {
        let luma = self.luma[x];
        if gray {
            return [luma; 3];
        }
        let (blue, red) = (self.chroma[0][x], self.chroma[1][x]);
        match matrix {
            Matrix::Identity => [red, luma, blue],
            Matrix::Weights(kr, kb) => {
                let r = luma + 2.0 * (1.0 - kr) * red;
                let b = luma + 2.0 * (1.0 - kb) * blue;
                [r, (luma - kr * r - kb * b) / (1.0 - kr - kb), b]
            }
        }
    }
}

/// A row of a plane, as its range says.
fn line(
    picture: &Decoded,
    plane: usize,
    y: u32,
    to: &mut [f32],
    range: Range,
) -> Result<(), Fault> {
    let bytes = picture.row(plane, y)?;
    let unit = picture.unit();
    for (to, sample) in to.iter_mut().zip(bytes.chunks_exact(unit)) {
        let value = match sample {
            &[low, high] => f32::from(u16::from_ne_bytes([low, high])),
            _ => f32::from(sample[0]),
        };
        *to = (value - range.zero) * range.scale;
    }
    Ok(())
}

/// Half as many samples as there are pixels, each lying between two of them.
fn spread(half: &[f32], to: &mut [f32]) {
    let last = half.len() - 1;
    for (x, to) in to.iter_mut().enumerate() {
        let near = x / 2;
        let other = if x % 2 == 0 {
            near.saturating_sub(1)
        } else {
            (near + 1).min(last)
        };
        *to = 0.75 * half[near] + 0.25 * half[other];
    }
}
