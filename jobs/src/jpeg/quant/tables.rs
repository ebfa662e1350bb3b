//! Quantisation tables: the base table, its scale, and no step finer than the source's.
//!
//! The base is the table of Watson, Taylor and Borthwick (1997, "DCTune perceptual optimization of compressed dental
//! X-rays"), the sixth of mozjpeg, with a finer DC and coarser middle luma frequencies; found by comparing SSIMULACRA2
//! at equal bytes over photographs. One number scales it.

use crate::jpeg::encode::Role;
use crate::jpeg::frame::QuantTable;

/// Row and column of each zigzag index, as `8 * row + column` (T.81 figure A.6).
pub const NATURAL: [u8; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20,
    13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59,
    52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
];

/// Steps in natural order at scale 1.
#[rustfmt::skip]
const WATSON: [u8; 64] = [
      7,   8,  10,  14,  23,  44,  95, 241,
      8,   8,  11,  15,  25,  47, 102, 255,
     10,  11,  13,  19,  31,  58, 127, 255,
     14,  15,  19,  27,  44,  83, 181, 255,
     23,  25,  31,  44,  72, 136, 255, 255,
     44,  47,  58,  83, 136, 255, 255, 255,
     95, 102, 127, 181, 255, 255, 255, 255,
    241, 255, 255, 255, 255, 255, 255, 255,
];

/// Logarithm of the change to luma steps at distances from DC; linear between.
const LUMA_CHANGE: [(f32, f32); 5] = [(1.0, 0.0), (2.0, 0.24), (3.5, 0.12), (5.5, 0.0), (9.0, 0.2)];
/// Logarithm of the change to the DC step.
const DC_CHANGE: f32 = -0.2;
/// Coarsest step of an 8-bit table.
const COARSEST: f32 = 255.0;
/// Scales at which every step not limited by [`COARSEST`] differs visibly from its neighbours.
pub const SCALES: (f32, f32) = (0.01, 60.0);

/// Distance of zigzag index `k` from DC.
pub fn radius(k: usize) -> f32 {
    let (row, column) = (f32::from(NATURAL[k] / 8), f32::from(NATURAL[k] % 8));
    row.hypot(column)
}

/// Linear interpolation through rising `points`, constant outside.
pub fn interpolate(points: &[(f32, f32)], x: f32) -> f32 {
    let after = points.partition_point(|&(at, _)| at <= x);
    match (after.checked_sub(1).map(|i| points[i]), points.get(after)) {
        (Some((x0, y0)), Some(&(x1, y1))) => y0 + (y1 - y0) * (x - x0) / (x1 - x0),
        (Some((_, y)), None) | (None, Some(&(_, y))) => y,
        (None, None) => 0.0,
    }
}

/// The step wanted at zigzag index `k`, before any limit.
///
/// Fine scales flatten the table: near the source's own quality high frequencies matter more.
pub fn wanted(role: Role, k: usize, scale: f32) -> f32 {
    let change = match (k, role) {
        (0, _) => DC_CHANGE,
        (_, Role::Detail) => interpolate(&LUMA_CHANGE, radius(k)),
        (_, Role::Chroma) => 0.0,
    };
    let base = f32::from(WATSON[usize::from(NATURAL[k])]) * change.exp();
    16.0 * (base / 16.0).powf(power(scale)) * scale
}

/// Exponent of the table at `scale`.
fn power(scale: f32) -> f32 {
    (1.0 + scale.ln()).clamp(0.4, 1.0)
}

/// The table for one component at `scale`: never a step finer than the source's.
///
/// A step a little coarser than the source's rounds twice, and keeping the source's own step there was tried: over 13
/// photographs it gained nothing at 600,000 and 1,000,000 bytes and lost up to a point of SSIMULACRA2 at 300,000.
pub fn table(role: Role, scale: f32, source: &QuantTable) -> QuantTable {
    let mut steps = [0; 64];
    for (k, step) in steps.iter_mut().enumerate() {
        let wanted = stagger(k, wanted(role, k, scale)) as u16;
        *step = wanted.max(source.0[k]);
    }
    QuantTable(steps)
}

/// By zigzag index, how many times coarser than wanted the steps of [`table`] are: 1 but where the source's own step forbids a
/// finer one.
pub fn excess(role: Role, scale: f32, table: &QuantTable) -> [f32; 64] {
    let wanted = |k: usize| stagger(k, wanted(role, k, scale));
    std::array::from_fn(|k| (f32::from(table.0[k]) / wanted(k)).max(1.0))
}

/// The scale whose table is about as coarse as `table`: the median over the frequencies that carry most of a picture.
pub fn scale_of(role: Role, table: &QuantTable) -> f32 {
    let mut scales: Vec<f32> = (0..15)
        .map(|k| f32::from(table.0[k]) / wanted(role, k, 1.0))
        .collect();
    scales.sort_by(f32::total_cmp);
    scales[7]
}

/// Rounds a step up or down by an amount that differs between indices, so that not all steps jump at the same scale and
/// size falls smoothly with scale.
fn stagger(k: usize, step: f32) -> f32 {
    // Golden-ratio sequence: evenly spread over any run of indices.
    let offset = (k as f32 * 0.618_034).fract();
    (step + 0.1 + 0.8 * offset).floor().clamp(1.0, COARSEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn zigzag_order_is_a_permutation_that_walks_diagonals() {
        let mut seen = NATURAL;
        seen.sort_unstable();
        assert!((0..64).eq(seen.map(usize::from)));
        let diagonal = |k: usize| NATURAL[k] / 8 + NATURAL[k] % 8;
        assert!((1..64).all(|k| diagonal(k) >= diagonal(k - 1)));
    }

    #[test]
    fn interpolation_meets_its_points_and_stays_flat_outside() {
        let at = |x| interpolate(&LUMA_CHANGE, x);
        assert_eq!((at(0.0), at(2.0), at(12.0)), (0.0, 0.24, 0.2));
        assert!((at(1.5) - 0.12).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn steps_are_never_finer_than_the_sources(
            scale in 0.01_f32..60.0,
            source in prop::collection::vec(1_u16..600, 64),
        ) {
            let source = QuantTable(source.try_into().expect("64"));
            for role in [Role::Detail, Role::Chroma] {
                let new = table(role, scale, &source);
                for k in 0..64 {
                    prop_assert!(new.0[k] >= source.0[k]);
                    prop_assert!(new.0[k] == source.0[k] || new.0[k] <= 255);
                    let excess = excess(role, scale, &new)[k];
                    prop_assert!(excess == 1.0 || excess > 1.0 && new.0[k] == source.0[k]);
                }
            }
        }
    }
}
