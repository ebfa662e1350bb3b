//! A blind look into a baseline file: short windows of its data, entered anywhere, tell how large the coefficients are
//! before anything is decoded.
//!
//! Huffman streams fall into step by themselves: a decoder that begins in the middle of a code soon meets the right
//! boundaries, and wrong blocks soon meet an impossible code. So each window forgets how it began; a restart marker is
//! a certain boundary and ends the forgetting at once, which files with a marker every few MCUs depend on.

use super::coefficients::AC_BITS;
use super::feed::{Cursor, Feed};
use super::header::Header;
use super::huffman::{Lookup, extend};
use super::reader::corrupt;
use crate::jpeg::plane::put_word;
use crate::{Budget, Error, Source};

/// Windows looked through.
const WINDOWS: u64 = 120;
/// Bytes decoded in each.
const WINDOW: u64 = 400;
/// Bytes forgotten after entering blindly. Bytes and not MCUs, or busy parts of the picture would count for less.
const FORGOTTEN: u64 = 160;
/// Files with less data than this are as quickly decoded.
const WORTHWHILE: u64 = 6 * WINDOWS * WINDOW;

/// What the blocks of one component held, in the order they were seen in.
#[derive(Debug, Clone, Default)]
pub struct ComponentSample {
    /// DC difference of each block.
    pub differences: Vec<i16>,
    /// Words of each block.
    pub lengths: Vec<u8>,
    /// AC coefficients of all blocks, as [`put_word`] writes them.
    pub words: Vec<u16>,
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
    /// The MCU being decoded, counted only when it is whole: component, DC difference and words of each block.
    found: Vec<(usize, i16, usize)>,
    /// Words of its blocks.
    words: Vec<u16>,
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
        Ok(Self {
            feed: Feed::new(source, scan.data, WINDOW * 2, budget)?,
            cursor: Cursor::default(),
            parts,
            found: Vec::new(),
            words: Vec::new(),
            interval: scan.restart_interval,
            sample: Sample {
                components: vec![ComponentSample::default(); header.frame.components.len()],
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
        self.words.clear();
        let mut bits = 0;
        for part in &self.parts {
            for _ in 0..part.blocks {
                let before = self.words.len();
                let (own, difference) =
                    block(&mut self.feed, &mut self.cursor, part, &mut self.words)?;
                bits += own;
                let words = self.words.len() - before;
                self.found.push((part.component, difference, words));
            }
        }
        if !counts {
            return Ok(());
        }
        self.sample.mcus += 1;
        self.sample.bits += u64::from(bits);
        let mut words = &self.words[..];
        for &(component, difference, length) in &self.found {
            let (own, rest) = words.split_at(length);
            words = rest;
            let of = &mut self.sample.components[component];
            of.differences.push(difference);
            of.lengths.push(length as u8);
            of.words.extend_from_slice(own);
        }
        Ok(())
    }
}

/// Decodes a block, appending the words of its AC coefficients. Returns the bits it took and its DC difference.
fn block(
    feed: &mut Feed<'_>,
    cursor: &mut Cursor,
    part: &Part,
    words: &mut Vec<u16>,
) -> Result<(u32, i16), Slip> {
    let (mut bits, mut index, mut difference) = (0, 0, 0);
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
        if index == 0 {
            difference = value as i16;
        } else if size > 0 {
            let mut pair = [0; 2];
            let used = put_word(&mut pair, index as usize, value as i16);
            words.extend_from_slice(&pair[..used]);
        }
        index += 1;
    }
    Ok((bits, difference))
}
