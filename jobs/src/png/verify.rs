//! Decodes source and result side by side and compares every pixel of every frame. Nothing leaves this module tree
//! without having passed here.

use super::pixels::{Reader, explain, open};
use super::scan::{Layout, scan};
use crate::{Budget, Error, Source};
use ::png::{BitDepth, ColorType, Transformations};

/// Compares the pixels of the PNG in `source` with those of `result`.
///
/// # Errors
/// [`Error::Verify`] names the first difference.
pub(super) fn same_pixels(
    source: &dyn Source,
    layout: &Layout,
    result: &[u8],
    budget: &Budget,
) -> Result<(), Error> {
    let other = scan(&result, budget)?;
    if layout.has(b"iCCP") && layout.header.colour.is_gray() != other.header.colour.is_gray() {
        return Err(Error::Verify(
            "the colour profile would no longer fit".to_owned(),
        ));
    }
    let mut before = Frames::open(source, layout, budget)?;
    let mut after = Frames::open(&result, &other, budget)?;
    let mut number = 0;
    loop {
        match (before.next(budget)?, after.next(budget)?) {
            (false, false) => return Ok(()),
            (true, true) => compare(&mut before, &mut after, number, budget)?,
            (_, _) => return Err(Error::Verify("the number of frames changed".to_owned())),
        }
        number += 1;
    }
}

fn compare(
    before: &mut Frames<'_>,
    after: &mut Frames<'_>,
    frame: usize,
    budget: &Budget,
) -> Result<(), Error> {
    if before.control() != after.control() {
        return Err(Error::Verify(format!(
            "time or place of frame {frame} changed"
        )));
    }
    let (kind, other_kind) = (before.kind(), after.kind());
    for row in 0.. {
        match (before.row(budget)?, after.row(budget)?) {
            (None, None) => return Ok(()),
            (Some(a), Some(b)) if same_row(a, kind, b, other_kind) => {}
            (_, _) => return Err(Error::Verify(format!("row {row} of frame {frame} differs"))),
        }
    }
    Ok(())
}

/// Colour type and depth of decoded rows.
type Kind = (ColorType, BitDepth);

fn same_row(a: &[u8], a_kind: Kind, b: &[u8], b_kind: Kind) -> bool {
    if a_kind == b_kind {
        return a == b;
    }
    let mut other = rgba(b, b_kind);
    rgba(a, a_kind).all(|pixel| other.next() == Some(pixel)) && other.next().is_none()
}

/// Pixels of a decoded row as 16-bit red, green, blue and alpha.
fn rgba(row: &[u8], (colour, depth): Kind) -> impl Iterator<Item = [u16; 4]> {
    let wide = depth == BitDepth::Sixteen;
    let size = colour.samples() * if wide { 2 } else { 1 };
    row.chunks_exact(size).map(move |pixel| {
        let sample = |n: usize| {
            if wide {
                u16::from_be_bytes([pixel[2 * n], pixel[2 * n + 1]])
            } else {
                u16::from(pixel[n]) * 257
            }
        };
        match colour {
            ColorType::Grayscale | ColorType::Indexed => {
                [sample(0), sample(0), sample(0), u16::MAX]
            }
            ColorType::GrayscaleAlpha => [sample(0), sample(0), sample(0), sample(1)],
            ColorType::Rgb => [sample(0), sample(1), sample(2), u16::MAX],
            ColorType::Rgba => [sample(0), sample(1), sample(2), sample(3)],
        }
    })
}

/// The frames of a PNG, one after the other, in rows; interlaced frames are decoded whole.
struct Frames<'a> {
    reader: Reader<'a>,
    started: bool,
    left: u32,
    whole: Option<Whole>,
}

/// An interlaced frame.
struct Whole {
    pixels: Vec<u8>,
    line: usize,
    lines: usize,
    next: usize,
}

impl<'a> Frames<'a> {
    fn open(source: &'a dyn Source, layout: &Layout, budget: &Budget) -> Result<Self, Error> {
        let reader = open(source, layout, Transformations::EXPAND, true, budget)?;
        let animation = reader.info().animation_control;
        let hidden = reader.info().frame_control.is_none();
        let left = animation.map_or(1, |control| {
            control.num_frames.saturating_add(hidden.into())
        });
        Ok(Self {
            reader,
            started: false,
            left,
            whole: None,
        })
    }

    fn kind(&self) -> Kind {
        self.reader.output_color_type()
    }

    /// Everything a frame's control chunk says but its number in the sequence.
    fn control(&self) -> Option<([u32; 4], [u16; 2], [u8; 2])> {
        self.reader.info().frame_control.map(|frame| {
            (
                [frame.width, frame.height, frame.x_offset, frame.y_offset],
                [frame.delay_num, frame.delay_den],
                [frame.dispose_op as u8, frame.blend_op as u8],
            )
        })
    }

    /// Moves on to the next frame.
    fn next(&mut self, budget: &Budget) -> Result<bool, Error> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        if self.started {
            self.reader
                .next_frame_info()
                .map_err(|error| explain(error, budget))?;
        }
        self.started = true;
        if self.reader.info().interlaced {
            self.decode_whole(budget)?;
        }
        Ok(true)
    }

    fn decode_whole(&mut self, budget: &Budget) -> Result<(), Error> {
        if let Some(old) = self.whole.take() {
            budget.free(old.pixels);
        }
        let size = self.reader.output_buffer_size().unwrap_or(usize::MAX);
        let mut pixels = budget.vec(size)?;
        pixels.resize(size, 0);
        let info = self
            .reader
            .next_frame(&mut pixels)
            .map_err(|error| explain(error, budget))?;
        // The rows of a smaller frame stand at the distance of the whole picture's rows.
        let stride = self
            .reader
            .output_line_size(self.reader.info().width)
            .unwrap_or(info.line_size);
        for line in 1..info.height as usize {
            pixels.copy_within(
                line * stride..line * stride + info.line_size,
                line * info.line_size,
            );
        }
        self.whole = Some(Whole {
            pixels,
            line: info.line_size,
            lines: info.height as usize,
            next: 0,
        });
        self.started = true;
        Ok(())
    }

    fn row(&mut self, budget: &Budget) -> Result<Option<&[u8]>, Error> {
        if let Some(whole) = &mut self.whole {
            let n = whole.next;
            whole.next += 1;
            return Ok(
                (n < whole.lines).then(|| &whole.pixels[n * whole.line..(n + 1) * whole.line])
            );
        }
        let row = self
            .reader
            .next_row()
            .map_err(|error| explain(error, budget))?;
        Ok(row.map(|row| row.data()))
    }
}
