//! Goals reached row by row, where the picture's coefficients do not fit into memory.

use super::approach::known_tables;
use super::compress::Job;
use super::decode::{Ending, Header, Survivors};
use super::encode::Role;
use super::encode::markers::Form;
use super::frame::{Frame, Segment};
use super::outcome::{Around, Reached, kept};
use super::quant::tables::SCALES;
use super::requantise::Shell;
use super::row_by_row::Rows;
use super::search::{Request, Search};
use super::size_model::Sample;
use super::{color, prepare};
use crate::{Chroma, Compressed, Error, Keep, Note, Progressive, Sink};

/// Bytes that a block takes in all planes of a whole picture, before and after requantising, beside its words.
const BLOCK: u64 = 12;
/// Times the second pass is done before the target is approached in bigger steps.
const ATTEMPTS: usize = 3;
/// Share of the target aimed at: the sample errs by about a hundredth.
const AIM: f64 = 0.985;
/// Factor on the scale where the target is missed again and again.
const COARSER: f32 = 1.1;

/// What the user is told where rows are too few for what was asked for.
const NO_SCANS: &str = "the progressive form, which takes more memory than a worker may have here (raise --memory-per-worker)";
const NO_HALVING: &str = "the halving of chroma, which takes more memory than a worker may have here (raise --memory-per-worker)";

/// Whether the coefficients of a picture may not fit into `left` bytes; `input` is its file's size.
///
/// Words take two bytes, and a coefficient more than five bits of the file, so all of them take less than four times its
/// size; most goals keep far fewer.
pub(super) fn is_needed(header: &Header, input: u64, lossless: bool, left: u64) -> bool {
    let components = header.frame.components.iter();
    let blocks: u64 = components
        .map(|c| u64::from(c.blocks_across) * u64::from(c.blocks_down))
        .sum();
    let words = if lossless { 4 * input } else { input };
    blocks * BLOCK + words > left
}

/// What a first pass finds.
struct Surveyed {
    sample: Sample,
    ending: Ending,
}

impl Job<'_> {
    /// At most `target` bytes.
    pub(super) fn fit_rows(
        &self,
        header: &Header,
        target: u64,
        sink: &mut dyn Sink,
    ) -> Result<Compressed, Error> {
        let (frame, roles) = (&header.frame, color::roles(&header.frame, &header.segments));
        let mut approach = self.approach(header, target)?;
        approach.halving = None;
        loop {
            let keep = self.survivors(header, &approach);
            let rows = self.rows(frame, &roles, &keep);
            let Surveyed { sample, ending } = self.survey(&rows)?;
            let around = Around::of_ending(frame, &ending);
            if let Some(part) = ending.second_parts.first() {
                return Ok(kept(Keep::WouldLose(part.name().into()), around.notes));
            }
            let segments: Vec<&Segment> = ending.segments.iter().collect();
            let lowest = approach.lowest;
            let request = Request {
                shell: Shell {
                    frame,
                    segments: &segments,
                },
                views: &[],
                source: &ending.tables,
                roles: &roles,
                form: Form::Sequential,
                recipe: self.recipe(),
                target: target.saturating_sub(around.trailer_bytes()),
                thorough: false,
                start: approach.start,
                scales: (lowest, self.coarsest().max(lowest)),
            };
            let fitted = write_fitting(&rows, &request, &sample, sink)?;
            sample.free(self.budget);
            match fitted {
                Fitted::Written { bytes, scale } => {
                    let reached = Reached::lossy(bytes, scale, &roles, &ending.tables);
                    return self.finish_rows(around, reached, sink);
                }
                Fitted::Unreachable { smallest } => {
                    let smallest = smallest + around.trailer_bytes();
                    return Ok(kept(
                        Keep::TargetUnreachable { target, smallest },
                        around.notes,
                    ));
                }
                Fitted::TooCoarse => approach.lowest = SCALES.0,
            }
        }
    }

    /// Tables of one scale.
    pub(super) fn requantise_rows(
        &self,
        header: &Header,
        scale: f32,
        sink: &mut dyn Sink,
    ) -> Result<Compressed, Error> {
        let (frame, roles) = (&header.frame, color::roles(&header.frame, &header.segments));
        let keep = match known_tables(header) {
            Some(tables) => prepare::survivors(&roles, &tables, false, scale, self.recipe()),
            None => Survivors::all(),
        };
        let rows = self.rows(frame, &roles, &keep);
        let Surveyed { sample, ending } = self.survey(&rows)?;
        let around = Around::of_ending(frame, &ending);
        if let Some(part) = ending.second_parts.first() {
            return Ok(kept(Keep::WouldLose(part.name().into()), around.notes));
        }
        let segments: Vec<&Segment> = ending.segments.iter().collect();
        let request = Request {
            shell: Shell {
                frame,
                segments: &segments,
            },
            views: &[],
            source: &ending.tables,
            roles: &roles,
            form: Form::Sequential,
            recipe: self.recipe(),
            target: u64::MAX,
            thorough: false,
            start: scale,
            scales: (scale, scale),
        };
        let plan = Search::new(&request, &sample).predict(scale).plan;
        let bytes = rows.write(&plan, &sample, &segments, sink)?;
        self.finish_rows(
            around,
            Reached::lossy(bytes, scale, &roles, &ending.tables),
            sink,
        )
    }

    /// The same coefficients, coded better.
    pub(super) fn lossless_rows(
        &self,
        header: &Header,
        sink: &mut dyn Sink,
    ) -> Result<Compressed, Error> {
        let (frame, roles) = (&header.frame, color::roles(&header.frame, &header.segments));
        let keep = Survivors::all();
        let rows = self.rows(frame, &roles, &keep);
        let (counts, ending) = rows.count()?;
        let around = Around::of_ending(frame, &ending);
        if let Some(part) = ending.second_parts.first() {
            return Ok(kept(Keep::WouldLose(part.name().into()), around.notes));
        }
        let segments: Vec<&Segment> = ending.segments.iter().collect();
        let bytes = rows.copy(&counts, &ending.tables, &segments, sink)?;
        self.finish_rows(around, Reached::lossless(bytes), sink)
    }

    /// Says as well what was asked for and takes all rows at once.
    fn finish_rows(
        &self,
        mut around: Around,
        reached: Reached,
        sink: &mut dyn Sink,
    ) -> Result<Compressed, Error> {
        let progressive = self.options.progressive == Progressive::On;
        let halved = matches!(self.options.chroma, Chroma::Half | Chroma::Quarter);
        for (asked, what) in [(progressive, NO_SCANS), (halved, NO_HALVING)] {
            if asked {
                Note::Dropped(what.to_owned()).add_to(&mut around.notes);
            }
        }
        self.finish(around, reached, sink)
    }

    fn rows<'r>(&'r self, frame: &'r Frame, roles: &'r [Role], keep: &'r Survivors) -> Rows<'r> {
        Rows {
            source: self.source,
            budget: self.budget,
            keep,
            frame,
            roles,
        }
    }

    fn survey(&self, rows: &Rows<'_>) -> Result<Surveyed, Error> {
        let (sample, ending) = rows.sample()?;
        Ok(Surveyed { sample, ending })
    }
}

/// How fitting row by row went.
enum Fitted {
    Written { bytes: u64, scale: f32 },
    Unreachable { smallest: u64 },
    TooCoarse,
}

/// Writes at the scale that the sample says fits, at coarser ones until it is true.
fn write_fitting(
    rows: &Rows<'_>,
    request: &Request<'_>,
    sample: &Sample,
    sink: &mut dyn Sink,
) -> Result<Fitted, Error> {
    let target = request.target;
    let mut search = Search::new(request, sample);
    let mut attempt = 0;
    loop {
        let candidate = if attempt < ATTEMPTS {
            search.solve(target as f64 * AIM)
        } else {
            let coarser = search.scale() * COARSER;
            search.predict(coarser.min(request.scales.1))
        };
        attempt += 1;
        if search.is_too_coarse(candidate.bytes) {
            return Ok(Fitted::TooCoarse);
        }
        let bytes = rows.write(&candidate.plan, sample, request.shell.segments, sink)?;
        let scale = candidate.plan.tuning.scale;
        if bytes <= target {
            return Ok(Fitted::Written { bytes, scale });
        }
        sink.restart().map_err(Error::Write)?;
        if scale >= request.scales.1 {
            return Ok(Fitted::Unreachable { smallest: bytes });
        }
        search.learn(candidate.bytes, bytes as f64);
    }
}
