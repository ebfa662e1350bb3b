//! The image work of pressroom: bytes in, bytes out.
//!
//! One door: [`compress`] reads from a [`Source`], writes to a [`Sink`] and answers what it did. It knows nothing of
//! files, processes, settings on the wire, clocks or threads; whoever calls it maps its own world onto [`Options`] and
//! [`Budget`]. A bad picture is an [`Error`], never a panic.

mod budget;
mod door;
mod error;
mod fence;
mod format;
mod gif;
pub mod jpeg;
mod metadata;
mod options;
mod photo;
mod png;
mod quantise;
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "conversion between formats is built on it")
)]
mod raster;
mod shrink;
mod sniff;
mod stream;
mod webp;

pub use budget::Budget;
pub use door::{Compressed, Keep, Kept, Note, Written, compress};
pub use error::Error;
pub use format::Format;
pub use options::{Chroma, Goal, Options, Progressive, Resize, SizeLimit, Strip};
pub use stream::{Sink, Source};
