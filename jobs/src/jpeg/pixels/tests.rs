//! Against `djpeg`, which is how most programs see a JPEG, and ink by hand.

use super::*;
use crate::jpeg::frame::Coding;
use std::io::Write;
use std::process::{Command, Stdio};

/// What a tool makes of some bytes; `None` where it is not installed.
fn piped(tool: &str, arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let child = Command::new(tool)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("SKIPPED: {tool} is not installed");
        return None;
    };
    let mut stdin = child.stdin.take()?;
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().ok()?;
    assert!(output.status.success(), "{tool} {arguments:?}");
    let _ = feeder.join();
    Some(output.stdout)
}

/// Width, height and samples of a binary PGM or PPM.
fn pnm(bytes: &[u8]) -> (u32, u32, &[u8]) {
    let mut at = 0;
    let mut words = Vec::new();
    while words.len() < 4 {
        let end = at
            + bytes[at..]
                .iter()
                .position(u8::is_ascii_whitespace)
                .unwrap_or(0);
        words.push(String::from_utf8_lossy(&bytes[at..end]).into_owned());
        at = end + 1;
    }
    let number = |n: usize| words[n].parse().unwrap_or(0);
    (number(1), number(2), &bytes[at..])
}

fn picture(name: &str) -> Vec<u8> {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::read(here.join("tests/photos").join(name)).unwrap_or_default()
}

/// Largest and mean difference from what `djpeg` makes of the file.
fn difference(jpeg: &[u8]) -> Option<(u8, f64)> {
    let theirs = piped("djpeg", &["-dct", "int", "-pnm"], jpeg)?;
    let (width, height, theirs) = pnm(&theirs);
    let ours = read(&jpeg, None, &Budget::new(1 << 30, 1 << 30)).map(|decoded| decoded.raster);
    let ours = ours.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((ours.width, ours.height), (width, height));
    assert_eq!(ours.samples.len(), theirs.len());
    let apart = || ours.samples.iter().zip(theirs).map(|(a, b)| a.abs_diff(*b));
    let sum: u64 = apart().map(u64::from).sum();
    Some((apart().max().unwrap_or(0), sum as f64 / theirs.len() as f64))
}

#[test]
fn pixels_are_those_of_djpeg_within_three_steps() {
    for name in [
        "lake.jpg",
        "birches.jpg",
        "town.jpg",
        "dunes.jpg",
        "granite.jpg",
    ] {
        let whole = picture(name);
        for size in ["203x149", "208x160", "33x17", "5x3", "2x2", "1x9"] {
            let crop = format!("{size}+0+0");
            let Some(jpeg) = piped("jpegtran", &["-crop", &crop], &whole) else {
                return;
            };
            for turn in [&["-copy", "none"][..], &["-transpose"]] {
                let Some(jpeg) = piped("jpegtran", turn, &jpeg) else {
                    return;
                };
                let Some((most, mean)) = difference(&jpeg) else {
                    return;
                };
                let few = if size.len() < 5 { 1.0 } else { 0.0 };
                // Either may round a sample of chroma up where the other rounds down, and a step of it is 1.8 of blue.
                assert!(
                    most <= 3 && mean < 0.05 + few,
                    "{name} {size} {turn:?}: {most}, {mean:.3}"
                );
            }
        }
    }
}

#[test]
fn a_scaled_picture_is_the_whole_one_seen_from_afar() {
    let jpeg = picture("lake.jpg");
    let budget = Budget::new(1 << 30, 1 << 30);
    let at = |size| read(&jpeg.as_slice(), size, &budget).map(|decoded| decoded.raster);
    let (Ok(whole), Ok(half)) = (at(None), at(Some((800, 400)))) else {
        panic!("both decode");
    };
    let side = |pixels: u32| pixels.div_ceil(2);
    assert_eq!(
        (half.width, half.height),
        (side(whole.width), side(whole.height))
    );
    let mean =
        |samples: &[u8]| samples.iter().map(|&v| f64::from(v)).sum::<f64>() / samples.len() as f64;
    assert!((mean(&whole.samples) - mean(&half.samples)).abs() < 0.5);
}

#[test]
fn ink_comes_right_way_round() {
    let row = |values: [u8; 4]| values.map(|value| vec![value]).to_vec();
    let pixel = |colours: Colours, values| {
        let mut out = Vec::new();
        colours.append(&row(values), &mut out);
        out
    };
    // Adobe stores what paper is left: 255 is no ink.
    let adobe = Colours::Cmyk { inverted: true };
    assert_eq!(pixel(adobe, [255, 0, 200, 255]), [0, 255, 55, 0]);
    let plain = Colours::Cmyk { inverted: false };
    assert_eq!(pixel(plain, [0, 255, 55, 0]), [0, 255, 55, 0]);
    // YCCK of paper white: Y of the left-over CMY is 0 as libjpeg's complement has it, so no ink is Y = 0.
    assert_eq!(pixel(Colours::Ycck, [0, 128, 128, 255]), [0, 0, 0, 0]);
    assert_eq!(
        pixel(Colours::Ycck, [255, 128, 128, 0]),
        [255, 255, 255, 255]
    );
}

#[test]
fn two_components_are_refused_by_name() {
    let frame = Frame::new(Coding::Baseline, 8, 8, &[(1, 1, 1, 0), (2, 1, 1, 0)]);
    let named = Colours::of(&frame, &[]).map_err(|error| error.to_string());
    assert!(named.is_err_and(|text| text.contains("2 components")));
}
