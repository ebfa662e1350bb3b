//! Pictures for those who name none: noise of many sizes with the statistics of photographs, drawn once and mirrored into
//! several sizes, as JPEG. The same on every machine.

use image::codecs::jpeg::JpegEncoder;
use image::{ExtendedColorType, ImageError};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// Edge of the part that is drawn; it is mirrored to fill a picture.
const TILE: usize = 512;

/// Sizes as cameras have them, from 1 to 12 megapixels.
const SIZES: [(usize, usize); 6] = [
    (1200, 900),
    (2000, 1500),
    (1500, 2250),
    (2592, 1944),
    (3264, 2448),
    (4000, 3000),
];

/// Quality that cameras use.
const QUALITY: u8 = 93;

/// Draws the set into `folder` and answers the files.
///
/// # Errors
/// When a file cannot be written.
pub(crate) fn draw(folder: &Path) -> Result<Vec<PathBuf>, ImageError> {
    let tile = tile();
    SIZES
        .iter()
        .map(|(width, height)| {
            let path = folder.join(format!("drawn-{width}x{height}.jpg"));
            let file = BufWriter::new(File::create(&path)?);
            let pixels = fill(&tile, *width, *height);
            JpegEncoder::new_with_quality(file, QUALITY).encode(
                &pixels,
                *width as u32,
                *height as u32,
                ExtendedColorType::Rgb8,
            )?;
            Ok(path)
        })
        .collect()
}

/// A square of [`TILE`] pixels, red, green and blue.
fn tile() -> Vec<[u8; 3]> {
    let place = |number: usize| ((number % TILE) as f32, (number / TILE) as f32);
    (0..TILE * TILE)
        .map(|number| {
            let (x, y) = place(number);
            let shape = fractal(x / 160.0, y / 160.0, 7, 1);
            let tint = fractal(x / 220.0, y / 220.0, 3, 40);
            let grain = (random(x as i32, y as i32, 77) - 0.5) * 6.0;
            [1.05, 0.95, 0.8].map(|weight| {
                let light = 255.0 * (shape * weight + (tint - 0.5) * (1.0 - weight));
                (light + grain).clamp(0.0, 255.0) as u8
            })
        })
        .collect()
}

/// The tile, mirrored at its edges so that no seam shows.
fn fill(tile: &[[u8; 3]], width: usize, height: usize) -> Vec<u8> {
    let mirrored = |at: usize| {
        let within = at % (2 * TILE);
        if within < TILE {
            within
        } else {
            2 * TILE - 1 - within
        }
    };
    (0..height)
        .flat_map(|y| (0..width).map(move |x| (mirrored(x), mirrored(y))))
        .flat_map(|(x, y)| tile[y * TILE + x])
        .collect()
}

/// A number from 0 to 1 that looks random and is always the same at the same place.
fn random(x: i32, y: i32, seed: u32) -> f32 {
    let mut hash = (x as u32).wrapping_mul(0x8da6_b343)
        ^ (y as u32).wrapping_mul(0xd816_3841)
        ^ seed.wrapping_mul(0xcb1a_b31f);
    hash = (hash ^ (hash >> 15)).wrapping_mul(0x2c1b_3c6d);
    hash = (hash ^ (hash >> 12)).wrapping_mul(0x297a_2d39);
    (hash ^ (hash >> 15)) as f32 / u32::MAX as f32
}

/// Smooth noise around 0.5 with features of size 1.
fn noise(x: f32, y: f32, seed: u32) -> f32 {
    let (left, top) = (x.floor(), y.floor());
    let smooth = |t: f32| t * t * (3.0 - 2.0 * t);
    let mix = |a: f32, b: f32, share: f32| a + (b - a) * share;
    let at = |dx, dy| random(left as i32 + dx, top as i32 + dy, seed);
    let (u, v) = (smooth(x - left), smooth(y - top));
    mix(mix(at(0, 0), at(1, 0), u), mix(at(0, 1), at(1, 1), u), v)
}

/// Noise of several sizes, each half as big and half as strong as the one before.
fn fractal(x: f32, y: f32, octaves: u32, seed: u32) -> f32 {
    let (mut sum, mut weight, mut scale) = (0.0, 0.5, 1.0);
    for octave in 0..octaves {
        sum += weight * noise(x * scale, y * scale, seed + octave);
        (weight, scale) = (weight * 0.6, scale * 2.03);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_filled_without_seams() {
        let tile: Vec<[u8; 3]> = (0..TILE * TILE)
            .map(|n| [(n % TILE / 2) as u8; 3])
            .collect();
        let row = fill(&tile, TILE * 2 + 3, 1);
        assert_eq!(row.len(), (TILE * 2 + 3) * 3);
        let steps = row.chunks(3).zip(row.chunks(3).skip(1));
        assert!(steps.map(|(a, b)| a[0].abs_diff(b[0])).max() <= Some(1));
    }

    #[test]
    fn noise_stays_in_its_bounds_and_repeats() {
        for n in 0..1000 {
            let (x, y) = (n as f32 * 0.37, n as f32 * 0.73);
            let value = noise(x, y, 5);
            assert!((0.0..=1.0).contains(&value), "{value}");
            assert_eq!(value.to_bits(), noise(x, y, 5).to_bits());
        }
    }
}
