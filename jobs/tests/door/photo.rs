//! JPEG files through the door: metadata by kind, pictures and videos behind the first picture.

use crate::common::{at_most, options, run};
use pressroom_jobs::{Compressed, Goal, Keep, Note, Options, Strip};
use std::path::Path;

/// One of the repository's own pictures.
fn picture(name: &str) -> Vec<u8> {
    std::fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/photos")
            .join(name),
    )
    .unwrap()
}

fn stripping(goal: Goal, set: impl FnOnce(&mut Strip)) -> Options {
    let mut asked = options(goal);
    set(&mut asked.strip);
    asked
}

fn holds(bytes: &[u8], word: &[u8]) -> bool {
    count(bytes, word) > 0
}

fn count(bytes: &[u8], word: &[u8]) -> usize {
    bytes
        .windows(word.len())
        .filter(|window| *window == word)
        .count()
}

/// A file with these APP segments behind SOI and these bytes behind EOI.
fn wrap(jpeg: &[u8], segments: &[(u8, Vec<u8>)], tail: &[u8]) -> Vec<u8> {
    let mut out = jpeg[..2].to_vec();
    for (marker, payload) in segments {
        out.extend_from_slice(&[0xff, *marker]);
        out.extend_from_slice(&(payload.len() as u16 + 2).to_be_bytes());
        out.extend_from_slice(payload);
    }
    out.extend_from_slice(&jpeg[2..]);
    out.extend_from_slice(tail);
    out
}

/// An index of two pictures; the sizes and the offset are filled in afterwards.
fn index(first: u32, second: u32, offset: u32) -> Vec<u8> {
    let mut out = b"MPF\0MM\0*\0\0\0\x08\0\x01\xb0\x02\0\x07\0\0\0\x20\0\0\0\x1a\0\0\0\0".to_vec();
    for value in [0x0003_0000, first, 0, 0, 0, second, offset, 0u32] {
        out.extend_from_slice(&value.to_be_bytes());
    }
    out
}

/// A picture with a gain map behind it, as Ultra HDR files are built.
fn with_gain_map(map: &[u8]) -> Vec<u8> {
    let xmp = b"http://ns.adobe.com/xap/1.0/\0<x:xmpmeta hdrgm:Version=\"1.0\" dc:title=\"t\"></x:xmpmeta>".to_vec();
    let build = |index: Vec<u8>| {
        wrap(
            &picture("granite.jpg"),
            &[(0xe1, xmp.clone()), (0xe2, index)],
            map,
        )
    };
    let length = (build(index(0, 0, 0)).len() - map.len()) as u32;
    // The index stands behind SOI, the XMP segment, its own marker and length, and its four letters.
    let origin = (2 + 4 + xmp.len() + 4 + 4) as u32;
    build(index(length, map.len() as u32, length - origin))
}

/// First size, second size and the absolute offset of the second picture, from the index in the file.
fn read_index(file: &[u8]) -> (usize, usize, usize) {
    let at = file
        .windows(4)
        .position(|window| window == b"MPF\0")
        .unwrap()
        + 4;
    let number = |offset: usize| {
        u32::from_be_bytes(file[at + offset..at + offset + 4].try_into().unwrap()) as usize
    };
    (
        number(26 + 4),
        number(26 + 16 + 4),
        at + number(26 + 16 + 8),
    )
}

#[test]
fn a_gain_map_stays_where_the_index_says() {
    let map = picture("birches.jpg");
    let input = with_gain_map(&map);
    let whole = picture("granite.jpg").len();
    for goal in [
        Goal::Lossless,
        Goal::Quality(60),
        at_most(map.len() as u64 + 200_000),
    ] {
        let (done, output) = run(&input, &options(goal)).unwrap();
        let Compressed::Written(written) = done else {
            panic!("{done:?}");
        };
        assert_eq!(written.bytes, output.len() as u64);
        let (first, second, offset) = read_index(&output);
        assert_eq!(
            (first + second, second, offset),
            (output.len(), map.len(), first)
        );
        assert!(first < whole);
        assert_eq!(&output[offset..], map);
        assert!(holds(&output, b"hdrgm:Version"));
    }
}

#[test]
fn a_gain_map_that_is_to_go_takes_its_marks_along() {
    let input = with_gain_map(&picture("birches.jpg"));
    let asked = stripping(Goal::Lossless, |strip| strip.gainmap = true);
    let (done, output) = run(&input, &asked).unwrap();
    let Compressed::Written(written) = done else {
        panic!("{done:?}");
    };
    assert!(
        matches!(written.notes[..], [Note::Dropped(_)]),
        "{:?}",
        written.notes
    );
    assert!(!holds(&output, b"MPF\0") && !holds(&output, b"hdrgm") && holds(&output, b"dc:title"));
    assert_eq!(count(&output, b"\xff\xd8\xff"), 1);
    assert!(output.ends_with(b"\xff\xd9"));
}

#[test]
fn a_damaged_index_keeps_the_file_whole() {
    let mut input = with_gain_map(&picture("birches.jpg"));
    let at = input
        .windows(4)
        .position(|window| window == b"MPF\0")
        .unwrap()
        + 4;
    input[at] = b'?';
    let (done, _) = run(&input, &options(Goal::Quality(50))).unwrap();
    assert!(matches!(done, Compressed::Kept(kept) if matches!(kept.why, Keep::WouldLose(_))));
}

#[test]
fn a_video_behind_the_picture_stays_or_goes_with_its_marks() {
    let video = [b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom".as_slice(), &[7; 5000]].concat();
    let xmp = format!(
        "http://ns.adobe.com/xap/1.0/\0<x GCamera:MicroVideo=\"1\" GCamera:MicroVideoOffset=\"{}\" dc:title=\"t\"/>",
        video.len()
    );
    let input = wrap(&picture("granite.jpg"), &[(0xe1, xmp.into_bytes())], &video);
    let (_, kept) = run(&input, &options(Goal::Quality(60))).unwrap();
    assert!(
        kept.ends_with(&video) && holds(&kept, b"MicroVideoOffset") && kept.len() < input.len()
    );
    let (_, gone) = run(
        &input,
        &stripping(Goal::Quality(60), |strip| strip.motion = true),
    )
    .unwrap();
    assert!(!holds(&gone, b"ftyp") && !holds(&gone, b"MicroVideo") && holds(&gone, b"dc:title"));
    assert_eq!(gone.len(), kept.len() - video.len());
}

#[test]
fn the_position_goes_even_where_nothing_else_is_to_be_done() {
    let input = picture("lake.jpg");
    // The picture's own EXIF holds a GPS directory with these references.
    let tag = b"\x88\x25";
    assert!(holds(&input, tag));
    for goal in [
        at_most(u64::MAX),
        Goal::Lossless,
        Goal::Quality(50),
        Goal::Quality(100),
    ] {
        let (done, output) = run(&input, &stripping(goal, |strip| strip.gps = true)).unwrap();
        assert!(matches!(done, Compressed::Written(_)), "{done:?}");
        let head = &output[..600];
        assert!(!holds(head, tag), "{goal:?}");
        assert!(holds(head, b"Pressroom\0") && holds(&output, b"Lake"));
        let (again, _) = run(
            &output,
            &stripping(at_most(u64::MAX), |strip| strip.gps = true),
        )
        .unwrap();
        assert!(matches!(again, Compressed::Kept(kept) if kept.why == Keep::WithinTarget));
    }
}

#[test]
fn without_metadata_a_turned_picture_stays_turned() {
    let asked = stripping(Goal::Quality(70), |strip| {
        *strip = Strip {
            exif: true,
            gps: true,
            xmp: true,
            iptc: true,
            comment: true,
            thumbnail: true,
            ..*strip
        };
    });
    let (_, output) = run(&picture("town.jpg"), &asked).unwrap();
    let at = output
        .windows(6)
        .position(|window| window == b"Exif\0\0")
        .unwrap();
    assert_eq!(
        output[at + 6..at + 32],
        *b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"
    );
    assert!(!holds(&output, b"Pressroom"));
}

#[test]
fn an_unreachable_size_says_that_metadata_stayed() {
    let mut asked = stripping(at_most(3000), |strip| strip.gps = true);
    asked.min_quality = 50;
    let (done, _) = run(&picture("lake.jpg"), &asked).unwrap();
    let Compressed::Kept(kept) = done else {
        panic!("{done:?}");
    };
    assert!(matches!(
        kept.why,
        Keep::TargetUnreachable { target: 3000, .. }
    ));
    assert!(
        kept.notes
            .iter()
            .any(|note| matches!(note, Note::Stayed(_)))
    );
}

/// Fill bytes may stand before any marker (T.81 B.1.1.2); here they are half of the file.
#[test]
fn a_file_of_much_padding_ends_below_a_target_that_its_finest_result_cannot_fill() {
    let jpeg = picture("birches.jpg");
    let mut padded = jpeg[..2].to_vec();
    padded.resize(jpeg.len(), 0xff);
    padded.extend_from_slice(&jpeg[2..]);
    let target = jpeg.len() as u64 * 5 / 4;
    let (compressed, bytes) = run(&padded, &options(at_most(target))).unwrap();
    assert!(
        matches!(compressed, Compressed::Written(_)),
        "{compressed:?}"
    );
    assert!(bytes.len() as u64 <= target);
    assert!(bytes.len() > jpeg.len() / 2, "{} bytes", bytes.len());
}
