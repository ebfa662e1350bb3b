//! What libwebp's codes mean. Knows no pictures and calls nothing.

use libwebp_sys as sys;

/// Why libwebp did not do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::webp) enum Fault {
    /// The system gave no memory.
    Memory,
    /// The bitstream makes no sense.
    Damaged,
    /// The bitstream ends too early.
    CutOff,
    /// The bitstream uses something libwebp does not know.
    Unknown,
    /// The picture is too large, or its content does not fit into VP8's partitions.
    TooLarge,
    /// A mistake of the caller.
    Misuse,
}

/// What decoding ended with.
pub(super) fn of_decoding(status: sys::VP8StatusCode) -> Result<(), Fault> {
    use sys::VP8StatusCode as Status;
    match status {
        Status::VP8_STATUS_OK => Ok(()),
        Status::VP8_STATUS_OUT_OF_MEMORY => Err(Fault::Memory),
        Status::VP8_STATUS_BITSTREAM_ERROR => Err(Fault::Damaged),
        Status::VP8_STATUS_UNSUPPORTED_FEATURE => Err(Fault::Unknown),
        Status::VP8_STATUS_SUSPENDED | Status::VP8_STATUS_NOT_ENOUGH_DATA => Err(Fault::CutOff),
        Status::VP8_STATUS_INVALID_PARAM | Status::VP8_STATUS_USER_ABORT => Err(Fault::Misuse),
    }
}

/// What encoding ended with, which was not success.
pub(super) fn of_encoding(code: sys::WebPEncodingError) -> Fault {
    use sys::WebPEncodingError as Code;
    match code {
        Code::VP8_ENC_ERROR_OUT_OF_MEMORY
        | Code::VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY
        | Code::VP8_ENC_ERROR_BAD_WRITE => Fault::Memory,
        Code::VP8_ENC_ERROR_BAD_DIMENSION
        | Code::VP8_ENC_ERROR_PARTITION0_OVERFLOW
        | Code::VP8_ENC_ERROR_PARTITION_OVERFLOW
        | Code::VP8_ENC_ERROR_FILE_TOO_BIG => Fault::TooLarge,
        Code::VP8_ENC_OK
        | Code::VP8_ENC_ERROR_NULL_PARAMETER
        | Code::VP8_ENC_ERROR_INVALID_CONFIGURATION
        | Code::VP8_ENC_ERROR_USER_ABORT
        | Code::VP8_ENC_ERROR_LAST => Fault::Misuse,
    }
}
