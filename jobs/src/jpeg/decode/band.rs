//! One MCU row of a progressive component in the making: every scan adds to it, then it leaves for the sparse plane.
//!
//! Each block has 64 coefficients in zigzag order and a mask of those that are not zero: refinement, which must tell the
//! two apart for every coefficient, walks over the mask's bits only, and empty blocks cost nothing.

use crate::jpeg::frame::Component;
use crate::jpeg::plane::{MAX_WORDS, Plane, put_word};
use crate::{Budget, Error};

/// The blocks of one component in one MCU row, padded to whole MCUs.
pub(super) struct Band {
    /// DC values.
    pub(super) dc: Vec<i16>,
    /// Bit `k` is set where AC coefficient `k` is not zero.
    pub(super) masks: Vec<u64>,
    /// Coefficients whose bit is set; the others may hold anything.
    pub(super) values: Vec<[i16; 64]>,
    /// Blocks across.
    pub(super) across: usize,
}

impl Band {
    /// Room for an MCU row of `component`.
    pub(super) fn new(component: &Component, budget: &Budget) -> Result<Self, Error> {
        let across = component.padded_across as usize;
        let count = across * usize::from(component.v);
        let mut band = Self {
            dc: budget.vec(count)?,
            masks: budget.vec(count)?,
            values: budget.vec(count)?,
            across,
        };
        band.dc.resize(count, 0);
        band.masks.resize(count, 0);
        band.values.resize(count, [0; 64]);
        Ok(band)
    }

    /// Gives the memory back.
    pub(super) fn free(self, budget: &Budget) {
        budget.free(self.dc);
        budget.free(self.masks);
        budget.free(self.values);
    }

    /// Hands the finished row on to `plane` and begins the next.
    pub(super) fn finish(
        &mut self,
        row: u32,
        component: &Component,
        plane: &mut Plane,
        floors: &[u16; 64],
        budget: &Budget,
    ) -> Result<(), Error> {
        let visible = row * u32::from(component.v)..component.blocks_down;
        for ((n, lane), _) in plane.lanes_mut().iter_mut().enumerate().zip(visible) {
            lane.begin_row(budget)?;
            let first = n * self.across;
            let span = first..first + component.blocks_across as usize;
            let blocks = self.dc[span.clone()].iter().zip(&self.masks[span.clone()]);
            for ((&dc, &mask), values) in blocks.zip(&self.values[span]) {
                let mut words = 0;
                if mask != 0 {
                    words = sparse(mask, values, floors, lane.room(budget)?);
                }
                lane.commit(dc, words);
            }
        }
        self.masks.fill(0);
        Ok(())
    }
}

/// The coefficients in `mask` that are not below their floor, as words; returns how many words.
#[inline(always)]
fn sparse(
    mut mask: u64,
    values: &[i16; 64],
    floors: &[u16; 64],
    room: &mut [u16; MAX_WORDS],
) -> usize {
    let mut words = 0;
    while mask != 0 {
        let index = mask.trailing_zeros() as usize & 63;
        mask &= mask - 1;
        let value = values[index];
        if value.unsigned_abs() >= floors[index] {
            words += put_word(&mut room[words..], index, value);
        }
    }
    words
}
