//! JPEG in the coefficient domain: entropy decode, requantise, entropy encode. Pixels are never touched.
//!
//! Data flows one way: [`decode`] reads the markers and fills [`plane::Plane`]s with quantised coefficients,
//! `quant` chooses tables and requantises, `encode` writes them out.

mod approach;
mod best;
pub mod bits_out;
pub mod chroma;
pub mod color;
pub mod compress;
pub(crate) mod dct;
pub mod decode;
pub mod encode;
mod fill;
pub mod frame;
pub(crate) mod fresh;
mod frugal;
pub mod huffman_out;
mod identity;
pub mod outcome;
mod overshoot;
pub(crate) mod paint;
pub(crate) mod pixels;
pub mod plane;
pub mod prepare;
pub mod quant;
pub mod requantise;
pub mod row_by_row;
pub(crate) mod samples;
pub mod score;
pub mod search;
pub mod size_model;
pub(crate) mod turn;

pub use compress::compress;
pub(crate) use compress::compress_turned;
