//! A JPEG made smaller in pixels: every component on its own, in the file's own colours, so that gray, YCbCr, RGB and CMYK are
//! all the same to it and no profile is touched. Chroma that will be halved is resampled to that size at once.

use crate::door::Compressed;
use crate::jpeg::color;
use crate::jpeg::decode::{Decoder, Picture};
use crate::jpeg::frame::{Coding, Component, Frame, QuantTable};
use crate::jpeg::fresh::{Outlook, encode, transform};
use crate::jpeg::samples::{alone, extent, open, share};
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
    let roles = color::roles(&before, &decoder.header().segments);
    let outlook = Outlook::of(options, source.len())?;
    let frame = outlook.frame(
        smaller(&before, size, turn),
        &roles,
        options.chroma,
        source.len(),
    );
    let stored = |component: &Component| turn.size(share(component, &frame));
    let pairs = before.components.iter().zip(&frame.components);
    let wanted: Vec<_> = pairs
        .map(|(old, new)| alone(old, &before, stored(new)))
        .collect();
    let opened = open(decoder, &wanted, budget)?;
    let mut planes = Vec::new();
    for (n, samples) in opened.samples.into_iter().enumerate() {
        let (old, new) = (&before.components[n], &frame.components[n]);
        let mut small = samples.resampled(old, &before, stored(new), budget)?;
        small.bytes = turn.apply(small.bytes, (small.width, small.height), 1, budget)?;
        (small.width, small.height) = extent(new, &frame);
        planes.push(transform(
            &small,
            new,
            &outlook.floors(roles[n]),
            None,
            budget,
        )?);
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
    encode(picture, outlook, source.len(), sink, options, budget)
}

/// The frame at `size` as stored, turned.
fn smaller(before: &Frame, size: (u32, u32), turn: Turn) -> Frame {
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
    Frame::new(Coding::Baseline, width, height, &sampling)
}
