//! Progressive scans (T.81 G), all at once: each scan is a stream of its own, so every scan is advanced by one MCU row and
//! the finished row is handed on. Only one row of coefficients is ever held.
//!
//! Each block has 64 coefficients in zigzag order and a mask of those that are not zero; the mask makes refinement, which
//! must tell the two apart for every coefficient, a matter of bit counting.

use super::fault::Fault;
use super::feed::{Cursor, Feed};
use super::huffman::{Lookup, extend};
use super::markers::Scan;
use super::restarts::Restarts;
use super::sequential::{AC_BITS, DC_LIMIT};
use crate::jpeg::frame::{Component, Frame};
use crate::jpeg::plane::{Plane, put_word};
use crate::{Budget, Error, Note, Source};
use std::ops::Range;

/// One block in the making.
#[derive(Clone)]
struct Block {
    /// Bit `k` is set where coefficient `k` is not zero; bit 0 (DC) is never set.
    mask: u64,
    values: [i16; 64],
}

const EMPTY: Block = Block {
    mask: 0,
    values: [0; 64],
};

/// The blocks of one component in one MCU row, padded to whole MCUs.
pub(super) struct Band {
    blocks: Vec<Block>,
    across: usize,
}

impl Band {
    /// Room for an MCU row of `component`.
    pub(super) fn new(component: &Component, budget: &Budget) -> Result<Self, Error> {
        let across = component.padded_across as usize;
        let count = across * usize::from(component.v);
        let mut blocks = budget.vec(count)?;
        blocks.resize(count, EMPTY);
        Ok(Self { blocks, across })
    }

    /// Gives the memory back.
    pub(super) fn free(self, budget: &Budget) {
        budget.free(self.blocks);
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
        let rows = self.blocks.chunks_exact_mut(self.across);
        for ((blocks, lane), _) in rows.zip(plane.lanes_mut()).zip(visible) {
            lane.begin_row(budget)?;
            for block in &mut blocks[..component.blocks_across as usize] {
                let room = lane.room(budget)?;
                let (mut mask, mut words) = (block.mask, 0);
                while mask != 0 {
                    let index = mask.trailing_zeros() as usize;
                    mask &= mask - 1;
                    let value = block.values[index];
                    if value.unsigned_abs() >= floors[index] {
                        words += put_word(&mut room[words..], index, value);
                    }
                }
                lane.commit(block.values[0], words);
            }
        }
        self.blocks.fill(EMPTY);
        Ok(())
    }
}

/// A scan being decoded.
pub(super) struct Progressive<'a> {
    pub(super) feed: Feed<'a>,
    pub(super) cursor: Cursor,
    budget: &'a Budget,
    restarts: Restarts,
    kind: Kind,
    low: u32,
}

enum Kind {
    /// First scan of DC values: component, code, predictor.
    DcFirst(Vec<(usize, Box<Lookup>, i32)>),
    /// One more bit of the DC values of these components.
    DcRefine(Vec<usize>),
    /// A band of one component's AC coefficients.
    Ac(Ac),
}

struct Ac {
    component: usize,
    code: Box<Lookup>,
    refines: bool,
    start: u32,
    end: u32,
    /// Blocks to come that end with their band.
    ended: u32,
}

impl<'a> Progressive<'a> {
    /// Prepares to decode `scan`, whose parameters were checked.
    pub(super) fn new(
        source: &'a dyn Source,
        scan: &Scan,
        budget: &'a Budget,
    ) -> Result<Self, Error> {
        let end = scan.data_end.unwrap_or(source.len());
        let lookup = |code: &Option<_>| code.as_ref().map(|code| Box::new(Lookup::new(code)));
        let refines = scan.high > 0;
        let components = scan.parts.iter().map(|part| part.component);
        let ac = scan.parts.first().and_then(|part| {
            Some(Ac {
                component: part.component,
                code: lookup(&part.ac)?,
                refines,
                start: u32::from(scan.start),
                end: u32::from(scan.end),
                ended: 0,
            })
        });
        let kind = match ac {
            Some(ac) if scan.start > 0 => Kind::Ac(ac),
            _ if refines => Kind::DcRefine(components.collect()),
            _ => {
                let parts = scan.parts.iter();
                Kind::DcFirst(
                    parts
                        .filter_map(|part| Some((part.component, lookup(&part.dc)?, 0)))
                        .collect(),
                )
            }
        };
        Ok(Self {
            feed: Feed::new(source, scan.data, end.saturating_sub(scan.data), budget)?,
            cursor: Cursor::default(),
            budget,
            restarts: Restarts::new(scan.restart_interval),
            kind,
            low: u32::from(scan.low),
        })
    }

    fn components(&self) -> Vec<usize> {
        match &self.kind {
            Kind::DcFirst(parts) => parts.iter().map(|part| part.0).collect(),
            Kind::DcRefine(parts) => parts.clone(),
            Kind::Ac(ac) => vec![ac.component],
        }
    }

    /// Decodes this scan's share of MCU row `row`.
    pub(super) fn row(
        &mut self,
        row: u32,
        frame: &Frame,
        bands: &mut [Band],
        notes: &mut Vec<Note>,
    ) -> Result<(), Error> {
        let components = self.components();
        let [only] = components.as_slice() else {
            return self.line(frame.mcus_across, row, notes, |scan, mcus| {
                scan.interleaved(mcus, frame, &components, bands)
            });
        };
        let component = &frame.components[*only];
        let (band, v) = (&mut bands[*only], u32::from(component.v));
        let visible = row * v..component.blocks_down;
        for (blocks, _) in band.blocks.chunks_exact_mut(band.across).zip(visible) {
            let across = component.blocks_across;
            self.line(across, row, notes, |scan, mcus| {
                scan.blocks(&mut blocks[mcus.start as usize..mcus.end as usize])
            })?;
        }
        Ok(())
    }

    /// Decodes `mcus` MCUs, by `run` between restart markers.
    fn line(
        &mut self,
        mcus: u32,
        row: u32,
        notes: &mut Vec<Note>,
        mut run: impl FnMut(&mut Self, Range<u32>) -> Result<(), Fault>,
    ) -> Result<(), Error> {
        let mut done = 0;
        while done < mcus {
            let count = self.restarts.allow(mcus - done);
            if count == 0 {
                self.restarts
                    .pass(&mut self.feed, &mut self.cursor, notes)?;
                self.reset();
                continue;
            }
            let mut ran = run(self, done..done + count);
            if self.cursor.starved() {
                ran = Err(Fault::Starved);
            }
            ran.map_err(|fault| fault.report(&mut self.feed, &self.cursor, row, self.budget))?;
            self.restarts.count(count);
            done += count;
        }
        Ok(())
    }

    fn reset(&mut self) {
        match &mut self.kind {
            Kind::DcFirst(parts) => parts.iter_mut().for_each(|part| part.2 = 0),
            Kind::DcRefine(_) => {}
            Kind::Ac(ac) => ac.ended = 0,
        }
    }

    /// DC of several components, MCU by MCU (T.81 A.2.3).
    fn interleaved(
        &mut self,
        mcus: Range<u32>,
        frame: &Frame,
        components: &[usize],
        bands: &mut [Band],
    ) -> Result<(), Fault> {
        for mcu in mcus {
            for (n, &component) in components.iter().enumerate() {
                let (h, v) = (
                    &frame.components[component].h,
                    &frame.components[component].v,
                );
                let (h, v) = (usize::from(*h), usize::from(*v));
                let band = &mut bands[component];
                for y in 0..v {
                    let first = y * band.across + mcu as usize * h;
                    for block in &mut band.blocks[first..first + h] {
                        self.dc(n, block)?;
                    }
                }
            }
            if self.cursor.starved() {
                return Err(Fault::Starved);
            }
        }
        Ok(())
    }

    /// Consecutive blocks of one component.
    fn blocks(&mut self, blocks: &mut [Block]) -> Result<(), Fault> {
        if let Kind::Ac(ac) = &mut self.kind {
            let (feed, cursor) = (&mut self.feed, &mut self.cursor);
            return match ac.refines {
                false => ac.first(feed, cursor, blocks, self.low),
                true => ac.refine(feed, cursor, blocks, self.low),
            };
        }
        blocks.iter_mut().try_for_each(|block| self.dc(0, block))
    }

    /// The DC value of one block, of the scan's component `n` (T.81 G.1.2.1).
    fn dc(&mut self, n: usize, block: &mut Block) -> Result<(), Fault> {
        let (feed, cursor) = (&mut self.feed, &mut self.cursor);
        cursor.refill(feed);
        match &mut self.kind {
            Kind::DcFirst(parts) => {
                let (_, code, predictor) = &mut parts[n];
                let (length, size) = code.symbol(cursor.acc).ok_or(Fault::Code)?;
                cursor.consume(length);
                *predictor += extend(cursor.acc, u32::from(size));
                cursor.consume(u32::from(size));
                let value = *predictor << self.low;
                if predictor.abs() > DC_LIMIT || value.abs() > DC_LIMIT {
                    return Err(Fault::Range);
                }
                block.values[0] = value as i16;
            }
            Kind::DcRefine(_) => block.values[0] |= (cursor.take(1) << self.low) as i16,
            Kind::Ac(_) => {}
        }
        Ok(())
    }
}

impl Ac {
    /// T.81 G.1.2.2.
    fn first(
        &mut self,
        feed: &mut Feed<'_>,
        cursor: &mut Cursor,
        blocks: &mut [Block],
        low: u32,
    ) -> Result<(), Fault> {
        let mut n = 0;
        while n < blocks.len() {
            if self.ended > 0 {
                let skipped = (blocks.len() - n).min(self.ended as usize);
                self.ended -= skipped as u32;
                n += skipped;
                continue;
            }
            self.first_block(feed, cursor, &mut blocks[n], low)?;
            n += 1;
        }
        Ok(())
    }

    fn first_block(
        &mut self,
        feed: &mut Feed<'_>,
        cursor: &mut Cursor,
        block: &mut Block,
        low: u32,
    ) -> Result<(), Fault> {
        let mut index = self.start;
        while index <= self.end {
            cursor.refill(feed);
            let (length, symbol) = self.code.symbol(cursor.acc).ok_or(Fault::Code)?;
            cursor.consume(length);
            let (run, size) = (u32::from(symbol >> 4), u32::from(symbol & 15));
            if size == 0 && run < 15 {
                self.ended = (1 << run) + cursor.take(run) - 1;
                return Ok(());
            }
            index += run;
            if size > 0 {
                if index > self.end {
                    return Err(Fault::Run);
                }
                if size + low > AC_BITS {
                    return Err(Fault::Range);
                }
                block.values[index as usize] = (extend(cursor.acc, size) << low) as i16;
                block.mask |= 1 << index;
                cursor.consume(size);
            }
            index += 1;
        }
        if cursor.starved() {
            return Err(Fault::Starved);
        }
        Ok(())
    }

    /// T.81 G.1.2.3.
    fn refine(
        &mut self,
        feed: &mut Feed<'_>,
        cursor: &mut Cursor,
        blocks: &mut [Block],
        low: u32,
    ) -> Result<(), Fault> {
        for block in blocks {
            let mut index = self.start;
            if self.ended == 0 {
                index = self.refine_block(feed, cursor, block, low)?;
            }
            if self.ended > 0 {
                if index <= self.end {
                    let known = block.mask & span(index, self.end);
                    correct(feed, cursor, block, known, low);
                }
                self.ended -= 1;
            }
            if cursor.starved() {
                return Err(Fault::Starved);
            }
        }
        Ok(())
    }

    /// Up to the end of the band, or to a run of ended bands; returns the index that comes next.
    fn refine_block(
        &mut self,
        feed: &mut Feed<'_>,
        cursor: &mut Cursor,
        block: &mut Block,
        low: u32,
    ) -> Result<u32, Fault> {
        let mut index = self.start;
        while index <= self.end {
            cursor.refill(feed);
            let (length, symbol) = self.code.symbol(cursor.acc).ok_or(Fault::Code)?;
            cursor.consume(length);
            let (run, size) = (u32::from(symbol >> 4), u32::from(symbol & 15));
            if size == 0 && run < 15 {
                self.ended = (1 << run) + cursor.take(run);
                return Ok(index);
            }
            // A new coefficient is one step from zero; other sizes mean nothing (libjpeg warns of them).
            if size > 1 {
                return Err(Fault::Range);
            }
            let step = 1_i16 << low;
            let positive = size == 1 && cursor.take(1) == 1;
            let place = nth_zero(block.mask, index, self.end, run);
            if place > self.end && size == 1 {
                return Err(Fault::Run);
            }
            let known = block.mask & span(index, self.end.min(place));
            correct(feed, cursor, block, known, low);
            if size == 1 {
                block.values[place as usize] = if positive { step } else { -step };
                block.mask |= 1 << place;
            }
            index = place + 1;
        }
        Ok(index)
    }
}

/// Bits `first` to `last` (at most 63).
fn span(first: u32, last: u32) -> u64 {
    (u64::MAX << first) & (u64::MAX >> (63 - last))
}

/// Index of the zero behind `run` other zeros from `first` on, or one behind `last` if there are not so many.
fn nth_zero(mask: u64, first: u32, last: u32, run: u32) -> u32 {
    let mut zeros = !mask & span(first, last);
    for _ in 0..run {
        zeros &= zeros.wrapping_sub(1);
    }
    zeros.trailing_zeros().min(last + 1)
}

/// Reads one more bit of each coefficient in `known` (T.81 figure G.7).
fn correct(feed: &mut Feed<'_>, cursor: &mut Cursor, block: &mut Block, mut known: u64, low: u32) {
    let step = 1_i16 << low;
    while known != 0 {
        cursor.refill(feed);
        for _ in 0..known.count_ones().min(56) {
            let value = &mut block.values[known.trailing_zeros() as usize & 63];
            known &= known - 1;
            // A bit that is set already came from a file that repeats a scan.
            if cursor.take(1) == 1 && value.unsigned_abs() & step as u16 == 0 {
                *value += if *value < 0 { -step } else { step };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nth_zero_counts_zeros_only() {
        assert_eq!(nth_zero(0, 1, 63, 0), 1);
        assert_eq!(nth_zero(0, 1, 63, 5), 6);
        assert_eq!(nth_zero(0b1110, 1, 63, 0), 4);
        assert_eq!(nth_zero(0b1010, 1, 63, 1), 4);
        assert_eq!(nth_zero(0, 60, 63, 4), 64);
        assert_eq!(nth_zero(0, 5, 10, 15), 11);
        assert_eq!(nth_zero(u64::MAX, 1, 63, 0), 64);
    }

    #[test]
    fn span_holds_both_ends() {
        assert_eq!(span(1, 1), 2);
        assert_eq!(span(1, 63), u64::MAX - 1);
        assert_eq!(span(63, 63), 1 << 63);
    }
}
