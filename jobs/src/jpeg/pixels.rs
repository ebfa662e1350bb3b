//! A JPEG as pixels: chroma brought to full size the way libjpeg does it by default, colours out of their transform, ink
//! right way round.

use super::color;
use super::decode::Decoder;
use super::encode::Role;
use super::frame::{Component, Frame, Segment};
use super::samples::{Opened, Plain, open, together};
use crate::raster::{Carried, Depth, Layout, Raster};
use crate::{Budget, Error, Note, Source};

/// A decoded file.
#[derive(Debug)]
pub(crate) struct Decoded {
    /// The pixels; nothing is carried yet.
    pub(crate) raster: Raster,
    /// APPn and COM segments.
    pub(crate) segments: Vec<Segment>,
    /// What was odd.
    pub(crate) notes: Vec<Note>,
}

/// Decodes the first picture of `source`, at a half, a quarter or an eighth of its size if that is not below `wanted`.
///
/// # Errors
/// Those of decoding; two components are [`Error::Unsupported`].
pub(crate) fn read(
    source: &dyn Source,
    wanted: Option<(u32, u32)>,
    budget: &Budget,
) -> Result<Decoded, Error> {
    decode(source, wanted, None, budget)
}

/// Decodes a picture whose components are what a file around it says, whatever its own markers say; `colours` must be of as many
/// components.
///
/// # Errors
/// Those of decoding.
pub(crate) fn read_as(
    source: &dyn Source,
    colours: Colours,
    budget: &Budget,
) -> Result<Raster, Error> {
    decode(source, None, Some(colours), budget).map(|decoded| decoded.raster)
}

fn decode(
    source: &dyn Source,
    wanted: Option<(u32, u32)>,
    colours: Option<Colours>,
    budget: &Budget,
) -> Result<Decoded, Error> {
    let decoder = Decoder::open(source, budget)?;
    let frame = decoder.header().frame.clone();
    let whole = (u32::from(frame.width), u32::from(frame.height));
    let wanted = together(&frame, wanted.unwrap_or(whole));
    let scale = wanted.first().map_or(8, |wanted| wanted.across);
    let Opened {
        samples,
        segments,
        notes,
    } = open(decoder, &wanted, budget)?;
    let side = |pixels: u32| (pixels as usize * scale).div_ceil(8);
    let size = (side(whole.0), side(whole.1));
    let colours = match colours {
        Some(told) => told,
        None => Colours::of(&frame, &segments)?,
    };
    let channels = colours.layout().channels();
    let mut out = budget.vec(size.0 * size.1 * channels)?;
    let planes: Vec<Upsampled<'_>> = samples
        .iter()
        .zip(&frame.components)
        .map(|(plain, component)| Upsampled::new(plain, component, &frame, size))
        .collect();
    let mut rows = vec![vec![0_u8; size.0]; planes.len()];
    for y in 0..size.1 {
        for (plane, row) in planes.iter().zip(&mut rows) {
            plane.row(y, row);
        }
        colours.append(&rows, &mut out);
    }
    for plain in samples {
        budget.free(plain.all.bytes);
    }
    Ok(Decoded {
        raster: Raster {
            width: size.0 as u32,
            height: size.1 as u32,
            layout: colours.layout(),
            depth: Depth::Eight,
            samples: out,
            carried: Carried::default(),
        },
        segments,
        notes,
    })
}

/// What the components are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colours {
    Gray,
    Rgb,
    Ycc,
    /// Ink; Adobe's programs store how much paper is left instead.
    Cmyk {
        /// It is paper that is stored.
        inverted: bool,
    },
    /// CMY as YCC, and black.
    Ycck,
}

impl Colours {
    fn of(frame: &Frame, segments: &[Segment]) -> Result<Self, Error> {
        let transformed = color::roles(frame, segments).contains(&Role::Chroma);
        match (frame.components.len(), transformed) {
            (1, _) => Ok(Self::Gray),
            (3, true) => Ok(Self::Ycc),
            (3, false) => Ok(Self::Rgb),
            (4, true) => Ok(Self::Ycck),
            (4, false) => Ok(Self::Cmyk {
                inverted: color::has_adobe(segments),
            }),
            (count, _) => Err(Error::Unsupported(format!(
                "the pixels of a JPEG of {count} components"
            ))),
        }
    }

    fn layout(self) -> Layout {
        match self {
            Self::Gray => Layout::Gray,
            Self::Rgb | Self::Ycc => Layout::Rgb,
            Self::Cmyk { .. } | Self::Ycck => Layout::Cmyk,
        }
    }

    /// Appends a row of pixels made of a row of each component.
    fn append(self, rows: &[Vec<u8>], out: &mut Vec<u8>) {
        match (self, rows) {
            (Self::Gray, [gray, ..]) => out.extend_from_slice(gray),
            (Self::Rgb, [r, g, b, ..]) => {
                let pixels = r.iter().zip(g).zip(b);
                out.extend(pixels.flat_map(|((&r, &g), &b)| [r, g, b]));
            }
            (Self::Ycc, [y, cb, cr, ..]) => {
                let pixels = y.iter().zip(cb).zip(cr);
                out.extend(pixels.flat_map(|((&y, &cb), &cr)| rgb_of_ycc(y, cb, cr)));
            }
            (Self::Cmyk { inverted }, [c, m, y, k]) => {
                let mask = if inverted { 255 } else { 0 };
                let pixels = c.iter().zip(m).zip(y).zip(k);
                out.extend(pixels.flat_map(|(((&c, &m), &y), &k)| [c, m, y, k].map(|v| v ^ mask)));
            }
            (Self::Ycck, [y, cb, cr, k]) => {
                let pixels = y.iter().zip(cb).zip(cr).zip(k);
                // The transform is of what paper is left, as Adobe stores it; its complement is ink.
                out.extend(pixels.flat_map(|(((&y, &cb), &cr), &k)| {
                    let [c, m, y] = rgb_of_ycc(y, cb, cr);
                    [c, m, y, 255 - k]
                }));
            }
            (Self::Gray | Self::Rgb | Self::Ycc | Self::Cmyk { .. } | Self::Ycck, _) => {}
        }
    }
}

/// JFIF's transform back, in the integers libjpeg uses.
fn rgb_of_ycc(y: u8, cb: u8, cr: u8) -> [u8; 3] {
    let (y, cb, cr) = (i32::from(y), i32::from(cb) - 128, i32::from(cr) - 128);
    let half = 1 << 15;
    let red = y + ((91_881 * cr + half) >> 16);
    let green = y + ((-22_554 * cb - 46_802 * cr + half) >> 16);
    let blue = y + ((116_130 * cb + half) >> 16);
    [red, green, blue].map(|value| value.clamp(0, 255) as u8)
}

/// How a side is brought to full size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grow {
    /// It has it.
    Not,
    /// Twice, each sample a quarter of the way to its neighbour (libjpeg's triangle).
    Double,
    /// Each sample as often as needed.
    Repeat,
}

impl Grow {
    /// For factors out of `most`; `samples` of the smaller side.
    fn of(own: u8, most: u8, samples: usize) -> Self {
        match (own == most, own * 2 == most) {
            (true, _) => Self::Not,
            (false, true) if samples > 2 => Self::Double,
            (false, true | false) => Self::Repeat,
        }
    }
}

/// A component at the size of the picture, row by row.
#[derive(Debug)]
struct Upsampled<'a> {
    plain: &'a Plain,
    across: Grow,
    down: Grow,
    /// Samples that are picture.
    own: (usize, usize),
    /// Size of the picture.
    size: (usize, usize),
    /// Own factors and the largest, across and down.
    shares: [(usize, usize); 2],
}

impl<'a> Upsampled<'a> {
    fn new(plain: &'a Plain, component: &Component, frame: &Frame, size: (usize, usize)) -> Self {
        let (width, height) = plain.used(component, frame);
        let own = (width.ceil() as usize, height.ceil() as usize);
        let (across, down) = (
            Grow::of(component.h, frame.h_max, own.0),
            Grow::of(component.v, frame.v_max, own.0),
        );
        // libjpeg doubles both ways, across, or (turbo) down; halved down only it is doubled down.
        Self {
            plain,
            across,
            down,
            own,
            size,
            shares: [(component.h, frame.h_max), (component.v, frame.v_max)]
                .map(|(own, most)| (usize::from(own), usize::from(most))),
        }
    }

    fn stored(&self, y: usize) -> &[u8] {
        let stride = self.plain.all.width as usize;
        let y = y.min(self.own.1 - 1);
        &self.plain.all.bytes[y * stride..y * stride + self.own.0]
    }

    /// Row `y` of the picture.
    fn row(&self, y: usize, out: &mut [u8]) {
        let (near, far) = match self.down {
            Grow::Not => (y, y),
            Grow::Repeat => (y * self.shares[1].0 / self.shares[1].1, usize::MAX),
            Grow::Double if y.is_multiple_of(2) => (y / 2, (y / 2).saturating_sub(1)),
            Grow::Double => (y / 2, y / 2 + 1),
        };
        let near = self.stored(near);
        match (self.across, self.down) {
            (Grow::Not, Grow::Not | Grow::Repeat) => out.copy_from_slice(near),
            (Grow::Not, Grow::Double) => {
                let bias = 1 + y as u16 % 2;
                let pairs = near.iter().zip(self.stored(far));
                for (out, (&near, &far)) in out.iter_mut().zip(pairs) {
                    *out = ((3 * u16::from(near) + u16::from(far) + bias) >> 2) as u8;
                }
            }
            (Grow::Double, Grow::Not | Grow::Repeat) => double(near, out),
            (Grow::Double, Grow::Double) => double_both(near, self.stored(far), out),
            (Grow::Repeat, _) => {
                let (own, most) = self.shares[0];
                for (x, out) in out.iter_mut().enumerate().take(self.size.0) {
                    *out = near[(x * own / most).min(near.len() - 1)];
                }
            }
        }
    }
}

/// Doubles a row: three parts of the nearer sample, one of the other.
fn double(row: &[u8], out: &mut [u8]) {
    let last = row.len() - 1;
    for (x, out) in out.iter_mut().enumerate() {
        let n = (x / 2).min(last);
        let other = if x % 2 == 0 {
            n.checked_sub(1)
        } else {
            Some(n + 1).filter(|&n| n <= last)
        };
        let value = |n: usize| u16::from(row[n]);
        *out = match other {
            None => row[n],
            Some(other) => ((3 * value(n) + value(other) + 1 + x as u16 % 2) >> 2) as u8,
        };
    }
}

/// The same with a row that is three parts of `near` and one of `far`.
fn double_both(near: &[u8], far: &[u8], out: &mut [u8]) {
    let last = near.len() - 1;
    let value = |n: usize| 3 * u16::from(near[n]) + u16::from(far[n]);
    for (x, out) in out.iter_mut().enumerate() {
        let n = (x / 2).min(last);
        let bias = 8 - x as u16 % 2;
        let other = if x % 2 == 0 {
            n.saturating_sub(1)
        } else {
            (n + 1).min(last)
        };
        *out = ((3 * value(n) + value(other) + bias) >> 4) as u8;
    }
}

#[cfg(test)]
mod tests;
