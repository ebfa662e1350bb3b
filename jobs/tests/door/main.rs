//! Tests through the one door of this package: whole files in, whole files out.
#![expect(clippy::unwrap_used, reason = "tests")]

mod check;
mod common;
mod convert;
mod efforts;
mod fit;
mod gif;
mod golden;
mod linear;
mod moving;
mod photo;
mod png;
mod resize;
mod rows;
mod score;
mod targets;
mod turn;
mod webp;
