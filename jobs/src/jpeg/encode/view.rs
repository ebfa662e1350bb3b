//! What is written: the blocks of a plane that hold picture, with the cheapest last coefficients left out.
//!
//! Requantising ranks each block by how little its last coefficient is worth; a [`View`] with a [`Cut`] leaves out that
//! coefficient wherever the rank lies below the cut. That is how a result is brought down by exactly a few bytes without
//! requantising again.

use crate::jpeg::frame::Component;
use crate::jpeg::plane::{Plane, Row, Words};

/// Ranks below which last coefficients are left out, in 256ths of a rank.
///
/// Many blocks share a rank, so of the rank that the cut goes through, blocks are chosen evenly over the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cut(pub u16);

impl Cut {
    /// Leaves out nothing.
    pub const NOTHING: Self = Self(0);
    /// Leaves out every last coefficient that has a rank.
    pub const EVERYTHING: Self = Self(255 << 8);

    /// Whether block `number` of rank `rank` loses its last coefficient.
    #[inline(always)]
    fn takes(self, rank: u8, number: usize) -> bool {
        // An odd multiplier visits all 256 values in an order that looks random.
        let place = (number.wrapping_mul(0x9E5) >> 2) as u8;
        u16::from(rank) << 8 | u16::from(place) < self.0
    }
}

/// The picture's blocks of one component.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    plane: &'a Plane,
    /// Rank of each block in raster order, or empty.
    ranks: &'a [u8],
    cut: Cut,
    across: usize,
    down: usize,
}

impl<'a> View<'a> {
    /// All of `plane` that holds picture; padding to whole MCUs is left out.
    pub fn whole(plane: &'a Plane, component: &Component) -> Self {
        Self {
            plane,
            ranks: &[],
            cut: Cut::NOTHING,
            across: component.blocks_across as usize,
            down: component.blocks_down as usize,
        }
    }

    /// All rows that `plane` has, of `component`.
    pub fn rows(plane: &'a Plane, component: &Component) -> Self {
        Self {
            down: plane.down(),
            ..Self::whole(plane, component)
        }
    }

    /// Without the last coefficients that `cut` takes; `ranks` holds one for each picture block.
    pub fn cut(self, ranks: &'a [u8], cut: Cut) -> Self {
        debug_assert_eq!(ranks.len(), self.across * self.down);
        Self { ranks, cut, ..self }
    }

    /// Blocks across.
    pub fn across(&self) -> usize {
        self.across
    }

    /// Blocks in all.
    pub fn blocks(&self) -> usize {
        self.across * self.down
    }

    /// Block rows.
    pub fn down(&self) -> usize {
        self.down
    }

    /// Blocks of row `row` as the plane has them.
    pub fn source_row(&self, row: usize) -> Row<'a> {
        self.plane.row(row)
    }

    /// Blocks of row `row`; none below the picture.
    pub fn row(&self, row: usize) -> ViewRow<'a> {
        let blocks = if row < self.down {
            self.plane.row(row).up_to(self.across)
        } else {
            Row::default()
        };
        let first = row * self.across;
        ViewRow {
            blocks,
            ranks: self.ranks.get(first..).unwrap_or_default(),
            cut: self.cut,
            first,
        }
    }
}

/// One row of a [`View`].
#[derive(Debug, Clone)]
pub struct ViewRow<'a> {
    blocks: Row<'a>,
    /// Of the row's blocks and what is behind them, or empty.
    ranks: &'a [u8],
    cut: Cut,
    /// Number of the row's first block.
    first: usize,
}

impl<'a> ViewRow<'a> {
    /// DC values of the blocks left.
    pub fn dc_values(&self) -> &'a [i16] {
        self.blocks.dc_values()
    }

    /// The next block with coefficients: its column and what it has.
    #[inline(always)]
    pub fn next_filled(&mut self) -> Option<(usize, Words<'a>)> {
        self.blocks.skip_empty();
        let column = self.blocks.column();
        let (_, words) = self.next()?;
        Some((column, words))
    }
}

impl<'a> Iterator for ViewRow<'a> {
    /// DC value and AC coefficients.
    type Item = (i16, Words<'a>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let column = self.blocks.column();
        let (dc, words) = self.blocks.next()?;
        let cut = match self.ranks.get(column) {
            Some(&rank) => self.cut.takes(rank, self.first + column),
            None => false,
        };
        Some((dc, if cut { words.without_last() } else { words }))
    }
}
