//! Pixels of a PNG through the `png` crate, which is shown only the chunks that make pixels: a broken text or profile
//! chunk cannot fail a picture, and the crate's copies of metadata cost nothing.

use super::chunk::SIGNATURE;
use super::corrupt;
use super::scan::Layout;
use crate::{Budget, Error, Source};
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::ops::Range;

/// An end chunk, shown to the decoder behind the last chunk.
const END: [u8; 12] = *b"\0\0\0\0IEND\xaeB`\x82";
/// Bytes read from the source at a time.
const PIECE: usize = 64 * 1024;

/// A decoder over parts of a source.
pub(super) type Reader<'a> = ::png::Reader<Spans<'a>>;

/// Opens the pixels of the PNG in `source`.
///
/// # Errors
/// See [`explain`].
pub(super) fn open<'a>(
    source: &'a dyn Source,
    layout: &Layout,
    transform: ::png::Transformations,
    lenient: bool,
    budget: &Budget,
) -> Result<Reader<'a>, Error> {
    let mut options = ::png::DecodeOptions::default();
    options.set_ignore_adler32(lenient);
    let spans = Spans::new(source, layout.pixels.clone());
    let mut decoder = ::png::Decoder::new_with_options(spans, options);
    decoder.set_transformations(transform);
    let bytes = usize::try_from(budget.left()).unwrap_or(usize::MAX);
    decoder.set_limits(::png::Limits { bytes });
    decoder.read_info().map_err(|error| explain(error, budget))
}

/// What a decoder's error means: reading failed, the budget is too small, or the picture is damaged.
pub(super) fn explain(error: ::png::DecodingError, budget: &Budget) -> Error {
    match error {
        ::png::DecodingError::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            corrupt("its pixels are cut off")
        }
        ::png::DecodingError::IoError(error) => Error::Read(error),
        ::png::DecodingError::LimitsExceeded => Error::OverBudget {
            needed: budget.memory().saturating_add(1),
            cap: budget.memory(),
        },
        ::png::DecodingError::Format(error) => corrupt(damage(&error.to_string())),
        ::png::DecodingError::Parameter(error) => corrupt(error.to_string()),
    }
}

/// The decoder's words, but for the one case whose words name internals.
fn damage(words: &str) -> String {
    if words.starts_with("CRC error") {
        return "the checksum of a chunk with pixels is wrong".to_owned();
    }
    words.to_owned()
}

/// All pixels of a frame, packed as in the file, without filter bytes; interlacing is undone.
///
/// The second value says that the checksum of the compressed pixels was wrong and every row was there all the same.
///
/// # Errors
/// See [`explain`].
pub(super) fn whole(
    source: &dyn Source,
    layout: &Layout,
    budget: &Budget,
) -> Result<(Vec<u8>, bool), Error> {
    let strict = whole_once(source, layout, false, budget);
    match strict {
        Err(Error::Corrupt { .. }) => {
            whole_once(source, layout, true, budget).map(|pixels| (pixels, true))
        }
        strict => strict.map(|pixels| (pixels, false)),
    }
}

fn whole_once(
    source: &dyn Source,
    layout: &Layout,
    lenient: bool,
    budget: &Budget,
) -> Result<Vec<u8>, Error> {
    let identity = ::png::Transformations::IDENTITY;
    let mut reader = open(source, layout, identity, lenient, budget)?;
    let bytes = usize::try_from(layout.header.raw_bytes()).unwrap_or(usize::MAX);
    let mut pixels = budget.vec(bytes)?;
    pixels.resize(bytes, 0);
    match reader.next_frame(&mut pixels) {
        Ok(_) => Ok(pixels),
        Err(error) => {
            budget.free(pixels);
            Err(explain(error, budget))
        }
    }
}

/// Reads signature, spans and an end chunk as if they stood in one file.
pub(super) struct Spans<'a> {
    source: &'a dyn Source,
    spans: std::vec::IntoIter<Range<u64>>,
    current: Range<u64>,
    ended: bool,
    buffer: Vec<u8>,
    taken: usize,
}

impl<'a> Spans<'a> {
    fn new(source: &'a dyn Source, spans: Vec<Range<u64>>) -> Self {
        Self {
            source,
            spans: spans.into_iter(),
            current: 0..0,
            ended: false,
            buffer: SIGNATURE.to_vec(),
            taken: 0,
        }
    }

    /// Puts the next piece into the buffer; leaves it empty at the end.
    fn refill(&mut self) -> io::Result<()> {
        self.taken = 0;
        self.buffer.clear();
        while self.current.is_empty() {
            let Some(span) = self.spans.next() else {
                if !self.ended {
                    self.ended = true;
                    self.buffer.extend_from_slice(&END);
                }
                return Ok(());
            };
            self.current = span;
        }
        let left = self.current.end - self.current.start;
        self.buffer
            .resize(PIECE.min(usize::try_from(left).unwrap_or(PIECE)), 0);
        let count = self.source.read_at(self.current.start, &mut self.buffer)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.buffer.truncate(count);
        self.current.start += count as u64;
        Ok(())
    }
}

impl BufRead for Spans<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken == self.buffer.len() {
            self.refill()?;
        }
        Ok(&self.buffer[self.taken..])
    }

    fn consume(&mut self, amount: usize) {
        self.taken += amount;
    }
}

impl Read for Spans<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let ready = self.fill_buf()?;
        let count = ready.len().min(out.len());
        out[..count].copy_from_slice(&ready[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl Seek for Spans<'_> {
    /// The `png` crate asks for `Seek` and does not use it.
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
