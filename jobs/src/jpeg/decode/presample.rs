//! A blind look into a baseline file: short windows of its data, entered anywhere, tell how large the coefficients are
//! before anything is decoded.
//!
//! Huffman streams fall into step by themselves: a decoder that begins in the middle of a code soon meets the right
//! boundaries, and wrong blocks soon meet an impossible code. So each window forgets how it began; a restart marker is
//! a certain boundary and ends the forgetting at once, which files with a marker every few MCUs depend on.

use super::feed::{Cursor, Feed};
use super::header::Header;
use super::huffman::{Lookup, extend};
use super::reader::corrupt;
use super::sequential::AC_BITS;
use crate::{Budget, Error, Source};

/// Windows looked through.
const WINDOWS: u64 = 120;
/// Bytes decoded in each.
const WINDOW: u64 = 400;
/// Bytes forgotten after entering blindly. Bytes and not MCUs, or busy parts of the picture would count for less.
const FORGOTTEN: u64 = 160;
/// Files with less data than this are as quickly decoded.
const WORTHWHILE: u64 = 6 * WINDOWS * WINDOW;

/// Bins of a histogram of magnitudes.
pub const BINS: usize = 32;
/// Magnitudes below this have a bin each; larger ones share two bins to a power of two.
const EXACT: u32 = 16;

/// The bin of a magnitude of at most 2047.
pub fn bin_of(magnitude: u32) -> usize {
    if magnitude < EXACT {
        return magnitude as usize;
    }
    let top = magnitude.ilog2();
    let half = (magnitude >> (top - 1)) & 1;
    ((top - EXACT.ilog2()) * 2 + half + EXACT) as usize
}

/// The smallest magnitude in a bin.
pub fn smallest_in(bin: usize) -> u32 {
    let bin = bin as u32;
    if bin < EXACT {
        return bin;
    }
    let (octave, half) = ((bin - EXACT) / 2, (bin - EXACT) % 2);
    (2 + half) << (octave + EXACT.ilog2() - 1)
}

/// What the blocks of one component held.
#[derive(Debug, Clone)]
pub struct ComponentSample {
    /// Blocks seen.
    pub blocks: u32,
    /// How often each magnitude occurs, by zigzag index and [`bin_of`]; zeros and DC are not counted.
    pub magnitudes: Box<[[u32; BINS]; 64]>,
}

/// What a small part of a file's MCUs held.
#[derive(Debug, Clone)]
pub struct Sample {
    /// By component of the frame.
    pub components: Vec<ComponentSample>,
    /// MCUs seen.
    pub mcus: u32,
    /// Bits they took.
    pub bits: u64,
}

/// Samples the data behind `header`; `None` where that is of no use (several scans, little data).
///
/// Nothing is known about damage afterwards, and bytes behind the picture may have been taken for data.
///
/// # Errors
/// [`Error::OverBudget`], [`Error::Read`].
pub fn sample(
    source: &dyn Source,
    header: &Header,
    budget: &Budget,
) -> Result<Option<Sample>, Error> {
    let start = header.first.data;
    let length = source.len().saturating_sub(start);
    if !header.single_scan() || length < WORTHWHILE {
        return Ok(None);
    }
    let mut sampler = Sampler::new(source, header, budget)?;
    for n in 0..WINDOWS {
        sampler.window(start + n * (length - WINDOW) / WINDOWS)?;
    }
    sampler.feed.free(budget);
    Ok(Some(sampler.sample))
}

/// Why a window goes on differently.
enum Slip {
    /// Bits that mean nothing: out of step.
    Nonsense,
    /// The data came to a marker or to its end.
    Marker,
}

/// The blocks of one component in an MCU.
struct Part {
    component: usize,
    blocks: u32,
    dc: Lookup,
    ac: Lookup,
}

struct Sampler<'a> {
    feed: Feed<'a>,
    cursor: Cursor,
    parts: Vec<Part>,
    /// Coefficients of the MCU being decoded, counted only when it is whole.
    found: Vec<(u8, u8, u8)>,
    interval: u32,
    sample: Sample,
}

impl<'a> Sampler<'a> {
    fn new(source: &'a dyn Source, header: &Header, budget: &Budget) -> Result<Self, Error> {
        let scan = &header.first;
        let parts = scan.parts.iter().filter_map(|part| {
            let component = &header.frame.components[part.component];
            let interleaved = scan.parts.len() > 1;
            let blocks = u32::from(component.h) * u32::from(component.v);
            Some(Part {
                component: part.component,
                blocks: if interleaved { blocks } else { 1 },
                dc: Lookup::new(part.dc.as_ref()?),
                ac: Lookup::new(part.ac.as_ref()?),
            })
        });
        let parts: Vec<_> = parts.collect();
        if parts.is_empty() {
            return Err(corrupt("a scan without Huffman tables".into()));
        }
        let empty = ComponentSample {
            blocks: 0,
            magnitudes: Box::new([[0; BINS]; 64]),
        };
        Ok(Self {
            feed: Feed::new(source, scan.data, WINDOW * 2, budget)?,
            cursor: Cursor::default(),
            parts,
            found: Vec::new(),
            interval: scan.restart_interval,
            sample: Sample {
                components: vec![empty; header.frame.components.len()],
                mcus: 0,
                bits: 0,
            },
        })
    }

    /// Decodes what it can from `start` on.
    fn window(&mut self, start: u64) -> Result<(), Error> {
        self.feed.seek(start);
        self.cursor = Cursor::default();
        // Where counting begins, and the MCUs still to come before a marker once one was seen.
        let (mut trusted, mut left) = (start + FORGOTTEN, None);
        loop {
            let offset = self.feed.offset(&self.cursor);
            if offset >= start + WINDOW {
                return Ok(());
            }
            let slip = if left == Some(0) {
                Some(Slip::Marker)
            } else {
                self.mcu(offset >= trusted).err()
            };
            match slip {
                None => left = left.map(|left: u32| left - 1),
                Some(Slip::Nonsense) => {
                    // An impossible code takes no bits of its own.
                    self.cursor.refill(&mut self.feed);
                    self.cursor.consume(1);
                    (trusted, left) = (offset + FORGOTTEN, None);
                }
                Some(Slip::Marker) => {
                    match self.feed.leave(&mut self.cursor, &mut Vec::new()) {
                        Ok(Some(0xd0..=0xd7)) | Err(Error::Corrupt { .. }) => {}
                        Err(error) => return Err(error),
                        Ok(_) => return Ok(()),
                    }
                    (trusted, left) = (0, Some(self.interval.max(1)));
                }
            }
        }
    }

    /// Decodes an MCU and counts it if `counts`.
    fn mcu(&mut self, counts: bool) -> Result<(), Slip> {
        self.found.clear();
        let mut bits = 0;
        for part in &self.parts {
            for _ in 0..part.blocks {
                bits += block(&mut self.feed, &mut self.cursor, part, &mut self.found)?;
            }
        }
        if !counts {
            return Ok(());
        }
        self.sample.mcus += 1;
        self.sample.bits += u64::from(bits);
        for part in &self.parts {
            self.sample.components[part.component].blocks += part.blocks;
        }
        for &(component, index, bin) in &self.found {
            let of = &mut self.sample.components[usize::from(component)];
            of.magnitudes[usize::from(index)][usize::from(bin)] += 1;
        }
        Ok(())
    }
}

/// Decodes one block into `found`: component, zigzag index and bin of each coefficient. Returns the bits it took.
fn block(
    feed: &mut Feed<'_>,
    cursor: &mut Cursor,
    part: &Part,
    found: &mut Vec<(u8, u8, u8)>,
) -> Result<u32, Slip> {
    let (mut bits, mut index) = (0, 0);
    while index < 64 {
        cursor.refill(feed);
        let code = if index == 0 { &part.dc } else { &part.ac };
        let (length, symbol) = code.symbol(cursor.acc).ok_or(Slip::Nonsense)?;
        cursor.consume(length);
        let (run, size) = match index {
            0 => (0, u32::from(symbol)),
            _ => (u32::from(symbol >> 4), u32::from(symbol & 15)),
        };
        if size > AC_BITS {
            return Err(Slip::Nonsense);
        }
        let value = extend(cursor.acc, size);
        cursor.consume(size);
        bits += length + size;
        if cursor.starved() {
            return Err(Slip::Marker);
        }
        if index > 0 && size == 0 && run < 15 {
            break;
        }
        index += run;
        if index > 63 {
            return Err(Slip::Nonsense);
        }
        if index > 0 && size > 0 {
            let bin = bin_of(value.unsigned_abs()) as u8;
            found.push((part.component as u8, index as u8, bin));
        }
        index += 1;
    }
    Ok(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_in_order_and_cover_all_magnitudes() {
        for magnitude in 1..2048 {
            let bin = bin_of(magnitude);
            assert!(bin < BINS && smallest_in(bin) <= magnitude);
            assert!(smallest_in(bin + 1) > magnitude, "{magnitude}");
            assert_eq!(bin_of(smallest_in(bin)), bin);
        }
    }
}
