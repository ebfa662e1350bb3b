//! Frames: a 4-byte little-endian length, then one MessagePack value of at most [`MAX_FRAME`] bytes.
//!
//! Pure: bytes are pushed in and messages come out, however the input was cut up. After an error the decoder stays dead.
