//! A JPEG that stays one, but whose pixels must change by way of their colours: for sRGB, or to become smaller by their light.

use super::colour::{self, Converted};
use crate::door::{Compressed, Keep, Note};
use crate::jpeg::frame::{Frame, Segment};
use crate::jpeg::{paint, pixels};
use crate::metadata::{Changed, carried_segments, without_profile};
use crate::raster::{Carried, Layout};
use crate::turn::Turn;
use crate::{Budget, Error, Options, Sink, Source};

/// What sRGB asks of a JPEG.
#[derive(Debug)]
pub(crate) enum Recolouring {
    /// Nothing: it has no profile.
    Nothing,
    /// Its profile is as good as sRGB's and goes.
    DropProfile,
    /// Its profile stays, for the reason in the note.
    Stays(Note),
    /// Its pixels must change from what this profile says.
    Convert(Vec<u8>),
    /// It must stay what it is.
    Keep(Keep),
}

/// What sRGB asks of a JPEG with this frame and these segments.
pub(crate) fn recolouring(frame: &Frame, segments: &[Segment]) -> Recolouring {
    let (parts, _) = carried_segments(segments);
    let layout = match frame.components.len() {
        1 => Layout::Gray,
        4 => Layout::Cmyk,
        _ => Layout::Rgb,
    };
    match (parts.icc, layout) {
        (None, Layout::Cmyk) => Recolouring::Keep(super::no_profile()),
        (None, _) => Recolouring::Nothing,
        (Some(icc), layout) => match colour::judge(&icc, layout) {
            colour::Judged::Same => Recolouring::DropProfile,
            colour::Judged::Other => Recolouring::Convert(icc),
            colour::Judged::Unusable if layout == Layout::Cmyk => {
                Recolouring::Keep(super::no_profile())
            }
            colour::Judged::Unusable => Recolouring::Stays(Note::Stayed(
                "its colour profile, which is damaged".to_owned(),
            )),
        },
    }
}

/// Writes the JPEG in `source` at `size` as stored, turned, and in sRGB if its pixels are in the colours of `icc`.
///
/// # Errors
/// See [`Error`].
pub(crate) fn repaint(
    source: &dyn Source,
    icc: Option<Vec<u8>>,
    size: Option<(u32, u32)>,
    turn: Turn,
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    let header = crate::jpeg::decode::read_header(source, budget)?;
    let whole = (header.frame.width, header.frame.height);
    let decoded = pixels::read(source, super::open::scaled(size, options), budget)?;
    let mut raster = decoded.raster;
    raster.carried = Carried {
        icc,
        ..Carried::default()
    };
    if let Some(size) = size {
        let used = super::open::used(&raster, (whole.0.into(), whole.1.into()));
        raster = super::resize(raster, used, size, options.linear_light, budget)?;
    }
    raster = super::turned(raster, turn, budget)?;
    let mut segments = decoded.segments;
    if raster.carried.icc.is_some() {
        raster = match colour::to_srgb(raster, budget)? {
            Converted::Srgb(raster) | Converted::Kept(raster, _) => raster,
            Converted::NoProfile => {
                return Err(Error::Verify("a profile came and went".to_owned()));
            }
        };
        let changed = Changed {
            srgb: true,
            ..Changed::default()
        };
        (segments, _) = changed.edit_segments(without_profile(segments));
    }
    // Adobe's marker tells how the old components were made.
    segments.retain(|segment| segment.marker != 0xee || !segment.payload.starts_with(b"Adobe"));
    paint::write(
        raster,
        segments,
        decoded.notes,
        source.len(),
        sink,
        options,
        budget,
    )
}
