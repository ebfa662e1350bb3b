//! Segments of a JPEG's header, found and told apart.

use super::*;

fn segment(marker: u8, parts: &[&[u8]]) -> Segment {
    Segment {
        marker,
        payload: parts.concat(),
    }
}

fn everything() -> Vec<Segment> {
    vec![
        segment(APP0, &[JFIF, b"\x01\x02\x01\0\x48\0\x48\x01\x01abc"]),
        segment(APP1, &[EXIF, &exif::tests::block()]),
        segment(APP1, &[XMP, b"<x exif:GPSLatitude='1' dc:title='t'/>"]),
        segment(APP2, &[ICC, b"\x01\x01profile"]),
        segment(APP2, &[mpf::SIGNATURE, b"II*\0"]),
        segment(
            APP13,
            &[photoshop::SIGNATURE, b"8BIM\x04\x04\0\0\0\0\0\x02hi"],
        ),
        segment(0xee, &[b"Adobe\0\x64\0\0\0\0\x01"]),
        segment(COM, &[b"a comment"]),
    ]
}

fn only(set: impl FnOnce(&mut Strip)) -> Strip {
    let mut strip = Strip::default();
    set(&mut strip);
    strip
}

/// Kinds that are left.
fn left(strip: &Strip) -> Vec<Kind> {
    strip_segments(everything(), strip)
        .0
        .iter()
        .map(Kind::of)
        .collect()
}

#[test]
fn nothing_asked_is_nothing_changed() {
    let (segments, report) = strip_segments(everything(), &Strip::default());
    assert_eq!((segments, report), (everything(), Report::default()));
}

#[test]
fn each_kind_goes_alone() {
    use Kind::*;
    let all = [Jfif, Exif, Xmp, Icc, GainMap, Photoshop, Other, Comment];
    let without = |gone: Kind| {
        all.into_iter()
            .filter(|kind| *kind != gone)
            .collect::<Vec<_>>()
    };
    assert_eq!(left(&only(|s| s.xmp = true)), without(Xmp));
    assert_eq!(left(&only(|s| s.icc = true)), without(Icc));
    assert_eq!(left(&only(|s| s.gainmap = true)), without(GainMap));
    assert_eq!(left(&only(|s| s.iptc = true)), without(Photoshop));
    assert_eq!(left(&only(|s| s.comment = true)), without(Comment));
    assert_eq!(left(&only(|s| s.gps = true)), all);
    assert_eq!(left(&only(|s| s.thumbnail = true)), all);
}

#[test]
fn without_exif_the_picture_stays_upright() {
    let (segments, report) = strip_segments(everything(), &only(|s| s.exif = true));
    assert!(report.changed);
    assert_eq!(
        exif::orientation(&segments[1].payload[EXIF.len()..]),
        Some(6)
    );
    assert_eq!(segments[1].payload.len(), EXIF.len() + 26);
    let (again, report) = strip_segments(segments.clone(), &only(|s| s.exif = true));
    assert_eq!((again, report.changed), (segments, false));
}

#[test]
fn a_block_over_two_segments_is_edited_as_one() {
    let block = exif::tests::block();
    let split = |at: usize| {
        let (first, second) = block.split_at(at);
        vec![
            segment(APP1, &[EXIF, first]),
            segment(APP1, &[EXIF, second]),
        ]
    };
    for at in 8..block.len() {
        let (segments, report) = strip_segments(split(at), &only(|s| s.gps = true));
        assert!(report.changed && report.notes.is_empty(), "split at {at}");
        assert_eq!(segments.len(), 2);
        let joined: Vec<u8> = segments
            .iter()
            .flat_map(|s| &s.payload[EXIF.len()..])
            .copied()
            .collect();
        assert!(!joined.windows(8).any(|w| w == b"latitude"));
        assert_eq!(exif::orientation(&joined), Some(6));
    }
}

#[test]
fn damage_takes_the_block_along_only_where_it_may_hide_something() {
    let mut damaged = everything();
    damaged[1].payload.truncate(EXIF.len() + 20);
    let (segments, report) = strip_segments(damaged.clone(), &only(|s| s.gps = true));
    assert_eq!(segments.len(), damaged.len() - 1);
    assert!(matches!(report.notes[..], [Note::Dropped(_)]));
    let (segments, _) = strip_segments(damaged.clone(), &only(|s| s.comment = true));
    assert_eq!(segments[1], damaged[1]);
}
