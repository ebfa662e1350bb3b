//! The image chunks of one still picture (a whole file's, or a frame's): decoded once, coded any number of times.
//!
//! Claims what libwebp takes from the budget, by measured figures per pixel, before it is called. Lossy pictures are never
//! turned into RGB on the way: VP8's own planes go from decoder to encoder.

use super::content::BEST;
use super::libwebp::{Coding, Fault, LONGEST, Picture, Planes, decode_planes, decode_rgb};
use super::riff::{Piece, Shape, parse};
use super::{corrupt, origin, unsupported};
use crate::raster::Layout;
use crate::{Budget, Error};
use std::borrow::Cow;

/// What libwebp takes beside the pixels, in bytes per hundred pixels, measured by peak resident memory: photographs took 55 to
/// 190 in lossy coding, 1700 to 2100 more for alpha, 2900 to 4500 in exact coding. Noise at the highest quality took 2700 in lossy
/// coding, more than is claimed; there it is the process's own limit that says no.
const LOSSY_CODER: u64 = 200;
const ALPHA_CODER: u64 = 2200;
const EXACT_CODER: u64 = 4500;
const EXACT_DECODER: u64 = 500;
/// The same that does not depend on the size.
const FIXED: u64 = 2 << 20;
/// Rows turned into planes at a time; even, because chroma is made of two.
const BAND: usize = 64;

/// A still picture as it is stored.
#[derive(Debug, Clone)]
pub(super) struct Image<'a> {
    /// `ALPH` and `VP8 `, or `VP8L`.
    pub(super) pieces: Vec<Piece<'a>>,
    /// Width and height.
    pub(super) size: (u32, u32),
    /// Whether it has an alpha channel.
    pub(super) alpha: bool,
    /// Whether it is stored without loss.
    pub(super) exact: bool,
}

impl<'a> Image<'a> {
    /// Finds the picture among `pieces` and reads its header.
    ///
    /// # Errors
    /// [`Error::Corrupt`] where there is none or its header makes no sense.
    pub(super) fn find(pieces: &[Piece<'a>]) -> Result<Self, Error> {
        let position = pieces
            .iter()
            .position(|piece| matches!(&piece.name, b"VP8 " | b"VP8L"));
        let at = position.ok_or_else(|| corrupt("it has no picture"))?;
        let exact = &pieces[at].name == b"VP8L";
        let before = at
            .checked_sub(1)
            .filter(|&n| &pieces[n].name == b"ALPH" && !exact);
        let payload = &pieces[at].payload;
        let (size, alpha) = if exact {
            exact_header(payload)
        } else {
            lossy_header(payload).map(|size| (size, before.is_some()))
        }
        .ok_or_else(|| corrupt("the picture's header makes no sense"))?;
        Ok(Self {
            pieces: pieces[before.unwrap_or(at)..=at].to_vec(),
            size,
            alpha,
            exact,
        })
    }

    /// libwebp's quality at which it was coded, the best where that is not known or it was coded without loss.
    pub(super) fn own_quality(&self) -> f32 {
        let lossy = self.pieces.iter().find(|piece| &piece.name == b"VP8 ");
        lossy
            .and_then(|piece| origin::quality(&piece.payload))
            .unwrap_or(BEST)
    }

    pub(super) fn pixels(&self) -> u64 {
        u64::from(self.size.0) * u64::from(self.size.1)
    }

    /// The picture alone, as a file.
    fn file(&self, budget: &Budget) -> Result<Vec<u8>, Error> {
        let shape = Shape {
            canvas: self.size,
            alpha: self.alpha,
            pieces: self.pieces.iter().collect(),
            tail: &[],
        };
        let mut file = budget.vec(shape.length() as usize)?;
        shape.write(&mut file)?;
        Ok(file)
    }

    fn decoded<T>(
        &self,
        budget: &Budget,
        decode: impl FnOnce(&[u8]) -> Result<T, Fault>,
    ) -> Result<T, Error> {
        let file = self.file(budget)?;
        let share = if self.exact || self.alpha {
            EXACT_DECODER
        } else {
            0
        };
        let done = with_claim(self.pixels() * share / 100 + FIXED, budget, || {
            decode(&file)
        });
        budget.free(file);
        done
    }

    /// VP8's own planes of a lossy picture.
    ///
    /// # Errors
    /// See [`Error`].
    fn planes(&self, budget: &Budget) -> Result<Planes, Error> {
        let (width, height) = self.size;
        let luma = width as usize * height as usize;
        let chroma = Planes::chroma(width, height);
        let mut planes = Planes {
            width,
            height,
            y: zeros(luma, budget)?,
            u: zeros(chroma, budget)?,
            v: zeros(chroma, budget)?,
            alpha: if self.alpha {
                Some(zeros(luma, budget)?)
            } else {
                None
            },
        };
        self.decoded(budget, |file| decode_planes(file, &mut planes))?;
        Ok(planes)
    }

    /// Its pixels as RGB, or RGBA where it has alpha.
    ///
    /// # Errors
    /// See [`Error`].
    pub(super) fn plain(&self, budget: &Budget) -> Result<Plain, Error> {
        let layout = if self.alpha {
            Layout::Rgba
        } else {
            Layout::Rgb
        };
        let mut samples = zeros(self.pixels() as usize * layout.channels(), budget)?;
        self.decoded(budget, |file| {
            decode_rgb(file, self.size, layout.channels(), &mut samples)
        })?;
        Ok(Plain {
            samples,
            layout,
            size: self.size,
        })
    }
}

/// Pixels in memory, eight bits, RGB or RGBA.
#[derive(Debug)]
pub(super) struct Plain {
    /// Rows without gaps, claimed from the budget.
    pub(super) samples: Vec<u8>,
    pub(super) layout: Layout,
    pub(super) size: (u32, u32),
}

/// A coded picture's chunks.
pub(super) type Pieces = Vec<Piece<'static>>;

/// VP8's planes, to be coded lossily.
#[derive(Debug)]
pub(crate) struct Lossy(Planes);

impl Lossy {
    /// Luma and both chroma planes in video's range, chroma half as wide and high as luma, rounded up.
    pub(crate) fn of_planes((width, height): (u32, u32), [y, u, v]: [Vec<u8>; 3]) -> Self {
        Self(Planes {
            width,
            height,
            y,
            u,
            v,
            alpha: None,
        })
    }

    /// Width and height.
    pub(super) fn size(&self) -> (u32, u32) {
        (self.0.width, self.0.height)
    }

    /// The picture's own planes where it is lossy already, else made of its colours.
    ///
    /// # Errors
    /// See [`Error`].
    pub(super) fn of(image: &Image<'_>, budget: &Budget) -> Result<Self, Error> {
        if image.exact {
            Self::of_plain(image.plain(budget)?, budget)
        } else {
            image.planes(budget).map(Self)
        }
    }

    /// Planes made of colours, a band of rows at a time: luma takes the place of the colours it was made of, so that a picture
    /// is never in memory twice.
    ///
    /// # Errors
    /// See [`Error`].
    pub(super) fn of_plain(plain: Plain, budget: &Budget) -> Result<Self, Error> {
        let Plain {
            mut samples,
            layout,
            size: (width, height),
        } = plain;
        let (across, luma) = (width as usize, width as usize * height as usize);
        let channels = layout.channels();
        let mut u = zeros(Planes::chroma(width, height), budget)?;
        let mut v = zeros(u.len(), budget)?;
        let mut alpha = zeros(if layout == Layout::Rgba { luma } else { 0 }, budget)?;
        for top in (0..height as usize).step_by(BAND) {
            let rows = BAND.min(height as usize - top);
            let pixels = top * across..(top + rows) * across;
            let halved =
                top / 2 * across.div_ceil(2)..(top + rows).div_ceil(2) * across.div_ceil(2);
            let colours = &samples[pixels.start * channels..pixels.end * channels];
            let band = Picture::of_rgb(colours, (width, rows as u32), channels, false)
                .map_err(|fault| failed(fault, budget))?;
            let seen = if alpha.is_empty() {
                0..0
            } else {
                pixels.clone()
            };
            let into = [
                &mut samples[pixels],
                &mut u[halved.clone()],
                &mut v[halved],
                &mut alpha[seen],
            ];
            band.copy_planes(into)
                .map_err(|fault| failed(fault, budget))?;
        }
        let before = samples.capacity();
        samples.truncate(luma);
        samples.shrink_to_fit();
        budget.release((before - samples.capacity()) as u64);
        Ok(Self(Planes {
            width,
            height,
            y: samples,
            u,
            v,
            alpha: Some(alpha).filter(|alpha| !alpha.is_empty()),
        }))
    }

    /// Runs `work` with a coder that may be called any number of times with a quality.
    ///
    /// # Errors
    /// Those of `work`; see [`Error`].
    pub(super) fn code<T>(
        self,
        method: u8,
        budget: &Budget,
        work: impl FnOnce(&mut dyn FnMut(f32) -> Result<Pieces, Error>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Self(mut planes) = self;
        let share = LOSSY_CODER
            + if planes.alpha.is_some() {
                ALPHA_CODER
            } else {
                0
            };
        let bytes = planes.y.len() as u64 * share / 100 + FIXED;
        let mut picture = Picture::of_planes(&mut planes).map_err(|fault| failed(fault, budget))?;
        let done = work(&mut |quality| lossy(&mut picture, quality, method, bytes, budget));
        drop(picture);
        let Planes { y, u, v, alpha, .. } = planes;
        [Some(y), Some(u), Some(v), alpha]
            .into_iter()
            .flatten()
            .for_each(|plane| budget.free(plane));
        done
    }
}

fn lossy(
    picture: &mut Picture<'_>,
    quality: f32,
    method: u8,
    working: u64,
    budget: &Budget,
) -> Result<Pieces, Error> {
    let mut file = Vec::new();
    with_claim(working, budget, || {
        picture.encode(Coding::Lossy { quality, method }, &mut file)
    })?;
    coded(&file)
}

/// Codes pixels exactly, and decodes the result again to see that they are the same.
///
/// # Errors
/// [`Error::Verify`] where they are not; see [`Error`].
pub(super) fn exactly(plain: &Plain, level: u8, budget: &Budget) -> Result<Pieces, Error> {
    let pixels = u64::from(plain.size.0) * u64::from(plain.size.1);
    let mut file = Vec::new();
    with_claim(pixels * EXACT_CODER / 100 + FIXED, budget, || {
        let mut picture =
            Picture::of_rgb(&plain.samples, plain.size, plain.layout.channels(), true)?;
        picture.encode(Coding::Exact { level }, &mut file)
    })?;
    let coded = coded(&file)?;
    let again = Image::find(&coded)?;
    // A picture without any transparent pixel is stored without alpha.
    let again = Image {
        alpha: plain.layout == Layout::Rgba,
        ..again
    }
    .plain(budget)?;
    let same = again.samples == plain.samples;
    budget.free(again.samples);
    if same {
        Ok(coded)
    } else {
        Err(Error::Verify("its pixels changed".to_owned()))
    }
}

/// The image chunks of a file that libwebp made.
fn coded(file: &[u8]) -> Result<Pieces, Error> {
    let image = Image::find(&parse(file)?.pieces)?;
    let own = |piece: Piece<'_>| Piece {
        name: piece.name,
        payload: Cow::Owned(piece.payload.into_owned()),
    };
    Ok(image.pieces.into_iter().map(own).collect())
}

fn zeros(count: usize, budget: &Budget) -> Result<Vec<u8>, Error> {
    let mut bytes = budget.vec(count)?;
    bytes.resize(count, 0);
    Ok(bytes)
}

fn with_claim<T>(
    bytes: u64,
    budget: &Budget,
    work: impl FnOnce() -> Result<T, Fault>,
) -> Result<T, Error> {
    budget.claim(bytes)?;
    let done = work();
    budget.release(bytes);
    done.map_err(|fault| failed(fault, budget))
}

fn failed(fault: Fault, budget: &Budget) -> Error {
    match fault {
        Fault::Memory => Error::OverBudget {
            needed: budget.memory().saturating_add(1),
            cap: budget.memory(),
        },
        Fault::Damaged => corrupt("its picture data makes no sense"),
        Fault::CutOff => corrupt("its picture data is cut off"),
        Fault::Unknown => unsupported("a WebP of a later version"),
        Fault::TooLarge => unsupported(format!(
            "a WebP with a side of more than {LONGEST} pixels, or too detailed for the format"
        )),
        Fault::Misuse => Error::Verify("libwebp was called with sizes that do not fit".to_owned()),
    }
}

/// Width and height in a key frame's header (RFC 6386 section 9.1).
fn lossy_header(payload: &[u8]) -> Option<(u32, u32)> {
    let &[tag, _, _, 0x9d, 0x01, 0x2a, w0, w1, h0, h1, ..] = payload else {
        return None;
    };
    let side = |low, high| u32::from(u16::from_le_bytes([low, high]) & 0x3fff);
    let size = (side(w0, w1), side(h0, h1));
    (tag & 1 == 0 && size.0 > 0 && size.1 > 0).then_some(size)
}

/// Width, height and whether alpha is used (RFC 9649 section 3.4).
fn exact_header(payload: &[u8]) -> Option<((u32, u32), bool)> {
    let &[0x2f, a, b, c, d, ..] = payload else {
        return None;
    };
    let bits = u32::from_le_bytes([a, b, c, d]);
    let side = |shift: u32| (bits >> shift & 0x3fff) + 1;
    (bits >> 29 == 0).then_some(((side(0), side(14)), bits >> 28 & 1 == 1))
}
