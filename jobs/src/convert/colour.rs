//! Colours into sRGB: profiles of RGB, gray and ink, and PNG's bare gamma and primaries. No profile at all means sRGB.
//!
//! Knows pixels and profiles, no formats. Colours that sRGB does not have become the nearest it has on each channel.

use crate::door::Note;
use crate::fence::fenced;
use crate::raster::{Depth, Layout, Raster, Tone};
use crate::{Budget, Error, Format};
use moxcms::{
    Chromaticity, ColorPrimaries, ColorProfile, DataColorSpace, Layout as Channels,
    RenderingIntent, ToneReprCurve, TransformOptions, XyY,
};

/// How far a colour may move for a profile to count as sRGB itself, in steps of eight bits.
const SAME: u8 = 1;
/// Pixels converted at a time.
const PIECE: usize = 4096;

/// What became of a picture's colours.
#[derive(Debug)]
pub(crate) enum Converted {
    /// They are sRGB now, and nothing is carried.
    Srgb(Raster),
    /// They are as they were, and so is what is carried, for the reason in the note.
    Kept(Raster, Note),
    /// Ink without a profile: nobody knows which colours it makes.
    NoProfile,
}

/// Converts a picture to sRGB.
///
/// # Errors
/// [`Error::OverBudget`].
pub(crate) fn to_srgb(mut raster: Raster, budget: &Budget) -> Result<Converted, Error> {
    let profile = match (&raster.carried.icc, raster.carried.gamma_only) {
        (Some(icc), _) => read(icc),
        (None, Some(tone)) => Some(profile_of(tone, is_gray(raster.layout))),
        (None, None) if raster.layout == Layout::Cmyk => return Ok(Converted::NoProfile),
        (None, None) => return Ok(Converted::Srgb(raster)),
    };
    let Some(profile) = profile else {
        return Ok(kept(raster, "its colour profile, which is damaged"));
    };
    if !fits(&profile, raster.layout) {
        if raster.layout == Layout::Cmyk {
            return Ok(Converted::NoProfile);
        }
        // Readers must ignore such a profile, so the colours are sRGB already.
        raster.carried.icc = None;
        return Ok(Converted::Srgb(raster));
    }
    let Some(way) = Way::of(&profile, raster.layout, raster.depth) else {
        return Ok(kept(
            raster,
            "its colour profile, which cannot be converted from",
        ));
    };
    let mut raster = way.apply(raster, budget)?;
    raster.carried.icc = None;
    raster.carried.gamma_only = None;
    Ok(Converted::Srgb(raster))
}

/// What a profile means for pixels of a layout in eight bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judged {
    /// They are sRGB, or readers ignore it.
    Same,
    /// They are other colours, which can be converted.
    Other,
    /// Nobody knows.
    Unusable,
}

/// Judges a profile.
pub(crate) fn judge(icc: &[u8], layout: Layout) -> Judged {
    let Some(profile) = read(icc) else {
        return Judged::Unusable;
    };
    if !fits(&profile, layout) {
        return if layout == Layout::Cmyk {
            Judged::Unusable
        } else {
            Judged::Same
        };
    }
    match Way::of(&profile, layout, Depth::Eight) {
        Some(Way::Nothing) => Judged::Same,
        Some(Way::Gray(_) | Way::Eight(..) | Way::Sixteen(..)) => Judged::Other,
        None => Judged::Unusable,
    }
}

fn kept(raster: Raster, what: &str) -> Converted {
    Converted::Kept(raster, Note::Stayed(what.to_owned()))
}

fn is_gray(layout: Layout) -> bool {
    match layout {
        Layout::Gray | Layout::GrayAlpha => true,
        Layout::Rgb | Layout::Rgba | Layout::Cmyk => false,
    }
}

/// Whether a profile is for such pixels.
fn fits(profile: &ColorProfile, layout: Layout) -> bool {
    let wanted = match layout {
        Layout::Gray | Layout::GrayAlpha => DataColorSpace::Gray,
        Layout::Rgb | Layout::Rgba => DataColorSpace::Rgb,
        Layout::Cmyk => DataColorSpace::Cmyk,
    };
    profile.color_space == wanted
}

/// Whether bare gamma and primaries say what sRGB is anyway, within what their makers rounded away.
pub(crate) fn is_srgb(tone: Tone) -> bool {
    const PRIMARIES: [u32; 8] = [
        31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000,
    ];
    let near = |a: u32, b: u32, by: u32| a.abs_diff(b) <= by;
    tone.gamma.is_none_or(|gamma| near(gamma, 45_455, 500))
        && tone
            .primaries
            .is_none_or(|own| own.iter().zip(PRIMARIES).all(|(&a, b)| near(a, b, 100)))
}

/// The profile that gamma and primaries stand for (PNG third edition, 11.3.2.1 and 11.3.2.2).
fn profile_of(tone: Tone, gray: bool) -> ColorProfile {
    let exponent = match tone.gamma {
        Some(gamma) if gamma > 0 => 100_000.0 / gamma as f32,
        Some(_) | None => 2.2,
    };
    let curve = ToneReprCurve::Parametric(vec![exponent]);
    let mut profile = ColorProfile::new_srgb();
    profile.cicp = None;
    if let Some([wx, wy, rx, ry, gx, gy, bx, by]) = tone.primaries {
        let point = |x: u32, y: u32| Chromaticity::new(x as f32 / 1e5, y as f32 / 1e5);
        let white = XyY {
            x: f64::from(wx) / 1e5,
            y: f64::from(wy) / 1e5,
            yb: 1.0,
        };
        let primaries = ColorPrimaries {
            red: point(rx, ry),
            green: point(gx, gy),
            blue: point(bx, by),
        };
        if wy > 0 && ry > 0 && gy > 0 && by > 0 {
            profile.update_rgb_colorimetry(white, primaries);
        }
    }
    if gray {
        profile.color_space = DataColorSpace::Gray;
        profile.gray_trc = Some(curve.clone());
    }
    profile.red_trc = Some(curve.clone());
    profile.green_trc = Some(curve.clone());
    profile.blue_trc = Some(curve);
    profile
}

/// A conversion that is ready.
enum Way {
    /// Colours change by so little that they are sRGB already.
    Nothing,
    /// New values of gray.
    Gray(Vec<u16>),
    Eight(std::sync::Arc<moxcms::Transform8BitExecutor>, Layout),
    Sixteen(std::sync::Arc<moxcms::Transform16BitExecutor>, Layout),
}

fn options() -> TransformOptions {
    TransformOptions {
        rendering_intent: RenderingIntent::RelativeColorimetric,
        ..TransformOptions::default()
    }
}

/// Does what a profile of a stranger may make panic.
fn careful<T>(work: impl FnOnce() -> Option<T>) -> Option<T> {
    // The format only names the picture that failed, and none does.
    fenced(Format::Jpeg, || Ok(work())).ok().flatten()
}

fn read(icc: &[u8]) -> Option<ColorProfile> {
    careful(|| ColorProfile::new_from_slice(icc).ok())
}

impl Way {
    /// `None` where the profile lacks what a conversion needs.
    fn of(profile: &ColorProfile, layout: Layout, depth: Depth) -> Option<Self> {
        careful(|| Self::find(profile, layout, depth))
    }

    fn find(profile: &ColorProfile, layout: Layout, depth: Depth) -> Option<Self> {
        let srgb = ColorProfile::new_srgb();
        let (from, to, result) = match layout {
            Layout::Gray | Layout::GrayAlpha => return grays(profile, &srgb, depth),
            Layout::Rgb => (Channels::Rgb, Channels::Rgb, Layout::Rgb),
            Layout::Rgba => (Channels::Rgba, Channels::Rgba, Layout::Rgba),
            // Four channels are called so whatever they are.
            Layout::Cmyk => (Channels::Rgba, Channels::Rgb, Layout::Rgb),
        };
        let eight = || {
            profile
                .create_transform_8bit(from, &srgb, to, options())
                .ok()
        };
        if layout != Layout::Cmyk && is_identity(profile, &srgb)? {
            return Some(Self::Nothing);
        }
        match depth {
            Depth::Eight => eight().map(|way| Self::Eight(way, result)),
            Depth::Sixteen => profile
                .create_transform_16bit(from, &srgb, to, options())
                .ok()
                .map(|way| Self::Sixteen(way, result)),
        }
    }

    fn apply(self, mut raster: Raster, budget: &Budget) -> Result<Raster, Error> {
        match self {
            Self::Nothing => Ok(raster),
            Self::Gray(table) => {
                gray(&mut raster, &table);
                Ok(raster)
            }
            Self::Eight(way, layout) => through(raster, layout, budget, &|from, to| {
                way.transform(from, to).map_err(failed)
            }),
            Self::Sixteen(way, layout) => through(raster, layout, budget, &|from, to| {
                let words = |bytes: &[u8]| -> Vec<u16> {
                    let pairs = bytes.chunks_exact(2);
                    pairs
                        .map(|pair| u16::from_ne_bytes([pair[0], pair[1]]))
                        .collect()
                };
                let (from, mut done) = (words(from), words(to));
                way.transform(&from, &mut done).map_err(failed)?;
                for (pair, word) in to.chunks_exact_mut(2).zip(done) {
                    pair.copy_from_slice(&word.to_ne_bytes());
                }
                Ok(())
            }),
        }
    }
}

fn failed(error: moxcms::CmsError) -> Error {
    Error::Verify(format!("converting colours failed: {error}"))
}

/// Whether a profile leaves eight-bit colours as they are.
fn is_identity(profile: &ColorProfile, srgb: &ColorProfile) -> Option<bool> {
    let way = profile
        .create_transform_8bit(Channels::Rgb, srgb, Channels::Rgb, options())
        .ok()?;
    let steps = || (0..=255_u8).step_by(51);
    let colours = steps().flat_map(|r| steps().flat_map(move |g| steps().map(move |b| [r, g, b])));
    let colours: Vec<u8> = colours.flatten().collect();
    let mut done = vec![0; colours.len()];
    way.transform(&colours, &mut done).ok()?;
    let mut pairs = colours.iter().zip(&done);
    Some(pairs.all(|(before, after)| before.abs_diff(*after) <= SAME))
}

/// What each value of gray becomes, at full range of the depth.
fn grays(profile: &ColorProfile, srgb: &ColorProfile, depth: Depth) -> Option<Way> {
    let most: u16 = match depth {
        Depth::Eight => 255,
        Depth::Sixteen => u16::MAX,
    };
    let way = profile
        .create_transform_16bit(Channels::Gray, srgb, Channels::Rgb, options())
        .ok()?;
    let scale = u16::MAX / most;
    let values: Vec<u16> = (0..=most).map(|value| value * scale).collect();
    let mut colours = vec![0_u16; values.len() * 3];
    way.transform(&values, &mut colours).ok()?;
    let narrow = |value: u16| (u32::from(value) + u32::from(scale) / 2) / u32::from(scale);
    let table = colours.chunks_exact(3).map(|rgb| narrow(rgb[1]) as u16);
    Some(Way::Gray(table.collect()))
}

/// Puts new values in place of the first sample of each pixel.
fn gray(raster: &mut Raster, table: &[u16]) {
    let unit = raster.layout.channels() * raster.depth.bytes();
    for pixel in raster.samples.chunks_exact_mut(unit) {
        match raster.depth {
            Depth::Eight => pixel[0] = table[usize::from(pixel[0])] as u8,
            Depth::Sixteen => {
                let value = u16::from_ne_bytes([pixel[0], pixel[1]]);
                pixel[..2].copy_from_slice(&table[usize::from(value)].to_ne_bytes());
            }
        }
    }
}

/// From pixels of one layout to as many of another.
type Convert<'a> = dyn Fn(&[u8], &mut [u8]) -> Result<(), Error> + 'a;

/// Converts piece by piece into pixels of another layout.
fn through(
    raster: Raster,
    layout: Layout,
    budget: &Budget,
    convert: &Convert<'_>,
) -> Result<Raster, Error> {
    let pixels = raster.width as usize * raster.height as usize;
    let unit = |layout: Layout| layout.channels() * raster.depth.bytes();
    let mut samples = budget.vec(pixels * unit(layout))?;
    samples.resize(pixels * unit(layout), 0);
    let pieces = raster.samples.chunks(PIECE * unit(raster.layout));
    for (from, to) in pieces.zip(samples.chunks_mut(PIECE * unit(layout))) {
        convert(from, to)?;
    }
    budget.free(raster.samples);
    Ok(Raster {
        samples,
        layout,
        ..raster
    })
}

#[cfg(test)]
mod tests;
