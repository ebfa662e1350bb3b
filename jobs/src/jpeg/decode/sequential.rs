//! Baseline and extended sequential scans (T.81 F.2): an MCU row at a time into the lanes of sparse planes.

use super::coefficients::{Codes, coefficients};
use super::fault::Fault;
use super::feed::{Cursor, Feed};
use super::huffman::extend;
use super::reader::corrupt;
use super::restarts::Restarts;
use super::scan_header::{Scan, ScanPart};
use super::survivors::Survivors;
use crate::jpeg::frame::Frame;
use crate::jpeg::plane::{Lane, Plane, thin};
use crate::{Budget, Error, Note, Source};
use std::ops::Range;
use std::rc::Rc;

/// Largest DC value in magnitude: eight-bit samples cannot make more, whatever the step.
pub(super) const DC_LIMIT: i32 = 2047;

/// Bytes of data from which on a table is worth making (25 us each).
const WORTH_TABLES: u64 = 8 * 1024;

/// A scan being decoded.
pub(super) struct Sequential<'a> {
    pub(super) feed: Feed<'a>,
    pub(super) cursor: Cursor,
    restarts: Restarts,
    parts: Vec<Part>,
    /// Whether blocks of some component have a tail to pass over.
    tails: bool,
}

/// One component of the scan.
pub(super) struct Part {
    component: usize,
    /// Shared where components share them, as both chroma components mostly do: then all of them fit the first cache.
    codes: Rc<Codes>,
    /// Smallest magnitude kept by index, where that says more than the codes' floor.
    floors: Option<Box<[u16; 64]>>,
    predictor: i32,
}

/// One block of an MCU: which component, where it goes.
struct Slot {
    part: usize,
    lane: usize,
    /// MCUs of this row whose block holds picture; the others' are padding.
    limit: u32,
}

impl<'a> Sequential<'a> {
    /// Prepares to decode `scan`.
    pub(super) fn new(
        source: &'a dyn Source,
        scan: &Scan,
        keep: &Survivors,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let end = scan.data_end.unwrap_or(source.len());
        let length = end.saturating_sub(scan.data);
        let mut parts = Vec::<Part>::new();
        for (n, part) in scan.parts.iter().enumerate() {
            let (Some(dc), Some(ac)) = (&part.dc, &part.ac) else {
                break;
            };
            let (floor, thins) = keep.sequential(part.component);
            let dropped = (floor, keep.tail(part.component));
            let same = |(other, made): &(&ScanPart, &Part)| {
                (&other.dc, &other.ac, made.codes.dropped()) == (&part.dc, &part.ac, dropped)
            };
            let shared = scan.parts[..n].iter().zip(&parts).find(same);
            let codes = match shared {
                Some((_, made)) => Rc::clone(&made.codes),
                None => Rc::new(Codes::new(dc, ac, dropped, length >= WORTH_TABLES)),
            };
            parts.push(Part {
                component: part.component,
                codes,
                floors: thins.then(|| Box::new(*keep.floors(part.component))),
                predictor: 0,
            });
        }
        if parts.len() < scan.parts.len() {
            return Err(corrupt(
                "a scan whose Huffman table was never defined".into(),
            ));
        }
        Ok(Self {
            feed: Feed::new(source, scan.data, length, budget)?,
            cursor: Cursor::default(),
            restarts: Restarts::new(scan.restart_interval),
            tails: parts.iter().any(|part| part.codes.dropped().1.is_some()),
            parts,
        })
    }

    /// Decodes MCU row `row` of the frame into `planes`.
    pub(super) fn row(
        &mut self,
        row: u32,
        frame: &Frame,
        planes: &mut [Plane],
        budget: &Budget,
        notes: &mut Vec<Note>,
    ) -> Result<(), Error> {
        if let [part] = self.parts.as_slice() {
            let component = &frame.components[part.component];
            let down = u32::from(component.v);
            let lanes = planes[part.component].lanes_mut();
            let across = component.blocks_across;
            for (lane, _) in (0..lanes.len()).zip(row * down..component.blocks_down) {
                let slot = Slot {
                    part: 0,
                    lane: 0,
                    limit: across,
                };
                let lanes = &mut [&mut lanes[lane]];
                self.line(across, &[slot], lanes, row, budget, notes)?;
            }
            return Ok(());
        }
        let slots = self.slots(row, frame);
        let mut lanes: Vec<&mut Lane> = planes.iter_mut().flat_map(Plane::lanes_mut).collect();
        self.line(frame.mcus_across, &slots, &mut lanes, row, budget, notes)
    }

    /// The blocks of an MCU in row `row` (T.81 A.2.3).
    fn slots(&self, row: u32, frame: &Frame) -> Vec<Slot> {
        let mut slots = Vec::new();
        for (n, part) in self.parts.iter().enumerate() {
            let component = &frame.components[part.component];
            let before = &frame.components[..part.component];
            let first: usize = before.iter().map(|c| usize::from(c.v)).sum();
            let (h, v) = (u32::from(component.h), u32::from(component.v));
            for (y, x) in (0..v).flat_map(|y| (0..h).map(move |x| (y, x))) {
                let visible = row * v + y < component.blocks_down;
                let limit = component.blocks_across.saturating_sub(x).div_ceil(h);
                slots.push(Slot {
                    part: n,
                    lane: first + y as usize,
                    limit: if visible { limit } else { 0 },
                });
            }
        }
        slots
    }

    /// Decodes `mcus` MCUs of `slots` each.
    fn line(
        &mut self,
        mcus: u32,
        slots: &[Slot],
        lanes: &mut [&mut Lane],
        row: u32,
        budget: &Budget,
        notes: &mut Vec<Note>,
    ) -> Result<(), Error> {
        let mut begun = usize::MAX;
        for slot in slots.iter().filter(|slot| slot.limit > 0) {
            if slot.lane != begun {
                lanes[slot.lane].begin_row(budget)?;
                begun = slot.lane;
            }
        }
        let mut done = 0;
        while done < mcus {
            let count = self.restarts.allow(mcus - done);
            if count == 0 {
                self.restarts
                    .pass(&mut self.feed, &mut self.cursor, notes)?;
                self.parts.iter_mut().for_each(|part| part.predictor = 0);
                continue;
            }
            let (feed, mcus) = (&mut self.feed, done..done + count);
            let ran = if self.tails {
                run::<true>(
                    feed,
                    self.cursor,
                    mcus,
                    slots,
                    &mut self.parts,
                    lanes,
                    budget,
                )
            } else {
                run::<false>(
                    feed,
                    self.cursor,
                    mcus,
                    slots,
                    &mut self.parts,
                    lanes,
                    budget,
                )
            };
            self.cursor =
                ran.map_err(|(fault, cursor)| fault.report(&mut self.feed, &cursor, row, budget))?;
            self.restarts.count(count);
            done += count;
        }
        Ok(())
    }
}

/// Decodes MCUs between two restart markers. `TAILS` says whether a component may have a tail to pass over.
#[inline(always)]
fn run<const TAILS: bool>(
    feed: &mut Feed<'_>,
    mut cursor: Cursor,
    mcus: Range<u32>,
    slots: &[Slot],
    parts: &mut [Part],
    lanes: &mut [&mut Lane],
    budget: &Budget,
) -> Result<Cursor, (Fault, Cursor)> {
    for mcu in mcus {
        for slot in slots {
            let (part, lane) = (&mut parts[slot.part], &mut *lanes[slot.lane]);
            let visible = mcu < slot.limit;
            if let Err(fault) = block::<TAILS>(feed, &mut cursor, part, lane, visible, budget) {
                return Err((fault, cursor));
            }
        }
        if cursor.starved() {
            return Err((Fault::Starved, cursor));
        }
    }
    Ok(cursor)
}

/// Decodes one block; one that is not `visible` leaves no trace but its DC value.
#[inline(always)]
fn block<const TAILS: bool>(
    feed: &mut Feed<'_>,
    cursor: &mut Cursor,
    part: &mut Part,
    lane: &mut Lane,
    visible: bool,
    budget: &Budget,
) -> Result<(), Fault> {
    cursor.refill(feed);
    let (length, size) = part.codes.dc.symbol(cursor.acc).ok_or(Fault::Code)?;
    cursor.consume(length);
    part.predictor += extend(cursor.acc, u32::from(size));
    cursor.consume(u32::from(size));
    if part.predictor.abs() > DC_LIMIT {
        return Err(Fault::Range);
    }
    let room = lane.room(budget).map_err(|_| Fault::Memory)?;
    let mut words = coefficients::<TAILS>(feed, cursor, &part.codes, room)?;
    if let Some(floors) = &part.floors {
        words = thin(room, words, floors);
    }
    if visible {
        lane.commit(part.predictor as i16, words);
    }
    Ok(())
}
