//! The values flags can have, each read on its own. What they mean together is decided in `resolve`.

use crate::units;
use clap::ValueEnum;
use std::fmt::Display;
use std::str::FromStr;

/// `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// As the input.
    Same,
    /// JPEG.
    #[value(alias = "jpg")]
    Jpeg,
    /// PNG.
    Png,
    /// WebP.
    Webp,
    /// AVIF.
    #[value(hide = !pressroom_shared::AVIF)]
    Avif,
}

/// `--progressive`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProgressiveArg {
    /// The smaller form.
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// `--chroma`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ChromaArg {
    /// Decided per image.
    Auto,
    /// Full resolution.
    #[value(name = "444")]
    Full,
    /// Halved across.
    #[value(name = "422")]
    Half,
    /// Halved both ways.
    #[value(name = "420")]
    Quarter,
}

/// `--strip`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StripArg {
    /// Every kind but the colour profile.
    All,
    /// Nothing; undoes what a settings file asks for.
    None,
    /// Position.
    Gps,
    /// EXIF.
    Exif,
    /// XMP.
    Xmp,
    /// IPTC.
    Iptc,
    /// Comments.
    Comment,
    /// Embedded thumbnails.
    Thumbnail,
    /// Colour profile.
    Icc,
    /// Gain maps and further pictures.
    Gainmap,
    /// Motion-photo video.
    Motion,
}

/// `--orient`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OrientArg {
    /// The tag stays.
    Keep,
    /// The pixels are turned.
    Apply,
}

/// `--icc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IccArg {
    /// The profile stays.
    Keep,
    /// Pixels are converted.
    Srgb,
}

/// `--sandbox`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SandboxArg {
    /// As far as the kernel can.
    Auto,
    /// Completely, or the run does not start.
    Require,
    /// Not at all.
    Off,
}

/// `--preserve`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PreserveArg {
    /// Permission bits.
    Mode,
    /// Times.
    Times,
    /// Owner and group.
    Owner,
    /// Extended attributes.
    Xattr,
    /// All of these.
    All,
    /// None of these.
    None,
}

/// `--workers`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkersArg {
    /// One per usable physical core.
    Auto,
    /// So many.
    Exactly(u16),
}

/// `--memory-per-worker`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryCap {
    /// Bytes.
    pub bytes: u64,
    /// Refuse to start unless the kernel enforces it.
    pub require: bool,
}

/// Reads a number within bounds.
pub(super) fn within<T>(least: T, most: T) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: Copy + FromStr + PartialOrd + Display + Send + Sync + 'static,
{
    move |text| match text.parse() {
        Ok(number) if least <= number && number <= most => Ok(number),
        Ok(_) | Err(_) => Err(format!("not a number from {least} to {most}")),
    }
}

/// Reads `--workers`.
pub(super) fn workers(text: &str) -> Result<WorkersArg, String> {
    if text == "auto" {
        return Ok(WorkersArg::Auto);
    }
    match text.parse() {
        Ok(count @ 1..=1024) => Ok(WorkersArg::Exactly(count)),
        Ok(_) | Err(_) => {
            Err("neither a number from 1 to 1024 nor auto; write for example 4".to_owned())
        }
    }
}

/// Reads `--memory-per-worker`.
pub(super) fn memory_cap(text: &str) -> Result<MemoryCap, String> {
    let (size, require) = match text.split_once(',') {
        None => (text, false),
        Some((size, "require")) => (size, true),
        Some(_) => {
            return Err(
                "only \",require\" may follow the size; write for example 256MiB,require"
                    .to_owned(),
            );
        }
    };
    let bytes = units::size(size).map_err(|error| error.to_string())?;
    Ok(MemoryCap { bytes, require })
}
