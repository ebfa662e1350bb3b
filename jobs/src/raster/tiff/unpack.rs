//! Strips and tiles of a TIFF, unpacked one at a time and put where they belong.

use super::header::{Compression, Header, Photometric};
use super::{damaged, fax, jpeg, unsupported};
use crate::{Budget, Error, Source};
use std::io::Read;

/// Unpacks every strip or tile into `samples`.
///
/// # Errors
/// See [`Error`]; a strip or tile that ends too early is [`Error::Corrupt`].
pub(super) fn all(
    header: &Header,
    source: &dyn Source,
    samples: &mut [u8],
    budget: &Budget,
) -> Result<(), Error> {
    let (across, down) = header.chunk;
    let (columns, rows) = (header.width.div_ceil(across), header.height.div_ceil(down));
    let each = if header.planar { 1 } else { header.samples };
    let line = (u64::from(across) * each as u64 * u64::from(header.bits)).div_ceil(8);
    let line = usize::try_from(line).unwrap_or(usize::MAX);
    let most = line.saturating_mul(down as usize);
    let mut unpacked: Vec<u8> = budget.vec(most)?;
    for (n, &place) in header.places.iter().enumerate() {
        let (plane, n) = (n / (columns * rows) as usize, n as u32 % (columns * rows));
        if plane >= header.samples / each {
            break;
        }
        let (left, top) = (n % columns * across, n / columns * down);
        let lines = if header.strips {
            down.min(header.height - top)
        } else {
            down
        };
        unpacked.resize(line * lines as usize, 0);
        chunk(header, source, place, &mut unpacked, budget)?;
        for (y, row) in unpacked
            .chunks_exact_mut(line)
            .enumerate()
            .take((header.height - top).min(lines) as usize)
        {
            straighten(header, row, each);
            put(header, row, (left, top + y as u32, plane), each, samples);
        }
    }
    budget.free(unpacked);
    Ok(())
}

/// Reads and unpacks one strip or tile, which fills `out` exactly.
fn chunk(
    header: &Header,
    source: &dyn Source,
    (offset, bytes): (u64, u64),
    out: &mut [u8],
    budget: &Budget,
) -> Result<(), Error> {
    if offset.saturating_add(bytes) > source.len() {
        return Err(cut_off());
    }
    let length = usize::try_from(bytes).unwrap_or(usize::MAX);
    let mut packed = budget.vec(length)?;
    packed.resize(length, 0);
    let mut filled = 0;
    while filled < length {
        match source
            .read_at(offset + filled as u64, &mut packed[filled..])
            .map_err(Error::Read)?
        {
            0 => return Err(cut_off()),
            count => filled += count,
        }
    }
    // JPEG has an order of its own.
    if header.reversed && !matches!(header.compression, Compression::Jpeg(_)) {
        packed
            .iter_mut()
            .for_each(|byte| *byte = byte.reverse_bits());
    }
    match &header.compression {
        Compression::None => out.copy_from_slice(packed.get(..out.len()).ok_or_else(cut_off)?),
        Compression::Lzw => lzw(&packed, out)?,
        Compression::Deflate => deflate(&packed, out)?,
        Compression::PackBits => pack_bits(&packed, out)?,
        Compression::Fax(fax) => fax::unpack(*fax, &packed, header.chunk.0, out, budget)?,
        Compression::Jpeg(tables) => jpeg::unpack(header, tables, &packed, out, budget)?,
    }
    budget.free(packed);
    Ok(())
}

pub(super) fn cut_off() -> Error {
    damaged("a strip or tile of pixels is cut off")
}

/// TIFF's LZW; writers before 1992 packed the codes the other way around, which their first code tells.
fn lzw(packed: &[u8], out: &mut [u8]) -> Result<(), Error> {
    if packed.first() == Some(&0) && packed.get(1).is_some_and(|byte| byte & 1 == 1) {
        return Err(unsupported("a TIFF with old-style LZW compression"));
    }
    let mut decoder = weezl::decode::Decoder::with_tiff_size_switch(weezl::BitOrder::Msb, 8);
    let (mut taken, mut made) = (0, 0);
    while made < out.len() {
        let step = decoder.decode_bytes(&packed[taken..], &mut out[made..]);
        taken += step.consumed_in;
        made += step.consumed_out;
        match step.status {
            Ok(weezl::LzwStatus::Ok) => {}
            Ok(weezl::LzwStatus::NoProgress | weezl::LzwStatus::Done) if made < out.len() => {
                return Err(cut_off());
            }
            Ok(weezl::LzwStatus::NoProgress | weezl::LzwStatus::Done) => {}
            Err(_) => return Err(damaged("LZW data that makes no sense")),
        }
    }
    Ok(())
}

/// Zlib; the checksum is looked at where it is there.
fn deflate(packed: &[u8], out: &mut [u8]) -> Result<(), Error> {
    let mut decoder = flate2::read::ZlibDecoder::new(packed);
    let wrong = |error: std::io::Error| {
        if error.kind() == std::io::ErrorKind::UnexpectedEof {
            cut_off()
        } else {
            damaged("deflate data that makes no sense")
        }
    };
    decoder.read_exact(out).map_err(wrong)?;
    decoder.read(&mut [0]).map_err(wrong)?;
    Ok(())
}

/// Runs and literals (TIFF 6.0 section 9).
fn pack_bits(packed: &[u8], out: &mut [u8]) -> Result<(), Error> {
    let (mut taken, mut made) = (0, 0);
    while made < out.len() {
        let &count = packed.get(taken).ok_or_else(cut_off)?;
        taken += 1;
        let left = out.len() - made;
        if count < 128 {
            let count = usize::from(count) + 1;
            let literal = packed.get(taken..taken + count).ok_or_else(cut_off)?;
            let used = count.min(left);
            out[made..made + used].copy_from_slice(&literal[..used]);
            (taken, made) = (taken + count, made + used);
        } else if count > 128 {
            let &value = packed.get(taken).ok_or_else(cut_off)?;
            let used = (257 - usize::from(count)).min(left);
            out[made..made + used].fill(value);
            (taken, made) = (taken + 1, made + used);
        }
    }
    Ok(())
}

/// The machine's byte order, sums instead of differences.
fn straighten(header: &Header, row: &mut [u8], each: usize) {
    if header.bits == 16 {
        for two in row.chunks_exact_mut(2) {
            let value = if header.big_endian {
                u16::from_be_bytes([two[0], two[1]])
            } else {
                u16::from_le_bytes([two[0], two[1]])
            };
            two.copy_from_slice(&value.to_ne_bytes());
        }
    }
    if !header.predicted {
        return;
    }
    if header.bits == 16 {
        for n in (2 * each..row.len().saturating_sub(1)).step_by(2) {
            let before = u16::from_ne_bytes([row[n - 2 * each], row[n - 2 * each + 1]]);
            let value = u16::from_ne_bytes([row[n], row[n + 1]]).wrapping_add(before);
            row[n..n + 2].copy_from_slice(&value.to_ne_bytes());
        }
    } else {
        for n in each..row.len() {
            row[n] = row[n].wrapping_add(row[n - each]);
        }
    }
}

/// Puts a row of a strip or tile into its place in the picture.
fn put(
    header: &Header,
    row: &[u8],
    (left, y, plane): (u32, u32, usize),
    each: usize,
    samples: &mut [u8],
) {
    let (width, left) = (header.width as usize, left as usize);
    let count = (header.chunk.0 as usize).min(width - left);
    let start = y as usize * width + left;
    match &header.photometric {
        Photometric::Palette(colours) => {
            for x in 0..count {
                let colour = colours[usize::from(narrow(row, x, header.bits))];
                samples[3 * (start + x)..][..3].copy_from_slice(&colour);
            }
        }
        Photometric::WhiteIsZero | Photometric::BlackIsZero if header.bits < 8 => {
            let most = (1u16 << header.bits) - 1;
            let invert = header.photometric == Photometric::WhiteIsZero;
            for x in 0..count {
                let value = (u16::from(narrow(row, x, header.bits)) * 255 / most) as u8;
                samples[start + x] = if invert { !value } else { value };
            }
        }
        Photometric::WhiteIsZero
        | Photometric::BlackIsZero
        | Photometric::Rgb
        | Photometric::Cmyk
        | Photometric::Ycc => {
            let bytes = usize::from(header.bits / 8);
            let (piece, pixel) = (each * bytes, header.samples * bytes);
            // Inverting every bit of both bytes inverts a sample of sixteen bits; alpha is not inverted.
            let inverted = if header.photometric == Photometric::WhiteIsZero && plane == 0 {
                bytes
            } else {
                0
            };
            for (x, from) in row.chunks_exact(piece).enumerate().take(count) {
                let to = &mut samples[(start + x) * pixel + plane * bytes..][..piece];
                to.copy_from_slice(from);
                to[..inverted].iter_mut().for_each(|byte| *byte = !*byte);
            }
        }
    }
}

/// A sample of at most eight bits.
fn narrow(row: &[u8], x: usize, bits: u8) -> u8 {
    let at = x * usize::from(bits);
    let shift = 8 - usize::from(bits) - at % 8;
    row[at / 8] >> shift & (0xff >> (8 - bits))
}
