//! The scans of a picture, decoded side by side: one MCU row of each, then the next row.

use super::band::Band;
use super::feed::{Cursor, Feed, add_note};
use super::progressive::Progressive;
use super::reader::corrupt;
use super::scan_header::Scan;
use super::sequential::Sequential;
use super::survivors::Survivors;
use crate::jpeg::frame::{Coding, Frame};
use crate::jpeg::plane::Plane;
use crate::{Budget, Error, Note, Source};

/// The scans being decoded side by side.
pub(super) enum Scans<'a> {
    Sequential(Vec<Sequential<'a>>),
    Progressive(Vec<Progressive<'a>>, Vec<Band>),
}

impl<'a> Scans<'a> {
    /// Prepares to decode `scans`.
    pub(super) fn new(
        source: &'a dyn Source,
        frame: &Frame,
        scans: &[Scan],
        keep: &Survivors,
        budget: &'a Budget,
    ) -> Result<Self, Error> {
        Ok(match frame.coding {
            Coding::Baseline | Coding::Extended => {
                let scan = |scan| Sequential::new(source, scan, keep, budget);
                Self::Sequential(scans.iter().map(scan).collect::<Result<_, _>>()?)
            }
            Coding::Progressive => {
                let scan = |scan| Progressive::new(source, scan, budget);
                let band = |component| Band::new(component, budget);
                Self::Progressive(
                    scans.iter().map(scan).collect::<Result<_, _>>()?,
                    frame
                        .components
                        .iter()
                        .map(band)
                        .collect::<Result<_, _>>()?,
                )
            }
        })
    }

    /// Decodes MCU row `row` of all scans into `planes`.
    pub(super) fn row(
        &mut self,
        row: u32,
        frame: &Frame,
        planes: &mut [Plane],
        keep: &Survivors,
        budget: &Budget,
        notes: &mut Vec<Note>,
    ) -> Result<(), Error> {
        match self {
            Self::Sequential(scans) => scans
                .iter_mut()
                .try_for_each(|scan| scan.row(row, frame, planes, budget, notes)),
            Self::Progressive(scans, bands) => {
                for scan in scans {
                    scan.row(row, frame, bands, notes)?;
                }
                for (n, component) in frame.components.iter().enumerate() {
                    bands[n].finish(row, component, &mut planes[n], keep.floors(n), budget)?;
                }
                Ok(())
            }
        }
    }

    /// Gives the memory back.
    pub(super) fn free(self, budget: &Budget) {
        match self {
            Self::Sequential(scans) => scans.into_iter().for_each(|scan| scan.feed.free(budget)),
            Self::Progressive(scans, bands) => {
                scans.into_iter().for_each(|scan| scan.feed.free(budget));
                bands.into_iter().for_each(|band| band.free(budget));
            }
        }
    }

    /// Leaves all scans; returns the offset of the marker behind the last one.
    pub(super) fn leave(
        &mut self,
        scans: &[Scan],
        notes: &mut Vec<Note>,
    ) -> Result<Option<u64>, Error> {
        let ends: Vec<(&mut Feed<'a>, &mut Cursor)> = match self {
            Self::Sequential(scans) => scans
                .iter_mut()
                .map(|scan| (&mut scan.feed, &mut scan.cursor))
                .collect(),
            Self::Progressive(scans, _) => scans
                .iter_mut()
                .map(|scan| (&mut scan.feed, &mut scan.cursor))
                .collect(),
        };
        let mut marker = None;
        for ((feed, cursor), scan) in ends.into_iter().zip(scans) {
            marker = leave_scan(feed, cursor, notes)?;
            if let (Some(found), Some(end)) = (marker, scan.data_end)
                && found != end
            {
                return Err(corrupt(format!("data without blocks before byte {end}")));
            }
        }
        Ok(marker)
    }
}

/// Passes what may stand behind the last block of a scan; returns the offset of the marker that ends it.
fn leave_scan(
    feed: &mut Feed<'_>,
    cursor: &mut Cursor,
    notes: &mut Vec<Note>,
) -> Result<Option<u64>, Error> {
    loop {
        match feed.leave(cursor, notes)? {
            Some(0xd0..=0xd7) => {
                add_note(notes, "a restart marker behind the last block".into());
            }
            Some(_) => return Ok(Some(feed.offset(cursor) - 2)),
            None => return Ok(None),
        }
    }
}
