//! Bits into bytes: packs codes most significant bit first, stuffs a zero after every 0xFF (T.81 F.1.2.3) and hands
//! blocks of bytes to a [`Sink`]. It knows nothing of symbols or scans.
//!
//! Packing and stuffing are two steps: packing stores eight bytes unconditionally and advances by the whole bytes among
//! them, so it has no branch; stuffing runs over a full buffer and copies eight bytes at a time where none is 0xFF.

use crate::{Error, Sink};

/// Bytes packed before they are stuffed and handed on.
const BUFFER: usize = 16 * 1024;
/// Bytes the caller may pack between two calls of [`BitWriter::room`].
pub const ROOM: usize = 512;
/// Bytes of the buffer: eight more may be scribbled on.
pub const PACKED: usize = BUFFER + ROOM + 8;
/// Most bits one [`Place::put`] takes.
pub const MAX_PUT: u32 = 56;

/// Where packing stands. Whoever packs much keeps a copy, which stays in registers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Place {
    /// Bytes of the buffer in use.
    used: usize,
    /// Bits not yet whole bytes, at the top.
    accumulator: u64,
    /// How many of them, 0 to 7.
    bits: u32,
}

impl Place {
    /// Appends the low `count` bits of `code`, at most [`MAX_PUT`]; higher bits of `code` must be zero.
    #[inline(always)]
    pub fn put(&mut self, packed: &mut [u8; PACKED], code: u64, count: u32) {
        let total = self.bits + count;
        // Two shifts, because a shift by 64 (nothing held, nothing put) is not defined.
        self.accumulator |= code << (63 - total) << 1;
        let room = packed
            .get_mut(self.used..)
            .and_then(<[u8]>::first_chunk_mut);
        // There always is room; a panic where there is none would cost registers.
        if let Some(room) = room {
            *room = self.accumulator.to_be_bytes();
        }
        self.used += (total >> 3) as usize;
        self.accumulator <<= total & 0x38;
        self.bits = total & 7;
    }

    /// Whether [`ROOM`] bytes may no longer be packed.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.used >= BUFFER
    }
}

/// Writes marker bytes and entropy-coded bits to a sink, counting bytes.
pub struct BitWriter<'a> {
    sink: &'a mut dyn Sink,
    /// Bytes not yet stuffed.
    pub packed: Box<[u8; PACKED]>,
    stuffed: Vec<u8>,
    /// How far they go.
    pub place: Place,
    written: u64,
}

impl std::fmt::Debug for BitWriter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BitWriter")
            .field("written", &self.written)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl<'a> BitWriter<'a> {
    /// A writer that has written nothing yet.
    pub fn new(sink: &'a mut dyn Sink) -> Self {
        Self {
            sink,
            packed: Box::new([0; PACKED]),
            stuffed: Vec::with_capacity(2 * (BUFFER + ROOM)),
            place: Place::default(),
            written: 0,
        }
    }

    /// Bytes handed to the sink so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Makes sure that [`ROOM`] bytes can be packed.
    ///
    /// # Errors
    /// [`Error::Write`].
    #[inline(always)]
    pub fn room(&mut self) -> Result<(), Error> {
        if self.place.is_full() {
            self.flush()?;
        }
        Ok(())
    }

    /// Fills the last byte with ones and hands everything on; markers may follow (T.81 F.1.2.3).
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn align(&mut self) -> Result<(), Error> {
        if self.place.bits > 0 {
            let missing = 8 - self.place.bits;
            self.place
                .put(&mut self.packed, (1 << missing) - 1, missing);
        }
        self.flush()
    }

    /// Writes bytes as they are, for markers and segments; the writer must be aligned.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn raw(&mut self, bytes: &[u8]) -> Result<(), Error> {
        debug_assert!(self.place.used == 0 && self.place.bits == 0);
        self.sink.write(bytes).map_err(Error::Write)?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    #[inline(never)]
    fn flush(&mut self) -> Result<(), Error> {
        self.stuffed.clear();
        stuff(&self.packed[..self.place.used], &mut self.stuffed);
        self.place.used = 0;
        self.sink.write(&self.stuffed).map_err(Error::Write)?;
        self.written += self.stuffed.len() as u64;
        Ok(())
    }
}

/// Copies `from` to `to`, with a zero after every 0xFF.
fn stuff(from: &[u8], to: &mut Vec<u8>) {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let (eights, rest) = from.as_chunks::<8>();
    for eight in eights {
        let inverted = !u64::from_ne_bytes(*eight);
        // A zero byte in `inverted` is a 0xFF byte in the input (the usual has-zero-byte test).
        if inverted.wrapping_sub(LOW) & !inverted & HIGH == 0 {
            to.extend_from_slice(eight);
        } else {
            stuff_bytes(eight, to);
        }
    }
    stuff_bytes(rest, to);
}

fn stuff_bytes(from: &[u8], to: &mut Vec<u8>) {
    for &byte in from {
        to.push(byte);
        if byte == 0xFF {
            to.push(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One bit at a time, the way the standard words it.
    fn reference(codes: &[(u64, u32)]) -> Vec<u8> {
        let mut bits: Vec<u8> = Vec::new();
        for &(code, count) in codes {
            bits.extend((0..count).rev().map(|bit| (code >> bit & 1) as u8));
        }
        while !bits.len().is_multiple_of(8) {
            bits.push(1);
        }
        let mut bytes = Vec::new();
        for eight in bits.chunks(8) {
            let byte = eight.iter().fold(0, |byte, bit| byte << 1 | bit);
            bytes.push(byte);
            if byte == 0xFF {
                bytes.push(0);
            }
        }
        bytes
    }

    proptest! {
        #[test]
        fn packs_like_the_plain_writer(
            codes in prop::collection::vec((0..=MAX_PUT, any::<u64>(), any::<bool>()), 0..20_000)
        ) {
            let codes: Vec<(u64, u32)> = codes
                .into_iter()
                .map(|(count, code, ones)| {
                    let mask = (1_u64 << count) - 1;
                    (if ones { mask } else { code & mask }, count)
                })
                .collect();
            let mut out = Vec::new();
            let mut writer = BitWriter::new(&mut out);
            for &(code, count) in &codes {
                writer.room().expect("a vector takes everything");
                writer.place.put(&mut writer.packed, code, count);
            }
            writer.align().expect("a vector takes everything");
            let written = writer.written();
            prop_assert_eq!(written, out.len() as u64);
            prop_assert_eq!(out, reference(&codes));
        }
    }
}
