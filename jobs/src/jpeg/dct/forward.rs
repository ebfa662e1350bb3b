//! The forward transform of an 8 by 8 block (T.81 A.3.3), orthonormal and in floating point.
//!
//! Eight columns are transformed side by side, turned on their side, and transformed again: each step is the same for eight
//! numbers that lie next to each other.

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

/// Coefficients of a block of samples around 0, both at `8 * row + column`.
pub(crate) fn forward(samples: &[f32; 64]) -> [f32; 64] {
    let (rows, _) = samples.as_chunks::<8>();
    let mut block = Block::default();
    block.copy_from_slice(rows);
    let block = transform(&block);
    std::array::from_fn(|n| block[n / 8][n % 8])
}

/// The same by rows.
#[inline(always)]
pub(crate) fn transform(samples: &Block) -> Block {
    columns(&columns(samples))
}

/// Transforms the columns and gives them back as rows.
#[inline(always)]
fn columns(block: &Block) -> Block {
    let mut out = Block::default();
    for half in 0..2 {
        // Four columns at a time stay in registers.
        let four = |y: usize| -> [f32; 4] { std::array::from_fn(|x| block[y][4 * half + x]) };
        let waves = four_columns(std::array::from_fn(four));
        for x in 0..4 {
            out[4 * half + x] = std::array::from_fn(|v| waves[v][x]);
        }
    }
    out
}

#[inline(always)]
fn four_columns(rows: [[f32; 4]; 8]) -> [[f32; 4]; 8] {
    let [_, w1, w2, w3, w4, w5, w6, w7] = WAVE;
    let sums: [[f32; 4]; 4] = std::array::from_fn(|y| add(rows[y], rows[7 - y]));
    let gaps: [[f32; 4]; 4] = std::array::from_fn(|y| sub(rows[y], rows[7 - y]));
    let (outer, inner) = (add(sums[0], sums[3]), add(sums[1], sums[2]));
    let (outer_gap, inner_gap) = (sub(sums[0], sums[3]), sub(sums[1], sums[2]));
    let odd = |weights: [f32; 4]| {
        let near = add(scale(gaps[0], weights[0]), scale(gaps[1], weights[1]));
        let far = add(scale(gaps[2], weights[2]), scale(gaps[3], weights[3]));
        add(near, far)
    };
    [
        scale(add(outer, inner), w4),
        odd([w1, w3, w5, w7]),
        add(scale(outer_gap, w2), scale(inner_gap, w6)),
        odd([w3, -w7, -w1, -w5]),
        scale(sub(outer, inner), w4),
        odd([w5, -w1, w7, w3]),
        add(scale(outer_gap, w6), scale(inner_gap, -w2)),
        odd([w7, -w5, w3, -w1]),
    ]
}

#[inline(always)]
fn add(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
    std::array::from_fn(|n| a[n] + b[n])
}

#[inline(always)]
fn sub(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
    std::array::from_fn(|n| a[n] - b[n])
}

#[inline(always)]
fn scale(a: [f32; 4], by: f32) -> [f32; 4] {
    a.map(|a| a * by)
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
