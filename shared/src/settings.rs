//! What the user asked for, as the worker needs to know it. Sent once per worker; the same for every job of a run.

use serde::{Deserialize, Serialize};

/// Everything that decides what the output of one image looks like.
///
/// Two runs with equal settings and equal input bytes give equal output bytes; the ledger keys its "already done" on
/// exactly this value, so a field that does not change any output does not belong here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// What the result must reach.
    pub goal: Goal,
    /// Lowest quality (1 to 100) a size target may fall to before the image is left as it was.
    pub min_quality: u8,
    /// 0 (fastest) to 9 (smallest).
    pub effort: u8,
    /// Chroma sampling of lossy results.
    pub chroma: Chroma,
    /// Whether JPEG results are progressive.
    pub progressive: Progressive,
    /// Format of the result.
    pub format: Format,
    /// Bounds on width and height; never enlarges.
    pub resize: Resize,
    /// When a size target cannot be met at `min_quality`: shrink the picture, but not below this long edge.
    pub shrink_to_fit: Option<u32>,
    /// Metadata to remove.
    pub strip: Strip,
    /// What happens to the orientation tag.
    pub orient: OrientPolicy,
    /// What happens to the colour profile.
    pub icc: IccPolicy,
    /// Whether PNG may be reduced to a palette.
    pub lossy_png: bool,
    /// Least saving in thousandths of the input's bytes for a result to replace the original.
    pub min_savings_permille: u16,
    /// Write the result even where it is not smaller than the input.
    pub force: bool,
    /// Least saving in bytes for a result to replace the original. Last and left out where not asked for, so that
    /// settings without it are written, and are known again in a ledger, as before it was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_savings_bytes: Option<u64>,
}

/// What the result must reach.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Goal {
    /// A quality from 1 to 100 on the scale people know from libjpeg.
    Quality(u8),
    /// At most so many bytes, at the highest quality that fits.
    MaxSize(SizeLimit),
    /// The fewest bytes that keep this score.
    Score(Metric, f32),
    /// Exactly the same pixels.
    Lossless,
}

/// Upper bound on the bytes of one result.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum SizeLimit {
    /// Bytes.
    Bytes(u64),
    /// Thousandths of the input's bytes.
    Permille(u32),
}

/// A measure of how alike two pictures look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Metric {
    /// SSIMULACRA2, 100 is identical, 90 is visually lossless, 50 is visibly compressed.
    Ssimulacra2,
}

/// Chroma sampling of lossy results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Chroma {
    /// Decided per image.
    Auto,
    /// Full resolution, where the input has it.
    Full,
    /// Halved horizontally.
    Half,
    /// Halved both ways.
    Quarter,
}

/// Whether JPEG results are progressive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Progressive {
    /// Whichever is smaller at the effort allowed.
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// Format of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// The format of the input.
    Same,
    /// JPEG.
    Jpeg,
    /// PNG.
    Png,
    /// WebP.
    Webp,
    /// AVIF.
    Avif,
}

/// Bounds on the upright picture in pixels; `None` is no bound. Pictures are never enlarged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resize {
    /// Widest.
    pub max_width: Option<u32>,
    /// Tallest.
    pub max_height: Option<u32>,
    /// Longest long edge.
    pub long_edge: Option<u32>,
    /// Longest short edge.
    pub short_edge: Option<u32>,
    /// Averages light instead of its code. Last and left out where not asked for, so that settings without it are written,
    /// and are known again in a ledger, as before it was there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub linear_light: bool,
}

impl Resize {
    /// Whether any bound is set.
    pub fn is_set(&self) -> bool {
        let unbound = Self {
            linear_light: self.linear_light,
            ..Self::default()
        };
        *self != unbound
    }
}

/// Kinds of metadata to remove; the same kinds in every format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each kind is chosen on its own"
)]
pub struct Strip {
    /// EXIF, all of it (orientation is baked or kept on its own).
    pub exif: bool,
    /// Position, in EXIF and in XMP.
    pub gps: bool,
    /// XMP, extended XMP included.
    pub xmp: bool,
    /// IPTC (JPEG APP13).
    pub iptc: bool,
    /// Comments and text chunks.
    pub comment: bool,
    /// Embedded thumbnails.
    pub thumbnail: bool,
    /// Colour profile.
    pub icc: bool,
    /// HDR gain map and multi-picture parts.
    pub gainmap: bool,
    /// Motion-photo video behind the picture.
    pub motion: bool,
}

/// What happens to the orientation tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OrientPolicy {
    /// The tag stays, the pixels stay.
    Keep,
    /// The pixels are turned and the tag is reset.
    Apply,
}

/// What happens to the colour profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum IccPolicy {
    /// It stays.
    Keep,
    /// Pixels are converted to sRGB and the profile goes.
    Srgb,
}
