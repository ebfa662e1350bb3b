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
        match self.size {
            1 => self.write::<1>(block, out, stride),
            2 => self.write::<2>(block, out, stride),
            4 => self.write::<4>(block, out, stride),
            _ => self.write::<8>(block, out, stride),
        }
    }

    fn write<const N: usize>(&self, block: &[f32; 64], out: &mut [u8], stride: usize) {
        for (y, row) in self.rows::<N>(block, 128.5).iter().enumerate() {
            for (out, sample) in out[y * stride..y * stride + N].iter_mut().zip(row) {
                // Truncation after the half that was added rounds; the cast saturates.
                *out = *sample as u8;
            }
        }
    }

    /// Rows of samples around `level`, `N` of them, which must be the size.
    pub(crate) fn rows<const N: usize>(&self, block: &[f32; 64], level: f32) -> [[f32; N]; N] {
        let mut rows = [[level; N]; N];
        for v in 0..N {
            let (mut half, mut used) = ([0f32; N], false);
            for (u, &value) in block[8 * v..8 * v + N].iter().enumerate() {
                if value != 0.0 {
                    used = true;
                    let basis = &self.basis[8 * u..8 * u + N];
                    half.iter_mut()
                        .zip(basis)
                        .for_each(|(sum, basis)| *sum += value * basis);
                }
            }
            // Most rows of frequencies are empty.
            if !used {
                continue;
            }
            for (row, weight) in rows.iter_mut().zip(&self.basis[8 * v..8 * v + N]) {
                row.iter_mut()
                    .zip(&half)
                    .for_each(|(sum, value)| *sum += weight * value);
            }
        }
        rows
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
