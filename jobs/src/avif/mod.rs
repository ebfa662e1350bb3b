//! AVIF, in builds with the feature `avif`: what `--format avif` writes, and still pictures read for other formats.
//!
//! [`libaom`] codes and decodes, [`planes`] and [`pixels`] stand between its samples and rows of pixels, [`muxer`] and [`boxes`]
//! write and read the file around it, [`search`] finds the quantizer for a size. Carries profile, EXIF, XMP and the direction.
//! Sixteen bits become ten, with a note; alpha is kept without loss. Animations, grids, layers, gain maps, crops and HDR colours
//! are refused by name.

mod boxes;
mod libaom;
mod muxer;
mod pixels;
mod planes;
mod search;
mod stream;

use crate::door::{Compressed, Keep, Kept, Note, Written};
use crate::metadata::say_upright;
use crate::options::Chroma;
use crate::raster::{Carried, Depth, Layout, Raster, whole};
use crate::turn::Turn;
use crate::{Budget, Error, Format, Goal, Options, Sink, Source};
use boxes::Stored;
use libaom::{COARSEST, Coding, Decoded, Fault, LONGEST};
use muxer::Contents;
use pixels::Pixels;
use planes::{Planes, Sampling};
use search::{Fit, finest};

/// Whether this build reads and writes AVIF.
pub(crate) const PRESENT: bool = true;

/// What an auxiliary picture calls itself when it is alpha, with the zero that ends it; the second is HEIF's older name.
const ALPHA_KIND: &[u8] = b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0";
const OLD_ALPHA_KIND: &[u8] = b"urn:mpeg:hevc:2015:auxid:1\0";
/// Primaries, transfer and matrix of sRGB in JPEG's luma and chroma; 2 is "unspecified", where a profile says it.
const SRGB: [u8; 3] = [1, 13, 6];
const BY_PROFILE: [u8; 3] = [2, 2, 6];
/// The matrix of samples that are green, blue and red.
const IDENTITY: u8 = 0;
/// What libaom's decoder takes, in bytes per pixel.
const DECODER: u64 = 16;
/// The same that does not depend on the size.
const FIXED: u64 = 16 << 20;

/// Writes `raster` as AVIF: at a quality, within a size, or without loss. `before` is the original's bytes, of which a size
/// may be a share. Whether the result is worth having is for the caller to say.
///
/// # Errors
/// [`Error::Unsupported`] for CMYK, sides of more than 65,536 pixels, and sixteen bits without loss; see [`Error`].
pub(crate) fn write(
    mut raster: Raster,
    before: u64,
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    let exact = matches!(options.goal, Goal::Lossless | Goal::Ssimulacra2(_));
    refuse(&raster, exact)?;
    let mut notes = Vec::new();
    if raster.depth == Depth::Sixteen {
        notes.push(Note::Dropped("16 bits a sample became 10".to_owned()));
    }
    let carried = std::mem::take(&mut raster.carried);
    let picture = Coder::of(raster, exact, options, budget)?;
    let coded = match options.goal {
        Goal::MaxSize(limit) => picture.within(limit.bytes(before), &carried, options, budget)?,
        Goal::Quality(quality) => {
            let quantizer = quantizer(quality);
            Ok((picture.code(quantizer, budget)?, Some(quality)))
        }
        Goal::Lossless | Goal::Ssimulacra2(_) => Ok((picture.code(0, budget)?, None)),
    };
    let (colour, quality) = match coded {
        Ok(coded) => coded,
        Err(why) => {
            return Ok(Compressed::Kept(Kept {
                format: Format::Avif,
                why,
                notes: Vec::new(),
            }));
        }
    };
    let contents = picture.contents(&colour, &carried);
    contents.write(sink)?;
    Ok(Compressed::Written(Written {
        format: Format::Avif,
        bytes: contents.length(),
        width: contents.size.0,
        height: contents.size.1,
        quality,
        notes,
    }))
}

/// What AVIF, or this coder, has no place for.
fn refuse(raster: &Raster, exact: bool) -> Result<(), Error> {
    if raster.layout == Layout::Cmyk {
        return Err(unsupported("CMYK in an AVIF"));
    }
    if exact && raster.depth == Depth::Sixteen {
        return Err(unsupported("sixteen bits in an AVIF without loss"));
    }
    if raster.width.max(raster.height) > LONGEST {
        return Err(unsupported(format!(
            "an AVIF with a side of more than {LONGEST} pixels"
        )));
    }
    Ok(())
}

/// libaom's quantizer for a quality from 0 to 100, as other tools map it (libheif, and so sharp).
fn quantizer(quality: u8) -> u8 {
    let most = u16::from(COARSEST);
    (((100 - u16::from(quality.min(100))) * most + 50) / 100) as u8
}

/// The highest quality of a quantizer.
fn quality_of(quantizer: u8) -> u8 {
    (1..=100)
        .rev()
        .find(|&quality| self::quantizer(quality) == quantizer)
        .unwrap_or(1)
}

/// libaom's speed for an effort.
fn speed(effort: u8) -> u8 {
    [9, 9, 8, 8, 7, 7, 6, 5, 4, 3][usize::from(effort.min(9))]
}

/// What libaom's coder takes beside planes of eight bits, in bytes per pixel, measured by peak resident memory in full chroma: 15
/// in a photograph of 13 megapixels at speed 7, up to 48 at speed 4. Noise at the highest quality took 30 at speed 7, more than is
/// claimed; there it is the process's own limit that says no.
fn coder(speed: u8) -> u64 {
    match speed {
        0..=5 => 50,
        6 => 30,
        _ => 20,
    }
}

/// A picture on its way into a file, coded any number of times.
struct Coder {
    planes: Planes,
    /// Coded already, since it does not depend on the quality.
    alpha: Option<Vec<u8>>,
    exact: bool,
    effort: u8,
}

impl Coder {
    fn of(raster: Raster, exact: bool, options: &Options, budget: &Budget) -> Result<Self, Error> {
        let alpha = alpha(&raster, speed(options.effort), budget)?;
        let sampling = match options.chroma {
            Chroma::Auto | Chroma::Full => Sampling::Full,
            Chroma::Half => Sampling::Half,
            Chroma::Quarter => Sampling::Quarter,
        };
        let planes = if exact {
            planes::exactly(&raster, budget)?
        } else {
            planes::colours(&raster, sampling, budget)?
        };
        budget.free(raster.samples);
        Ok(Self {
            planes,
            alpha,
            exact,
            effort: options.effort,
        })
    }

    /// The picture's numbers of ITU-T H.273.
    fn colours(&self, profile: bool) -> [u8; 3] {
        let [primaries, transfer, matrix] = if profile { BY_PROFILE } else { SRGB };
        let exact = self.exact && self.planes.sampling != Sampling::None;
        [primaries, transfer, if exact { IDENTITY } else { matrix }]
    }

    fn code(&self, quantizer: u8, budget: &Budget) -> Result<Vec<u8>, Error> {
        let coding = Coding {
            quantizer,
            speed: speed(self.effort),
            exact: self.exact,
            // The file around it says the rest; readers that look here find what holds for most pictures.
            colours: self.colours(false),
        };
        code(&self.planes, coding, budget)
    }

    /// The finest within a size, and its quality.
    #[expect(clippy::type_complexity, reason = "what is coded, or why not")]
    fn within(
        &self,
        limit: u64,
        carried: &Carried,
        options: &Options,
        budget: &Budget,
    ) -> Result<Result<(Vec<u8>, Option<u8>), Keep>, Error> {
        let found = finest(limit, quantizer(options.min_quality), |quantizer| {
            let coded = self.code(quantizer, budget)?;
            let bytes = self.contents(&coded, carried).length();
            Ok((coded, bytes))
        })?;
        Ok(match found {
            Fit::Found { quantizer, coded } => Ok((coded, Some(quality_of(quantizer)))),
            Fit::Unreachable { smallest } => Err(Keep::TargetUnreachable {
                target: limit,
                smallest,
            }),
        })
    }

    fn contents<'a>(&'a self, colour: &'a [u8], carried: &'a Carried) -> Contents<'a> {
        Contents {
            size: (self.planes.width, self.planes.height),
            bits: self.planes.bits,
            sampling: self.planes.sampling,
            colours: self.colours(carried.icc.is_some()),
            orientation: carried.orientation,
            icc: carried.icc.as_deref(),
            exif: carried.exif.as_deref(),
            xmp: carried.xmp.as_deref(),
            alpha: self.alpha.as_deref(),
            colour,
        }
    }
}

/// Alpha coded without loss, where any pixel is not opaque.
fn alpha(raster: &Raster, speed: u8, budget: &Budget) -> Result<Option<Vec<u8>>, Error> {
    let channel = match raster.layout {
        Layout::Gray | Layout::Rgb | Layout::Cmyk => return Ok(None),
        Layout::GrayAlpha => 1,
        Layout::Rgba => 3,
    };
    let bytes = raster.depth.bytes();
    let pixels = raster.samples.chunks_exact((channel + 1) * bytes);
    let mut alphas = pixels.map(|pixel| &pixel[channel * bytes..]);
    if alphas.all(|alpha| alpha.iter().all(|&byte| byte == u8::MAX)) {
        return Ok(None);
    }
    let planes = planes::channel(raster, channel, budget)?;
    let coding = Coding {
        quantizer: 0,
        speed,
        exact: true,
        colours: [2, 2, 2],
    };
    let coded = code(&planes, coding, budget)?;
    planes.free(budget);
    Ok(Some(coded))
}

/// Codes planes, with what libaom takes for that claimed.
fn code(planes: &Planes, coding: Coding, budget: &Budget) -> Result<Vec<u8>, Error> {
    let pixels = u64::from(planes.width) * u64::from(planes.height);
    // Samples of two bytes were seen to take half as much again.
    let claimed = pixels * coder(coding.speed) * (1 + planes.unit() as u64) / 2 + FIXED;
    budget.claim(claimed)?;
    let mut coded = Vec::new();
    let done = libaom::encode(planes, coding, &mut coded);
    budget.release(claimed);
    done.map_err(|fault| out_of_memory(fault, claimed, budget))?;
    Ok(stream::without_delimiter(&coded).to_vec())
}

/// Decodes the still picture in `source`; what comes out is upright.
///
/// # Errors
/// [`Error::Unsupported`] names what is not read; see [`Error`].
pub(crate) fn read(source: &dyn Source, budget: &Budget) -> Result<Raster, Error> {
    let file = whole(source, budget)?;
    let stored = boxes::read(&file)?;
    let (width, height) = stored.size;
    budget.admit_pixels(width.into(), height.into())?;
    let (pixels, icc) = decoded(&stored, budget)?;
    let turn = Turn::of(stored.orientation.into());
    let unit = pixels.layout.channels() * pixels.depth.bytes();
    let samples = turn.apply(pixels.samples, stored.size, unit, budget)?;
    let (width, height) = turn.size(stored.size);
    let carried = Carried {
        icc,
        exif: stored.exif.map(say_upright),
        xmp: stored.xmp,
        ..Carried::default()
    };
    drop((stored.colour, stored.alpha));
    budget.free(file);
    Ok(Raster {
        width,
        height,
        layout: pixels.layout,
        depth: pixels.depth,
        samples,
        carried,
    })
}

/// The pixels, and the profile that the file has or its numbers stand for.
fn decoded(stored: &Stored<'_>, budget: &Budget) -> Result<(Pixels, Option<Vec<u8>>), Error> {
    let colour = decode(&stored.colour, stored.size, budget)?;
    let alpha = stored.alpha.as_deref();
    let alpha = alpha
        .map(|alpha| decode(alpha, stored.size, budget))
        .transpose()?;
    let shape = colour.shape;
    let (numbers, full) = stored.nclx.unwrap_or((shape.colours, shape.full));
    let icc = match &stored.icc {
        Some(icc) => Some(icc.clone()),
        None => profile_of(numbers)?,
    };
    let both = alpha.as_ref().map(|alpha| (alpha, alpha.shape.full));
    let pixels = pixels::of(&colour, both, (numbers[2], full), budget)?;
    let decoders = 1 + u64::from(alpha.is_some());
    drop((colour, alpha));
    let (width, height) = stored.size;
    budget.release(decoders * claim_for(u64::from(width) * u64::from(height)));
    Ok((pixels, icc))
}

fn claim_for(pixels: u64) -> u64 {
    pixels * DECODER + FIXED
}

/// Decodes AV1, which must be of the size that the file says: the header that libaom believes is looked at before.
fn decode(stream: &[u8], size: (u32, u32), budget: &Budget) -> Result<Decoded, Error> {
    if !stream::is_of_one_kind(stream) || libaom::announced(stream).map_err(meaning)? != size {
        return Err(corrupt("its picture is not of the size it says"));
    }
    let claimed = claim_for(u64::from(size.0) * u64::from(size.1));
    budget.claim(claimed)?;
    let decoded = Decoded::of(stream).map_err(|fault| out_of_memory(fault, claimed, budget))?;
    if decoded.shape.size != size {
        return Err(corrupt("its picture is not of the size it says"));
    }
    Ok(decoded)
}

/// The profile that numbers of ITU-T H.273 stand for; none for sRGB and what everybody reads as such.
fn profile_of([primaries, transfer, _]: [u8; 3]) -> Result<Option<Vec<u8>>, Error> {
    match (primaries, transfer) {
        (_, 16 | 18) => Err(unsupported("an AVIF with HDR colours (PQ or HLG)")),
        (1 | 2 | 5 | 6, 1 | 2 | 6 | 13) => Ok(None),
        (12, 1 | 2 | 6 | 13) => {
            let profile = moxcms::ColorProfile::new_display_p3().encode();
            let failed = |_| Error::Verify("a profile for Display P3 could not be made".to_owned());
            profile.map(Some).map_err(failed)
        }
        (_, _) => {
            let what = format!("an AVIF with primaries {primaries} and transfer {transfer}");
            Err(unsupported(what))
        }
    }
}

fn out_of_memory(fault: Fault, claimed: u64, budget: &Budget) -> Error {
    match fault {
        Fault::Memory => Error::OverBudget {
            needed: budget.memory().saturating_add(claimed),
            cap: budget.memory(),
        },
        Fault::Damaged | Fault::Unknown | Fault::Misuse => meaning(fault),
    }
}

fn meaning(fault: Fault) -> Error {
    match fault {
        Fault::Memory => Error::OverBudget {
            needed: FIXED,
            cap: 0,
        },
        Fault::Damaged => corrupt("its pixels make no sense"),
        Fault::Unknown => unsupported("this kind of AVIF"),
        Fault::Misuse => Error::Codec {
            format: Format::Avif,
            what: "libaom was asked for something it does not do".to_owned(),
        },
    }
}

fn unsupported(what: impl Into<String>) -> Error {
    Error::Unsupported(what.into())
}

fn corrupt(what: impl Into<String>) -> Error {
    Error::Corrupt {
        format: Format::Avif,
        what: what.into(),
    }
}

#[cfg(test)]
mod tests;
