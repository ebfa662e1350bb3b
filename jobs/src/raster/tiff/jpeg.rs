//! JPEG in a TIFF (Adobe's TIFF Technical Note 2): every strip or tile is a JPEG, whose tables may be kept once for all.
//!
//! What its components are is said by the TIFF, never by the JPEG's own markers.

use super::header::{Header, Photometric};
use super::unpack::cut_off;
use super::{damaged, unsupported};
use crate::jpeg::decode::read_header;
use crate::jpeg::frame::Frame;
use crate::jpeg::pixels::{Colours, read_as};
use crate::{Budget, Error};

/// The start and the end of a JPEG.
const START: [u8; 2] = [0xff, 0xd8];
const END: u8 = 0xd9;

/// Unpacks a strip or tile, which fills `out` exactly.
///
/// # Errors
/// [`Error::Corrupt`], [`Error::Unsupported`], [`Error::OverBudget`].
pub(super) fn unpack(
    header: &Header,
    tables: &[u8],
    packed: &[u8],
    out: &mut [u8],
    budget: &Budget,
) -> Result<(), Error> {
    let before = budget.left();
    let file = joined(tables, packed, budget)?;
    let source = file.as_slice();
    let front = read_header(&source, budget).map_err(inside)?;
    let colours = check(header, &front.frame, out.len())?;
    let raster = read_as(&source, colours, budget).map_err(inside)?;
    out.copy_from_slice(raster.samples.get(..out.len()).ok_or_else(cut_off)?);
    drop((front, raster, file));
    // The decoder does not give back everything that it claims: of thousands of tiles that would add up.
    budget.release(before - budget.left());
    Ok(())
}

/// The strip or tile as a file of its own.
fn joined(tables: &[u8], packed: &[u8], budget: &Budget) -> Result<Vec<u8>, Error> {
    let Some(rest) = packed.strip_prefix(&START) else {
        return Err(damaged("JPEG data without a start"));
    };
    let tables = without_ends(tables)?;
    let mut file = budget.vec(START.len() + tables.len() + rest.len())?;
    file.extend_from_slice(&START);
    file.extend_from_slice(tables);
    file.extend_from_slice(rest);
    Ok(file)
}

/// The segments of tables that are kept once, or nothing.
fn without_ends(tables: &[u8]) -> Result<&[u8], Error> {
    let wrong = || damaged("JPEG tables that make no sense");
    if tables.is_empty() {
        return Ok(tables);
    }
    let segments = tables.strip_prefix(&START).ok_or_else(wrong)?;
    let mut at = 0;
    while let Some(&[0xff, marker, high, low]) = segments.get(at..at + 4) {
        if marker == END {
            break;
        }
        at += 2 + usize::from(u16::from_be_bytes([high, low]));
    }
    match segments.get(at..at + 2) {
        Some([0xff, END]) => Ok(&segments[..at]),
        _ => Err(wrong()),
    }
}

/// What the components are; a strip or tile of another size is damage, but one that has more lines than are used.
fn check(header: &Header, frame: &Frame, bytes: usize) -> Result<Colours, Error> {
    let (across, down) = header.chunk;
    let each = if header.planar { 1 } else { header.samples };
    if frame.components.len() != each {
        return Err(damaged(format!(
            "JPEG data of {} components where {each} belong",
            frame.components.len()
        )));
    }
    let lines = bytes / (across as usize * each);
    if u32::from(frame.width) != across || u32::from(frame.height) > down {
        return Err(damaged("JPEG data of another size than its strip or tile"));
    }
    if usize::from(frame.height) < lines {
        return Err(cut_off());
    }
    match each {
        3 if header.photometric == Photometric::Ycc => Ok(Colours::Ycc),
        1 => Ok(Colours::Gray),
        3 => Ok(Colours::Rgb),
        // Four samples as they are: ink as a TIFF means it, or alpha.
        4 => Ok(Colours::Cmyk { inverted: false }),
        other => Err(unsupported(format!(
            "a TIFF with JPEG compression of {other} samples"
        ))),
    }
}

/// An error of the JPEG as one of the TIFF around it.
fn inside(error: Error) -> Error {
    if let Error::Corrupt { what, .. } = error {
        return damaged(format!("a strip or tile of JPEG data: {what}"));
    }
    error
}
