//! Results of another format: names, collisions, originals that stay what they are.

use crate::cases::Case;
use crate::{pictures, test};
use libtest_mimic::Trial;
use std::path::Path;

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("a_mixed_folder_becomes_one_format", mixed),
        test("an_original_goes_when_its_result_comes", replaced),
        test("a_size_is_reached_with_fewer_pixels", fewer_pixels),
        test("a_picture_on_its_side_is_made_upright", upright),
        test("a_score_is_kept_in_fewer_bytes_the_lower_it_is", scores),
    ]
}

/// A ramp that any codec makes smaller.
fn ppm() -> Vec<u8> {
    let mut file = b"P6\n120 80\n255\n".to_vec();
    for n in 0..120 * 80 {
        let (x, y) = (n % 120, n / 120);
        file.extend([(x * 2) as u8, (y * 3) as u8, 90]);
    }
    file
}

fn mixed() {
    let case = Case::new();
    let (photo, leaf) = (pictures::photo("lake.jpg"), pictures::photo("leaf.png"));
    case.input("a.jpg", &photo)
        .input("a.png", &leaf)
        .input("leaf.PNG", &leaf)
        .input("sub/ramp.ppm", &ppm())
        .input("notes.2024.jpeg", &photo);
    let ran = case.run(&["--format", "jpeg"]);
    ran.expect_code(1);
    let records = case.check(&ran, 5);
    // Two inputs, one name: named before the work, and the one that has the name already gets it.
    assert_eq!(records.outcome("a.jpg"), "saved");
    assert_eq!(
        (records.outcome("a.png"), records.reason("a.png")),
        ("failed", "collision")
    );
    // What a JPEG cannot hold stays what it is, name and all.
    assert_eq!(
        (records.outcome("leaf.PNG"), records.reason("leaf.PNG")),
        ("kept", "would_lose")
    );
    assert_eq!(records.field("leaf.PNG", "path"), "leaf.PNG");
    let tree = case.tree("out");
    let names: Vec<_> = tree.keys().map(|path| path.as_path()).collect();
    let expected = ["a.jpg", "leaf.PNG", "notes.2024.jpeg", "sub/ramp.jpg"].map(Path::new);
    assert_eq!(names, expected);
    assert_eq!(tree[Path::new("leaf.PNG")], leaf);
    assert!(tree[Path::new("sub/ramp.jpg")].starts_with(b"\xff\xd8\xff"));

    let again = case.run(&["--format", "jpeg"]);
    again.expect_code(1);
    let records = case.check(&again, 5);
    assert_eq!(
        (&records.run["skipped"], &records.run["cpu_us"]),
        (&4.into(), &0.into()),
        "{}",
        again.text()
    );
    assert_eq!(case.tree("out"), tree);
}

/// Without loss a photograph would be larger as WebP and is kept under its own name; at a quality it is saved under another.
fn replaced() {
    let case = Case::new();
    let photo = pictures::photo("lake.jpg");
    case.input("kept.jpg", &photo).input("edited.jpg", &photo);
    let run = |arguments: &[&str]| {
        let mut command = case.bare();
        command.args(["in", "-o", "out", "--json", "json", "--no-config"]);
        command.args(["--format", "webp"]).args(arguments);
        let ran = case.finish(command.spawn().expect("the executable starts"));
        ran.expect_code(0);
        case.check(&ran, 2)
    };
    let names = || {
        let tree = case.tree("out");
        let names = tree.keys().map(|path| path.display().to_string());
        names.collect::<Vec<_>>()
    };
    assert_eq!(run(&["--lossless"]).outcome("kept.jpg"), "kept");
    assert_eq!(names(), ["edited.jpg", "kept.jpg"]);
    // Of the same size: one of another size is known to be edited before any work, and the input is skipped.
    let edited: Vec<u8> = photo.iter().rev().copied().collect();
    std::fs::write(case.path("out/edited.jpg"), &edited).expect("written");
    let records = run(&["-q", "50"]);
    assert_eq!(records.outcome("kept.jpg"), "saved");
    assert_eq!(names(), ["edited.jpg", "edited.webp", "kept.webp"]);
    let warnings = records.field("edited.jpg", "warnings").to_string();
    assert!(warnings.contains("not removed: edited.jpg"), "{warnings}");
    assert!(
        !records
            .field("kept.jpg", "warnings")
            .to_string()
            .contains("removed")
    );
    // And back.
    assert_eq!(run(&["--lossless"]).outcome("kept.jpg"), "kept");
    assert!(names().contains(&"kept.jpg".to_owned()) && !names().contains(&"kept.webp".to_owned()));
    assert_eq!(case.tree("out")[Path::new("edited.jpg")], edited);
    assert_eq!(case.tree("in").len(), 2);
}

fn fewer_pixels() {
    let case = Case::new();
    case.input("town.jpg", &pictures::photo("town.jpg"));
    let mut command = case.bare();
    command.args(["in", "-o", "out", "--json", "json", "--no-config"]);
    command.args([
        "--max-size",
        "12KB",
        "--min-quality",
        "50",
        "--shrink-to-fit=200",
    ]);
    let ran = case.finish(command.spawn().expect("the executable starts"));
    ran.expect_code(0);
    let records = case.check(&ran, 1);
    assert_eq!(records.outcome("town.jpg"), "saved");
    let warnings = records.field("town.jpg", "warnings").to_string();
    assert!(warnings.contains("1000x1500 became"), "{warnings}");
    assert!(case.tree("out")[Path::new("town.jpg")].len() <= 12_000);
}

fn upright() {
    let case = Case::new();
    case.input("town.jpg", &pictures::photo("town.jpg"));
    let ran = case.run(&["--orient", "apply", "--icc", "srgb"]);
    ran.expect_code(0);
    let records = case.check(&ran, 1);
    assert_eq!(records.outcome("town.jpg"), "saved");
    let size = ["width", "height"].map(|side| records.field("town.jpg", side).as_u64());
    assert_eq!(
        size,
        [Some(1500), Some(1000)],
        "{}",
        records.files[std::ffi::OsStr::new("town.jpg")]
    );
}

fn scores() {
    let (photo, leaf) = (pictures::photo("town.jpg"), pictures::photo("leaf.png"));
    let bytes = |target: &str| {
        let case = Case::new();
        case.input("town.jpg", &photo).input("leaf.png", &leaf);
        let mut command = case.bare();
        command.args(["in", "-o", "out", "--json", "json", "--no-config"]);
        command.args(["--target", target]);
        let ran = case.finish(command.spawn().expect("the executable starts"));
        ran.expect_code(0);
        let records = case.check(&ran, 2);
        assert_eq!(records.outcome("town.jpg"), "saved", "{}", ran.text());
        case.tree("out")[Path::new("town.jpg")].len()
    };
    let (high, low) = (bytes("ssimulacra2:85"), bytes("ssimulacra2:60"));
    assert!(low < high && high < photo.len(), "{low} {high}");
}
