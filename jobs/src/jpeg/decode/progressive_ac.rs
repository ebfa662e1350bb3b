//! Scans of AC coefficients in a progressive picture: first ones (T.81 G.1.2.2) and refinements (G.1.2.3).

use super::coefficients::AC_BITS;
use super::fault::Fault;
use super::feed::{Cursor, Feed};
use super::huffman::{Lookup, extend};

/// A band of one component's AC coefficients in one scan.
pub(super) struct Ac {
    /// Index of the component in the frame.
    pub(super) component: usize,
    /// Code of runs and sizes.
    pub(super) code: Box<Lookup>,
    /// Whether earlier scans brought the same band.
    pub(super) refines: bool,
    /// First zigzag index.
    pub(super) start: u32,
    /// Last zigzag index.
    pub(super) end: u32,
    /// Blocks to come that end with their band.
    pub(super) ended: u32,
}

impl Ac {
    /// T.81 G.1.2.2.
    pub(super) fn first(
        &mut self,
        feed: &mut Feed<'_>,
        cursor: &mut Cursor,
        masks: &mut [u64],
        values: &mut [[i16; 64]],
        low: u32,
    ) -> Result<(), Fault> {
        let mut blocks = masks.iter_mut().zip(values);
        while blocks.len() > 0 {
            if self.ended > 0 {
                let skipped = blocks.len().min(self.ended as usize);
                self.ended -= skipped as u32;
                blocks.nth(skipped - 1);
                continue;
            }
            if let Some((mask, values)) = blocks.next() {
                self.first_block(feed, cursor, mask, values, low)?;
            }
            if cursor.starved() {
                return Err(Fault::Starved);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn first_block(
        &mut self,
        feed: &mut Feed<'_>,
        cursor: &mut Cursor,
        mask: &mut u64,
        values: &mut [i16; 64],
        low: u32,
    ) -> Result<(), Fault> {
        let mut index = self.start;
        while index <= self.end {
            cursor.refill(feed);
            let (length, symbol) = self.code.symbol(cursor.acc).ok_or(Fault::Code)?;
            cursor.consume(length);
            let (run, size) = (u32::from(symbol >> 4), u32::from(symbol & 15));
            index += run;
            if size > 0 {
                if index > self.end {
                    return Err(Fault::Run);
                }
                if size + low > AC_BITS {
                    return Err(Fault::Range);
                }
                values[index as usize & 63] = (extend(cursor.acc, size) << low) as i16;
                *mask |= 1 << index;
                cursor.consume(size);
            } else if run < 15 {
                self.ended = (1 << run) + cursor.take(run) - 1;
                return Ok(());
            }
            index += 1;
        }
        Ok(())
    }

    /// T.81 G.1.2.3.
    pub(super) fn refine(
        &mut self,
        feed: &mut Feed<'_>,
        cursor: &mut Cursor,
        masks: &mut [u64],
        values: &mut [[i16; 64]],
        low: u32,
    ) -> Result<(), Fault> {
        let step = 1_i16 << low;
        let band = (u64::MAX << self.start) & (u64::MAX >> (63 - self.end));
        for (mask, values) in masks.iter_mut().zip(values) {
            // Coefficients that are not zero yet to be corrected.
            let mut known = *mask & band;
            if self.ended == 0 {
                self.refine_block(feed, cursor, mask, values, &mut known, step)?;
            }
            if self.ended > 0 {
                self.ended -= 1;
                while known != 0 {
                    correct(feed, cursor, values, &mut known, step);
                }
            }
            if cursor.starved() {
                return Err(Fault::Starved);
            }
        }
        Ok(())
    }

    /// Up to the end of the band, or to a run of ended bands.
    #[inline(always)]
    fn refine_block(
        &mut self,
        feed: &mut Feed<'_>,
        cursor: &mut Cursor,
        mask: &mut u64,
        values: &mut [i16; 64],
        known: &mut u64,
        step: i16,
    ) -> Result<(), Fault> {
        let mut index = self.start;
        while index <= self.end {
            cursor.refill(feed);
            let (length, symbol) = self.code.symbol(cursor.acc).ok_or(Fault::Code)?;
            cursor.consume(length);
            let (run, size) = (u32::from(symbol >> 4), u32::from(symbol & 15));
            // A new coefficient is one step from zero; other sizes mean nothing (libjpeg warns of them).
            if size > 1 {
                return Err(Fault::Range);
            }
            if size == 0 && run < 15 {
                self.ended = (1 << run) + cursor.take(run);
                return Ok(());
            }
            let fresh = (2 * cursor.take(size) as i16 - 1) * step;
            // The run counts zeros only: every coefficient passed that is none moves the goal.
            index += run;
            while *known != 0 && known.trailing_zeros() <= index {
                correct(feed, cursor, values, known, step);
                index += 1;
            }
            if size == 1 {
                if index > self.end {
                    return Err(Fault::Run);
                }
                values[index as usize & 63] = fresh;
                *mask |= 1 << index;
            }
            index += 1;
        }
        Ok(())
    }
}

/// Reads one more bit of the lowest coefficient in `known` (T.81 figure G.7) and takes it out.
#[inline(always)]
fn correct(
    feed: &mut Feed<'_>,
    cursor: &mut Cursor,
    values: &mut [i16; 64],
    known: &mut u64,
    step: i16,
) {
    if cursor.bits == 0 {
        cursor.refill(feed);
    }
    let value = &mut values[known.trailing_zeros() as usize & 63];
    *known &= *known - 1;
    // Away from zero by `step` if the bit is set; which is chance, so there is no branch.
    let sign = *value >> 15;
    let set = -(cursor.take(1) as i16);
    *value = value.wrapping_add(((step ^ sign) - sign) & set);
}
