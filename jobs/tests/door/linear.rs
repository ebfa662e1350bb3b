//! Smaller by light instead of code: the finest checkerboard of black and white is 188 from afar, not 128.

use crate::common::{options, run};
use pressroom_jobs::{Goal, Options, Wanted};
use std::io::Cursor;

const SIDE: u32 = 128;

/// A PNG of these samples.
fn file(samples: &[u8], colour: png::ColorType, depth: png::BitDepth) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, SIDE, SIDE);
    encoder.set_color(colour);
    encoder.set_depth(depth);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(samples).unwrap();
    writer.finish().unwrap();
    file
}

/// One of two pixels by turns, across and down.
fn board<const BYTES: usize>(pixels: [[u8; BYTES]; 2]) -> Vec<u8> {
    let places = (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x + y) as usize % 2));
    places.flat_map(|n| pixels[n]).collect()
}

fn gray() -> Vec<u8> {
    let samples = board([[255; 3], [0; 3]]);
    file(&samples, png::ColorType::Rgb, png::BitDepth::Eight)
}

fn halved(goal: Goal, linear_light: bool) -> Options {
    let mut asked = Options {
        linear_light,
        force: true,
        ..options(goal)
    };
    asked.resize.long_edge = Some(SIDE / 2);
    asked
}

/// The mean level away from the edges.
fn level(jpeg_or_other: &[u8]) -> f64 {
    let rgb = decode(jpeg_or_other);
    let (width, height) = (SIDE as usize / 2, SIDE as usize / 2);
    assert_eq!(rgb.len() % (width * height), 0);
    let channels = rgb.len() / (width * height);
    let inner =
        (8..height - 8).flat_map(|y| (8..width - 8).map(move |x| (y * width + x) * channels));
    let inner: Vec<f64> = inner.map(|n| f64::from(rgb[n])).collect();
    inner.iter().sum::<f64>() / inner.len() as f64
}

fn decode(file: &[u8]) -> Vec<u8> {
    if file.starts_with(b"\xff\xd8") {
        let mut decoder = zune_jpeg::JpegDecoder::new(Cursor::new(file));
        return decoder.decode().unwrap();
    }
    if file.starts_with(b"RIFF") {
        let mut decoder = image_webp::WebPDecoder::new(Cursor::new(file)).unwrap();
        let mut pixels = vec![0; decoder.output_buffer_size().unwrap()];
        decoder.read_image(&mut pixels).unwrap();
        return pixels;
    }
    let mut decoder = png::Decoder::new(Cursor::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    pixels
}

#[test]
fn a_checkerboard_keeps_its_light_in_every_format() {
    let png = gray();
    for format in [Wanted::Jpeg, Wanted::Png, Wanted::Webp] {
        let asked = |linear| Options {
            format,
            ..halved(Goal::Quality(95), linear)
        };
        for (linear, expected) in [(false, 127.5), (true, 188.0)] {
            let (_, out) = run(&png, &asked(linear)).unwrap();
            let level = level(&out);
            assert!(
                (level - expected).abs() < 2.0,
                "{format:?} {linear}: {level}"
            );
        }
    }
}

#[test]
fn jpeg_and_webp_keep_their_format_and_their_light() {
    let png = gray();
    for format in [Wanted::Jpeg, Wanted::Webp] {
        let whole = Options {
            format,
            force: true,
            ..options(Goal::Quality(100))
        };
        let (_, original) = run(&png, &whole).unwrap();
        for other in [Wanted::Same, Wanted::Webp] {
            for (linear, expected) in [(false, 127.5), (true, 188.0)] {
                let asked = Options {
                    format: other,
                    ..halved(Goal::Quality(95), linear)
                };
                let (_, out) = run(&original, &asked).unwrap();
                let level = level(&out);
                assert!(
                    (level - expected).abs() < 4.0,
                    "{format:?} {other:?} {linear}: {level}"
                );
            }
        }
    }
}

#[test]
fn what_nobody_sees_adds_no_light() {
    // White that is opaque beside black that is not: premultiplied, the average is white, half opaque.
    let samples = board([[255; 4], [0; 4]]);
    let png = file(&samples, png::ColorType::Rgba, png::BitDepth::Eight);
    let (_, out) = run(&png, &halved(Goal::Lossless, true)).unwrap();
    let pixels = decode(&out);
    // One colour everywhere is stored as gray with alpha, or as colours.
    let channels = pixels.len() / (SIDE * SIDE / 4) as usize;
    let middle = &pixels[(32 * 64 + 32) * channels..][..channels];
    assert!(
        middle[..channels - 1].iter().all(|&value| value >= 250),
        "{middle:?}"
    );
    assert!(middle[channels - 1].abs_diff(128) <= 4, "{middle:?}");
}

#[test]
fn sixteen_bits_stay_sixteen_and_lie_at_half_the_light() {
    let samples = board([[255; 2], [0, 3]]);
    let png = file(&samples, png::ColorType::Grayscale, png::BitDepth::Sixteen);
    let (_, out) = run(&png, &halved(Goal::Lossless, true)).unwrap();
    assert_eq!(out[24], 16, "bits a sample");
    let high = decode(&out)[2 * (32 * 64 + 32)];
    assert!(high.abs_diff(188) <= 3, "{high}");
}
