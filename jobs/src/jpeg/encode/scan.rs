//! One scan of a progressive picture: what it codes, its counts, its bytes, its writing. Which scans a picture has is
//! decided elsewhere.

use super::Picture;
use super::emit::{Bits, Counts, Emit};
use super::markers::{self, Class};
use super::progressive::{Band, Dc, Range, Statistics};
use super::refine::{Refinement, dc_bits};
use super::view::View;
use crate::Error;
use crate::jpeg::bits_out::BitWriter;
use crate::jpeg::huffman_out::Code;

/// DC values coded between two looks at the room left: each takes at most four bytes.
const DC_AT_ONCE: usize = 64;

/// What a scan codes. `low` is the number of bits left to later scans (Al of T.81 B.2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// DC values without their lowest bits.
    Dc {
        /// Bits left to later scans.
        low: u8,
    },
    /// One more bit of DC values.
    DcBits {
        /// Bits left to later scans.
        low: u8,
    },
    /// A band of AC coefficients without their lowest bits.
    Band {
        /// Its zigzag indices.
        range: Range,
        /// Bits left to later scans.
        low: u8,
    },
    /// One more bit of a band.
    BandBits {
        /// Its zigzag indices.
        range: Range,
        /// Bits left to later scans.
        low: u8,
    },
}

/// A scan of one component with its counts.
#[derive(Debug, Clone)]
pub struct Scan {
    /// Number of the component in the frame.
    pub component: usize,
    /// Number of the view that holds the band, see [`Picture::views`].
    pub view: usize,
    /// What is coded.
    pub kind: Kind,
    /// Its symbols and bits.
    pub counts: Counts<1>,
}

impl Scan {
    /// Counts the scan over `view`, the number `n` of the component's.
    ///
    /// # Errors
    /// None of its own; the signature is that of writing.
    pub fn count(component: usize, n: usize, view: &View<'_>, kind: Kind) -> Result<Self, Error> {
        let mut counts = Counts::default();
        code(view, kind, &mut counts)?;
        Ok(Self {
            component,
            view: n,
            kind,
            counts,
        })
    }

    /// The scans of a component by spectral selection, whose symbols were counted while requantising.
    pub fn spectral(component: usize, bands: &[Range], counted: &Statistics) -> Vec<Self> {
        let band = |(view, &range): (usize, &Range)| (view, Kind::Band { range, low: 0 });
        let kinds = std::iter::once((0, Kind::Dc { low: 0 }));
        let kinds = kinds.chain(bands.iter().enumerate().map(band));
        kinds
            .zip(&counted.histograms)
            .map(|((view, kind), histogram)| Self {
                component,
                view,
                kind,
                counts: Counts {
                    histograms: [histogram.clone()],
                    ..Counts::default()
                },
            })
            .collect()
    }

    /// Bytes of DHT, SOS and data, without stuffing.
    pub fn bytes(&self) -> u64 {
        let [histogram] = &self.counts.histograms;
        let (mut bits, mut tables) = (self.counts.bits, 0);
        if self.class().is_some() {
            let code = Code::optimal(histogram);
            bits += code.cost(histogram) + histogram.extra_bits();
            tables = 4 + code.definition_bytes();
        }
        tables + markers::scan_header_bytes(1) + bits.div_ceil(8)
    }

    /// Writes tables, header and data.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write(&self, picture: &Picture<'_>, out: &mut BitWriter<'_>) -> Result<(), Error> {
        let codes = self.counts.histograms.each_ref().map(Code::optimal);
        if let Some(class) = self.class() {
            out.raw(&markers::huffman_tables(&[(class, 0, &codes[0])]))?;
        }
        let id = picture.frame.components[self.component].id;
        let (range, bits) = self.kind.parameters();
        out.raw(&markers::scan_header(&[(id, 0, 0)], range, bits))?;
        let mut place = Bits::new(&codes, out);
        let view = &super::band_view(&picture.views[self.component], self.view);
        code(view, self.kind, &mut place)?;
        place.close();
        out.align()
    }

    /// Of its Huffman table, if it needs one.
    fn class(&self) -> Option<Class> {
        match self.kind {
            Kind::Dc { .. } => Some(Class::Dc),
            Kind::DcBits { .. } => None,
            Kind::Band { .. } | Kind::BandBits { .. } => Some(Class::Ac),
        }
    }

    /// With every symbol that leaving out last coefficients may bring: ends of band.
    pub fn with_every_ending(mut self) -> Self {
        if self.class() == Some(Class::Ac) {
            for size in 0..15 {
                let count = &mut self.counts.histograms[0].0[size << 4];
                *count = (*count).max(1);
            }
        }
        self
    }
}

impl Kind {
    /// First and last zigzag index; bits sent before (one more than are left then) and bits left.
    fn parameters(self) -> ((u8, u8), (u8, u8)) {
        match self {
            Self::Dc { low } => ((0, 0), (0, low)),
            Self::DcBits { low } => ((0, 0), (low + 1, low)),
            Self::Band { range, low } => ((range.0 as u8, range.1 as u8), (0, low)),
            Self::BandBits { range, low } => ((range.0 as u8, range.1 as u8), (low + 1, low)),
        }
    }

    /// Where in the file it stands: what shows the picture early comes first, and each bit after those above it.
    pub fn place(self) -> (u8, u8) {
        match self {
            Self::Dc { .. } => (0, 0),
            Self::Band { .. } => (1, 0),
            Self::BandBits { low, .. } => (2, u8::MAX - low),
            Self::DcBits { low } => (3, u8::MAX - low),
        }
    }
}

fn code(view: &View<'_>, kind: Kind, out: &mut impl Emit) -> Result<(), Error> {
    match kind {
        Kind::Dc { low } => dc_scan(view, low, out),
        Kind::DcBits { low } => {
            (0..view.down()).try_for_each(|row| dc_bits(view.row(row).dc_values(), low, out))
        }
        Kind::Band { range, low: 0 } => band_scan::<false>(view, range, 0, out),
        Kind::Band { range, low } => band_scan::<true>(view, range, low, out),
        Kind::BandBits { range, low } => refining_scan(view, range, low, out),
    }
}

fn dc_scan(view: &View<'_>, low: u8, out: &mut impl Emit) -> Result<(), Error> {
    let mut coder = Dc::default();
    for row in 0..view.down() {
        for values in view.row(row).dc_values().chunks(DC_AT_ONCE) {
            out.room()?;
            for &dc in values {
                coder.block(dc >> low, out);
            }
        }
    }
    Ok(())
}

/// `IS_COARSE`: `low` is not 0.
fn band_scan<const IS_COARSE: bool>(
    view: &View<'_>,
    range: Range,
    low: u8,
    out: &mut impl Emit,
) -> Result<(), Error> {
    let mut coder = Band::new(0, range);
    for row in 0..view.down() {
        let mut blocks = view.row(row);
        let (across, mut done) = (blocks.dc_values().len(), 0);
        while let Some((column, mut words)) = blocks.next_filled() {
            out.room()?;
            coder.skip((column - done) as u32, out);
            if IS_COARSE {
                coder.coarse_block(words, low, out);
            } else {
                coder.block(&mut words, out);
            }
            done = column + 1;
        }
        out.room()?;
        coder.skip((across - done) as u32, out);
    }
    out.room()?;
    coder.finish(out);
    Ok(())
}

fn refining_scan(view: &View<'_>, range: Range, low: u8, out: &mut impl Emit) -> Result<(), Error> {
    let mut coder = Refinement::new(range, low);
    for row in 0..view.down() {
        let mut blocks = view.row(row);
        let (across, mut done) = (blocks.dc_values().len(), 0);
        while let Some((column, words)) = blocks.next_filled() {
            coder.skip((column - done) as u32, out)?;
            coder.block(words, out)?;
            done = column + 1;
        }
        coder.skip((across - done) as u32, out)?;
    }
    coder.finish(out)
}
