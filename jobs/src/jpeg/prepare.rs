//! A decoded picture made ready for requantising: roles, and chroma halved where that is wanted.

use super::chroma::{Halver, Halving, STEPS};
use super::color;
use super::decode::Picture;
use super::encode::Role;
use super::encode::view::View;
use super::frame::{Frame, QuantTable, Segment};
use super::plane::Plane;
use super::quant::recipe::Recipe;
use super::quant::{quantiser, tables};
use crate::{Budget, Chroma, Error};

/// Scale from which on a result has so much less than the source that full chroma is not worth its bytes.
const COARSE: f32 = 0.5;

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

    /// Halves chroma if `chroma` asks for it, or leaves it to us and the result is coarser than `scale` allows.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    pub fn with_chroma(
        mut self,
        chroma: Chroma,
        scale: f32,
        recipe: Recipe,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let (across, down) = match chroma {
            Chroma::Full => (false, false),
            Chroma::Half => (true, false),
            Chroma::Quarter => (true, true),
            Chroma::Auto => (scale > COARSE, scale > COARSE),
        };
        let has_chroma = self.roles.get(1..) == Some(&[Role::Chroma; 2]);
        let Some(halving) = Halving::of(&self.frame, across, down).filter(|_| has_chroma) else {
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

    /// All segments.
    pub fn segments(&self) -> Vec<&Segment> {
        self.segments.iter().collect()
    }
}

/// Smallest dequantised magnitudes that tables of `scale` or coarser could keep.
pub fn floors(role: Role, scale: f32, recipe: Recipe) -> [f32; 64] {
    let tuning = recipe.tuning(scale);
    std::array::from_fn(|k| {
        // Table entries are rounded down by less than 1.
        let step = (tables::wanted(role, k, scale) - 1.0).clamp(1.0, 255.0);
        let weight = quantiser::weight(role, step, &tuning);
        step * quantiser::floor(role, k, weight, tuning.rounding)
    })
}
