//! Markers and segments in file order (T.81 annex B): tables, frame, scans' parameters, metadata. No entropy-coded bit.
//!
//! [`Markers::next`] goes on to the next scan or the end; whoever calls it decodes or skips the scan's data in between.

use super::feed::add_note;
use super::huffman::{Code, standard};
use super::reader::{Reader, corrupt};
use crate::jpeg::frame::{Coding, Frame, MAX_COMPONENTS, QuantTable, Segment};
use crate::{Budget, Error, Note, Source};

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

/// Where [`Markers::next`] stopped.
pub(super) enum Stop {
    /// At a scan's data.
    Scan(Scan),
    /// Behind EOI.
    End,
    /// At the end of the file, without EOI.
    NoEnd,
}

/// Reads markers and keeps what they declare.
pub(super) struct Markers<'a> {
    pub(super) reader: Reader<'a>,
    budget: &'a Budget,
    /// The frame header, once it was read; its height is 0 until a DNL segment says it.
    pub(super) frame: Option<Frame>,
    /// Metadata in file order.
    pub(super) segments: Vec<Segment>,
    /// What was odd.
    pub(super) notes: Vec<Note>,
    /// The table of each component, fixed by its first scan.
    pub(super) tables: [Option<QuantTable>; MAX_COMPONENTS],
    quant: [Option<QuantTable>; 4],
    dc: [Option<Code>; 4],
    ac: [Option<Code>; 4],
    restart_interval: u16,
    scans: u32,
}

impl<'a> Markers<'a> {
    /// Begins at the start of `source`, which must be SOI.
    pub(super) fn new(source: &'a dyn Source, budget: &'a Budget) -> Result<Self, Error> {
        let mut reader = Reader::new(source, 0, budget)?;
        if reader.u16("the start marker")? != 0xffd8 {
            return Err(corrupt("no start marker".into()));
        }
        Ok(Self {
            reader,
            budget,
            frame: None,
            segments: Vec::new(),
            notes: Vec::new(),
            tables: [const { None }; MAX_COMPONENTS],
            quant: [const { None }; 4],
            dc: [const { None }; 4],
            ac: [const { None }; 4],
            restart_interval: 0,
            scans: 0,
        })
    }

    /// The restart interval in force, in MCUs.
    pub(super) fn restart_interval(&self) -> u16 {
        self.restart_interval
    }

    /// Goes on to the next scan or the end.
    pub(super) fn next(&mut self) -> Result<Stop, Error> {
        loop {
            let Some(marker) = self.marker()? else {
                return Ok(Stop::NoEnd);
            };
            match marker {
                0xd9 => return Ok(Stop::End),
                0xda => return self.scan().map(Stop::Scan),
                0xc0..=0xc2 => self.frame_header(marker)?,
                0xc4 => self.huffman_tables()?,
                0xdb => self.quant_tables()?,
                0xdd => self.restart_interval = self.short_segment("a DRI segment")?,
                0xdc => self.number_of_lines()?,
                0xe0..=0xef | 0xfe => self.keep_segment(marker)?,
                0x01 | 0xd0..=0xd7 => self.note(format!("ignored a stray marker FF{marker:02X}")),
                0xd8 => return Err(self.wrong("a second start marker")),
                other => self.other(other)?,
            }
        }
    }

    /// Passes over entropy-coded data; `None` at the end of the source, else the offset of the marker behind it.
    pub(super) fn skip_data(&mut self) -> Result<Option<u64>, Error> {
        while self.reader.find_ff()?.is_some() {
            let mut byte = Some(0xff);
            while byte == Some(0xff) {
                byte = self.reader.byte()?;
            }
            match byte {
                None => return Ok(None),
                Some(0 | 0xd0..=0xd7) => {}
                Some(_) => {
                    let offset = self.reader.offset() - 2;
                    self.reader.seek(offset);
                    return Ok(Some(offset));
                }
            }
        }
        Ok(None)
    }

    /// The second byte of the next marker; stray bytes before it are noted.
    fn marker(&mut self) -> Result<Option<u8>, Error> {
        let start = self.reader.offset();
        let mut stray = 0_u64;
        loop {
            let mut byte = self.reader.byte()?;
            if byte == Some(0xff) {
                while byte == Some(0xff) {
                    byte = self.reader.byte()?;
                }
                if byte != Some(0) {
                    break self.after_stray(start, stray, byte);
                }
                stray += 1;
            }
            if byte.is_none() {
                break self.after_stray(start, stray, None);
            }
            stray += 1;
        }
    }

    fn after_stray(
        &mut self,
        start: u64,
        stray: u64,
        marker: Option<u8>,
    ) -> Result<Option<u8>, Error> {
        if stray > 0 {
            self.note(format!("passed over {stray} stray bytes at byte {start}"));
        }
        Ok(marker)
    }

    fn note(&mut self, what: String) {
        add_note(&mut self.notes, what);
    }

    fn wrong(&self, what: &str) -> Error {
        corrupt(format!("{what} before byte {}", self.reader.offset()))
    }

    /// Markers that are refused or passed over.
    fn other(&mut self, marker: u8) -> Result<(), Error> {
        let name = match marker {
            0xc3 => "lossless JPEG (SOF3)",
            0xc5..=0xc7 | 0xcd..=0xcf | 0xde | 0xdf => "hierarchical JPEG",
            0xc9 | 0xca => "arithmetic-coded JPEG",
            0xcb => "lossless arithmetic-coded JPEG",
            0xf7 => "JPEG-LS",
            // Arithmetic conditioning, versions, extensions: of no meaning to a Huffman-coded picture.
            0xcc | 0xf0..=0xf6 | 0xf8..=0xfd => return self.skip_segment(marker),
            _ => return Err(self.wrong(&format!("a marker FF{marker:02X} of no known meaning"))),
        };
        Err(Error::Unsupported(name.into()))
    }

    /// Length of a segment's payload.
    fn length(&mut self, of: &str) -> Result<usize, Error> {
        let length = usize::from(self.reader.u16(of)?);
        length
            .checked_sub(2)
            .ok_or_else(|| self.wrong(&format!("a length below 2 in {of}")))
    }

    fn skip_segment(&mut self, marker: u8) -> Result<(), Error> {
        let mut payload = self.payload(marker)?;
        payload.clear();
        self.budget.free(payload);
        self.note(format!("left out a segment FF{marker:02X}"));
        Ok(())
    }

    fn keep_segment(&mut self, marker: u8) -> Result<(), Error> {
        let payload = self.payload(marker)?;
        self.budget.claim(size_of::<Segment>() as u64)?;
        self.segments.push(Segment { marker, payload });
        Ok(())
    }

    fn payload(&mut self, marker: u8) -> Result<Vec<u8>, Error> {
        let of = format!("a segment FF{marker:02X}");
        let length = self.length(&of)?;
        let mut payload = self.budget.vec(length)?;
        payload.resize(length, 0);
        self.reader.exact(&mut payload, &of)?;
        Ok(payload)
    }

    /// A segment that holds one number.
    fn short_segment(&mut self, of: &str) -> Result<u16, Error> {
        if self.length(of)? != 2 {
            return Err(self.wrong(&format!("a wrong length in {of}")));
        }
        self.reader.u16(of)
    }

    /// Reads the DNL segment that stands here; anything else is left alone.
    pub(super) fn number_of_lines_here(&mut self) -> Result<(), Error> {
        match self.marker()? {
            Some(0xdc) => self.number_of_lines(),
            Some(_) | None => Ok(()),
        }
    }

    fn number_of_lines(&mut self) -> Result<(), Error> {
        let lines = self.short_segment("a DNL segment")?;
        match &self.frame {
            Some(frame) if frame.height == lines => Ok(()),
            Some(frame) if frame.height == 0 && lines > 0 && self.scans == 1 => {
                let sampling: Vec<_> = frame
                    .components
                    .iter()
                    .map(|c| (c.id, c.h, c.v, c.table))
                    .collect();
                let taller = Frame::new(frame.coding, frame.width, lines, &sampling);
                self.budget
                    .admit_pixels(u64::from(taller.width), u64::from(lines))?;
                self.frame = Some(taller);
                Ok(())
            }
            _ => Err(self.wrong("a DNL segment that contradicts the frame")),
        }
    }

    /// T.81 B.2.2.
    fn frame_header(&mut self, marker: u8) -> Result<(), Error> {
        const OF: &str = "the frame header";
        let length = self.length(OF)?;
        let precision = self.reader.u8(OF)?;
        let (height, width) = (self.reader.u16(OF)?, self.reader.u16(OF)?);
        let count = usize::from(self.reader.u8(OF)?);
        if self.frame.is_some() {
            return Err(self.wrong("a second frame header"));
        }
        if precision != 8 {
            return Err(Error::Unsupported(format!("{precision}-bit JPEG")));
        }
        if width == 0 || count == 0 || length != 6 + 3 * count {
            return Err(self.wrong("an impossible frame header"));
        }
        if count > MAX_COMPONENTS {
            return Err(Error::Unsupported(format!("a JPEG of {count} components")));
        }
        let sampling = (0..count)
            .map(|_| self.sampling())
            .collect::<Result<Vec<_>, _>>()?;
        self.budget
            .admit_pixels(u64::from(width), u64::from(height.max(1)))?;
        let coding = match marker {
            0xc0 => Coding::Baseline,
            0xc1 => Coding::Extended,
            _ => Coding::Progressive,
        };
        self.frame = Some(Frame::new(coding, width, height, &sampling));
        Ok(())
    }

    /// Identifier, horizontal factor, vertical factor and table number of one component.
    fn sampling(&mut self) -> Result<(u8, u8, u8, u8), Error> {
        const OF: &str = "the frame header";
        let (id, factors, table) = (
            self.reader.u8(OF)?,
            self.reader.u8(OF)?,
            self.reader.u8(OF)?,
        );
        let (h, v) = (factors >> 4, factors & 15);
        if !(1..=4).contains(&h) || !(1..=4).contains(&v) || table > 3 {
            return Err(self.wrong("impossible sampling factors or table number"));
        }
        Ok((id, h, v, table))
    }

    /// T.81 B.2.4.1.
    fn quant_tables(&mut self) -> Result<(), Error> {
        const OF: &str = "a DQT segment";
        let mut left = self.length(OF)?;
        while left > 0 {
            let head = self.reader.u8(OF)?;
            let (wide, slot) = (head >> 4, usize::from(head & 15));
            let size = 1 + 64 * (1 + usize::from(wide));
            if wide > 1 || slot > 3 || size > left {
                return Err(self.wrong("an impossible DQT segment"));
            }
            let mut table = [0; 64];
            for step in &mut table {
                *step = match wide {
                    0 => u16::from(self.reader.u8(OF)?),
                    _ => self.reader.u16(OF)?,
                };
            }
            if table.contains(&0) {
                return Err(self.wrong("a quantisation step of 0"));
            }
            self.quant[slot] = Some(QuantTable(table));
            left -= size;
        }
        Ok(())
    }

    /// T.81 B.2.4.2.
    fn huffman_tables(&mut self) -> Result<(), Error> {
        const OF: &str = "a DHT segment";
        let mut left = self.length(OF)?;
        while left > 0 {
            let head = self.reader.u8(OF)?;
            let (class, slot) = (head >> 4, usize::from(head & 15));
            let mut counts = [0; 16];
            self.reader.exact(&mut counts, OF)?;
            let total: usize = counts.iter().map(|&count| usize::from(count)).sum();
            if class > 1 || slot > 3 || total > 256 || 17 + total > left {
                return Err(self.wrong("an impossible DHT segment"));
            }
            let mut symbols = vec![0; total];
            self.reader.exact(&mut symbols, OF)?;
            let code = Code::new(counts, symbols).map_err(|what| self.wrong(what))?;
            if class == 0 && code.symbols().iter().any(|&symbol| symbol > 15) {
                return Err(self.wrong("a DC code with symbols above 15"));
            }
            let codes = if class == 0 {
                &mut self.dc
            } else {
                &mut self.ac
            };
            codes[slot] = Some(code);
            left -= 17 + total;
        }
        Ok(())
    }

    /// T.81 B.2.3.
    fn scan(&mut self) -> Result<Scan, Error> {
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
