//! Against colours computed here from the standards' own formulas.

use super::*;
use crate::raster::Carried;
use proptest::prelude::*;

fn raster(layout: Layout, depth: Depth, samples: Vec<u8>, icc: Option<Vec<u8>>) -> Raster {
    let width = (samples.len() / layout.channels() / depth.bytes()) as u32;
    Raster {
        width,
        height: 1,
        layout,
        depth,
        samples,
        carried: Carried {
            icc,
            ..Carried::default()
        },
    }
}

fn converted(raster: Raster) -> Raster {
    let budget = Budget::new(1 << 24, 1 << 24);
    match to_srgb(raster, &budget) {
        Ok(Converted::Srgb(raster)) => raster,
        other => panic!("{other:?}"),
    }
}

/// IEC 61966-2-1: a linear value as sRGB, 0 to 255.
fn encoded(linear: f64) -> f64 {
    let linear = linear.clamp(0.0, 1.0);
    let value = if linear <= 0.003_130_8 {
        12.92 * linear
    } else {
        1.055 * linear.powf(1.0 / 2.4) - 0.055
    };
    255.0 * value
}

fn decoded(value: f64) -> f64 {
    let value = value / 255.0;
    if value <= 0.040_45 {
        value / 12.92
    } else {
        ((value + 0.055) / 1.055).powf(2.4)
    }
}

/// Linear RGB of given primaries (white D65) as linear sRGB.
fn through(matrix: [[f64; 3]; 3], linear: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row.iter().zip(linear).map(|(a, b)| a * b).sum())
}

/// Display P3 to sRGB, both D65 (from the primaries of SMPTE EG 432-1 and BT.709).
const P3: [[f64; 3]; 3] = [
    [1.224_940, -0.224_940, 0.0],
    [-0.042_057, 1.042_057, 0.0],
    [-0.019_638, -0.078_636, 1.098_274],
];
/// Adobe RGB (1998) to sRGB, both D65.
const ADOBE: [[f64; 3]; 3] = [
    [1.398_356, -0.398_356, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, -0.042_939, 1.042_939],
];

const COLOURS: [[u8; 3]; 7] = [
    [255, 255, 255],
    [0, 0, 0],
    [128, 128, 128],
    [200, 100, 50],
    [60, 180, 90],
    [30, 60, 220],
    [250, 240, 10],
];

fn check(icc: Vec<u8>, matrix: [[f64; 3]; 3], linear: impl Fn(f64) -> f64) {
    let done = converted(raster(
        Layout::Rgb,
        Depth::Eight,
        COLOURS.concat(),
        Some(icc),
    ));
    assert_eq!(done.carried, Carried::default());
    for (colour, got) in COLOURS.iter().zip(done.samples.chunks_exact(3)) {
        let expected = through(matrix, colour.map(|value| linear(f64::from(value)))).map(encoded);
        for (expected, got) in expected.iter().zip(got) {
            assert!(
                (expected - f64::from(*got)).abs() <= 1.6,
                "{colour:?}: {expected} {got}"
            );
        }
    }
}

#[test]
fn display_p3_and_adobe_rgb_become_the_colours_they_are() {
    let icc = |profile: ColorProfile| profile.encode().unwrap_or_default();
    check(icc(ColorProfile::new_display_p3()), P3, decoded);
    check(icc(ColorProfile::new_adobe_rgb()), ADOBE, |value| {
        (value / 255.0).powf(563.0 / 256.0)
    });
}

#[test]
fn sixteen_bits_and_alpha_stay() {
    let icc = ColorProfile::new_display_p3().encode().ok();
    let words: [u16; 4] = [200 * 257, 100 * 257, 50 * 257, 12_345];
    let samples = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let done = converted(raster(Layout::Rgba, Depth::Sixteen, samples, icc));
    let got: Vec<u16> = done
        .samples
        .chunks_exact(2)
        .map(|pair| u16::from_ne_bytes([pair[0], pair[1]]))
        .collect();
    let expected = through(P3, [200.0, 100.0, 50.0].map(decoded)).map(encoded);
    for (expected, got) in expected.iter().zip(&got) {
        assert!(
            (expected * 257.0 - f64::from(*got)).abs() < 200.0,
            "{expected} {got}"
        );
    }
    assert_eq!(got[3], 12_345);
}

#[test]
fn gray_of_gamma_one_becomes_the_gray_a_person_sees() {
    let icc = ColorProfile::new_gray_with_gamma(1.0).encode().ok();
    let samples = vec![0, 255, 55, 1, 128];
    let done = converted(raster(Layout::Gray, Depth::Eight, samples.clone(), icc));
    for (before, got) in samples.iter().zip(&done.samples) {
        let expected = encoded(f64::from(*before) / 255.0);
        assert!(
            (expected - f64::from(*got)).abs() <= 1.6,
            "{before}: {expected} {got}"
        );
    }
}

#[test]
fn gamma_and_primaries_alone_are_enough() {
    let tone = |gamma, primaries| Tone { gamma, primaries };
    let p3 = [
        31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6_000,
    ];
    let mut from = raster(Layout::Rgb, Depth::Eight, COLOURS.concat(), None);
    from.carried.gamma_only = Some(tone(Some(50_000), Some(p3)));
    let done = converted(from);
    assert_eq!(done.carried, Carried::default());
    for (colour, got) in COLOURS.iter().zip(done.samples.chunks_exact(3)) {
        let linear = colour.map(|value| (f64::from(value) / 255.0).powi(2));
        for (expected, got) in through(P3, linear).map(encoded).iter().zip(got) {
            assert!(
                (expected - f64::from(*got)).abs() <= 1.6,
                "{colour:?}: {expected} {got}"
            );
        }
    }
    assert!(is_srgb(tone(Some(45_455), None)));
    assert!(is_srgb(tone(
        Some(45_455),
        Some([
            31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000
        ])
    )));
    assert!(!is_srgb(tone(Some(100_000), None)) && !is_srgb(tone(None, Some(p3))));
}

#[test]
fn what_says_srgb_changes_nothing_and_what_says_nothing_is_srgb() {
    let icc = ColorProfile::new_srgb().encode().ok();
    for icc in [icc, None] {
        let done = converted(raster(Layout::Rgb, Depth::Eight, COLOURS.concat(), icc));
        assert_eq!(done.samples, COLOURS.concat());
        assert_eq!(done.carried.icc, None);
    }
    // A profile for other pixels is ignored by every reader.
    let gray = ColorProfile::new_gray_with_gamma(1.0).encode().ok();
    let done = converted(raster(Layout::Rgb, Depth::Eight, COLOURS.concat(), gray));
    assert_eq!((done.samples, done.carried.icc), (COLOURS.concat(), None));
}

#[test]
fn a_damaged_profile_never_fails_a_picture() {
    let budget = Budget::new(1 << 24, 1 << 24);
    let whole = ColorProfile::new_display_p3().encode().unwrap_or_default();
    for icc in [b"profile".to_vec(), Vec::new(), whole[..140].to_vec()] {
        let from = raster(
            Layout::Rgb,
            Depth::Eight,
            COLOURS.concat(),
            Some(icc.clone()),
        );
        match to_srgb(from, &budget) {
            Ok(Converted::Kept(same, Note::Stayed(_))) => {
                assert_eq!(
                    (same.samples, same.carried.icc),
                    (COLOURS.concat(), Some(icc))
                );
            }
            other => panic!("{other:?}"),
        }
    }
}

/// A profile of ink whose table has two points a side: lightness falls with each ink, a and b are those of its colour.
fn ink() -> Vec<u8> {
    let mut table = b"mft1\0\0\0\0\x04\x03\x02\0".to_vec();
    for n in 0..9 {
        let one: i32 = if n % 4 == 0 { 0x1_0000 } else { 0 };
        table.extend_from_slice(&one.to_be_bytes());
    }
    for _ in 0..4 {
        table.extend(0..=255_u8);
    }
    for n in 0..16_u8 {
        let (c, m, y, k) = (n >> 3 & 1, n >> 2 & 1, n >> 1 & 1, n & 1);
        let light = if k == 1 || c + m + y == 3 {
            0
        } else {
            255 - 60 * (c + m + y)
        };
        table.extend_from_slice(&[light, 128, 128]);
    }
    for _ in 0..3 {
        table.extend(0..=255_u8);
    }
    let mut icc = vec![0; 128];
    icc[8] = 2;
    icc[12..24].copy_from_slice(b"prtrCMYKLab ");
    icc[36..40].copy_from_slice(b"acsp");
    for (at, value) in [(68, 0xf6d6_u32), (72, 0x1_0000), (76, 0xd32d)] {
        icc[at..at + 4].copy_from_slice(&value.to_be_bytes());
    }
    icc.extend_from_slice(&3_u32.to_be_bytes());
    let offset = 132 + 3 * 12;
    for name in [b"A2B0", b"A2B1", b"A2B2"] {
        icc.extend_from_slice(name);
        icc.extend_from_slice(&(offset as u32).to_be_bytes());
        icc.extend_from_slice(&(table.len() as u32).to_be_bytes());
    }
    icc.extend_from_slice(&table);
    let length = icc.len() as u32;
    icc[..4].copy_from_slice(&length.to_be_bytes());
    icc
}

#[test]
fn ink_becomes_colour_by_its_profile_and_not_without() {
    let inks = [[0, 0, 0, 0], [0, 0, 0, 255], [0, 0, 0, 128], [255, 0, 0, 0]];
    let from = raster(Layout::Cmyk, Depth::Eight, inks.concat(), Some(ink()));
    let done = converted(from);
    assert_eq!(done.layout, Layout::Rgb);
    // CIE 15: Y of a lightness; neutral, so all three are alike.
    let gray = |light: f64| {
        let f = (light + 16.0) / 116.0;
        let y = if light > 8.0 {
            f.powi(3)
        } else {
            light / 903.3
        };
        encoded(y)
    };
    let lights = [100.0, 0.0, 100.0 * 127.0 / 255.0, 100.0 * 195.0 / 255.0];
    for (light, got) in lights.iter().zip(done.samples.chunks_exact(3)) {
        for sample in got {
            assert!(
                (gray(*light) - f64::from(*sample)).abs() <= 3.0,
                "{light}: {got:?}"
            );
        }
    }
    let budget = Budget::new(1 << 24, 1 << 24);
    let bare = raster(Layout::Cmyk, Depth::Eight, inks.concat(), None);
    assert!(matches!(to_srgb(bare, &budget), Ok(Converted::NoProfile)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn no_damage_to_a_profile_fails_a_picture(
        flips in proptest::collection::vec((0..3000_usize, any::<u8>()), 1..8), cut in 0..4000_usize, paper in any::<bool>()
    ) {
        let whole = if paper { ink() } else { ColorProfile::new_display_p3().encode().unwrap_or_default() };
        let mut icc = whole;
        for (at, value) in flips {
            let length = icc.len();
            icc[at % length] = value;
        }
        icc.truncate(cut.max(100));
        let layout = if paper { Layout::Cmyk } else { Layout::Rgb };
        let budget = Budget::new(1 << 24, 1 << 24);
        let samples = vec![100; 12];
        let done = to_srgb(raster(layout, Depth::Eight, samples, Some(icc.clone())), &budget);
        prop_assert!(done.is_ok());
        judge(&icc, layout);
    }
}
