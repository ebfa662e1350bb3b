//! A JPEG as a lossy WebP without a picture in RGB between them: both store luma and halved chroma of the same colours (ITU-R
//! BT.601), one in full range, the other in video's ([`video`]). Whatever needs more than that goes the usual way.

use super::open::carried;
use super::{Target, goal, judged, video, write};
use crate::door::Compressed;
use crate::jpeg::color;
use crate::jpeg::decode::Decoder;
use crate::jpeg::encode::Role;
use crate::jpeg::frame::{Coding, Frame};
use crate::jpeg::samples::{Opened, alone, open, share};
use crate::metadata::{Changed, orientation_of_segments};
use crate::options::{Colours, Orient};
use crate::turn::Turn;
use crate::webp::{self, LONGEST, Lossy};
use crate::{Budget, Error, Format, Goal, Options, Sink, Source, photo, shrink};

/// Converts the picture in `source` if it is one that can go this way; `None` where it cannot.
///
/// # Errors
/// See [`Error`].
pub(super) fn compress(
    format: Format,
    target: Target,
    source: &dyn Source,
    sink: &mut dyn Sink,
    options: &Options,
    budget: &Budget,
) -> Result<Option<Compressed>, Error> {
    let lossy = matches!(options.goal, Goal::Quality(_) | Goal::MaxSize(_));
    let same = options.colours == Colours::Keep;
    if format != Format::Jpeg || target != Target::Webp || !lossy || !same {
        return Ok(None);
    }
    // Who must say why it stays, says it after looking at the same things.
    if photo::would_lose(source, &options.strip, budget)?.is_some() {
        return Ok(None);
    }
    let decoder = Decoder::open(source, budget)?;
    let Some(plan) = Plan::of(&decoder, options) else {
        return Ok(None);
    };
    let (planes, opened) = plan.read(decoder, budget)?;
    let (mut along, mut notes) = carried(&opened.segments, options);
    notes.splice(0..0, opened.notes);
    let edits = write::carried(&mut along, plan.changed(), options);
    let (goal, clipped) = goal(options, source.len());
    let asked = Options {
        goal,
        ..options.without_resize()
    };
    let done = webp::write_planes(planes, &along, source.len(), sink, &asked, budget)?;
    let done = done.with_notes(edits);
    Ok(Some(judged(
        format,
        done,
        notes,
        clipped,
        source.len(),
        options,
    )))
}

/// What is read, and what becomes of it.
#[derive(Debug)]
struct Plan {
    before: Frame,
    /// As stored, at the new size, chroma halved.
    after: Frame,
    turn: Turn,
    resized: bool,
}

impl Plan {
    /// `None` for other colours than YCbCr, sizes that WebP does not have, and turns that half samples would not fit.
    fn of(decoder: &Decoder<'_>, options: &Options) -> Option<Self> {
        let header = decoder.header();
        let before = header.frame.clone();
        let ycc = color::roles(&before, &header.segments).get(1..) == Some(&[Role::Chroma; 2]);
        let (width, height) = (u32::from(before.width), u32::from(before.height));
        let orientation = orientation_of_segments(header.segments.iter()).unwrap_or(1);
        let size = shrink::size(width, height, orientation >= 5, options.resize);
        let (across, down) = size.unwrap_or((width, height));
        let turn = match options.orient {
            Orient::Apply => Turn::of(orientation),
            Orient::Keep => Turn::default(),
        };
        // Light is a matter of all three colours of a pixel.
        let by_light = size.is_some() && options.linear_light;
        let even = across % 2 == 0 && down % 2 == 0;
        if !ycc || by_light || across > LONGEST || down > LONGEST || !(turn.is_upright() || even) {
            return None;
        }
        // Both fit: they are at most the frame's own sides.
        let after = Frame::new(
            Coding::Baseline,
            across as u16,
            down as u16,
            &[(1, 2, 2, 0), (2, 1, 1, 0), (3, 1, 1, 0)],
        );
        Some(Self {
            before,
            after,
            turn,
            resized: size.is_some(),
        })
    }

    fn read(&self, decoder: Decoder<'_>, budget: &Budget) -> Result<(Lossy, Opened), Error> {
        let pairs = self.before.components.iter().zip(&self.after.components);
        let wanted: Vec<_> = pairs
            .map(|(old, new)| alone(old, &self.before, share(new, &self.after)))
            .collect();
        let mut opened = open(decoder, &wanted, budget)?;
        let mut planes = [Vec::new(), Vec::new(), Vec::new()];
        for (n, samples) in opened.samples.drain(..).enumerate() {
            let share = share(&self.after.components[n], &self.after);
            let small =
                samples.resampled(&self.before.components[n], &self.before, share, budget)?;
            let size = (small.width, small.height);
            planes[n] = self.turn.apply(small.bytes, size, 1, budget)?;
        }
        let size = self
            .turn
            .size((self.after.width.into(), self.after.height.into()));
        let [luma, blue, red] = &mut planes;
        video::to_video(luma, [blue, red], size.0 as usize);
        Ok((Lossy::of_planes(size, planes), opened))
    }

    fn changed(&self) -> Changed {
        let size = (self.after.width.into(), self.after.height.into());
        let upright = !self.turn.is_upright();
        Changed {
            upright,
            size: (self.resized || upright).then_some(self.turn.size(size)),
            srgb: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jpeg::pixels;
    use crate::options::{Chroma, Progressive, Resize, Strip, Wanted as Output};
    use crate::raster;

    fn options(orient: Orient) -> Options {
        Options {
            goal: Goal::Quality(95),
            min_quality: 5,
            effort: 2,
            chroma: Chroma::Auto,
            progressive: Progressive::Auto,
            lossy_png: false,
            format: Output::Webp,
            resize: Resize::default(),
            linear_light: false,
            shrink_to_fit: None,
            orient,
            colours: Colours::Keep,
            strip: Strip::default(),
            min_savings_permille: 0,
            min_savings_bytes: 0,
            force: true,
        }
    }

    fn photos() -> impl Iterator<Item = Vec<u8>> {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/photos");
        let entries = std::fs::read_dir(folder).expect("photos are part of the repository");
        let paths = entries.map(|entry| entry.expect("readable").path());
        paths
            .filter(|path| path.extension().is_some_and(|end| end == "jpg"))
            .map(|path| std::fs::read(path).expect("readable"))
    }

    #[test]
    fn colours_are_those_of_the_way_through_rgb() {
        let budget = Budget::new(1 << 30, 1 << 30);
        let mut went = 0;
        for jpeg in photos() {
            let mut out = Vec::new();
            let source = &&jpeg[..];
            let done = compress(
                Format::Jpeg,
                Target::Webp,
                source,
                &mut out,
                &options(Orient::Keep),
                &budget,
            );
            if done.expect("converts").is_none() {
                continue;
            }
            went += 1;
            let ours = raster::read(Format::Webp, &&out[..], &budget).expect("decodes");
            let theirs = pixels::read(source, None, &budget).expect("decodes").raster;
            assert_eq!((ours.width, ours.height), (theirs.width, theirs.height));
            for channel in 0..3 {
                let of = |samples: &[u8]| -> f64 {
                    let samples = samples.iter().skip(channel).step_by(3);
                    samples.map(|&sample| f64::from(sample)).sum()
                };
                let count = theirs.samples.len() as f64 / 3.0;
                let shift = (of(&ours.samples) - of(&theirs.samples)) / count;
                assert!(shift.abs() < 0.7, "channel {channel} moved by {shift}");
            }
            let pairs = ours.samples.iter().zip(&theirs.samples);
            let apart: u64 = pairs.map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
            let mean = apart as f64 / theirs.samples.len() as f64;
            assert!(mean < 4.0, "{mean} apart");
        }
        assert!(went >= 2, "only {went} photographs went this way");
    }

    #[test]
    fn other_goals_go_the_usual_way() {
        let budget = Budget::new(1 << 30, 1 << 30);
        let asked = Options {
            goal: Goal::Lossless,
            ..options(Orient::Apply)
        };
        for jpeg in photos() {
            let done = compress(
                Format::Jpeg,
                Target::Webp,
                &&jpeg[..],
                &mut Vec::new(),
                &asked,
                &budget,
            );
            assert_eq!(done.expect("no error"), None);
        }
    }
}
