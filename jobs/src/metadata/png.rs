//! PNG's chunks: which kind each is, and whether it goes, stays or is edited.

use super::segments::{edit_block, profile_note, xmp_properties};
use super::xmp;
use super::{Damaged, Report, exif};
use crate::Strip;
use crate::png::Chunk;
use std::io::{Read, Write};

/// Keyword of the text chunk that holds XMP.
pub(crate) const XMP: &[u8] = b"XML:com.adobe.xmp\0";
/// Keyword ImageMagick and others use for metadata written as hexadecimal text; the kind follows.
const RAW: &[u8] = b"Raw profile type ";
/// Most bytes a compressed XMP packet may unpack to.
const LARGEST_XMP: u64 = 64 << 20;

/// Takes the kinds that were to go out of `chunks`.
pub(crate) fn strip_chunks(chunks: &mut Vec<Chunk>, strip: &Strip) -> Report {
    let mut report = Report::default();
    let before = chunks.len();
    chunks.retain_mut(|chunk| stays(chunk, strip, &mut report));
    report.changed |= chunks.len() != before;
    report
}

/// The orientation that the EXIF chunk tells.
pub(crate) fn orientation_of_chunks(chunks: &[Chunk]) -> Option<u16> {
    let exif = chunks.iter().find(|chunk| &chunk.name == b"eXIf")?;
    exif::orientation(&exif.payload)
}

/// Metadata out of a format's wrapping.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// ICC profile.
    pub(crate) icc: Option<Vec<u8>>,
    /// EXIF, a TIFF structure.
    pub(crate) exif: Option<Vec<u8>>,
    /// XMP packet.
    pub(crate) xmp: Option<Vec<u8>>,
}

/// Profile, EXIF and XMP in `chunks`, unpacked; what cannot be unpacked is left out.
pub(crate) fn carried_chunks(chunks: &[Chunk]) -> Parts {
    let payload = |name: &[u8; 4]| {
        let mut named = chunks.iter().filter(|chunk| &chunk.name == name);
        named.next().map(|chunk| chunk.payload.as_slice())
    };
    let profile = payload(b"iCCP").and_then(|payload| {
        let end_of_name = payload.iter().position(|&byte| byte == 0)?;
        unpack(payload.get(end_of_name + 2..)?).ok()
    });
    let mut texts = chunks.iter().filter(|chunk| &chunk.name == b"iTXt");
    let xmp = texts.find(|chunk| chunk.payload.starts_with(XMP));
    Parts {
        icc: profile,
        exif: payload(b"eXIf").map(<[u8]>::to_vec),
        xmp: xmp.and_then(|chunk| xmp_text(&chunk.payload).ok()),
    }
}

/// The packet in an XMP chunk.
fn xmp_text(payload: &[u8]) -> Result<Vec<u8>, Damaged> {
    let text = &payload[xmp_text_at(payload)?..];
    if payload.get(XMP.len()) == Some(&1) {
        unpack(text)
    } else {
        Ok(text.to_vec())
    }
}

/// Where the packet begins: behind keyword, compression flag and method, language and translated keyword, each of the latter
/// ended by a zero.
fn xmp_text_at(payload: &[u8]) -> Result<usize, Damaged> {
    let mut text_at = XMP.len() + 2;
    for _ in 0..2 {
        let rest = payload.get(text_at..).ok_or(Damaged)?;
        text_at += rest.iter().position(|&byte| byte == 0).ok_or(Damaged)? + 1;
    }
    Ok(text_at)
}

/// Whether a chunk stays, perhaps edited.
fn stays(chunk: &mut Chunk, strip: &Strip, report: &mut Report) -> bool {
    match &chunk.name {
        b"eXIf" => exif_stays(&mut chunk.payload, strip, report),
        b"iTXt" if chunk.payload.starts_with(XMP) => {
            !strip.xmp && xmp_stays(&mut chunk.payload, strip, report)
        }
        b"tEXt" | b"zTXt" | b"iTXt" => match chunk.payload.strip_prefix(RAW) {
            Some(kind) => !raw_goes(kind, strip),
            None => !strip.comment,
        },
        b"iCCP" if strip.icc => {
            report.notes.push(profile_note());
            false
        }
        _ => true,
    }
}

/// Whether a profile in hexadecimal text goes. A position cannot be taken out of one, so it goes with the position.
fn raw_goes(kind: &[u8], strip: &Strip) -> bool {
    let is = |name: &[u8]| kind.starts_with(name);
    let exif = (is(b"exif") || is(b"APP1")) && (strip.exif || strip.gps || strip.thumbnail);
    let xmp = (is(b"xmp") || is(b"APP1")) && (strip.xmp || strip.gps);
    let iptc = (is(b"iptc") || is(b"8bim")) && strip.iptc;
    exif || xmp || iptc || (is(b"icc") && strip.icc)
}

/// Whether an EXIF block stays, perhaps edited; an emptied one goes.
pub(super) fn exif_stays(block: &mut Vec<u8>, strip: &Strip, report: &mut Report) -> bool {
    let turned = exif::orientation(block).filter(|&turn| turn != 1);
    let edited = if strip.exif {
        Err(Damaged)
    } else {
        edit_block(block, strip)
    };
    match edited {
        Ok(changed) => {
            report.changed |= changed;
            true
        }
        Err(Damaged) => {
            if !strip.exif {
                report.drop_damaged("EXIF");
            }
            let alone = turned.map(exif::only_orientation);
            report.changed |= alone.as_ref() != Some(block);
            *block = alone.unwrap_or_default();
            !block.is_empty()
        }
    }
}

fn xmp_stays(payload: &mut Vec<u8>, strip: &Strip, report: &mut Report) -> bool {
    if xmp_properties(strip).next().is_none() {
        return true;
    }
    match edit_xmp(payload, strip) {
        Ok(changed) => {
            report.changed |= changed;
            true
        }
        Err(Damaged) => {
            report.drop_damaged("XMP");
            false
        }
    }
}

fn edit_xmp(payload: &mut Vec<u8>, strip: &Strip) -> Result<bool, Damaged> {
    let text_at = xmp_text_at(payload)?;
    let compressed = payload.get(XMP.len()) == Some(&1);
    let mut text = if compressed {
        unpack(&payload[text_at..])?
    } else {
        payload[text_at..].to_vec()
    };
    let mut changed = false;
    for property in xmp_properties(strip) {
        changed |= xmp::blank(&mut text, property)?;
    }
    if changed {
        payload.truncate(text_at);
        payload.extend(if compressed { pack(&text)? } else { text });
    }
    Ok(changed)
}

fn unpack(bytes: &[u8]) -> Result<Vec<u8>, Damaged> {
    let mut text = Vec::new();
    let decoder = flate2::read::ZlibDecoder::new(bytes);
    let length = decoder
        .take(LARGEST_XMP)
        .read_to_end(&mut text)
        .map_err(|_| Damaged)?;
    if length as u64 == LARGEST_XMP {
        Err(Damaged)
    } else {
        Ok(text)
    }
}

pub(super) fn pack(text: &[u8]) -> Result<Vec<u8>, Damaged> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(text).map_err(|_| Damaged)?;
    encoder.finish().map_err(|_| Damaged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::png::Place;

    fn chunk(name: &[u8; 4], parts: &[&[u8]]) -> Chunk {
        Chunk {
            name: *name,
            payload: parts.concat(),
            place: Place::BeforePixels,
        }
    }

    fn everything() -> Vec<Chunk> {
        let xmp = b"<x exif:GPSLatitude='1' dc:title='t'/>";
        vec![
            chunk(b"gAMA", &[&[0, 0, 1, 0]]),
            chunk(b"iCCP", &[b"icc\0\0profile"]),
            chunk(b"eXIf", &[&exif::tests::block()]),
            chunk(b"iTXt", &[XMP, &[0, 0, 0, 0], xmp]),
            chunk(b"iTXt", &[XMP, &[1, 0, 0, 0], &pack(xmp).expect("packs")]),
            chunk(b"tEXt", &[b"Comment\0hello"]),
            chunk(b"zTXt", &[RAW, b"exif\0\0zipped"]),
        ]
    }

    fn names(strip: &Strip) -> Vec<[u8; 4]> {
        let mut chunks = everything();
        strip_chunks(&mut chunks, strip);
        chunks.into_iter().map(|chunk| chunk.name).collect()
    }

    #[test]
    fn each_kind_goes_alone() {
        let none = Strip::default();
        assert_eq!(names(&none).len(), 7);
        assert_eq!(
            names(&Strip {
                comment: true,
                ..none
            }),
            [*b"gAMA", *b"iCCP", *b"eXIf", *b"iTXt", *b"iTXt", *b"zTXt"]
        );
        assert_eq!(
            names(&Strip { xmp: true, ..none }),
            [*b"gAMA", *b"iCCP", *b"eXIf", *b"tEXt", *b"zTXt"]
        );
        assert_eq!(names(&Strip { icc: true, ..none }).len(), 6);
        assert_eq!(
            names(&Strip { gps: true, ..none }),
            [*b"gAMA", *b"iCCP", *b"eXIf", *b"iTXt", *b"iTXt", *b"tEXt"]
        );
    }

    #[test]
    fn the_position_goes_from_exif_and_from_both_kinds_of_xmp() {
        let mut chunks = everything();
        let report = strip_chunks(
            &mut chunks,
            &Strip {
                gps: true,
                ..Strip::default()
            },
        );
        assert!(report.changed && report.notes.is_empty());
        let unpacked = unpack(&chunks[4].payload[XMP.len() + 4..]).expect("still zlib");
        for text in [&chunks[2].payload, &chunks[3].payload, &unpacked] {
            assert!(!text.windows(4).any(|w| w == b"lati" || w == b"GPSL"));
        }
        assert!(unpacked.ends_with(b"dc:title='t'/>"));
    }
}
