//! Says what a file holds by looking at its bytes: an image format, or what else it seems to be. Names never count.
//!
//! Nothing is decoded and at most a few kilobytes are read; a file that only begins like an image is an image here and
//! a damaged one later.

mod boxes;
mod other;
mod tiff;

use crate::{Format, Source};
use std::io;

/// Bytes looked at first.
const HEAD: usize = 4096;

/// What a file seems to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sniffed {
    /// An image.
    Image(Format),
    /// Something else, named as in "looks like ...".
    Other(&'static str),
}

/// Looks at the first bytes of `source` and, where a container needs it, at a few more.
///
/// # Errors
/// Whatever reading reports.
pub(crate) fn sniff(source: &dyn Source) -> io::Result<Sniffed> {
    let head = window(source, 0, HEAD)?;
    if let Some(format) = by_magic(&head) {
        return Ok(Sniffed::Image(format));
    }
    if head.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Ok(Sniffed::Image(png_kind(source)?));
    }
    if tiff::is_tiff(&head) {
        return Ok(Sniffed::Image(tiff::kind(source, &head)?));
    }
    if let Some(found) = boxes::by_brand(&head) {
        return Ok(found);
    }
    Ok(Sniffed::Other(other::describe(&head)))
}

/// Up to `length` bytes from `offset`, fewer at the end of the file.
fn window(source: &dyn Source, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while filled < length {
        match source.read_at(offset + filled as u64, &mut bytes[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// Formats that a fixed pattern at the start tells.
fn by_magic(head: &[u8]) -> Option<Format> {
    let starts = |magic: &[u8]| head.starts_with(magic);
    let at = |offset: usize, magic: &[u8]| {
        head.get(offset..)
            .is_some_and(|rest| rest.starts_with(magic))
    };
    Some(match () {
        () if starts(b"\xff\xd8\xff") => Format::Jpeg,
        () if starts(b"GIF87a") || starts(b"GIF89a") => Format::Gif,
        () if starts(b"RIFF") && at(8, b"WEBP") => Format::Webp,
        () if starts(b"qoif") => Format::Qoi,
        () if starts(b"8BPS") => Format::Psd,
        () if starts(b"\xff\x0a") || starts(b"\0\0\0\x0cJXL \r\n\x87\n") => Format::Jxl,
        () if starts(b"\xff\x4f\xff\x51") || starts(b"\0\0\0\x0cjP  \r\n\x87\n") => Format::Jp2,
        () if is_raw(head) => Format::Raw,
        () if is_bmp(head) => Format::Bmp,
        () if is_pnm(head) => Format::Pnm,
        () if is_icon(head) => Format::Ico,
        () => return None,
    })
}

/// Raw camera files with a pattern of their own: Fujifilm RAF, Olympus ORF, Panasonic RW2, Canon CRW, Minolta MRW,
/// Sigma X3F. The others are TIFFs or boxes.
fn is_raw(head: &[u8]) -> bool {
    const PATTERNS: [&[u8]; 7] = [
        b"FUJIFILMCCD-RAW",
        b"IIRO",
        b"IIRS",
        b"MMOR",
        b"IIU\0",
        b"\0MRM",
        b"FOVb",
    ];
    PATTERNS.iter().any(|pattern| head.starts_with(pattern))
        || (head.starts_with(b"II\x1a\0\0\0")
            && head
                .get(6..)
                .is_some_and(|rest| rest.starts_with(b"HEAPCCDR")))
}

/// "BM" alone is two letters of text, so the size of the second header must be one that exists.
fn is_bmp(head: &[u8]) -> bool {
    let size = head
        .get(14..18)
        .map(|size| [size[0], size[1], size[2], size[3]]);
    let known = [12, 16, 40, 52, 56, 64, 108, 124];
    head.starts_with(b"BM") && size.is_some_and(|size| known.contains(&u32::from_le_bytes(size)))
}

/// P1 to P7 and the float kinds PF and Pf, each followed by white space.
fn is_pnm(head: &[u8]) -> bool {
    head.len() > 3
        && head[0] == b'P'
        && matches!(head[1], b'1'..=b'7' | b'F' | b'f')
        && head[2].is_ascii_whitespace()
}

/// ICO and CUR begin with zeros, so the first directory entry must make sense as well.
fn is_icon(head: &[u8]) -> bool {
    let count = |head: &[u8]| u16::from_le_bytes([head[4], head[5]]);
    head.len() >= 22
        && (head.starts_with(b"\0\0\x01\0") || head.starts_with(b"\0\0\x02\0"))
        && (1..=1024).contains(&count(head))
        && head[9] == 0
        && u32::from_le_bytes([head[18], head[19], head[20], head[21]])
            >= 6 + 16 * u32::from(count(head))
}

/// A PNG is animated when an `acTL` chunk stands before the first `IDAT` (APNG specification).
fn png_kind(source: &dyn Source) -> io::Result<Format> {
    let mut offset = 8;
    loop {
        let head = window(source, offset, 8)?;
        let &[a, b, c, d, ref kind @ ..] = head.as_slice() else {
            return Ok(Format::Png);
        };
        match kind {
            b"acTL" => return Ok(Format::Apng),
            b"IDAT" | b"IEND" => return Ok(Format::Png),
            kind if kind.len() < 4 || !kind.iter().all(u8::is_ascii_alphabetic) => {
                return Ok(Format::Png);
            }
            _ => offset += 12 + u64::from(u32::from_be_bytes([a, b, c, d])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> Sniffed {
        sniff(&bytes).expect("memory reads")
    }

    #[test]
    fn every_pattern_is_told() {
        let mut bmp = b"BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0".to_vec();
        bmp.resize(60, 0);
        let mut icon = b"\0\0\x01\0\x01\0\x10\x10\0\0\x01\0\x20\0\x40\0\0\0\x16\0\0\0".to_vec();
        icon.resize(60, 0);
        let cases: [(&[u8], Format); 17] = [
            (b"\xff\xd8\xff\xe0", Format::Jpeg),
            (b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR", Format::Png),
            (b"GIF89a....", Format::Gif),
            (b"RIFF\0\0\0\0WEBPVP8 ", Format::Webp),
            (b"qoif", Format::Qoi),
            (b"8BPS\0\x01", Format::Psd),
            (b"\xff\x0a\0", Format::Jxl),
            (b"\0\0\0\x0cJXL \r\n\x87\n", Format::Jxl),
            (b"\xff\x4f\xff\x51\0", Format::Jp2),
            (b"\0\0\0\x0cjP  \r\n\x87\n", Format::Jp2),
            (b"FUJIFILMCCD-RAW 0201", Format::Raw),
            (b"IIRO\x08\0\0\0", Format::Raw),
            (b"II\x1a\0\0\0HEAPCCDR", Format::Raw),
            (b"P6 3 3 255\n", Format::Pnm),
            (b"P7\nWIDTH 3", Format::Pnm),
            (&bmp, Format::Bmp),
            (&icon, Format::Ico),
        ];
        for (bytes, format) in cases {
            assert_eq!(
                of(bytes),
                Sniffed::Image(format),
                "{}",
                bytes.escape_ascii()
            );
        }
    }

    #[test]
    fn text_that_begins_like_an_image_is_text() {
        assert_eq!(
            of(b"BMW is a car maker in Munich, Germany"),
            Sniffed::Other("text")
        );
        assert_eq!(of(b"P45 form, please sign here"), Sniffed::Other("text"));
        assert_eq!(of(b"II, the second"), Sniffed::Other("text"));
    }

    #[test]
    fn an_animation_chunk_behind_the_pixels_does_not_count() {
        let chunk = |kind: &[u8], length: usize| {
            let mut bytes = (length as u32).to_be_bytes().to_vec();
            bytes.extend_from_slice(kind);
            bytes.resize(bytes.len() + length + 4, 0);
            bytes
        };
        let png = |chunks: &[Vec<u8>]| [b"\x89PNG\r\n\x1a\n".to_vec(), chunks.concat()].concat();
        let (head, big, act, dat) = (
            chunk(b"IHDR", 13),
            chunk(b"iTXt", 9000),
            chunk(b"acTL", 8),
            chunk(b"IDAT", 10),
        );
        let animated = png(&[head.clone(), big.clone(), act.clone(), dat.clone()]);
        let still = png(&[head, big, dat, act]);
        assert_eq!(of(&animated), Sniffed::Image(Format::Apng));
        assert_eq!(of(&still), Sniffed::Image(Format::Png));
    }
}
