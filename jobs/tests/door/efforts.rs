//! What more effort brings to a JPEG: fuller targets, results that look better, fewer bytes for the same pixels.

use crate::common::{at_most, options, picture, run, run_within, waves};
use crate::score::{pixels, score};
use pressroom_jobs::{Compressed, Goal, Options};

fn written(original: &[u8], effort: u8, goal: Goal) -> Vec<u8> {
    let asked = Options {
        effort,
        ..options(goal)
    };
    match run(original, &asked).expect("done") {
        (Compressed::Written(written), bytes) => {
            assert_eq!(written.bytes, bytes.len() as u64);
            bytes
        }
        (Compressed::Kept(kept), _) => panic!("{effort}: {kept:?}"),
    }
}

#[test]
fn higher_efforts_fill_the_target_and_look_no_worse() {
    let original = waves();
    let target = original.len() as u64 / 5;
    let usual = score(&original, &written(&original, 5, at_most(target)));
    for effort in [6, 9] {
        let result = written(&original, effort, at_most(target));
        let bytes = result.len() as u64;
        assert!(
            bytes <= target && bytes * 1000 >= target * 998,
            "{effort}: {bytes} of {target}"
        );
        let reached = score(&original, &result);
        assert!(
            reached > usual - 0.3,
            "{effort}: {reached}, at the default {usual}"
        );
    }
}

#[test]
fn where_memory_is_short_nothing_is_compared_and_the_target_is_still_met() {
    let original = waves();
    let target = original.len() as u64 / 5;
    let asked = Options {
        effort: 9,
        ..options(at_most(target))
    };
    let (done, result) = run_within(&original, &asked, 40 << 20).expect("fits");
    assert!(matches!(done, Compressed::Written(_)));
    let bytes = result.len() as u64;
    assert!(
        bytes <= target && bytes * 1000 >= target * 998,
        "{bytes} of {target}"
    );
}

#[test]
fn the_same_pixels_take_fewer_bytes() {
    for name in ["lake.jpg", "town.jpg"] {
        let original = picture(name);
        // What byte stuffing adds is not counted beforehand: up to a thousandth more or less.
        let mut before = original.len() * 1001 / 1000;
        for effort in [2, 5, 9] {
            let result = written(&original, effort, Goal::Lossless);
            assert!(
                result.len() <= before,
                "{name} at {effort}: {} after {before}",
                result.len()
            );
            assert!(pixels(&result) == pixels(&original), "{name} at {effort}");
            before = result.len() * 1001 / 1000;
        }
        assert!(before < original.len());
    }
}
