//! TIFF and the raw camera files that are built like one (TIFF 6.0 section 2; BigTIFF).

use super::window;
use crate::{Format, Source};
use std::io;

/// Tags that tell a camera file from a picture.
mod tag {
    pub(super) const NEW_SUBFILE_TYPE: u64 = 254;
    pub(super) const COMPRESSION: u64 = 259;
    pub(super) const MAKE: u64 = 271;
    pub(super) const SUB_IFDS: u64 = 330;
    pub(super) const DNG_VERSION: u64 = 50706;
    /// DNGPrivateData, which Sony's ARW uses for its encrypted part.
    pub(super) const SONY_PRIVATE: u64 = 50740;
}

/// Whether the bytes begin like a TIFF or a BigTIFF.
pub(super) fn is_tiff(head: &[u8]) -> bool {
    [b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"]
        .iter()
        .any(|magic| head.starts_with(*magic))
}

/// TIFF or raw, by the tags of the first directory.
pub(super) fn kind(source: &dyn Source, head: &[u8]) -> io::Result<Format> {
    // Canon's CR2 writes its own letters behind the TIFF header.
    if head.get(8..10) == Some(b"CR") {
        return Ok(Format::Raw);
    }
    let big_endian = head[0] == b'M';
    let big_tiff = head[2] == b'+' || head[3] == b'+';
    let offset = if big_tiff {
        number(head.get(8..16), big_endian)
    } else {
        number(head.get(4..8), big_endian)
    };
    let directory = window(source, offset, 16 * 1024)?;
    let tags = first_values(&directory, big_endian, big_tiff);
    Ok(if looks_raw(&tags) {
        Format::Raw
    } else {
        Format::Tiff
    })
}

/// Tag and first value (or offset) of every entry of a directory.
fn first_values(directory: &[u8], big_endian: bool, big_tiff: bool) -> Vec<(u64, u64)> {
    let (count_size, entry_size, value_at) = if big_tiff { (8, 20, 12) } else { (2, 12, 8) };
    let count = number(directory.get(..count_size), big_endian) as usize;
    let entries = directory
        .get(count_size..)
        .unwrap_or_default()
        .chunks_exact(entry_size);
    entries
        .take(count)
        .map(|entry| {
            let is_short = number(Some(&entry[2..4]), big_endian) == 3;
            let size = if is_short { 2 } else { 4 };
            let value = number(Some(&entry[value_at..value_at + size]), big_endian);
            (number(Some(&entry[0..2]), big_endian), value)
        })
        .collect()
}

/// A DNG says so; other makers put a reduced picture first and the sensor data into a sub-directory, or use a
/// compression of their own.
fn looks_raw(tags: &[(u64, u64)]) -> bool {
    let value = |wanted| {
        tags.iter()
            .find(|(tag, _)| *tag == wanted)
            .map(|(_, value)| *value)
    };
    let own_compression = matches!(
        value(tag::COMPRESSION),
        Some(32767 | 32769 | 32770 | 34713 | 65000 | 65535)
    );
    let preview_first = value(tag::NEW_SUBFILE_TYPE) == Some(1) && value(tag::SUB_IFDS).is_some();
    value(tag::DNG_VERSION).is_some()
        || (value(tag::MAKE).is_some()
            && (own_compression || preview_first || value(tag::SONY_PRIVATE).is_some()))
}

/// An unsigned number in the file's byte order; 0 where the bytes are missing.
fn number(bytes: Option<&[u8]>, big_endian: bool) -> u64 {
    let bytes = bytes.unwrap_or_default();
    let fold = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
    if big_endian {
        bytes.iter().fold(0, fold)
    } else {
        bytes.iter().rev().fold(0, fold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A little-endian TIFF of one directory; every value is a LONG.
    fn tiff(tags: &[(u16, u32)]) -> Vec<u8> {
        let mut bytes = b"II*\0\x08\0\0\0".to_vec();
        bytes.extend_from_slice(&(tags.len() as u16).to_le_bytes());
        for (tag, value) in tags {
            bytes.extend_from_slice(&tag.to_le_bytes());
            bytes.extend_from_slice(&[4, 0, 1, 0, 0, 0]);
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        bytes.extend_from_slice(&[0; 4]);
        bytes
    }

    #[test]
    fn camera_tags_make_a_tiff_raw() {
        let told = |tags: &[(u16, u32)]| {
            let bytes = tiff(tags);
            kind(&bytes.as_slice(), &bytes).expect("memory reads")
        };
        assert_eq!(told(&[(254, 0), (256, 10), (259, 5)]), Format::Tiff);
        assert_eq!(
            told(&[(271, 0), (259, 1)]),
            Format::Tiff,
            "a scan names its maker too"
        );
        assert_eq!(
            told(&[(254, 0), (330, 9)]),
            Format::Tiff,
            "a pyramid has sub-directories too"
        );
        assert_eq!(told(&[(254, 1), (271, 0), (330, 9)]), Format::Raw);
        assert_eq!(told(&[(271, 0), (259, 34713)]), Format::Raw);
        assert_eq!(told(&[(50706, 1)]), Format::Raw);
    }

    #[test]
    fn a_directory_beyond_the_end_is_just_a_tiff() {
        let bytes = b"MM\0*\xff\xff\xff\xff".as_slice();
        assert_eq!(kind(&bytes, bytes).expect("memory reads"), Format::Tiff);
    }
}
