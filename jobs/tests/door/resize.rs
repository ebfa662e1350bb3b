//! Smaller in pixels, through the door: sizes as a person sees them, the same picture, nothing enlarged.

use crate::common::{at_most, options, run};
use pressroom_jobs::{Compressed, Error, Goal, Keep, Note, Options, Resize};
use std::path::Path;

fn picture(name: &str) -> Vec<u8> {
    std::fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/photos")
            .join(name),
    )
    .unwrap()
}

fn bounded(goal: Goal, set: impl FnOnce(&mut Resize)) -> Options {
    let mut asked = options(goal);
    set(&mut asked.resize);
    asked
}

/// Width, height and samples of every channel, one picture after another.
fn decode(jpeg: &[u8]) -> (usize, usize, Vec<u8>) {
    let mut decoder = zune_jpeg::JpegDecoder::new(std::io::Cursor::new(jpeg));
    let pixels = decoder.decode().unwrap();
    let info = decoder.info().unwrap();
    (usize::from(info.width), usize::from(info.height), pixels)
}

/// The mean over the part of `from` that each pixel of a smaller picture covers, roughly; channels interleaved.
fn average((width, height, pixels): &(usize, usize, Vec<u8>), to: (usize, usize)) -> Vec<f64> {
    let channels = pixels.len() / (width * height);
    let mut out = Vec::new();
    for y in 0..to.1 {
        let rows = y * height / to.1..((y + 1) * height / to.1).max(y * height / to.1 + 1);
        for x in 0..to.0 {
            let columns = x * width / to.0..((x + 1) * width / to.0).max(x * width / to.0 + 1);
            for channel in 0..channels {
                let sum: usize = rows
                    .clone()
                    .flat_map(|row| columns.clone().map(move |column| (row, column)))
                    .map(|(row, column)| {
                        usize::from(pixels[(row * width + column) * channels + channel])
                    })
                    .sum();
                out.push(sum as f64 / (rows.len() * columns.len()) as f64);
            }
        }
    }
    out
}

/// Peak signal to noise ratio in decibels, where both pictures are averaged down to a few pixels, so that the choice of a
/// resampling filter does not count but a shift or a wrong colour does.
fn likeness(a: &[u8], b: &[u8]) -> f64 {
    let coarse = (48, 32);
    let (a, b) = (average(&decode(a), coarse), average(&decode(b), coarse));
    assert_eq!(a.len(), b.len());
    let error = a
        .iter()
        .zip(&b)
        .map(|(a, b)| (a - b) * (a - b))
        .sum::<f64>()
        / a.len() as f64;
    10.0 * (255.0 * 255.0 / error.max(1e-9)).log10()
}

#[test]
fn every_sampling_keeps_its_picture_at_every_size() {
    for name in [
        "lake.jpg",
        "birches.jpg",
        "dunes.jpg",
        "granite.jpg",
        "town.jpg",
    ] {
        let input = picture(name);
        let (width, height, _) = decode(&input);
        for (edge, least) in [(1500, 33.0), (801, 33.0), (400, 33.0), (190, 27.0)] {
            if edge >= width.max(height) {
                continue;
            }
            let asked = bounded(Goal::Quality(90), |resize| {
                resize.long_edge = Some(edge as u32)
            });
            let (done, output) = run(&input, &asked).unwrap();
            let Compressed::Written(written) = done else {
                panic!("{name} {edge}: {done:?}");
            };
            assert_eq!(written.width.max(written.height), edge as u32);
            let (small_width, small_height, _) = decode(&output);
            assert_eq!(
                (written.width as usize, written.height as usize),
                (small_width, small_height)
            );
            let like = likeness(&input, &output);
            assert!(like > least, "{name} at {edge}: {like:.1} dB");
        }
    }
}

#[test]
fn a_picture_on_its_side_is_bounded_as_seen() {
    // Stored 1000 wide and 1500 tall, seen 1500 wide.
    let asked = bounded(Goal::Quality(80), |resize| resize.max_width = Some(600));
    let (done, output) = run(&picture("town.jpg"), &asked).unwrap();
    let Compressed::Written(written) = done else {
        panic!("{done:?}");
    };
    assert_eq!((written.width, written.height), (400, 600));
    assert!(output.windows(6).any(|window| window == b"Exif\0\0"));
}

#[test]
fn sizes_in_bytes_and_in_pixels_go_together() {
    let mut asked = bounded(at_most(40_000), |resize| resize.long_edge = Some(800));
    let (done, output) = run(&picture("lake.jpg"), &asked).unwrap();
    assert!(matches!(done, Compressed::Written(_)), "{done:?}");
    assert!(
        output.len() <= 40_000 && output.len() > 38_000,
        "{}",
        output.len()
    );
    asked.resize.long_edge = Some(5000);
    let (done, _) = run(&picture("lake.jpg"), &asked).unwrap();
    assert!(matches!(done, Compressed::Written(written) if written.width == 1600));
}

#[test]
fn resizing_without_a_quality_is_refused_by_name() {
    let asked = bounded(Goal::Lossless, |resize| resize.long_edge = Some(800));
    assert!(matches!(
        run(&picture("lake.jpg"), &asked),
        Err(Error::Unsupported(_))
    ));
}

#[test]
fn a_png_keeps_its_alpha_and_its_depth() {
    let asked = bounded(Goal::Lossless, |resize| resize.max_height = Some(128));
    let (done, output) = run(&picture("leaf.png"), &asked).unwrap();
    assert!(
        matches!(done, Compressed::Written(ref written) if (written.width, written.height) == (128, 128))
    );
    let mut decoder = png::Decoder::new(std::io::Cursor::new(&output));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgba);
    // The corner is nothing, the middle is leaf, and the edge is in between somewhere.
    let alpha = |x: usize, y: usize| pixels[(y * 128 + x) * 4 + 3];
    assert_eq!((alpha(0, 0), alpha(64, 64)), (0, 255));
    assert!(pixels.chunks(4).any(|pixel| (20..230).contains(&pixel[3])));
    // Green stays the strongest at the edge as well: alpha was multiplied in.
    assert!(
        pixels
            .chunks(4)
            .filter(|p| p[3] > 200)
            .all(|p| p[1] >= p[2])
    );
}

#[test]
fn an_original_that_keeps_more_pixels_than_asked_for_says_so() {
    let (_, small) = run(&picture("town.jpg"), &options(Goal::Quality(10))).expect("done");
    let asked = bounded(Goal::Quality(100), |resize| resize.long_edge = Some(600));
    match run(&small, &asked).expect("done") {
        (Compressed::Kept(kept), _) => {
            assert_eq!(kept.why, Keep::NotSmaller);
            assert!(
                matches!(&kept.notes[..], [Note::Stayed(what)] if what.contains("--force")),
                "{:?}",
                kept.notes
            );
        }
        (Compressed::Written(written), _) => panic!("{written:?}"),
    }
    let loose = bounded(Goal::Quality(100), |resize| resize.long_edge = Some(9000));
    let (done, _) = run(&small, &loose).expect("done");
    assert!(
        matches!(&done, Compressed::Kept(kept) if kept.notes.is_empty()),
        "{done:?}"
    );
}
