//! From source planes to requantised planes: tables, choice of levels, and the pass over a component.

pub mod choice;
pub mod costs;
pub mod pass;
pub mod plan;
pub mod quantiser;
pub mod recipe;
pub mod tables;
