//! SOS: what a scan holds and with which tables, checked before any of its data is read.

use super::huffman::{Code, standard};
use super::markers::Markers;
use crate::Error;
use crate::jpeg::frame::{Coding, Frame, MAX_COMPONENTS};

/// Most blocks in an MCU (T.81 B.2.3).
const MCU_BLOCKS: usize = 10;
/// Zigzag index of the last coefficient.
const LAST: u8 = 63;

/// A scan's parameters and the tables in force for it.
#[derive(Clone)]
pub(crate) struct Scan {
    /// Its components in the order of its header.
    pub(crate) parts: Vec<ScanPart>,
    /// First zigzag index.
    pub(crate) start: u8,
    /// Last zigzag index.
    pub(crate) end: u8,
    /// Bit position of the scan before, 0 in a first scan.
    pub(crate) high: u8,
    /// Bit position of this scan.
    pub(crate) low: u8,
    /// MCUs between restart markers, 0 for none.
    pub(crate) restart_interval: u32,
    /// Offset of the first entropy-coded byte.
    pub(crate) data: u64,
    /// Offset behind the last one where it is known.
    pub(crate) data_end: Option<u64>,
}

/// One component of a scan.
#[derive(Clone)]
pub(crate) struct ScanPart {
    /// Index of the component in the frame.
    pub(crate) component: usize,
    /// Code of DC differences.
    pub(crate) dc: Option<Code>,
    /// Code of AC coefficients.
    pub(crate) ac: Option<Code>,
}

impl Markers<'_> {
    /// T.81 B.2.3.
    pub(super) fn scan_header(&mut self) -> Result<Scan, Error> {
        const OF: &str = "a scan header";
        let length = self.length(OF)?;
        let Some(frame) = self.frame.clone() else {
            return Err(self.wrong("a scan without a frame header"));
        };
        let count = usize::from(self.reader.u8(OF)?);
        if count == 0 || count > MAX_COMPONENTS || length != 4 + 2 * count {
            return Err(self.wrong("an impossible scan header"));
        }
        let mut parts: Vec<ScanPart> = Vec::with_capacity(count);
        for _ in 0..count {
            let (id, slots) = (self.reader.u8(OF)?, self.reader.u8(OF)?);
            // Files exist whose components share an identifier; then they come in the frame's order.
            let component = (0..frame.components.len()).find(|&n| {
                frame.components[n].id == id && parts.iter().all(|part| part.component != n)
            });
            let Some(component) = component else {
                return Err(self.wrong("a scan of a component that the frame does not have"));
            };
            parts.push(self.part(component, slots, frame.coding));
        }
        let (start, end, bits) = (
            self.reader.u8(OF)?,
            self.reader.u8(OF)?,
            self.reader.u8(OF)?,
        );
        self.scans += 1;
        let mut scan = Scan {
            parts,
            start,
            end,
            high: bits >> 4,
            low: bits & 15,
            restart_interval: u32::from(self.restart_interval),
            data: self.reader.offset(),
            data_end: None,
        };
        self.check_scan(&frame, &mut scan)?;
        self.latch_tables(&frame, &scan)?;
        Ok(scan)
    }

    fn part(&self, component: usize, slots: u8, coding: Coding) -> ScanPart {
        let (dc, ac) = (usize::from(slots >> 4), usize::from(slots & 15));
        let find = |codes: &[Option<Code>; 4], class: u8, slot: usize| {
            let declared = codes.get(slot).cloned().flatten();
            // Frames cut out of a film leave the standard codes out (libjpeg-turbo accepts them, too).
            let implied = coding != Coding::Progressive && slot < 2;
            declared.or_else(|| implied.then(|| standard(class, slot as u8)))
        };
        ScanPart {
            component,
            dc: find(&self.dc, 0, dc),
            ac: find(&self.ac, 1, ac),
        }
    }

    /// Refuses what no decoder could follow, before any data is read.
    fn check_scan(&mut self, frame: &Frame, scan: &mut Scan) -> Result<(), Error> {
        let blocks: usize = scan
            .parts
            .iter()
            .map(|part| &frame.components[part.component])
            .map(|component| usize::from(component.h) * usize::from(component.v))
            .sum();
        if scan.parts.len() > 1 && blocks > MCU_BLOCKS {
            return Err(self.wrong("more than 10 blocks in an MCU"));
        }
        if frame.coding == Coding::Progressive {
            let (start, end) = (scan.start, scan.end);
            let band = (start == 0 && end == 0)
                || (start > 0 && start <= end && end <= LAST && scan.parts.len() == 1);
            let depth = scan.low <= 13 && (scan.high == 0 || scan.high == scan.low + 1);
            if !band || !depth {
                return Err(self.wrong("impossible progression parameters"));
            }
        } else if (scan.start, scan.end, scan.high, scan.low) != (0, LAST, 0, 0) {
            self.note("ignored progression parameters in a sequential scan".into());
            (scan.start, scan.end, scan.high, scan.low) = (0, LAST, 0, 0);
        }
        let refines = scan.high > 0;
        let (needs_dc, needs_ac) = (scan.start == 0 && !refines, scan.end > 0);
        for part in &scan.parts {
            if (needs_dc && part.dc.is_none()) || (needs_ac && part.ac.is_none()) {
                return Err(self.wrong("a scan whose Huffman table was never defined"));
            }
        }
        Ok(())
    }

    /// A component's quantisation table is the one in force at its first scan.
    fn latch_tables(&mut self, frame: &Frame, scan: &Scan) -> Result<(), Error> {
        for part in &scan.parts {
            let slot = usize::from(frame.components[part.component].table);
            if self.tables[part.component].is_some() {
                continue;
            }
            let Some(table) = self.quant[slot].clone() else {
                return Err(self.wrong("a scan whose quantisation table was never defined"));
            };
            self.tables[part.component] = Some(table);
        }
        Ok(())
    }
}
