//! The decoder against libjpeg-turbo's tools: what is decoded here and written back means the same to them.

use super::*;
use crate::jpeg::encode::markers::Form;
use crate::jpeg::encode::view::View;
use crate::jpeg::encode::{self, Role};
use crate::jpeg::frame::Coding;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs a tool on `input`; `None` where it is not installed.
fn run(tool: &str, args: &[&str], input: &[u8]) -> Option<(Vec<u8>, String)> {
    let child = Command::new(tool)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("SKIPPED: {tool} is not installed");
        return None;
    };
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || {
        // A tool that gives up early closes its end.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("the tool ran");
    feeder.join().expect("fed");
    Some((
        output.stdout,
        String::from_utf8_lossy(&output.stderr).into_owned(),
    ))
}

/// Writes a picture back as it came, in the plainest form.
fn write_back(picture: &Picture) -> Vec<u8> {
    let pairs = picture.planes.iter().zip(&picture.frame.components);
    let views: Vec<_> = pairs
        .map(|(plane, component)| vec![View::whole(plane, component)])
        .collect();
    let roles = vec![Role::Detail; views.len()];
    let segments: Vec<_> = picture.segments.iter().collect();
    let out = encode::Picture {
        frame: &picture.frame,
        tables: &picture.tables,
        roles: &roles,
        segments: &segments,
        views: &views,
    };
    let counted = out.count(Form::Sequential).expect("counts");
    let mut bytes = Vec::new();
    out.write(&counted, &mut bytes)
        .expect("a vector takes everything");
    bytes
}

/// A picture as PPM (or PGM): shapes, a ramp and noise, so that all kinds of blocks occur.
fn drawing(width: usize, height: usize, gray: bool) -> Vec<u8> {
    let mut random = forge::Random(width as u64 * 31 + height as u64);
    let mut bytes = format!("P{} {width} {height} 255\n", if gray { 5 } else { 6 }).into_bytes();
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        for channel in 0..if gray { 1 } else { 3 } {
            let ramp = (x * (channel + 1) + y * 2) % 256;
            let shape = if (x / 9 + y / 7) % 3 == channel {
                90
            } else {
                0
            };
            let noise = if x > width / 2 {
                random.below(40) as usize
            } else {
                0
            };
            bytes.push(((ramp + shape + noise) % 256) as u8);
        }
    }
    bytes
}

/// Decodes, writes back and lets `djpeg` compare the pixels.
fn same_pixels(bytes: &[u8], what: &str) {
    let picture = decode(bytes.to_vec(), &Survivors::all());
    let picture = picture.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(picture.notes, [], "{what}");
    let (Some((before, warned)), Some((after, odd))) = (
        run("djpeg", &[], bytes),
        run("djpeg", &[], &write_back(&picture)),
    ) else {
        return;
    };
    assert!(
        !before.is_empty() && warned.is_empty() && odd.is_empty(),
        "{what}: {warned} {odd}"
    );
    assert!(before == after, "{what}: pixels differ");
}

#[test]
fn files_of_cjpeg_in_every_form() {
    let samplings = [
        "1x1",
        "2x1",
        "1x2",
        "2x2",
        "4x1",
        "1x4",
        "4x2",
        "2x1,1x2,1x1",
        "3x1",
        "1x1,2x1,2x1",
    ];
    let forms: [&[&str]; 6] = [
        &[],
        &["-optimize"],
        &["-progressive"],
        &["-restart", "1"],
        &["-restart", "3B"],
        &["-progressive", "-restart", "2B"],
    ];
    for (n, (sampling, form)) in samplings
        .iter()
        .flat_map(|s| forms.iter().map(move |f| (s, f)))
        .enumerate()
    {
        let (width, height) = ([1, 17, 64, 75, 130][n % 5], [1, 40, 33, 16, 71][n % 4]);
        let quality = ["30", "75", "95", "100"][n % 4].to_owned();
        let mut args = vec!["-quality", &quality, "-sample", sampling];
        args.extend(*form);
        let Some((bytes, error)) = run("cjpeg", &args, &drawing(width, height, false)) else {
            return;
        };
        assert!(error.is_empty(), "{args:?}: {error}");
        same_pixels(&bytes, &format!("{width}x{height} {args:?}"));
    }
    let Some((gray, _)) = run("cjpeg", &["-progressive"], &drawing(61, 29, true)) else {
        return;
    };
    same_pixels(&gray, "gray");
}

#[test]
fn forged_files_look_the_same_to_djpeg() {
    for seed in 1..40_u64 {
        let mut random = forge::Random(seed * 7919);
        let sampling = [
            (1 + (seed % 2) as u8, 1 + (seed / 2 % 2) as u8),
            (1, 1),
            (1, 1),
        ];
        let count = if seed % 5 == 0 { 1 } else { 3 };
        let progressive = seed % 3 == 0;
        let coding = if progressive {
            Coding::Progressive
        } else {
            Coding::Extended
        };
        let mut forge = Forge::random(
            seed,
            10 + (seed * 13 % 60) as u16,
            7 + (seed * 5 % 50) as u16,
            &sampling[..count],
            coding,
        );
        if progressive {
            forge = forge.progression(&mut random);
        } else if seed % 4 == 0 {
            forge = forge.separate();
        }
        forge.restart = (seed % 4) as u16;
        forge.wide = seed % 2 == 0;
        same_pixels(&forge.bytes(), &format!("seed {seed}"));
    }
}

fn shared(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared")
        .join(folder);
    if !path.is_dir() {
        eprintln!("SKIPPED: no {}", path.display());
        return None;
    }
    Some(path)
}

#[test]
fn photographs_come_back_pixel_by_pixel() {
    let Some(folder) = shared("photos") else {
        return;
    };
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "jpg") {
            continue;
        }
        let bytes = std::fs::read(&path).expect("a file");
        same_pixels(&bytes, &path.display().to_string());
    }
}
