//! What is asked of one picture, already checked: whoever builds an [`Options`] has refused nonsense.

/// What is asked of one picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// What the result must reach.
    pub goal: Goal,
    /// Lowest quality, 1 to 100, a size target may fall to.
    pub min_quality: u8,
    /// 0 (fastest) to 9 (smallest).
    pub effort: u8,
    /// Chroma sampling of lossy results.
    pub chroma: Chroma,
    /// Whether JPEG results are progressive.
    pub progressive: Progressive,
    /// Whether PNG may be reduced to a palette.
    pub lossy_png: bool,
    /// Format of the result.
    pub format: Wanted,
    /// Bounds on width and height.
    pub resize: Resize,
    /// Averages light instead of its code where a picture becomes smaller in pixels.
    pub linear_light: bool,
    /// Where a size cannot be reached at the lowest quality: shrink the picture, but not below this long edge in pixels.
    pub shrink_to_fit: Option<u32>,
    /// What becomes of an orientation other than upright.
    pub orient: Orient,
    /// What becomes of colours that are not sRGB.
    pub colours: Colours,
    /// Metadata to remove.
    pub strip: Strip,
    /// Least saving, in thousandths of the input's bytes, for a result to be worth having.
    pub min_savings_permille: u16,
    /// The same in bytes.
    pub min_savings_bytes: u64,
    /// Write the result even where it is not smaller.
    pub force: bool,
}

impl Options {
    /// A goal at effort 4 and nothing besides: format, dimensions, metadata and colours are the input's. For tests and
    /// measurements; whoever has a user's settings takes every field from them.
    pub fn new(goal: Goal) -> Self {
        Self {
            goal,
            min_quality: 5,
            effort: 4,
            chroma: Chroma::Auto,
            progressive: Progressive::Auto,
            lossy_png: false,
            format: Wanted::Same,
            resize: Resize::default(),
            linear_light: false,
            shrink_to_fit: None,
            orient: Orient::Keep,
            colours: Colours::Keep,
            strip: Strip::default(),
            min_savings_permille: 0,
            min_savings_bytes: 0,
            force: false,
        }
    }

    /// Whether a result of `after` bytes is worth having instead of an original of `before` bytes.
    pub fn is_worth(&self, before: u64, after: u64) -> bool {
        let saved = before.saturating_sub(after);
        let asked = u128::from(before) * u128::from(self.min_savings_permille);
        let enough = saved >= self.min_savings_bytes && u128::from(saved) * 1000 >= asked;
        self.force || (saved > 0 && enough)
    }

    /// The same for a picture that has the right size.
    pub(crate) fn without_resize(&self) -> Self {
        Self {
            resize: Resize::default(),
            ..self.clone()
        }
    }
}

/// Format of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// That of the input.
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

/// What becomes of an orientation other than upright.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orient {
    /// Pixels and tag stay.
    Keep,
    /// The pixels are turned and the tag says upright.
    Apply,
}

/// What becomes of colours that are not sRGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// They stay, with their profile.
    Keep,
    /// They become sRGB, and the profile goes.
    Srgb,
}

/// Bounds on the upright picture in pixels; `None` is no bound. Pictures are never enlarged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resize {
    /// Widest.
    pub max_width: Option<u32>,
    /// Tallest.
    pub max_height: Option<u32>,
    /// Longest long edge.
    pub long_edge: Option<u32>,
    /// Longest short edge.
    pub short_edge: Option<u32>,
}

/// Kinds of metadata to remove; the same kinds in every format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each kind is chosen on its own"
)]
pub struct Strip {
    /// EXIF, all but an orientation other than upright.
    pub exif: bool,
    /// Position, in EXIF and in XMP.
    pub gps: bool,
    /// XMP, extended XMP included.
    pub xmp: bool,
    /// IPTC.
    pub iptc: bool,
    /// Comments and text.
    pub comment: bool,
    /// Embedded small pictures.
    pub thumbnail: bool,
    /// Colour profile.
    pub icc: bool,
    /// Gain map and further pictures behind the first.
    pub gainmap: bool,
    /// Video behind the picture.
    pub motion: bool,
}

impl Strip {
    /// Whether anything is to be removed.
    pub fn is_set(&self) -> bool {
        *self != Self::default()
    }
}

/// What the result must reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// Quality 1 to 100 on the format's own scale: libjpeg's for JPEG, libwebp's for WebP, libheif's for AVIF.
    Quality(u8),
    /// At most so many bytes, at the highest quality that fits.
    MaxSize(SizeLimit),
    /// The fewest bytes that keep this SSIMULACRA2 score.
    Ssimulacra2(f32),
    /// Exactly the same pixels.
    Lossless,
}

impl Goal {
    /// The same for an input of `input` bytes that is about to be another file.
    pub(crate) fn of_input(self, input: u64) -> Self {
        match self {
            Self::MaxSize(limit) => Self::MaxSize(SizeLimit::Bytes(limit.bytes(input))),
            Self::Quality(_) | Self::Ssimulacra2(_) | Self::Lossless => self,
        }
    }
}

/// Upper bound on the bytes of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeLimit {
    /// Bytes.
    Bytes(u64),
    /// Thousandths of the input's bytes.
    Permille(u32),
}

impl SizeLimit {
    /// The limit in bytes for an input of `input` bytes.
    pub fn bytes(self, input: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Permille(share) => (u128::from(input) * u128::from(share) / 1000) as u64,
        }
    }
}

/// Chroma sampling of lossy results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chroma {
    /// Decided per picture.
    Auto,
    /// Full resolution, where the input has it.
    Full,
    /// Halved horizontally.
    Half,
    /// Halved both ways.
    Quarter,
}

/// Whether JPEG results are progressive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progressive {
    /// Whichever is smaller at the effort allowed.
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(permille: u16, bytes: u64, force: bool) -> Options {
        Options {
            min_savings_permille: permille,
            min_savings_bytes: bytes,
            force,
            ..Options::new(Goal::Lossless)
        }
    }

    #[test]
    fn a_result_is_worth_having_from_the_saving_asked_for() {
        let worth = |permille, bytes, after| asked(permille, bytes, false).is_worth(1000, after);
        assert!(worth(0, 0, 999) && !worth(0, 0, 1000) && !worth(0, 0, 1001));
        assert!(worth(50, 0, 950) && !worth(50, 0, 951));
        assert!(worth(0, 100, 900) && !worth(0, 100, 901));
        assert!(!worth(50, 100, 901) && worth(50, 100, 900));
        assert!(asked(50, 100, true).is_worth(1000, 2000));
    }
}
