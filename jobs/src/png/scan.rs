//! Walks the chunks of a PNG once: header, places of the pixel chunks, the other chunks whole, and what is damaged.
//!
//! Damage in a chunk that makes pixels is an error; damage elsewhere drops the chunk with a note.

use super::chunk::{Chunk, Colour, FRAMING, Header, Name, Place, SIGNATURE, checksum};
use super::corrupt;
use crate::door::Note;
use crate::{Budget, Error, Source};
use std::ops::Range;

/// A PNG taken apart.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The image header.
    pub(crate) header: Header,
    /// Whether it is an animation.
    pub(crate) animated: bool,
    /// Whole chunks that make pixels, in order, as ranges of the source; neighbours are merged.
    pub(crate) pixels: Vec<Range<u64>>,
    /// The palette's payload, for indexed pictures.
    pub(crate) palette: Vec<u8>,
    /// The payload of `tRNS`, if any.
    pub(crate) transparency: Option<Vec<u8>>,
    /// Every other chunk, in order.
    pub(crate) others: Vec<Chunk>,
    /// Bytes behind the end chunk, which are kept as they are.
    pub(crate) tail: Range<u64>,
    /// What was repaired or dropped.
    pub(crate) notes: Vec<Note>,
    seen_palette: bool,
    seen_pixels: bool,
    seen_end: bool,
}

/// Takes a PNG apart.
///
/// # Errors
/// [`Error::Corrupt`], [`Error::Unsupported`] for Apple's and other private critical chunks, [`Error::OverBudget`]
/// where the chunks to keep do not fit, [`Error::Read`].
pub(super) fn scan(source: &dyn Source, budget: &Budget) -> Result<Layout, Error> {
    let mut cursor = Cursor {
        source,
        offset: SIGNATURE.len() as u64,
    };
    let mut layout = Layout::begin(&mut cursor, budget)?;
    while !layout.seen_end && cursor.offset < source.len() {
        let Some(head) = cursor.head()? else {
            layout.cut_off()?;
            break;
        };
        if head.end() > source.len() {
            layout.cut_off_in(head.name)?;
            break;
        }
        layout.take(&head, &mut cursor, budget)?;
        cursor.offset = head.end();
    }
    layout.finish(cursor.offset, source.len())
}

/// Length, name and place of a chunk.
struct Head {
    start: u64,
    length: u32,
    name: Name,
}

impl Head {
    fn end(&self) -> u64 {
        self.start + FRAMING + u64::from(self.length)
    }

    /// Letters only; anything else means that the walk has lost its way.
    fn is_sane(&self) -> bool {
        self.name.iter().all(u8::is_ascii_alphabetic)
    }

    /// Upper case first letter (PNG 5.4).
    fn is_critical(&self) -> bool {
        self.name[0].is_ascii_uppercase()
    }
}

struct Cursor<'a> {
    source: &'a dyn Source,
    offset: u64,
}

impl Cursor<'_> {
    /// The head of the chunk at the cursor; `None` where fewer than eight bytes are left.
    fn head(&self) -> Result<Option<Head>, Error> {
        let mut bytes = [0; 8];
        if self.offset + 8 > self.source.len() {
            return Ok(None);
        }
        read_exact(self.source, self.offset, &mut bytes)?;
        let [a, b, c, d, name @ ..] = bytes;
        Ok(Some(Head {
            start: self.offset,
            length: u32::from_be_bytes([a, b, c, d]),
            name,
        }))
    }

    /// Payload of a chunk and whether its checksum is right.
    fn payload(&self, head: &Head, budget: &Budget) -> Result<(Vec<u8>, bool), Error> {
        let mut payload = budget.vec(head.length as usize)?;
        payload.resize(head.length as usize, 0);
        read_exact(self.source, head.start + 8, &mut payload)?;
        let mut stored = [0; 4];
        read_exact(self.source, head.end() - 4, &mut stored)?;
        let right = u32::from_be_bytes(stored) == checksum(head.name, &payload);
        Ok((payload, right))
    }
}

/// Fills `buffer` from `offset`.
pub(super) fn read_exact(source: &dyn Source, offset: u64, buffer: &mut [u8]) -> Result<(), Error> {
    let mut filled = 0;
    while filled < buffer.len() {
        let count = source
            .read_at(offset + filled as u64, &mut buffer[filled..])
            .map_err(Error::Read)?;
        if count == 0 {
            return Err(Error::Read(std::io::ErrorKind::UnexpectedEof.into()));
        }
        filled += count;
    }
    Ok(())
}

impl Layout {
    /// Reads the signature's successor, which must be the header.
    fn begin(cursor: &mut Cursor<'_>, budget: &Budget) -> Result<Self, Error> {
        let head = cursor
            .head()?
            .ok_or_else(|| corrupt("it is cut off before its header"))?;
        if &head.name == b"CgBI" {
            return Err(Error::Unsupported("a PNG in Apple's CgBI form".to_owned()));
        }
        if &head.name != b"IHDR" || head.length != 13 {
            return Err(corrupt("it does not begin with an image header"));
        }
        if head.end() > cursor.source.len() {
            return Err(corrupt("it is cut off within its header"));
        }
        let (payload, right) = cursor.payload(&head, budget)?;
        if !right {
            return Err(corrupt("the checksum of the image header is wrong"));
        }
        cursor.offset = head.end();
        let header_chunk = head.start..head.end();
        Ok(Self {
            header: Header::read(&payload)?,
            animated: false,
            pixels: std::iter::once(header_chunk).collect(),
            palette: Vec::new(),
            transparency: None,
            others: Vec::new(),
            tail: 0..0,
            notes: Vec::new(),
            seen_palette: false,
            seen_pixels: false,
            seen_end: false,
        })
    }

    /// Files one chunk.
    fn take(&mut self, head: &Head, cursor: &mut Cursor<'_>, budget: &Budget) -> Result<(), Error> {
        if !head.is_sane() {
            return self.cut_off();
        }
        match &head.name {
            b"IEND" => self.seen_end = true,
            b"IDAT" => {
                self.seen_pixels = true;
                self.add_pixels(head);
            }
            b"fdAT" if self.animated => self.add_pixels(head),
            b"PLTE" => self.take_palette(cursor.payload(head, budget)?, head)?,
            b"tRNS" => self.take_transparency(cursor.payload(head, budget)?, head)?,
            b"acTL" if !self.seen_pixels => {
                self.sound(cursor.payload(head, budget)?, head.name)?;
                self.animated = true;
                self.add_pixels(head);
            }
            b"fcTL" if self.animated => {
                self.sound(cursor.payload(head, budget)?, head.name)?;
                self.add_pixels(head);
            }
            name if head.is_critical() => {
                let name = name.escape_ascii();
                return Err(Error::Unsupported(format!(
                    "a PNG with the critical chunk {name}"
                )));
            }
            // An index of offsets into the pixel chunks that macOS writes; it would be wrong afterwards.
            b"iDOT" => {}
            // Frequencies of a palette that was dropped.
            b"hIST" if self.header.colour != Colour::Indexed => {}
            _ => self.take_other(cursor.payload(head, budget)?, head.name),
        }
        Ok(())
    }

    fn take_palette(
        &mut self,
        (payload, right): (Vec<u8>, bool),
        head: &Head,
    ) -> Result<(), Error> {
        self.seen_palette = true;
        if self.header.colour == Colour::Indexed {
            self.palette = self.sound((payload, right), head.name)?;
            self.add_pixels(head);
        } else {
            let what = "a palette that was only a suggestion";
            Note::Dropped(what.to_owned()).add_to(&mut self.notes);
        }
        Ok(())
    }

    /// Keeps a `tRNS` chunk that fits the pixels; readers ignore any other, and so does this, with a note.
    fn take_transparency(
        &mut self,
        (payload, right): (Vec<u8>, bool),
        head: &Head,
    ) -> Result<(), Error> {
        let payload = self.sound((payload, right), head.name)?;
        let fits = match self.header.colour {
            Colour::Gray => payload.len() >= 2,
            Colour::Rgb => payload.len() >= 6,
            Colour::Indexed => self.seen_palette && payload.len() <= self.palette.len() / 3,
            Colour::GrayAlpha | Colour::Rgba => false,
        };
        if fits && self.transparency.is_none() && !self.seen_pixels {
            self.transparency = Some(payload);
            self.add_pixels(head);
        } else {
            let what = "a transparency chunk that does not fit the pixels was ignored";
            Note::Repaired(what.to_owned()).add_to(&mut self.notes);
        }
        Ok(())
    }

    fn take_other(&mut self, (payload, right): (Vec<u8>, bool), name: Name) {
        if !right {
            let what = format!(
                "the {} chunk had a wrong checksum and was left out",
                name.escape_ascii()
            );
            Note::Repaired(what).add_to(&mut self.notes);
            return;
        }
        let place = match (self.seen_pixels, self.seen_palette) {
            (true, _) => Place::AfterPixels,
            (false, true) => Place::BeforePixels,
            (false, false) => Place::BeforePalette,
        };
        self.others.push(Chunk {
            name,
            payload,
            place,
        });
    }

    /// The payload of a chunk that makes pixels, whose checksum must be right.
    fn sound(&self, (payload, right): (Vec<u8>, bool), name: Name) -> Result<Vec<u8>, Error> {
        if right {
            return Ok(payload);
        }
        Err(corrupt(format!(
            "the checksum of the {} chunk is wrong",
            name.escape_ascii()
        )))
    }

    fn add_pixels(&mut self, head: &Head) {
        match self.pixels.last_mut() {
            Some(last) if last.end == head.start => last.end = head.end(),
            _ => self.pixels.push(head.start..head.end()),
        }
    }

    /// The chunks stop making sense: after the pixels that is a blemish, before or within them it is damage.
    fn cut_off(&mut self) -> Result<(), Error> {
        if !self.seen_pixels {
            return Err(corrupt("it is cut off before its pixels"));
        }
        self.seen_end = true;
        self.notes.push(Note::Repaired(
            "the end of the file was missing or damaged".to_owned(),
        ));
        Ok(())
    }

    fn cut_off_in(&mut self, name: Name) -> Result<(), Error> {
        let makes_pixels = matches!(&name, b"IDAT" | b"fdAT" | b"PLTE" | b"tRNS");
        if makes_pixels {
            return Err(corrupt(format!(
                "it is cut off within its {} chunk",
                name.escape_ascii()
            )));
        }
        self.cut_off()
    }

    fn finish(mut self, offset: u64, length: u64) -> Result<Self, Error> {
        if !self.seen_pixels {
            return Err(corrupt("it has no pixels"));
        }
        if self.header.colour == Colour::Indexed && self.palette.len() < 3 {
            return Err(corrupt("it has no palette"));
        }
        if !self.seen_end {
            self.cut_off()?;
        }
        self.tail = offset.min(length)..length;
        Ok(self)
    }

    /// Chunks of that name.
    pub(super) fn has(&self, name: &Name) -> bool {
        self.others.iter().any(|chunk| &chunk.name == name)
    }

    /// Why the file must stay exactly as it is, if so.
    pub(super) fn reason_to_keep(&self) -> Option<&'static str> {
        self.has(b"caBX").then_some(
            "content credentials (C2PA), which are signed over the exact bytes of the file",
        )
    }
}
