//! Pictures that become another format: the same picture, what goes along, what is refused by name.

use crate::common::{at_most, options, picture, run};
use pressroom_jobs::{
    Colours, Compressed, Format, Goal, Keep, Note, Options, Orient, Resize, Strip, Wanted,
};

fn into(format: Wanted, goal: Goal) -> Options {
    Options {
        format,
        ..options(goal)
    }
}

fn written(input: &[u8], asked: &Options) -> (pressroom_jobs::Written, Vec<u8>) {
    let (done, output) = run(input, asked).unwrap();
    let Compressed::Written(written) = done else {
        panic!("{done:?}");
    };
    assert_eq!(written.bytes, output.len() as u64);
    (written, output)
}

fn kept(input: &[u8], asked: &Options) -> pressroom_jobs::Kept {
    match run(input, asked).unwrap().0 {
        Compressed::Kept(kept) => kept,
        Compressed::Written(written) => panic!("{written:?}"),
    }
}

/// A picture with some of everything: ramps, an edge, a little grain.
fn pixels(width: usize, height: usize) -> Vec<u8> {
    let mut seed = 7_u32;
    let mut out = Vec::new();
    for y in 0..height {
        for x in 0..width {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let grain = (seed >> 29) as usize;
            let edge = if x * 2 > width + y { 60 } else { 0 };
            out.push((40 + 120 * x / width + edge + grain) as u8);
            out.push((30 + 150 * y / height + grain) as u8);
            out.push((200 - 100 * (x + y) / (width + height) - edge + grain) as u8);
        }
    }
    out
}

fn ppm(width: usize, height: usize) -> Vec<u8> {
    let mut file = format!("P6\n{width} {height}\n255\n").into_bytes();
    file.extend(pixels(width, height));
    file
}

/// A PNG of samples with these chunks before the pixels.
fn png(
    width: u32,
    height: u32,
    colour: png::ColorType,
    depth: png::BitDepth,
    samples: &[u8],
    chunks: &[(&[u8; 4], Vec<u8>)],
) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(colour);
    encoder.set_depth(depth);
    let mut writer = encoder.write_header().unwrap();
    for (name, payload) in chunks {
        writer
            .write_chunk(png::chunk::ChunkType(**name), payload)
            .unwrap();
    }
    writer.write_image_data(samples).unwrap();
    writer.finish().unwrap();
    file
}

/// Width, height, channels and samples of a PNG.
fn read_png(file: &[u8]) -> (u32, u32, usize, Vec<u8>) {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut samples = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut samples).unwrap();
    (info.width, info.height, info.color_type.samples(), samples)
}

fn read_jpeg(file: &[u8]) -> Vec<u8> {
    zune_jpeg::JpegDecoder::new(std::io::Cursor::new(file))
        .decode()
        .unwrap()
}

fn decibels(a: &[u8], b: &[u8]) -> f64 {
    assert_eq!(a.len(), b.len());
    let sum: f64 = a
        .iter()
        .zip(b)
        .map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2))
        .sum();
    10.0 * (255.0 * 255.0 * a.len() as f64 / sum.max(1e-9)).log10()
}

fn holds(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}

#[test]
fn plain_pixels_become_each_format() {
    let (width, height) = (161, 97);
    let (file, samples) = (ppm(width, height), pixels(width, height));
    let (done, output) = written(&file, &into(Wanted::Png, Goal::Lossless));
    assert_eq!(done.format, Format::Png);
    assert_eq!(read_png(&output), (161, 97, 3, samples.clone()));

    let (done, output) = written(&file, &into(Wanted::Jpeg, Goal::Quality(92)));
    assert_eq!(
        (done.format, done.width, done.height),
        (Format::Jpeg, 161, 97)
    );
    let like = decibels(&samples, &read_jpeg(&output));
    assert!(like > 36.0, "{like:.1} dB");

    let small = written(&file, &into(Wanted::Jpeg, at_most(6_000))).1;
    assert!(
        small.len() <= 6_000 && small.len() > 5_500,
        "{}",
        small.len()
    );
}

#[test]
fn webp_comes_and_goes() {
    let (file, samples) = (ppm(161, 97), pixels(161, 97));
    let (done, exact) = written(&file, &into(Wanted::Webp, Goal::Lossless));
    assert_eq!(
        (done.format, done.width, done.height),
        (Format::Webp, 161, 97)
    );
    let forced = |format, goal| Options {
        force: true,
        ..into(format, goal)
    };
    let (_, back) = written(&exact, &forced(Wanted::Png, Goal::Lossless));
    assert_eq!(read_png(&back), (161, 97, 3, samples.clone()));
    let (_, lossy) = written(&file, &into(Wanted::Webp, Goal::Quality(90)));
    let (_, back) = written(&lossy, &forced(Wanted::Png, Goal::Lossless));
    assert!(decibels(&samples, &read_png(&back).3) > 34.0);
    for target in (2_000..9_000).step_by(1_733) {
        let (_, small) = written(&file, &into(Wanted::Webp, at_most(target)));
        assert!(small.len() as u64 <= target);
    }
    // A photograph with EXIF and XMP goes there with both, made upright on the way.
    let asked = Options {
        orient: Orient::Apply,
        resize: Resize {
            long_edge: Some(300),
            ..Resize::default()
        },
        ..into(Wanted::Webp, Goal::Quality(80))
    };
    let (done, webp) = written(&picture("town.jpg"), &asked);
    assert_eq!((done.width, done.height), (300, 200));
    assert!(holds(&webp, b"EXIF"));
    let (tagged, _) = written(
        &picture("town.jpg"),
        &Options {
            orient: Orient::Keep,
            ..asked
        },
    );
    assert_eq!((tagged.width, tagged.height), (200, 300));
}

#[test]
fn gray_stays_gray() {
    let gray: Vec<u8> = pixels(64, 48).chunks(3).map(|pixel| pixel[1]).collect();
    let file = png(
        64,
        48,
        png::ColorType::Grayscale,
        png::BitDepth::Eight,
        &gray,
        &[],
    );
    let (_, output) = written(
        &file,
        &Options {
            force: true,
            ..into(Wanted::Jpeg, Goal::Quality(95))
        },
    );
    let back = read_jpeg(&output);
    let channels = back.len() / gray.len();
    let back: Vec<u8> = back.chunks(channels).map(|pixel| pixel[0]).collect();
    assert!(decibels(&gray, &back) > 38.0);
}

#[test]
fn a_jpeg_becomes_a_png_of_the_pixels_it_shows() {
    let (_, output) = written(
        &picture("dunes.jpg"),
        &Options {
            force: true,
            ..into(Wanted::Png, Goal::Lossless)
        },
    );
    let (_, _, channels, samples) = read_png(&output);
    assert_eq!(channels, 3);
    let theirs = read_jpeg(&picture("dunes.jpg"));
    assert!(decibels(&samples, &theirs) > 48.0);
    // It is larger, so without --force the photograph stays.
    let kept = kept(&picture("dunes.jpg"), &into(Wanted::Png, Goal::Lossless));
    assert_eq!((kept.format, kept.why), (Format::Jpeg, Keep::NotSmaller));
}

#[test]
fn metadata_goes_along_both_ways() {
    let asked = Options {
        force: true,
        ..into(Wanted::Png, Goal::Lossless)
    };
    let (_, png) = written(&picture("lake.jpg"), &asked);
    assert!(holds(&png, b"eXIf") && holds(&png, b"XML:com.adobe.xmp"));
    let (_, jpeg) = written(&png, &into(Wanted::Jpeg, Goal::Quality(80)));
    assert!(holds(&jpeg, b"Exif\0\0") && holds(&jpeg, b"http://ns.adobe.com/xap/1.0/\0"));
    let bare = Options {
        strip: Strip {
            exif: true,
            xmp: true,
            ..Strip::default()
        },
        ..into(Wanted::Jpeg, Goal::Quality(80))
    };
    let (_, bare) = written(&png, &bare);
    assert!(!holds(&bare, b"http://ns.adobe.com") && !holds(&bare, b"GPS"));
}

#[test]
fn an_orientation_is_kept_or_applied_but_never_lost() {
    // Stored 1000 wide and 1500 tall with orientation 6.
    let small = |orient, format| Options {
        orient,
        resize: Resize {
            long_edge: Some(300),
            ..Resize::default()
        },
        force: true,
        ..into(format, Goal::Quality(85))
    };
    let (done, tagged) = written(&picture("town.jpg"), &small(Orient::Keep, Wanted::Png));
    assert_eq!((done.width, done.height), (200, 300));
    let (done, upright) = written(&picture("town.jpg"), &small(Orient::Apply, Wanted::Png));
    assert_eq!((done.width, done.height), (300, 200));
    // The tagged PNG made upright is the same picture.
    let (done, turned) = written(&tagged, &small(Orient::Apply, Wanted::Same));
    assert_eq!((done.width, done.height), (300, 200));
    assert!(decibels(&read_png(&upright).3, &read_png(&turned).3) > 45.0);
    let (again, _) = written(&turned, &small(Orient::Apply, Wanted::Same));
    assert_eq!((again.width, again.height), (300, 200));
}

#[test]
fn transparency_is_not_painted_over() {
    let kept = kept(&picture("leaf.png"), &into(Wanted::Jpeg, Goal::Quality(80)));
    assert!(matches!(&kept.why, Keep::WouldLose(what) if what.contains("transparency")));
    assert_eq!(kept.format, Format::Png);
    // An alpha channel that hides nothing is no transparency.
    let opaque: Vec<u8> = pixels(80, 60)
        .chunks(3)
        .flat_map(|p| [p[0], p[1], p[2], 255])
        .collect();
    let file = png(
        80,
        60,
        png::ColorType::Rgba,
        png::BitDepth::Eight,
        &opaque,
        &[],
    );
    let (done, _) = written(&file, &into(Wanted::Jpeg, Goal::Quality(80)));
    assert_eq!(done.notes, []);
}

#[test]
fn sixteen_bits_are_cut_with_a_note() {
    let deep: Vec<u8> = pixels(80, 60).iter().flat_map(|&v| [v, v]).collect();
    let file = png(
        80,
        60,
        png::ColorType::Rgb,
        png::BitDepth::Sixteen,
        &deep,
        &[],
    );
    let (done, output) = written(&file, &into(Wanted::Jpeg, Goal::Quality(92)));
    assert!(matches!(&done.notes[..], [Note::Dropped(what)] if what.contains("16 bits")));
    assert!(decibels(&pixels(80, 60), &read_jpeg(&output)) > 34.0);
}

#[test]
fn bare_gamma_is_made_true_on_conversion() {
    // Gamma 1.0: what is stored as 55 is seen as 128.
    let dark = vec![55_u8; 3 * 64 * 64];
    let gamma = [(b"gAMA", 100_000_u32.to_be_bytes().to_vec())];
    let file = png(
        64,
        64,
        png::ColorType::Rgb,
        png::BitDepth::Eight,
        &dark,
        &gamma,
    );
    let (_, output) = written(
        &file,
        &Options {
            force: true,
            ..into(Wanted::Jpeg, Goal::Quality(95))
        },
    );
    assert!(
        read_jpeg(&output)
            .iter()
            .all(|value| (126..=130).contains(value))
    );
    // As a PNG it keeps both, unless sRGB is asked for.
    let asked = Options {
        colours: Colours::Srgb,
        force: true,
        ..options(Goal::Lossless)
    };
    let (_, srgb) = written(&file, &asked);
    assert!(!holds(&srgb, b"gAMA") && holds(&srgb, b"sRGB"));
    assert!(
        read_png(&srgb)
            .3
            .iter()
            .all(|value| (127..=129).contains(value))
    );
}

#[test]
fn what_cannot_be_decoded_is_kept_by_name() {
    let heic = [b"\0\0\0\x18ftypheic\0\0\0\0heicmif1".as_slice(), &[0; 64]].concat();
    let kept = kept(&heic, &into(Wanted::Jpeg, Goal::Quality(80)));
    assert_eq!(
        (kept.format, kept.why),
        (Format::Heic, Keep::UnsupportedFormat)
    );
}

#[test]
fn a_video_behind_the_picture_is_not_dropped_in_silence() {
    let mut motion = picture("granite.jpg");
    motion.extend_from_slice(b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom");
    motion.extend_from_slice(&[0; 500]);
    let asked = into(Wanted::Png, Goal::Lossless);
    let kept = kept(&motion, &asked);
    assert!(
        matches!(&kept.why, Keep::WouldLose(what) if what.contains("video")),
        "{kept:?}"
    );
    let strip = Strip {
        motion: true,
        ..Strip::default()
    };
    written(
        &motion,
        &Options {
            strip,
            force: true,
            ..asked
        },
    );
}

#[test]
fn never_above_the_size_whatever_comes_in() {
    let file = ppm(200, 150);
    for target in (1_500..9_000).step_by(1_319) {
        let (done, output) = run(&file, &into(Wanted::Jpeg, at_most(target))).unwrap();
        match done {
            Compressed::Written(_) => assert!(output.len() as u64 <= target),
            Compressed::Kept(kept) => {
                assert!(
                    matches!(kept.why, Keep::TargetUnreachable { .. }),
                    "{kept:?}"
                );
            }
        }
    }
}
