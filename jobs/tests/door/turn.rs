//! Pictures made upright: without loss where the sides allow, and right where they do not.

use crate::common::{options, picture, run};
use pressroom_jobs::{Compressed, Goal, Note, Options, Orient, Resize};
use std::io::Write;
use std::process::{Command, Stdio};

fn upright(goal: Goal) -> Options {
    Options {
        orient: Orient::Apply,
        force: true,
        ..options(goal)
    }
}

/// What a tool makes of some bytes; `None` where it is not installed.
fn piped(tool: &str, arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let child = Command::new(tool)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        let _ = writeln!(std::io::stderr(), "SKIPPED: {tool} is not installed");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{tool} {arguments:?}");
    let _ = feeder.join();
    Some(output.stdout)
}

/// The upper left of a picture, with no metadata but an orientation.
fn lying(name: &str, size: &str, orientation: u8) -> Option<Vec<u8>> {
    let crop = format!("{size}+0+0");
    let cut = piped(
        "jpegtran",
        &["-copy", "none", "-crop", &crop],
        &picture(name),
    )?;
    let mut out = cut;
    out.splice(2..2, exif_saying(orientation));
    Some(out)
}

/// A segment of EXIF that holds an orientation and nothing else.
pub(crate) fn exif_saying(orientation: u8) -> Vec<u8> {
    let mut exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
    exif.extend_from_slice(&[orientation, 0, 0, 0, 0, 0, 0, 0]);
    let mut segment = vec![0xff, 0xe1, 0, exif.len() as u8 + 2];
    segment.extend_from_slice(&exif);
    segment
}

/// How `jpegtran` does what an orientation asks for.
fn transform(orientation: u8) -> &'static [&'static str] {
    match orientation {
        2 => &["-flip", "horizontal"],
        3 => &["-rotate", "180"],
        4 => &["-flip", "vertical"],
        5 => &["-transpose"],
        6 => &["-rotate", "90"],
        7 => &["-transverse"],
        8 => &["-rotate", "270"],
        _ => &[],
    }
}

/// Width, height and samples of a binary PGM or PPM.
fn pnm(bytes: &[u8]) -> (usize, usize, Vec<u8>) {
    let mut at = 0;
    let mut words = Vec::new();
    while words.len() < 4 {
        let end = at
            + bytes[at..]
                .iter()
                .position(u8::is_ascii_whitespace)
                .unwrap();
        words.push(std::str::from_utf8(&bytes[at..end]).unwrap().to_owned());
        at = end + 1;
    }
    let number = |n: usize| words[n].parse().unwrap();
    (number(1), number(2), bytes[at..].to_vec())
}

const PICTURES: [&str; 5] = [
    "lake.jpg",
    "birches.jpg",
    "town.jpg",
    "dunes.jpg",
    "granite.jpg",
];

#[test]
fn whole_blocks_turn_without_loss_as_jpegtran_turns_them() {
    for name in PICTURES {
        for orientation in 1..=8 {
            let Some(input) = lying(name, "208x160", orientation) else {
                return;
            };
            let (done, output) = run(&input, &upright(Goal::Lossless)).unwrap();
            assert!(
                matches!(done, Compressed::Written(_)),
                "{name} {orientation}: {done:?}"
            );
            let ours = piped("djpeg", &["-pnm"], &output).unwrap();
            let turned = piped("jpegtran", transform(orientation), &input).unwrap();
            let theirs = piped("djpeg", &["-pnm"], &turned).unwrap();
            assert!(ours == theirs, "{name} {orientation}");
            // Done once is done: the tag says upright.
            let (again, same) = run(&output, &upright(Goal::Lossless)).unwrap();
            let Compressed::Written(again) = again else {
                panic!("{again:?}");
            };
            let size = pnm(&ours);
            assert_eq!(
                (again.width as usize, again.height as usize),
                (size.0, size.1)
            );
            assert!(piped("djpeg", &["-pnm"], &same).unwrap() == ours);
        }
    }
}

/// The pixel that lands at (x, y) of the upright picture.
fn origin(
    orientation: u8,
    (width, height): (usize, usize),
    (x, y): (usize, usize),
) -> (usize, usize) {
    match orientation {
        2 => (width - 1 - x, y),
        3 => (width - 1 - x, height - 1 - y),
        4 => (x, height - 1 - y),
        5 => (y, x),
        6 => (y, height - 1 - x),
        7 => (width - 1 - y, height - 1 - x),
        8 => (width - 1 - y, x),
        _ => (x, y),
    }
}

/// Peak signal to noise ratio of a turned picture against the stored one, in decibels.
fn likeness(orientation: u8, stored: &[u8], turned: &[u8]) -> f64 {
    let (width, height, before) = pnm(stored);
    let (across, down, after) = pnm(turned);
    let channels = before.len() / (width * height);
    assert_eq!(before.len(), after.len());
    let mut sum = 0.0;
    for y in 0..down {
        for x in 0..across {
            let (from_x, from_y) = origin(orientation, (width, height), (x, y));
            for channel in 0..channels {
                let a = before[(from_y * width + from_x) * channels + channel];
                let b = after[(y * across + x) * channels + channel];
                sum += f64::from(a.abs_diff(b)).powi(2);
            }
        }
    }
    10.0 * (255.0 * 255.0 * before.len() as f64 / sum.max(1e-9)).log10()
}

#[test]
fn sides_that_end_within_a_block_are_turned_as_well() {
    for name in PICTURES {
        for size in ["203x149", "200x156", "216x152", "17x9"] {
            for orientation in 2..=8 {
                let Some(input) = lying(name, size, orientation) else {
                    return;
                };
                let (done, output) = run(&input, &upright(Goal::Quality(97))).unwrap();
                assert!(
                    matches!(done, Compressed::Written(_)),
                    "{name} {orientation}: {done:?}"
                );
                let stored = piped("djpeg", &["-pnm"], &input).unwrap();
                let turned = piped("djpeg", &["-pnm"], &output).unwrap();
                let like = likeness(orientation, &stored, &turned);
                assert!(like > 31.0, "{name} {size} {orientation}: {like:.1} dB");
            }
        }
    }
}

#[test]
fn without_loss_or_not_at_all() {
    let Some(input) = lying("lake.jpg", "203x149", 6) else {
        return;
    };
    let (done, output) = run(&input, &upright(Goal::Lossless)).unwrap();
    let Compressed::Written(written) = done else {
        panic!("{done:?}");
    };
    assert_eq!((written.width, written.height), (203, 149));
    assert!(matches!(&written.notes[..], [Note::Stayed(what)] if what.contains("orientation")));
    assert!(output.windows(6).any(|window| window == b"Exif\0\0"));
}

#[test]
fn turned_and_resized_at_once() {
    // Stored 1000 wide and 1500 tall, seen 1500 wide and 1000 tall.
    let asked = Options {
        resize: Resize {
            max_width: Some(600),
            ..Resize::default()
        },
        ..upright(Goal::Quality(90))
    };
    let input = picture("town.jpg");
    let (done, output) = run(&input, &asked).unwrap();
    let Compressed::Written(written) = done else {
        panic!("{done:?}");
    };
    assert_eq!((written.width, written.height), (600, 400));
    // The same picture made smaller without turning, turned here.
    let lying = Options {
        orient: Orient::Keep,
        ..asked
    };
    let (_, stored) = run(&input, &lying).unwrap();
    let (Some(stored), Some(turned)) = (
        piped("djpeg", &["-pnm"], &stored),
        piped("djpeg", &["-pnm"], &output),
    ) else {
        return;
    };
    let like = likeness(6, &stored, &turned);
    assert!(like > 33.0, "{like:.1} dB");
}
