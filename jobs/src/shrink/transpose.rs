//! Rows become columns: bytes in memory, eight by eight at a time.

use crate::{Budget, Error};

/// Columns of a plane of `width` by `height` bytes as rows.
///
/// # Errors
/// [`Error::OverBudget`].
pub(super) fn transposed(
    plane: &[u8],
    (width, height): (usize, usize),
    budget: &Budget,
) -> Result<Vec<u8>, Error> {
    let mut out = budget.vec(width * height)?;
    out.resize(width * height, 0);
    for top in (0..height).step_by(8) {
        for left in (0..width).step_by(8) {
            tile(plane, width, &mut out, height, (left, top));
        }
    }
    Ok(out)
}

/// Puts the tile of up to eight by eight whose first byte lies at `left` and `top` where it belongs.
#[inline(always)]
fn tile(from: &[u8], width: usize, to: &mut [u8], height: usize, (left, top): (usize, usize)) {
    if left + 8 > width || top + 8 > height {
        for y in top..height.min(top + 8) {
            for x in left..width.min(left + 8) {
                to[x * height + y] = from[y * width + x];
            }
        }
        return;
    }
    let row = |y: usize| from[(top + y) * width + left..].first_chunk();
    let rows: [u64; 8] = std::array::from_fn(|y| row(y).map_or(0, |row| u64::from_le_bytes(*row)));
    for (x, column) in turned(rows).into_iter().enumerate() {
        if let Some(place) = to[(left + x) * height + top..].first_chunk_mut() {
            *place = column.to_le_bytes();
        }
    }
}

/// Transposes eight rows of eight bytes: halves change places at distances of four, two and one.
#[inline(always)]
fn turned(mut rows: [u64; 8]) -> [u64; 8] {
    const STEPS: [(usize, u64); 3] = [
        (4, 0x0000_0000_ffff_ffff),
        (2, 0x0000_ffff_0000_ffff),
        (1, 0x00ff_00ff_00ff_00ff),
    ];
    for (distance, mask) in STEPS {
        for y in (0..8).filter(|y| y & distance == 0) {
            let (upper, lower) = (rows[y], rows[y + distance]);
            rows[y] = (upper & mask) | (lower & mask) << (8 * distance);
            rows[y + distance] = (upper >> (8 * distance) & mask) | (lower & !mask);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_goes_where_it_belongs_at_all_sizes() {
        let budget = Budget::new(1 << 20, 1 << 20);
        for (width, height) in [(1, 1), (8, 8), (7, 9), (16, 8), (19, 35), (40, 3)] {
            let plane: Vec<u8> = (0..width * height).map(|n| (n * 7 % 251) as u8).collect();
            let out = transposed(&plane, (width, height), &budget).unwrap_or_default();
            assert_eq!(out.len(), plane.len());
            for (n, &byte) in out.iter().enumerate() {
                assert_eq!(
                    byte,
                    plane[n % height * width + n / height],
                    "{width}x{height}"
                );
            }
        }
    }
}
