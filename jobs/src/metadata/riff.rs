//! WebP's chunks: which kind each is, and whether it goes, stays or is edited.

use super::png::{Parts, exif_stays};
use super::segments::{profile_note, xmp_properties};
use super::{Damaged, Report, exif, xmp};
use crate::Strip;
use crate::webp::Piece;

/// What some writers put before the EXIF block, although the format has no place for it.
const LETTERS: &[u8] = b"Exif\0\0";

/// Takes the kinds that were to go out of `pieces`.
pub(crate) fn strip_pieces(pieces: &mut Vec<Piece<'_>>, strip: &Strip) -> Report {
    let mut report = Report::default();
    let before = pieces.len();
    pieces.retain_mut(|piece| stays(piece, strip, &mut report));
    report.changed |= pieces.len() != before;
    report
}

/// The orientation that the EXIF chunk tells.
pub(crate) fn orientation_of_pieces(pieces: &[Piece<'_>]) -> Option<u16> {
    exif::orientation(block(&find(pieces, b"EXIF")?.payload))
}

/// EXIF's own idea of the size follows a new size.
pub(crate) fn resized_pieces(pieces: &mut [Piece<'_>], size: (u32, u32)) {
    for piece in pieces.iter_mut().filter(|piece| &piece.name == b"EXIF") {
        let at = piece.payload.len() - block(&piece.payload).len();
        // A damaged block says nothing about the size that a reader could believe.
        let _ = exif::set_size(&mut piece.payload.to_mut()[at..], size);
    }
}

/// Profile, EXIF and XMP in `pieces`.
pub(crate) fn carried_pieces(pieces: &[Piece<'_>]) -> Parts {
    let payload = |name| find(pieces, name).map(|piece| piece.payload.to_vec());
    Parts {
        icc: payload(b"ICCP"),
        exif: payload(b"EXIF").map(|exif| block(&exif).to_vec()),
        xmp: payload(b"XMP "),
    }
}

fn find<'a, 'b>(pieces: &'a [Piece<'b>], name: &[u8; 4]) -> Option<&'a Piece<'b>> {
    pieces.iter().find(|piece| &piece.name == name)
}

/// The TIFF structure of an EXIF chunk.
fn block(payload: &[u8]) -> &[u8] {
    payload.strip_prefix(LETTERS).unwrap_or(payload)
}

/// Whether a chunk stays, perhaps edited. Comments, IPTC and thumbnails of its own the format has not.
fn stays(piece: &mut Piece<'_>, strip: &Strip, report: &mut Report) -> bool {
    match &piece.name {
        b"EXIF" if strip.exif || strip.gps || strip.thumbnail => {
            let at = piece.payload.len() - block(&piece.payload).len();
            let mut edited = piece.payload[at..].to_vec();
            let stays = exif_stays(&mut edited, strip, report);
            let letters = piece.payload[..at].to_vec();
            *piece.payload.to_mut() = [letters, edited].concat();
            stays
        }
        b"XMP " => !strip.xmp && xmp_stays(piece, strip, report),
        b"ICCP" if strip.icc => {
            report.notes.push(profile_note());
            false
        }
        _ => true,
    }
}

fn xmp_stays(piece: &mut Piece<'_>, strip: &Strip, report: &mut Report) -> bool {
    for property in xmp_properties(strip) {
        match xmp::blank(piece.payload.to_mut(), property) {
            Ok(changed) => report.changed |= changed,
            Err(Damaged) => {
                report.drop_damaged("XMP");
                return false;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn everything(letters: &[u8]) -> Vec<Piece<'static>> {
        let piece = |name: &[u8; 4], payload: Vec<u8>| Piece {
            name: *name,
            payload: Cow::Owned(payload),
        };
        vec![
            piece(b"ICCP", b"profile".to_vec()),
            piece(b"VP8L", b"pixels".to_vec()),
            piece(b"EXIF", [letters, &exif::tests::block()].concat()),
            piece(b"XMP ", b"<x exif:GPSLatitude='1' dc:title='t'/>".to_vec()),
            piece(b"Odd?", b"whatever".to_vec()),
        ]
    }

    #[test]
    fn each_kind_goes_alone() {
        let names = |strip: &Strip| {
            let mut pieces = everything(b"");
            strip_pieces(&mut pieces, strip);
            pieces.iter().map(|piece| piece.name).collect::<Vec<_>>()
        };
        let none = Strip::default();
        let all = [*b"ICCP", *b"VP8L", *b"EXIF", *b"XMP ", *b"Odd?"];
        assert_eq!(names(&none), all);
        assert_eq!(names(&Strip { icc: true, ..none }), all[1..]);
        assert_eq!(names(&Strip { gps: true, ..none }), all);
        let without_xmp = [all[0], all[1], all[2], all[4]];
        assert_eq!(names(&Strip { xmp: true, ..none }), without_xmp);
    }

    #[test]
    fn the_position_goes_and_the_orientation_stays_with_or_without_letters() {
        for letters in [b"".as_slice(), LETTERS] {
            let mut pieces = everything(letters);
            let gps = Strip {
                gps: true,
                ..Strip::default()
            };
            assert!(strip_pieces(&mut pieces, &gps).changed);
            assert!(pieces[2].payload.starts_with(letters));
            let left: Vec<u8> = pieces
                .iter()
                .flat_map(|piece| piece.payload.to_vec())
                .collect();
            assert!(!left.windows(4).any(|w| w == b"lati" || w == b"GPSL"));
            assert_eq!(orientation_of_pieces(&pieces), Some(6));
            let exif = Strip {
                exif: true,
                ..Strip::default()
            };
            assert!(strip_pieces(&mut pieces, &exif).changed);
            assert_eq!(orientation_of_pieces(&pieces), Some(6));
            assert!(!strip_pieces(&mut pieces, &exif).changed);
        }
    }
}
