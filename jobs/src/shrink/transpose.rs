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
fn turned([a, b, c, d, e, f, g, h]: [u64; 8]) -> [u64; 8] {
    let ((a, e), (b, f)) = (exchanged::<32>(a, e), exchanged::<32>(b, f));
    let ((c, g), (d, h)) = (exchanged::<32>(c, g), exchanged::<32>(d, h));
    let ((a, c), (b, d)) = (exchanged::<16>(a, c), exchanged::<16>(b, d));
    let ((e, g), (f, h)) = (exchanged::<16>(e, g), exchanged::<16>(f, h));
    let ((a, b), (c, d)) = (exchanged::<8>(a, b), exchanged::<8>(c, d));
    let ((e, f), (g, h)) = (exchanged::<8>(e, f), exchanged::<8>(g, h));
    [a, b, c, d, e, f, g, h]
}

/// Every other `BITS` bits of the upper row change places with those before them in the lower row.
#[inline(always)]
fn exchanged<const BITS: u32>(upper: u64, lower: u64) -> (u64, u64) {
    let mask = const { u64::MAX / ((1 << BITS) + 1) };
    let differ = (upper >> BITS ^ lower) & mask;
    (upper ^ differ << BITS, lower ^ differ)
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
