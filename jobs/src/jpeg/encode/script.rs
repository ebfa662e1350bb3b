//! Which scans make a picture smallest, found by counting: bands, and how many bits are left to refinement scans.
//!
//! Scans are independent of each other, so each component is decided alone, first the bits, then the bands. Where bands
//! are kept apart, they stay as they are and each has its own refinement. Nothing is written.

use super::markers::Form;
use super::progressive::Range;
use super::scan::{Kind, Scan};
use super::view::View;
use super::{Counted, Picture, Role};
use crate::Error;

/// Most bits left to refinement: photographs near the quality of the camera want three.
const LOWEST: u8 = 3;
/// All AC coefficients; refinement is not split.
const ALL: Range = (1, 63);
/// Ways to split them.
const SPLITS: [&[Range]; 8] = [
    &[ALL],
    &[(1, 1), (2, 63)],
    &[(1, 2), (3, 63)],
    &[(1, 5), (6, 63)],
    &[(1, 8), (9, 63)],
    &[(1, 12), (13, 63)],
    &[(1, 1), (2, 2), (3, 63)],
    &[(1, 2), (3, 9), (10, 63)],
];

/// How many ways are counted where bands are free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// The bits that suit usual bands, then the bands that suit those bits.
    Quick,
    /// Every split with every number of bits.
    Every,
}

/// The scans that take fewest bytes.
///
/// # Errors
/// None of its own; the signature is that of writing.
pub fn smallest(picture: &Picture<'_>, search: Search) -> Result<Counted, Error> {
    let mut scans = Vec::new();
    for (c, (views, &role)) in picture.views.iter().zip(picture.roles).enumerate() {
        let part = |n: usize| Part {
            c,
            n,
            view: &views[n],
        };
        scans.extend(part(0).dc()?);
        let usual = role.bands(Form::Progressive);
        if views.len() == 1 {
            scans.extend(part(0).split(role, search)?);
            continue;
        }
        for (n, &range) in usual.iter().enumerate() {
            scans.extend(part(n).refined(&[range], range)?.scans());
        }
    }
    scans.sort_by_key(|scan| scan.kind.place());
    Ok(Counted::Progressive(scans))
}

/// A component, or one band of it.
#[derive(Clone, Copy)]
struct Part<'a> {
    c: usize,
    /// Number of its view.
    n: usize,
    view: &'a View<'a>,
}

impl Part<'_> {
    fn dc(self) -> Result<Vec<Scan>, Error> {
        let whole = vec![self.count(Kind::Dc { low: 0 })?];
        let mut refined = vec![self.count(Kind::Dc { low: 1 })?];
        refined.push(self.count(Kind::DcBits { low: 0 })?);
        Ok(smaller(whole, refined))
    }

    /// In bands chosen for it.
    fn split(self, role: Role, search: Search) -> Result<Vec<Scan>, Error> {
        let usual = match role {
            Role::Detail => SPLITS[2],
            Role::Chroma => SPLITS[4],
        };
        let quick = self.refined(usual, ALL)?;
        let lows = match search {
            Search::Quick => quick.low..=quick.low,
            Search::Every => 0..=LOWEST,
        };
        let plain = self.bands(role.bands(Form::Progressive), 0)?;
        let mut best = smaller(plain, quick.scans());
        for low in lows {
            let refining = self.refining(ALL, low)?;
            for split in SPLITS {
                let mut scans = self.bands(split, low)?;
                scans.extend(refining.iter().cloned());
                best = smaller(best, scans);
            }
        }
        Ok(best)
    }

    /// In `bands`, with the number of bits left to refinement of `range` that takes fewest bytes.
    fn refined(self, bands: &[Range], range: Range) -> Result<Refined, Error> {
        let mut best = Refined {
            low: 0,
            first: self.bands(bands, 0)?,
            refining: Vec::new(),
        };
        for low in 1..=LOWEST {
            let mut refining = best.refining.clone();
            refining.push(self.count(Kind::BandBits {
                range,
                low: low - 1,
            })?);
            let next = Refined {
                low,
                first: self.bands(bands, low)?,
                refining,
            };
            if next.bytes() >= best.bytes() {
                break;
            }
            best = next;
        }
        Ok(best)
    }

    /// One scan for each of the lowest `bits` bits.
    fn refining(self, range: Range, bits: u8) -> Result<Vec<Scan>, Error> {
        let scan = |low: u8| self.count(Kind::BandBits { range, low });
        (0..bits).map(scan).collect()
    }

    fn bands(self, ranges: &[Range], low: u8) -> Result<Vec<Scan>, Error> {
        let ranges = ranges.iter();
        ranges
            .map(|&range| self.count(Kind::Band { range, low }))
            .collect()
    }

    fn count(self, kind: Kind) -> Result<Scan, Error> {
        Scan::count(self.c, self.n, self.view, kind)
    }
}

/// First scans with refinement.
struct Refined {
    /// Bits left to refinement.
    low: u8,
    first: Vec<Scan>,
    refining: Vec<Scan>,
}

impl Refined {
    fn bytes(&self) -> u64 {
        total(&self.first) + total(&self.refining)
    }

    fn scans(self) -> Vec<Scan> {
        let mut all = self.first;
        all.extend(self.refining);
        all
    }
}

fn total(scans: &[Scan]) -> u64 {
    scans.iter().map(Scan::bytes).sum()
}

/// The first of two as small.
fn smaller(a: Vec<Scan>, b: Vec<Scan>) -> Vec<Scan> {
    if total(&b) < total(&a) { b } else { a }
}
