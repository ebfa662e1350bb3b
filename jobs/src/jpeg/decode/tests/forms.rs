//! Every legal form comes back as it was forged.

use super::forge::{Forge, Random, TestCode};
use super::*;
use crate::jpeg::frame::Coding;
use crate::jpeg::plane::Words;
use proptest::prelude::*;

/// Decodes whole and row by row, compares both with what was forged.
fn check(forge: &Forge, keep: &Survivors) {
    let bytes = forge.bytes();
    let picture = decode(bytes.clone(), keep).expect("a legal file");
    assert_eq!(picture.frame, forge.frame);
    assert_eq!(picture.notes, []);
    assert_eq!(picture.trailer, bytes.len() as u64..bytes.len() as u64);
    for (component, table) in forge.frame.components.iter().zip(&picture.tables) {
        assert!((0..64).all(|index| table.0[index] == forge.step(component.table, index)));
    }
    let expected = expected(forge, keep);
    assert_eq!(blocks(&picture.planes), expected);
    let (source, budget) = (Memory(bytes), budget());
    let mut rows = vec![Vec::new(); expected.len()];
    let mut visit = |_: u32, planes: &[Plane]| {
        for (all, row) in rows.iter_mut().zip(blocks(planes)) {
            all.extend(row);
        }
        Ok(())
    };
    let decoder = Decoder::open(&source, &budget).expect("a legal file");
    decoder.rows(keep, &mut visit).expect("a legal file");
    assert_eq!(rows, expected);
    assert_eq!(
        read_header(&source, &budget).expect("a legal file").frame,
        forge.frame
    );
}

fn sampling() -> impl Strategy<Value = Vec<(u8, u8)>> {
    let all = prop::collection::vec((1_u8..=4, 1_u8..=4), 1..=4);
    all.prop_filter("at most 10 blocks in an MCU", |all| {
        all.iter().map(|&(h, v)| u32::from(h * v)).sum::<u32>() <= 10
    })
}

fn survivors(random: &mut Random) -> Survivors {
    match random.below(5) {
        0 => Survivors::all(),
        1 => Survivors::from_floors([[1 + random.below(5) as u16; 64]; 4]),
        2 => {
            Survivors::from_floors([(); 4].map(|()| [(); 64].map(|()| 2 + random.below(6) as u16)))
        }
        _ => Survivors::from_floors([(); 4].map(|()| [(); 64].map(|()| random.below(9) as u16))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn sequential(
        seed in any::<u64>(), width in 1_u16..100, height in 1_u16..70, sampling in sampling(),
        separate in any::<bool>(), restart in 0_u16..9, skewed in any::<bool>(), extended in any::<bool>(),
        wide in any::<bool>(), dnl in any::<bool>(), fill in 0_usize..3,
    ) {
        let coding = if extended { Coding::Extended } else { Coding::Baseline };
        let mut forge = Forge::random(seed, width, height, &sampling, coding);
        let mut random = Random(seed | 1);
        if separate {
            forge = forge.separate();
        }
        if skewed {
            forge.ac = TestCode::skewed(&mut random, 256);
            forge.dc = TestCode::skewed(&mut random, 12);
        } else if seed % 3 == 0 {
            forge.implied_codes = true;
        }
        (forge.restart, forge.wide, forge.dnl, forge.fill) = (restart, wide, dnl, fill);
        check(&forge, &survivors(&mut random));
    }

    #[test]
    fn progressive(
        seed in any::<u64>(), width in 1_u16..100, height in 1_u16..70, sampling in sampling(), restart in 0_u16..9,
        fill in 0_usize..3, dnl in any::<bool>(),
    ) {
        let mut random = Random(seed | 1);
        let mut forge = Forge::random(seed, width, height, &sampling, Coding::Progressive).progression(&mut random);
        (forge.restart, forge.fill, forge.dnl) = (restart, fill, dnl);
        check(&forge, &survivors(&mut random));
    }
}

#[test]
fn segments_are_kept_byte_for_byte_and_in_order() {
    let mut bytes = Forge::random(5, 30, 30, &[(1, 1)], Coding::Baseline).bytes();
    let big = vec![7_u8; 65_533];
    let segments: [(u8, &[u8]); 6] = [
        (0xe1, b"Exif\0\0"),
        (0xfe, b""),
        (0xe2, &big),
        (0xef, b"x"),
        (0xe0, b"JFIF\0"),
        (0xe1, &big),
    ];
    let mut front = Vec::new();
    for (marker, payload) in segments {
        front.extend([0xff, marker]);
        front.extend((payload.len() as u16 + 2).to_be_bytes());
        front.extend(payload);
    }
    bytes.splice(2..2, front);
    bytes.extend(b"behind");
    let end = bytes.len() as u64;
    let picture = decode(bytes, &Survivors::all()).expect("a legal file");
    let found: Vec<_> = picture
        .segments
        .iter()
        .map(|s| (s.marker, s.payload.as_slice()))
        .collect();
    assert_eq!(found, segments);
    assert_eq!(picture.trailer, end - 6..end);
    assert_eq!(picture.second_parts, []);
}

#[test]
fn segments_between_scans_are_kept() {
    let forge = Forge::random(5, 30, 30, &[(1, 1), (1, 1)], Coding::Baseline).separate();
    let mut bytes = forge.bytes();
    let scans: Vec<_> = (0..bytes.len())
        .filter(|&n| bytes[n..].starts_with(&[0xff, 0xda]))
        .collect();
    bytes.splice(scans[1]..scans[1], [0xff, 0xfe, 0, 4, b'h', b'i']);
    let picture = decode(bytes, &Survivors::all()).expect("a legal file");
    assert_eq!(picture.segments.len(), 1);
    assert_eq!(blocks(&picture.planes), expected(&forge, &Survivors::all()));
}

#[test]
fn memory_stays_at_one_row_when_rows_are_visited() {
    let forge = Forge::random(9, 400, 4000, &[(2, 2), (1, 1), (1, 1)], Coding::Baseline);
    let source = Memory(forge.bytes());
    let (whole, rows) = (budget(), budget());
    read(&source, &whole, &Survivors::all()).expect("a legal file");
    let decoder = Decoder::open(&source, &rows).expect("a legal file");
    decoder
        .rows(&Survivors::all(), &mut |_, _| Ok(()))
        .expect("a legal file");
    assert!(
        rows.peak() * 3 < whole.peak(),
        "{} against {}",
        rows.peak(),
        whole.peak()
    );
}

#[test]
fn more_than_the_budget_is_refused() {
    let source =
        Memory(Forge::random(9, 900, 900, &[(2, 2), (1, 1), (1, 1)], Coding::Baseline).bytes());
    let tight = Budget::new(200_000, 1 << 28);
    let error = read(&source, &tight, &Survivors::all()).expect_err("it needs more");
    assert!(
        matches!(error, Error::OverBudget { cap: 200_000, .. }),
        "{error}"
    );
    let small = Budget::new(1 << 28, 900 * 899);
    let error = read_header(&source, &small).expect_err("it is larger");
    assert!(
        matches!(
            error,
            Error::TooManyPixels {
                width: 900,
                height: 900,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_blind_sample_tells_what_the_blocks_hold() {
    for (restart, skewed) in [(0, true), (4, false), (1, true), (0, false)] {
        let mut forge = Forge::random(8, 1600, 1200, &[(2, 1), (1, 1), (1, 1)], Coding::Baseline);
        forge.restart = restart;
        if skewed {
            forge.ac = TestCode::skewed(&mut Random(4), 256);
        }
        let (source, budget) = (Memory(forge.bytes()), budget());
        let header = read_header(&source, &budget).expect("a legal file");
        let sample = presample::sample(&source, &header, &budget).expect("readable");
        let sample = sample.expect("worth a sample");
        assert!(sample.mcus > 80, "{} MCUs", sample.mcus);
        for (component, blocks) in sample
            .components
            .iter()
            .zip(expected(&forge, &Survivors::all()))
        {
            let all: usize = blocks
                .iter()
                .map(|block| block[1..].iter().filter(|&&v| v != 0).count())
                .sum();
            let seen = Words::new(&component.words).count();
            let (truth, guess) = (
                all as f64 / blocks.len() as f64,
                seen as f64 / component.differences.len() as f64,
            );
            assert!(
                (guess / truth - 1.0).abs() < 0.2,
                "{guess} coefficients a block, {truth} in truth"
            );
        }
    }
}

#[test]
fn small_and_progressive_files_are_not_sampled() {
    for (width, coding) in [(60, Coding::Baseline), (1200, Coding::Progressive)] {
        let mut forge = Forge::random(21, width, 900, &[(1, 1)], coding);
        if coding == Coding::Progressive {
            forge = forge.progression(&mut Random(3));
        }
        let (source, budget) = (Memory(forge.bytes()), budget());
        let header = read_header(&source, &budget).expect("a legal file");
        assert!(
            presample::sample(&source, &header, &budget)
                .expect("readable")
                .is_none()
        );
    }
}
