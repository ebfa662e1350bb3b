//! A GIF at another size: every picture of it as it is seen, resampled, with a palette of its own; times, loops and everything
//! that is no frame stay. What did not change since the picture before is left transparent, so that it does not flicker.
//!
//! Half transparent edges, which only resampling makes, become one or the other. Writes quickly; coding well is the task of
//! whoever reads it again.

use super::blocks::{Block, Gif};
use super::{corrupt, lzw};
use crate::door::Note;
use crate::moving::{Area, Gone, Laid, Patch, Stage};
use crate::quantise::{self, Colours, Picture, Rgba};
use crate::{Budget, Error};
use ::gif::{ColorOutput, DecodeOptions, DecodingError, DisposalMethod, MemoryLimit};
use std::num::NonZeroU64;

/// Header and logical screen without a palette.
const SCREEN: usize = 13;
/// Colours of a palette.
const MOST: usize = 256;
/// How much of the error dithering passes on, as for PNG.
const STRENGTH: f32 = 0.85;

/// The GIF in `bytes`, taken apart in `gif`, with pictures of `size`, and what the user should know.
///
/// # Errors
/// [`Error::Corrupt`], [`Error::OverBudget`].
pub(super) fn file(
    bytes: &[u8],
    gif: &Gif<'_>,
    size: (u32, u32),
    linear: bool,
    budget: &Budget,
) -> Result<(Vec<u8>, Vec<Note>), Error> {
    let mut options = DecodeOptions::new();
    options.set_color_output(ColorOutput::RGBA);
    options.allow_unknown_blocks(true);
    let limit = NonZeroU64::new(budget.left()).unwrap_or(NonZeroU64::MIN);
    options.set_memory_limit(MemoryLimit::Bytes(limit));
    let mut decoder = options.read_info(bytes).map_err(|error| meaning(&error))?;
    let screen = (u32::from(gif.size.0), u32::from(gif.size.1));
    let mut stage = Stage::new(screen, size, linear, budget)?;
    let mut film = Film::new(beginning(bytes, gif, size), size, budget);
    while let Some(frame) = decoder.next_frame_info().map_err(|error| meaning(&error))? {
        let area = Area {
            left: frame.left.into(),
            top: frame.top.into(),
            width: frame.width.into(),
            height: frame.height.into(),
        };
        let (gone, delay) = (gone(frame.dispose), frame.delay);
        budget.admit_pixels(area.width.into(), area.height.into())?;
        let mut pixels = budget.vec(decoder.buffer_size())?;
        pixels.resize(decoder.buffer_size(), 0);
        decoder
            .read_into_buffer(&mut pixels)
            .map_err(|error| meaning(&error))?;
        let patch = Patch {
            pixels: &pixels,
            area,
            laid: Laid::Over,
            gone,
        };
        film.add(stage.show(patch)?, delay)?;
        budget.free(pixels);
    }
    film.finish()
}

fn gone(method: DisposalMethod) -> Gone {
    match method {
        DisposalMethod::Any | DisposalMethod::Keep => Gone::Stays,
        DisposalMethod::Background => Gone::Cleared,
        DisposalMethod::Previous => Gone::Undone,
    }
}

/// Header and screen of the new size, and the blocks that are neither frames nor about them.
fn beginning(bytes: &[u8], gif: &Gif<'_>, size: (u32, u32)) -> Vec<u8> {
    let mut out = b"GIF89a".to_vec();
    // Both fit: they are at most the screen's own.
    out.extend_from_slice(&(size.0 as u16).to_le_bytes());
    out.extend_from_slice(&(size.1 as u16).to_le_bytes());
    out.extend_from_slice(&[bytes[10] & 0x70, 0, bytes[SCREEN - 1]]);
    for block in &gif.blocks {
        match block {
            Block::Comment(bytes) | Block::Profile(bytes) | Block::Xmp(bytes) => out.extend(*bytes),
            Block::Other(bytes) if bytes.starts_with(b"!\xff") => out.extend(*bytes),
            Block::Other(_) | Block::Frame(_) => {}
        }
    }
    out
}

/// The file in the making. A picture waits for the next one, which may need the screen cleared.
struct Film<'a> {
    out: Vec<u8>,
    size: (u32, u32),
    budget: &'a Budget,
    /// What the screen shows before the picture that waits; nothing where it was cleared.
    base: Option<Vec<u8>>,
    waiting: Option<(Vec<u8>, u16)>,
    /// Pictures that had more colours than a palette has.
    reduced: u32,
}

impl<'a> Film<'a> {
    fn new(out: Vec<u8>, size: (u32, u32), budget: &'a Budget) -> Self {
        Self {
            out,
            size,
            budget,
            base: None,
            waiting: None,
            reduced: 0,
        }
    }

    fn add(&mut self, next: Vec<u8>, delay: u16) -> Result<(), Error> {
        if let Some((picture, time)) = self.waiting.take() {
            let pairs = picture.chunks_exact(4).zip(next.chunks_exact(4));
            let mut pairs = pairs.map(|(now, next)| (is_seen(now), is_seen(next)));
            let cleared = pairs.any(|(now, next)| now && !next);
            self.write(picture, time, cleared)?;
        }
        self.waiting = Some((next, delay));
        Ok(())
    }

    fn finish(mut self) -> Result<(Vec<u8>, Vec<Note>), Error> {
        let (picture, time) = self
            .waiting
            .take()
            .ok_or_else(|| corrupt("it has no picture"))?;
        self.write(picture, time, false)?;
        if let Some(base) = self.base.take() {
            self.budget.free(base);
        }
        self.out.push(b';');
        let what = format!(
            "colours: {} of its pictures had more than 256 after resizing and were dithered to a palette",
            self.reduced
        );
        let notes = (self.reduced > 0).then_some(Note::Dropped(what));
        Ok((self.out, notes.into_iter().collect()))
    }

    fn write(&mut self, picture: Vec<u8>, time: u16, cleared: bool) -> Result<(), Error> {
        let written = self.out.len();
        let drawn = |n: usize| {
            let pixel = &picture[4 * n..][..4];
            let same = |base: &Vec<u8>| base[4 * n..][..3] == pixel[..3] && is_seen(&base[4 * n..]);
            is_seen(pixel) && !self.base.as_ref().is_some_and(same)
        };
        let count = picture.len() / 4;
        let area = if cleared {
            Area::whole(self.size)
        } else {
            Area::around(count, self.size.0, drawn).unwrap_or(Area::whole((1, 1)))
        };
        let view = View {
            picture: &picture,
            width: self.size.0,
            area,
        };
        let frame = view.painted(&drawn, self.budget)?;
        self.reduced += u32::from(frame.reduced);
        frame.append_to(&mut self.out, area, time, cleared);
        let base = if cleared {
            self.budget.free(picture);
            None
        } else {
            Some(picture)
        };
        if let Some(old) = std::mem::replace(&mut self.base, base) {
            self.budget.free(old);
        }
        self.budget.claim((self.out.len() - written) as u64)
    }
}

/// Whether a resampled pixel counts as opaque.
fn is_seen(pixel: &[u8]) -> bool {
    pixel[3] >= 128
}

/// Indices and palette of a frame.
struct Painted {
    palette: Vec<Rgba>,
    indices: Vec<u8>,
    /// The index of pixels that are not drawn, if there are any.
    clear: Option<u8>,
    reduced: bool,
}

/// A part of a picture.
struct View<'a> {
    picture: &'a [u8],
    width: u32,
    area: Area,
}

impl View<'_> {
    fn colour(&self, n: usize) -> Rgba {
        let pixel = &self.picture[4 * n..][..3];
        [pixel[0], pixel[1], pixel[2], u8::MAX]
    }

    /// Its pixels; those that are not drawn take a colour that is there, so that they cost none.
    fn pixels(&self, drawn: &impl Fn(usize) -> bool, budget: &Budget) -> Result<Vec<Rgba>, Error> {
        let places = || self.area.pixels(self.width);
        let first = places().find(|&n| drawn(n));
        let mut last = first.map_or([0, 0, 0, u8::MAX], |n| self.colour(n));
        let mut pixels = budget.vec(self.area.width as usize * self.area.height as usize)?;
        for n in places() {
            if drawn(n) {
                last = self.colour(n);
            }
            pixels.push(last);
        }
        Ok(pixels)
    }

    /// The pixels that are `drawn`, painted with a palette.
    fn painted(&self, drawn: &impl Fn(usize) -> bool, budget: &Budget) -> Result<Painted, Error> {
        let pixels = self.pixels(drawn, budget)?;
        let all = self.area.pixels(self.width).all(drawn);
        let most = MOST - usize::from(!all);
        let working = quantise::estimate(self.area.width.into(), self.area.height.into());
        budget.claim(working)?;
        let view = Picture {
            pixels: &pixels,
            width: self.area.width as usize,
        };
        let colours = Colours::gather(view, budget)?;
        let reduced = colours.exact_count().is_none_or(|count| count > most);
        let (palette, _) = colours.palette(most);
        let painted = quantise::paint(view, palette, STRENGTH, budget)?;
        budget.release(working + painted.indices.len() as u64);
        budget.free(pixels);
        let quantise::Painted {
            palette,
            mut indices,
        } = painted;
        // One behind the colours, of which there are fewer than 256 then.
        let clear = (!all).then_some(palette.len() as u8);
        if let Some(clear) = clear {
            let places = self.area.pixels(self.width);
            let bare = indices.iter_mut().zip(places).filter(|(_, n)| !drawn(*n));
            bare.for_each(|(index, _)| *index = clear);
        }
        Ok(Painted {
            palette,
            indices,
            clear,
            reduced,
        })
    }
}

impl Painted {
    /// Control block, descriptor, palette and data (GIF89a, 20 to 23).
    fn append_to(&self, out: &mut Vec<u8>, area: Area, time: u16, cleared: bool) {
        let colours = self.palette.len() + usize::from(self.clear.is_some());
        let bits = (1..8).find(|bits| colours <= 1 << bits).unwrap_or(8).max(2);
        let disposal = if cleared { 2 } else { 1 };
        let [low, high] = time.to_le_bytes();
        let flags = disposal << 2 | u8::from(self.clear.is_some());
        out.extend([
            b'!',
            0xf9,
            4,
            flags,
            low,
            high,
            self.clear.unwrap_or(0),
            0,
            b',',
        ]);
        for side in [area.left, area.top, area.width, area.height] {
            // All fit: they are at most the screen's own.
            out.extend((side as u16).to_le_bytes());
        }
        out.push(0x80 | (bits - 1));
        let entries = self.palette.iter().map(|&[r, g, b, _]| [r, g, b]);
        let padded = entries.chain(std::iter::repeat([0; 3])).take(1 << bits);
        padded.for_each(|entry| out.extend(entry));
        out.extend(lzw::encode(bits, &self.indices, 0));
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the library's list of errors is open; those not named are damage"
)]
fn meaning(error: &DecodingError) -> Error {
    match error {
        DecodingError::Io(_) => corrupt("it is cut off"),
        error => corrupt(error.to_string()),
    }
}
