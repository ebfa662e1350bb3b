//! What libaom's codes mean. Knows no pictures and calls nothing.

use libaom_sys as sys;

/// Why libaom did not do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::avif) enum Fault {
    /// The system gave no memory.
    Memory,
    /// The bitstream makes no sense.
    Damaged,
    /// The bitstream uses something libaom does not know.
    Unknown,
    /// A mistake of the caller.
    Misuse,
}

/// What a call ended with.
pub(super) fn of(code: sys::aom_codec_err_t) -> Result<(), Fault> {
    match code {
        sys::AOM_CODEC_OK => Ok(()),
        sys::AOM_CODEC_MEM_ERROR => Err(Fault::Memory),
        sys::AOM_CODEC_UNSUP_BITSTREAM | sys::AOM_CODEC_UNSUP_FEATURE => Err(Fault::Unknown),
        sys::AOM_CODEC_ERROR | sys::AOM_CODEC_CORRUPT_FRAME | sys::AOM_CODEC_LIST_END => {
            Err(Fault::Damaged)
        }
        // A number of the C library, so there is no closed list: what is left is about how it was called.
        _ => Err(Fault::Misuse),
    }
}
