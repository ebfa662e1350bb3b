//! The decoder against files forged in every legal form, against damage of every kind, and against libjpeg-turbo.

mod damage;
mod forge;
mod forms;
mod oracle;

use super::*;
use crate::Format;
use crate::jpeg::frame;
use forge::Forge;

/// A file in memory.
struct Memory(Vec<u8>);

impl Source for Memory {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        // Pieces of odd sizes, as a medium may give them.
        let most = buffer.len().min(1 + offset as usize % 5000);
        self.0.as_slice().read_at(offset, &mut buffer[..most])
    }
}

fn budget() -> Budget {
    Budget::new(1 << 28, 1 << 28)
}

fn decode(bytes: Vec<u8>, keep: &Survivors) -> Result<Picture, Error> {
    read(&Memory(bytes), &budget(), keep)
}

/// All coefficients of a picture's block rows, in zigzag order.
fn blocks(planes: &[Plane]) -> Vec<Vec<[i16; 64]>> {
    let block = |(dc, words): (i16, crate::jpeg::plane::Words<'_>)| {
        let mut block = [0; 64];
        block[0] = dc;
        words.for_each(|(index, value)| block[index] = value);
        block
    };
    let rows = |plane: &Plane| {
        (0..plane.down())
            .flat_map(|row| plane.row(row))
            .map(block)
            .collect()
    };
    planes.iter().map(rows).collect()
}

/// The blocks of `forge` that hold picture, less what `keep` drops.
fn expected(forge: &Forge, keep: &Survivors) -> Vec<Vec<[i16; 64]>> {
    let mut all = Vec::new();
    for (n, (component, blocks)) in forge.frame.components.iter().zip(&forge.blocks).enumerate() {
        let mut visible = Vec::new();
        let mut floors = *keep.floors(n);
        if forge.frame.coding != frame::Coding::Progressive
            && let (floor, false) = keep.sequential(n)
        {
            floors = [floor; 64];
        }
        for row in blocks
            .chunks(component.padded_across as usize)
            .take(component.blocks_down as usize)
        {
            for block in &row[..component.blocks_across as usize] {
                let mut block = *block;
                for (value, &floor) in block.iter_mut().zip(&floors).skip(1) {
                    if value.unsigned_abs() < floor {
                        *value = 0;
                    }
                }
                visible.push(block);
            }
        }
        all.push(visible);
    }
    all
}

/// Whether an error blames the file's content.
fn is_damage(error: &Error) -> bool {
    matches!(
        error,
        Error::Corrupt {
            format: Format::Jpeg,
            ..
        }
    )
}
