//! Writes a prepared picture in each format.

use super::{Picture, Target};
use crate::door::{Compressed, Keep, Kept, Note};
use crate::jpeg::frame::Segment;
use crate::jpeg::paint;
use crate::metadata::{Changed, chunks_of, segments_of, strip_carried, strip_chunks, taken};
use crate::png::{self, Chunk, Place, Plain};
use crate::raster::{Carried, Density, Depth, Layout, Raster};
use crate::{Budget, Error, Format, Options, Sink};

/// JFIF 1.01, square pixels, no thumbnail.
const JFIF: &[u8] = b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0";
/// Adobe's marker for ink that went through no transform.
const ADOBE: &[u8] = b"Adobe\0\x64\0\0\0\0\0";

/// Writes `picture` as `target`; `before` is the original's size in bytes.
///
/// # Errors
/// See [`Error`].
pub(super) fn write(
    picture: Picture,
    target: Target,
    before: u64,
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    match target {
        Target::Jpeg => jpeg(picture, before, sink, options, budget),
        Target::Png => png(picture, sink, options, budget),
        Target::Webp => with_carried(picture, options, |raster| {
            crate::webp::write(raster, before, sink, options, budget)
        }),
        Target::Avif => with_carried(picture, options, |raster| {
            crate::avif::write(raster, before, sink, options, budget)
        }),
    }
}

fn jpeg(
    mut picture: Picture,
    before: u64,
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    let mut notes = carry(&mut picture, options);
    let Some(raster) = without_alpha(picture.raster, budget)? else {
        return Ok(Compressed::Kept(Kept {
            format: Format::Jpeg,
            why: Keep::WouldLose("transparency, which JPEG does not have".to_owned()),
            notes: Vec::new(),
        }));
    };
    let raster = eight_bits(raster, &mut notes, budget)?;
    let (marker, payload) = match raster.layout {
        Layout::Cmyk => (0xee, ADOBE.to_vec()),
        Layout::Gray | Layout::GrayAlpha | Layout::Rgb | Layout::Rgba => {
            (0xe0, jfif(raster.carried.density))
        }
    };
    let mut segments = vec![Segment { marker, payload }];
    let (carried, more) = segments_of(&raster.carried);
    segments.extend(carried);
    notes.extend(more);
    paint::write(raster, segments, notes, before, sink, options, budget)
}

/// The first segment, with what is known of the pixels' density.
fn jfif(density: Option<Density>) -> Vec<u8> {
    let mut payload = JFIF.to_vec();
    if let Some(told) = density.and_then(Density::jfif) {
        payload[7..12].copy_from_slice(&told);
    }
    payload
}

/// What is carried, edited and without what was to go.
fn carry(picture: &mut Picture, options: &Options) -> Vec<Note> {
    carried(&mut picture.raster.carried, picture.changed, options)
}

/// Edits what is carried and takes out what was to go.
pub(super) fn carried(carried: &mut Carried, changed: Changed, options: &Options) -> Vec<Note> {
    let mut notes = changed.edit(carried);
    notes.extend(strip_carried(carried, &options.strip).notes);
    notes
}

/// The picture without an alpha channel that says nothing; `None` where it says something.
fn without_alpha(raster: Raster, budget: &Budget) -> Result<Option<Raster>, Error> {
    let (layout, colours) = match raster.layout {
        Layout::Gray | Layout::Rgb | Layout::Cmyk => return Ok(Some(raster)),
        Layout::GrayAlpha => (Layout::Gray, 1),
        Layout::Rgba => (Layout::Rgb, 3),
    };
    let bytes = raster.depth.bytes();
    let (unit, kept) = ((colours + 1) * bytes, colours * bytes);
    let pixels = raster.samples.chunks_exact(unit);
    if !pixels
        .clone()
        .all(|pixel| pixel[kept..].iter().all(|&byte| byte == 255))
    {
        return Ok(None);
    }
    let mut samples = budget.vec(raster.samples.len() / unit * kept)?;
    pixels.for_each(|pixel| samples.extend_from_slice(&pixel[..kept]));
    budget.free(raster.samples);
    Ok(Some(Raster {
        samples,
        layout,
        ..raster
    }))
}

/// Sixteen bits cut to eight, rounded.
pub(super) fn eight_bits(
    raster: Raster,
    notes: &mut Vec<Note>,
    budget: &Budget,
) -> Result<Raster, Error> {
    match raster.depth {
        Depth::Eight => Ok(raster),
        Depth::Sixteen => {
            let mut samples = budget.vec(raster.samples.len() / 2)?;
            samples.extend(raster.samples.chunks_exact(2).map(|pair| {
                let value = u32::from(u16::from_ne_bytes([pair[0], pair[1]]));
                ((value * 255 + 32_767) / 65_535) as u8
            }));
            budget.free(raster.samples);
            notes.push(Note::Dropped("16 bits a sample became 8".to_owned()));
            Ok(Raster {
                samples,
                depth: Depth::Eight,
                ..raster
            })
        }
    }
}

fn png(
    picture: Picture,
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Compressed, Error> {
    let Picture {
        mut raster,
        changed,
        chunks,
        notes: _,
    } = picture;
    let mut notes = changed.edit(&mut raster.carried);
    let mut chunks = match chunks {
        Some(chunks) => {
            let (chunks, lost) = edited(chunks, changed);
            notes = lost;
            chunks
        }
        None => chunks_of(&raster.carried),
    };
    if changed.srgb {
        chunks.insert(0, srgb_chunk());
    }
    let plain = Plain {
        width: raster.width,
        height: raster.height,
        channels: raster.layout.channels(),
        sixteen_bits: raster.depth == Depth::Sixteen,
        bytes: raster.samples,
    };
    let file = png::file_of(&plain, &chunks, budget)?;
    budget.free(plain.bytes);
    // The caller compares with the original.
    let asked = Options {
        force: true,
        ..options.clone()
    };
    let done = png::compress(&file.as_slice(), sink, &asked, budget)?;
    Ok(match done {
        Compressed::Written(mut written) => {
            written.notes.splice(0..0, notes);
            Compressed::Written(written)
        }
        Compressed::Kept(kept) => Compressed::Kept(kept),
    })
}

fn srgb_chunk() -> Chunk {
    Chunk {
        name: *b"sRGB",
        // Perceptual, as for photographs.
        payload: vec![0],
        place: Place::BeforePalette,
    }
}

/// A PNG's own chunks after its pixels changed.
fn edited(mut chunks: Vec<Chunk>, changed: Changed) -> (Vec<Chunk>, Vec<Note>) {
    chunks.retain(|chunk| match &chunk.name {
        b"bKGD" | b"sBIT" | b"hIST" => false,
        b"iCCP" | b"gAMA" | b"cHRM" | b"sRGB" | b"cICP" | b"mDCV" | b"cLLI" => !changed.srgb,
        _ => true,
    });
    let lost = taken(strip_chunks(&mut chunks, &changed.unfit()));
    for chunk in &mut chunks {
        match &chunk.name {
            b"eXIf" => changed.edit_exif(&mut chunk.payload),
            b"iTXt" => changed.edit_xmp(&mut chunk.payload),
            _ => {}
        }
    }
    (chunks, lost)
}

/// Through a format's own writer, with what goes along.
fn with_carried(
    mut picture: Picture,
    options: &Options,
    write: impl FnOnce(Raster) -> Result<Compressed, Error>,
) -> Result<Compressed, Error> {
    let notes = carry(&mut picture, options);
    Ok(write(picture.raster)?.with_notes(notes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Goal, Wanted, compress};

    /// A picture of stripes that becomes another format whatever that costs.
    fn converted(input: &[u8], format: Wanted) -> Vec<u8> {
        let options = Options {
            format,
            force: true,
            ..Options::new(Goal::Quality(80))
        };
        let (mut out, budget) = (Vec::new(), Budget::new(1 << 28, 1 << 20));
        let done = compress(&input, &mut out, &options, &budget);
        assert!(matches!(done, Ok(Compressed::Written(_))), "{done:?}");
        out
    }

    fn png_with(chunks: &[Chunk]) -> Vec<u8> {
        let plain = Plain {
            bytes: (0..64 * 48 * 3).map(|n| (n * 7 % 251) as u8).collect(),
            width: 64,
            height: 48,
            channels: 3,
            sixteen_bits: false,
        };
        png::file_of(&plain, chunks, &Budget::new(1 << 24, 1 << 20)).expect("a PNG")
    }

    #[test]
    fn density_goes_along_in_each_formats_words() {
        // 11,811 to the metre is 300 to the inch.
        let payload = [
            &11_811_u32.to_be_bytes()[..],
            &11_811_u32.to_be_bytes(),
            &[1],
        ]
        .concat();
        let chunk = Chunk {
            name: *b"pHYs",
            payload: payload.clone(),
            place: Place::BeforePalette,
        };
        let jpeg = converted(&png_with(&[chunk]), Wanted::Jpeg);
        assert_eq!(jpeg[6..18], *b"JFIF\0\x01\x01\x01\x01\x2c\x01\x2c");
        let back = converted(&jpeg, Wanted::Png);
        let (chunks, _) =
            png::read_chunks(&&back[..], &Budget::new(1 << 24, 1 << 20)).expect("chunks");
        let told = chunks.iter().find(|chunk| &chunk.name == b"pHYs");
        assert_eq!(told.map(|chunk| &chunk.payload), Some(&payload));
        let bare = converted(&png_with(&[]), Wanted::Jpeg);
        assert_eq!(bare[6..18], JFIF[..12]);
    }

    #[test]
    fn a_scans_resolution_goes_along() {
        let mut file = std::io::Cursor::new(Vec::new());
        let mut encoder = ::tiff::encoder::TiffEncoder::new(&mut file).expect("an encoder");
        let mut image = encoder
            .new_image::<::tiff::encoder::colortype::RGB8>(64, 48)
            .expect("a picture");
        image.resolution(
            ::tiff::tags::ResolutionUnit::Centimeter,
            ::tiff::encoder::Rational { n: 1200, d: 10 },
        );
        image.write_data(&[90; 64 * 48 * 3]).expect("pixels");
        let jpeg = converted(&file.into_inner(), Wanted::Jpeg);
        // 120 to the centimetre is no whole number to the inch.
        assert_eq!(jpeg[11..18], [1, 1, 2, 0, 120, 0, 120]);
    }
}
