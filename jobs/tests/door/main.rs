//! Tests through the one door of this package: whole files in, whole files out.
#![expect(clippy::unwrap_used, reason = "tests")]

mod check;
mod common;
mod fit;
mod golden;
mod photo;
mod png;
mod resize;
mod score;
mod targets;
