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

fn error(a: &[u8], b: &[u8]) -> f64 {
    let (a, b) = (pixels(a), pixels(b));
    assert_eq!((a.1, a.2), (b.1, b.2));
    let squares =
        a.0.iter()
            .zip(&b.0)
            .map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2));
    squares.sum::<f64>() / a.0.len() as f64
}

/// A quality finer than the source's own steps leaves them as they are, and with them nearly all levels.
#[test]
fn the_higher_the_quality_the_closer_whatever_the_source() {
    for (name, own) in [("lake.jpg", 30), ("town.jpg", 60), ("birches.jpg", 80)] {
        let source = written(&picture(name), 2, Goal::Quality(own));
        for effort in [2, 5, 6] {
            let mut before = f64::MAX;
            for quality in [own - 10, own, own + 10, 95, 100] {
                let asked = Options {
                    effort,
                    force: true,
                    ..options(Goal::Quality(quality))
                };
                let (_, result) = run(&source, &asked).expect("done");
                let error = error(&source, &result);
                assert!(
                    error <= before * 1.01,
                    "{name} of {own} at {quality}, effort {effort}: {error} after {before}"
                );
                before = error;
            }
            assert!(before < 0.01, "{name} of {own}, effort {effort}: {before}");
        }
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
