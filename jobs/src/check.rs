//! A second look at a finished result, for callers that are about to lose the original: the bytes as they were stored
//! are decoded from the first to the last. Says nothing about how good the result looks.

use crate::door::Written;
use crate::fence::fenced;
use crate::jpeg::decode::{Decoder, Survivors};
use crate::jpeg::frame::{Frame, QuantTable};
use crate::jpeg::plane::Plane;
use crate::options::{Colours, Orient};
use crate::sniff::{Sniffed, sniff};
use crate::{Budget, Error, Format, Goal, Options, Source, gif, png, webp};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Decodes all of `result`, which [`crate::compress`] made of `source` and called `written`.
///
/// A JPEG must decode without anything odd to the size and the number of components that are expected, and where the
/// same pixels were asked for, to the same coefficients and tables. A PNG, a WebP and a GIF must decode to their size, all
/// of their frames; that pixels are the same was checked before they were handed out, where it was promised.
///
/// # Errors
/// [`Error::Verify`] with the first difference, [`Error::OverBudget`], [`Error::Read`].
pub fn check(
    source: &dyn Source,
    result: &dyn Source,
    written: &Written,
    options: &Options,
    budget: &Budget,
) -> Result<(), Error> {
    if result.len() != written.bytes {
        return Err(differs(format!(
            "{} bytes stand there where {} were written",
            result.len(),
            written.bytes
        )));
    }
    let decoded = fenced(written.format, || {
        match sniff(result).map_err(Error::Read)? {
            Sniffed::Image(found) if found != written.format => {
                Err(differs(format!("its content looks like {}", found.name())))
            }
            Sniffed::Image(Format::Jpeg) => same_picture(source, result, written, options, budget),
            Sniffed::Image(Format::Png | Format::Apng) => png::check(result, written, budget),
            Sniffed::Image(Format::Webp) => webp::check(result, written, budget),
            Sniffed::Image(Format::Gif) => gif::check(result, written, budget),
            // Nothing of these kinds takes an original's place.
            Sniffed::Image(
                found @ (Format::Tiff
                | Format::Bmp
                | Format::Qoi
                | Format::Pnm
                | Format::Ico
                | Format::Avif
                | Format::Heic
                | Format::Jxl
                | Format::Jp2
                | Format::Psd
                | Format::Raw),
            ) => Err(differs(format!("its content looks like {}", found.name()))),
            Sniffed::Other(what) => Err(differs(format!("its content looks like {what}"))),
        }
    });
    decoded.map_err(as_difference)
}

fn differs(what: String) -> Error {
    Error::Verify(what)
}

/// Damage in a result is ours, not the input's.
fn as_difference(error: Error) -> Error {
    match error {
        Error::Read(_) | Error::OverBudget { .. } | Error::Verify(_) => error,
        Error::Empty
        | Error::NotAnImage(_)
        | Error::Corrupt { .. }
        | Error::Unsupported(_)
        | Error::TooManyPixels { .. }
        | Error::Codec { .. }
        | Error::Write(_) => Error::Verify(error.to_string()),
    }
}

/// What a JPEG decodes to, as far as it must come back.
struct Decoded {
    frame: Frame,
    tables: Vec<QuantTable>,
    /// One fingerprint per MCU row; none unless asked for.
    rows: Vec<u64>,
    odd: usize,
}

fn same_picture(
    source: &dyn Source,
    result: &dyn Source,
    written: &Written,
    options: &Options,
    budget: &Budget,
) -> Result<(), Error> {
    let before = Decoder::open(source, budget)?.header().frame.clone();
    let size = (written.width, written.height);
    let untouched = options.orient == Orient::Keep && options.colours == Colours::Keep;
    let exact = options.goal == Goal::Lossless && size_of(&before) == size && untouched;
    let after = decode(result, exact, budget)?;
    if size_of(&after.frame) != size {
        let (width, height) = size_of(&after.frame);
        return Err(differs(format!("it decodes to {width}x{height}")));
    }
    let recoloured = options.colours != Colours::Keep;
    if after.frame.components.len() != before.components.len() && !recoloured {
        return Err(differs("the number of components changed".to_owned()));
    }
    if after.odd > 0 {
        return Err(differs("it decodes with warnings".to_owned()));
    }
    if exact {
        return same_coefficients(&decode(source, true, budget)?, &after);
    }
    Ok(())
}

fn size_of(frame: &Frame) -> (u32, u32) {
    (frame.width.into(), frame.height.into())
}

fn decode(source: &dyn Source, exact: bool, budget: &Budget) -> Result<Decoded, Error> {
    let decoder = Decoder::open(source, budget)?;
    let frame = decoder.header().frame.clone();
    let odd = decoder.header().notes.len();
    let mut rows = Vec::new();
    let ending = decoder.rows(&Survivors::all(), &mut |_, planes| {
        if exact {
            rows.push(fingerprint(planes));
        }
        Ok(())
    })?;
    Ok(Decoded {
        frame,
        tables: ending.tables,
        rows,
        odd: odd.max(ending.notes.len()),
    })
}

fn fingerprint(planes: &[Plane]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for plane in planes {
        for row in 0..plane.down() {
            for (dc, words) in plane.row(row) {
                dc.hash(&mut hasher);
                words.for_each(|word| word.hash(&mut hasher));
                // A block ends here; without it two short blocks could pass for a long one.
                hasher.write_u8(0xFF);
            }
        }
    }
    hasher.finish()
}

fn same_coefficients(before: &Decoded, after: &Decoded) -> Result<(), Error> {
    let row = before
        .rows
        .iter()
        .zip(&after.rows)
        .position(|(a, b)| a != b);
    if let Some(row) = row {
        return Err(differs(format!("MCU row {row} has other coefficients")));
    }
    if before.rows.len() != after.rows.len() || before.tables != after.tables {
        return Err(differs("tables or sampling changed".to_owned()));
    }
    Ok(())
}
