//! Halved planes against averages of samples.

use super::*;

fn frame(width: u16, height: u16, h: u8, v: u8) -> Frame {
    Frame::new(
        Coding::Baseline,
        width,
        height,
        &[(1, h, v, 0), (2, 1, 1, 1), (3, 1, 1, 1)],
    )
}

/// Samples of a plane by the textbook inverse transform.
fn samples(plane: &Plane, component: &Component) -> Vec<Vec<f64>> {
    let (across, down) = (
        component.blocks_across as usize,
        component.blocks_down as usize,
    );
    let mut out = vec![vec![0.0; 8 * across]; 8 * down];
    let wave = |u: usize, x: usize| {
        let norm = if u == 0 { 0.125_f64.sqrt() } else { 0.5 };
        norm * ((2 * x + 1) as f64 * u as f64 * std::f64::consts::PI / 16.0).cos()
    };
    for row in 0..down {
        for (column, (dc, words)) in plane.row(row).take(across).enumerate() {
            for (k, value) in std::iter::once((0, dc)).chain(words) {
                let natural = usize::from(NATURAL[k]);
                for y in 0..8 {
                    for x in 0..8 {
                        out[8 * row + y][8 * column + x] +=
                            f64::from(value) * wave(natural / 8, y) * wave(natural % 8, x);
                    }
                }
            }
        }
    }
    out
}

/// A plane of smooth but lively content, in steps of 1.
fn plane(component: &Component, budget: &Budget) -> Plane {
    let (across, down) = (
        component.blocks_across as usize,
        component.blocks_down as usize,
    );
    let mut plane = Plane::new(across, down, 1, budget).expect("fits");
    let mut writer = plane.writer(0);
    for n in 0..across * down {
        let value = |k: usize| (((n * 37 + k * 101) % 401) as i16 - 200) / (k as i16 + 1);
        let fill = |room: &mut [u16; MAX_WORDS]| {
            (1..64).filter(|&k| value(k) != 0).fold(0, |words, k| {
                words + put_word(&mut room[words..], k, value(k))
            })
        };
        writer.block(value(0) * 3, budget, fill).expect("fits");
    }
    plane
}

#[test]
fn halved_samples_are_the_averages() {
    let budget = Budget::new(1 << 26, 1 << 30);
    for (h, v) in [(1, 1), (2, 1), (1, 2)] {
        for (width, height) in [(64, 48), (40, 24), (33, 57), (7, 9), (24, 40)] {
            let before = frame(width, height, h, v);
            let halving = Halving::of(&before, true, true).expect("can be halved");
            let after = halving.frame(&before);
            let source = plane(&before.components[1], &budget);
            let halver = Halver::new(halving, &STEPS, &[0.0; 64]);
            let halved = halver
                .plane(
                    &source,
                    &before.components[1],
                    &after.components[1],
                    &budget,
                )
                .expect("fits");
            let (was, is) = (
                samples(&source, &before.components[1]),
                samples(&halved, &after.components[1]),
            );
            let (fx, fy) = (
                1 + usize::from(halving.across),
                1 + usize::from(halving.down),
            );
            for y in 0..was.len() / fy {
                for x in 0..was[0].len() / fx {
                    let window = (0..fy).flat_map(|b| (0..fx).map(move |a| (a, b)));
                    let sum: f64 = window.map(|(a, b)| was[y * fy + b][x * fx + a]).sum();
                    let average = sum / (fx * fy) as f64;
                    // Sixty-four coefficients each rounded by at most a half add up to a few at most.
                    assert!(
                        (is[y][x] - average).abs() < 3.0,
                        "{x} {y}: {} {average}",
                        is[y][x]
                    );
                }
            }
        }
    }
}

#[test]
fn only_three_plain_components_are_halved() {
    assert_eq!(Halving::of(&frame(8, 8, 2, 2), true, true), None);
    let gray = Frame::new(Coding::Baseline, 8, 8, &[(1, 1, 1, 0)]);
    assert_eq!(Halving::of(&gray, true, true), None);
    let half = Halving::of(&frame(8, 8, 1, 1), true, false).expect("can be halved");
    assert_eq!(
        half,
        Halving {
            across: true,
            down: false
        }
    );
    assert_eq!(half.frame(&frame(8, 8, 1, 1)).components[0].v, 1);
}

/// Found by fuzzing: such a result could not be decoded again.
#[test]
fn magnitudes_that_no_picture_has_stay_codable() {
    let before = frame(16, 16, 1, 1);
    let halving = Halving::of(&before, true, true).expect("full chroma");
    let after = halving.frame(&before);
    let budget = Budget::new(1 << 20, 1 << 20);
    let mut plane = Plane::new(2, 2, 1, &budget).expect("fits");
    for sign in [1, -1, 1, -1] {
        let block = plane.writer(0).block(2047 * sign, &budget, |room| {
            put_word(room, 1, 1023) + put_word(&mut room[2..], 2, -1023)
        });
        block.expect("fits");
    }
    let halver = Halver::new(halving, &QuantTable([255; 64]), &[0.0; 64]);
    let halved = halver
        .plane(&plane, &before.components[1], &after.components[1], &budget)
        .expect("fits");
    let mut seen = 0;
    for (dc, words) in halved.row(0) {
        for value in words.map(|(_, value)| value).chain([dc]) {
            assert!(value.unsigned_abs() <= 2047, "{value}");
            seen = seen.max(value.unsigned_abs());
        }
    }
    assert_eq!(seen, 2047);
}
