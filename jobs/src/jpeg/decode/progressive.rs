//! Progressive scans (T.81 G), all at once: each scan is a stream of its own, so every scan is advanced by one MCU row and
//! the finished row is handed on. Only one row of coefficients is ever held.
//!
//! Each block has 64 coefficients in zigzag order and a mask of those that are not zero: refinement, which must tell the
//! two apart for every coefficient, walks over the mask's bits only, and empty blocks cost nothing.

use super::fault::Fault;
use super::feed::{Cursor, Feed};
use super::huffman::{Lookup, extend};
use super::markers::Scan;
use super::restarts::Restarts;
use super::sequential::{AC_BITS, DC_LIMIT};
use crate::jpeg::frame::{Component, Frame};
use crate::jpeg::plane::{MAX_WORDS, Plane, put_word};
use crate::{Budget, Error, Note, Source};
use std::ops::Range;

/// The blocks of one component in one MCU row, padded to whole MCUs.
pub(super) struct Band {
    dc: Vec<i16>,
    /// Bit `k` is set where AC coefficient `k` is not zero.
    masks: Vec<u64>,
    /// Coefficients whose bit is set; the others may hold anything.
    values: Vec<[i16; 64]>,
    across: usize,
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
        for (line, _) in (0..v as usize).zip(visible) {
            self.line(component.blocks_across, row, notes, |scan, mcus| {
                let first = line * band.across;
                scan.blocks(band, first + mcus.start as usize..first + mcus.end as usize)
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
        // A copy stays in registers, where a field would not.
        let mut cursor = self.cursor;
        for mcu in mcus {
            for (n, &component) in components.iter().enumerate() {
                let (h, v) = (frame.components[component].h, frame.components[component].v);
                let (h, v) = (usize::from(h), usize::from(v));
                let band = &mut bands[component];
                for y in 0..v {
                    let first = y * band.across + mcu as usize * h;
                    for dc in &mut band.dc[first..first + h] {
                        self.kind.dc(n, &mut self.feed, &mut cursor, dc, self.low)?;
                    }
                }
            }
        }
        self.cursor = cursor;
        Ok(())
    }

    /// Consecutive blocks of one component.
    fn blocks(&mut self, band: &mut Band, span: Range<usize>) -> Result<(), Fault> {
        let mut cursor = self.cursor;
        let (masks, values) = (
            &mut band.masks[span.clone()],
            &mut band.values[span.clone()],
        );
        let done = match &mut self.kind {
            Kind::Ac(ac) => {
                let place = match ac.refines {
                    false => Ac::first,
                    true => Ac::refine,
                };
                place(ac, &mut self.feed, &mut cursor, masks, values, self.low)
            }
            dc @ (Kind::DcFirst(_) | Kind::DcRefine(_)) => band.dc[span]
                .iter_mut()
                .try_for_each(|value| dc.dc(0, &mut self.feed, &mut cursor, value, self.low)),
        };
        self.cursor = cursor;
        done
    }
}

impl Kind {
    /// One DC value, of the scan's component `n` (T.81 G.1.2.1).
    #[inline(always)]
    fn dc(
        &mut self,
        n: usize,
        feed: &mut Feed<'_>,
        cursor: &mut Cursor,
        dc: &mut i16,
        low: u32,
    ) -> Result<(), Fault> {
        cursor.refill(feed);
        match self {
            Self::DcFirst(parts) => {
                let (_, code, predictor) = &mut parts[n];
                let (length, size) = code.symbol(cursor.acc).ok_or(Fault::Code)?;
                cursor.consume(length);
                *predictor += extend(cursor.acc, u32::from(size));
                cursor.consume(u32::from(size));
                let value = *predictor << low;
                if predictor.abs() > DC_LIMIT || value.abs() > DC_LIMIT {
                    return Err(Fault::Range);
                }
                *dc = value as i16;
            }
            Self::DcRefine(_) => *dc |= (cursor.take(1) << low) as i16,
            Self::Ac(_) => {}
        }
        if cursor.starved() {
            return Err(Fault::Starved);
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
    fn refine(
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
