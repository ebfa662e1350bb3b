//! EXIF out of a TIFF: there it is spread over the file, so it is gathered into a block of its own (CIPA DC-008 section 4.6),
//! in little-endian order. Tags about the pixels stay behind; what cannot be read is left out.

use super::Directory;
use ::tiff::Directory as Entries;
use ::tiff::tags::{ByteOrder, IfdPointer, Tag, Type, ValueBuffer};

const EXIF: u16 = 0x8769;
const GPS: u16 = 0x8825;
/// Of the first directory: description, maker, model, orientation, resolution and its unit, software, date, artist, copyright.
const CARRIED: [u16; 11] = [270, 271, 272, 274, 282, 283, 296, 305, 306, 315, 33432];
/// Bytes of one entry.
const ENTRY: usize = 12;

/// One value.
struct Value {
    tag: u16,
    kind: u16,
    count: u32,
    bytes: Vec<u8>,
}

/// The block, where there is an EXIF or a GPS directory or anything else that is carried.
pub(super) fn block(directory: &mut Directory<'_>) -> Option<Vec<u8>> {
    let mut first: Vec<Value> = CARRIED
        .iter()
        .filter_map(|&tag| value(&mut directory.image_ifd(), tag))
        .collect();
    let [exif, gps] = [EXIF, GPS].map(|tag| linked(directory, tag));
    if first.is_empty() && exif.is_empty() && gps.is_empty() {
        return None;
    }
    let links = [(EXIF, exif), (GPS, gps)]
        .into_iter()
        .filter(|(_, values)| !values.is_empty());
    let links: Vec<_> = links.collect();
    first.extend(links.iter().map(|(tag, _)| Value {
        tag: *tag,
        kind: Type::LONG.to_u16(),
        count: 1,
        bytes: vec![0; 4],
    }));
    first.sort_by_key(|value| value.tag);
    let mut out = b"II*\0\x08\0\0\0".to_vec();
    let start = out.len();
    append(&mut out, &first);
    for (tag, values) in &links {
        let here = (out.len() as u32).to_le_bytes();
        let position = first.iter().position(|value| value.tag == *tag)?;
        let at = start + 2 + ENTRY * position + 8;
        out[at..at + 4].copy_from_slice(&here);
        append(&mut out, values);
    }
    Some(out)
}

/// The values of a directory that a tag of the first one points at.
fn linked(directory: &mut Directory<'_>, tag: u16) -> Vec<Value> {
    let tag = Tag::from_u16_exhaustive(tag);
    let Ok(Some(place)) = directory.find_tag_unsigned::<u64>(tag) else {
        return Vec::new();
    };
    let Ok(entries) = directory.read_directory(IfdPointer(place)) else {
        return Vec::new();
    };
    let tags: Vec<u16> = tags(&entries);
    let mut reader = directory.read_directory_tags(&entries);
    tags.into_iter()
        .filter_map(|tag| value(&mut reader, tag))
        .collect()
}

/// The tags of a directory but those that point elsewhere (interoperability).
fn tags(entries: &Entries) -> Vec<u16> {
    let tags = entries.iter().map(|(tag, _)| tag.to_u16());
    tags.filter(|&tag| tag != 0xa005).collect()
}

fn value(reader: &mut ::tiff::decoder::IfdDecoder<'_>, tag: u16) -> Option<Value> {
    let mut buffer = ValueBuffer::empty(Type::BYTE);
    let found = reader.find_tag_buf(Tag::from_u16_exhaustive(tag), &mut buffer);
    found.ok().flatten()?;
    buffer.set_byte_order(ByteOrder::LittleEndian);
    let kind = buffer.data_type().to_u16();
    // BigTIFF's own types do not exist in EXIF.
    let known = (1..=12).contains(&kind);
    let count = u32::try_from(buffer.count()).ok()?;
    let bytes = buffer.as_bytes().to_vec();
    known.then_some(Value {
        tag,
        kind,
        count,
        bytes,
    })
}

/// Appends a directory and, behind it, the values that do not fit into their entries.
fn append(out: &mut Vec<u8>, values: &[Value]) {
    let mut at = out.len() + 2 + ENTRY * values.len() + 4;
    out.extend_from_slice(&(values.len() as u16).to_le_bytes());
    for value in values {
        out.extend_from_slice(&value.tag.to_le_bytes());
        out.extend_from_slice(&value.kind.to_le_bytes());
        out.extend_from_slice(&value.count.to_le_bytes());
        let mut field = value.bytes.clone();
        if field.len() > 4 {
            field = (at as u32).to_le_bytes().to_vec();
            at += value.bytes.len().next_multiple_of(2);
        }
        field.resize(4, 0);
        out.extend_from_slice(&field);
    }
    out.extend_from_slice(&[0; 4]);
    for value in values.iter().filter(|value| value.bytes.len() > 4) {
        out.extend_from_slice(&value.bytes);
        out.resize(out.len().next_multiple_of(2), 0);
    }
}
