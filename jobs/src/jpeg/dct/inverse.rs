//! The inverse transform of a block at a size of 8, 4, 2 or 1 samples a side: of the 64 coefficients only the low ones of that
//! size are used, which is a sharp and cheap way to halve a picture (T.81 A.3.3 for the full size).

use std::f32::consts::PI;

/// A transform back to `size` samples a side.
#[derive(Debug)]
pub(crate) struct Inverse {
    size: usize,
    /// Weight of frequency `u` at sample `x`, at `8 * u + x`.
    basis: [f32; 64],
}

impl Inverse {
    /// `size` is 1, 2, 4 or 8.
    pub(crate) fn new(size: usize) -> Self {
        let mut basis = [0.0; 64];
        let length = size as f32;
        for u in 0..size {
            // Orthonormal weights, times what makes a flat block keep its level at any size.
            let norm = if u == 0 {
                (1.0 / length).sqrt()
            } else {
                (2.0 / length).sqrt()
            };
            for x in 0..size {
                let angle = (2.0 * x as f32 + 1.0) * u as f32 * PI / (2.0 * length);
                basis[8 * u + x] = norm * (length / 8.0).sqrt() * angle.cos();
            }
        }
        Self { size, basis }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Whether the coefficient at `8 * row + column` is used at all.
    pub(crate) fn uses(&self, natural: u8) -> bool {
        usize::from(natural) / 8 < self.size && usize::from(natural) % 8 < self.size
    }

    /// Samples of a block of dequantised coefficients at `8 * row + column`, written to `out` at a distance of `stride`
    /// a row.
    pub(crate) fn samples(&self, block: &[f32; 64], out: &mut [u8], stride: usize) {
        let size = self.size;
        self.each_row(block, 128.5, |y, row| {
            for (out, sample) in out[y * stride..y * stride + size].iter_mut().zip(row) {
                // Truncation after the half that was added rounds; the cast saturates.
                *out = *sample as u8;
            }
        });
    }

    /// Calls `put` with each row of samples around `level`.
    pub(crate) fn each_row(
        &self,
        block: &[f32; 64],
        level: f32,
        mut put: impl FnMut(usize, &[f32; 8]),
    ) {
        let size = self.size;
        let mut half = [[0f32; 8]; 8];
        for (v, half) in half.iter_mut().enumerate().take(size) {
            for u in 0..size {
                let value = block[8 * v + u];
                if value != 0.0 {
                    let basis = &self.basis[8 * u..8 * u + 8];
                    half.iter_mut()
                        .zip(basis)
                        .for_each(|(sum, basis)| *sum += value * basis);
                }
            }
        }
        for y in 0..size {
            let mut row = [level; 8];
            for (v, half) in half.iter().enumerate().take(size) {
                let weight = self.basis[8 * v + y];
                row.iter_mut()
                    .zip(half)
                    .for_each(|(sum, value)| *sum += weight * value);
            }
            put(y, &row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_block_keeps_its_level_at_every_size() {
        let mut block = [0.0; 64];
        block[0] = 8.0 * (200.0 - 128.0);
        for size in [1, 2, 4, 8] {
            let mut out = [0; 64];
            Inverse::new(size).samples(&block, &mut out, 8);
            for y in 0..size {
                assert!(
                    out[8 * y..8 * y + size].iter().all(|&sample| sample == 200),
                    "{size}"
                );
            }
        }
    }

    #[test]
    fn a_ramp_stays_a_ramp() {
        let mut samples = [0; 64];
        let ramp: [u8; 64] = std::array::from_fn(|n| (40 + 20 * (n % 8)) as u8);
        let block = super::super::forward(&ramp.map(|sample| f32::from(sample) - 128.0));
        Inverse::new(8).samples(&block, &mut samples, 8);
        assert_eq!(samples, ramp);
        let mut small = [0; 64];
        Inverse::new(4).samples(&block, &mut small, 8);
        for (x, sample) in small[..4].iter().enumerate() {
            assert!(sample.abs_diff(50 + 40 * x as u8) <= 3, "{sample}");
        }
    }
}
