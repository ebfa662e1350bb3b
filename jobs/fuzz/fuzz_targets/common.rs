//! What both targets need.

use pressroom_jobs::jpeg::plane::Plane;
use pressroom_jobs::{Budget, Source};

/// A file in memory.
pub struct Memory<'a>(pub &'a [u8]);

impl Source for Memory<'_> {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read_at(offset, buffer)
    }
}

/// Small enough for many runs a second.
pub fn budget() -> Budget {
    Budget::new(1 << 25, 1 << 19)
}

/// All coefficients, in zigzag order.
pub fn blocks(planes: &[Plane]) -> Vec<Vec<[i16; 64]>> {
    let rows = |plane: &Plane| {
        let blocks = (0..plane.down()).flat_map(|row| plane.row(row));
        let block = blocks.map(|(dc, words)| {
            let mut block = [0; 64];
            block[0] = dc;
            words.for_each(|(index, value)| block[index] = value);
            block
        });
        block.collect()
    };
    planes.iter().map(rows).collect()
}
