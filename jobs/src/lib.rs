//! The image work of pressroom: bytes in, bytes out.
//!
//! One door: [`compress`] reads from a [`Source`], writes to a [`Sink`] and answers what it did. It knows nothing of
//! files, processes, settings on the wire, clocks or threads; whoever calls it maps its own world onto [`Options`] and
//! [`Budget`]. A bad picture is an [`Error`], never a panic.

#[cfg(feature = "avif")]
mod avif;
#[cfg(not(feature = "avif"))]
#[path = "avif/absent.rs"]
mod avif;
mod budget;
mod check;
mod convert;
mod door;
mod error;
mod fence;
mod format;
mod gif;
pub mod jpeg;
#[cfg(feature = "jxl")]
mod jxl;
#[cfg(not(feature = "jxl"))]
#[path = "jxl/absent.rs"]
mod jxl;
mod metadata;
mod moving;
mod options;
mod photo;
mod png;
mod quantise;
mod raster;
mod shrink;
mod sniff;
mod stream;
mod turn;
mod webp;

pub use budget::Budget;
pub use check::check;
pub use door::{Compressed, Keep, Kept, Note, Written, compress, recognise};
pub use error::Error;
pub use format::Format;
pub use options::{
    Chroma, Colours, Goal, Options, Orient, Progressive, Resize, SizeLimit, Strip, Wanted,
};
pub use stream::{Sink, Source};
