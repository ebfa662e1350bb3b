//! What stands in AVIF's place in a build without the feature `avif`: the same doors, each of which says so.

use crate::door::Compressed;
use crate::raster::Raster;
use crate::{Budget, Error, Options, Sink, Source};

/// Whether this build reads and writes AVIF.
pub(crate) const PRESENT: bool = false;

fn absent() -> Error {
    Error::Unsupported("AVIF, which is not in this build (build with --features avif),".to_owned())
}

/// Refuses to write AVIF.
///
/// # Errors
/// Always [`Error::Unsupported`].
pub(crate) fn write(
    _: Raster,
    _: u64,
    _: &mut dyn Sink,
    _: &Options,
    _: &Budget,
) -> Result<Compressed, Error> {
    Err(absent())
}

/// Refuses to read AVIF.
///
/// # Errors
/// Always [`Error::Unsupported`].
pub(crate) fn read(_: &dyn Source, _: &Budget) -> Result<Raster, Error> {
    Err(absent())
}
