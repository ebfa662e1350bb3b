//! Markers and segments in file order (T.81 annex B): tables, frame, scans' parameters, metadata. No entropy-coded bit.
//!
//! [`Markers::next`] goes on to the next scan or the end; whoever calls it decodes or skips the scan's data in between.

use super::feed::add_note;
use super::huffman::Code;
use super::reader::{Reader, corrupt};
use super::scan_header::Scan;
use crate::jpeg::frame::{Coding, Frame, MAX_COMPONENTS, QuantTable, Segment};
use crate::{Budget, Error, Note, Source};

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
    /// Quantisation tables in force.
    pub(super) quant: [Option<QuantTable>; 4],
    /// DC codes in force.
    pub(super) dc: [Option<Code>; 4],
    /// AC codes in force.
    pub(super) ac: [Option<Code>; 4],
    /// MCUs between restart markers.
    pub(super) restart_interval: u16,
    /// Scans so far.
    pub(super) scans: u32,
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
                0xda => return self.scan_header().map(Stop::Scan),
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

    /// Notes something odd.
    pub(super) fn note(&mut self, what: String) {
        add_note(&mut self.notes, what);
    }

    /// Damage that was met just now.
    pub(super) fn wrong(&self, what: &str) -> Error {
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
    pub(super) fn length(&mut self, of: &str) -> Result<usize, Error> {
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
}
