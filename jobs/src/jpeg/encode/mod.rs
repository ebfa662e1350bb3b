//! Planes out: counts a picture's symbols, tells its exact size, writes it with the best Huffman tables.
//!
//! [`Picture`] is what is written; [`Counted`] what a counting pass (here, or while requantising) found. The codes are made
//! from the counts, so a count is needed before anything is written; it also gives the size up to byte stuffing.

pub mod emit;
pub mod markers;
pub mod progressive;
pub mod sequential;
pub mod view;

use crate::jpeg::bits_out::BitWriter;
use crate::jpeg::frame::{Frame, QuantTable, Segment};
use crate::jpeg::huffman_out::{Code, Histogram};
use crate::{Error, Sink};
use emit::{Bits, Counts};
use markers::{Class, Form};
use progressive::{Band, Dc, Range};
use sequential::Sequential;
use view::View;

/// DC values coded between two looks at the room left: each takes at most four bytes.
const DC_AT_ONCE: usize = 64;

/// What a component shows, as far as coding is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Luma, gray, or a channel of RGB or CMYK.
    Detail,
    /// Colour difference.
    Chroma,
}

impl Role {
    /// AC bands of a result in `form`.
    pub fn bands(self, form: Form) -> &'static [Range] {
        match (form, self) {
            (Form::Sequential, _) => progressive::SEQUENTIAL,
            (Form::Progressive, Self::Detail) => progressive::DETAIL,
            (Form::Progressive, Self::Chroma) => progressive::CHROMA,
        }
    }
}

/// A picture to be written.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    /// Sizes, sampling and component ids.
    pub frame: &'a Frame,
    /// Table of each component.
    pub tables: &'a [QuantTable],
    /// Role of each component.
    pub roles: &'a [Role],
    /// Segments to write, in order.
    pub segments: &'a [&'a Segment],
    /// Blocks of each component: one view of all bands, or one for each band of the form.
    pub views: &'a [Vec<View<'a>>],
}

/// The view that holds band `n`.
fn band_view<'a>(views: &[View<'a>], n: usize) -> View<'a> {
    views[n.min(views.len() - 1)]
}

/// Symbols of a picture in one of the two forms.
#[derive(Debug, Clone)]
pub enum Counted {
    /// Of the one sequential scan.
    Sequential(Box<sequential::Statistics>),
    /// Of each component's progressive scans.
    Progressive(Vec<progressive::Statistics>),
}

impl Counted {
    /// The form that was counted.
    pub fn form(&self) -> Form {
        match self {
            Self::Sequential(_) => Form::Sequential,
            Self::Progressive(_) => Form::Progressive,
        }
    }

    /// With every symbol that leaving out last coefficients may bring: ends of block and of band.
    pub fn with_every_ending(&self) -> Self {
        let mut all = self.clone();
        match &mut all {
            Self::Sequential(counts) => {
                for table in [1, 3] {
                    counts.histograms[table].0[0] = counts.histograms[table].0[0].max(1);
                }
            }
            Self::Progressive(components) => {
                let tables = components
                    .iter_mut()
                    .flat_map(|counts| &mut counts.histograms[1..]);
                for histogram in tables {
                    for size in 0..15 {
                        let count = &mut histogram.0[size << 4];
                        *count = (*count).max(1);
                    }
                }
            }
        }
        all
    }
}

impl Picture<'_> {
    /// Counts the symbols of the picture in `form`.
    ///
    /// # Errors
    /// None of its own; the signature is that of writing.
    pub fn count(&self, form: Form) -> Result<Counted, Error> {
        Ok(match form {
            Form::Sequential => {
                let mut counts = Box::<sequential::Statistics>::default();
                self.sequential_scan(counts.as_mut())?;
                Counted::Sequential(counts)
            }
            Form::Progressive => {
                let count = |(views, role): (&Vec<View<'_>>, &Role)| {
                    let mut counts = progressive::Statistics::default();
                    dc_scan(&views[0], &mut counts)?;
                    for (n, &range) in role.bands(Form::Progressive).iter().enumerate() {
                        band_scan(&band_view(views, n), n + 1, range, &mut counts)?;
                    }
                    Ok(counts)
                };
                let pairs = self.views.iter().zip(self.roles);
                Counted::Progressive(pairs.map(count).collect::<Result<_, Error>>()?)
            }
        })
    }

    /// Exact bytes of the picture as counted, without the zeros that byte stuffing will add.
    pub fn bytes(&self, counted: &Counted) -> u64 {
        let header =
            markers::picture_header(counted.form(), self.frame, self.tables, self.segments);
        let scans = match counted {
            Counted::Sequential(counts) => sequential_bytes(counts, self.frame.components.len()),
            Counted::Progressive(all) => {
                let pairs = all.iter().zip(self.roles);
                pairs
                    .map(|(counts, role)| progressive_bytes(counts, *role))
                    .sum()
            }
        };
        header.len() as u64 + scans + markers::END.len() as u64
    }

    /// Writes the picture; returns its bytes. Every symbol of the picture must have been counted at least once.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write(&self, counted: &Counted, sink: &mut dyn Sink) -> Result<u64, Error> {
        let mut out = BitWriter::new(sink);
        let header =
            markers::picture_header(counted.form(), self.frame, self.tables, self.segments);
        out.raw(&header)?;
        match counted {
            Counted::Sequential(counts) => self.write_sequential(counts, &mut out)?,
            Counted::Progressive(all) => self.write_progressive(all, &mut out)?,
        }
        out.raw(&markers::END)?;
        Ok(out.written())
    }

    fn write_sequential(
        &self,
        counts: &sequential::Statistics,
        out: &mut BitWriter<'_>,
    ) -> Result<(), Error> {
        let codes = counts.histograms.each_ref().map(Code::optimal);
        out.raw(&sequential_header(self.frame, self.roles, &codes))?;
        let mut bits = Bits::new(&codes, out);
        self.sequential_scan(&mut bits)?;
        bits.close();
        out.align()
    }

    fn sequential_scan(&self, out: &mut impl emit::Emit) -> Result<(), Error> {
        let mut scan = Sequential::new(self.frame, self.roles);
        for mcu_row in 0..scan.mcus_down() {
            let mut rows = Vec::new();
            for (c, views) in self.views.iter().enumerate() {
                let v = scan.rows_of(c);
                rows.extend((mcu_row * v..(mcu_row + 1) * v).map(|row| views[0].row(row)));
            }
            scan.mcu_row(&mut rows, out)?;
        }
        Ok(())
    }

    fn write_progressive(
        &self,
        all: &[progressive::Statistics],
        out: &mut BitWriter<'_>,
    ) -> Result<(), Error> {
        let codes: Vec<_> = all
            .iter()
            .map(|counts| counts.histograms.each_ref().map(Code::optimal))
            .collect();
        // All DC scans first, so that a viewer has the whole picture early.
        for ((component, views), codes) in self.frame.components.iter().zip(self.views).zip(&codes)
        {
            let code = &codes[progressive::DC];
            out.raw(&markers::huffman_tables(&[(Class::Dc, 0, code)]))?;
            out.raw(&markers::scan_header(&[(component.id, 0, 0)], 0, 0))?;
            let mut bits = Bits::new(codes, out);
            dc_scan(&views[0], &mut bits)?;
            bits.close();
            out.align()?;
        }
        let components = self.frame.components.iter().zip(self.roles);
        for (((component, role), views), codes) in components.zip(self.views).zip(&codes) {
            for (n, &range) in role.bands(Form::Progressive).iter().enumerate() {
                out.raw(&markers::huffman_tables(&[(Class::Ac, 0, &codes[n + 1])]))?;
                let (first, last) = (range.0 as u8, range.1 as u8);
                out.raw(&markers::scan_header(&[(component.id, 0, 0)], first, last))?;
                let mut bits = Bits::new(codes, out);
                band_scan(&band_view(views, n), n + 1, range, &mut bits)?;
                bits.close();
                out.align()?;
            }
        }
        Ok(())
    }
}

fn dc_scan(view: &View<'_>, out: &mut impl emit::Emit) -> Result<(), Error> {
    let mut coder = Dc::default();
    for row in 0..view.down() {
        for values in view.row(row).dc_values().chunks(DC_AT_ONCE) {
            out.room()?;
            for &dc in values {
                coder.block(dc, out);
            }
        }
    }
    Ok(())
}

fn band_scan(
    view: &View<'_>,
    table: usize,
    range: Range,
    out: &mut impl emit::Emit,
) -> Result<(), Error> {
    let mut coder = Band::new(table, range);
    for row in 0..view.down() {
        let mut blocks = view.row(row);
        let across = blocks.dc_values().len();
        let mut done = 0;
        while let Some((column, mut words)) = blocks.next_filled() {
            out.room()?;
            coder.skip((column - done) as u32, out);
            coder.block(&mut words, out);
            done = column + 1;
        }
        out.room()?;
        coder.skip((across - done) as u32, out);
    }
    out.room()?;
    coder.finish(out);
    Ok(())
}

/// Huffman tables in use and the scan header of the sequential form.
pub fn sequential_header(
    frame: &Frame,
    roles: &[Role],
    codes: &[Code; sequential::TABLES],
) -> Vec<u8> {
    let mut tables = Vec::new();
    for (destination, pair) in (0_u8..).zip(codes.as_chunks::<2>().0) {
        if !pair[0].symbols.is_empty() {
            tables.push((Class::Dc, destination, &pair[0]));
            tables.push((Class::Ac, destination, &pair[1]));
        }
    }
    let components: Vec<(u8, u8, u8)> = frame
        .components
        .iter()
        .zip(roles)
        .map(|(component, &role)| {
            let table = u8::from(role == Role::Chroma);
            (component.id, table, table)
        })
        .collect();
    let mut out = markers::huffman_tables(&tables);
    out.extend(markers::scan_header(&components, 0, 63));
    out
}

/// Bytes of DHT, SOS and data of the sequential scan.
fn sequential_bytes(counts: &sequential::Statistics, components: usize) -> u64 {
    let (mut bits, mut definitions) = (0, 4);
    for histogram in &counts.histograms {
        if histogram.total() > 0 {
            let code = Code::optimal(histogram);
            bits += code.cost(histogram) + histogram.extra_bits();
            definitions += code.definition_bytes();
        }
    }
    definitions + scan_header_bytes(components) + bits.div_ceil(8)
}

/// Bytes of DHT, SOS and data of all scans of a component.
fn progressive_bytes(counts: &progressive::Statistics, role: Role) -> u64 {
    let scans = 0..=role.bands(Form::Progressive).len();
    scans.map(|table| table_bytes(counts, table)).sum()
}

fn table_bytes(counts: &Counts<{ progressive::TABLES }>, table: usize) -> u64 {
    let histogram: &Histogram = &counts.histograms[table];
    let code = Code::optimal(histogram);
    let bits = code.cost(histogram) + histogram.extra_bits();
    4 + code.definition_bytes() + scan_header_bytes(1) + bits.div_ceil(8)
}

fn scan_header_bytes(components: usize) -> u64 {
    8 + 2 * components as u64
}

#[cfg(test)]
mod tests;
