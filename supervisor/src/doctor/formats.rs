//! What becomes of each format, in words. Says what the worker does; a test of the executable holds it to that.

use pressroom_shared::{AVIF, ImageFormat, JXL};

/// What is done with pictures of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Treated {
    /// Made smaller, and what `--format` can make of others, if it is a still picture.
    Smaller,
    /// Read for `--format`, otherwise kept.
    Read,
    /// Read for `--format`, and what `--format` can make of others.
    Made,
    /// Recognised and kept.
    Kept,
}

const ALL: [ImageFormat; 16] = [
    ImageFormat::Jpeg,
    ImageFormat::Png,
    ImageFormat::Apng,
    ImageFormat::Webp,
    ImageFormat::Gif,
    ImageFormat::Tiff,
    ImageFormat::Bmp,
    ImageFormat::Qoi,
    ImageFormat::Pnm,
    ImageFormat::Ico,
    ImageFormat::Avif,
    ImageFormat::Heic,
    ImageFormat::Jxl,
    ImageFormat::Jp2,
    ImageFormat::Psd,
    ImageFormat::Raw,
];

fn treated(format: ImageFormat) -> Treated {
    match format {
        ImageFormat::Jpeg
        | ImageFormat::Png
        | ImageFormat::Apng
        | ImageFormat::Webp
        | ImageFormat::Gif => Treated::Smaller,
        ImageFormat::Tiff
        | ImageFormat::Bmp
        | ImageFormat::Qoi
        | ImageFormat::Pnm
        | ImageFormat::Ico => Treated::Read,
        ImageFormat::Jxl if JXL => Treated::Read,
        ImageFormat::Avif if AVIF => Treated::Made,
        ImageFormat::Avif
        | ImageFormat::Heic
        | ImageFormat::Jxl
        | ImageFormat::Jp2
        | ImageFormat::Psd
        | ImageFormat::Raw => Treated::Kept,
    }
}

/// All of it in one line.
pub(super) fn line() -> String {
    let names = |wanted: Treated| {
        let names: Vec<&str> = ALL
            .into_iter()
            .filter(|format| treated(*format) == wanted)
            .map(ImageFormat::name)
            .collect();
        names.join(", ")
    };
    let mut line = format!(
        "made smaller: {}; read for --format: {}; kept as they are: {}",
        names(Treated::Smaller),
        names(Treated::Read),
        names(Treated::Kept)
    );
    let made = names(Treated::Made);
    if !made.is_empty() {
        line.push_str("; read, and written by --format: ");
        line.push_str(&made);
    }
    let absent = [
        (
            AVIF,
            "AVIF is not in this build: build with --features avif",
        ),
        (
            JXL,
            "JPEG XL is not in this build: build with --features jxl",
        ),
    ];
    for (_, words) in absent.iter().filter(|(here, _)| !here) {
        line.push_str("; ");
        line.push_str(words);
    }
    line
}
