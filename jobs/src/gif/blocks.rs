//! The blocks of a GIF file (GIF89a), as places in it: which are frames, which are metadata, and which are just copied.

use super::corrupt;
use crate::Error;

/// A GIF taken apart.
#[derive(Debug)]
pub(super) struct Gif<'a> {
    /// Width and height of the screen.
    pub(super) size: (u16, u16),
    /// Whether it has an end mark; where it has none, frames may be missing.
    pub(super) ended: bool,
    /// Everything, in order.
    pub(super) blocks: Vec<Block<'a>>,
}

/// A piece of the file.
#[derive(Debug)]
pub(super) enum Block<'a> {
    /// Header, palettes, control blocks, loops, text, whatever follows the end: copied.
    Other(&'a [u8]),
    Comment(&'a [u8]),
    /// ICC profile.
    Profile(&'a [u8]),
    Xmp(&'a [u8]),
    Frame(Frame<'a>),
}

/// A frame.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    /// Descriptor and palette.
    pub(super) head: &'a [u8],
    /// Width and height.
    pub(super) size: (u16, u16),
    /// Bits of an index, 2 to 8 (1 in some files).
    pub(super) code_size: u8,
    /// Code size, compressed data in sub-blocks, terminator.
    pub(super) data: &'a [u8],
}

/// Header and logical screen.
const SCREEN: usize = 13;
/// An image descriptor.
const DESCRIPTOR: usize = 10;

/// Takes a GIF apart.
///
/// # Errors
/// [`Error::Corrupt`] where it ends within a block or has no frame. A missing end mark is no damage: readers do not need it.
pub(super) fn parse(bytes: &[u8]) -> Result<Gif<'_>, Error> {
    let screen = bytes.get(..SCREEN).ok_or_else(cut_off)?;
    let mut reader = Reader { bytes, at: SCREEN };
    reader.skip(palette_bytes(screen[10]))?;
    let mut ended = false;
    let mut blocks = vec![Block::Other(&bytes[..reader.at])];
    while reader.at < bytes.len() {
        let start = reader.at;
        match bytes[start] {
            b'!' => blocks.push(reader.extension()?),
            b',' => blocks.push(Block::Frame(reader.frame()?)),
            other => {
                ended |= other == b';';
                reader.at = bytes.len();
                blocks.push(Block::Other(&bytes[start..]));
            }
        }
    }
    if !blocks.iter().any(|block| matches!(block, Block::Frame(_))) {
        return Err(corrupt("it has no picture"));
    }
    let side = |at: usize| u16::from_le_bytes([screen[at], screen[at + 1]]);
    Ok(Gif {
        size: (side(6), side(8)),
        ended,
        blocks,
    })
}

/// Bytes of the palette that flags announce.
fn palette_bytes(flags: u8) -> usize {
    if flags & 0x80 == 0 {
        0
    } else {
        6 << (flags & 7)
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn skip(&mut self, count: usize) -> Result<(), Error> {
        self.at += count;
        if self.at > self.bytes.len() {
            Err(cut_off())
        } else {
            Ok(())
        }
    }

    /// Sub-blocks up to and with the empty one.
    fn sub_blocks(&mut self) -> Result<(), Error> {
        loop {
            let &length = self.bytes.get(self.at).ok_or_else(cut_off)?;
            self.skip(1 + usize::from(length))?;
            if length == 0 {
                return Ok(());
            }
        }
    }

    fn extension(&mut self) -> Result<Block<'a>, Error> {
        let start = self.at;
        let &label = self.bytes.get(start + 1).ok_or_else(cut_off)?;
        self.skip(2)?;
        let name = self.bytes.get(self.at..self.at + 12).unwrap_or_default();
        self.sub_blocks()?;
        let whole = &self.bytes[start..self.at];
        Ok(match (label, name) {
            (0xfe, _) => Block::Comment(whole),
            (0xff, b"\x0bXMP DataXMP") => Block::Xmp(whole),
            (0xff, b"\x0bICCRGBG1012") => Block::Profile(whole),
            _ => Block::Other(whole),
        })
    }

    fn frame(&mut self) -> Result<Frame<'a>, Error> {
        let start = self.at;
        let descriptor = self
            .bytes
            .get(start..start + DESCRIPTOR)
            .ok_or_else(cut_off)?;
        self.skip(DESCRIPTOR + palette_bytes(descriptor[9]))?;
        let head = &self.bytes[start..self.at];
        let data = self.at;
        let &code_size = self.bytes.get(data).ok_or_else(cut_off)?;
        match code_size {
            1..=8 => {}
            // Some readers take such a frame, although no palette has so many colours.
            9..=11 => {
                let what = format!("a GIF with indices of {code_size} bits");
                return Err(Error::Unsupported(what));
            }
            _ => return Err(corrupt(format!("a frame with indices of {code_size} bits"))),
        }
        self.skip(1)?;
        self.sub_blocks()?;
        let side = |at: usize| u16::from_le_bytes([descriptor[at], descriptor[at + 1]]);
        Ok(Frame {
            head,
            size: (side(5), side(7)),
            code_size,
            data: &self.bytes[data..self.at],
        })
    }
}

fn cut_off() -> Error {
    corrupt("it is cut off")
}
