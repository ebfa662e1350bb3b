//! JPEG XL, in builds with the feature `jxl`: still pictures read for other formats, through `jxl-oxide` on one thread.
//!
//! Gray and RGB of up to sixteen bits with or without alpha, profile, EXIF, XMP; what comes out is upright. Every buffer of the
//! library is counted against the budget. Animations, floats, ink, HDR colours and channels other than alpha are refused by name.

mod container;

use crate::metadata::say_upright;
use crate::raster::{Carried, Depth, Layout, Raster, whole};
use crate::{Budget, Error, Format, Source};
use container::Container;
use jxl_oxide::image::BitDepth;
use jxl_oxide::{
    AllocTracker, ExtraChannelType, InitializeResult, JxlImage, JxlThreadPool, PixelFormat, Render,
};

/// Whether this build reads JPEG XL.
pub(crate) const PRESENT: bool = true;

/// Primaries, transfer, matrix and range of sRGB (ITU-T H.273).
const SRGB: [u8; 4] = [1, 13, 0, 1];

/// Decodes the still picture in `source`; what comes out is upright.
///
/// # Errors
/// [`Error::Unsupported`] names what is not read; see [`Error`].
pub(crate) fn read(source: &dyn Source, budget: &Budget) -> Result<Raster, Error> {
    let file = whole(source, budget)?;
    let container = Container::read(&file)?;
    let image = open(&container, budget)?;
    let (width, height) = (image.width(), image.height());
    let (layout, depth) = kind(&image)?;
    let unit = layout.channels() * depth.bytes();
    let mut samples = budget.vec(width as usize * height as usize * unit)?;
    let picture = image
        .render_frame(0)
        .map_err(|error| meaning(&*error, budget))?;
    fill(&picture, depth, layout.channels(), &mut samples);
    if samples.len() != width as usize * height as usize * unit {
        return Err(corrupt("its pixels are not as many as it says"));
    }
    let srgb = image.rendered_cicp() == Some(SRGB);
    let carried = Carried {
        icc: (!srgb).then(|| image.rendered_icc()),
        exif: container.exif()?.map(say_upright),
        xmp: container.xmp()?,
        ..Carried::default()
    };
    drop((picture, image));
    budget.free(file);
    Ok(Raster {
        width,
        height,
        layout,
        depth,
        samples,
        carried,
    })
}

/// The picture with its headers read and its size admitted; no pixel is decoded yet.
fn open(container: &Container<'_>, budget: &Budget) -> Result<JxlImage, Error> {
    let left = usize::try_from(budget.left()).unwrap_or(usize::MAX);
    let mut starting = JxlImage::builder()
        .pool(JxlThreadPool::none())
        .alloc_tracker(AllocTracker::with_limit(left))
        .build_uninit();
    let mut pieces = container.picture().flat_map(|piece| piece.chunks(1 << 16));
    let meaning = |error: Box<dyn std::error::Error + Send + Sync>| meaning(&*error, budget);
    let mut image = loop {
        let piece = pieces.next().ok_or_else(|| corrupt("it is cut off"))?;
        starting.feed_bytes(piece).map_err(meaning)?;
        match starting.try_init().map_err(meaning)? {
            InitializeResult::NeedMoreData(same) => starting = same,
            InitializeResult::Initialized(image) => break image,
        }
    };
    let animated = || unsupported("an animated JPEG XL as a still picture");
    if image.image_header().metadata.animation.is_some() {
        return Err(animated());
    }
    budget.admit_pixels(image.width().into(), image.height().into())?;
    for piece in pieces {
        image.feed_bytes(piece).map_err(meaning)?;
    }
    image.finalize().map_err(meaning)?;
    if image.num_loaded_keyframes() > 1 {
        return Err(animated());
    }
    if !image.is_loading_done() || image.num_loaded_keyframes() == 0 {
        return Err(corrupt("its pixels are cut off"));
    }
    Ok(image)
}

/// What its pixels are, or why they are not read.
fn kind(image: &JxlImage) -> Result<(Layout, Depth), Error> {
    let metadata = &image.image_header().metadata;
    if image.hdr_type().is_some() {
        return Err(unsupported("a JPEG XL with HDR colours (PQ or HLG)"));
    }
    let depths = metadata.ec_info.iter().map(|channel| channel.bit_depth);
    let mut bits = 0;
    for depth in depths.chain([metadata.bit_depth]) {
        match depth {
            BitDepth::IntegerSample { bits_per_sample } => bits = bits.max(bits_per_sample),
            BitDepth::FloatSample { .. } => {
                return Err(unsupported("a JPEG XL of floating-point samples"));
            }
        }
    }
    if bits > 16 {
        return Err(unsupported(format!("a JPEG XL of {bits} bits per sample")));
    }
    for channel in &metadata.ec_info {
        match channel.ty {
            ExtraChannelType::Alpha {
                alpha_associated: false,
            } => {}
            ExtraChannelType::Alpha { .. } => {
                return Err(unsupported("a JPEG XL with alpha multiplied in"));
            }
            ExtraChannelType::Depth
            | ExtraChannelType::SpotColour { .. }
            | ExtraChannelType::SelectionMask
            | ExtraChannelType::Black
            | ExtraChannelType::Cfa { .. }
            | ExtraChannelType::Thermal
            | ExtraChannelType::NonOptional
            | ExtraChannelType::Optional => {
                return Err(unsupported("a JPEG XL with channels other than alpha"));
            }
        }
    }
    if metadata.ec_info.len() > 1 {
        return Err(unsupported("a JPEG XL with several alpha channels"));
    }
    let layout = match image.pixel_format() {
        PixelFormat::Gray => Layout::Gray,
        PixelFormat::Graya => Layout::GrayAlpha,
        PixelFormat::Rgb => Layout::Rgb,
        PixelFormat::Rgba => Layout::Rgba,
        PixelFormat::Cmyk | PixelFormat::Cmyka => return Err(unsupported("a JPEG XL of inks")),
    };
    let depth = if bits > 8 {
        Depth::Sixteen
    } else {
        Depth::Eight
    };
    Ok((layout, depth))
}

/// Appends the picture's samples row by row, as far as there is room.
fn fill(picture: &Render, depth: Depth, channels: usize, samples: &mut Vec<u8>) {
    const PIECE: usize = 4096;
    let mut stream = picture.stream();
    if stream.channels() as usize != channels {
        return;
    }
    let fits = |samples: &Vec<u8>, more: usize| samples.len() + more <= samples.capacity();
    match depth {
        Depth::Eight => {
            let mut piece = [0_u8; PIECE];
            loop {
                let count = stream.write_to_buffer(&mut piece);
                if count == 0 || !fits(samples, count) {
                    break;
                }
                samples.extend_from_slice(&piece[..count]);
            }
        }
        Depth::Sixteen => {
            let mut piece = [0_u16; PIECE];
            loop {
                let count = stream.write_to_buffer(&mut piece);
                if count == 0 || !fits(samples, 2 * count) {
                    break;
                }
                samples.extend(piece[..count].iter().flat_map(|value| value.to_ne_bytes()));
            }
        }
    }
}

/// What the library's error means; memory it was refused is the budget's.
fn meaning(error: &(dyn std::error::Error + 'static), budget: &Budget) -> Error {
    let mut cause = Some(error);
    while let Some(one) = cause {
        if one.is::<jxl_grid::OutOfMemory>() {
            return Error::OverBudget {
                needed: budget.memory().saturating_add(1),
                cap: budget.memory(),
            };
        }
        cause = one.source();
    }
    corrupt(error.to_string())
}

fn unsupported(what: impl Into<String>) -> Error {
    Error::Unsupported(what.into())
}

fn corrupt(what: impl Into<String>) -> Error {
    Error::Corrupt {
        format: Format::Jxl,
        what: what.into(),
    }
}

#[cfg(test)]
mod tests;
