//! What a JPEG's headers say about its picture: sizes, components, tables, segments. No coefficients, no bits.

/// Largest number of components handled; more is refused by name.
pub const MAX_COMPONENTS: usize = 4;

/// A quantisation table in zigzag order, steps from 1 to 65535.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuantTable(pub [u16; 64]);

/// How the coefficients are coded (T.81 table B.1); everything else is refused by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// SOF0.
    Baseline,
    /// SOF1, eight bits.
    Extended,
    /// SOF2, eight bits.
    Progressive,
}

/// One component as the frame header declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// Identifier, kept as it came.
    pub id: u8,
    /// Horizontal sampling factor, 1 to 4.
    pub h: u8,
    /// Vertical sampling factor, 1 to 4.
    pub v: u8,
    /// Number of its quantisation table, 0 to 3.
    pub table: u8,
    /// Blocks across that hold picture (the width of a non-interleaved scan).
    pub blocks_across: u32,
    /// Blocks down that hold picture.
    pub blocks_down: u32,
    /// Blocks across padded to whole MCUs (the width in an interleaved scan).
    pub padded_across: u32,
    /// Blocks down padded to whole MCUs.
    pub padded_down: u32,
}

/// The frame header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// How the coefficients are coded.
    pub coding: Coding,
    /// Width in pixels.
    pub width: u16,
    /// Height in pixels.
    pub height: u16,
    /// 1 to 4 components.
    pub components: Vec<Component>,
    /// Largest horizontal sampling factor.
    pub h_max: u8,
    /// Largest vertical sampling factor.
    pub v_max: u8,
    /// MCUs across in an interleaved scan of all components.
    pub mcus_across: u32,
    /// MCUs down in an interleaved scan of all components.
    pub mcus_down: u32,
}

impl Frame {
    /// Lays out the blocks of every component (T.81 A.1.1 and A.2).
    ///
    /// `sampling` holds identifier, horizontal factor, vertical factor and table number of each component; factors are
    /// 1 to 4, width and height at least 1 (checked by the header reader).
    pub fn new(coding: Coding, width: u16, height: u16, sampling: &[(u8, u8, u8, u8)]) -> Self {
        let h_max = sampling.iter().map(|&(_, h, _, _)| h).max().unwrap_or(1);
        let v_max = sampling.iter().map(|&(_, _, v, _)| v).max().unwrap_or(1);
        let mcus_across = u32::from(width).div_ceil(8 * u32::from(h_max));
        let mcus_down = u32::from(height).div_ceil(8 * u32::from(v_max));
        let components = sampling
            .iter()
            .map(|&(id, h, v, table)| Component {
                id,
                h,
                v,
                table,
                blocks_across: (u32::from(width) * u32::from(h)).div_ceil(8 * u32::from(h_max)),
                blocks_down: (u32::from(height) * u32::from(v)).div_ceil(8 * u32::from(v_max)),
                padded_across: mcus_across * u32::from(h),
                padded_down: mcus_down * u32::from(v),
            })
            .collect();
        Self {
            coding,
            width,
            height,
            components,
            h_max,
            v_max,
            mcus_across,
            mcus_down,
        }
    }
}

/// An APPn or COM segment, kept byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Second byte of the marker: 0xE0 to 0xEF, or 0xFE.
    pub marker: u8,
    /// The payload without marker and length.
    pub payload: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_sizes_round_up_to_blocks_and_mcus() {
        let frame = Frame::new(
            Coding::Baseline,
            17,
            33,
            &[(1, 2, 2, 0), (2, 1, 1, 1), (3, 1, 1, 1)],
        );
        assert_eq!((frame.mcus_across, frame.mcus_down), (2, 3));
        let luma = &frame.components[0];
        assert_eq!(
            (
                luma.blocks_across,
                luma.blocks_down,
                luma.padded_across,
                luma.padded_down
            ),
            (3, 5, 4, 6)
        );
        let chroma = &frame.components[1];
        assert_eq!(
            (
                chroma.blocks_across,
                chroma.blocks_down,
                chroma.padded_across,
                chroma.padded_down
            ),
            (2, 3, 2, 3)
        );
    }
}
