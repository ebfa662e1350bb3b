//! What becomes of a JPEG's pixels: another size, another direction, other colours, in any combination.

use super::behind::Behind;
use super::outline::Outline;
use crate::convert::{Recolouring, by_code, recolouring, repaint};
use crate::door::{Compressed, Keep, Note};
use crate::jpeg::frame::{Frame, Segment};
use crate::metadata::{Changed, orientation_of_segments};
use crate::options::{Colours, Orient};
use crate::turn::Turn;
use crate::{Budget, Error, Goal, Options, Resize, Sink, Source, jpeg, shrink};

/// What is asked of the pixels of one JPEG.
#[derive(Debug, Default)]
pub(super) struct Pixels {
    /// New size, as stored.
    size: Option<(u32, u32)>,
    turn: Turn,
    /// The profile that the pixels are to be converted from.
    profile: Option<Vec<u8>>,
    /// It becomes smaller by its light.
    linear: bool,
    /// The profile goes, since it says nothing but sRGB.
    pub(super) drops_profile: bool,
    /// What the metadata must say afterwards.
    pub(super) changed: Changed,
    /// What could not be done.
    pub(super) notes: Vec<Note>,
}

/// What `options` ask of the pixels, or why the file must stay what it is.
///
/// # Errors
/// Those of reading the header.
pub(super) fn asked(
    source: &dyn Source,
    outline: &Outline,
    behind: &Behind,
    options: &Options,
    budget: &Budget,
) -> Result<Result<Pixels, Keep>, Error> {
    let turns = options.orient == Orient::Apply;
    let colours = options.colours == Colours::Srgb;
    if options.resize == Resize::default() && !turns && !colours {
        return Ok(Ok(Pixels::default()));
    }
    let frame = jpeg::decode::read_header(source, budget)?.frame;
    let orientation = orientation_of_segments(outline.segments()).unwrap_or(1);
    let mut pixels = Pixels::default();
    let (width, height) = (u32::from(frame.width), u32::from(frame.height));
    pixels.size = shrink::size(width, height, orientation >= 5, options.resize);
    if pixels.size.is_some() {
        let has_light = matches!(frame.components.len(), 1 | 3);
        pixels.linear = options.linear_light && has_light;
        pixels.notes.extend(by_code(options, !has_light));
    }
    if turns {
        pixels.turn(Turn::of(orientation), &frame, behind, options);
    }
    if colours && let Some(why) = pixels.recolour(&frame, outline, behind, options) {
        return Ok(Err(why));
    }
    let size = pixels.size.unwrap_or((width, height));
    let upright = !pixels.turn.is_upright();
    pixels.changed = Changed {
        upright,
        size: (upright || pixels.size.is_some()).then_some(pixels.turn.size(size)),
        srgb: false,
    };
    Ok(Ok(pixels))
}

impl Pixels {
    /// Turns the picture, unless something would no longer fit it.
    fn turn(&mut self, turn: Turn, frame: &Frame, behind: &Behind, options: &Options) {
        let exact = options.goal != Goal::Lossless || jpeg::turn::is_exact(frame, turn);
        if turn.is_upright() {
            return;
        }
        let why = match (behind.has_pictures(&options.strip), exact) {
            (true, _) => "the pictures behind the first would no longer fit",
            (false, false) => "a picture of this size cannot be turned without loss",
            (false, true) => {
                self.turn = turn;
                return;
            }
        };
        let text = format!("the orientation tag, because {why}");
        self.notes.push(Note::Stayed(text));
    }

    /// Says why the file must stay what it is, if it must.
    fn recolour(
        &mut self,
        frame: &Frame,
        outline: &Outline,
        behind: &Behind,
        options: &Options,
    ) -> Option<Keep> {
        let segments: Vec<Segment> = outline.segments().cloned().collect();
        match recolouring(frame, &segments) {
            Recolouring::Nothing => {}
            Recolouring::DropProfile => self.drops_profile = true,
            Recolouring::Stays(note) => self.notes.push(note),
            Recolouring::Keep(why) => return Some(why),
            Recolouring::Convert(_) if behind.has_pictures(&options.strip) => {
                let what = "the pictures behind the first (a gain map), which would no longer fit";
                return Some(Keep::WouldLose(what.to_owned()));
            }
            Recolouring::Convert(profile) => self.profile = Some(profile),
        }
        None
    }

    /// Whether the engine may have the file as it is.
    pub(super) fn is_nothing(&self) -> bool {
        !self.change() && !self.drops_profile && self.notes.is_empty()
    }

    /// Whether the pixels must change.
    pub(super) fn change(&self) -> bool {
        self.size.is_some() || !self.turn.is_upright() || self.profile.is_some()
    }

    /// Whether nothing but the direction changes.
    pub(super) fn only_turned(&self) -> bool {
        !self.turn.is_upright() && self.size.is_none() && self.profile.is_none()
    }

    /// What the user should know where the original stays after all.
    pub(super) fn stay(&self) -> Vec<Note> {
        let stays = [
            (
                !self.turn.is_upright(),
                "the orientation tag, because the original stays as it is",
            ),
            (
                self.profile.is_some(),
                "the colour profile, because the original stays as it is",
            ),
        ];
        let stays = stays.into_iter().filter(|(asked, _)| *asked);
        let stays = stays.map(|(_, what)| Note::Stayed(what.to_owned()));
        self.notes.iter().cloned().chain(stays).collect()
    }

    /// Compresses the one picture in `source`.
    pub(super) fn compress(
        &self,
        source: &dyn Source,
        sink: &mut dyn Sink,
        options: &Options,
        budget: &Budget,
    ) -> Result<Compressed, Error> {
        match (&self.profile, self.size) {
            (Some(_), size) => {
                let icc = self.profile.clone();
                repaint(source, icc, size, self.turn, sink, options, budget)
            }
            // Resampling each component alone would average its code.
            (None, Some(_)) if self.linear => {
                repaint(source, None, self.size, self.turn, sink, options, budget)
            }
            (None, Some(size)) => {
                shrink::compress_jpeg(source, size, self.turn, sink, options, budget)
            }
            (None, None) => jpeg::compress_turned(source, self.turn, sink, options, budget),
        }
    }
}
