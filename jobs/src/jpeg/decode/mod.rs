//! JPEG bytes in, quantised coefficients out, a row of MCUs at a time.
//!
//! [`Decoder::open`] reads up to the first scan. [`Decoder::rows`] hands every MCU row to a visitor and forgets it, which
//! takes the memory of one row whatever the picture's size; [`Decoder::read`] is the visitor that keeps all rows. Files
//! of several scans, progressive ones first of all, are decoded in the same way: their scans are found beforehand
//! ([`index`]) and advanced side by side. Damage is an error that says what and where; nothing is ever made up.

mod ac_table;
mod band;
mod coefficients;
mod fault;
mod feed;
mod header;
mod huffman;
mod index;
mod markers;
mod parts;
pub mod presample;
mod progressive;
mod progressive_ac;
mod reader;
mod restarts;
mod scan_header;
mod scans;
mod sequential;
mod survivors;
mod tables;
#[cfg(test)]
mod tests;

pub use header::{Header, read_header};
pub use parts::SecondPart;
pub use survivors::Survivors;

use super::frame::{Component, Frame, QuantTable, Segment};
use super::plane::Plane;
use crate::{Budget, Error, Note, Source};
use feed::add_note;
use markers::{Markers, Stop};
use reader::{corrupt, read_full};
use scans::Scans;
use std::ops::Range;

/// Bytes at either end of a trailer that are looked at.
const GLANCE: u64 = 4096;

/// A decoded picture.
#[derive(Debug)]
pub struct Picture {
    /// Sizes, sampling and component ids.
    pub frame: Frame,
    /// Table of each component, in the frame's order.
    pub tables: Vec<QuantTable>,
    /// APPn and COM segments in file order, those between scans included.
    pub segments: Vec<Segment>,
    /// MCUs between restart markers in the first scan, 0 for none.
    pub restart_interval: u16,
    /// Coefficients of each component: `blocks_across` by `blocks_down` blocks.
    pub planes: Vec<Plane>,
    /// Offsets of what stands behind the end marker.
    pub trailer: Range<u64>,
    /// What was odd but harmless.
    pub notes: Vec<Note>,
    /// Second pictures and videos in the trailer.
    pub second_parts: Vec<SecondPart>,
}

impl Picture {
    /// Gives the coefficients' memory back, for a second attempt within the same budget.
    pub fn free(self, budget: &Budget) {
        self.planes.into_iter().for_each(|plane| plane.free(budget));
    }
}

/// What is known once the last row was decoded.
#[derive(Debug)]
pub struct Ending {
    /// Table of each component, in the frame's order.
    pub tables: Vec<QuantTable>,
    /// APPn and COM segments in file order, those between scans included.
    pub segments: Vec<Segment>,
    /// Offsets of what stands behind the end marker.
    pub trailer: Range<u64>,
    /// What was odd but harmless.
    pub notes: Vec<Note>,
    /// Second pictures and videos in the trailer.
    pub second_parts: Vec<SecondPart>,
}

/// What [`Decoder::rows`] hands MCU rows to: the row's number and, for each component, a plane of the block rows in it
/// that hold picture.
pub type Visit<'v> = dyn FnMut(u32, &[Plane]) -> Result<(), Error> + 'v;

/// Called behind each MCU row with the planes it was appended to.
type After<'v> = dyn FnMut(u32, &mut [Plane]) -> Result<(), Error> + 'v;

/// Decodes all of `source`, less the coefficients that `keep` drops.
///
/// # Errors
/// [`Error::Corrupt`] with what is wrong and where, [`Error::Unsupported`] with the feature's name,
/// [`Error::TooManyPixels`], [`Error::OverBudget`], [`Error::Read`].
pub fn read(source: &dyn Source, budget: &Budget, keep: &Survivors) -> Result<Picture, Error> {
    Decoder::open(source, budget)?.read(keep)
}

/// A file whose header was read.
pub struct Decoder<'a> {
    source: &'a dyn Source,
    budget: &'a Budget,
    header: Header,
    markers: Markers<'a>,
}

impl std::fmt::Debug for Decoder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoder")
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

impl<'a> Decoder<'a> {
    /// Reads up to the first scan.
    ///
    /// # Errors
    /// As [`read`].
    pub fn open(source: &'a dyn Source, budget: &'a Budget) -> Result<Self, Error> {
        let (header, markers) = header::begin(source, budget)?;
        Ok(Self {
            source,
            budget,
            header,
            markers,
        })
    }

    /// What the file says before its first scan.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Decodes everything.
    ///
    /// # Errors
    /// As [`read`].
    pub fn read(self, keep: &Survivors) -> Result<Picture, Error> {
        let (frame, restart_interval) = (self.header.frame.clone(), self.header.restart_interval);
        let mut planes = planes(&frame, self.budget, |component| component.blocks_down)?;
        let ending = self.drive(keep, &mut planes, &mut |_, _| Ok(()))?;
        Ok(Picture {
            frame,
            tables: ending.tables,
            segments: ending.segments,
            restart_interval,
            planes,
            trailer: ending.trailer,
            notes: ending.notes,
            second_parts: ending.second_parts,
        })
    }

    /// Decodes one MCU row after the other, hands each to `visit` and forgets it.
    ///
    /// # Errors
    /// As [`read`], and those of `visit`.
    pub fn rows(self, keep: &Survivors, visit: &mut Visit<'_>) -> Result<Ending, Error> {
        let frame = &self.header.frame;
        let budget = self.budget;
        let mut planes = planes(frame, budget, |component| u32::from(component.v))?;
        let ending = self.drive(keep, &mut planes, &mut |row, planes| {
            visit(row, planes)?;
            planes.iter_mut().for_each(Plane::clear);
            Ok(())
        })?;
        planes.into_iter().for_each(|plane| plane.free(budget));
        Ok(ending)
    }

    /// Decodes rows into `planes`; `after` is called behind each.
    fn drive(
        self,
        keep: &Survivors,
        planes: &mut [Plane],
        after: &mut After<'_>,
    ) -> Result<Ending, Error> {
        let Self {
            source,
            budget,
            header,
            mut markers,
        } = self;
        let frame = &header.frame;
        let scans = if header.single_scan() {
            vec![header.first.clone()]
        } else {
            index::all_scans(&mut markers, frame, header.first.clone())?
        };
        let mut work = Scans::new(source, frame, &scans, keep, budget)?;
        let single = header.single_scan();
        let mut notes = header.notes;
        for row in 0..frame.mcus_down {
            work.row(row, frame, planes, keep, budget, &mut notes)?;
            after(row, planes)?;
        }
        let end = work.leave(&scans, &mut notes)?;
        work.free(budget);
        if single {
            finish_markers(&mut markers, end)?;
        }
        let mut segments = header.segments;
        segments.append(&mut markers.segments);
        notes.append(&mut markers.notes);
        let tables = markers.tables.iter_mut().take(frame.components.len());
        let tables: Vec<_> = tables.filter_map(Option::take).collect();
        if tables.len() < frame.components.len() {
            return Err(corrupt("a component has no quantisation table".into()));
        }
        let trailer = markers.reader.offset().min(source.len())..source.len();
        Ok(Ending {
            tables,
            second_parts: second_parts(source, &segments, &trailer)?,
            segments,
            trailer,
            notes,
        })
    }
}

/// Empty planes for all components, `down` block rows each.
fn planes(
    frame: &Frame,
    budget: &Budget,
    down: impl Fn(&Component) -> u32,
) -> Result<Vec<Plane>, Error> {
    let plane = |component: &Component| {
        let across = component.blocks_across as usize;
        let down = down(component) as usize;
        Plane::new(across, down, usize::from(component.v), budget)
    };
    frame.components.iter().map(plane).collect()
}

/// Reads on from the marker at the end of the one scan to the end of the picture.
fn finish_markers(markers: &mut Markers<'_>, end: Option<u64>) -> Result<(), Error> {
    let Some(marker) = end else {
        add_note(&mut markers.notes, "the end marker is missing".into());
        markers.reader.seek(u64::MAX);
        return Ok(());
    };
    markers.reader.seek(marker);
    match markers.next()? {
        Stop::End => Ok(()),
        Stop::NoEnd => {
            add_note(&mut markers.notes, "the end marker is missing".into());
            Ok(())
        }
        Stop::Scan(scan) => Err(corrupt(format!(
            "a second scan of what was complete, before byte {}",
            scan.data
        ))),
    }
}

/// What is in the trailer: as announced, or as its bytes show.
fn second_parts(
    source: &dyn Source,
    segments: &[Segment],
    trailer: &Range<u64>,
) -> Result<Vec<SecondPart>, Error> {
    if trailer.is_empty() {
        return Ok(Vec::new());
    }
    let glance = |offset: u64| -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; GLANCE.min(trailer.end - offset) as usize];
        let count = read_full(source, offset, &mut bytes)?;
        bytes.truncate(count);
        Ok(bytes)
    };
    let first = glance(trailer.start)?;
    let last = glance(trailer.end.saturating_sub(GLANCE).max(trailer.start))?;
    let mut parts = parts::declared(segments);
    parts.extend(parts::behind(&first, &last));
    Ok(parts::dedup(parts))
}
