//! The way row by row, which pictures take whose coefficients do not fit into memory.

use crate::common::{options, run_within, waves};
use pressroom_jobs::{Chroma, Compressed, Goal, Note, Options, Progressive, SizeLimit};

/// Less than the coefficients of a picture of six megapixels take, and enough for its rows.
const LITTLE: u64 = 2 << 20;

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
    let original = waves();
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
    let original = waves();
    let mut asked = options(Goal::Quality(80));
    asked.resize.long_edge = Some(300);
    let (whole, _) = written(&original, &asked, 1 << 30);
    // A plane of the original's luma alone takes three times as much.
    let (rows, notes) = written(&original, &asked, LITTLE);
    assert!(rows == whole && notes.is_empty(), "{notes:?}");
}

#[test]
fn without_loss_both_ways_write_the_same_sequential_picture() {
    let original = waves();
    let asked = Options {
        progressive: Progressive::Off,
        force: true,
        ..options(Goal::Lossless)
    };
    let (whole, _) = written(&original, &asked, 1 << 30);
    let (rows, notes) = written(&original, &asked, LITTLE);
    assert!(rows == whole && notes.is_empty(), "{notes:?}");
}
