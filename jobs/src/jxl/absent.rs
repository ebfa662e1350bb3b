//! What stands in JPEG XL's place in a build without the feature `jxl`: the same door, which says so.

use crate::raster::Raster;
use crate::{Budget, Error, Source};

/// Whether this build reads JPEG XL.
pub(crate) const PRESENT: bool = false;

/// Refuses to read JPEG XL.
///
/// # Errors
/// Always [`Error::Unsupported`].
pub(crate) fn read(_: &dyn Source, _: &Budget) -> Result<Raster, Error> {
    Err(Error::Unsupported(
        "JPEG XL, which is not in this build (build with --features jxl),".to_owned(),
    ))
}
