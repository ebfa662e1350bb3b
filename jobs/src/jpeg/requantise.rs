//! A whole picture requantised: planes, ranks and counts of the result.

use super::encode::markers::Form;
use super::encode::view::View;
use super::encode::{Counted, Picture, Role};
use super::frame::{Component, Frame, QuantTable, Segment};
use super::quant::pass::{BandPlane, Pass, Savings};
use super::quant::plan::Plan;
use super::quant::quantiser::NOTHING;
use crate::{Budget, Error, Sink};

/// Most that leaving out a last coefficient may cost against what it saves, as a rank: twice as much as the trellis
/// thinks fair. Beyond it a coarser table is the better way down.
pub const DEEPEST_FAIR_CUT: u8 = 33;

/// A requantised picture, not yet written.
#[derive(Debug)]
pub struct Requantised {
    tables: Vec<QuantTable>,
    roles: Vec<Role>,
    /// By component and band.
    bands: Vec<Vec<BandPlane>>,
    counted: Counted,
    savings: Box<Savings>,
}

/// What surrounds the coefficients of a result.
#[derive(Debug, Clone, Copy)]
pub struct Shell<'a> {
    /// Sizes, sampling and component ids.
    pub frame: &'a Frame,
    /// Segments to write, in order.
    pub segments: &'a [&'a Segment],
}

impl Requantised {
    /// Requantises the picture in `views` by `plan`.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    pub fn new(
        plan: &Plan,
        shell: Shell<'_>,
        views: &[View<'_>],
        budget: &Budget,
    ) -> Result<Self, Error> {
        let mut new = Self {
            tables: plan.tables.clone(),
            roles: plan.roles.clone(),
            bands: Vec::new(),
            counted: Counted::Progressive(Vec::new()),
            savings: Box::new([0.0; 256]),
        };
        let mut counts = Vec::new();
        for (c, (component, view)) in shell.frame.components.iter().zip(views).enumerate() {
            let pass = component_pass(plan, c, component, view, budget)?;
            for (sum, more) in new.savings.iter_mut().zip(pass.savings.iter()) {
                *sum += more;
            }
            counts.push(pass.counter.finish());
            new.bands.push(pass.bands);
        }
        new.counted = match plan.form {
            Form::Progressive => Counted::Progressive(counts),
            // DC differences follow MCU order, so only a pass in that order counts them.
            Form::Sequential => new.with(shell, 0, |picture| picture.count(Form::Sequential))?,
        };
        Ok(new)
    }

    /// Exact bytes without stuffing, nothing left out.
    pub fn bytes(&self, shell: Shell<'_>) -> u64 {
        self.with(shell, 0, |picture| picture.bytes(&self.counted))
    }

    /// The smallest cut that saves `bytes`, if any does.
    pub fn cut_for(&self, bytes: f64) -> Option<u8> {
        self.cut_beyond(0, bytes)
    }

    /// The smallest cut that saves `bytes` beyond what `cut` saves, if any does.
    pub fn cut_beyond(&self, cut: u8, bytes: f64) -> Option<u8> {
        if bytes <= 0.0 {
            return Some(cut);
        }
        let mut bits = 8.0 * bytes;
        (cut..NOTHING).find_map(|rank| {
            bits -= self.savings[usize::from(rank)];
            (bits <= 0.0).then_some(rank + 1)
        })
    }

    /// Writes the picture without what `cut` leaves out; returns its bytes.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write(&self, shell: Shell<'_>, cut: u8, sink: &mut dyn Sink) -> Result<u64, Error> {
        let counted = match cut {
            0 => None,
            _ => Some(self.counted.with_every_ending()),
        };
        self.with(shell, cut, |picture| {
            picture.write(counted.as_ref().unwrap_or(&self.counted), sink)
        })
    }

    /// The same, with codes made for exactly what is left; one more pass.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write_recounted(
        &self,
        shell: Shell<'_>,
        cut: u8,
        sink: &mut dyn Sink,
    ) -> Result<u64, Error> {
        self.with(shell, cut, |picture| {
            let counted = picture.count(self.counted.form())?;
            picture.write(&counted, sink)
        })
    }

    /// Gives the memory back.
    pub fn free(self, budget: &Budget) {
        for band in self.bands.into_iter().flatten() {
            band.plane.free(budget);
            budget.free(band.ranks);
        }
    }

    fn with<T>(&self, shell: Shell<'_>, cut: u8, act: impl FnOnce(&Picture<'_>) -> T) -> T {
        let mut views: Vec<Vec<View<'_>>> = Vec::new();
        for (bands, component) in self.bands.iter().zip(&shell.frame.components) {
            views.push(
                bands
                    .iter()
                    .map(|band| band_view(band, component, cut))
                    .collect(),
            );
        }
        act(&Picture {
            frame: shell.frame,
            tables: &self.tables,
            roles: &self.roles,
            segments: shell.segments,
            views: &views,
        })
    }
}

fn band_view<'a>(band: &'a BandPlane, component: &Component, cut: u8) -> View<'a> {
    let view = View::whole(&band.plane, component);
    if cut > 0 {
        view.cut(&band.ranks, cut)
    } else {
        view
    }
}

fn component_pass(
    plan: &Plan,
    c: usize,
    component: &Component,
    view: &View<'_>,
    budget: &Budget,
) -> Result<Pass, Error> {
    let size = (
        component.blocks_across as usize,
        component.blocks_down as usize,
    );
    let mut pass = Pass::new(plan.quantiser(c), plan.counter(c), size, budget)?;
    for row in 0..size.1 {
        pass.row(view.row(row), budget)?;
    }
    Ok(pass)
}
