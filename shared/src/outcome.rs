//! What became of one image. Closed enums: whoever reads them names every case.

use serde::{Deserialize, Serialize};

/// What became of one image, as the worker tells it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Outcome {
    /// A smaller picture stands in staging.
    Saved(Saved),
    /// The original bytes are what the output gets (a copy stands in staging, unless the run is in place).
    Kept(Kept),
    /// There is no output.
    Failed(Failed),
}

/// A result that was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    /// Bytes of the result.
    pub bytes: u64,
    /// Format of the result.
    pub format: ImageFormat,
    /// Width of the result in stored pixels.
    pub width: u32,
    /// Height of the result in stored pixels.
    pub height: u32,
    /// Quality used on the scale of `--quality`, where the format has one.
    pub quality: Option<u8>,
    /// Things the user should know about this file.
    pub warnings: Vec<Warning>,
}

/// An original that was kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// Why.
    pub reason: KeptReason,
    /// Bytes of the original.
    pub bytes: u64,
    /// Format found in the file.
    pub format: ImageFormat,
    /// Things the user should know about this file.
    pub warnings: Vec<Warning>,
}

/// Why an original was kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum KeptReason {
    /// It was already at or below the size asked for.
    WithinTarget,
    /// The result would not have been smaller (or not by the least saving asked for).
    NotSmaller,
    /// The size asked for needs a quality below `--min-quality`.
    TargetUnreachable {
        /// Bytes asked for.
        target: u64,
        /// Bytes reached at the lowest quality allowed.
        smallest: u64,
    },
    /// The format is recognised but not compressed by this version, e.g. "HEIC".
    UnsupportedFormat,
    /// The file holds something that would be lost, e.g. a second picture; the text names it.
    WouldLose(String),
    /// In place only: the file has other hard links, which would keep the old picture.
    HardLinked,
}

/// An image that could not be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// The kind, for counting and for scripts.
    pub kind: FailureKind,
    /// What happened and what to do, one line, without the file's name.
    pub message: String,
}

/// Kinds of failure; the names in `--json` are these in snake case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FailureKind {
    /// The file has no bytes.
    Empty,
    /// The content is no image (text, HTML, ...).
    NotAnImage,
    /// The image is damaged or cut off.
    Corrupt,
    /// The image uses a feature that is not supported; the message names it.
    Unsupported,
    /// Declared dimensions or file size exceed a limit.
    TooLarge,
    /// It needs more memory than `--memory-per-worker`.
    MemoryCap,
    /// The system, not the cap, ran out of memory.
    HostMemory,
    /// It took longer than `--timeout`.
    Timeout,
    /// The worker crashed on it, twice where the first death was ambiguous.
    Crashed,
    /// The worker was killed from outside, twice.
    Killed,
    /// The worker tried something the sandbox forbids.
    SandboxViolation,
    /// The worker spoke nonsense.
    Protocol,
    /// The file may not be read.
    Unreadable,
    /// The file went away after it was found.
    Vanished,
    /// The file changed while it was being read.
    Changed,
    /// Reading or writing failed.
    Io,
    /// The disk is full.
    DiskFull,
    /// The output's name would be too long.
    NameTooLong,
    /// Two inputs would have made one output.
    Collision,
    /// The output exists and is not ours to replace.
    OutputExists,
    /// The written result did not decode to what it should.
    Verify,
}

/// Something the user should know about a file that was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Warning {
    /// The size asked for needed a quality below 30; the picture will show it.
    LowQuality(u8),
    /// The file's name says another format than its content, which decided.
    NameMismatch {
        /// Format found in the content.
        content: ImageFormat,
    },
    /// The input had damage that could be repaired or ignored; the text names it.
    Repaired(String),
    /// Something was dropped or cut as documented; the text names it.
    Dropped(String),
    /// Something that was to be removed had to stay; the text names it.
    Stayed(String),
}

/// Image formats recognised by content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ImageFormat {
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
    /// Raw camera file (CR2, CR3, NEF, ARW, RAF, ORF, RW2, DNG, ...).
    Raw,
}

impl ImageFormat {
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
