//! How much memory a job needs in all, where its budget refused a part of it. The claim that is refused first says little:
//! who raises the cap by it meets the next one. Knows what jobs take for a pixel, as measured; allocates nothing.

use crate::{Budget, Error, Format, Goal, Options, Resize, Source, Wanted};

/// What everything takes that does not grow with the picture.
const ANYWAY: u64 = 16 << 20;

/// Bytes to a pixel that scoring in strips takes, and to a pixel of the width: see `jpeg::score`.
const SCORED: u64 = 16;
const STRIP: u64 = 320 * 95;

/// Bytes to a pixel that light takes more than its code: four channels of twice the size, with alpha multiplied in and resampled
/// one way.
const LIGHT: u64 = 4 * 4 * 3;

/// The same of what moves while it is resized: a dozen canvases of RGBA, of the old size or the new.
const CANVASES: u64 = 4 * 12;

/// What a PNG takes beside: the packer's tables, counts of colours, and the way from colours to entries of a palette.
const PACKER: u64 = 32 << 20;

/// `error` with the memory that will do, where it is about memory and the picture's size is known.
pub(super) fn named(
    error: Error,
    format: Format,
    source: &dyn Source,
    options: &Options,
    budget: &Budget,
) -> Error {
    let Error::OverBudget { needed, cap } = error else {
        return error;
    };
    let light = if options.linear_light { LIGHT } else { 0 };
    let resized = options.resize != Resize::default();
    let moves = matches!(format, Format::Gif | Format::Apng | Format::Webp);
    let canvases = if moves && resized { CANVASES } else { 0 };
    let pixels = budget
        .declared()
        .saturating_mul(bytes_a_pixel(format, options) + light + canvases);
    // The file itself, and a result that grows in memory and may double once.
    let files = source.len().saturating_mul(3);
    let fixed = ANYWAY + if is_png(format, options) { PACKER } else { 0 };
    let in_all = pixels.saturating_add(files).saturating_add(fixed);
    Error::OverBudget {
        needed: if budget.declared() == 0 {
            needed
        } else {
            needed
                .max(in_all)
                .max(scored(needed, format, options, budget).saturating_add(in_all))
        },
        cap,
    }
}

/// What scoring a JPEG takes beside everything else: that of the claim refused, if it was the scorer's, or what strips take of a
/// picture up to 9:4; of a wider one the scorer's own claim tells. Nothing where nothing is scored.
fn scored(needed: u64, format: Format, options: &Options, budget: &Budget) -> u64 {
    let jpeg = format == Format::Jpeg && matches!(options.format, Wanted::Same | Wanted::Jpeg);
    if !(jpeg && matches!(options.goal, Goal::Ssimulacra2(_))) {
        return 0;
    }
    let pixels = budget.declared();
    let strip = pixels.isqrt().saturating_mul(3) / 2 * STRIP;
    needed.max(pixels.saturating_mul(SCORED).saturating_add(strip))
}

fn is_png(format: Format, options: &Options) -> bool {
    let was_png = matches!(format, Format::Png | Format::Apng);
    options.format == Wanted::Png || options.format == Wanted::Same && was_png
}

/// What decoding a JPEG XL takes for a pixel beside.
const FLOATS: u64 = 64;

/// Most bytes that a pixel was seen to take, in pictures of noise, by what the result is.
fn bytes_a_pixel(format: Format, options: &Options) -> u64 {
    let before = if format == Format::Jxl { FLOATS } else { 0 };
    let result = match options.format {
        Wanted::Same => format,
        Wanted::Jpeg => Format::Jpeg,
        Wanted::Png => Format::Png,
        Wanted::Webp => Format::Webp,
        Wanted::Avif => Format::Avif,
    };
    let own = match result {
        Format::Jpeg if format == Format::Jpeg => 7,
        Format::Png | Format::Apng => 24,
        Format::Webp if options.goal == Goal::Lossless || format == Format::Webp => 52,
        Format::Webp => 16,
        Format::Avif if options.format == Wanted::Avif => 100,
        Format::Jpeg
        | Format::Gif
        | Format::Tiff
        | Format::Bmp
        | Format::Qoi
        | Format::Pnm
        | Format::Ico
        | Format::Avif
        | Format::Heic
        | Format::Jxl
        | Format::Jp2
        | Format::Psd
        | Format::Raw => 12,
    };
    own + before
}

#[cfg(test)]
mod tests {
    use crate::door::refusals::{PIXELS, jobs, pictures, plain};
    use crate::{Budget, Error, compress};

    fn needed(input: &[u8], options: &crate::Options, memory: u64) -> Option<u64> {
        let budget = Budget::new(memory, PIXELS);
        match compress(&input, &mut Vec::new(), options, &budget) {
            Err(Error::OverBudget { needed, .. }) => Some(needed),
            _ => None,
        }
    }

    /// Whatever is too little, and as soon as the size is known, the memory that is named will do.
    #[test]
    fn what_is_named_will_do() {
        let mut named = 0;
        for (format, input) in pictures() {
            for options in jobs() {
                for memory in (0..16).map(|power| 1 << (10 + power)) {
                    let Some(enough) = needed(&input, &options, memory) else {
                        continue;
                    };
                    if enough < super::ANYWAY {
                        continue;
                    }
                    named += 1;
                    assert_eq!(
                        needed(&input, &options, enough),
                        None,
                        "{format:?} {options:?}"
                    );
                }
            }
        }
        assert!(named > 100, "{named}");
    }

    #[test]
    fn too_many_pixels_are_refused_by_name_whatever_they_become() {
        for (format, input) in pictures() {
            for options in jobs() {
                let budget = Budget::new(1 << 29, 10);
                let done = compress(&input.as_slice(), &mut Vec::new(), &options, &budget);
                let kept = matches!(done, Ok(crate::Compressed::Kept(_)));
                assert!(
                    kept || matches!(done, Err(Error::TooManyPixels { .. })),
                    "{format:?} {options:?}: {done:?}"
                );
            }
        }
    }

    /// Large enough for the pixels to outweigh the rest.
    #[test]
    fn a_large_picture_needs_no_more_than_is_named() {
        let input = [&b"P6 2000 1500 255\n"[..], &vec![77; 9_000_000]].concat();
        for format in [crate::Wanted::Jpeg, crate::Wanted::Png, crate::Wanted::Webp] {
            let options = crate::Options { format, ..plain() };
            let enough = needed(&input, &options, 4 << 20).unwrap();
            assert!(enough > 9_000_000 && enough < 200_000_000, "{enough}");
            assert_eq!(needed(&input, &options, enough), None);
        }
    }
}
