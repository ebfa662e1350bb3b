//! An animated PNG at another size: every picture of it as it is seen, resampled; times and plays stay, and a picture that is
//! not part of the animation stays one. A frame holds what changed since the one before.
//!
//! Palettes become plain colours, sixteen bits eight. Writes quickly; coding well is the task of whoever reads it again.

use super::chunk::Colour;
use super::colour::drop_bound;
use super::frames::{Control, Frames};
use super::scan::{Layout, scan};
use super::{corrupt, splice};
use crate::door::Note;
use crate::moving::{Area, Gone, Laid, Patch, Stage, cut, difference};
use crate::raster;
use crate::shrink::resample_rgb;
use crate::{Budget, Error, Format, Source};
use ::png::{BitDepth, BlendOp, ColorType, DisposeOp, EncodingError, Transformations, Writer};

/// The animation in `source` with pictures of `size`, and what the user should know.
///
/// # Errors
/// See [`Error`].
pub(super) fn file(
    source: &dyn Source,
    layout: &Layout,
    size: (u32, u32),
    linear: bool,
    budget: &Budget,
) -> Result<(Vec<u8>, Vec<Note>), Error> {
    let film = Film {
        source,
        layout,
        size,
        linear,
        budget,
    };
    let coded = film.coded()?;
    let mut layout = scan(source, budget)?;
    drop_bound(&mut layout);
    let mut file = Vec::new();
    splice::write(&coded, &layout, source, &mut file)?;
    budget.claim(file.len() as u64)?;
    let deep = layout.header.depth == 16;
    let mut notes = layout.notes;
    notes.extend(deep.then(|| Note::Dropped("16 bits a sample became 8".to_owned())));
    Ok((file, notes))
}

/// What is read and how it is to be seen.
struct Film<'a> {
    source: &'a dyn Source,
    layout: &'a Layout,
    size: (u32, u32),
    linear: bool,
    budget: &'a Budget,
}

/// Told of each picture, with the control of its frame; a picture without one is not part of the animation.
type Visit<'a> = &'a mut dyn FnMut(&[u8], Option<Control>) -> Result<(), Error>;

impl Film<'_> {
    fn open(&self) -> Result<Frames<'_>, Error> {
        let plain = Transformations::EXPAND | Transformations::ALPHA | Transformations::STRIP_16;
        Frames::open(self.source, self.layout, plain, self.budget)
    }

    /// Goes through all pictures at the new size.
    fn each(&self, visit: Visit<'_>) -> Result<(), Error> {
        let whole = (self.layout.header.width, self.layout.header.height);
        let budget = self.budget;
        let mut frames = self.open()?;
        let mut stage = Stage::new(whole, self.size, self.linear, budget)?;
        while frames.next(budget)? {
            let control = frames.control();
            let area = control.map_or(Area::whole(whole), area);
            let pixels = read(&mut frames, area, budget)?;
            let small = if let Some((_, _, [disposal, blending])) = control {
                let shown = stage.show(Patch {
                    pixels: &pixels,
                    area,
                    laid: laid(blending),
                    gone: gone(disposal),
                })?;
                budget.free(pixels);
                shown
            } else {
                let layout = raster::Layout::Rgba;
                resample_rgb(pixels, layout, whole, self.size, self.linear, budget)?
            };
            visit(&small, control)?;
            budget.free(small);
        }
        Ok(())
    }

    /// Whether any pixel of any picture is transparent. Those of a file without alpha mostly are not, which is worth a look.
    fn has_alpha(&self) -> Result<bool, Error> {
        let layout = self.layout;
        if matches!(layout.header.colour, Colour::GrayAlpha | Colour::Rgba)
            || layout.transparency.is_some()
        {
            return Ok(true);
        }
        let mut found = false;
        self.each(&mut |picture, _| {
            found |= picture.chunks_exact(4).any(|pixel| pixel[3] < u8::MAX);
            Ok(())
        })?;
        Ok(found)
    }

    fn coded(&self) -> Result<Vec<u8>, Error> {
        let gray = matches!(self.layout.header.colour, Colour::Gray | Colour::GrayAlpha);
        let colour = match (gray, self.has_alpha()?) {
            (true, false) => ColorType::Grayscale,
            (true, true) => ColorType::GrayscaleAlpha,
            (false, false) => ColorType::Rgb,
            (false, true) => ColorType::Rgba,
        };
        let frames = self.open()?;
        let (count, plays) = frames
            .animation()
            .ok_or_else(|| corrupt("it has no frames"))?;
        let hidden = frames.control().is_none();
        drop(frames);
        let mut out = Vec::new();
        let mut encoder = ::png::Encoder::new(&mut out, self.size.0, self.size.1);
        encoder.set_color(colour);
        encoder.set_depth(BitDepth::Eight);
        encoder.set_compression(::png::Compression::Fast);
        encoder.set_animated(count, plays).map_err(failed)?;
        encoder.set_sep_def_img(hidden).map_err(failed)?;
        let mut writer = encoder.write_header().map_err(failed)?;
        let mut before: Option<Vec<u8>> = None;
        self.each(&mut |picture, control| {
            let mut part = Area::whole(self.size);
            if let Some(control) = control {
                part = difference(picture, before.as_deref(), self.size);
                tell(&mut writer, part, control).map_err(failed)?;
                let copy = cut(picture, self.size.0, Area::whole(self.size), self.budget)?;
                if let Some(old) = before.replace(copy) {
                    self.budget.free(old);
                }
            }
            let pixels = cut(picture, self.size.0, part, self.budget)?;
            let samples = samples(&pixels, colour);
            self.budget.free(pixels);
            writer.write_image_data(&samples).map_err(failed)
        })?;
        if let Some(before) = before {
            self.budget.free(before);
        }
        writer.finish().map_err(failed)?;
        Ok(out)
    }
}

/// Place, time and ways of the next frame: its pixels take the place of what was there, and stay.
fn tell<W: std::io::Write>(
    writer: &mut Writer<W>,
    part: Area,
    (_, [delay, unit], _): Control,
) -> Result<(), EncodingError> {
    writer.reset_frame_position()?;
    writer.set_frame_dimension(part.width, part.height)?;
    writer.set_frame_position(part.left, part.top)?;
    writer.set_frame_delay(delay, unit)?;
    writer.set_blend_op(BlendOp::Source)?;
    writer.set_dispose_op(DisposeOp::None)
}

fn area(([width, height, left, top], ..): Control) -> Area {
    Area {
        left,
        top,
        width,
        height,
    }
}

/// As the control chunk numbers them (PNG third edition, 11.3.6.2).
fn laid(blending: u8) -> Laid {
    if blending == BlendOp::Over as u8 {
        Laid::Over
    } else {
        Laid::Instead
    }
}

/// The same. What would bring back the canvas before the first frame clears it, which is the same.
fn gone(disposal: u8) -> Gone {
    if disposal == DisposeOp::Background as u8 {
        Gone::Cleared
    } else if disposal == DisposeOp::Previous as u8 {
        Gone::Undone
    } else {
        Gone::Stays
    }
}

/// The pixels of the frame at hand.
fn read(frames: &mut Frames<'_>, area: Area, budget: &Budget) -> Result<Vec<u8>, Error> {
    let count = area.width as usize * area.height as usize;
    let gray = frames.kind().0 == ColorType::GrayscaleAlpha;
    let mut pixels = budget.vec(count * 4)?;
    while let Some(row) = frames.row(budget)? {
        if gray {
            let pairs = row.chunks_exact(2);
            pixels.extend(pairs.flat_map(|pair| [pair[0], pair[0], pair[0], pair[1]]));
        } else {
            pixels.extend_from_slice(row);
        }
    }
    if pixels.len() == count * 4 {
        Ok(pixels)
    } else {
        Err(corrupt("a frame has more or fewer pixels than it should"))
    }
}

/// RGBA as samples of a colour type.
fn samples(pixels: &[u8], colour: ColorType) -> Vec<u8> {
    let kept: &[usize] = match colour {
        ColorType::Grayscale | ColorType::Indexed => &[0],
        ColorType::GrayscaleAlpha => &[0, 3],
        ColorType::Rgb => &[0, 1, 2],
        ColorType::Rgba => &[0, 1, 2, 3],
    };
    let pixels = pixels.chunks_exact(4);
    pixels
        .flat_map(|pixel| kept.iter().map(|&n| pixel[n]))
        .collect()
}

fn failed(error: EncodingError) -> Error {
    Error::Codec {
        format: Format::Apng,
        what: error.to_string(),
    }
}
