//! A decoded picture made ready for requantising: roles, and chroma halved where that is wanted.

use super::chroma::{Halver, Halving, STEPS};
use super::color;
use super::decode::{Picture, Survivors};
use super::encode::Role;
use super::encode::view::View;
use super::frame::{Frame, MAX_COMPONENTS, QuantTable, Segment};
use super::plane::Plane;
use super::quant::recipe::Recipe;
use super::quant::{quantiser, tables};
use crate::{Budget, Chroma, Error};

/// Share of the source's bytes, in per cent, below which full chroma is not worth its bytes.
const LITTLE: u64 = 45;
/// Scale over the source's own from which on a result has too few bytes for full chroma.
const COARSER: f32 = 2.0;
/// Share of what a coefficient must be that one of four blocks averaged may still matter at.
const QUARTER: f32 = 0.5;

/// A picture ready to be requantised.
#[derive(Debug)]
pub struct Prepared {
    /// The result's sizes and sampling.
    pub frame: Frame,
    /// Steps the planes are in, by component.
    pub tables: Vec<QuantTable>,
    /// Role of each component.
    pub roles: Vec<Role>,
    /// Segments to write, in order.
    pub segments: Vec<Segment>,
    planes: Vec<Plane>,
}

impl Prepared {
    /// Takes `picture` as it is.
    pub fn whole(picture: Picture) -> Self {
        let Picture {
            frame,
            tables,
            segments,
            planes,
            ..
        } = picture;
        let roles = color::roles(&frame, &segments);
        Self {
            frame,
            tables,
            roles,
            segments,
            planes,
        }
    }

    /// Halves chroma for a result of `scale` or coarser.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    pub fn with_chroma(
        mut self,
        halving: Option<Halving>,
        scale: f32,
        recipe: Recipe,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let Some(halving) = halving else {
            return Ok(self);
        };
        let frame = halving.frame(&self.frame);
        for c in 1..self.planes.len() {
            let floor = floors(Role::Chroma, scale, recipe);
            let halver = Halver::new(halving, &self.tables[c], &floor);
            let (before, after) = (&self.frame.components[c], &frame.components[c]);
            let halved = halver.plane(&self.planes[c], before, after, budget)?;
            std::mem::replace(&mut self.planes[c], halved).free(budget);
            self.tables[c] = STEPS;
        }
        self.frame = frame;
        Ok(self)
    }

    /// Blocks of each component.
    pub fn views(&self) -> Vec<View<'_>> {
        let planes = self.planes.iter().zip(&self.frame.components);
        planes
            .map(|(plane, component)| View::whole(plane, component))
            .collect()
    }

    /// Gives the memory back.
    pub fn free(self, budget: &Budget) {
        self.planes.into_iter().for_each(|plane| plane.free(budget));
    }

    /// All segments.
    pub fn segments(&self) -> Vec<&Segment> {
        self.segments.iter().collect()
    }
}

/// What to do with chroma for a result of `target` bytes out of `input`.
pub fn halving(
    frame: &Frame,
    roles: &[Role],
    chroma: Chroma,
    target: u64,
    input: u64,
) -> Option<Halving> {
    asked(frame, roles, chroma, target < input / 100 * LITTLE)
}

/// What to do with chroma for a result of `scale`.
pub fn halving_for_scale(
    frame: &Frame,
    roles: &[Role],
    chroma: Chroma,
    scale: f32,
    source: Option<&[QuantTable]>,
) -> Option<Halving> {
    let own = source.and_then(|tables| Some(tables::scale_of(*roles.first()?, tables.first()?)));
    asked(
        frame,
        roles,
        chroma,
        own.is_none_or(|own| scale > own * COARSER),
    )
}

fn asked(frame: &Frame, roles: &[Role], chroma: Chroma, little: bool) -> Option<Halving> {
    let (across, down) = match chroma {
        Chroma::Full => (false, false),
        Chroma::Half => (true, false),
        Chroma::Quarter => (true, true),
        Chroma::Auto => (little, little),
    };
    let has_chroma = roles.get(1..) == Some(&[Role::Chroma; 2]);
    Halving::of(frame, across, down).filter(|_| has_chroma)
}

/// What the decoder must keep for tables of `scale` or coarser.
pub fn survivors(
    roles: &[Role],
    source: &[QuantTable],
    halved: bool,
    scale: f32,
    recipe: Recipe,
) -> Survivors {
    let mut keep = [[1; 64]; MAX_COMPONENTS];
    for ((keep, &role), own) in keep.iter_mut().zip(roles).zip(source) {
        // Halved chroma is coded anew, whatever its steps were.
        let (own, steps, share) = if halved && role == Role::Chroma {
            (own, &STEPS, QUARTER)
        } else {
            (own, own, 1.0)
        };
        let least = floors_from(role, steps, scale, recipe);
        for k in 1..64 {
            let levels = (least[k] * share / f32::from(own.0[k])).ceil();
            keep[k] = (levels as u16).max(1);
        }
    }
    Survivors::from_floors(keep)
}

/// Smallest dequantised magnitudes that tables of `scale` or coarser could keep of a picture in steps of 1.
pub fn floors(role: Role, scale: f32, recipe: Recipe) -> [f32; 64] {
    floors_from(role, &STEPS, scale, recipe)
}

/// The same of a picture in steps of its own, which no table goes below.
fn floors_from(role: Role, own: &QuantTable, scale: f32, recipe: Recipe) -> [f32; 64] {
    let tuning = recipe.tuning(scale);
    let scale = recipe.weights.scale(role, scale);
    std::array::from_fn(|k| {
        // Table entries are rounded down by less than 1.
        let wanted = (tables::wanted(role, k, scale) - 1.0).clamp(1.0, 255.0);
        let step = wanted.max(own.0[k].into());
        let weight = quantiser::weight(role, step, step / wanted, &tuning);
        step * quantiser::floor(role, k, weight, tuning.rounding)
    })
}
