//! The writer against its own counts, over random planes of every shape.

use super::*;
use crate::Budget;
use crate::jpeg::decode::{Survivors, read};
use crate::jpeg::frame::Coding;
use crate::jpeg::plane::{MAX_WORDS, Plane, put_word};
use proptest::prelude::*;

/// A small generator, so that a case is one number.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

fn random_plane(
    component: &crate::jpeg::frame::Component,
    density: u64,
    random: &mut Random,
) -> Plane {
    let budget = Budget::new(1 << 26, 1 << 30);
    let (across, down) = (
        component.padded_across as usize,
        component.padded_down as usize,
    );
    let v = usize::from(component.v);
    let mut plane = Plane::new(across, down, v, &budget).expect("fits");
    for row in 0..down {
        let mut writer = plane.writer(row % v);
        for _ in 0..across {
            let empty = random.below(4) == 0;
            let mut words = [0_u16; MAX_WORDS];
            let mut count = 0;
            for index in 1..64 {
                if !empty && random.below(64) < density {
                    let size = random.below(10);
                    let value = random.below(1 << size) as i16 + 1;
                    let value = if random.below(2) == 0 { value } else { -value };
                    count += put_word(&mut words[count..], index, value.clamp(-1023, 1023));
                }
            }
            let dc = random.below(2048) as i16 - 1024;
            writer
                .block(dc, &budget, |room| {
                    *room = words;
                    count
                })
                .expect("fits");
        }
    }
    plane
}

/// Bytes without the zeros stuffed after 0xFF inside scans; a segment's length may look like one.
fn unstuffed(bytes: &[u8]) -> u64 {
    let (mut at, mut stuffed) = (2, 0);
    while at + 3 < bytes.len() {
        at += match bytes[at..at + 2] {
            [0xFF, 0x00] => {
                stuffed += 1;
                2
            }
            [0xFF, _] => 2 + usize::from(u16::from_be_bytes([bytes[at + 2], bytes[at + 3]])),
            _ => 1,
        };
    }
    (bytes.len() - stuffed) as u64
}

/// A table of 255 bytes has a length that looks like a stuffed zero: found by the test below.
#[test]
fn a_segments_length_is_no_stuffing() {
    let file = [
        0xFF, 0xD8, 0xFF, 0xC4, 0x00, 0x03, 0xFF, 0x00, 0xFF, 0x00, 1, 2,
    ];
    assert_eq!(unstuffed(&file), 11);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn written_bytes_are_the_counted_ones(
        seed in any::<u64>(), density in 0_u64..64, width in 1_u16..90, height in 1_u16..90,
        sampling in prop::collection::vec((1_u8..=2, 1_u8..=2), 1..=4),
    ) {
        let sampling: Vec<_> = (1..).zip(sampling).map(|(id, (h, v))| (id, h, v, 0)).collect();
        let frame = Frame::new(Coding::Baseline, width, height, &sampling);
        let mut random = Random(seed);
        let planes: Vec<_> = frame
            .components
            .iter()
            .map(|component| random_plane(component, density, &mut random))
            .collect();
        let pairs = planes.iter().zip(&frame.components);
        let views: Vec<_> = pairs.map(|(plane, component)| vec![View::whole(plane, component)]).collect();
        let roles: Vec<_> = (0..planes.len())
            .map(|c| if c % 3 == 0 { Role::Detail } else { Role::Chroma })
            .collect();
        // Steps without a zero byte, which would look stuffed behind an 0xFF.
        let tables = vec![QuantTable([3; 64]); planes.len()];
        let picture = Picture { frame: &frame, tables: &tables, roles: &roles, segments: &[], views: &views };
        for form in [Form::Sequential, Form::Progressive] {
            let counted = picture.count(form).expect("counting cannot fail");
            let mut out = Vec::new();
            let written = picture.write(&counted, &mut out).expect("a vector takes everything");
            prop_assert_eq!(written, out.len() as u64);
            prop_assert_eq!(picture.bytes(&counted), unstuffed(&out));
        }
        let blocks: Vec<_> = views.iter().map(|views| counted_by_blocks(&views[0])).collect();
        let (Counted::Sequential(whole), Counted::Sequential(joined)) =
            (picture.count(Form::Sequential).expect("counting cannot fail"), picture.count_in_mcus(&blocks))
        else {
            panic!("both are sequential");
        };
        prop_assert_eq!(whole.histograms, joined.histograms);
    }
}

/// AC symbols as a pass over one component counts them, in raster order.
fn counted_by_blocks(view: &View<'_>) -> progressive::Statistics {
    let mut counts = progressive::Statistics::default();
    let mut band = progressive::Band::sequential(1);
    for row in 0..view.down() {
        for (_, mut words) in view.row(row) {
            band.block(&mut words, &mut counts);
        }
    }
    counts
}

/// A picture of random planes written by `scans` and decoded again has the same coefficients, in as many bytes as counted.
fn comes_back(frame: &Frame, planes: &[Plane], scans: impl Fn(&Picture<'_>) -> Counted) {
    let pairs = planes.iter().zip(&frame.components);
    let views: Vec<_> = pairs
        .map(|(plane, component)| vec![View::whole(plane, component)])
        .collect();
    let roles: Vec<_> = (0..planes.len())
        .map(|c| {
            if c % 3 == 0 {
                Role::Detail
            } else {
                Role::Chroma
            }
        })
        .collect();
    let tables = vec![QuantTable([3; 64]); planes.len()];
    let picture = Picture {
        frame,
        tables: &tables,
        roles: &roles,
        segments: &[],
        views: &views,
    };
    let counted = scans(&picture);
    let mut out = Vec::new();
    picture
        .write(&counted, &mut out)
        .expect("a vector takes everything");
    assert_eq!(picture.bytes(&counted), unstuffed(&out));
    let budget = Budget::new(1 << 26, 1 << 30);
    let again = read(&out.as_slice(), &budget, &Survivors::all()).expect("own output");
    assert!(again.notes.is_empty(), "{:?}", again.notes);
    for ((plane, component), again) in planes.iter().zip(&frame.components).zip(&again.planes) {
        for row in 0..component.blocks_down as usize {
            let blocks = |plane: &Plane| -> Vec<(i16, Vec<(usize, i16)>)> {
                let row = plane.row(row).take(component.blocks_across as usize);
                row.map(|(dc, words)| (dc, words.collect())).collect()
            };
            assert_eq!(blocks(plane), blocks(again), "row {row}");
        }
    }
}

/// Every component with `low` bits left to refinement, its bands and the refinement split at `split`.
fn by_bits(picture: &Picture<'_>, low: u8, split: usize) -> Counted {
    let ranges: &[Range] = &[(1, split), (split + 1, 63)];
    let mut scans = Vec::new();
    for (c, views) in picture.views.iter().enumerate() {
        let mut kinds = vec![Kind::Dc { low }];
        kinds.extend(ranges.iter().map(|&range| Kind::Band { range, low }));
        for low in (0..low).rev() {
            kinds.push(Kind::DcBits { low });
            kinds.extend(ranges.iter().map(|&range| Kind::BandBits { range, low }));
        }
        for kind in kinds {
            scans.push(Scan::count(c, 0, &views[0], kind).expect("counting cannot fail"));
        }
    }
    scans.sort_by_key(|scan| scan.kind.place());
    Counted::Progressive(scans)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn refined_pictures_come_back(
        seed in any::<u64>(), density in 0_u64..64, width in 1_u16..90, height in 1_u16..90,
        sampling in prop::collection::vec((1_u8..=2, 1_u8..=2), 1..=3), low in 0_u8..5, split in 1_usize..63,
    ) {
        let sampling: Vec<_> = (1..).zip(sampling).map(|(id, (h, v))| (id, h, v, 0)).collect();
        let frame = Frame::new(Coding::Baseline, width, height, &sampling);
        let mut random = Random(seed);
        let components = frame.components.iter();
        let planes: Vec<_> = components.map(|component| random_plane(component, density, &mut random)).collect();
        comes_back(&frame, &planes, |picture| by_bits(picture, low, split));
        comes_back(&frame, &planes, |picture| {
            let smallest = |search| script::smallest(picture, search).expect("counting cannot fail");
            let usual = picture.count(Form::Progressive).expect("counting cannot fail");
            let quick = smallest(script::Search::Quick);
            let every = smallest(script::Search::Every);
            assert!(picture.bytes(&quick) <= picture.bytes(&usual));
            assert!(picture.bytes(&every) <= picture.bytes(&quick));
            every
        });
    }
}

/// Runs of ended blocks longer than one symbol can tell, with and without bits held for them.
#[test]
fn the_longest_runs_come_back() {
    let frame = Frame::new(Coding::Baseline, 1480, 1480, &[(1, 1, 1, 0)]);
    let budget = Budget::new(1 << 26, 1 << 30);
    let component = &frame.components[0];
    let (across, down) = (
        component.padded_across as usize,
        component.padded_down as usize,
    );
    assert!(across * down > 0x7FFF);
    for value in [0, 1, 2, 300] {
        let mut plane = Plane::new(across, down, 1, &budget).expect("fits");
        for block in 0..across * down {
            plane
                .writer(0)
                .block(0, &budget, |room| {
                    let is_there = value != 0 && (block % 7 == 0 || block > 0x7FF0 && value > 1);
                    if is_there {
                        put_word(room, 9, value)
                    } else {
                        0
                    }
                })
                .expect("fits");
        }
        comes_back(&frame, &[plane], |picture| by_bits(picture, 2, 5));
    }
}
