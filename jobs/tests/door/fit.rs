//! Sizes in bytes that only a picture of fewer pixels can have.

use crate::common::{at_most, options, picture, run};
use pressroom_jobs::{Compressed, Keep, Note, Options};

fn shrinking(target: u64, floor: u32) -> Options {
    Options {
        shrink_to_fit: Some(floor),
        min_quality: 40,
        ..options(at_most(target))
    }
}

#[test]
fn a_photo_shrinks_until_it_fits_and_no_further() {
    // An arithmetic sequence of targets, none of which was looked at beforehand.
    for (name, edge) in [
        ("lake.jpg", 1600),
        ("town.jpg", 1500),
        ("granite.jpg", 1400),
    ] {
        let input = picture(name);
        for target in (5_000..60_000).step_by(9_173) {
            let (done, output) = run(&input, &shrinking(target, 64)).unwrap();
            let Compressed::Written(written) = done else {
                panic!("{name} {target}: {done:?}");
            };
            assert_eq!(output.len() as u64, written.bytes);
            assert!(
                written.bytes <= target,
                "{name} {target}: {}",
                written.bytes
            );
            let long = written.width.max(written.height);
            let shrunk = long < edge;
            let said = written
                .notes
                .iter()
                .any(|note| matches!(note, Note::Dropped(what) if what.contains(&format!("{}x{}", written.width, written.height))));
            assert_eq!(shrunk, said, "{written:?}");
            if shrunk {
                assert!(
                    written.bytes * 10 > target * 8,
                    "{name} {target}: {}",
                    written.bytes
                );
                assert!(written.quality >= Some(39), "{name} {target}: {written:?}");
                // Not much larger a picture would have fitted: half as much again as the quality tells.
                assert!(written.quality < Some(65), "{name} {target}: {written:?}");
            }
        }
    }
}

#[test]
fn a_drawing_shrinks_as_well() {
    let input = picture("leaf.png");
    for target in [4_000, 7_000, 11_000] {
        let (done, output) = run(&input, &shrinking(target, 32)).unwrap();
        let Compressed::Written(written) = done else {
            panic!("{target}: {done:?}");
        };
        assert!(output.len() as u64 <= target);
        assert_eq!(written.bytes, output.len() as u64);
    }
}

#[test]
fn below_the_floor_the_original_stays() {
    let (done, _) = run(&picture("lake.jpg"), &shrinking(2_000, 1024)).unwrap();
    let Compressed::Kept(kept) = done else {
        panic!("{done:?}");
    };
    assert!(matches!(
        kept.why,
        Keep::TargetUnreachable { target: 2_000, smallest } if smallest > 2_000
    ));
    let unbounded = Options {
        shrink_to_fit: None,
        ..shrinking(2_000, 1)
    };
    let (done, _) = run(&picture("lake.jpg"), &unbounded).unwrap();
    assert!(matches!(done, Compressed::Kept(_)));
}
