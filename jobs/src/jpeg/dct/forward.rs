//! The forward transform of an 8 by 8 block (T.81 A.3.3), orthonormal and in floating point.
//!
//! Rows are sums of weighted waves, columns the usual butterfly: each step is the same for numbers that lie next to each
//! other, which compilers turn into vector instructions as long as each half is a function of its own.

/// `cos(n * pi / 16) / 2`.
const WAVE: [f32; 8] = [
    0.5,
    0.490_392_64,
    0.461_939_77,
    0.415_734_8,
    0.353_553_39,
    0.277_785_12,
    0.191_341_72,
    0.097_545_16,
];

type Block = [[f32; 8]; 8];

/// Weight of sample `x` in frequency `u`, as `[x][u]`.
const BASIS: Block = {
    let mut basis = [[0.0; 8]; 8];
    let mut n = 0;
    while n < 64 {
        let (x, u) = (n / 8, n % 8);
        // In sixteenths of half a turn; a constant wave is lower by the root of a half, as is one of an eighth.
        let angle = if u == 0 { 4 } else { (2 * x + 1) * u % 32 };
        basis[x][u] = match angle {
            0..8 => WAVE[angle],
            8 | 24 => 0.0,
            9..17 => -WAVE[16 - angle],
            17..24 => -WAVE[angle - 16],
            _ => WAVE[32 - angle],
        };
        n += 1;
    }
    basis
};

/// Coefficients of a block of samples around 0, both at `8 * row + column`.
pub(crate) fn forward(samples: &[f32; 64]) -> [f32; 64] {
    let mut block = Block::default();
    for (row, samples) in block.iter_mut().zip(samples.as_chunks::<8>().0) {
        *row = *samples;
    }
    let block = transform(&block);
    std::array::from_fn(|n| block[n / 8][n % 8])
}

/// The same by rows.
pub(crate) fn transform(samples: &Block) -> Block {
    columns(&rows(samples))
}

/// Samples of coefficients, by rows: the same waves added up, for the few blocks that need it.
pub(crate) fn back(coefficients: &Block) -> Block {
    let along = |block: &Block| -> Block {
        let sum = |row: &[f32; 8], x: usize| (0..8).map(|u| row[u] * BASIS[x][u]).sum();
        std::array::from_fn(|x| std::array::from_fn(|y| sum(&block[y], x)))
    };
    // Each step turns rows into columns.
    along(&along(coefficients))
}

#[inline(never)]
fn rows(samples: &Block) -> Block {
    let mut out = Block::default();
    for (samples, out) in samples.iter().zip(&mut out) {
        let mut sums = [0f32; 8];
        for x in 0..8 {
            for u in 0..8 {
                sums[u] += samples[x] * BASIS[x][u];
            }
        }
        *out = sums;
    }
    out
}

#[inline(never)]
fn columns(rows: &Block) -> Block {
    let [_, w1, w2, w3, w4, w5, w6, w7] = WAVE;
    let mut out = Block::default();
    for x in 0..8 {
        let sum = |y: usize| rows[y][x] + rows[7 - y][x];
        let gap = |y: usize| rows[y][x] - rows[7 - y][x];
        let (outer, inner) = (sum(0) + sum(3), sum(1) + sum(2));
        let (outer_gap, inner_gap) = (sum(0) - sum(3), sum(1) - sum(2));
        let odd =
            |a: f32, b: f32, c: f32, d: f32| (gap(0) * a + gap(1) * b) + (gap(2) * c + gap(3) * d);
        out[0][x] = (outer + inner) * w4;
        out[1][x] = odd(w1, w3, w5, w7);
        out[2][x] = outer_gap * w2 + inner_gap * w6;
        out[3][x] = odd(w3, -w7, -w1, -w5);
        out[4][x] = (outer - inner) * w4;
        out[5][x] = odd(w5, -w1, w7, w3);
        out[6][x] = outer_gap * w6 - inner_gap * w2;
        out[7][x] = odd(w7, -w5, w3, -w1);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_sum_of_waves() {
        let samples: [f32; 64] = std::array::from_fn(|n| ((n * 89 + 31) % 255) as f32 - 127.0);
        let fast = forward(&samples);
        for (n, &value) in fast.iter().enumerate() {
            let wave = |frequency: usize, place: usize| {
                let angle = (2 * place + 1) as f64 * frequency as f64 * std::f64::consts::PI / 16.0;
                let norm = if frequency == 0 {
                    0.125_f64.sqrt()
                } else {
                    0.5
                };
                norm * angle.cos()
            };
            let part = |m: usize| f64::from(samples[m]) * wave(n % 8, m % 8) * wave(n / 8, m / 8);
            let slow: f64 = (0..64).map(part).sum();
            assert!(
                (slow - f64::from(value)).abs() < 1e-3,
                "{n}: {value} {slow}"
            );
        }
    }
}
