//! How to go about a size target, from the header and a blind look at the data: nothing is decoded yet.

use super::best::WIDE_MARGIN;
use super::chroma::Halving;
use super::compress::Job;
use super::decode::{Header, Survivors, presample};
use super::encode::Role;
use super::frame::{Component, Frame, QuantTable};
use super::quant::tables::SCALES;
use super::requantise::Shell;
use super::search::{Request, Search};
use super::size_model::Sample;
use super::{color, prepare, turn};
use crate::Error;

/// Share of the input, in per cent, from which on a blind look tells too little.
const NEAR: u64 = 80;
/// How far below the estimated scale the decoder must keep what matters.
const MARGIN: f32 = 0.8;
/// Scale to begin with where nothing is known.
const MIDDLE: f32 = 1.0;

/// How to go about a size target.
#[derive(Debug, Clone, Copy)]
pub(super) struct Approach {
    pub(super) halving: Option<Halving>,
    /// Scale the search begins with.
    pub(super) start: f32,
    /// Lowest scale for which the decoder keeps what matters.
    pub(super) lowest: f32,
}

impl Job<'_> {
    /// Chroma and scale to begin with, from the header and a blind look at the data.
    pub(super) fn approach(&self, header: &Header, target: u64) -> Result<Approach, Error> {
        let input = self.source.len();
        let frame = &turn::frame(&header.frame, self.turn);
        let roles = color::roles(frame, &header.segments);
        let halving = prepare::halving(frame, &roles, self.options.chroma, target, input);
        let blind = Approach {
            halving,
            start: MIDDLE,
            lowest: SCALES.0,
        };
        let Some(tables) = known_tables(header) else {
            return Ok(blind);
        };
        if target * 100 >= input * NEAR {
            return Ok(blind);
        }
        let Some(sample) = presample::sample(self.source, header, self.budget)? else {
            return Ok(blind);
        };
        let blocks: Vec<f64> = blocks_kept(frame, &roles, halving);
        let sample = Sample::of_look(sample, &blocks);
        let request = Request {
            shell: Shell {
                frame,
                segments: &[],
            },
            views: &[],
            source: &tables,
            roles: &roles,
            form: self.form(frame),
            recipe: self.recipe(),
            target,
            thorough: false,
            start: MIDDLE,
            scales: SCALES,
        };
        let mut search = Search::new(&request, &sample);
        search.solve(target as f64);
        let start = search.scale();
        let margin = if self.tries_weights() {
            WIDE_MARGIN
        } else {
            MARGIN
        };
        Ok(Approach {
            halving,
            start,
            // Never above the coarsest allowed, or a size would be met at a quality that is forbidden.
            lowest: (start * margin).min(self.coarsest()).max(SCALES.0),
        })
    }

    pub(super) fn survivors(&self, header: &Header, approach: &Approach) -> Survivors {
        match known_tables(header) {
            Some(tables) if approach.lowest > SCALES.0 => {
                let roles = color::roles(&header.frame, &header.segments);
                let halved = approach.halving.is_some();
                let tables: Vec<_> = tables
                    .iter()
                    .map(|table| turn::table(table, self.turn))
                    .collect();
                let keep =
                    prepare::survivors(&roles, &tables, halved, approach.lowest, self.keeping());
                keep.turned(self.turn)
            }
            Some(_) | None => Survivors::all(),
        }
    }
}

/// Blocks of each component after halving.
fn blocks_kept(frame: &Frame, roles: &[Role], halving: Option<Halving>) -> Vec<f64> {
    let components = frame.components.iter().zip(roles);
    let kept = |(component, &role): (&Component, &Role)| {
        let blocks = f64::from(component.blocks_across) * f64::from(component.blocks_down);
        match role {
            Role::Detail => blocks,
            Role::Chroma => blocks * halving.map_or(1.0, Halving::share),
        }
    };
    components.map(kept).collect()
}

/// Tables of all components, if the header has them.
pub(super) fn known_tables(header: &Header) -> Option<Vec<QuantTable>> {
    header.tables.iter().cloned().collect()
}
