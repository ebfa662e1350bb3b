//! A picture as AV1 stores it: luma and chroma in planes, full range; made from rows of pixels (ITU-R BT.601, as JPEG does).
//! Knows no bitstream.

use crate::raster::{Depth, Layout, Raster};
use crate::{Budget, Error};

/// Resolution of chroma.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sampling {
    /// There is none.
    None,
    /// That of luma.
    Full,
    /// Halved across.
    Half,
    /// Halved both ways.
    Quarter,
}

impl Sampling {
    /// How often width and height are halved.
    pub(super) fn shifts(self) -> (u32, u32) {
        match self {
            Self::None | Self::Full => (0, 0),
            Self::Half => (1, 0),
            Self::Quarter => (1, 1),
        }
    }

    /// Width and height of a chroma plane.
    pub(super) fn chroma(self, (width, height): (u32, u32)) -> (u32, u32) {
        let (across, down) = self.shifts();
        match self {
            Self::None => (0, 0),
            Self::Full | Self::Half | Self::Quarter => {
                (width.div_ceil(1 << across), height.div_ceil(1 << down))
            }
        }
    }
}

/// A picture in planes.
#[derive(Debug)]
pub(super) struct Planes {
    /// Pixels across.
    pub(super) width: u32,
    /// Pixels down.
    pub(super) height: u32,
    /// 8, or 10 in two bytes of the machine's order.
    pub(super) bits: u8,
    /// Resolution of chroma.
    pub(super) sampling: Sampling,
    /// Luma and two of chroma, rows without gaps. Claimed from the budget.
    pub(super) samples: [Vec<u8>; 3],
}

impl Planes {
    /// Bytes of a sample.
    pub(super) fn unit(&self) -> usize {
        if self.bits > 8 { 2 } else { 1 }
    }

    /// Width and height of a chroma plane.
    pub(super) fn chroma_size(&self) -> (u32, u32) {
        self.sampling.chroma((self.width, self.height))
    }

    /// Whether every plane has the size that width and height ask for.
    pub(super) fn fits(&self) -> bool {
        let area = |(width, height): (u32, u32)| width as usize * height as usize * self.unit();
        let chroma = area(self.chroma_size());
        let [y, u, v] = &self.samples;
        matches!(self.bits, 8 | 10)
            && self.width > 0
            && self.height > 0
            && y.len() == area((self.width, self.height))
            && u.len() == chroma
            && v.len() == chroma
    }

    /// Gives the memory back.
    pub(super) fn free(self, budget: &Budget) {
        self.samples
            .into_iter()
            .for_each(|plane| budget.free(plane));
    }

    fn empty(raster: &Raster, sampling: Sampling, budget: &Budget) -> Result<Self, Error> {
        let bits = match raster.depth {
            Depth::Eight => 8,
            Depth::Sixteen => 10,
        };
        let size = (raster.width, raster.height);
        let zeros = |(width, height): (u32, u32)| {
            let bytes = width as usize * height as usize * raster.depth.bytes();
            let mut plane = budget.vec(bytes)?;
            plane.resize(bytes, 0);
            Ok(plane)
        };
        let chroma = sampling.chroma(size);
        Ok(Self {
            width: size.0,
            height: size.1,
            bits,
            sampling,
            samples: [zeros(size)?, zeros(chroma)?, zeros(chroma)?],
        })
    }

    fn put(&mut self, plane: usize, at: usize, value: u32) {
        let samples = &mut self.samples[plane];
        if self.bits > 8 {
            samples[2 * at..][..2].copy_from_slice(&(value as u16).to_ne_bytes());
        } else {
            samples[at] = value as u8;
        }
    }
}

/// The colours of a picture as planes; gray has no chroma, whatever the sampling. Ink must have been converted before.
///
/// # Errors
/// [`Error::OverBudget`].
pub(super) fn colours(
    raster: &Raster,
    sampling: Sampling,
    budget: &Budget,
) -> Result<Planes, Error> {
    match raster.layout {
        Layout::Gray | Layout::GrayAlpha => channel(raster, 0, budget),
        Layout::Rgb | Layout::Rgba | Layout::Cmyk => {
            let mut planes = Planes::empty(raster, sampling, budget)?;
            let (across, down) = sampling.shifts();
            let mut sums = Sums::new(planes.chroma_size().0, budget)?;
            for y in 0..raster.height {
                luma_row(raster, y, across, &mut planes, &mut sums);
                if (y + 1) % (1 << down) == 0 || y + 1 == raster.height {
                    sums.put_row(&mut planes, y >> down);
                }
            }
            sums.free(budget);
            Ok(planes)
        }
    }
}

/// Green, blue and red as they are, for coding without loss (matrix 0 of ITU-T H.273); gray as [`channel`].
///
/// # Errors
/// [`Error::OverBudget`].
pub(super) fn exactly(raster: &Raster, budget: &Budget) -> Result<Planes, Error> {
    let colours = [1, 2, 0];
    match raster.layout {
        Layout::Gray | Layout::GrayAlpha => channel(raster, 0, budget),
        Layout::Rgb | Layout::Rgba | Layout::Cmyk => {
            let mut planes = Planes::empty(raster, Sampling::Full, budget)?;
            for at in 0..raster.width as usize * raster.height as usize {
                for (plane, channel) in colours.into_iter().enumerate() {
                    let value = sample(raster, at, channel);
                    planes.put(plane, at, value);
                }
            }
            Ok(planes)
        }
    }
}

/// One channel alone.
///
/// # Errors
/// [`Error::OverBudget`].
pub(super) fn channel(raster: &Raster, channel: usize, budget: &Budget) -> Result<Planes, Error> {
    let mut planes = Planes::empty(raster, Sampling::None, budget)?;
    for at in 0..raster.width as usize * raster.height as usize {
        let value = sample(raster, at, channel);
        planes.put(0, at, value);
    }
    Ok(planes)
}

/// A sample in the bits of the planes: eight as they are, sixteen rounded to ten.
fn sample(raster: &Raster, pixel: usize, channel: usize) -> u32 {
    let at = pixel * raster.layout.channels() + channel;
    match raster.depth {
        Depth::Eight => raster.samples[at].into(),
        Depth::Sixteen => {
            let two = [raster.samples[2 * at], raster.samples[2 * at + 1]];
            (u32::from(u16::from_ne_bytes(two)) * 1023 + 32_767) / 65_535
        }
    }
}

/// Chroma summed up until a row of its plane is full.
struct Sums {
    blue: Vec<i32>,
    red: Vec<i32>,
    counts: Vec<i32>,
}

impl Sums {
    fn new(width: u32, budget: &Budget) -> Result<Self, Error> {
        let zeros = || {
            let mut row = budget.vec(width as usize)?;
            row.resize(width as usize, 0);
            Ok(row)
        };
        Ok(Self {
            blue: zeros()?,
            red: zeros()?,
            counts: zeros()?,
        })
    }

    fn put_row(&mut self, planes: &mut Planes, y: u32) {
        let (width, most) = (self.counts.len(), (1 << planes.bits) - 1);
        for x in 0..width {
            let count = self.counts[x].max(1);
            for (plane, sum) in [(1, &mut self.blue[x]), (2, &mut self.red[x])] {
                let half = if *sum < 0 { -count / 2 } else { count / 2 };
                let value = ((*sum + half) / count + (most + 1) / 2).clamp(0, most);
                planes.put(plane, y as usize * width + x, value as u32);
                *sum = 0;
            }
            self.counts[x] = 0;
        }
    }

    fn free(self, budget: &Budget) {
        [self.blue, self.red, self.counts]
            .into_iter()
            .for_each(|row| budget.free(row));
    }
}

/// Luma of a row into its plane, chroma onto the sums.
fn luma_row(raster: &Raster, y: u32, across: u32, planes: &mut Planes, sums: &mut Sums) {
    let width = raster.width as usize;
    for x in 0..width {
        let at = y as usize * width + x;
        let [red, green, blue] = [0, 1, 2].map(|channel| sample(raster, at, channel) as i32);
        // BT.601's weights in 1/65536.
        let luma = (19_595 * red + 38_470 * green + 7_471 * blue + 32_768) >> 16;
        planes.put(0, at, luma as u32);
        let here = x >> across;
        sums.blue[here] += (-11_058 * red - 21_710 * green + 32_768 * blue + 32_768) >> 16;
        sums.red[here] += (32_768 * red - 27_439 * green - 5_329 * blue + 32_768) >> 16;
        sums.counts[here] += 1;
    }
}
