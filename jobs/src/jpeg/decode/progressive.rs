//! Progressive scans (T.81 G), all at once: each scan is a stream of its own, so every scan is advanced by one MCU row and
//! the finished row is handed on. Only one row of coefficients is ever held.

use super::band::Band;
use super::fault::Fault;
use super::feed::{Cursor, Feed};
use super::huffman::{Lookup, extend};
use super::progressive_ac::Ac;
use super::restarts::Restarts;
use super::scan_header::Scan;
use super::sequential::DC_LIMIT;
use crate::jpeg::frame::Frame;
use crate::{Budget, Error, Note, Source};
use std::ops::Range;

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
