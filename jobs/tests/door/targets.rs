//! Size targets drawn at random: never above, close below where they can be reached, and otherwise with the exact reason.

use crate::common::{at_most, options, picture, run};
use pressroom_jobs::{Chroma, Compressed, Goal, Keep, Note, Options, Progressive, Wanted};
use std::path::Path;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;

/// A small generator with a fixed beginning: the same targets each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// Width and height; what was written is decoded to its end.
fn size(jpeg: &[u8], whole: bool) -> (usize, usize) {
    let mut decoder = JpegDecoder::new(ZCursor::new(jpeg));
    if whole {
        decoder.decode().expect("a sound picture");
    } else {
        decoder.decode_headers().expect("a header");
    }
    decoder.dimensions().expect("a size")
}

/// Runs `cases` random targets; how many came within 3 % and how many were written.
fn draw(names: &[&str], cases: usize, seed: u64) -> (usize, usize) {
    let photos = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/photos");
    let mut random = Random(seed);
    let (mut close, mut all) = (0, 0);
    for case in 0..cases {
        let name = random.one(names);
        let input = std::fs::read(photos.join(name)).expect("a picture of the repository");
        let target = input.len() as u64 * (10 + random.below(1000)) / 1000;
        let mut asked = options(at_most(target));
        asked.effort = random.below(10) as u8;
        asked.progressive = random.one(&[Progressive::Auto, Progressive::On, Progressive::Off]);
        asked.chroma = random.one(&[Chroma::Auto, Chroma::Full, Chroma::Quarter]);
        let what = format!("case {case} of seed {seed}: {name} to {target}, {asked:?}");
        let (done, output) = run(&input, &asked).expect(&what);
        match done {
            Compressed::Written(written) => {
                assert_eq!(written.bytes, output.len() as u64, "{what}");
                assert!(written.bytes <= target, "{what}: {}", written.bytes);
                assert_eq!(size(&output, true), size(&input, false), "{what}");
                // Without a quality the pixels are the original's, and there is no way to use more bytes.
                let near = written.quality.is_none() || written.bytes * 100 >= target * 97;
                close += usize::from(near);
                all += 1;
            }
            Compressed::Kept(kept) => match kept.why {
                Keep::WithinTarget => assert!(input.len() as u64 <= target, "{what}"),
                Keep::TargetUnreachable {
                    target: named,
                    smallest,
                } => assert!(named == target && smallest > target, "{what}: {smallest}"),
                Keep::NotSmaller | Keep::UnsupportedFormat | Keep::WouldLose(_) => {
                    panic!("{what}: {kept:?}")
                }
            },
        }
    }
    (close, all)
}

#[test]
fn random_targets_are_met_from_below() {
    let names = [
        "birches.jpg",
        "dunes.jpg",
        "granite.jpg",
        "lake.jpg",
        "town.jpg",
    ];
    let (close, all) = draw(&names, 40, 7);
    assert!(all >= 20, "only {all} were reachable");
    assert!(close * 100 >= all * 95, "{close} of {all} within 3 %");
}

#[test]
fn no_size_is_met_below_the_lowest_quality_allowed() {
    let photos = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/photos");
    let (mut written, mut refused) = (0, 0);
    for name in ["town.jpg", "lake.jpg", "granite.jpg"] {
        let input = std::fs::read(photos.join(name)).expect("a picture of the repository");
        for (target, least) in [(8, 5), (12, 50), (25, 30), (60, 50), (60, 90), (150, 70)] {
            let mut asked = options(at_most(target * 1000));
            asked.min_quality = least;
            match run(&input, &asked).expect("a sound picture").0 {
                Compressed::Written(result) => {
                    let quality = result.quality.expect("a lossy result");
                    assert!(quality >= least, "{name} to {target} kB: quality {quality}");
                    written += 1;
                }
                Compressed::Kept(kept) => {
                    let unreachable = matches!(kept.why, Keep::TargetUnreachable { .. });
                    assert!(unreachable, "{name} to {target} kB: {kept:?}");
                    refused += 1;
                }
            }
        }
    }
    assert!(
        written > 2 && refused > 2,
        "{written} written, {refused} refused"
    );
}

#[test]
fn a_low_quality_is_news_only_where_a_size_asked_for_it() {
    let original = picture("town.jpg");
    for format in [Wanted::Same, Wanted::Webp] {
        let low = |goal| {
            let asked = Options {
                format,
                min_quality: 1,
                ..options(goal)
            };
            match run(&original, &asked).expect("done").0 {
                Compressed::Written(written) => written.notes,
                Compressed::Kept(kept) => panic!("{kept:?}"),
            }
        };
        assert_eq!(low(Goal::Quality(12)), []);
        assert!(matches!(low(at_most(40_000))[..], [Note::LowQuality(_)]));
    }
}
