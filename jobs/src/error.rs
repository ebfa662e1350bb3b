//! Why a picture could not be done, by who is to blame.

use crate::Format;
use thiserror::Error;

/// Why a picture could not be done.
#[derive(Debug, Error)]
pub enum Error {
    /// The input has no bytes.
    #[error("the file is empty")]
    Empty,
    /// The content is no image; the text says what it looks like.
    #[error("not an image: the content looks like {0}")]
    NotAnImage(&'static str),
    /// The picture is damaged or cut off; the text says where.
    #[error("damaged {}: {what}", format.name())]
    Corrupt {
        /// Format found in the content.
        format: Format,
        /// What is wrong and where.
        what: String,
    },
    /// The picture uses a feature that is not supported; the text names it.
    #[error("{0} is not supported")]
    Unsupported(String),
    /// The header declares more pixels than allowed.
    #[error(
        "{width}x{height} is more than the limit of {limit} pixels; raise it with --max-pixels"
    )]
    TooManyPixels {
        /// Declared width.
        width: u64,
        /// Declared height.
        height: u64,
        /// Most pixels allowed.
        limit: u64,
    },
    /// The job needs more memory than it may take.
    #[error(
        "needs about {needed} bytes of memory, the cap leaves {cap}; raise --memory-per-worker"
    )]
    OverBudget {
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        cap: u64,
    },
    /// A codec panicked; the text is its message.
    #[error("the {} codec failed: {what}", format.name())]
    Codec {
        /// Format being worked on.
        format: Format,
        /// The panic's message.
        what: String,
    },
    /// The result did not decode to what it should.
    #[error("the result failed its check: {0}")]
    Verify(String),
    /// Reading the source failed.
    #[error("reading failed: {0}")]
    Read(std::io::Error),
    /// Writing the result failed.
    #[error("writing failed: {0}")]
    Write(std::io::Error),
}
