//! Puts the chunks that make no pixels back where they stood, around newly coded pixels.

use super::chunk::{self, Chunk, FRAMING, Name, Place, SIGNATURE};
use super::corrupt;
use super::scan::{Layout, read_exact};
use crate::{Budget, Error, Sink, Source};

/// Bytes of the spliced file.
///
/// # Errors
/// None in practice; the coded PNG is our own.
pub(super) fn length(coded: &[u8], layout: &Layout) -> Result<u64, Error> {
    let mut total = SIGNATURE.len() as u64 + layout.tail.end - layout.tail.start;
    for piece in Pieces::new(coded) {
        total += piece?.bytes.len() as u64;
    }
    Ok(total + layout.others.iter().map(Chunk::length).sum::<u64>())
}

/// Writes the coded PNG with the other chunks of `layout` and whatever followed the end chunk.
///
/// # Errors
/// [`Error::Write`], [`Error::Read`].
pub(super) fn write(
    coded: &[u8],
    layout: &Layout,
    source: &dyn Source,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    let mut put = |bytes: &[u8]| sink.write(bytes).map_err(Error::Write);
    put(SIGNATURE)?;
    let mut done = None;
    for piece in Pieces::new(coded) {
        let piece = piece?;
        // `bKGD` and `hIST` must follow the palette, which may be new; the rest of a place goes before it.
        let until = match &piece.name {
            b"PLTE" | b"acTL" => Some(Place::BeforePalette),
            b"IDAT" | b"fcTL" | b"tRNS" => Some(Place::BeforePixels),
            b"IEND" => Some(Place::AfterPixels),
            _ => None,
        };
        if until > done {
            for chunk in due(&layout.others, done, until) {
                let mut bytes = Vec::with_capacity(chunk.payload.len() + FRAMING as usize);
                chunk.append_to(&mut bytes);
                put(&bytes)?;
            }
            done = until;
        }
        put(piece.bytes)?;
    }
    copy(source, layout.tail.clone(), &mut put)
}

/// Chunks of the places after `done` up to `until`.
fn due(
    others: &[Chunk],
    done: Option<Place>,
    until: Option<Place>,
) -> impl Iterator<Item = &Chunk> {
    others
        .iter()
        .filter(move |chunk| Some(chunk.place) > done && Some(chunk.place) <= until)
}

fn copy(
    source: &dyn Source,
    span: std::ops::Range<u64>,
    put: &mut impl FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut piece = vec![0; 64 * 1024];
    let mut offset = span.start;
    while offset < span.end {
        let count = piece.len().min((span.end - offset) as usize);
        read_exact(source, offset, &mut piece[..count])?;
        put(&piece[..count])?;
        offset += count as u64;
    }
    Ok(())
}

/// A chunk of the coded PNG with its framing.
struct Piece<'a> {
    name: Name,
    bytes: &'a [u8],
}

/// The chunks of a PNG in memory.
struct Pieces<'a> {
    rest: &'a [u8],
}

impl<'a> Pieces<'a> {
    fn new(coded: &'a [u8]) -> Self {
        Self {
            rest: coded.get(SIGNATURE.len()..).unwrap_or_default(),
        }
    }

    fn split(&mut self) -> Option<Piece<'a>> {
        let &[a, b, c, d, e, f, g, h, ..] = self.rest else {
            return None;
        };
        let length = u32::from_be_bytes([a, b, c, d]) as usize + FRAMING as usize;
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(Piece {
            name: [e, f, g, h],
            bytes,
        })
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Result<Piece<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let piece = self
            .split()
            .ok_or_else(|| corrupt("the newly coded chunks do not add up"));
        if piece.is_err() {
            self.rest = &[];
        }
        Some(piece)
    }
}

/// A file of the chunks that make pixels and no other, as they are.
///
/// # Errors
/// [`Error::OverBudget`], [`Error::Read`].
pub(super) fn bare(
    source: &dyn Source,
    layout: &Layout,
    budget: &Budget,
) -> Result<Vec<u8>, Error> {
    let bytes: u64 = layout.pixels.iter().map(|span| span.end - span.start).sum();
    let length = usize::try_from(bytes + FRAMING).unwrap_or(usize::MAX);
    let mut bare: Vec<u8> = budget.vec(length.saturating_add(SIGNATURE.len()))?;
    bare.extend_from_slice(SIGNATURE);
    for span in &layout.pixels {
        let start = bare.len();
        bare.resize(start + (span.end - span.start) as usize, 0);
        read_exact(source, span.start, &mut bare[start..])?;
    }
    chunk::append(*b"IEND", &[], &mut bare);
    Ok(bare)
}
