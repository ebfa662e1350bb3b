//! Finds the scale whose result just fits a size, and writes that result.
//!
//! The sample says roughly which scale; one full requantisation says exactly how big its result is; the cheapest last
//! coefficients are then left out until it fits. Aiming slightly above the target makes that the usual case, so that a
//! picture is requantised once and written once.

use super::encode::Role;
use super::encode::markers::{self, Form};
use super::encode::progressive::Statistics;
use super::encode::view::{Cut, View};
use super::fill::{Fitting, fill};
use super::frame::QuantTable;
use super::quant::plan::Plan;
use super::quant::quantiser::Tuning;
use super::quant::recipe::Recipe;
use super::quant::tables::SCALES;
use super::requantise::{DEEPEST_FAIR_CUT, Requantised, Shell};
use super::size_model::{Predicted, Sample};
use crate::{Budget, Error, Sink};

/// Most evaluations of the sample for one scale.
const EVALUATIONS: usize = 6;
/// Relative errors of the predicted size, below and above what is aimed at, at which the search ends.
const CLOSE: (f64, f64) = (0.005, 0.012);
/// Predicted excess that leaving coefficients out can still take away.
const TRIMMABLE: f64 = 0.05;
/// Slope of log size over log scale, where nothing better is known.
const SLOPE: f64 = -0.85;
/// Most requantisations of the whole picture before the last resort.
const PASSES: usize = 4;
/// Aim this far above the target, by about the error of the sample, since leaving coefficients out is finer than scaling.
const AIM: f64 = 1.008;
/// A result this close below the target is good enough.
const GOOD: f64 = 0.988;
/// Share of bytes that byte stuffing adds to entropy-coded data: 0 to 0.4 % were seen.
const STUFFING: f64 = 0.0025;
/// Share of the target to spare at the first rewriting.
const SPARE: f64 = 0.0008;
/// Bytes that leaving coefficients out is said to save over those it does save: longer runs take back a part of them.
const SHORTFALL: f64 = 1.25;
/// Most times a result is written again.
const REWRITES: usize = 4;
/// Share of the target that is aimed at when leaving coefficients out.
const JUST_BELOW: f64 = 0.998;

/// A picture to be fitted.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Header data of the result.
    pub shell: Shell<'a>,
    /// Source blocks of each component.
    pub views: &'a [View<'a>],
    /// Steps of the source, by component.
    pub source: &'a [QuantTable],
    /// Role of each component.
    pub roles: &'a [Role],
    /// Form of the result.
    pub form: Form,
    /// How levels are chosen.
    pub recipe: Recipe,
    /// Bytes the result may have.
    pub target: u64,
    /// Whether scans are chosen for the picture and the target is filled to the last bytes.
    pub thorough: bool,
    /// Scale to begin with.
    pub start: f32,
    /// Scales allowed: below the lower one coefficients needed are missing, above the higher the quality is too low.
    pub scales: (f32, f32),
}

impl Request<'_> {
    /// Bytes of the result that are neither Huffman tables nor scans, about: 8-bit tables are assumed.
    fn header_bytes(&self) -> f64 {
        let Shell { frame, segments } = self.shell;
        markers::picture_header(self.form, frame, self.source, segments).len() as f64
    }

    fn requantise(&self, plan: &Plan, budget: &Budget) -> Result<Requantised, Error> {
        let mut new = Requantised::new(plan, self.shell, self.views, budget)?;
        if self.thorough {
            new.choose_scans(self.shell)?;
        }
        Ok(new)
    }
}

/// How fitting went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fit {
    /// The sink holds a result of so many bytes at such a scale.
    Written {
        /// Bytes written.
        bytes: u64,
        /// Scale of its tables.
        scale: f32,
    },
    /// Not even the highest scale fits; its result would have so many bytes.
    Unreachable {
        /// Bytes of the smallest result.
        smallest: u64,
    },
    /// Not even the lowest scale fills the target, as far as the sample tells: decode again, keeping more.
    TooCoarse,
}

/// Fits the picture into the target.
///
/// # Errors
/// [`Error::OverBudget`], [`Error::Write`].
pub fn fit(request: &Request<'_>, budget: &Budget, sink: &mut dyn Sink) -> Result<Fit, Error> {
    let sample = Sample::gather(request.views, budget)?;
    let mut search = Search::new(request, &sample);
    let fitted = search.run(budget, sink);
    sample.free(budget);
    fitted
}

/// Writes the picture at the scale to begin with, whatever its size; returns its bytes.
///
/// # Errors
/// [`Error::OverBudget`], [`Error::Write`].
pub fn once(request: &Request<'_>, budget: &Budget, sink: &mut dyn Sink) -> Result<u64, Error> {
    let sample = Sample::for_costs(request.views, budget)?;
    let mut search = Search::new(request, &sample);
    search.predict(request.start);
    let plan = search.plan(request.recipe.tuning(request.start));
    sample.free(budget);
    let new = request.requantise(&plan, budget)?;
    let bytes = new.write(request.shell, Cut::NOTHING, sink)?;
    new.free(budget);
    Ok(bytes)
}

/// A plan and what the sample says it makes.
#[derive(Debug)]
pub struct Candidate {
    /// Tables, levels, costs.
    pub plan: Plan,
    /// Bytes of the whole file.
    pub bytes: f64,
}

/// The search for a scale by the sample.
#[derive(Debug)]
pub struct Search<'a> {
    request: &'a Request<'a>,
    sample: &'a Sample,
    /// Symbols of the last prediction, for costs.
    counted: Vec<Statistics>,
    /// Real bytes over predicted ones, as far as known.
    bias: f64,
    /// Bytes before the first table of a scan.
    header: f64,
    scale: f32,
}

/// Scales (as logarithms) known to give too much and too little, with the logarithms of how much.
#[derive(Debug, Default)]
struct Bracket {
    above: Option<(f64, f64)>,
    below: Option<(f64, f64)>,
}

impl Bracket {
    /// Takes a scale that was tried and its excess; gives the scale to try next.
    fn next(&mut self, here: (f64, f64)) -> f64 {
        let (own, other) = if here.1 > 0.0 {
            (&mut self.above, &mut self.below)
        } else {
            (&mut self.below, &mut self.above)
        };
        // The end that stays put twice counts half, or the search would creep towards it (the Illinois rule).
        if own.is_some()
            && let Some(other) = other
        {
            other.1 /= 2.0;
        }
        *own = Some(here);
        match (self.above, self.below) {
            (Some(a), Some(b)) => a.0 + a.1 * (b.0 - a.0) / (a.1 - b.1),
            (Some(_), None) | (None, Some(_)) | (None, None) => here.0 - here.1 / SLOPE,
        }
    }
}

impl<'a> Search<'a> {
    /// A search that begins where `request` says.
    pub fn new(request: &'a Request<'a>, sample: &'a Sample) -> Self {
        let nothing = vec![Statistics::default(); request.roles.len()];
        let scale = request.start.clamp(request.scales.0, request.scales.1);
        let mut search = Self {
            request,
            sample,
            counted: nothing,
            bias: 1.0,
            header: request.header_bytes(),
            scale,
        };
        // Costs must come from somewhere: a first look at rounded levels.
        let tuning = request.recipe.plain().tuning(scale);
        search.counted = sample.predict(&search.plan(tuning)).counts;
        search
    }

    fn plan(&self, tuning: Tuning) -> Plan {
        let Request {
            roles,
            source,
            form,
            recipe,
            ..
        } = *self.request;
        Plan::new(form, (recipe.weights, tuning), roles, source, &self.counted)
    }

    /// What tables of `scale` make of the picture.
    pub fn predict(&mut self, scale: f32) -> Candidate {
        let plan = self.plan(self.request.recipe.tuning(scale));
        let Predicted { bytes, counts } = self.sample.predict(&plan);
        self.counted = counts;
        Candidate {
            plan,
            bytes: self.header + bytes * self.bias,
        }
    }

    /// Moves the scale until the sample predicts `aim` bytes, or a little more where sizes jump.
    pub fn solve(&mut self, aim: f64) -> Candidate {
        let (low, high) = self.request.scales;
        let mut bracket = Bracket::default();
        let mut candidate = self.predict(self.scale);
        let mut above: Option<(f32, Candidate)> = None;
        for _ in 1..EVALUATIONS {
            let excess = (candidate.bytes / aim).ln();
            let stuck = (excess > 0.0 && self.scale >= high) || (excess < 0.0 && self.scale <= low);
            if (-CLOSE.0..CLOSE.1).contains(&excess) || stuck {
                return candidate;
            }
            let next = bracket.next((f64::from(self.scale).ln(), excess));
            if excess > 0.0 && excess < TRIMMABLE {
                above = Some((self.scale, candidate));
            }
            self.scale = (next.exp() as f32).clamp(low, high);
            candidate = self.predict(self.scale);
        }
        match above {
            Some((scale, above)) if candidate.bytes < aim => {
                self.scale = scale;
                above
            }
            Some(_) | None => candidate,
        }
    }

    fn run(&mut self, budget: &Budget, sink: &mut dyn Sink) -> Result<Fit, Error> {
        let target = self.request.target as f64;
        for _ in 0..PASSES {
            let candidate = self.solve(target * AIM);
            if self.is_too_coarse(candidate.bytes) {
                return Ok(Fit::TooCoarse);
            }
            let new = self.request.requantise(&candidate.plan, budget)?;
            let exact = self.exact(&new);
            let enough = if self.request.thorough { 1.0 } else { GOOD };
            let good = exact >= target * enough || self.scale <= self.request.scales.0;
            let excess = exact - target * JUST_BELOW;
            let cut = new.cut_beyond(Cut::NOTHING, excess * SHORTFALL);
            let written = match cut.filter(|&cut| good && cut <= DEEPEST_FAIR_CUT) {
                Some(cut) => self.write(&new, cut, sink)?,
                None => None,
            };
            new.free(budget);
            if let Some(bytes) = written {
                return Ok(Fit::Written {
                    bytes,
                    scale: self.scale,
                });
            }
            self.learn(candidate.bytes, exact);
            if exact > target && self.scale >= self.request.scales.1 {
                break;
            }
        }
        self.last_resort(budget, sink)
    }

    /// Takes to heart that what was predicted to have `predicted` bytes has `exact`.
    pub fn learn(&mut self, predicted: f64, exact: f64) {
        self.bias *= (exact - self.header) / (predicted - self.header);
    }

    /// The scale reached.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// Whether the picture as decoded cannot fill the target, but with more coefficients might.
    ///
    /// A file of much padding can be above the target although its finest result is far below; there is nothing more to
    /// decode then.
    pub fn is_too_coarse(&self, bytes: f64) -> bool {
        let lowest = self.request.scales.0;
        lowest > SCALES.0 && self.scale <= lowest && bytes < self.request.target as f64 * 0.99
    }

    /// Coarser and coarser, leaving out whatever must be, until it fits.
    fn last_resort(&mut self, budget: &Budget, sink: &mut dyn Sink) -> Result<Fit, Error> {
        let (_, high) = self.request.scales;
        loop {
            let plan = self.predict(self.scale).plan;
            let new = self.request.requantise(&plan, budget)?;
            let exact = self.exact(&new);
            let needed = exact - self.request.target as f64 * JUST_BELOW;
            let written = match new.cut_beyond(Cut::NOTHING, needed) {
                Some(cut) => self.write(&new, cut, sink)?,
                None => None,
            };
            let written = match written {
                None if self.scale >= high => return self.smallest(new, budget, sink),
                None | Some(_) => written,
            };
            new.free(budget);
            if let Some(bytes) = written {
                return Ok(Fit::Written {
                    bytes,
                    scale: self.scale,
                });
            }
            self.scale = (self.scale * 1.15).min(high);
        }
    }

    /// All of the last coefficients left out.
    fn smallest(
        &self,
        new: Requantised,
        budget: &Budget,
        sink: &mut dyn Sink,
    ) -> Result<Fit, Error> {
        let smallest = new.write_recounted(self.request.shell, Cut::EVERYTHING, sink)?;
        new.free(budget);
        if smallest <= self.request.target {
            return Ok(Fit::Written {
                bytes: smallest,
                scale: self.scale,
            });
        }
        sink.restart().map_err(Error::Write)?;
        Ok(Fit::Unreachable { smallest })
    }

    /// Bytes with the stuffing to be expected.
    fn exact(&self, new: &Requantised) -> f64 {
        let bytes = new.bytes(self.request.shell) as f64;
        bytes + (bytes - self.header) * STUFFING
    }

    /// Writes with a cut, then with deeper ones, until the result fits; `None` if none does.
    fn write(
        &self,
        new: &Requantised,
        cut: Cut,
        sink: &mut dyn Sink,
    ) -> Result<Option<u64>, Error> {
        let (target, shell) = (self.request.target, self.request.shell);
        let mut bytes = new.write(shell, cut, sink)?;
        let (mut cut, mut spare) = (cut, target as f64 * SPARE);
        for _ in 0..REWRITES {
            if bytes <= target {
                break;
            }
            sink.restart().map_err(Error::Write)?;
            let Some(deeper) = new.cut_beyond(cut, (bytes - target) as f64 + spare) else {
                return Ok(None);
            };
            // What is saved is an estimate; each time leave more to spare.
            (cut, spare) = (deeper, spare * 3.0);
            bytes = new.write(shell, cut, sink)?;
        }
        if bytes > target {
            sink.restart().map_err(Error::Write)?;
            return Ok(None);
        }
        if self.request.thorough {
            bytes = fill(new, shell, target, Fitting { cut, bytes }, sink)?;
        }
        Ok(Some(bytes))
    }
}
