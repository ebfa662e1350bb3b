//! PNG through the door: every kind of pixels comes back exactly, every chunk stays, damage is told apart.

use crate::common::{at_most, options, run, run_within};
use png::{BitDepth, ColorType};
use pressroom_jobs::{Compressed, Error, Format, Goal, Keep, Note, Options, Wanted};
use proptest::prelude::*;

/// Every colour type and depth of the standard.
const KINDS: [(ColorType, BitDepth); 15] = [
    (ColorType::Grayscale, BitDepth::One),
    (ColorType::Grayscale, BitDepth::Two),
    (ColorType::Grayscale, BitDepth::Four),
    (ColorType::Grayscale, BitDepth::Eight),
    (ColorType::Grayscale, BitDepth::Sixteen),
    (ColorType::Rgb, BitDepth::Eight),
    (ColorType::Rgb, BitDepth::Sixteen),
    (ColorType::Indexed, BitDepth::One),
    (ColorType::Indexed, BitDepth::Two),
    (ColorType::Indexed, BitDepth::Four),
    (ColorType::Indexed, BitDepth::Eight),
    (ColorType::GrayscaleAlpha, BitDepth::Eight),
    (ColorType::GrayscaleAlpha, BitDepth::Sixteen),
    (ColorType::Rgba, BitDepth::Eight),
    (ColorType::Rgba, BitDepth::Sixteen),
];

/// A PNG of repeating `bytes`, badly compressed so that there is something to win.
fn draw(width: u32, height: u32, kind: (ColorType, BitDepth), bytes: &[u8], text: &str) -> Vec<u8> {
    let (colour, depth) = kind;
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(colour);
    encoder.set_depth(depth);
    encoder.set_compression(png::Compression::NoCompression);
    if colour == ColorType::Indexed {
        let palette: Vec<u8> = (0..=255u8).flat_map(|n| [n, n ^ 0x55, 255 - n]).collect();
        encoder.set_palette(palette[..3 << (depth as u8)].to_vec());
        encoder.set_trns(vec![0, 128]);
    }
    encoder
        .add_text_chunk("Comment".to_owned(), text.to_owned())
        .unwrap();
    let mut writer = encoder.write_header().unwrap();
    let row = (width as usize * colour.samples() * depth as usize).div_ceil(8);
    let pixels: Vec<u8> = bytes
        .iter()
        .copied()
        .cycle()
        .take(row * height as usize)
        .collect();
    writer.write_image_data(&pixels).unwrap();
    writer.finish().unwrap();
    file
}

/// Pixels as 16-bit RGBA, whatever way they are stored.
fn pixels(file: &[u8]) -> Vec<[u16; 4]> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut buffer).unwrap();
    let wide = info.bit_depth == BitDepth::Sixteen;
    let samples: Vec<u16> = if wide {
        buffer
            .chunks(2)
            .map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
            .collect()
    } else {
        buffer.iter().map(|&byte| u16::from(byte) * 257).collect()
    };
    let expand = |p: &[u16]| match *p {
        [v] => [v, v, v, 65535],
        [v, a] => [v, v, v, a],
        [r, g, b] => [r, g, b, 65535],
        [r, g, b, a] => [r, g, b, a],
        _ => unreachable!("one to four samples"),
    };
    samples
        .chunks(info.color_type.samples())
        .map(expand)
        .collect()
}

/// Names of the chunks, in order.
fn names(file: &[u8]) -> Vec<String> {
    chunks(file).map(|(name, _)| name).collect()
}

fn chunks(file: &[u8]) -> impl Iterator<Item = (String, &[u8])> {
    let mut offset = 8;
    let mut ended = false;
    std::iter::from_fn(move || {
        if ended {
            return None;
        }
        let head = file.get(offset..offset + 8)?;
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let chunk = (
            String::from_utf8_lossy(&head[4..]).into_owned(),
            &file[offset + 8..offset + 8 + length],
        );
        offset += 12 + length;
        ended = chunk.0 == "IEND";
        Some(chunk)
    })
}

/// Puts a chunk behind the header.
fn with_chunk(file: &[u8], name: &[u8; 4], payload: &[u8]) -> Vec<u8> {
    with_chunk_at(file, 33, name, payload)
}

fn with_chunk_at(file: &[u8], offset: usize, name: &[u8; 4], payload: &[u8]) -> Vec<u8> {
    let mut out = file[..offset].to_vec();
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes());
    out.extend_from_slice(name);
    out.extend_from_slice(payload);
    let mut crc = flate2::Crc::new();
    crc.update(name);
    crc.update(payload);
    out.extend_from_slice(&crc.sum().to_be_bytes());
    out.extend_from_slice(&file[offset..]);
    out
}

/// Where the first chunk of that name begins.
fn position(file: &[u8], name: &[u8; 4]) -> usize {
    file.windows(4).position(|window| window == name).unwrap() - 4
}

fn saved(input: &[u8]) -> Vec<u8> {
    let (done, output) = run(input, &options(Goal::Lossless)).unwrap();
    let Compressed::Written(written) = done else {
        panic!("{done:?}");
    };
    assert_eq!(written.bytes, output.len() as u64);
    assert!(output.len() < input.len());
    output
}

#[test]
fn every_kind_of_pixels_comes_back_exactly() {
    for (n, kind) in KINDS.into_iter().enumerate() {
        let bytes: Vec<u8> = (0..64u32).map(|k| (k * k / 7 + k) as u8).collect();
        let input = draw(61 + n as u32, 43, kind, &bytes, "kept");
        let output = saved(&input);
        assert_eq!(pixels(&output), pixels(&input), "{kind:?}");
        assert!(names(&output).contains(&"tEXt".to_owned()), "{kind:?}");
    }
}

#[test]
fn sixteen_bits_stay_where_they_carry_something() {
    let bytes: Vec<u8> = (0..999u32).map(|k| (k * 37 % 251) as u8).collect();
    let output = saved(&draw(
        64,
        64,
        (ColorType::Rgb, BitDepth::Sixteen),
        &bytes,
        "",
    ));
    assert_eq!(output[24], 16);
}

#[test]
fn chunks_keep_their_bytes_and_their_side_of_the_pixels() {
    let plain = draw(
        64,
        64,
        (ColorType::Rgba, BitDepth::Eight),
        &[9, 9, 9, 255],
        "t",
    );
    let exif = with_chunk(&plain, b"eXIf", b"MM\0*\0\0\0\x08\0\0");
    let mut input = with_chunk(&exif, b"gAMA", &45455u32.to_be_bytes());
    input = with_chunk_at(&input, input.len() - 12, b"tIME", &[7, 231, 1, 2, 3, 4, 5]);
    input.extend_from_slice(b"whatever follows the end");
    let output = saved(&input);
    let kept: Vec<_> = chunks(&output)
        .filter(|(name, _)| !["PLTE", "tRNS", "IDAT"].contains(&name.as_str()))
        .collect();
    let wanted: Vec<_> = chunks(&input).filter(|(name, _)| name != "IDAT").collect();
    assert_eq!(kept[1..], wanted[1..]);
    let order = |name: &str| names(&output).iter().position(|n| n == name);
    assert!(order("gAMA") < order("IDAT") && order("IDAT") < order("tIME"));
    assert!(output.ends_with(b"whatever follows the end"));
}

#[test]
fn a_tone_or_a_background_forbids_what_would_break_it() {
    let gray_pixels = draw(
        64,
        64,
        (ColorType::Rgb, BitDepth::Eight),
        &[0, 0, 0, 255, 255, 255],
        "",
    );
    assert_eq!(saved(&gray_pixels)[25], 0, "nothing speaks against gray");
    let toned = saved(&with_chunk(
        &gray_pixels,
        b"gAMA",
        &100_000u32.to_be_bytes(),
    ));
    assert_eq!(toned[25] & 2, 2, "colour type stays one of colour");
    let background = saved(&with_chunk(&gray_pixels, b"bKGD", &[0, 1, 0, 2, 0, 3]));
    assert_eq!(background[25], 2, "a background in RGB needs RGB pixels");
}

#[test]
fn damage_is_told_apart() {
    let good = draw(
        40,
        40,
        (ColorType::Rgb, BitDepth::Eight),
        &[1, 2, 3, 4, 5],
        "hello",
    );
    let flipped = |offset: usize| {
        let mut bad = good.clone();
        bad[offset] ^= 1;
        bad
    };
    let (done, output) = run(
        &flipped(position(&good, b"tEXt") + 10),
        &options(Goal::Lossless),
    )
    .unwrap();
    let Compressed::Written(written) = done else {
        panic!("{done:?}")
    };
    assert!(matches!(written.notes[..], [Note::Repaired(_)]));
    assert!(!names(&output).contains(&"tEXt".to_owned()));
    let in_pixels = run(
        &flipped(position(&good, b"IDAT") + 64),
        &options(Goal::Lossless),
    );
    assert!(matches!(
        in_pixels,
        Err(Error::Corrupt {
            format: Format::Png,
            ..
        })
    ));
}

#[test]
fn wherever_it_is_cut_off_no_pixel_is_invented() {
    let good = draw(
        20,
        20,
        (ColorType::Indexed, BitDepth::Four),
        &[0x12, 0x34, 0x56],
        "hello",
    );
    let end_of_pixels = good.len() - 12;
    for length in 8..good.len() {
        match run(&good[..length], &options(Goal::Lossless)) {
            Ok((_, output)) => {
                assert!(
                    length >= end_of_pixels,
                    "cut at {length} of {end_of_pixels}"
                );
                assert_eq!(pixels(&output), pixels(&good));
            }
            Err(error) => {
                assert!(matches!(error, Error::Corrupt { .. }), "{error}");
                assert!(length < end_of_pixels);
            }
        }
    }
}

#[test]
fn too_little_memory_takes_the_frugal_way_or_is_refused_by_name() {
    let bytes: Vec<u8> = (0..30_000u32).map(|k| (k / 3 + k % 3 * 40) as u8).collect();
    let input = draw(1000, 1000, (ColorType::Rgb, BitDepth::Eight), &bytes, "");
    let (done, output) = run_within(&input, &options(Goal::Lossless), 4 << 20).unwrap();
    assert!(matches!(done, Compressed::Written(_)), "{done:?}");
    assert_eq!(pixels(&output), pixels(&input));
    let refused = run_within(&input, &options(Goal::Lossless), 100 << 10);
    assert!(matches!(refused, Err(Error::OverBudget { .. })));
}

/// Whatever becomes of the pixels, a text that was damaged is gone, and the user is told.
#[test]
fn damage_is_told_also_where_the_pixels_change() {
    let mut input = draw(60, 40, KINDS[13], &[9, 80, 200, 255, 17], "a text");
    let text = input.windows(4).position(|name| name == b"tEXt").unwrap();
    input[text + 6] ^= 1;
    let ways: [fn(&mut Options); 4] = [
        |_| {},
        |asked| asked.resize.long_edge = Some(30),
        |asked| asked.format = Wanted::Webp,
        |asked| {
            asked.format = Wanted::Webp;
            asked.resize.long_edge = Some(30);
        },
    ];
    for (n, way) in ways.iter().enumerate() {
        let mut asked = options(Goal::Lossless);
        way(&mut asked);
        let Compressed::Written(written) = run(&input, &asked).unwrap().0 else {
            panic!("{n}: kept");
        };
        assert!(
            matches!(&written.notes[..], [Note::Repaired(what)] if what.contains("tEXt")),
            "{n}: {:?}",
            written.notes
        );
    }
}

#[test]
fn a_thousand_oddities_give_a_few_notes_and_the_same_one_once() {
    let plain = draw(40, 40, (ColorType::Rgb, BitDepth::Eight), &[1, 2, 3], "");
    let notes = |input: &[u8]| match run(input, &options(Goal::Lossless)).unwrap().0 {
        Compressed::Written(written) => written.notes,
        Compressed::Kept(kept) => kept.notes,
    };
    let odd = |name: &dyn Fn(u16) -> [u8; 4]| {
        (0..1000).fold(plain.clone(), |mut file, number| {
            file = with_chunk(&file, &name(number), b"x");
            // The checksum of the chunk that begins at byte 33 and has one byte.
            file[42] ^= 1;
            file
        })
    };
    let letter = |number: u16| b'a' + (number % 26) as u8;
    let same = notes(&odd(&|_| *b"abCd"));
    assert!(matches!(&same[..], [Note::Repaired(what)] if what.contains("abCd")));
    let different = notes(&odd(&|n| [b'a', letter(n), b'C', letter(n / 26)]));
    assert_eq!(different.len(), 8, "{different:?}");
}

#[test]
fn what_readers_ignore_about_transparency_is_ignored_with_a_note() {
    let plain = |kind| draw(40, 40, kind, &[1, 2, 3, 200], "");
    let opaque = plain((ColorType::Rgba, BitDepth::Eight));
    let indexed = plain((ColorType::Indexed, BitDepth::One));
    let twice = with_chunk_at(&indexed, position(&indexed, b"IDAT"), b"tRNS", &[7]);
    let too_early = with_chunk(&plain((ColorType::Indexed, BitDepth::Eight)), b"tRNS", &[7]);
    for input in [
        with_chunk(&opaque, b"tRNS", &[0, 1, 0, 2, 0, 3]),
        twice,
        too_early,
    ] {
        let (done, output) = run(&input, &options(Goal::Lossless)).unwrap();
        let Compressed::Written(written) = done else {
            panic!("{done:?}");
        };
        assert!(
            matches!(written.notes[..], [Note::Repaired(_)]),
            "{:?}",
            written.notes
        );
        assert!(!pixels(&output).is_empty());
    }
}

#[test]
fn a_size_target_is_met_or_named() {
    let noise: Vec<u8> = (0..50_000u32)
        .map(|k| (k.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let input = draw(
        100,
        100,
        (ColorType::GrayscaleAlpha, BitDepth::Sixteen),
        &noise,
        "",
    );
    let (done, _) = run(&input, &options(at_most(input.len() as u64))).unwrap();
    assert!(matches!(done, Compressed::Kept(kept) if kept.why == Keep::WithinTarget));
}

#[test]
fn a_signed_file_is_left_alone() {
    let input = with_chunk(&draw(30, 30, KINDS[5], &[1], ""), b"caBX", b"jumbf");
    let (done, _) = run(&input, &options(Goal::Lossless)).unwrap();
    assert!(matches!(done, Compressed::Kept(kept) if matches!(kept.why, Keep::WouldLose(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_pixels_of_any_size_come_back(
        width in 1..40u32, height in 1..40u32, kind in 0..KINDS.len(),
        bytes in proptest::collection::vec(any::<u8>(), 1..64),
    ) {
        let input = draw(width, height, KINDS[kind], &bytes, "");
        let mut asked = options(Goal::Lossless);
        asked.force = true;
        let (_, output) = run(&input, &asked).unwrap();
        prop_assert_eq!(pixels(&output), pixels(&input));
    }

    #[test]
    fn garbage_behind_the_signature_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut input = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        input.extend_from_slice(&bytes);
        if let Err(error) = run(&input, &options(Goal::Lossless)) {
            prop_assert!(!matches!(error, Error::Codec { .. }), "{}", error);
        }
    }
}

/// A soft picture of many colours, with alpha.
fn soft(width: u32, height: u32) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(ColorType::Rgba);
    encoder.set_depth(BitDepth::Eight);
    let mut writer = encoder.write_header().unwrap();
    let pixel = |n: u32| {
        let (x, y) = (n % width * 255 / width, n / width * 255 / height);
        let hash = (n ^ n >> 7).wrapping_mul(0x2c1b_3c6d);
        let hash = (hash ^ hash >> 12).wrapping_mul(0x297a_2d39);
        let noise = |shift: u32| (hash >> shift) % 16;
        let alpha = 255 - (x * y / 600).min(200);
        [x + noise(20), y + noise(12), 255 - x.min(y), alpha].map(|v| v.min(255) as u8)
    };
    let pixels: Vec<u8> = (0..width * height).flat_map(pixel).collect();
    writer.write_image_data(&pixels).unwrap();
    writer.finish().unwrap();
    file
}

/// Mean squared difference of pixels laid over magenta, eight bits a channel.
fn difference(a: &[u8], b: &[u8]) -> f64 {
    let over = |[r, g, b, a]: [u16; 4]| {
        let alpha = f64::from(a) / 65535.0;
        let mix =
            |channel: u16, back: f64| f64::from(channel) / 257.0 * alpha + back * (1.0 - alpha);
        [mix(r, 255.0), mix(g, 0.0), mix(b, 255.0)]
    };
    let (a, b) = (pixels(a), pixels(b));
    assert_eq!(a.len(), b.len());
    let pair = |(a, b): (&[u16; 4], &[u16; 4])| -> f64 {
        over(*a)
            .iter()
            .zip(over(*b))
            .map(|(a, b)| (a - b) * (a - b))
            .sum()
    };
    a.iter().zip(&b).map(pair).sum::<f64>() / (3 * a.len()) as f64
}

#[test]
fn fewer_colours_are_close_and_smaller_and_only_on_request() {
    let input = soft(300, 200);
    let exact = saved(&input);
    let mut asked = options(Goal::Quality(80));
    let (_, untouched) = run(&input, &asked).unwrap();
    assert_eq!(pixels(&untouched), pixels(&input));
    asked.lossy_png = true;
    let (_, lossy) = run(&input, &asked).unwrap();
    assert!(
        lossy.len() * 2 < exact.len(),
        "{} of {}",
        lossy.len(),
        exact.len()
    );
    assert_eq!(lossy[25], 3);
    let worst = difference(&input, &lossy);
    assert!(worst < 40.0, "{worst}");
    asked.goal = Goal::Quality(20);
    let (_, worse) = run(&input, &asked).unwrap();
    assert!(worse.len() < lossy.len());
}

#[test]
fn a_size_target_takes_the_most_colours_that_fit() {
    let input = soft(300, 200);
    let mut last = f64::MAX;
    for limit in [20_000, 30_000, 45_000, 60_000] {
        let (done, output) = run(&input, &options(at_most(limit))).unwrap();
        assert!(matches!(done, Compressed::Written(_)), "{done:?}");
        assert!(output.len() as u64 <= limit);
        let now = difference(&input, &output);
        assert!(now <= last);
        last = now;
    }
    let (done, _) = run(&input, &options(at_most(100))).unwrap();
    let Compressed::Kept(kept) = done else {
        panic!("{done:?}");
    };
    assert!(
        matches!(kept.why, Keep::TargetUnreachable { target: 100, smallest } if smallest > 100)
    );
}

#[test]
fn few_colours_stay_exact_even_when_loss_is_allowed() {
    let input = draw(
        200,
        200,
        (ColorType::Rgb, BitDepth::Eight),
        &[200, 30, 9, 7, 90, 250],
        "",
    );
    let mut asked = options(Goal::Quality(90));
    asked.lossy_png = true;
    let (_, output) = run(&input, &asked).unwrap();
    assert_eq!(pixels(&output), pixels(&input));
}

#[test]
fn a_gray_profile_forbids_a_palette() {
    use std::io::Write;
    let mut profile = vec![0; 128];
    profile[16..20].copy_from_slice(b"GRAY");
    let mut zlib =
        flate2::write::ZlibEncoder::new(b"gray\0\0".to_vec(), flate2::Compression::fast());
    zlib.write_all(&profile).unwrap();
    let noise: Vec<u8> = (0..40_000u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let gray = draw(
        200,
        200,
        (ColorType::Grayscale, BitDepth::Eight),
        &noise,
        "",
    );
    let input = with_chunk(&gray, b"iCCP", &zlib.finish().unwrap());
    let mut asked = options(Goal::Quality(50));
    (asked.lossy_png, asked.force) = (true, true);
    let (_, output) = run(&input, &asked).unwrap();
    assert_eq!(output[25], 0);
    assert_eq!(pixels(&output), pixels(&input));
}

#[test]
fn metadata_goes_even_where_the_pixels_stay_as_they_are() {
    let plain = saved(&draw(
        64,
        64,
        (ColorType::Rgb, BitDepth::Eight),
        &[1, 2, 3, 4, 5],
        "secret",
    ));
    let mut asked = options(at_most(1 << 20));
    asked.strip.comment = true;
    let (done, output) = run(&plain, &asked).unwrap();
    assert!(matches!(done, Compressed::Written(_)), "{done:?}");
    assert_eq!(pixels(&output), pixels(&plain));
    assert!(!names(&output).contains(&"tEXt".to_owned()));
    let (again, _) = run(&output, &asked).unwrap();
    assert!(matches!(again, Compressed::Kept(kept) if kept.why == Keep::WithinTarget));
}

/// Two frames of 16 by 16 gray pixels.
fn animation() -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, 16, 16);
    encoder.set_compression(png::Compression::NoCompression);
    encoder.set_animated(2, 0).unwrap();
    let mut writer = encoder.write_header().unwrap();
    for shade in [10, 200] {
        writer.write_image_data(&[shade; 256]).unwrap();
    }
    writer.finish().unwrap();
    file
}

#[test]
fn a_damaged_frame_of_an_animation_is_damage_in_our_words() {
    let whole = animation();
    assert!(run(&whole, &options(Goal::Lossless)).is_ok());
    for name in [b"IDAT", b"fdAT"] {
        let chunk = whole.windows(4).position(|window| window == name).unwrap();
        for at in 4..60 {
            let mut damaged = whole.clone();
            damaged[chunk + at] ^= 0x55;
            if let Err(error) = run(&damaged, &options(Goal::Lossless)) {
                assert!(matches!(error, Error::Corrupt { .. }), "{at}: {error}");
                assert!(!error.to_string().contains("--"), "{error}");
            }
        }
    }
}
