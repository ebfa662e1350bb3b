//! The front of a file: everything before the first scan's data, cheap to get and enough to plan with.

use super::markers::{Markers, Stop};
use super::parts::{SecondPart, declared};
use super::reader::corrupt;
use super::scan_header::Scan;
use crate::jpeg::frame::{Coding, Frame, QuantTable, Segment};
use crate::{Budget, Error, Note, Source};

/// What a file says before its first scan.
pub struct Header {
    /// Sizes, sampling and component ids; the height is known even where a DNL segment says it.
    pub frame: Frame,
    /// APPn and COM segments so far, in order.
    pub segments: Vec<Segment>,
    /// Second pictures and videos that the metadata announces.
    pub second_parts: Vec<SecondPart>,
    /// MCUs between restart markers, 0 for none.
    pub restart_interval: u16,
    /// What was odd so far.
    pub notes: Vec<Note>,
    /// Tables of the first scan's components, by component.
    pub tables: Vec<Option<QuantTable>>,
    /// The first scan.
    pub(crate) first: Scan,
}

impl Header {
    /// Whether all coefficients come in one sequential scan.
    pub fn single_scan(&self) -> bool {
        let all = self.first.parts.len() == self.frame.components.len();
        all && self.frame.coding != Coding::Progressive
    }
}

impl std::fmt::Debug for Header {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Header")
            .field("frame", &self.frame)
            .finish_non_exhaustive()
    }
}

/// Reads the front of `source`.
///
/// # Errors
/// [`Error::Corrupt`], [`Error::Unsupported`] (arithmetic, 12-bit, lossless, hierarchical, by name),
/// [`Error::TooManyPixels`], [`Error::OverBudget`], [`Error::Read`].
pub fn read_header(source: &dyn Source, budget: &Budget) -> Result<Header, Error> {
    begin(source, budget).map(|(header, _)| header)
}

/// The header, and the markers as they stand at the first scan's data; the header has their segments and notes.
pub(super) fn begin<'a>(
    source: &'a dyn Source,
    budget: &'a Budget,
) -> Result<(Header, Markers<'a>), Error> {
    let mut markers = Markers::new(source, budget)?;
    let first = match markers.next()? {
        Stop::Scan(scan) => scan,
        Stop::End | Stop::NoEnd => return Err(corrupt("it ends before the first scan".into())),
    };
    find_height(&mut markers, first.data)?;
    let Some(frame) = markers.frame.clone() else {
        return Err(corrupt("no frame header".into()));
    };
    let segments = std::mem::take(&mut markers.segments);
    let header = Header {
        second_parts: declared(&segments),
        segments,
        restart_interval: markers.restart_interval(),
        notes: std::mem::take(&mut markers.notes),
        tables: markers.tables[..frame.components.len()].to_vec(),
        frame,
        first,
    };
    Ok((header, markers))
}

/// A height of 0 is told by a DNL segment behind the first scan (T.81 B.2.5).
fn find_height(markers: &mut Markers<'_>, data: u64) -> Result<(), Error> {
    let unknown = |markers: &Markers<'_>| markers.frame.as_ref().is_some_and(|f| f.height == 0);
    if unknown(markers) {
        if markers.skip_data()?.is_some() {
            markers.number_of_lines_here()?;
        }
        if unknown(markers) {
            return Err(corrupt("a height of 0 and no DNL segment".into()));
        }
        markers.reader.seek(data);
    }
    Ok(())
}
