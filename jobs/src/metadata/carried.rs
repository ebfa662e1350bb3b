//! Metadata on its way from one format to another: out of JPEG's segments, into segments and PNG chunks, and the edits that
//! pixels of another size, direction or colour ask for.

use super::png::{Parts, XMP as XMP_KEYWORD, pack, strip_chunks};
use super::segments::{EXIF, EXTENDED_XMP, ICC, Kind, XMP, strip_segments};
use super::{Report, exif, photoshop, xmp};
use crate::Strip;
use crate::door::Note;
use crate::jpeg::frame::Segment;
use crate::png::{Chunk, Place};
use crate::raster::{Carried, Density};

/// Most bytes of a segment's payload.
const SEGMENT: usize = 65_533;
/// Bytes before a piece of profile in a segment: signature, number, count.
const ICC_HEAD: usize = ICC.len() + 2;

/// Profile, EXIF and XMP in segments, put together, and the names of what other formats have no place for.
pub(crate) fn carried_segments(segments: &[Segment]) -> (Parts, Vec<&'static str>) {
    let mut parts = Parts::default();
    let mut lost = Vec::new();
    for segment in segments {
        let behind = |head: usize| segment.payload.get(head..).unwrap_or_default().to_vec();
        match Kind::of(segment) {
            Kind::Exif if parts.exif.is_none() => parts.exif = Some(behind(EXIF.len())),
            Kind::MoreExif => {
                if let Some(exif) = &mut parts.exif {
                    exif.extend(behind(EXIF.len()));
                }
            }
            Kind::Xmp if parts.xmp.is_none() => parts.xmp = Some(behind(XMP.len())),
            Kind::ExtendedXmp => lost.push("the extended part of XMP"),
            Kind::Photoshop if photoshop::has_iptc(&segment.payload) => lost.push("IPTC"),
            Kind::Comment => lost.push("a comment"),
            Kind::Exif | Kind::Xmp | Kind::Icc | Kind::Photoshop | Kind::Jfif | Kind::Jfxx => {}
            Kind::GainMap | Kind::Other => {}
        }
    }
    parts.icc = profile(segments);
    if parts.icc.is_none()
        && segments
            .iter()
            .any(|segment| Kind::of(segment) == Kind::Icc)
    {
        lost.push("a colour profile with pieces missing");
    }
    lost.dedup();
    (parts, lost)
}

/// The profile, if all of its pieces are there.
fn profile(segments: &[Segment]) -> Option<Vec<u8>> {
    let mut pieces: Vec<&[u8]> = segments
        .iter()
        .filter(|segment| Kind::of(segment) == Kind::Icc)
        .filter_map(|segment| segment.payload.get(ICC.len()..))
        .filter(|piece| piece.len() > 2)
        .collect();
    pieces.sort_by_key(|piece| piece[0]);
    let count = usize::from(pieces.first()?[1]);
    let whole = pieces.len() == count && pieces.iter().zip(1..).all(|(piece, n)| piece[0] == n);
    whole.then(|| {
        pieces
            .iter()
            .flat_map(|piece| &piece[2..])
            .copied()
            .collect()
    })
}

/// Pixels to a unit of length, where a JFIF segment tells.
pub(crate) fn density_of_segments(segments: &[Segment]) -> Option<Density> {
    let mut jfif = segments
        .iter()
        .filter(|segment| Kind::of(segment) == Kind::Jfif);
    Density::of_jfif(&jfif.next()?.payload)
}

/// The segments without their profile.
pub(crate) fn without_profile(mut segments: Vec<Segment>) -> Vec<Segment> {
    segments.retain(|segment| Kind::of(segment) != Kind::Icc);
    segments
}

/// Metadata as JPEG segments; what does not fit into any is left out with a note.
pub(crate) fn segments_of(carried: &Carried) -> (Vec<Segment>, Vec<Note>) {
    let (mut segments, mut notes) = (Vec::new(), Vec::new());
    let mut put = |what: &str, head: &[u8], body: &Option<Vec<u8>>| {
        let Some(body) = body else { return };
        if head.len() + body.len() > SEGMENT {
            let text = format!(
                "{what} of {} bytes, more than a JPEG segment holds",
                body.len()
            );
            return Note::Dropped(text).add_to(&mut notes);
        }
        segments.push(Segment {
            marker: 0xe1,
            payload: [head, body].concat(),
        });
    };
    put("EXIF", EXIF, &carried.exif);
    put("XMP", XMP, &carried.xmp);
    if let Some(icc) = &carried.icc {
        let count = icc.len().div_ceil(SEGMENT - ICC_HEAD);
        match u8::try_from(count) {
            Ok(count) => segments.extend(icc.chunks(SEGMENT - ICC_HEAD).zip(1_u8..).map(
                |(piece, number)| Segment {
                    marker: 0xe2,
                    payload: [ICC, &[number, count], piece].concat(),
                },
            )),
            Err(_) => notes.push(Note::Dropped(
                "a colour profile of more than 16 MB".to_owned(),
            )),
        }
    }
    (segments, notes)
}

/// Metadata as PNG chunks.
pub(crate) fn chunks_of(carried: &Carried) -> Vec<Chunk> {
    let chunk = |name: &[u8; 4], payload| Chunk {
        name: *name,
        payload,
        place: Place::BeforePalette,
    };
    let profile = carried.icc.as_ref().and_then(|icc| pack(icc).ok());
    let profile = profile.map(|packed| chunk(b"iCCP", [b"icc\0\0", packed.as_slice()].concat()));
    let exif = carried.exif.clone().map(|exif| chunk(b"eXIf", exif));
    let xmp = carried.xmp.as_ref().map(|xmp| {
        // Not compressed, no language, no translated keyword.
        chunk(b"iTXt", [XMP_KEYWORD, &[0, 0, 0, 0], xmp].concat())
    });
    let density = carried.density.and_then(Density::phys);
    let density = density.map(|payload| chunk(b"pHYs", payload.to_vec()));
    let parts = [profile, density, exif, xmp];
    parts.into_iter().flatten().collect()
}

/// Takes the kinds that were to go out of metadata on its way.
pub(crate) fn strip_carried(carried: &mut Carried, strip: &Strip) -> Report {
    let icc = carried.icc.take();
    let mut chunks = chunks_of(carried);
    let mut report = strip_chunks(&mut chunks, strip);
    let parts = super::png::carried_chunks(&chunks);
    (carried.exif, carried.xmp) = (parts.exif, parts.xmp);
    match icc {
        Some(_) if strip.icc => {
            report.changed = true;
            report.notes.push(super::segments::profile_note());
        }
        icc => carried.icc = icc,
    }
    report
}

/// What EXIF and XMP say of pixels that were made upright, resized or converted; damaged blocks stay as they are.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Changed {
    /// Now upright.
    pub(crate) upright: bool,
    /// New width and height.
    pub(crate) size: Option<(u32, u32)>,
    /// Now sRGB.
    pub(crate) srgb: bool,
}

impl Changed {
    /// Edits an EXIF block.
    pub(crate) fn edit_exif(self, block: &mut [u8]) {
        if let Some(size) = self.size {
            let _ = exif::set_size(block, size);
        }
        if self.srgb {
            let _ = exif::set_srgb(block);
        }
        if self.upright {
            let _ = exif::set_upright(block);
        }
    }

    /// What is to be taken out first: small pictures would lie on their side beside one that was turned. A block too damaged to
    /// be searched for one goes whole.
    pub(crate) fn unfit(self) -> Strip {
        Strip {
            thumbnail: self.upright,
            ..Strip::default()
        }
    }

    /// Edits an XMP packet.
    pub(crate) fn edit_xmp(self, packet: &mut [u8]) {
        if self.upright {
            xmp::set_upright(packet);
        }
    }

    /// Edits metadata on its way.
    pub(crate) fn edit(self, carried: &mut Carried) -> Vec<Note> {
        if self.upright {
            carried.orientation = 1;
        }
        let lost = taken(strip_carried(carried, &self.unfit()));
        if let Some(exif) = &mut carried.exif {
            self.edit_exif(exif);
        }
        carried.xmp.iter_mut().for_each(|xmp| self.edit_xmp(xmp));
        // Some formats tell the direction outside EXIF.
        let turned = u16::from(carried.orientation);
        if turned != 1 && carried.exif.is_none() {
            carried.exif = Some(exif::only_orientation(turned));
        }
        lost
    }

    /// Edits JPEG segments.
    pub(crate) fn edit_segments(self, segments: Vec<Segment>) -> (Vec<Segment>, Vec<Note>) {
        let (mut segments, report) = strip_segments(segments, &self.unfit());
        for segment in &mut segments {
            match Kind::of(segment) {
                Kind::Exif => self.edit_exif(&mut segment.payload[EXIF.len()..]),
                Kind::Xmp => self.edit_xmp(&mut segment.payload[XMP.len()..]),
                Kind::ExtendedXmp => self.edit_xmp(&mut segment.payload[EXTENDED_XMP.len()..]),
                Kind::MoreExif | Kind::Icc | Kind::Photoshop | Kind::Comment => {}
                Kind::Jfif | Kind::Jfxx | Kind::GainMap | Kind::Other => {}
            }
        }
        (segments, taken(report))
    }
}

/// An EXIF block that says that the picture is upright; a damaged one stays as it is.
#[cfg(any(feature = "avif", feature = "jxl"))]
pub(crate) fn say_upright(mut block: Vec<u8>) -> Vec<u8> {
    let _ = exif::set_upright(&mut block);
    block
}

/// What was taken out because it no longer fits.
pub(crate) fn taken(report: Report) -> Vec<Note> {
    if !report.changed || !report.notes.is_empty() {
        return report.notes;
    }
    vec![thumbnail_note()]
}

/// What making a picture upright takes away.
fn thumbnail_note() -> Note {
    Note::Dropped("the small picture in EXIF, which would lie on its side".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carried() -> Carried {
        Carried {
            icc: Some(vec![7; 150_000]),
            exif: Some(exif::tests::block()),
            xmp: Some(
                b"<x tiff:Orientation='6'><tiff:Orientation>6</tiff:Orientation></x>".to_vec(),
            ),
            orientation: 6,
            gamma_only: None,
            density: None,
        }
    }

    #[test]
    fn segments_and_chunks_give_back_what_went_in() {
        let (segments, notes) = segments_of(&carried());
        assert_eq!((segments.len(), notes), (5, Vec::new()));
        let (parts, lost) = carried_segments(&segments);
        assert_eq!(
            (parts.icc, parts.exif, parts.xmp),
            (carried().icc, carried().exif, carried().xmp)
        );
        assert_eq!(lost, Vec::<&str>::new());
        let parts = super::super::png::carried_chunks(&chunks_of(&carried()));
        assert_eq!(
            (parts.icc, parts.exif, parts.xmp),
            (carried().icc, carried().exif, carried().xmp)
        );
        // Pieces in any order, but all of them.
        let mut segments = segments;
        segments.reverse();
        assert_eq!(carried_segments(&segments).0.icc, carried().icc);
        segments.remove(0);
        let (parts, lost) = carried_segments(&segments);
        assert_eq!(
            (parts.icc, lost),
            (None, vec!["a colour profile with pieces missing"])
        );
    }

    #[test]
    fn what_a_segment_cannot_hold_is_named() {
        let big = Carried {
            xmp: Some(vec![b' '; 70_000]),
            ..Carried::default()
        };
        let (segments, notes) = segments_of(&big);
        assert_eq!(segments, []);
        assert!(matches!(&notes[..], [Note::Dropped(what)] if what.contains("XMP")));
    }

    #[test]
    fn an_upright_picture_is_said_to_be_upright_everywhere() {
        let changed = Changed {
            upright: true,
            ..Changed::default()
        };
        let mut edited = carried();
        let notes = changed.edit(&mut edited);
        // Its small picture would lie on its side.
        assert_eq!(notes, [thumbnail_note()]);
        assert_eq!(edited.orientation, 1);
        assert_eq!(edited.exif.as_deref().and_then(exif::orientation), Some(1));
        let xmp = b"<x tiff:Orientation='1'><tiff:Orientation>1</tiff:Orientation></x>";
        assert_eq!(edited.xmp.as_deref(), Some(xmp.as_slice()));
        let (segments, notes) = changed.edit_segments(segments_of(&carried()).0);
        let (parts, _) = carried_segments(&segments);
        assert_eq!((parts.exif, notes), (edited.exif, vec![thumbnail_note()]));
    }

    #[test]
    fn no_small_picture_stays_beside_a_turned_one_wherever_it_was() {
        let upright = Changed {
            upright: true,
            ..Changed::default()
        };
        let segment = |marker, payload: &[u8]| Segment {
            marker,
            payload: payload.to_vec(),
        };
        let block = exif::tests::block();
        let (front, behind) = block.split_at(120);
        let segments = vec![
            segment(0xe0, b"JFIF\0\x01\x01\0\0\x01\0\x01\x01\x01abc"),
            segment(0xe0, b"JFXX\0\x10\xff\xd8small\xff\xd9"),
            // A block that goes on in a second segment.
            segment(0xe1, &[EXIF, front].concat()),
            segment(0xe1, &[EXIF, behind].concat()),
            segment(0xed, b"Photoshop 3.0\08BIM\x04\x0c\0\0\0\0\0\x04tiny"),
        ];
        let (left, notes) = upright.edit_segments(segments);
        assert_eq!(notes, [thumbnail_note()]);
        assert_eq!(super::super::orientation_of_segments(left.iter()), Some(1));
        let bytes: Vec<u8> = left
            .into_iter()
            .flat_map(|segment| segment.payload)
            .collect();
        for word in [&b"abc"[..], b"small", b"thumb", b"tiny"] {
            assert!(
                !bytes.windows(word.len()).any(|window| window == word),
                "{word:?}"
            );
        }
    }

    #[test]
    fn a_direction_told_outside_exif_goes_along() {
        let mut tiff = Carried {
            orientation: 8,
            ..Carried::default()
        };
        Changed::default().edit(&mut tiff);
        assert_eq!(tiff.exif.as_deref().and_then(exif::orientation), Some(8));
    }

    #[test]
    fn kinds_that_are_to_go_do_not_go_along() {
        let mut bare = carried();
        let strip = Strip {
            exif: true,
            xmp: true,
            icc: true,
            ..Strip::default()
        };
        let report = strip_carried(&mut bare, &strip);
        assert!(report.changed);
        assert_eq!((bare.icc, bare.xmp), (None, None));
        // Nothing of EXIF but the direction.
        assert_eq!(bare.exif.as_deref().and_then(exif::orientation), Some(6));
        assert!(bare.exif.is_some_and(|exif| exif.len() == 26));
    }
}
