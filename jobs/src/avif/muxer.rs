//! A still picture as an AVIF file: the boxes around AV1's bytes (ISO/IEC 23008-12, and the AV1 Image File Format
//! specification of AOMedia, version 1.1). Knows no pixels.

use super::planes::Sampling;
use crate::Error;

/// Items in the order of their bytes; their numbers in the file begin with 1.
const COLOUR: u16 = 1;
const ALPHA: u16 = 2;
const EXIF: u16 = 3;
const XMP: u16 = 4;

/// Before EXIF: where its TIFF header begins, which is right behind.
const EXIF_HEAD: [u8; 4] = [0; 4];

/// What goes into a file.
#[derive(Debug, Clone)]
pub(super) struct Contents<'a> {
    /// Width and height as stored.
    pub(super) size: (u32, u32),
    /// Bits of a sample.
    pub(super) bits: u8,
    /// Resolution of chroma.
    pub(super) sampling: Sampling,
    /// Primaries, transfer and matrix (ITU-T H.273).
    pub(super) colours: [u8; 3],
    /// 1 to 8.
    pub(super) orientation: u8,
    /// Colour profile.
    pub(super) icc: Option<&'a [u8]>,
    /// EXIF as a TIFF structure.
    pub(super) exif: Option<&'a [u8]>,
    /// XMP packet.
    pub(super) xmp: Option<&'a [u8]>,
    /// Alpha as AV1 without chroma.
    pub(super) alpha: Option<&'a [u8]>,
    /// The picture as AV1.
    pub(super) colour: &'a [u8],
}

impl Contents<'_> {
    /// Bytes of the whole file.
    pub(super) fn length(&self) -> u64 {
        self.head().len() as u64 + self.items().iter().map(Item::length).sum::<usize>() as u64
    }

    /// Writes the file.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub(super) fn write(&self, sink: &mut dyn crate::Sink) -> Result<(), Error> {
        let mut put = |bytes: &[u8]| sink.write(bytes).map_err(Error::Write);
        put(&self.head())?;
        for item in self.items() {
            put(item.before)?;
            put(item.bytes)?;
        }
        Ok(())
    }

    fn items(&self) -> Vec<Item<'_>> {
        let item = |id, kind, before, bytes| Item {
            id,
            kind,
            before,
            bytes,
        };
        let mut items = vec![item(COLOUR, b"av01", &[][..], self.colour)];
        items.extend(self.alpha.map(|bytes| item(ALPHA, b"av01", &[], bytes)));
        items.extend(
            self.exif
                .map(|bytes| item(EXIF, b"Exif", &EXIF_HEAD, bytes)),
        );
        items.extend(self.xmp.map(|bytes| item(XMP, b"mime", &[], bytes)));
        items
    }

    /// Everything before the bytes of the items.
    fn head(&self) -> Vec<u8> {
        let items = self.items();
        let mut head = Vec::new();
        self.file_type(&mut head);
        // The places of items come after the size of what stands before them, which does not depend on them.
        let meta = self.meta(&items, 0).len();
        let first = head.len() + meta + 8;
        head.extend(self.meta(&items, first as u32));
        let bytes: usize = items.iter().map(Item::length).sum();
        head.extend((bytes as u32 + 8).to_be_bytes());
        head.extend(b"mdat");
        head
    }

    fn file_type(&self, out: &mut Vec<u8>) {
        boxed(out, b"ftyp", |out| {
            out.extend(b"avif\0\0\0\0avifmif1miaf");
            // The baseline and the advanced profile; the second has full chroma.
            match self.sampling {
                Sampling::None | Sampling::Quarter => out.extend(b"MA1B"),
                Sampling::Full => out.extend(b"MA1A"),
                Sampling::Half => {}
            }
        });
    }

    fn meta(&self, items: &[Item<'_>], first: u32) -> Vec<u8> {
        let mut out = Vec::new();
        full(&mut out, b"meta", 0, |out| {
            full(out, b"hdlr", 0, |out| {
                out.extend(b"\0\0\0\0pict\0\0\0\0\0\0\0\0\0\0\0\0\0");
            });
            full(out, b"pitm", 0, |out| out.extend(COLOUR.to_be_bytes()));
            full(out, b"iloc", 0, |out| places(out, items, first));
            full(out, b"iinf", 0, |out| infos(out, items));
            if items.len() > 1 {
                full(out, b"iref", 0, |out| references(out, items));
            }
            boxed(out, b"iprp", |out| self.properties(out));
        });
        out
    }

    /// The properties, and which item has which.
    fn properties(&self, out: &mut Vec<u8>) {
        let mut list = Vec::new();
        let (mut own, mut alphas) = (Vec::new(), Vec::new());
        let mut number = 0;
        let mut add = |essential: bool, bytes: Vec<u8>| {
            list.extend(bytes);
            number += 1;
            u8::from(essential) << 7 | number
        };
        let size = add(false, self.extent());
        own.push(size);
        own.push(add(
            false,
            depths(self.bits, self.sampling != Sampling::None),
        ));
        own.push(add(
            true,
            configuration(self.colour, self.bits, self.sampling),
        ));
        own.push(add(false, self.nclx()));
        own.extend(self.icc.map(|icc| add(false, profile(icc))));
        let (angle, mirror) = transform(self.orientation);
        let turned = (angle > 0).then(|| add(true, simple(b"irot", &[angle])));
        let mirrored = mirror.map(|axis| add(true, simple(b"imir", &[axis])));
        let transforms: Vec<u8> = turned.into_iter().chain(mirrored).collect();
        own.extend(&transforms);
        if let Some(alpha) = self.alpha {
            alphas.push(size);
            alphas.push(add(false, depths(self.bits, false)));
            alphas.push(add(true, configuration(alpha, self.bits, Sampling::None)));
            alphas.push(add(false, auxiliary()));
            alphas.extend(&transforms);
        }
        boxed(out, b"ipco", |out| out.extend(list));
        full(out, b"ipma", 0, |out| {
            let entries = [(COLOUR, own), (ALPHA, alphas)];
            let entries = || entries.iter().filter(|(_, list)| !list.is_empty());
            out.extend((entries().count() as u32).to_be_bytes());
            for (item, list) in entries() {
                out.extend(item.to_be_bytes());
                out.push(list.len() as u8);
                out.extend(list);
            }
        });
    }

    fn extent(&self) -> Vec<u8> {
        let (width, height) = self.size;
        let mut out = Vec::new();
        full(&mut out, b"ispe", 0, |out| {
            out.extend(width.to_be_bytes());
            out.extend(height.to_be_bytes());
        });
        out
    }

    fn nclx(&self) -> Vec<u8> {
        let mut bytes = b"nclx".to_vec();
        for number in self.colours {
            bytes.extend(u16::from(number).to_be_bytes());
        }
        // Full range.
        bytes.push(0x80);
        simple(b"colr", &bytes)
    }
}

/// One item's bytes.
#[derive(Debug)]
struct Item<'a> {
    id: u16,
    kind: &'static [u8; 4],
    before: &'a [u8],
    bytes: &'a [u8],
}

impl Item<'_> {
    fn length(&self) -> usize {
        self.before.len() + self.bytes.len()
    }
}

fn places(out: &mut Vec<u8>, items: &[Item<'_>], first: u32) {
    // Offsets and lengths of four bytes, no base.
    out.extend([0x44, 0]);
    out.extend((items.len() as u16).to_be_bytes());
    let mut offset = first;
    for item in items {
        out.extend(item.id.to_be_bytes());
        // This file; one piece.
        out.extend([0, 0, 0, 1]);
        out.extend(offset.to_be_bytes());
        out.extend((item.length() as u32).to_be_bytes());
        offset += item.length() as u32;
    }
}

fn infos(out: &mut Vec<u8>, items: &[Item<'_>]) {
    out.extend((items.len() as u16).to_be_bytes());
    for item in items {
        full(out, b"infe", 2, |out| {
            out.extend(item.id.to_be_bytes());
            out.extend([0, 0]);
            out.extend(item.kind);
            // No name.
            out.push(0);
            if item.kind == b"mime" {
                out.extend(b"application/rdf+xml\0");
            }
        });
    }
}

/// What alpha and metadata belong to.
fn references(out: &mut Vec<u8>, items: &[Item<'_>]) {
    for item in items.iter().skip(1) {
        let kind = if item.id == ALPHA { b"auxl" } else { b"cdsc" };
        boxed(out, kind, |out| {
            for number in [item.id, 1, COLOUR] {
                out.extend(number.to_be_bytes());
            }
        });
    }
}

fn depths(bits: u8, colours: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let channels = if colours { 3 } else { 1 };
    full(&mut out, b"pixi", 0, |out| {
        out.push(channels);
        out.extend(vec![bits; usize::from(channels)]);
    });
    out
}

/// `av1C`: what a decoder must be able to do, of which the level stands in the stream's sequence header only.
fn configuration(stream: &[u8], bits: u8, sampling: Sampling) -> Vec<u8> {
    let profile = match sampling {
        Sampling::None | Sampling::Quarter => 0,
        Sampling::Full => 1,
        Sampling::Half => 2_u8,
    };
    let (across, down) = match sampling {
        // Without chroma both bits are set (AV1 specification, 5.5.2).
        Sampling::None => (1, 1),
        Sampling::Full | Sampling::Half | Sampling::Quarter => sampling.shifts(),
    };
    let level = level(stream);
    let wide = u8::from(bits > 8) << 6;
    let mono = u8::from(sampling == Sampling::None) << 4;
    let chroma = (across as u8) << 3 | (down as u8) << 2;
    simple(
        b"av1C",
        &[0x81, profile << 5 | level, wide | mono | chroma, 0],
    )
}

/// The level in the sequence header of a still picture (AV1 specification, 5.5.1): profile in three bits, two flags, which are
/// set, and the level in five. 31 is "any", for a stream that is not as this encoder makes it.
fn level(stream: &[u8]) -> u8 {
    match super::stream::sequence_header(stream) {
        Some(&[first, second, ..]) if first & 0x18 == 0x18 => (first & 7) << 2 | second >> 6,
        Some(_) | None => 31,
    }
}

fn profile(icc: &[u8]) -> Vec<u8> {
    simple(b"colr", &[b"prof", icc].concat())
}

fn auxiliary() -> Vec<u8> {
    let mut out = Vec::new();
    full(&mut out, b"auxC", 0, |out| out.extend(super::ALPHA_KIND));
    out
}

/// Quarter turns against the clock, and then a mirror: 0 swaps top and bottom, 1 left and right.
fn transform(orientation: u8) -> (u8, Option<u8>) {
    match orientation {
        2 => (0, Some(1)),
        3 => (2, None),
        4 => (0, Some(0)),
        5 => (1, Some(0)),
        6 => (3, None),
        7 => (3, Some(0)),
        8 => (1, None),
        _ => (0, None),
    }
}

fn simple(name: &[u8; 4], bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    boxed(&mut out, name, |out| out.extend(bytes));
    out
}

/// A box with whatever `fill` puts into it.
fn boxed(out: &mut Vec<u8>, name: &[u8; 4], fill: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend([0; 4]);
    out.extend(name);
    fill(out);
    let length = ((out.len() - start) as u32).to_be_bytes();
    out[start..start + 4].copy_from_slice(&length);
}

/// A box with a version and no flags.
fn full(out: &mut Vec<u8>, name: &[u8; 4], version: u8, fill: impl FnOnce(&mut Vec<u8>)) {
    boxed(out, name, |out| {
        out.extend([version, 0, 0, 0]);
        fill(out);
    });
}
