//! WebP through the door, looked at by a second decoder (image-webp): lossless pictures keep every sample, sizes are never
//! exceeded, animations keep their time, metadata its bytes, and damage is an error.

use crate::common::{at_most, options, run, run_within};
use image_webp::{ColorType, WebPDecoder, WebPEncoder};
use pressroom_jobs::{Compressed, Error, Format, Goal, Keep, Resize, Strip};
use proptest::prelude::*;
use std::io::Cursor;

/// Smooth colours with some noise, so that there is something to lose.
fn samples(width: u32, height: u32, channels: u32) -> Vec<u8> {
    let mut out = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let noise = (x * 7919 + y * 104_729) % 23;
            let alpha = if (x / 5 + y / 7) % 4 == 0 {
                0
            } else {
                80 + x + y
            };
            let colour = [x * 3 + noise, y * 2 + noise, x + y, alpha.min(255)];
            out.extend(colour[..channels as usize].iter().map(|&value| value as u8));
        }
    }
    out
}

/// A lossless WebP by the second library, which codes less well than libwebp.
fn exact(width: u32, height: u32, colour: ColorType) -> Vec<u8> {
    let channels = if colour == ColorType::Rgba8 { 4 } else { 3 };
    let mut file = Vec::new();
    WebPEncoder::new(&mut file)
        .encode(&samples(width, height, channels), width, height, colour)
        .unwrap();
    file
}

/// A lossy WebP: what the door makes of a lossless one when a size asks for it.
fn lossy(width: u32, height: u32, colour: ColorType) -> Vec<u8> {
    let file = exact(width, height, colour);
    let (done, output) = run(&file, &options(at_most(file.len() as u64 / 3))).unwrap();
    assert!(matches!(done, Compressed::Written(_)), "{done:?}");
    output
}

/// Pixels by the second decoder.
fn pixels(file: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut decoder = WebPDecoder::new(Cursor::new(file)).unwrap();
    let (width, height) = decoder.dimensions();
    let mut out = vec![0; decoder.output_buffer_size().unwrap()];
    decoder.read_image(&mut out).unwrap();
    (width, height, out)
}

pub(crate) fn chunk(name: &[u8; 4], payload: &[u8]) -> Vec<u8> {
    let mut out = [
        name.as_slice(),
        &(payload.len() as u32).to_le_bytes(),
        payload,
    ]
    .concat();
    out.resize(out.len().next_multiple_of(2), 0);
    out
}

/// Chunks of a file, the extended header included.
fn chunks(file: &[u8]) -> Vec<([u8; 4], Vec<u8>)> {
    let mut out = Vec::new();
    let mut at = 12;
    let end = 8 + u32::from_le_bytes(file[4..8].try_into().unwrap()) as usize;
    while at + 8 <= end {
        let name = file[at..at + 4].try_into().unwrap();
        let length = u32::from_le_bytes(file[at + 4..at + 8].try_into().unwrap()) as usize;
        out.push((name, file[at + 8..at + 8 + length].to_vec()));
        at += 8 + length.next_multiple_of(2);
    }
    out
}

fn find(file: &[u8], name: &[u8; 4]) -> Option<Vec<u8>> {
    let found = chunks(file).into_iter().find(|(other, _)| other == name);
    found.map(|(_, payload)| payload)
}

/// A file of those chunks under an extended header with those flags.
pub(crate) fn extended(flags: u8, (width, height): (u32, u32), parts: &[Vec<u8>]) -> Vec<u8> {
    let mut head = vec![flags, 0, 0, 0];
    head.extend_from_slice(&(width - 1).to_le_bytes()[..3]);
    head.extend_from_slice(&(height - 1).to_le_bytes()[..3]);
    let body = [b"WEBP".to_vec(), chunk(b"VP8X", &head), parts.concat()].concat();
    [
        b"RIFF".as_slice(),
        &(body.len() as u32).to_le_bytes(),
        &body,
    ]
    .concat()
}

/// The image chunks of a still file.
pub(crate) fn image(file: &[u8]) -> Vec<u8> {
    let image = chunks(file)
        .into_iter()
        .filter(|(name, _)| matches!(name, b"ALPH" | b"VP8 " | b"VP8L"));
    image
        .flat_map(|(name, payload)| chunk(&name, &payload))
        .collect()
}

/// An animation of three frames with their own places, times and flags; odd chunks in a frame and behind.
fn animation(frames: [&[u8]; 3]) -> Vec<u8> {
    let mut parts = vec![chunk(b"ANIM", &[1, 2, 3, 4, 7, 0])];
    for (n, file) in frames.into_iter().enumerate() {
        let n = n as u8;
        let (width, height, _) = pixels(file);
        let mut head = vec![n, 0, 0, 2 * n, 0, 0];
        head.extend_from_slice(&(width - 1).to_le_bytes()[..3]);
        head.extend_from_slice(&(height - 1).to_le_bytes()[..3]);
        head.extend_from_slice(&[40 + n, n, 0, n]);
        parts.push(chunk(
            b"ANMF",
            &[head, image(file), chunk(b"odd?", b"abc")].concat(),
        ));
    }
    parts.push(chunk(b"XMP ", b"<x/>"));
    extended(0x02 | 0x10 | 0x04, (80, 80), &parts)
}

/// Places, times and flags of frames, and all control chunks.
fn timing(file: &[u8]) -> Vec<Vec<u8>> {
    let kept = chunks(file)
        .into_iter()
        .filter(|(name, _)| matches!(name, b"ANMF" | b"ANIM"));
    kept.map(|(name, payload)| payload[..if &name == b"ANMF" { 16 } else { 6 }].to_vec())
        .collect()
}

/// Every composed frame with its time, by the second decoder.
fn frames(file: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let mut decoder = WebPDecoder::new(Cursor::new(file)).unwrap();
    let size = decoder.output_buffer_size().unwrap();
    (0..decoder.num_frames())
        .map(|_| {
            let mut out = vec![0; size];
            let time = decoder.read_frame(&mut out).unwrap();
            (time, out)
        })
        .collect()
}

fn saved(input: &[u8], goal: Goal) -> Vec<u8> {
    let (done, output) = run(input, &options(goal)).unwrap();
    let Compressed::Written(written) = done else {
        panic!("{done:?}");
    };
    assert_eq!(
        (written.format, written.bytes),
        (Format::Webp, output.len() as u64)
    );
    assert!(output.len() < input.len());
    output
}

#[test]
fn lossless_pictures_keep_every_sample_at_any_size_and_quality() {
    for (width, height) in [(1, 1), (2, 1), (1, 7), (17, 13), (64, 48), (63, 65)] {
        for colour in [ColorType::Rgb8, ColorType::Rgba8] {
            let input = exact(width, height, colour);
            for goal in [Goal::Lossless, Goal::Quality(50)] {
                let mut asked = options(goal);
                asked.force = true;
                let (done, output) = run(&input, &asked).unwrap();
                assert!(matches!(done, Compressed::Written(_)), "{done:?}");
                assert_eq!(
                    pixels(&output),
                    pixels(&input),
                    "{width}x{height} {colour:?}"
                );
            }
        }
    }
}

#[test]
fn colours_that_nobody_sees_are_kept_without_loss() {
    let input = exact(64, 64, ColorType::Rgba8);
    let hidden = pixels(&input)
        .2
        .chunks(4)
        .filter(|pixel| pixel[3] == 0 && pixel[..3] != [0; 3])
        .count();
    assert!(hidden > 0, "the picture should have such pixels");
    assert_eq!(pixels(&saved(&input, Goal::Lossless)), pixels(&input));
}

#[test]
fn lossy_pictures_shrink_at_a_quality_and_keep_their_alpha_exactly() {
    let input = lossy(161, 121, ColorType::Rgba8);
    assert!(find(&input, b"ALPH").is_some());
    let output = saved(&input, Goal::Quality(20));
    let (before, after) = (pixels(&input), pixels(&output));
    assert_eq!((before.0, before.1), (after.0, after.1));
    let alpha = |pixels: &[u8]| {
        pixels
            .iter()
            .skip(3)
            .step_by(4)
            .copied()
            .collect::<Vec<u8>>()
    };
    assert_eq!(alpha(&after.2), alpha(&before.2));
    let off: u64 = before
        .2
        .iter()
        .zip(&after.2)
        .map(|(a, b)| u64::from(a.abs_diff(*b)))
        .sum();
    assert!(
        off > 0 && off / (before.2.len() as u64) < 12,
        "mean difference of {off}"
    );
}

#[test]
fn what_was_lost_before_is_not_coded_again_without_loss() {
    let input = lossy(100, 80, ColorType::Rgb8);
    let (done, _) = run(&input, &options(Goal::Lossless)).unwrap();
    assert!(
        matches!(&done, Compressed::Kept(kept) if kept.why == Keep::NotSmaller),
        "{done:?}"
    );
}

#[test]
fn metadata_keeps_its_bytes_and_goes_by_kind() {
    let picture = exact(50, 40, ColorType::Rgb8);
    let parts = [
        chunk(b"ICCP", b"a profile"),
        image(&picture),
        chunk(b"EXIF", b"MM\0*\0\0\0\x08\0\0\0\0\0\0"),
        chunk(b"XMP ", b"<x exif:GPSLatitude='1' dc:title='t'/>"),
        chunk(b"odd?", b"nobody knows"),
    ];
    let mut input = extended(0x2c, (50, 40), &parts);
    input.extend_from_slice(b"behind the end");
    let output = saved(&input, Goal::Lossless);
    for name in [b"ICCP", b"EXIF", b"XMP ", b"odd?"] {
        assert_eq!(find(&output, name), find(&input, name));
    }
    assert_eq!(
        find(&output, b"VP8X").unwrap(),
        find(&input, b"VP8X").unwrap()
    );
    assert!(output.ends_with(b"behind the end"));
    assert_eq!(pixels(&output), pixels(&input));

    let mut asked = options(Goal::Lossless);
    asked.strip = Strip {
        gps: true,
        icc: true,
        ..Strip::default()
    };
    let (_, output) = run(&input, &asked).unwrap();
    assert_eq!(find(&output, b"ICCP"), None);
    assert_eq!(find(&output, b"EXIF"), find(&input, b"EXIF"));
    let xmp = String::from_utf8(find(&output, b"XMP ").unwrap()).unwrap();
    assert!(
        !xmp.contains("GPS") && xmp.contains("dc:title='t'"),
        "{xmp}"
    );
    assert_eq!(find(&output, b"VP8X").unwrap()[0], 0x0c);
}

#[test]
fn metadata_goes_from_pictures_that_cannot_shrink_too() {
    let picture = lossy(90, 70, ColorType::Rgb8);
    let parts = [
        image(&picture),
        chunk(b"EXIF", b"MM\0*\0\0\0\x08\0\0\0\0\0\0"),
    ];
    let input = extended(0x08, (90, 70), &parts);
    let mut asked = options(Goal::Lossless);
    asked.strip.exif = true;
    let (done, output) = run(&input, &asked).unwrap();
    assert!(matches!(done, Compressed::Written(_)), "{done:?}");
    assert_eq!(output, picture);
}

#[test]
fn animations_keep_time_place_loops_and_lossless_pixels() {
    let (a, b) = (
        exact(64, 48, ColorType::Rgba8),
        exact(33, 21, ColorType::Rgb8),
    );
    let input = animation([&a, &b, &a]);
    for goal in [Goal::Lossless, Goal::Quality(60)] {
        let output = saved(&input, goal);
        assert_eq!(timing(&output), timing(&input));
        assert_eq!(frames(&output), frames(&input));
        assert_eq!(find(&output, b"XMP "), find(&input, b"XMP "));
        let odd = |file: &[u8]| file.windows(4).filter(|window| *window == b"odd?").count();
        assert_eq!(odd(&output), odd(&input));
    }
}

#[test]
fn lossy_frames_shrink_at_a_quality_and_within_a_size() {
    let (a, b) = (
        lossy(64, 48, ColorType::Rgba8),
        exact(60, 60, ColorType::Rgb8),
    );
    let input = animation([&a, &b, &a]);
    for goal in [Goal::Quality(10), at_most(input.len() as u64 / 2)] {
        let output = saved(&input, goal);
        assert_eq!(timing(&output), timing(&input));
        let times = |file: &[u8]| {
            frames(file)
                .into_iter()
                .map(|(time, _)| time)
                .collect::<Vec<_>>()
        };
        assert_eq!(times(&output), times(&input));
    }
    let halved = saved(&input, at_most(input.len() as u64 / 2));
    assert!(halved.len() <= input.len() / 2);
}

#[test]
fn pictures_get_smaller_in_pixels_as_they_are_seen() {
    let mut asked = options(Goal::Quality(80));
    asked.resize = Resize {
        max_width: Some(30),
        ..Resize::default()
    };
    for input in [
        exact(90, 61, ColorType::Rgba8),
        lossy(90, 61, ColorType::Rgb8),
    ] {
        let (done, output) = run(&input, &asked).unwrap();
        assert!(matches!(done, Compressed::Written(_)), "{done:?}");
        let (width, height, _) = pixels(&output);
        assert_eq!((width, height), (30, 20));
    }
    let exif = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    let parts = [image(&exact(90, 60, ColorType::Rgb8)), chunk(b"EXIF", exif)];
    let (_, output) = run(&extended(0x08, (90, 60), &parts), &asked).unwrap();
    let (width, height, _) = pixels(&output);
    assert_eq!((width, height), (45, 30), "it lies on its side");
}

#[test]
fn wherever_it_is_cut_off_it_is_an_error() {
    let still = exact(60, 50, ColorType::Rgba8);
    let files = [
        still.clone(),
        lossy(60, 50, ColorType::Rgb8),
        lossy(60, 50, ColorType::Rgba8),
        animation([&still, &still, &still]),
    ];
    for (n, file) in files.iter().enumerate() {
        for percent in 1..100 {
            let cut = &file[..(file.len() * percent / 100).max(12)];
            let result = run(cut, &options(Goal::Quality(10)));
            assert!(
                matches!(result, Err(Error::Corrupt { .. })),
                "{n} at {percent} %: {result:?}"
            );
            // The same with a header that claims nothing is missing.
            let mut lying = cut.to_vec();
            let size = (cut.len() as u32 - 8).to_le_bytes();
            lying[4..8].copy_from_slice(&size);
            assert!(matches!(
                run(&lying, &options(Goal::Quality(10))),
                Err(Error::Corrupt { .. })
            ));
        }
    }
}

#[test]
fn sizes_beyond_the_limit_are_refused_before_anything_is_decoded() {
    let picture = exact(10, 10, ColorType::Rgb8);
    let bomb = extended(
        0x02,
        (1 << 24, 1 << 24),
        &[
            chunk(b"ANIM", &[0; 6]),
            chunk(b"ANMF", &[&[0; 16][..], &image(&picture)].concat()),
        ],
    );
    assert!(run(&bomb, &options(Goal::Lossless)).is_err());
    let mut huge = picture.clone();
    huge[21..25].copy_from_slice(&0x0fff_ffffu32.to_le_bytes());
    assert!(matches!(
        run(&huge, &options(Goal::Lossless)),
        Err(Error::TooManyPixels { .. })
    ));
    let large = exact(1000, 1000, ColorType::Rgb8);
    assert!(matches!(
        run_within(&large, &options(Goal::Lossless), 3 << 20),
        Err(Error::OverBudget { .. })
    ));
}

#[test]
fn a_target_below_the_lowest_quality_is_named() {
    let input = lossy(100, 100, ColorType::Rgb8);
    let mut asked = options(at_most(100));
    asked.min_quality = 40;
    let (done, _) = run(&input, &asked).unwrap();
    let Compressed::Kept(kept) = done else {
        panic!("{done:?}")
    };
    assert!(
        matches!(kept.why, Keep::TargetUnreachable { target: 100, smallest } if smallest > 100)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_target_is_ever_exceeded(
        width in 8..160u32, height in 8..160u32, alpha in any::<bool>(), permille in 30..1000u64, metadata in 0..400usize,
    ) {
        let colour = if alpha { ColorType::Rgba8 } else { ColorType::Rgb8 };
        let picture = exact(width, height, colour);
        let parts = [image(&picture), chunk(b"XMP ", &vec![b' '; metadata])];
        let input = extended(if alpha { 0x14 } else { 0x04 }, (width, height), &parts);
        let target = input.len() as u64 * permille / 1000;
        let (done, output) = run(&input, &options(at_most(target))).unwrap();
        match done {
            Compressed::Written(written) => {
                prop_assert!(output.len() as u64 <= target && written.bytes == output.len() as u64);
                prop_assert_eq!(find(&output, b"XMP "), find(&input, b"XMP "));
                let (w, h, _) = pixels(&output);
                prop_assert_eq!((w, h), (width, height));
            }
            Compressed::Kept(kept) => prop_assert!(matches!(kept.why, Keep::TargetUnreachable { smallest, .. } if smallest > target), "{:?}", kept),
        }
    }

    #[test]
    fn damage_never_panics(flips in proptest::collection::vec((12..4000usize, any::<u8>()), 1..8), kind in 0..3usize) {
        let mut file = match kind {
            0 => exact(40, 30, ColorType::Rgba8),
            1 => lossy(40, 30, ColorType::Rgba8),
            _ => { let still = exact(40, 30, ColorType::Rgb8); animation([&still, &still, &still]) }
        };
        for (at, value) in flips {
            let at = at % file.len();
            file[at] = value;
        }
        if let Ok((Compressed::Written(_), output)) = run(&file, &options(Goal::Quality(30))) {
            prop_assert!(WebPDecoder::new(Cursor::new(&output)).is_ok());
        }
    }
}
