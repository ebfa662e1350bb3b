//! Sizes in bytes that only a picture of fewer pixels can have.

use crate::common::{at_most, options, picture, run};
use crate::webp;
use pressroom_jobs::{Compressed, Keep, Note, Options};
use std::io::Cursor;

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

/// Size and number of frames of the moving pictures.
const MOVING: (u32, u32, u32) = (160, 120, 4);

/// A frame of waves and grain that walk, in gray.
fn frame(n: u32) -> Vec<u8> {
    let pixels = (0..MOVING.0 * MOVING.1).map(|at| (at % MOVING.0, at / MOVING.0));
    let value = |(x, y): (u32, u32)| {
        let wave = (x as f32 / 9.0 + n as f32).sin() * 60.0 + (y as f32 / 7.0).cos() * 40.0;
        let grain = (at(x, y) + n).wrapping_mul(2_654_435_761) >> 28;
        (128.0 + wave + grain as f32) as u8
    };
    pixels.map(value).collect()
}

fn at(x: u32, y: u32) -> u32 {
    (y * MOVING.0 + x).wrapping_mul(40_503)
}

fn moving_gif() -> Vec<u8> {
    let palette: Vec<u8> = (0..=255_u8).flat_map(|gray| [gray; 3]).collect();
    let (width, height) = (MOVING.0 as u16, MOVING.1 as u16);
    let mut file = Vec::new();
    let mut encoder = gif::Encoder::new(&mut file, width, height, &palette).unwrap();
    for n in 0..MOVING.2 {
        let frame = gif::Frame {
            width,
            height,
            buffer: frame(n).into(),
            ..gif::Frame::default()
        };
        encoder.write_frame(&frame).unwrap();
    }
    drop(encoder);
    file
}

fn moving_png() -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, MOVING.0, MOVING.1);
    encoder.set_animated(MOVING.2, 0).unwrap();
    let mut writer = encoder.write_header().unwrap();
    (0..MOVING.2).for_each(|n| writer.write_image_data(&frame(n)).unwrap());
    writer.finish().unwrap();
    file
}

fn moving_webp() -> Vec<u8> {
    let mut parts = vec![webp::chunk(b"ANIM", &[0; 6])];
    for n in 0..MOVING.2 {
        let rgb: Vec<u8> = frame(n).iter().flat_map(|&gray| [gray; 3]).collect();
        let mut file = Vec::new();
        let encoder = image_webp::WebPEncoder::new(&mut file);
        let kind = image_webp::ColorType::Rgb8;
        encoder.encode(&rgb, MOVING.0, MOVING.1, kind).unwrap();
        let numbers = [0, 0, MOVING.0 - 1, MOVING.1 - 1, 50];
        let bytes = numbers
            .iter()
            .flat_map(|number| number.to_le_bytes().into_iter().take(3));
        let head: Vec<u8> = bytes.chain([0]).collect();
        parts.push(webp::chunk(b"ANMF", &[head, webp::image(&file)].concat()));
    }
    webp::extended(0x02, (MOVING.0, MOVING.1), &parts)
}

/// Width, height and frames, as decoders that are not the engine's see them.
fn seen(file: &[u8]) -> (u32, u32, u32) {
    if file.starts_with(b"GIF") {
        let mut decoder = gif::DecodeOptions::new().read_info(file).unwrap();
        let size = (decoder.width().into(), decoder.height().into());
        let mut frames = 0;
        while decoder.read_next_frame().unwrap().is_some() {
            frames += 1;
        }
        return (size.0, size.1, frames);
    }
    if file.starts_with(b"RIFF") {
        let decoder = image_webp::WebPDecoder::new(Cursor::new(file)).unwrap();
        let (width, height) = decoder.dimensions();
        return (width, height, decoder.num_frames());
    }
    let reader = png::Decoder::new(Cursor::new(file)).read_info().unwrap();
    let info = reader.info();
    let frames = info.animation_control.unwrap().num_frames;
    (info.width, info.height, frames)
}

#[test]
fn a_moving_picture_shrinks_until_it_fits_with_all_its_frames() {
    for (name, input) in [
        ("gif", moving_gif()),
        ("apng", moving_png()),
        ("webp", moving_webp()),
    ] {
        for percent in [40, 15, 5] {
            let target = input.len() as u64 * percent / 100;
            let asked = Options {
                // WebP alone has one to lower.
                min_quality: 90,
                ..shrinking(target, 8)
            };
            let (done, output) = run(&input, &asked).unwrap();
            let Compressed::Written(written) = done else {
                panic!("{name} {percent}: {done:?}");
            };
            assert_eq!(written.bytes, output.len() as u64);
            assert!(written.bytes <= target, "{name} {percent}: {written:?}");
            assert_eq!(seen(&output), (written.width, written.height, MOVING.2));
            if written.width == MOVING.0 {
                assert_eq!(name, "webp", "the others fit without loss or not at all");
                continue;
            }
            assert!(
                written.bytes * 2 > target,
                "{name} {percent}: {} of {target}",
                written.bytes
            );
            let said = format!("160x120 became {}x{}", written.width, written.height);
            let told = |note: &Note| matches!(note, Note::Dropped(what) if what.contains(&said));
            assert!(written.notes.iter().any(told), "{written:?}");
        }
    }
}

#[test]
fn a_moving_picture_stays_where_the_floor_or_nobody_allows_less() {
    for input in [moving_gif(), moving_png(), moving_webp()] {
        let above = shrinking(600, 100);
        let never = Options {
            shrink_to_fit: None,
            ..shrinking(600, 8)
        };
        for asked in [above, never] {
            let (done, _) = run(&input, &asked).unwrap();
            let unreachable = |kept: &pressroom_jobs::Kept| {
                matches!(kept.why, Keep::TargetUnreachable { target: 600, .. })
            };
            assert!(
                matches!(&done, Compressed::Kept(kept) if unreachable(kept)),
                "{done:?}"
            );
        }
    }
}
