//! What one requantisation does to a picture: tables and quantisers of all components.

use super::costs::Costs;
use super::pass::Counter;
use super::quantiser::{Quantiser, Tuning};
use super::recipe::Weights;
use super::tables;
use crate::jpeg::encode::Role;
use crate::jpeg::encode::markers::Form;
use crate::jpeg::encode::progressive::Statistics;
use crate::jpeg::frame::QuantTable;

/// Tables, levels and form of a result.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Form the result is coded in.
    pub form: Form,
    /// What steers the choice of levels; also holds the scale.
    pub tuning: Tuning,
    /// Role of each component.
    pub roles: Vec<Role>,
    /// Steps of the source, by component.
    pub source: Vec<QuantTable>,
    /// Steps of the result, by component.
    pub tables: Vec<QuantTable>,
    /// How many times coarser than wanted they are.
    excess: Vec<[f32; 64]>,
    /// Bits of symbols, by component and band.
    pub costs: Vec<Vec<Costs>>,
}

impl Plan {
    /// A plan at the scale of `tuning`; what symbols cost comes from `counted`, one entry for each component.
    pub fn new(
        form: Form,
        (weights, tuning): (Weights, Tuning),
        roles: &[Role],
        source: &[QuantTable],
        counted: &[Statistics],
    ) -> Self {
        let scale = |role| weights.scale(role, tuning.scale);
        let pairs = roles.iter().zip(source);
        let tables: Vec<QuantTable> = pairs
            .map(|(&role, own)| tables::table(role, scale(role), own))
            .collect();
        let pairs = roles.iter().zip(&tables);
        Self {
            excess: pairs
                .map(|(&role, table)| tables::excess(role, scale(role), table))
                .collect(),
            form,
            tuning,
            roles: roles.to_vec(),
            source: source.to_vec(),
            tables,
            costs: roles
                .iter()
                .zip(counted)
                .map(|(&role, counts)| costs(form, role, counts))
                .collect(),
        }
    }

    /// The quantiser of component `c`.
    pub fn quantiser(&self, c: usize) -> Quantiser {
        Quantiser::new(
            self.roles[c],
            &self.source[c],
            (&self.tables[c], &self.excess[c]),
            &self.tuning,
            self.roles[c].bands(self.form),
            self.costs[c].clone(),
        )
    }

    /// The counter of component `c`.
    pub fn counter(&self, c: usize) -> Counter {
        Counter::new(self.roles[c], self.form)
    }
}

fn costs(form: Form, role: Role, counted: &Statistics) -> Vec<Costs> {
    let tables = 1..=role.bands(form).len();
    let of_table = |table: usize| match form {
        Form::Sequential => Costs::of_blocks(&counted.histograms[table]),
        Form::Progressive => Costs::of_runs(&counted.histograms[table]),
    };
    tables.map(of_table).collect()
}
