//! Recognises files that hold more than one picture: multi-picture indexes, gain maps, videos behind the photograph.
//!
//! Their offsets and sizes break when the first picture changes size, so whoever rewrites a file must know.

use crate::jpeg::frame::Segment;

/// Something beside the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecondPart {
    /// An index of further pictures (CIPA DC-007, "MPF").
    MultiPicture,
    /// A gain map for bright screens (Adobe, Ultra HDR, ISO 21496-1).
    GainMap,
    /// A video (motion photo, micro video).
    Video,
}

impl SecondPart {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::MultiPicture => "further pictures behind the first (MPF)",
            Self::GainMap => "a gain map",
            Self::Video => "a video (motion photo)",
        }
    }
}

const APP1: u8 = 0xe1;
const APP2: u8 = 0xe2;
const MPF: &[u8] = b"MPF\0";
const ISO_GAIN_MAP: &[u8] = b"urn:iso:std:iso:ts:21496";
const XMP: &[u8] = b"http://ns.adobe.com/x";
const GAIN_MAP_WORDS: [&[u8]; 3] = [b"hdrgm:", b"hdr-gain-map", b"HDRGainMap"];
const VIDEO_WORDS: [&[u8]; 3] = [b"MotionPhoto", b"MicroVideo", b"video/mp4"];

/// What the metadata announces, each kind once; whether it is there only the trailer tells.
pub(super) fn declared(segments: &[Segment]) -> Vec<SecondPart> {
    let mut parts = Vec::new();
    for segment in segments {
        let payload = segment.payload.as_slice();
        if segment.marker == APP2 && payload.starts_with(MPF) {
            parts.push(SecondPart::MultiPicture);
        }
        if segment.marker == APP2 && payload.starts_with(ISO_GAIN_MAP) {
            parts.push(SecondPart::GainMap);
        }
        if segment.marker == APP1 && payload.starts_with(XMP) {
            let holds = |words: &[&[u8]]| words.iter().any(|word| contains(payload, word));
            parts.extend(holds(&GAIN_MAP_WORDS).then_some(SecondPart::GainMap));
            parts.extend(holds(&VIDEO_WORDS).then_some(SecondPart::Video));
        }
    }
    dedup(parts)
}

/// What stands behind EOI, judged by its first bytes and its last.
pub(super) fn behind(first: &[u8], last: &[u8]) -> Option<SecondPart> {
    if first.starts_with(&[0xff, 0xd8, 0xff]) {
        return Some(SecondPart::MultiPicture);
    }
    let video = first.get(4..8) == Some(b"ftyp") || contains(first, b"MotionPhoto_Data");
    // Samsung appends a directory that ends in SEFT; its best known entry is the video.
    let samsung = last.ends_with(b"SEFT") && contains(last, b"MotionPhoto");
    (video || samsung).then_some(SecondPart::Video)
}

/// Each kind once, in order of appearance.
pub(super) fn dedup(parts: Vec<SecondPart>) -> Vec<SecondPart> {
    let mut seen = Vec::new();
    for part in parts {
        if !seen.contains(&part) {
            seen.push(part);
        }
    }
    seen
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    let Some((&head, _)) = word.split_first() else {
        return true;
    };
    let mut rest = text;
    while let Some(n) = rest.iter().position(|&byte| byte == head) {
        rest = &rest[n..];
        if rest.starts_with(word) {
            return true;
        }
        rest = &rest[1..];
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(marker: u8, payload: &[u8]) -> Segment {
        let payload = payload.to_vec();
        Segment { marker, payload }
    }

    #[test]
    fn tells_the_kinds_apart() {
        let xmp = |text: &str| {
            let head = b"http://ns.adobe.com/xap/1.0/\0".as_slice();
            segment(APP1, &[head, text.as_bytes()].concat())
        };
        assert_eq!(declared(&[xmp("<x:xmpmeta dc:title='a'/>")]), []);
        assert_eq!(
            declared(&[xmp("hdrgm:Version=\"1.0\"")]),
            [SecondPart::GainMap]
        );
        assert_eq!(
            declared(&[xmp("GCamera:MotionPhoto=\"1\"")]),
            [SecondPart::Video]
        );
        assert_eq!(
            declared(&[xmp("GCamera:MicroVideo=\"1\"")]),
            [SecondPart::Video]
        );
        let both = [segment(APP2, b"MPF\0II*\0"), xmp("hdrgm:Version")];
        assert_eq!(
            declared(&both),
            [SecondPart::MultiPicture, SecondPart::GainMap]
        );
        assert_eq!(declared(&[segment(0xe3, b"MPF\0II*\0")]), []);
    }

    #[test]
    fn knows_pictures_and_videos_by_their_first_bytes() {
        assert_eq!(
            behind(&[0xff, 0xd8, 0xff, 0xe0], b""),
            Some(SecondPart::MultiPicture)
        );
        assert_eq!(behind(b"\0\0\0\x18ftypmp42", b""), Some(SecondPart::Video));
        assert_eq!(
            behind(b"abc", b"MotionPhoto_DataSEFT"),
            Some(SecondPart::Video)
        );
        assert_eq!(behind(&[0; 16], &[0; 16]), None);
    }
}
