//! The transform between samples and coefficients, in floating point; only for pictures whose pixels change.

mod forward;
mod inverse;

pub(crate) use forward::{back, forward, transform};
pub(crate) use inverse::{Inverse, Size, Weighed};

/// The nearest whole number. The compiler's own rounding is a call on plain x86-64.
#[inline(always)]
pub(crate) fn rounded(value: f32) -> i16 {
    (value + 0.5_f32.copysign(value)) as i16
}
