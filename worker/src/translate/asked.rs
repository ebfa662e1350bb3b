//! What a run asks of each picture, in the words of `jobs`. Pure. Every struct is taken apart without `..`, so that a new
//! setting does not compile until somebody has thought about it here.

use pressroom_jobs as jobs;
use pressroom_shared::{
    Chroma, Format, Goal, IccPolicy, Metric, OrientPolicy, Progressive, Resize, Settings,
    SizeLimit, Strip,
};

/// What the run asks of each picture, or the first thing asked that this build cannot do.
pub fn options(settings: &Settings) -> Result<jobs::Options, &'static str> {
    let Settings {
        goal,
        min_quality,
        effort,
        chroma,
        progressive,
        format,
        resize,
        shrink_to_fit,
        strip,
        orient,
        icc,
        lossy_png,
        min_savings_permille,
        force,
        min_savings_bytes,
    } = settings;
    Ok(jobs::Options {
        goal: goal_of(*goal),
        min_quality: *min_quality,
        effort: *effort,
        chroma: chroma_of(*chroma),
        progressive: progressive_of(*progressive),
        lossy_png: *lossy_png,
        format: wanted(*format)?,
        resize: resize_of(*resize),
        linear_light: resize.linear_light,
        shrink_to_fit: *shrink_to_fit,
        orient: match orient {
            OrientPolicy::Keep => jobs::Orient::Keep,
            OrientPolicy::Apply => jobs::Orient::Apply,
        },
        colours: match icc {
            IccPolicy::Keep => jobs::Colours::Keep,
            IccPolicy::Srgb => jobs::Colours::Srgb,
        },
        strip: strip_of(*strip),
        min_savings_permille: *min_savings_permille,
        min_savings_bytes: min_savings_bytes.unwrap_or(0),
        force: *force,
    })
}

fn wanted(format: Format) -> Result<jobs::Wanted, &'static str> {
    match format {
        Format::Same => Ok(jobs::Wanted::Same),
        Format::Jpeg => Ok(jobs::Wanted::Jpeg),
        Format::Png => Ok(jobs::Wanted::Png),
        Format::Webp => Ok(jobs::Wanted::Webp),
        Format::Avif if pressroom_shared::AVIF => Ok(jobs::Wanted::Avif),
        Format::Avif => Err("--format avif"),
    }
}

fn goal_of(goal: Goal) -> jobs::Goal {
    match goal {
        Goal::Quality(quality) => jobs::Goal::Quality(quality),
        Goal::MaxSize(SizeLimit::Bytes(bytes)) => {
            jobs::Goal::MaxSize(jobs::SizeLimit::Bytes(bytes))
        }
        Goal::MaxSize(SizeLimit::Permille(share)) => {
            jobs::Goal::MaxSize(jobs::SizeLimit::Permille(share))
        }
        Goal::Score(Metric::Ssimulacra2, score) => jobs::Goal::Ssimulacra2(score),
        Goal::Lossless => jobs::Goal::Lossless,
    }
}

fn resize_of(resize: Resize) -> jobs::Resize {
    let Resize {
        max_width,
        max_height,
        long_edge,
        short_edge,
        linear_light: _,
    } = resize;
    jobs::Resize {
        max_width,
        max_height,
        long_edge,
        short_edge,
    }
}

fn strip_of(strip: Strip) -> jobs::Strip {
    let Strip {
        exif,
        gps,
        xmp,
        iptc,
        comment,
        thumbnail,
        icc,
        gainmap,
        motion,
    } = strip;
    jobs::Strip {
        exif,
        gps,
        xmp,
        iptc,
        comment,
        thumbnail,
        icc,
        gainmap,
        motion,
    }
}

fn chroma_of(chroma: Chroma) -> jobs::Chroma {
    match chroma {
        Chroma::Auto => jobs::Chroma::Auto,
        Chroma::Full => jobs::Chroma::Full,
        Chroma::Half => jobs::Chroma::Half,
        Chroma::Quarter => jobs::Chroma::Quarter,
    }
}

fn progressive_of(progressive: Progressive) -> jobs::Progressive {
    match progressive {
        Progressive::Auto => jobs::Progressive::Auto,
        Progressive::On => jobs::Progressive::On,
        Progressive::Off => jobs::Progressive::Off,
    }
}
