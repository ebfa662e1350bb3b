//! ICO and CUR: the largest picture of an icon, which is a PNG or a bitmap with a mask (the format has no specification; this is
//! what Windows documents of ICONDIR and BITMAPINFOHEADER).
//!
//! Bitmaps of 1, 4, 8, 24 and 32 bits without compression; others are refused by name. The smaller pictures and the point of a
//! cursor have no place elsewhere: [`others`] names them.

use super::{Carried, Depth, Layout, Raster, corrupt, png, room, unsupported, whole};
use crate::{Budget, Error, Format, Source};

/// Bytes of the directory's head, and of an entry.
const HEAD: usize = 6;
const ENTRY: usize = 16;
/// Bytes of a bitmap's header.
const BITMAP: usize = 40;

/// Decodes the largest picture in `source`.
///
/// # Errors
/// See [`Error`].
pub(super) fn read(source: &dyn Source, budget: &Budget) -> Result<Raster, Error> {
    let file = whole(source, budget)?;
    let bytes = largest(&file)?;
    let raster = if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        png::read(&bytes, budget)?
    } else {
        Bitmap::read(bytes)?.raster(budget)?
    };
    budget.free(file);
    Ok(raster)
}

/// What an icon holds beside its largest picture.
///
/// # Errors
/// [`Error::Read`], [`Error::OverBudget`].
pub(crate) fn others(source: &dyn Source, budget: &Budget) -> Result<Option<String>, Error> {
    let file = whole(source, budget)?;
    let more = entries(&file).count().saturating_sub(1);
    let cursor = file.get(2) == Some(&2);
    budget.free(file);
    Ok(match (more, cursor) {
        (0, false) => None,
        (0, true) => Some("the place a cursor points with".to_owned()),
        (more, _) => Some(format!("{more} smaller pictures of the icon")),
    })
}

fn damaged(what: &str) -> Error {
    corrupt(Format::Ico, what)
}

fn number(bytes: &[u8], at: usize) -> usize {
    let four = bytes.get(at..at + 4);
    four.map_or(0, |four| {
        u32::from_le_bytes([four[0], four[1], four[2], four[3]]) as usize
    })
}

/// The directory's entries.
fn entries(file: &[u8]) -> impl Iterator<Item = &[u8]> {
    let count = file
        .get(4..6)
        .map_or(0, |two| u16::from_le_bytes([two[0], two[1]]));
    let all = file.get(HEAD..).unwrap_or_default();
    all.chunks_exact(ENTRY).take(count.into())
}

/// The bytes of the largest picture, and of those as large the one of most bits.
fn largest(file: &[u8]) -> Result<&[u8], Error> {
    // 0 stands for 256.
    let side = |byte: u8| (u32::from(byte) + 255) % 256 + 1;
    let cursor = file.get(2) == Some(&2);
    let worth = |entry: &&[u8]| {
        let bits = u16::from_le_bytes([entry[6], entry[7]]);
        (
            side(entry[0]) * side(entry[1]),
            if cursor { 0 } else { bits },
        )
    };
    let best = entries(file)
        .max_by_key(worth)
        .ok_or_else(|| damaged("it has no picture"))?;
    let (length, start) = (number(best, 8), number(best, 12));
    file.get(start..start.saturating_add(length))
        .filter(|bytes| !bytes.is_empty())
        .ok_or_else(|| damaged("its picture is cut off"))
}

/// A bitmap as an icon holds it: rows from the bottom up, then a mask of one bit.
struct Bitmap<'a> {
    width: usize,
    height: usize,
    bits: usize,
    palette: &'a [u8],
    /// Rows of whole 32 bits.
    rows: &'a [u8],
    mask: &'a [u8],
}

impl<'a> Bitmap<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        let (width, twice) = (number(bytes, 4), number(bytes, 8));
        let bits = number(bytes, 14) & 0xffff;
        let compression = number(bytes, 16);
        if number(bytes, 0) < BITMAP
            || !(1..=1 << 15).contains(&width)
            || !(2..=1 << 16).contains(&twice)
        {
            return Err(damaged("its bitmap's header makes no sense"));
        }
        if !matches!(bits, 1 | 4 | 8 | 24 | 32) || compression != 0 {
            return Err(unsupported(format!(
                "an icon's bitmap of {bits} bits with compression {compression}"
            )));
        }
        let height = twice / 2;
        let colours = match (bits, number(bytes, 32)) {
            (24 | 32, _) => 0,
            (bits, 0) => 1 << bits,
            (bits, used) => used.min(1 << bits),
        };
        let line = |bits: usize| (width * bits).div_ceil(32) * 4;
        let cut = || damaged("its bitmap is cut off");
        let rest = bytes.get(number(bytes, 0)..).ok_or_else(cut)?;
        let (palette, rest) = rest.split_at_checked(colours * 4).ok_or_else(cut)?;
        let (rows, mask) = rest.split_at_checked(line(bits) * height).ok_or_else(cut)?;
        // The mask may be missing where pixels have alpha.
        let mask = match mask.get(..line(1) * height) {
            Some(mask) => mask,
            None if bits == 32 => &[],
            None => return Err(cut()),
        };
        Ok(Self {
            width,
            height,
            bits,
            palette,
            rows,
            mask,
        })
    }

    fn raster(&self, budget: &Budget) -> Result<Raster, Error> {
        let (width, height) = (self.width as u32, self.height as u32);
        let mut samples = room((width, height), Layout::Rgba, Depth::Eight, budget)?;
        let own = self.bits == 32 && self.rows.chunks_exact(4).any(|pixel| pixel[3] > 0);
        for (n, pixel) in samples.chunks_exact_mut(4).enumerate() {
            let (x, y) = (n % self.width, self.height - 1 - n / self.width);
            let [blue, green, red, alpha] = self.colour(x, y)?;
            let shown = !self.mask.is_empty() && bit_field(self.mask, self.width, (x, y), 1) == 0;
            let alpha = match own {
                true => alpha,
                false if shown || self.mask.is_empty() => u8::MAX,
                false => 0,
            };
            pixel.copy_from_slice(&[red, green, blue, alpha]);
        }
        Ok(Raster {
            width,
            height,
            layout: Layout::Rgba,
            depth: Depth::Eight,
            samples,
            carried: Carried::default(),
        })
    }

    /// Blue, green, red and alpha of a pixel, counted from the bottom.
    fn colour(&self, x: usize, y: usize) -> Result<[u8; 4], Error> {
        let line = (self.width * self.bits).div_ceil(32) * 4;
        let at = |bytes: usize| &self.rows[y * line + x * bytes..][..bytes];
        Ok(match self.bits {
            24 => [at(3)[0], at(3)[1], at(3)[2], u8::MAX],
            32 => [at(4)[0], at(4)[1], at(4)[2], at(4)[3]],
            bits => {
                let index = bit_field(self.rows, self.width, (x, y), bits);
                let colour = self.palette.get(4 * index..4 * index + 4);
                let colour = colour.ok_or_else(|| damaged("a colour that its palette lacks"))?;
                [colour[0], colour[1], colour[2], u8::MAX]
            }
        })
    }
}

/// A sample of at most eight bits in rows of whole 32 bits.
fn bit_field(rows: &[u8], width: usize, (x, y): (usize, usize), bits: usize) -> usize {
    let line = (width * bits).div_ceil(32) * 4;
    let at = x * bits;
    let byte = usize::from(rows[y * line + at / 8]);
    byte >> (8 - bits - at % 8) & ((1 << bits) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget() -> Budget {
        Budget::new(1 << 24, 1 << 20)
    }

    /// An icon of pictures with a side each.
    fn icon(pictures: &[(u8, Vec<u8>)]) -> Vec<u8> {
        let mut file = vec![0, 0, 1, 0, pictures.len() as u8, 0];
        let mut at = HEAD + ENTRY * pictures.len();
        for (side, bytes) in pictures {
            file.extend([*side, *side, 0, 0, 1, 0, 32, 0]);
            file.extend((bytes.len() as u32).to_le_bytes());
            file.extend((at as u32).to_le_bytes());
            at += bytes.len();
        }
        pictures.iter().for_each(|(_, bytes)| file.extend(bytes));
        file
    }

    /// Three by two; palette, rows and mask from the bottom up.
    fn bitmap(bits: u8, palette: &[[u8; 4]], rows: &[&[u8]], mask: &[[u8; 4]]) -> Vec<u8> {
        let mut bytes = vec![40, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 1, 0, bits, 0];
        bytes.resize(BITMAP, 0);
        bytes[32] = palette.len() as u8;
        bytes.extend(palette.concat());
        bytes.extend(rows.concat());
        bytes.extend(mask.concat());
        bytes
    }

    fn samples(file: &[u8]) -> Vec<u8> {
        let raster = read(&file, &budget()).expect("an icon");
        assert_eq!(
            (raster.width, raster.height, raster.layout),
            (3, 2, Layout::Rgba)
        );
        raster.samples
    }

    const MASK: [[u8; 4]; 2] = [[0b0100_0000, 0, 0, 0], [0; 4]];

    #[test]
    fn a_palette_is_looked_up_and_the_mask_is_transparent() {
        let palette = [[1, 2, 3, 0], [4, 5, 6, 0]];
        let one = bitmap(
            1,
            &palette,
            &[&[0b0110_0000, 0, 0, 0], &[0b1000_0000, 0, 0, 0]],
            &MASK,
        );
        let four = bitmap(4, &palette, &[&[0x01, 0x10, 0, 0], &[0x10, 0, 0, 0]], &MASK);
        let eight = bitmap(8, &palette, &[&[0, 1, 1, 0], &[1, 0, 0, 0]], &MASK);
        let (a, b) = ([3, 2, 1], [6, 5, 4]);
        let row = |colours: [[u8; 3]; 3], alphas: [u8; 3]| {
            let pixels = colours.iter().zip(alphas);
            pixels
                .flat_map(|(colour, alpha)| [&colour[..], &[alpha]].concat())
                .collect::<Vec<u8>>()
        };
        let expected = [row([b, a, a], [255; 3]), row([a, b, b], [255, 0, 255])].concat();
        for bytes in [one, four, eight] {
            assert_eq!(samples(&icon(&[(3, bytes)])), expected);
        }
    }

    #[test]
    fn alpha_of_its_own_wins_over_the_mask_unless_it_is_all_zero() {
        let pixels: [&[u8]; 2] = [&[1, 2, 3, 9, 1, 2, 3, 0, 1, 2, 3, 255], &[7; 12]];
        let own = samples(&icon(&[(3, bitmap(32, &[], &pixels, &MASK))]));
        assert_eq!(
            own.chunks_exact(4)
                .map(|pixel| pixel[3])
                .collect::<Vec<_>>(),
            [7, 7, 7, 9, 0, 255]
        );
        let none: [&[u8]; 2] = [&[1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0]; 2];
        let masked = samples(&icon(&[(3, bitmap(32, &[], &none, &MASK))]));
        assert_eq!(
            masked
                .chunks_exact(4)
                .map(|pixel| pixel[3])
                .collect::<Vec<_>>(),
            [255, 255, 255, 255, 0, 255]
        );
        assert_eq!(masked[..3], [3, 2, 1]);
    }

    #[test]
    fn the_largest_is_taken_and_a_png_is_read_as_one() {
        let mut png = Vec::new();
        let mut encoder = ::png::Encoder::new(&mut png, 3, 2);
        encoder.set_color(::png::ColorType::Rgba);
        let mut writer = encoder.write_header().expect("a header");
        writer.write_image_data(&[5; 24]).expect("pixels");
        writer.finish().expect("an end");
        let small = bitmap(24, &[], &[&[9; 12][..]; 2], &MASK);
        // A side of 0 is 256.
        let file = icon(&[(3, small), (0, png)]);
        assert_eq!(samples(&file), [5; 24]);
        let told = others(&file.as_slice(), &budget()).expect("no error");
        assert_eq!(told.as_deref(), Some("1 smaller pictures of the icon"));
    }

    #[test]
    fn what_is_cut_off_or_unknown_is_named() {
        let file = icon(&[(3, bitmap(24, &[], &[&[9; 12][..]; 2], &MASK))]);
        for end in 0..file.len() {
            let cut = read(&&file[..end], &budget());
            assert!(
                matches!(cut, Err(Error::Corrupt { .. } | Error::Unsupported(_))),
                "{end}"
            );
        }
        let sixteen = icon(&[(3, bitmap(16, &[], &[&[9; 12][..]; 2], &MASK))]);
        assert!(matches!(
            read(&&sixteen[..], &budget()),
            Err(Error::Unsupported(_))
        ));
    }
}
