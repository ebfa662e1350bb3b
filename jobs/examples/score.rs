//! How alike two pictures (JPEG, PNG, WebP) look: SSIMULACRA2, for `scripts/bench` and for people who tune the engine.
//!
//!     cargo run --release -p pressroom-jobs --example score -- ORIGINAL RESULT
//!     cargo run --release -p pressroom-jobs --example score -- --pairs FILE
//!
//! FILE holds `ORIGINAL<tab>RESULT` a line; each line is answered by `ORIGINAL<tab>RESULT<tab>bytes<tab>score`. Lines with
//! the same original should follow each other: the original's half of the work is then done once.
//! Both pictures are decoded by decoders that are not this project's own, so that the engine is not its own judge. Alpha is
//! ignored.

#![expect(clippy::print_stdout, reason = "printing is what this program is for")]

use fast_ssim2::{PixelDescriptor, PixelSlice, Ssimulacra2Reference};
use image_webp::WebPDecoder;
use std::io::{BufRead, BufReader, Cursor};
use std::{env, error, fs};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

type Result<T> = std::result::Result<T, Box<dyn error::Error>>;

/// The largest edge a JPEG can have.
const EDGE: usize = 65_535;

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.as_slice() {
        [flag, list] if flag == "--pairs" => score_pairs(list),
        [original, result] => {
            let reference = reference(original)?;
            println!("{:.3}", compare(&reference, result)?);
            Ok(())
        }
        _ => Err("usage: score ORIGINAL RESULT | score --pairs FILE".into()),
    }
}

fn score_pairs(list: &str) -> Result<()> {
    let mut held: Option<(String, Ssimulacra2Reference)> = None;
    for line in BufReader::new(fs::File::open(list)?).lines() {
        let line = line?;
        let (original, result) = line.split_once('\t').ok_or("a line without a tab")?;
        let kept = held.take().filter(|(name, _)| name == original);
        let (name, pyramid) = match kept {
            Some(kept) => kept,
            None => (original.to_owned(), reference(original)?),
        };
        let bytes = fs::metadata(result)?.len();
        println!(
            "{original}\t{result}\t{bytes}\t{:.3}",
            compare(&pyramid, result)?
        );
        held = Some((name, pyramid));
    }
    Ok(())
}

fn reference(path: &str) -> Result<Ssimulacra2Reference> {
    let picture = Picture::read(path)?;
    Ok(Ssimulacra2Reference::new(&picture.view()?)?)
}

fn compare(reference: &Ssimulacra2Reference, path: &str) -> Result<f64> {
    let picture = Picture::read(path)?;
    Ok(reference.compare(&picture.view()?)?)
}

/// Pixels as 8-bit sRGB triples; a colour profile is ignored on both sides alike.
struct Picture {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

impl Picture {
    fn read(path: &str) -> Result<Self> {
        let bytes = fs::read(path).map_err(|error| format!("{path}: {error}"))?;
        let read = if bytes.starts_with(b"\x89PNG") {
            Self::of_png(&bytes)
        } else if bytes.starts_with(b"RIFF") {
            Self::of_webp(&bytes)
        } else {
            Self::of_jpeg(&bytes)
        };
        read.map_err(|error| format!("{path}: {error}").into())
    }

    fn of_png(bytes: &[u8]) -> Result<Self> {
        let mut decoder = png::Decoder::new(Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
        let mut reader = decoder.read_info()?;
        let mut samples = vec![0; reader.output_buffer_size().ok_or("too large")?];
        reader.next_frame(&mut samples)?;
        let channels = reader.output_color_type().0.samples();
        let (width, height) = (reader.info().width, reader.info().height);
        Ok(Self::of_samples(&samples, channels, (width, height)))
    }

    fn of_webp(bytes: &[u8]) -> Result<Self> {
        let mut decoder = WebPDecoder::new(Cursor::new(bytes))?;
        let mut samples = vec![0; decoder.output_buffer_size().ok_or("too large")?];
        decoder.read_image(&mut samples)?;
        let channels = if decoder.has_alpha() { 4 } else { 3 };
        Ok(Self::of_samples(&samples, channels, decoder.dimensions()))
    }

    /// From one to four channels: gray, gray and alpha, RGB, RGBA.
    fn of_samples(samples: &[u8], channels: usize, (width, height): (u32, u32)) -> Self {
        let colour = |pixel: &[u8]| match *pixel {
            [r, g, b, ..] => [r, g, b],
            [gray, ..] => [gray; 3],
            [] => [0; 3],
        };
        Self {
            width: width as usize,
            height: height as usize,
            rgb: samples.chunks_exact(channels).flat_map(colour).collect(),
        }
    }

    fn of_jpeg(bytes: &[u8]) -> Result<Self> {
        let options = DecoderOptions::default()
            .jpeg_set_out_colorspace(ColorSpace::RGB)
            .set_max_width(EDGE)
            .set_max_height(EDGE);
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
        let rgb = decoder.decode().map_err(|error| format!("{error:?}"))?;
        let (width, height) = decoder.dimensions().ok_or("a picture without dimensions")?;
        Ok(Self { width, height, rgb })
    }

    fn view(&self) -> Result<PixelSlice<'_>> {
        let (width, height) = (u32::try_from(self.width)?, u32::try_from(self.height)?);
        let row = self.width * 3;
        Ok(PixelSlice::new(
            &self.rgb,
            width,
            height,
            row,
            PixelDescriptor::RGB8_SRGB,
        )?)
    }
}
