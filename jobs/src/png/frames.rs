//! The frames of a PNG as rows, whether it is interlaced or not.

use super::pixels::{Reader, explain, open};
use super::scan::Layout;
use crate::{Budget, Error, Source};
use ::png::{BitDepth, ColorType, Transformations};

/// Colour type and depth of decoded rows.
pub(super) type Kind = (ColorType, BitDepth);

/// Size and place, delay, how a frame is laid down and taken away.
pub(super) type Control = ([u32; 4], [u16; 2], [u8; 2]);

/// The frames of a PNG, one after the other, in rows; interlaced frames are decoded whole.
pub(super) struct Frames<'a> {
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
    pub(super) fn open(
        source: &'a dyn Source,
        layout: &Layout,
        transform: Transformations,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let reader = open(source, layout, transform, true, budget)?;
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

    pub(super) fn kind(&self) -> Kind {
        self.reader.output_color_type()
    }

    /// How many frames an animation has, and how often they are played (0 is without end).
    pub(super) fn animation(&self) -> Option<(u32, u32)> {
        let control = self.reader.info().animation_control;
        control.map(|control| (control.num_frames, control.num_plays))
    }

    /// Everything a frame's control chunk says but its number in the sequence.
    pub(super) fn control(&self) -> Option<Control> {
        self.reader.info().frame_control.map(|frame| {
            (
                [frame.width, frame.height, frame.x_offset, frame.y_offset],
                [frame.delay_num, frame.delay_den],
                [frame.dispose_op as u8, frame.blend_op as u8],
            )
        })
    }

    /// Moves on to the next frame.
    pub(super) fn next(&mut self, budget: &Budget) -> Result<bool, Error> {
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

    pub(super) fn row(&mut self, budget: &Budget) -> Result<Option<&[u8]>, Error> {
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
