//! Image formats, recognised by content and never by name.

/// Image formats recognised by content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// JPEG.
    Jpeg,
    /// PNG with one picture.
    Png,
    /// PNG with an animation.
    Apng,
    /// GIF.
    Gif,
    /// WebP.
    Webp,
    /// TIFF.
    Tiff,
    /// BMP.
    Bmp,
    /// QOI.
    Qoi,
    /// PBM, PGM, PPM, PAM.
    Pnm,
    /// ICO or CUR.
    Ico,
    /// AVIF.
    Avif,
    /// HEIC or HEIF.
    Heic,
    /// JPEG XL.
    Jxl,
    /// JPEG 2000.
    Jp2,
    /// Photoshop document.
    Psd,
    /// Raw camera file.
    Raw,
}

impl Format {
    /// The name people use for the format.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jpeg => "JPEG",
            Self::Png => "PNG",
            Self::Apng => "animated PNG",
            Self::Gif => "GIF",
            Self::Webp => "WebP",
            Self::Tiff => "TIFF",
            Self::Bmp => "BMP",
            Self::Qoi => "QOI",
            Self::Pnm => "PNM",
            Self::Ico => "ICO",
            Self::Avif => "AVIF",
            Self::Heic => "HEIC",
            Self::Jxl => "JPEG XL",
            Self::Jp2 => "JPEG 2000",
            Self::Psd => "PSD",
            Self::Raw => "RAW",
        }
    }
}
