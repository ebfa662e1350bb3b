//! A whole picture requantised: planes, ranks and counts of the result.

use super::encode::markers::Form;
use super::encode::view::{Cut, View};
use super::encode::{Counted, Picture, Role, script};
use super::frame::{Component, Frame, QuantTable, Segment};
use super::quant::pass::{BandPlane, Pass, Savings};
use super::quant::plan::Plan;
use super::quant::quantiser::NOTHING;
use crate::{Budget, Error, Sink};

/// Most that leaving out a last coefficient may cost against what it saves: twice as much as weighing thinks fair.
/// Beyond it a coarser table is the better way down.
pub const DEEPEST_FAIR_CUT: Cut = Cut(33 << 8);

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
            Form::Progressive => Counted::spectral(&plan.roles, &counts),
            Form::Sequential => new.with(shell, Cut::NOTHING, |picture| {
                picture.count_in_mcus(&counts)
            }),
        };
        Ok(new)
    }

    /// Codes the picture in the scans that make it smallest, where it is progressive.
    ///
    /// # Errors
    /// None of its own.
    pub fn choose_scans(&mut self, shell: Shell<'_>) -> Result<(), Error> {
        if self.counted.form() == Form::Progressive {
            self.counted = self.with(shell, Cut::NOTHING, |picture| {
                script::smallest(picture, script::Search::Quick)
            })?;
        }
        Ok(())
    }

    /// Exact bytes without stuffing, nothing left out.
    pub fn bytes(&self, shell: Shell<'_>) -> u64 {
        self.with(shell, Cut::NOTHING, |picture| picture.bytes(&self.counted))
    }

    /// The smallest cut beyond `cut` that saves so many `bytes` more, if any does.
    pub fn cut_beyond(&self, cut: Cut, bytes: f64) -> Option<Cut> {
        let mut bits = 8.0 * bytes;
        let mut at = u32::from(cut.0);
        while bits > 0.0 {
            let rank = at >> 8;
            if rank >= u32::from(NOTHING) {
                return None;
            }
            let left = (rank + 1) * 256 - at;
            let savings = self.savings[rank as usize] * f64::from(left) / 256.0;
            if savings >= bits {
                at += (f64::from(left) * bits / savings).ceil() as u32;
            } else {
                at += left;
            }
            bits -= savings;
        }
        Some(Cut(at as u16))
    }

    /// Writes the picture without what `cut` leaves out; returns its bytes.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write(&self, shell: Shell<'_>, cut: Cut, sink: &mut dyn Sink) -> Result<u64, Error> {
        let counted = (cut > Cut::NOTHING).then(|| self.counted.with_every_ending());
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
        cut: Cut,
        sink: &mut dyn Sink,
    ) -> Result<u64, Error> {
        self.with(shell, cut, |picture| {
            let counted = picture.count_again(&self.counted)?;
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

    fn with<T>(&self, shell: Shell<'_>, cut: Cut, act: impl FnOnce(&Picture<'_>) -> T) -> T {
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

fn band_view<'a>(band: &'a BandPlane, component: &Component, cut: Cut) -> View<'a> {
    let view = View::whole(&band.plane, component);
    if cut > Cut::NOTHING {
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
