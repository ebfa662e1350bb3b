//! A score as the goal: kept by every result, by little, and in fewer bytes the lower it is. The scores are taken here, of
//! the whole pictures.

use crate::common::{options, run, run_within};
use fast_ssim2::{PixelDescriptor, PixelSlice, compute_ssimulacra2};
use pressroom_jobs::{Compressed, Error, Goal, Options, Wanted};
use std::path::Path;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// Points that a result may have above what was asked: one step of one frequency is worth up to 1.5 on a smooth picture.
const MARGIN: f64 = 2.0;

fn photo(name: &str) -> Vec<u8> {
    let photos = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/photos");
    std::fs::read(photos.join(name)).expect("a picture of the repository")
}

pub(crate) fn pixels(file: &[u8]) -> (Vec<u8>, u32, u32) {
    let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(file), options);
    let rgb = decoder.decode().expect("decodes");
    let (width, height) = decoder.dimensions().expect("has a size");
    (rgb, width as u32, height as u32)
}

pub(crate) fn score(original: &[u8], result: &[u8]) -> f64 {
    let (a, width, height) = pixels(original);
    let (b, ..) = pixels(result);
    let view = |rgb| {
        let row = width as usize * 3;
        PixelSlice::new(rgb, width, height, row, PixelDescriptor::RGB8_SRGB).expect("pixels")
    };
    compute_ssimulacra2(&view(&a), &view(&b)).expect("a score")
}

#[test]
fn the_score_is_kept_by_little_and_lower_ones_take_fewer_bytes() {
    for name in ["dunes.jpg", "town.jpg"] {
        let original = photo(name);
        let mut bytes = 0;
        for wanted in [55.0, 80.0] {
            let asked = options(Goal::Ssimulacra2(wanted));
            let (done, result) = run(&original, &asked).expect("done");
            let Compressed::Written(written) = done else {
                panic!("{name} at {wanted}: {done:?}");
            };
            assert_eq!(written.bytes, result.len() as u64);
            assert!(written.bytes > bytes, "{name} at {wanted}: not more bytes");
            bytes = written.bytes;
            let reached = score(&original, &result);
            let wanted = f64::from(wanted);
            assert!(
                (wanted..wanted + MARGIN).contains(&reached),
                "{name} at {wanted}: {reached}"
            );
        }
    }
}

#[test]
fn too_little_memory_is_refused_with_what_is_needed() {
    let original = photo("lake.jpg");
    let refused = run_within(&original, &options(Goal::Ssimulacra2(70.0)), 4 << 20);
    let Err(Error::OverBudget { needed, cap }) = refused else {
        panic!("{refused:?}");
    };
    assert!(needed > cap);
    // What it names is enough but for coefficients and results.
    let enough = run_within(&original, &options(Goal::Ssimulacra2(70.0)), needed * 2);
    assert!(
        matches!(enough, Ok((Compressed::Written(_), _))),
        "{enough:?}"
    );
}

#[test]
fn a_score_that_only_the_same_pixels_keep_gives_the_same_pixels() {
    let original = photo("granite.jpg");
    let (done, result) = run(&original, &options(Goal::Ssimulacra2(99.0))).expect("done");
    if let Compressed::Written(_) = done {
        assert!(score(&original, &result) >= 99.0);
    }
}

/// What has no score is compressed without loss, which keeps every score.
#[test]
fn formats_without_a_score_keep_their_pixels() {
    let asked = options(Goal::Ssimulacra2(70.0));
    let png = photo("leaf.png");
    let into_webp = Options {
        format: Wanted::Webp,
        ..options(Goal::Lossless)
    };
    let (_, webp) = run(&png, &into_webp).expect("a WebP");
    for original in [png, webp] {
        let exactly = run(&original, &options(Goal::Lossless)).expect("done");
        assert_eq!(run(&original, &asked).expect("done"), exactly);
    }
}

#[test]
fn new_pixels_have_no_score() {
    let mut smaller = options(Goal::Ssimulacra2(70.0));
    smaller.resize.long_edge = Some(100);
    let refused = run(&photo("lake.jpg"), &smaller).expect_err("no goal");
    assert!(refused.to_string().contains("use -q or --max-size"));
}
