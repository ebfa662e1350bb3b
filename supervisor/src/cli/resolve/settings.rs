//! What results look like: the flags of the result and metadata groups become [`Settings`]. Pure.

use super::conflict::{Conflict, Resolved};
use crate::cli::args::{FileArgs, MetadataArgs, ResultArgs};
use crate::cli::values::{ChromaArg, FormatArg, IccArg, OrientArg, ProgressiveArg, StripArg};
use crate::units::Amount;
use pressroom_shared::{
    Chroma, Format, Goal, IccPolicy, Metric, OrientPolicy, Progressive, Resize, Settings,
    SizeLimit, Strip,
};

/// Quality when nothing else is asked for: what the common tools use, and well above what an eye notices in a photo.
const DEFAULT_QUALITY: u8 = 80;
/// Lowest quality a size target may fall to.
const DEFAULT_MIN_QUALITY: u8 = 5;
/// Between speed and size.
const DEFAULT_EFFORT: u8 = 5;

/// Makes the settings, which decide what each result looks like.
pub(super) fn settings(
    result: &ResultArgs,
    metadata: &MetadataArgs,
    files: &FileArgs,
) -> Resolved<Settings> {
    let goal = goal(result)?;
    if goal == Goal::Lossless {
        refuse_lossless(result, metadata)?;
    }
    if result.target.is_some() {
        refuse_target(result, metadata)?;
    }
    refuse_absent(result)?;
    if result.shrink_to_fit.is_some() && result.max_size.is_none() {
        return Err(Conflict::new(
            &["shrink-to-fit"],
            "--shrink-to-fit helps to reach --max-size: add it, or drop this",
        ));
    }
    if files.force && files.min_savings.is_some() {
        return Err(Conflict::new(
            &["force", "min-savings"],
            "--force and --min-savings exclude each other: drop one",
        ));
    }
    Ok(Settings {
        goal,
        min_quality: result.min_quality.unwrap_or(DEFAULT_MIN_QUALITY),
        effort: result.effort.unwrap_or(DEFAULT_EFFORT),
        chroma: chroma(result.chroma.unwrap_or(ChromaArg::Auto)),
        progressive: progressive(result.progressive.unwrap_or(ProgressiveArg::Auto)),
        format: format(result.format.unwrap_or(FormatArg::Same)),
        resize: resize(result),
        shrink_to_fit: result.shrink_to_fit,
        strip: strip(&metadata.strip)?,
        orient: match metadata.orient {
            None | Some(OrientArg::Keep) => OrientPolicy::Keep,
            Some(OrientArg::Apply) => OrientPolicy::Apply,
        },
        icc: match metadata.icc {
            None | Some(IccArg::Keep) => IccPolicy::Keep,
            Some(IccArg::Srgb) => IccPolicy::Srgb,
        },
        lossy_png: result.lossy_png,
        min_savings_permille: match files.min_savings {
            Some(Amount::Permille(share)) => u16::try_from(share).unwrap_or(1000),
            Some(Amount::Bytes(_)) | None => 0,
        },
        force: files.force,
        min_savings_bytes: match files.min_savings {
            Some(Amount::Bytes(bytes @ 1..)) => Some(bytes),
            Some(Amount::Bytes(0) | Amount::Permille(_)) | None => None,
        },
    })
}

fn goal(result: &ResultArgs) -> Resolved<Goal> {
    let given = [
        ("quality", result.quality.is_some()),
        ("max-size", result.max_size.is_some()),
        ("target", result.target.is_some()),
        ("lossless", result.lossless),
    ];
    let given: Vec<&'static str> = given
        .into_iter()
        .filter(|(_, on)| *on)
        .map(|(key, _)| key)
        .collect();
    if let [first, second, ..] = given[..] {
        return Err(Conflict::new(
            &[first, second],
            format!("--{first} and --{second} exclude each other: a result has one goal, drop one"),
        ));
    }
    match (result.quality, result.max_size, &result.target) {
        (Some(quality), _, _) => Ok(Goal::Quality(quality)),
        (_, Some(Amount::Bytes(0)), _) => Err(Conflict::new(
            &["max-size"],
            "--max-size 0 leaves no room for a picture",
        )),
        (_, Some(Amount::Bytes(bytes)), _) => Ok(Goal::MaxSize(SizeLimit::Bytes(bytes))),
        (_, Some(Amount::Permille(share)), _) => Ok(Goal::MaxSize(SizeLimit::Permille(share))),
        (_, _, Some(target)) => score(target),
        _ if result.lossless => Ok(Goal::Lossless),
        _ => Ok(Goal::Quality(DEFAULT_QUALITY)),
    }
}

fn score(target: &str) -> Resolved<Goal> {
    let value = target
        .strip_prefix("ssimulacra2:")
        .and_then(|number| number.parse::<f32>().ok());
    match value {
        Some(value) if (1.0..=99.0).contains(&value) => Ok(Goal::Score(Metric::Ssimulacra2, value)),
        Some(_) | None => Err(Conflict::new(
            &["target"],
            format!(
                "--target {target:?}: write ssimulacra2:N with N from 1 to 99, for example ssimulacra2:80"
            ),
        )),
    }
}

/// Whatever changes a pixel does not go with `--lossless`.
fn refuse_lossless(result: &ResultArgs, metadata: &MetadataArgs) -> Resolved<()> {
    let lossy_format = result.format == Some(FormatArg::Jpeg);
    let clashes = [
        (resize(result).is_set(), "resizing"),
        (lossy_format, "--format jpeg"),
        (result.lossy_png, "--lossy-png"),
        (
            result
                .chroma
                .is_some_and(|chroma| chroma != ChromaArg::Auto),
            "--chroma",
        ),
        (metadata.icc == Some(IccArg::Srgb), "--icc srgb"),
        (result.min_quality.is_some(), "--min-quality"),
    ];
    let keys = [
        "lossless",
        "max-width",
        "max-height",
        "long-edge",
        "short-edge",
        "format",
        "lossy-png",
        "chroma",
        "icc",
        "min-quality",
    ];
    let told = |what: &str| {
        format!("--lossless leaves every pixel as it is and so does not go with {what}: drop one")
    };
    refuse_first(&clashes, &keys, told)
}

/// A score compares a result with its original, so whatever makes another picture of it does not go with `--target`.
fn refuse_target(result: &ResultArgs, metadata: &MetadataArgs) -> Resolved<()> {
    let other_format = !matches!(result.format, None | Some(FormatArg::Same));
    let clashes = [
        (resize(result).is_set(), "resizing"),
        (other_format, "--format"),
        (result.lossy_png, "--lossy-png"),
        (metadata.icc == Some(IccArg::Srgb), "--icc srgb"),
        (metadata.orient == Some(OrientArg::Apply), "--orient apply"),
    ];
    let keys = [
        "target",
        "max-width",
        "max-height",
        "long-edge",
        "short-edge",
        "format",
        "lossy-png",
        "icc",
        "orient",
    ];
    let told = |what: &str| {
        format!(
            "--target compares each result with its original and so does not go with {what}: drop one, or use -q"
        )
    };
    refuse_first(&clashes, &keys, told)
}

/// Refuses the first of `clashes` that was given, in the words that `told` finds for it.
fn refuse_first(
    clashes: &[(bool, &str)],
    keys: &[&'static str],
    told: impl Fn(&str) -> String,
) -> Resolved<()> {
    match clashes.iter().find(|(given, _)| *given) {
        None => Ok(()),
        Some((_, what)) => Err(Conflict::new(keys, told(what))),
    }
}

fn resize(result: &ResultArgs) -> Resize {
    let bounds = Resize {
        max_width: result.max_width,
        max_height: result.max_height,
        long_edge: result.long_edge,
        short_edge: result.short_edge,
        linear_light: false,
    };
    // Where nothing is resized it changes no result, and so must not make earlier ones look outdated.
    let resizes = bounds.is_set() || result.shrink_to_fit.is_some();
    Resize {
        linear_light: result.linear_light && resizes,
        ..bounds
    }
}

fn chroma(chroma: ChromaArg) -> Chroma {
    match chroma {
        ChromaArg::Auto => Chroma::Auto,
        ChromaArg::Full => Chroma::Full,
        ChromaArg::Half => Chroma::Half,
        ChromaArg::Quarter => Chroma::Quarter,
    }
}

fn progressive(progressive: ProgressiveArg) -> Progressive {
    match progressive {
        ProgressiveArg::Auto => Progressive::Auto,
        ProgressiveArg::On => Progressive::On,
        ProgressiveArg::Off => Progressive::Off,
    }
}

fn format(format: FormatArg) -> Format {
    match format {
        FormatArg::Same => Format::Same,
        FormatArg::Jpeg => Format::Jpeg,
        FormatArg::Png => Format::Png,
        FormatArg::Webp => Format::Webp,
        FormatArg::Avif => Format::Avif,
    }
}

/// What this build was not told to do.
fn refuse_absent(result: &ResultArgs) -> Resolved<()> {
    if result.format == Some(FormatArg::Avif) && !pressroom_shared::AVIF {
        return Err(Conflict::new(
            &["format"],
            "--format avif: AVIF is not in this build: build with --features avif (needs cmake and nasm), or ask for webp",
        ));
    }
    Ok(())
}

fn strip(kinds: &[StripArg]) -> Resolved<Strip> {
    if kinds.contains(&StripArg::None) && kinds.len() > 1 {
        return Err(Conflict::new(
            &["strip"],
            "--strip none stands alone: drop it or the other kinds",
        ));
    }
    let mut strip = Strip::default();
    for kind in kinds {
        match kind {
            StripArg::None => {}
            StripArg::All => {
                // Destructured so that a new kind cannot be forgotten here.
                let Strip {
                    exif,
                    gps,
                    xmp,
                    iptc,
                    comment,
                    thumbnail,
                    icc: _,
                    gainmap,
                    motion,
                } = &mut strip;
                for kind in [exif, gps, xmp, iptc, comment, thumbnail, gainmap, motion] {
                    *kind = true;
                }
            }
            StripArg::Gps => strip.gps = true,
            StripArg::Exif => strip.exif = true,
            StripArg::Xmp => strip.xmp = true,
            StripArg::Iptc => strip.iptc = true,
            StripArg::Comment => strip.comment = true,
            StripArg::Thumbnail => strip.thumbnail = true,
            StripArg::Icc => strip.icc = true,
            StripArg::Gainmap => strip.gainmap = true,
            StripArg::Motion => strip.motion = true,
        }
    }
    Ok(strip)
}
