//! The frugal way: a picture requantised row by row, with no more than one MCU row in memory.
//!
//! The file is decoded twice. The first time fills the sample that chooses scale and codes, the second time each row is
//! requantised and written. Results are sequential, chroma keeps its sampling, and since the codes come from a sample they
//! cost about a thousandth more.

use super::bits_out::BitWriter;
use super::decode::{Decoder, Ending, Survivors};
use super::encode::emit::Bits;
use super::encode::markers::{self, Form};
use super::encode::sequential::{self, Sequential};
use super::encode::view::{View, ViewRow};
use super::encode::{Role, sequential_header};
use super::frame::{Frame, QuantTable, Segment};
use super::huffman_out::Code;
use super::plane::Plane;
use super::quant::pass::Pass;
use super::quant::plan::Plan;
use super::size_model::{Gatherer, Sample};
use crate::{Budget, Error, Sink, Source};

/// A file to be done row by row.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    /// The file.
    pub source: &'a dyn Source,
    /// Where memory comes from.
    pub budget: &'a Budget,
    /// What the decoder keeps.
    pub keep: &'a Survivors,
    /// Sizes and sampling.
    pub frame: &'a Frame,
    /// Role of each component.
    pub roles: &'a [Role],
}

impl std::fmt::Debug for Rows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rows")
            .field("frame", self.frame)
            .finish_non_exhaustive()
    }
}

impl Rows<'_> {
    /// The first pass: a sample, and what the file holds besides its coefficients.
    ///
    /// # Errors
    /// Those of decoding.
    pub fn sample(&self) -> Result<(Sample, Ending), Error> {
        let components = &self.frame.components;
        let size = |c: &super::frame::Component| (c.blocks_across as usize, c.blocks_down as usize);
        let blocks = components
            .iter()
            .map(size)
            .map(|(across, down)| across * down)
            .sum();
        let mut gatherers = Vec::new();
        for (across, down) in components.iter().map(size) {
            gatherers.push(Gatherer::new(across, down, blocks, self.budget)?);
        }
        let ending =
            Decoder::open(self.source, self.budget)?.rows(self.keep, &mut |_, planes| {
                for (gatherer, plane) in gatherers.iter_mut().zip(planes) {
                    for row in 0..plane.down() {
                        gatherer.row(plane.row(row), self.budget)?;
                    }
                }
                Ok(())
            })?;
        Ok((Sample::from_rows(gatherers), ending))
    }

    /// The second pass: writes the picture by `plan` with codes for what `sample` makes of it; returns its bytes.
    ///
    /// # Errors
    /// Those of decoding, and [`Error::Write`].
    pub fn write(
        &self,
        plan: &Plan,
        sample: &Sample,
        segments: &[&Segment],
        sink: &mut dyn Sink,
    ) -> Result<u64, Error> {
        let counts = sequential::join(&sample.predict(plan).counts, self.roles);
        let codes = counts.histograms.each_ref().map(Code::optimal);
        let mut passes = Vec::new();
        for (c, component) in self.frame.components.iter().enumerate() {
            let size = (component.blocks_across as usize, usize::from(component.v));
            passes.push(Pass::new(
                plan.quantiser(c),
                plan.counter(c),
                size,
                self.budget,
            )?);
        }
        let mut out = self.begin(&plan.tables, segments, &codes, sink)?;
        let mut scan = Sequential::new(self.frame, self.roles);
        Decoder::open(self.source, self.budget)?.rows(self.keep, &mut |_, planes| {
            for ((pass, plane), component) in
                passes.iter_mut().zip(planes).zip(&self.frame.components)
            {
                pass.clear();
                for row in 0..plane.down() {
                    pass.row(View::rows(plane, component).row(row), self.budget)?;
                }
            }
            let done: Vec<&Plane> = passes.iter().map(|pass| &pass.bands[0].plane).collect();
            self.write_row(&done, &codes, &mut scan, &mut out)
        })?;
        end(out)
    }

    /// Counts the file's own symbols.
    ///
    /// # Errors
    /// Those of decoding.
    pub fn count(&self) -> Result<(Box<sequential::Statistics>, Ending), Error> {
        let mut counts = Box::<sequential::Statistics>::default();
        let mut scan = Sequential::new(self.frame, self.roles);
        let ending =
            Decoder::open(self.source, self.budget)?.rows(self.keep, &mut |_, planes| {
                let planes: Vec<&Plane> = planes.iter().collect();
                self.each_mcu_row(&planes, &mut scan, |scan, rows| {
                    scan.mcu_row(rows, counts.as_mut())
                })
            })?;
        Ok((counts, ending))
    }

    /// Writes the file's own coefficients, whose symbols are `counts`; returns the bytes.
    ///
    /// # Errors
    /// Those of decoding, and [`Error::Write`].
    pub fn copy(
        &self,
        counts: &sequential::Statistics,
        tables: &[QuantTable],
        segments: &[&Segment],
        sink: &mut dyn Sink,
    ) -> Result<u64, Error> {
        let codes = counts.histograms.each_ref().map(Code::optimal);
        let mut out = self.begin(tables, segments, &codes, sink)?;
        let mut scan = Sequential::new(self.frame, self.roles);
        Decoder::open(self.source, self.budget)?.rows(self.keep, &mut |_, planes| {
            let planes: Vec<&Plane> = planes.iter().collect();
            self.write_row(&planes, &codes, &mut scan, &mut out)
        })?;
        end(out)
    }

    fn begin<'s>(
        &self,
        tables: &[QuantTable],
        segments: &[&Segment],
        codes: &[Code; sequential::TABLES],
        sink: &'s mut dyn Sink,
    ) -> Result<BitWriter<'s>, Error> {
        let mut out = BitWriter::new(sink);
        out.raw(&markers::picture_header(
            Form::Sequential,
            self.frame,
            tables,
            segments,
        ))?;
        out.raw(&sequential_header(self.frame, self.roles, codes))?;
        Ok(out)
    }

    fn write_row(
        &self,
        planes: &[&Plane],
        codes: &[Code; sequential::TABLES],
        scan: &mut Sequential,
        out: &mut BitWriter<'_>,
    ) -> Result<(), Error> {
        self.each_mcu_row(planes, scan, |scan, rows| {
            let mut bits = Bits::new(codes, out);
            scan.mcu_row(rows, &mut bits)?;
            bits.close();
            Ok(())
        })
    }

    /// Calls `code` for each MCU row of the scan in one MCU row of the frame: one, or each block row of an only component.
    fn each_mcu_row(
        &self,
        planes: &[&Plane],
        scan: &mut Sequential,
        mut code: impl FnMut(&mut Sequential, &mut [ViewRow<'_>]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let views = planes.iter().zip(&self.frame.components);
        let views: Vec<View<'_>> = views
            .map(|(plane, component)| View::rows(plane, component))
            .collect();
        let times = match &views[..] {
            [only] => only.down(),
            _ => 1,
        };
        for n in 0..times {
            let mut rows = Vec::new();
            for (c, view) in views.iter().enumerate() {
                let v = scan.rows_of(c);
                rows.extend((n * v..(n + 1) * v).map(|row| view.row(row)));
            }
            code(scan, &mut rows)?;
        }
        Ok(())
    }
}

fn end(mut out: BitWriter<'_>) -> Result<u64, Error> {
    out.align()?;
    out.raw(&markers::END)?;
    Ok(out.written())
}
