//! JPEG's APPn and COM segments: which kind each is, and the list without the kinds that were to go.

use super::xmp::{self, Property};
use super::{Damaged, Report, exif, mpf, photoshop};
use crate::Strip;
use crate::door::Note;
use crate::jpeg::frame::Segment;

const APP0: u8 = 0xe0;
const APP1: u8 = 0xe1;
const APP2: u8 = 0xe2;
const APP13: u8 = 0xed;
const COM: u8 = 0xfe;

pub(super) const EXIF: &[u8] = b"Exif\0\0";
pub(super) const XMP: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";
pub(super) const EXTENDED_XMP: &[u8] = b"http://ns.adobe.com/xmp/extension/\0";
/// Identifier, length and offset that stand before a piece of extended XMP.
const EXTENDED_HEAD: usize = EXTENDED_XMP.len() + 32 + 8;
pub(super) const ICC: &[u8] = b"ICC_PROFILE\0";
const JFIF: &[u8] = b"JFIF\0";
/// Bytes of a JFIF segment that holds no thumbnail.
const JFIF_BARE: usize = 14;
const JFXX: &[u8] = b"JFXX\0";
const ISO_GAIN_MAP: &[u8] = b"urn:iso:std:iso:ts:21496";

/// What a segment holds. Whatever is not listed (Adobe's colour marker first of all) is never touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Begins an EXIF block.
    Exif,
    /// Continues the EXIF block before it.
    MoreExif,
    Xmp,
    ExtendedXmp,
    Icc,
    Photoshop,
    Comment,
    Jfif,
    Jfxx,
    GainMap,
    Other,
}

impl Kind {
    pub(super) fn of(segment: &Segment) -> Self {
        let starts = |magic: &[u8]| segment.payload.starts_with(magic);
        let head = segment.payload.get(EXIF.len()..).unwrap_or_default();
        let tiff = head.starts_with(b"II*\0") || head.starts_with(b"MM\0*");
        match segment.marker {
            APP0 if starts(JFIF) => Self::Jfif,
            APP0 if starts(JFXX) => Self::Jfxx,
            APP1 if starts(EXIF) && tiff => Self::Exif,
            APP1 if starts(EXIF) => Self::MoreExif,
            APP1 if starts(XMP) => Self::Xmp,
            APP1 if starts(EXTENDED_XMP) => Self::ExtendedXmp,
            APP2 if starts(ICC) => Self::Icc,
            APP2 if starts(mpf::SIGNATURE) || starts(ISO_GAIN_MAP) => Self::GainMap,
            APP13 if starts(photoshop::SIGNATURE) => Self::Photoshop,
            COM => Self::Comment,
            _ => Self::Other,
        }
    }
}

/// The segments without the kinds that were to go, in their order. Never more bytes than before, but for an orientation that
/// stays alone when EXIF goes.
pub(crate) fn strip_segments(mut segments: Vec<Segment>, strip: &Strip) -> (Vec<Segment>, Report) {
    let mut report = Report::default();
    strip_exif(&mut segments, strip, &mut report);
    for segment in &mut segments {
        strip_one(segment, strip, &mut report);
    }
    let before = segments.len();
    segments.retain(|segment| !goes_whole(segment, strip));
    report.changed |= segments.len() != before;
    (segments, report)
}

/// The orientation that the first EXIF segment tells.
pub(crate) fn orientation_of_segments<'a>(
    mut segments: impl Iterator<Item = &'a Segment>,
) -> Option<u16> {
    let first = segments.find(|segment| Kind::of(segment) == Kind::Exif)?;
    exif::orientation(&first.payload[EXIF.len()..])
}

/// Kinds that go as a whole; an emptied payload marks a segment of which nothing is left.
fn goes_whole(segment: &Segment, strip: &Strip) -> bool {
    match Kind::of(segment) {
        Kind::Xmp | Kind::ExtendedXmp => strip.xmp,
        Kind::Icc => strip.icc,
        Kind::Comment => strip.comment,
        Kind::Jfxx => strip.thumbnail,
        Kind::GainMap => strip.gainmap,
        Kind::Photoshop => segment.payload.len() == photoshop::SIGNATURE.len(),
        Kind::Exif | Kind::MoreExif | Kind::Jfif => false,
        Kind::Other => segment.payload.is_empty() && segment.marker == APP1,
    }
}

/// Edits within one segment.
fn strip_one(segment: &mut Segment, strip: &Strip, report: &mut Report) {
    match Kind::of(segment) {
        Kind::Xmp if !strip.xmp => strip_xmp(segment, XMP.len(), strip, report),
        Kind::ExtendedXmp if !strip.xmp => strip_xmp(segment, EXTENDED_HEAD, strip, report),
        Kind::Photoshop => strip_photoshop(segment, strip, report),
        Kind::Jfif if strip.thumbnail && segment.payload.len() > JFIF_BARE => {
            segment.payload.truncate(JFIF_BARE);
            segment.payload[JFIF_BARE - 2..].fill(0);
            report.changed = true;
        }
        Kind::Icc if strip.icc && report.notes.iter().all(|note| *note != profile_note()) => {
            report.notes.push(profile_note());
        }
        Kind::Xmp | Kind::ExtendedXmp | Kind::Icc | Kind::Jfif => {}
        Kind::Exif | Kind::MoreExif | Kind::Comment | Kind::Jfxx | Kind::GainMap | Kind::Other => {}
    }
}

/// What a missing profile means.
pub(crate) fn profile_note() -> Note {
    Note::Dropped("the colour profile, as asked: colours may look different".to_owned())
}

/// XMP properties that go with the kinds in `strip`.
pub(super) fn xmp_properties(strip: &Strip) -> impl Iterator<Item = Property> {
    let asked = [
        (strip.gps, Property::Position),
        (strip.thumbnail, Property::Thumbnail),
        (strip.gainmap, Property::GainMap),
        (strip.motion, Property::Motion),
    ];
    asked
        .into_iter()
        .filter(|(asked, _)| *asked)
        .map(|(_, property)| property)
}

fn strip_xmp(segment: &mut Segment, head: usize, strip: &Strip, report: &mut Report) {
    for property in xmp_properties(strip) {
        match segment
            .payload
            .get_mut(head..)
            .map(|text| xmp::blank(text, property))
        {
            Some(Ok(changed)) => report.changed |= changed,
            Some(Err(Damaged)) | None if holds_name(&segment.payload, property) => {
                segment.payload.clear();
                report.drop_damaged("XMP");
                return;
            }
            Some(Err(Damaged)) | None => {}
        }
    }
}

/// Whether text that cannot be walked mentions what is to go. A piece of extended XMP begins and ends in mid-tag, so it is
/// dropped only where it has to be.
fn holds_name(text: &[u8], property: Property) -> bool {
    let words: &[&[u8]] = match property {
        Property::Position => &[b"gps", b"geo:l", b"g\0p\0s"],
        Property::GainMap => &[b"hdrgm", b"gainmap"],
        Property::Motion => &[b"motionphoto", b"microvideo"],
        Property::Thumbnail => &[b"thumbnails"],
    };
    let lower = text.to_ascii_lowercase();
    words
        .iter()
        .any(|word| lower.windows(word.len()).any(|window| window == *word))
}

fn strip_photoshop(segment: &mut Segment, strip: &Strip, report: &mut Report) {
    let asked: [(bool, &[u16]); 4] = [
        (strip.iptc, &photoshop::IPTC),
        (strip.thumbnail, &photoshop::THUMBNAILS),
        (strip.exif || strip.gps, &photoshop::EXIF),
        (strip.xmp || strip.gps, &photoshop::XMP),
    ];
    let unwanted: Vec<u16> = asked
        .iter()
        .filter(|(asked, _)| *asked)
        .flat_map(|(_, numbers)| *numbers)
        .copied()
        .collect();
    if unwanted.is_empty() {
        return;
    }
    let resources = &segment.payload[photoshop::SIGNATURE.len()..];
    match photoshop::without(resources, &unwanted) {
        Ok((_, false)) => {}
        Ok((kept, true)) => {
            segment.payload = [photoshop::SIGNATURE, &kept].concat();
            report.changed = true;
        }
        // A list may go on in the next segment; such a piece cannot be told apart, so it goes.
        Err(Damaged) => {
            segment.payload.truncate(photoshop::SIGNATURE.len());
            report.drop_damaged("Photoshop resources");
        }
    }
}

/// EXIF blocks may go on in the segments that follow; they are put together, edited and taken apart again.
fn strip_exif(segments: &mut Vec<Segment>, strip: &Strip, report: &mut Report) {
    if !(strip.exif || strip.gps || strip.thumbnail) {
        return;
    }
    let mut at = 0;
    while let Some(first) = (at..segments.len()).find(|&n| Kind::of(&segments[n]) == Kind::Exif) {
        let more = segments[first + 1..]
            .iter()
            .take_while(|next| Kind::of(next) == Kind::MoreExif)
            .count();
        let pieces: Vec<Vec<u8>> = segments
            .drain(first..=first + more)
            .map(|piece| piece.payload)
            .collect();
        let kept = strip_block(pieces, strip, report);
        at = first + kept.len();
        segments.splice(
            first..first,
            kept.into_iter().map(|payload| Segment {
                marker: APP1,
                payload,
            }),
        );
    }
    // Continuations of nothing hold what nobody can read.
    if strip.exif || strip.gps {
        let before = segments.len();
        segments.retain(|segment| Kind::of(segment) != Kind::MoreExif || at > 0);
        report.changed |= segments.len() != before;
    }
}

/// The payloads of one block after editing.
fn strip_block(pieces: Vec<Vec<u8>>, strip: &Strip, report: &mut Report) -> Vec<Vec<u8>> {
    let mut block: Vec<u8> = pieces
        .iter()
        .flat_map(|piece| &piece[EXIF.len()..])
        .copied()
        .collect();
    let lengths: Vec<usize> = pieces
        .iter()
        .map(|piece| piece.len() - EXIF.len())
        .collect();
    let turned = exif::orientation(&block).filter(|&turn| turn != 1);
    let alone = || turned.map(|turn| [EXIF, &exif::only_orientation(turn)].concat());
    if strip.exif {
        report.changed |= Some(&block)
            != alone()
                .map(|payload| payload[EXIF.len()..].to_vec())
                .as_ref();
        return alone().into_iter().collect();
    }
    match edit_block(&mut block, strip) {
        Ok(false) => pieces,
        Ok(true) => {
            report.changed = true;
            take_apart(&block, &lengths)
        }
        Err(Damaged) => {
            report.drop_damaged("EXIF");
            alone().into_iter().collect()
        }
    }
}

/// Removes what was asked for from an EXIF block; says whether there was any.
pub(super) fn edit_block(block: &mut Vec<u8>, strip: &Strip) -> Result<bool, Damaged> {
    let position = strip.gps && exif::remove_position(block)?;
    let thumbnail = strip.thumbnail && exif::remove_thumbnail(block)?;
    Ok(position || thumbnail)
}

fn take_apart(block: &[u8], lengths: &[usize]) -> Vec<Vec<u8>> {
    let mut rest = block;
    let mut pieces = Vec::new();
    for &length in lengths {
        let (piece, behind) = rest.split_at(length.min(rest.len()));
        if !piece.is_empty() {
            pieces.push([EXIF, piece].concat());
        }
        rest = behind;
    }
    pieces
}

#[cfg(test)]
mod tests;
