//! What both ends must agree on before the first job.

/// Number of the wire protocol; raised whenever a message changes its shape.
///
/// MessagePack structs are positional: two ends of different shape would decode each other silently wrong, so this is
/// compared before anything else is believed.
pub const PROTOCOL: u32 = 3;

/// Identifies the build; a worker of another build is refused.
///
/// Names the features, so that what a build could not do is tried again by one that can. Workers are started through `/proc/self/exe`, so a difference means that something other than pressroom answered.
pub const BUILD_ID: &str = match (AVIF, JXL) {
    (false, false) => concat!("pressroom ", env!("CARGO_PKG_VERSION")),
    (true, false) => concat!("pressroom ", env!("CARGO_PKG_VERSION"), " avif"),
    (false, true) => concat!("pressroom ", env!("CARGO_PKG_VERSION"), " jxl"),
    (true, true) => concat!("pressroom ", env!("CARGO_PKG_VERSION"), " avif jxl"),
};

/// Whether this build reads and writes AVIF.
pub const AVIF: bool = cfg!(feature = "avif");
/// Whether this build reads JPEG XL.
pub const JXL: bool = cfg!(feature = "jxl");
