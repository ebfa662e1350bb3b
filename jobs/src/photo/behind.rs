//! What stands behind the first picture's end marker: further pictures, a video, or nothing that matters.

use super::outline::{Outline, fill};
use crate::{Error, Source, Strip};
use std::ops::Range;

/// Bytes read at a time while the end marker is looked for.
const PIECE: usize = 64 * 1024;
/// Bytes at either end of the part that are looked at.
const GLANCE: usize = 4096;

/// The parts of a file behind its first picture.
#[derive(Debug)]
pub(super) struct Behind {
    /// Offset behind the first picture's end marker; the file's end where it has none.
    pub(super) first_end: u64,
    /// Pictures (a gain map, a depth map, the other eye).
    pictures: Option<Range<u64>>,
    /// A video, to the end of the file.
    video: Option<Range<u64>>,
    /// Bytes of no known kind.
    unknown: Option<Range<u64>>,
}

/// What stays behind the first picture and what goes.
#[derive(Debug)]
pub(super) struct Plan {
    /// Parts to be put back, in order.
    pub(super) kept: Vec<Range<u64>>,
    /// Names of the parts that go.
    pub(super) dropped: Vec<&'static str>,
}

impl Plan {
    /// Bytes that are put back.
    pub(super) fn bytes(&self) -> u64 {
        self.kept.iter().map(|part| part.end - part.start).sum()
    }
}

impl Behind {
    /// Looks behind the first picture.
    ///
    /// # Errors
    /// [`Error::Read`].
    pub(super) fn find(source: &dyn Source, outline: &Outline) -> Result<Self, Error> {
        let length = source.len();
        let mut found = Self {
            first_end: length,
            pictures: None,
            video: None,
            unknown: None,
        };
        let mut last = [0; 2];
        fill(source, length.saturating_sub(2), &mut last)?;
        if last == [0xff, 0xd9] && !announced(outline) {
            return Ok(found);
        }
        let Some(end) = end_of_first(source, outline.data)? else {
            return Ok(found);
        };
        if end == length {
            return Ok(found);
        }
        found.first_end = end;
        found.sort(source, outline)
    }

    /// Tells the parts behind the first picture apart.
    fn sort(mut self, source: &dyn Source, outline: &Outline) -> Result<Self, Error> {
        let (start, length) = (self.first_end, source.len());
        let first = glance(source, start)?;
        let last = glance(source, length.saturating_sub(GLANCE as u64).max(start))?;
        let is_video = |bytes: &[u8]| bytes.get(4..8) == Some(b"ftyp");
        let samsung = last.ends_with(b"SEFT") && holds(&last, b"MotionPhoto");
        let has_picture = first.trim_ascii_start().starts_with(b"\xff\xd8\xff");
        let video_start = match video_length(outline).and_then(|bytes| length.checked_sub(bytes)) {
            Some(at) if at >= start && is_video(&glance(source, at)?) => Some(at),
            Some(_) | None if is_video(&first) || (samsung && !has_picture) => Some(start),
            Some(_) | None => None,
        };
        let end_of_pictures = video_start.unwrap_or(length);
        if has_picture {
            self.pictures = Some(start..end_of_pictures);
        } else if end_of_pictures > start {
            self.unknown = Some(start..end_of_pictures);
        }
        self.video = video_start.map(|at| at..length);
        Ok(self)
    }

    /// Whether the engine may have the file as it is.
    pub(super) fn is_plain(&self) -> bool {
        self.pictures.is_none() && self.video.is_none()
    }

    /// What would be lost with everything behind the picture, if `strip` does not take it anyway.
    pub(super) fn lost(&self, strip: &Strip) -> Option<&'static str> {
        if self.has_pictures(strip) {
            return Some("the pictures behind the first (a gain map)");
        }
        let video = self.video.is_some() && !strip.motion;
        video.then_some("the video behind the picture")
    }

    /// Whether pictures stay behind the first.
    pub(super) fn has_pictures(&self, strip: &Strip) -> bool {
        self.pictures.is_some() && !strip.gainmap
    }

    /// What stays and what goes. A video's place counts from the file's end, so it does not mind what goes before it.
    pub(super) fn plan(&self, strip: &Strip) -> Plan {
        let mut plan = Plan {
            kept: Vec::new(),
            dropped: Vec::new(),
        };
        let parts = [
            (&self.unknown, None),
            (
                &self.pictures,
                strip
                    .gainmap
                    .then_some("the pictures behind the first (gain map), as asked"),
            ),
            (
                &self.video,
                strip
                    .motion
                    .then_some("the video behind the picture, as asked"),
            ),
        ];
        for (part, goes) in parts {
            match (part, goes) {
                (Some(_), Some(name)) => plan.dropped.push(name),
                (Some(range), None) => plan.kept.push(range.clone()),
                (None, _) => {}
            }
        }
        plan
    }
}

fn glance(source: &dyn Source, at: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; GLANCE];
    let count = fill(source, at, &mut bytes)?;
    bytes.truncate(count);
    Ok(bytes)
}

fn holds(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}

/// Whether the metadata speaks of anything behind the picture.
fn announced(outline: &Outline) -> bool {
    let words: [&[u8]; 5] = [
        b"hdrgm",
        b"GainMap",
        b"MotionPhoto",
        b"MicroVideo",
        b"urn:iso:std:iso:ts:21496",
    ];
    outline.mpf.is_some()
        || outline.segments().any(|segment| {
            matches!(segment.marker, 0xe1 | 0xe2)
                && words.iter().any(|word| holds(&segment.payload, word))
        })
}

/// Bytes of the video, from the file's end, as XMP says: `MicroVideoOffset`, or the length of the container's video item.
fn video_length(outline: &Outline) -> Option<u64> {
    outline
        .segments()
        .filter(|segment| segment.marker == 0xe1)
        .find_map(|segment| {
            let text = String::from_utf8_lossy(&segment.payload);
            let number = |text: &str, name: &str| -> Option<u64> {
                let value = &text[text.find(name)? + name.len()..];
                let digits: String = value
                    .trim_start_matches(['=', '"', '\'', '>', ' '])
                    .chars()
                    .take_while(char::is_ascii_digit)
                    .collect();
                digits.parse().ok().filter(|&bytes| bytes > 0)
            };
            number(&text, "MicroVideoOffset").or_else(|| {
                let item = &text[text.find("Semantic=\"MotionPhoto\"")?..];
                let item = &item[..item.find('>')?];
                number(item, "Item:Length")
            })
        })
}

/// Offset behind the first end marker after `from`, the offset of a scan's marker.
fn end_of_first(source: &dyn Source, from: u64) -> Result<Option<u64>, Error> {
    let mut piece = vec![0; PIECE];
    let mut at = from;
    loop {
        let count = fill(source, at, &mut piece)?;
        match walk(&piece[..count]) {
            Walked::End(used) => return Ok(Some(at + used as u64)),
            // What is left is too short to be told; only the file's end leaves it so.
            Walked::On(used) if count < PIECE && used >= count as u64 => return Ok(None),
            Walked::On(0) => return Ok(None),
            Walked::On(used) => at += used,
        }
    }
}

/// How far a walk over coded data came.
enum Walked {
    /// The end marker ends so many bytes in.
    End(usize),
    /// The walk goes on so many bytes in, perhaps behind what was there.
    On(u64),
}

fn walk(bytes: &[u8]) -> Walked {
    let mut at = 0;
    while let Some(offset) = bytes
        .get(at..)
        .unwrap_or_default()
        .iter()
        .position(|&byte| byte == 0xff)
    {
        at += offset;
        match bytes[at..] {
            [_, 0xd9, ..] => return Walked::End(at + 2),
            // A stuffed byte, a restart or a fill byte: the data goes on.
            [_, 0x00 | 0x01 | 0xd0..=0xd7, ..] => at += 2,
            [_, 0xff, ..] => at += 1,
            [_, _, high, low, ..] => at += 2 + usize::from(u16::from_be_bytes([high, low])),
            _ => return Walked::On(at as u64),
        }
    }
    Walked::On(at.max(bytes.len()) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_marker_is_found_across_pieces_and_not_in_segments() {
        let mut bytes = vec![0xff, 0xda, 0, 4, 0xff, 0xd9];
        bytes.resize(PIECE - 1, 7);
        bytes.extend_from_slice(&[
            0xff, 0x00, 0xff, 0xff, 0xd3, 0xff, 0xc4, 0, 6, 0xff, 0xd9, 1, 2,
        ]);
        bytes.resize(2 * PIECE, 7);
        bytes.extend_from_slice(&[0xff, 0xd9, 9, 9]);
        let length = bytes.len() as u64;
        assert_eq!(
            end_of_first(&bytes.as_slice(), 0).expect("reads"),
            Some(length - 2)
        );
        assert_eq!(
            end_of_first(&&bytes[..bytes.len() - 3], 0).expect("reads"),
            None
        );
    }
}
