//! The way row by row, which pictures take whose coefficients do not fit into memory.

use crate::common::{options, run, run_within};
use pressroom_jobs::{Chroma, Compressed, Goal, Note, Options, Progressive, SizeLimit, Wanted};

/// Less than the coefficients of a picture of six megapixels take, and enough for its rows.
const LITTLE: u64 = 2 << 20;

/// Six megapixels of waves and grain.
fn original() -> Vec<u8> {
    let (width, height) = (3000_u32, 2000_u32);
    let mut file = format!("P6\n{width} {height}\n255\n").into_bytes();
    let mut grain = 1_u32;
    for n in 0..width * height {
        let (x, y) = ((n % width) as f32, (n / width) as f32);
        grain = grain.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let wave = (x / 37.0).sin() * 50.0 + (y / 23.0).cos() * 40.0 + (grain >> 28) as f32;
        file.extend([128.0 + wave, 120.0 - wave / 2.0, 90.0 + wave / 3.0].map(|v| v as u8));
    }
    let into_jpeg = Options {
        format: Wanted::Jpeg,
        progressive: Progressive::Off,
        ..options(Goal::Quality(92))
    };
    run(&file, &into_jpeg).expect("a JPEG").1
}

fn written(original: &[u8], asked: &Options, memory: u64) -> (Vec<u8>, Vec<Note>) {
    match run_within(original, asked, memory).expect("fits") {
        (Compressed::Written(written), bytes) => (bytes, written.notes),
        (Compressed::Kept(kept), _) => panic!("{kept:?}"),
    }
}

/// Bytes of markers, as long as no entropy-coded data is mistaken for them: only those of frames are looked for.
fn is_progressive(file: &[u8]) -> bool {
    file.windows(4).any(|four| four == [0xFF, 0xC2, 0, 17])
}

#[test]
fn a_target_is_met_row_by_row_and_what_rows_cannot_do_is_said() {
    let original = original();
    let asked = Options {
        progressive: Progressive::On,
        chroma: Chroma::Quarter,
        ..options(Goal::MaxSize(SizeLimit::Bytes(200_000)))
    };
    let (whole, notes) = written(&original, &asked, 1 << 30);
    assert!(is_progressive(&whole) && notes.is_empty(), "{notes:?}");
    let (rows, notes) = written(&original, &asked, LITTLE);
    assert!(!is_progressive(&rows) && rows.len() <= 200_000);
    let said = |what: &str| {
        notes
            .iter()
            .any(|note| matches!(note, Note::Dropped(text) if text.contains(what)))
    };
    assert!(
        said("progressive form") && said("halving of chroma"),
        "{notes:?}"
    );
}

#[test]
fn a_picture_that_does_not_fit_shrinks_row_by_row_to_one_that_does() {
    let original = original();
    let mut asked = options(Goal::Quality(80));
    asked.resize.long_edge = Some(300);
    let (whole, _) = written(&original, &asked, 1 << 30);
    // A plane of the original's luma alone takes three times as much.
    let (rows, notes) = written(&original, &asked, LITTLE);
    assert!(rows == whole && notes.is_empty(), "{notes:?}");
}

#[test]
fn without_loss_both_ways_write_the_same_sequential_picture() {
    let original = original();
    let asked = Options {
        progressive: Progressive::Off,
        force: true,
        ..options(Goal::Lossless)
    };
    let (whole, _) = written(&original, &asked, 1 << 30);
    let (rows, notes) = written(&original, &asked, LITTLE);
    assert!(rows == whole && notes.is_empty(), "{notes:?}");
}
