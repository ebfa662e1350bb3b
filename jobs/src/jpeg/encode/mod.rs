//! Planes out: counts a picture's symbols, tells its exact size, writes it with the best Huffman tables.
//!
//! [`Picture`] is what is written; [`Counted`] what a counting pass (here, or while requantising) found. The codes are made
//! from the counts, so a count is needed before anything is written; it also gives the size up to byte stuffing.

pub mod emit;
pub mod markers;
pub mod progressive;
pub mod refine;
pub mod scan;
pub mod script;
pub mod sequential;
pub mod view;

use crate::jpeg::bits_out::BitWriter;
use crate::jpeg::frame::{Frame, QuantTable, Segment};
use crate::jpeg::huffman_out::Code;
use crate::{Error, Sink};
use emit::Bits;
use markers::{Class, Form};
use progressive::Range;
use scan::{Kind, Scan};
use sequential::Sequential;
use view::View;

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
    /// Of the progressive scans, as they follow each other.
    Progressive(Vec<Scan>),
}

impl Counted {
    /// The form that was counted.
    pub fn form(&self) -> Form {
        match self {
            Self::Sequential(_) => Form::Sequential,
            Self::Progressive(_) => Form::Progressive,
        }
    }

    /// Of components that were counted while requantising by spectral selection.
    pub fn spectral(roles: &[Role], counted: &[progressive::Statistics]) -> Self {
        let mut scans: Vec<Scan> = Vec::new();
        for (c, (role, counts)) in roles.iter().zip(counted).enumerate() {
            scans.extend(Scan::spectral(c, role.bands(Form::Progressive), counts));
        }
        // All DC scans first, so that a viewer has the whole picture early.
        scans.sort_by_key(|scan| scan.kind.place());
        Self::Progressive(scans)
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
            Self::Progressive(scans) => {
                let old = std::mem::take(scans);
                scans.extend(old.into_iter().map(Scan::with_every_ending));
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
                let mut scans = Vec::new();
                for (c, (views, role)) in self.views.iter().zip(self.roles).enumerate() {
                    scans.push(Scan::count(c, 0, &views[0], Kind::Dc { low: 0 })?);
                    for (n, &range) in role.bands(form).iter().enumerate() {
                        let view = band_view(views, n);
                        scans.push(Scan::count(c, n, &view, Kind::Band { range, low: 0 })?);
                    }
                }
                scans.sort_by_key(|scan| scan.kind.place());
                Counted::Progressive(scans)
            }
        })
    }

    /// Counts the picture sequentially; `counted` holds what its components counted while they were requantised.
    pub fn count_in_mcus(&self, counted: &[progressive::Statistics]) -> Counted {
        let scan = Sequential::new(self.frame, self.roles);
        let mut counts = Box::<sequential::Statistics>::default();
        for (c, (views, component)) in self.views.iter().zip(counted).enumerate() {
            scan.count(c, &views[0], &component.histograms[1], &mut counts);
        }
        Counted::Sequential(counts)
    }

    /// Counts the picture in the scans of `counted`, which was counted of a picture like it.
    ///
    /// # Errors
    /// None of its own; the signature is that of writing.
    pub fn count_again(&self, counted: &Counted) -> Result<Counted, Error> {
        let Counted::Progressive(scans) = counted else {
            return self.count(counted.form());
        };
        let again = |scan: &Scan| {
            let view = band_view(&self.views[scan.component], scan.view);
            Scan::count(scan.component, scan.view, &view, scan.kind)
        };
        let scans = scans.iter().map(again).collect::<Result<_, Error>>()?;
        Ok(Counted::Progressive(scans))
    }

    /// Exact bytes of the picture as counted, without the zeros that byte stuffing will add.
    pub fn bytes(&self, counted: &Counted) -> u64 {
        let header =
            markers::picture_header(counted.form(), self.frame, self.tables, self.segments);
        let scans = match counted {
            Counted::Sequential(counts) => sequential_bytes(counts, self.frame.components.len()),
            Counted::Progressive(scans) => scans.iter().map(Scan::bytes).sum(),
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
            Counted::Progressive(scans) => {
                for scan in scans {
                    scan.write(self, &mut out)?;
                }
            }
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
    out.extend(markers::scan_header(&components, (0, 63), (0, 0)));
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
    definitions + markers::scan_header_bytes(components) + bits.div_ceil(8)
}

#[cfg(test)]
mod tests;
