//! Damage is told, never padded over; nothing panics or hangs.

use super::forge::{Forge, Random};
use super::*;
use crate::Note;
use crate::jpeg::frame::Coding;

fn photo_like(coding: Coding) -> Forge {
    let mut forge = Forge::random(77, 90, 60, &[(2, 2), (1, 1), (1, 1)], coding);
    if coding == Coding::Progressive {
        forge = forge.progression(&mut Random(5));
    }
    forge
}

/// Files of every kind, small enough for thousands of decodes.
fn kinds() -> Vec<Vec<u8>> {
    let mut kinds = Vec::new();
    for coding in [Coding::Baseline, Coding::Progressive] {
        for restart in [0, 3] {
            let mut forge = photo_like(coding);
            forge.restart = restart;
            kinds.push(forge.bytes());
        }
    }
    kinds.push(photo_like(Coding::Baseline).separate().bytes());
    kinds
}

#[test]
fn every_truncation_is_refused() {
    for bytes in kinds() {
        for length in 0..bytes.len() - 2 {
            let result = decode(bytes[..length].to_vec(), &Survivors::all());
            let error = result.expect_err("something is missing");
            assert!(is_damage(&error), "at {length}: {error}");
        }
    }
}

#[test]
fn a_missing_end_marker_is_noted() {
    for bytes in kinds() {
        for missing in 1..=2 {
            let cut = bytes[..bytes.len() - missing].to_vec();
            let picture = decode(cut, &Survivors::all()).expect("all data is there");
            assert_eq!(
                picture.notes,
                [Note::Repaired("the end marker is missing".into())]
            );
            assert!(picture.trailer.is_empty());
        }
    }
}

#[test]
fn stray_bytes_before_markers_are_noted() {
    let bytes = photo_like(Coding::Baseline).bytes();
    let scan = (0..bytes.len())
        .find(|&n| bytes[n..].starts_with(&[0xff, 0xda]))
        .expect("a scan");
    for place in [2, scan, bytes.len() - 2] {
        let mut odd = bytes.clone();
        odd.splice(place..place, [1, 2, 3]);
        let picture = decode(odd, &Survivors::all()).expect("nothing is missing");
        assert_eq!(picture.notes.len(), 1, "at {place}: {:?}", picture.notes);
    }
}

#[test]
fn data_that_belongs_to_no_block_is_refused() {
    let bytes = photo_like(Coding::Baseline).bytes();
    let mut long = bytes.clone();
    let end = long.len() - 2;
    long.splice(end..end, vec![0x55; 40]);
    assert!(is_damage(
        &decode(long, &Survivors::all()).expect_err("data too much")
    ));
}

#[test]
fn restart_markers_out_of_order_are_refused() {
    for coding in [Coding::Baseline, Coding::Progressive] {
        let mut forge = photo_like(coding);
        forge.restart = 2;
        let bytes = forge.bytes();
        let markers: Vec<_> = (1..bytes.len())
            .filter(|&n| bytes[n - 1] == 0xff && (0xd0..=0xd7).contains(&bytes[n]))
            .collect();
        for &place in markers.iter().take(10) {
            let mut wrong = bytes.clone();
            wrong[place] = 0xd0 + (wrong[place] + 1) % 8;
            let error = decode(wrong, &Survivors::all()).expect_err("out of order");
            assert!(error.to_string().contains("restart marker"), "{error}");
            let mut gone = bytes.clone();
            gone.drain(place - 1..=place);
            assert!(is_damage(
                &decode(gone, &Survivors::all()).expect_err("one is missing")
            ));
        }
    }
}

#[test]
fn unsupported_forms_are_refused_by_name() {
    let bytes = photo_like(Coding::Baseline).bytes();
    let frame = (0..bytes.len())
        .find(|&n| bytes[n..].starts_with(&[0xff, 0xc0]))
        .expect("a frame");
    let names = [
        (0xc3, "lossless"),
        (0xc5, "hierarchical"),
        (0xc9, "arithmetic"),
        (0xca, "arithmetic"),
        (0xcb, "lossless"),
        (0xcd, "hierarchical"),
        (0xde, "hierarchical"),
        (0xf7, "JPEG-LS"),
    ];
    for (marker, name) in names {
        let mut other = bytes.clone();
        other[frame + 1] = marker;
        let error = decode(other, &Survivors::all()).expect_err("not supported");
        assert!(
            matches!(&error, Error::Unsupported(text) if text.contains(name)),
            "{error}"
        );
    }
    let mut deep = bytes.clone();
    (deep[frame + 1], deep[frame + 4]) = (0xc1, 12);
    let error = decode(deep, &Survivors::all()).expect_err("not supported");
    assert!(
        matches!(&error, Error::Unsupported(text) if text.contains("12-bit")),
        "{error}"
    );
}

#[test]
fn a_scan_bomb_ends_at_once() {
    let mut forge = Forge::random(3, 2400, 2400, &[(1, 1)], Coding::Progressive);
    forge.blocks[0].fill([0; 64]);
    forge.longest_run = 0x7fff;
    forge.ac = forge::TestCode::skewed(&mut Random(1), 256);
    let plan = |band, high, low| forge::ScanPlan {
        components: vec![0],
        band,
        high,
        low,
    };
    forge.scans = vec![plan((0, 0), 0, 0), plan((1, 1), 0, 13)];
    let bytes = forge.bytes();
    let last = (0..bytes.len())
        .rfind(|&n| bytes[n..].starts_with(&[0xff, 0xda]))
        .expect("a scan");
    let (front, scan) = (&bytes[..last], &bytes[last..bytes.len() - 2]);
    let mut bomb = front.to_vec();
    // Every coefficient by itself, bit by bit: legal, and the data of empty blocks is the same in each scan.
    for (index, low) in (1..64).flat_map(|index| (0..=13).rev().map(move |low| (index, low))) {
        let start = bomb.len();
        bomb.extend(scan);
        let high = if low == 13 { 0 } else { low + 1 };
        bomb[start + 7..start + 10].copy_from_slice(&[index, index, high << 4 | low]);
    }
    bomb.extend([0xff, 0xd9]);
    let error = decode(bomb, &Survivors::all()).expect_err("too many scans");
    assert!(
        matches!(&error, Error::Unsupported(text) if text.contains("scan bomb")),
        "{error}"
    );
}

#[test]
fn contradicting_scans_are_refused() {
    let mut forge = photo_like(Coding::Progressive);
    let last = forge.scans.last().cloned().expect("a scan");
    forge.scans.push(last);
    assert!(is_damage(
        &decode(forge.bytes(), &Survivors::all()).expect_err("sent twice")
    ));
    let mut twice = photo_like(Coding::Baseline).separate();
    twice.scans.push(twice.scans[0].clone());
    assert!(is_damage(
        &decode(twice.bytes(), &Survivors::all()).expect_err("sent twice")
    ));
    let mut missing = photo_like(Coding::Baseline).separate();
    missing.scans.pop();
    assert!(is_damage(
        &decode(missing.bytes(), &Survivors::all()).expect_err("one is missing")
    ));
}

#[test]
fn a_dc_value_out_of_range_is_refused() {
    let mut forge = Forge::random(1, 64, 8, &[(1, 1)], Coding::Baseline);
    for (n, block) in forge.blocks[0].iter_mut().enumerate() {
        *block = [0; 64];
        block[0] = 1000 * n as i16;
    }
    let error = decode(forge.bytes(), &Survivors::all()).expect_err("too bright");
    assert!(error.to_string().contains("out of range"), "{error}");
}

#[test]
fn thousands_of_mutations_neither_panic_nor_hang() {
    let (mut random, kinds) = (Random(2026), kinds());
    let (mut accepted, mut refused) = (0, 0);
    for n in 0..4000 {
        let mut bytes = kinds[n % kinds.len()].clone();
        for _ in 0..=random.below(6) {
            let place = random.below(bytes.len() as u64) as usize;
            match random.below(5) {
                0 => bytes[place] = random.below(256) as u8,
                1 => bytes[place] ^= 1 << random.below(8),
                2 => bytes[place] = 0xff,
                3 => {
                    drop(bytes.drain(place..bytes.len().min(place + 1 + random.below(9) as usize)))
                }
                _ => {
                    let copy = bytes[place..bytes.len().min(place + 20)].to_vec();
                    bytes.splice(place..place, copy);
                }
            }
            if bytes.is_empty() {
                bytes.push(0);
            }
        }
        let floor = 1 + (n % 4) as u16;
        match decode(bytes, &Survivors::from_floors([[floor; 64]; 4])) {
            Ok(_) => accepted += 1,
            Err(_) => refused += 1,
        }
    }
    // Much damage inside entropy-coded data cannot be seen, but most can.
    assert!(
        refused > accepted / 2 && accepted > 100,
        "{accepted} accepted, {refused} refused"
    );
}

/// Gives its bytes up to a point and an error behind it.
struct Failing(Vec<u8>, u64);

impl Source for Failing {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        if offset >= self.1 {
            return Err(std::io::Error::other("a bad sector"));
        }
        let most = buffer.len().min((self.1 - offset) as usize);
        self.0.as_slice().read_at(offset, &mut buffer[..most])
    }
}

#[test]
fn a_failing_medium_is_not_called_damage() {
    for bytes in kinds() {
        for place in (0..bytes.len() as u64 - 2).step_by(97) {
            let error = read(&Failing(bytes.clone(), place), &budget(), &Survivors::all());
            let error = error.expect_err("it cannot be read");
            assert!(matches!(error, Error::Read(_)), "at {place}: {error}");
        }
    }
}
