//! The forward transform of an 8 by 8 block (T.81 A.3.3), orthonormal and in floating point.

use std::f32::consts::PI;
use std::sync::LazyLock;

/// Weight of sample `x` in frequency `u`, at `8 * x + u`.
static BASIS: LazyLock<[f32; 64]> = LazyLock::new(|| {
    std::array::from_fn(|n| {
        let (x, u) = (n / 8, n % 8);
        let norm = if u == 0 { (1.0f32 / 8.0).sqrt() } else { 0.5 };
        norm * ((2.0 * x as f32 + 1.0) * u as f32 * PI / 16.0).cos()
    })
});

/// Coefficients of a block of samples around 0, both at `8 * row + column`.
pub(crate) fn forward(samples: &[f32; 64]) -> [f32; 64] {
    let basis: &[f32; 64] = &BASIS;
    let mut rows = [0f32; 64];
    for y in 0..8 {
        let mut row = [0f32; 8];
        for x in 0..8 {
            let value = samples[8 * y + x];
            let weights = &basis[8 * x..8 * x + 8];
            row.iter_mut()
                .zip(weights)
                .for_each(|(sum, weight)| *sum += value * weight);
        }
        rows[8 * y..8 * y + 8].copy_from_slice(&row);
    }
    let mut block = [0f32; 64];
    for v in 0..8 {
        let mut out = [0f32; 8];
        for y in 0..8 {
            let weight = basis[8 * y + v];
            out.iter_mut()
                .zip(&rows[8 * y..8 * y + 8])
                .for_each(|(sum, value)| *sum += weight * value);
        }
        block[8 * v..8 * v + 8].copy_from_slice(&out);
    }
    block
}
