//! The transform between samples and coefficients, in floating point; only for pictures whose pixels change.

mod forward;
mod inverse;

pub(crate) use forward::forward;
pub(crate) use inverse::Inverse;
