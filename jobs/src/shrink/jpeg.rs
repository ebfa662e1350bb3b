//! A JPEG made smaller in pixels: every component on its own, in the file's own colours, so that gray, YCbCr, RGB and CMYK are
//! all the same to it, no profile is touched and no sampling is changed.

use super::resample::resample;
use crate::door::Compressed;
use crate::jpeg::decode::{Decoder, Picture};
use crate::jpeg::frame::{Coding, Frame, QuantTable};
use crate::jpeg::fresh::{encode, transform};
use crate::jpeg::samples::{extent, open};
use crate::turn::Turn;
use crate::{Budget, Error, Options, Sink, Source};

/// Shrinks the JPEG in `source`, which holds one picture, to `size` as stored, turns it and compresses it into `sink`.
///
/// # Errors
/// See [`Error`].
pub(crate) fn compress(
    source: &dyn Source,
    size: (u32, u32),
    turn: Turn,
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    let decoder = Decoder::open(source, budget)?;
    let before = decoder.header().frame.clone();
    let sampling: Vec<_> = before
        .components
        .iter()
        .map(|c| {
            let (h, v) = turn.size((c.h, c.v));
            (c.id, h, v, c.table)
        })
        .collect();
    // Both fit: a frame's sides do, and this only shrinks them.
    let (width, height) = turn.size((size.0 as u16, size.1 as u16));
    let frame = Frame::new(Coding::Baseline, width, height, &sampling);
    let opened = open(decoder, size, budget)?;
    let mut planes = Vec::new();
    for (samples, (old, new)) in opened
        .samples
        .into_iter()
        .zip(before.components.iter().zip(&frame.components))
    {
        let used = samples.used(old, &before, opened.scale);
        let across_and_down = turn.size(extent(new, &frame));
        let mut small = resample(samples.all, used, across_and_down, false, budget)?;
        small.bytes = turn.apply(small.bytes, across_and_down, 1, budget)?;
        (small.width, small.height) = turn.size(across_and_down);
        planes.push(transform(&small, new, budget)?);
        budget.free(small.bytes);
    }
    let picture = Picture {
        tables: vec![QuantTable([1; 64]); planes.len()],
        frame,
        segments: opened.segments,
        restart_interval: 0,
        planes,
        trailer: 0..0,
        notes: opened.notes,
        second_parts: Vec::new(),
    };
    encode(picture, source.len(), sink, options, budget)
}
