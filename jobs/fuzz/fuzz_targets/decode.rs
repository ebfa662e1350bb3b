//! Any bytes: the JPEG decoder answers or refuses, and what it answers is the same whole, row by row and thinned out.
#![no_main]

#[path = "common.rs"]
mod common;

use common::{Memory, blocks, budget};
use libfuzzer_sys::fuzz_target;
use pressroom_jobs::jpeg::decode::{Decoder, Survivors, presample, read, read_header};

fuzz_target!(|bytes: &[u8]| {
    let source = Memory(bytes);
    let floor = u16::from(bytes.last().copied().unwrap_or(0) % 8);
    let keep = Survivors::from_floors([[floor; 64]; 4]);
    let whole = read(&source, &budget(), &Survivors::all());
    if let Ok(header) = read_header(&source, &budget()) {
        // Statistics of damaged data mean nothing, but getting them must be harmless.
        let _ = presample::sample(&source, &header, &budget());
    }
    let rows_budget = budget();
    let mut rows = Vec::new();
    let by_row = Decoder::open(&source, &rows_budget).and_then(|decoder| {
        decoder.rows(&Survivors::all(), &mut |_, planes| {
            for (n, blocks) in blocks(planes).into_iter().enumerate() {
                rows.resize_with(planes.len(), Vec::new);
                rows[n].extend(blocks);
            }
            Ok(())
        })
    });
    let thinned = read(&source, &budget(), &keep);
    let Ok(whole) = whole else {
        assert!(by_row.is_err() && thinned.is_err());
        return;
    };
    let mut all = blocks(&whole.planes);
    assert_eq!(rows, all);
    assert!(by_row.is_ok_and(|ending| ending.notes == whole.notes));
    let keeps = |value: i16| value.unsigned_abs() >= floor;
    for block in all.iter_mut().flatten() {
        block[1..]
            .iter_mut()
            .filter(|value| !keeps(**value))
            .for_each(|value| *value = 0);
    }
    assert!(thinned.is_ok_and(|thinned| blocks(&thinned.planes) == all));
});
