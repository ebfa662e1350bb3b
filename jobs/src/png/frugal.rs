//! The frugal way: row in, row out, for pictures that are too big for the thorough way under the budget.
//!
//! Colour type and depth stay; only filters and deflate coding are chosen anew, by the `png` crate's encoder. Holds a few
//! rows and the coded result.

use super::pixels::{explain, open};
use super::scan::Layout;
use super::{chunk::Colour, corrupt};
use crate::door::Note;
use crate::{Budget, Error, Format, Source};
use std::io::Write;

/// Deflate state and piece buffers of one decoder and one encoder.
const FIXED: u64 = 1 << 20;
/// Rows alive at once: two decoded, and one for each of the five filters with its neighbours.
const ROWS: u64 = 10;

/// A PNG of the same pixels, without the other chunks.
///
/// # Errors
/// [`Error::OverBudget`] for interlaced pictures, which need all their rows at once, and where the result does not fit.
pub(super) fn recode(
    source: &dyn Source,
    layout: &Layout,
    budget: &Budget,
) -> Result<(Vec<u8>, Vec<Note>), Error> {
    let header = &layout.header;
    if header.interlaced {
        budget.claim(super::lossless::estimate(layout))?;
    }
    let working = header
        .row_bytes()
        .saturating_mul(ROWS)
        .saturating_add(FIXED);
    budget.claim(working)?;
    let mut png = Claimed {
        bytes: Vec::new(),
        budget,
        error: None,
    };
    let done = copy_rows(source, layout, &mut png, budget);
    budget.release(working);
    match png.error {
        Some(error) => Err(error),
        None => done.map(|()| (png.bytes, Vec::new())),
    }
}

fn copy_rows(
    source: &dyn Source,
    layout: &Layout,
    png: &mut Claimed<'_>,
    budget: &Budget,
) -> Result<(), Error> {
    let mut reader = open(
        source,
        layout,
        ::png::Transformations::IDENTITY,
        false,
        budget,
    )?;
    let mut encoder = ::png::Encoder::new(png, layout.header.width, layout.header.height);
    encoder.set_color(reader.info().color_type);
    encoder.set_depth(reader.info().bit_depth);
    if layout.header.colour == Colour::Indexed {
        encoder.set_palette(layout.palette.as_slice());
    }
    if let Some(transparency) = &layout.transparency {
        encoder.set_trns(transparency.as_slice());
    }
    encoder.set_compression(::png::Compression::High);
    let filter = if layout.header.depth < 8 || layout.header.colour == Colour::Indexed {
        ::png::Filter::NoFilter
    } else {
        ::png::Filter::Adaptive
    };
    encoder.set_filter(filter);
    let mut writer = encoder.write_header().map_err(failed)?;
    let mut stream = writer.stream_writer().map_err(failed)?;
    while let Some(row) = reader.next_row().map_err(|error| explain(error, budget))? {
        stream
            .write_all(row.data())
            .map_err(|error| failed(error.into()))?;
    }
    stream.finish().map_err(failed)?;
    writer.finish().map_err(failed)
}

fn failed(error: ::png::EncodingError) -> Error {
    match error {
        ::png::EncodingError::LimitsExceeded => corrupt("its rows are longer than can be coded"),
        ::png::EncodingError::IoError(_)
        | ::png::EncodingError::Format(_)
        | ::png::EncodingError::Parameter(_) => Error::Codec {
            format: Format::Png,
            what: error.to_string(),
        },
    }
}

/// Bytes that grow in steps the budget knows of.
struct Claimed<'a> {
    bytes: Vec<u8>,
    budget: &'a Budget,
    error: Option<Error>,
}

impl Claimed<'_> {
    /// Room for `more` bytes, doubled like a vector's so that copying stays rare.
    fn grow(&mut self, more: usize) -> Result<(), Error> {
        let wanted = self.bytes.len() + more;
        if wanted <= self.bytes.capacity() {
            return Ok(());
        }
        let mut bigger = self
            .budget
            .vec(wanted.max(2 * self.bytes.capacity()).max(1 << 16))?;
        bigger.extend_from_slice(&self.bytes);
        self.budget.free(std::mem::replace(&mut self.bytes, bigger));
        Ok(())
    }
}

impl Write for Claimed<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if let Err(error) = self.grow(bytes.len()) {
            self.error = Some(error);
            return Err(std::io::ErrorKind::OutOfMemory.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
