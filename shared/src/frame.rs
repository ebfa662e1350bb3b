//! Frames: a 4-byte little-endian length, then one MessagePack value of at most [`MAX_FRAME`] bytes.
//!
//! Pure: bytes are pushed in and messages come out, however the input was cut up. Whoever sends may be hostile, so a
//! length is compared with the cap before anything waits or allocates for it, nesting is limited, and a frame must hold
//! exactly one value. After an error the decoder stays dead: where one frame is wrong, the start of the next is a guess.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;
use thiserror::Error;

/// Most bytes one value may take, its length not counted.
pub const MAX_FRAME: usize = 64 * 1024;

/// Bytes of the length in front of a value.
const HEADER: usize = 4;

/// Deepest nesting accepted. The messages need about ten levels; rmp-serde's own limit would let small arrays nested a
/// thousand deep use up the stack.
const MAX_DEPTH: usize = 32;

/// Why bytes are no frame, or a message does not fit into one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FrameError {
    /// The value is longer than [`MAX_FRAME`].
    #[error("a frame of {bytes} bytes is over the limit of {MAX_FRAME}")]
    TooLong {
        /// Bytes announced or needed.
        bytes: u64,
    },
    /// The bytes are not the message expected.
    #[error("a frame does not hold the message expected: {0}")]
    Malformed(String),
    /// The value ends before its frame does.
    #[error("a frame has {bytes} bytes left over behind its message")]
    Trailing {
        /// Bytes left over.
        bytes: usize,
    },
    /// The message cannot be written as MessagePack.
    #[error("a message cannot be encoded: {0}")]
    Unencodable(String),
    /// An earlier frame was wrong, so nothing that follows is believed.
    #[error("an earlier frame was wrong")]
    Dead,
}

/// One message as a frame, ready to be written.
///
/// # Errors
/// [`FrameError::TooLong`] and [`FrameError::Unencodable`].
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, FrameError> {
    let mut frame = vec![0; HEADER];
    rmp_serde::encode::write(&mut frame, message)
        .map_err(|error| FrameError::Unencodable(error.to_string()))?;
    let bytes = frame.len() - HEADER;
    let length = u32::try_from(bytes).unwrap_or(u32::MAX);
    if bytes > MAX_FRAME {
        return Err(FrameError::TooLong {
            bytes: bytes as u64,
        });
    }
    frame[..HEADER].copy_from_slice(&length.to_le_bytes());
    Ok(frame)
}

/// Turns bytes into messages of one type.
///
/// Push what was read, then call [`Decoder::next`] until it answers `None`: done so, never more than one frame and one
/// read are held.
#[derive(Debug)]
pub struct Decoder<T> {
    buffer: Vec<u8>,
    start: usize,
    dead: bool,
    message: PhantomData<fn() -> T>,
}

impl<T> Default for Decoder<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Decoder<T> {
    /// A decoder at the start of a stream.
    pub fn new() -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            dead: false,
            message: PhantomData,
        }
    }

    /// Takes the bytes that came next, however many. A dead decoder drops them.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.dead {
            return;
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// Whether a frame has begun that has not ended; a stream that closes now was torn.
    pub fn is_mid_frame(&self) -> bool {
        self.start < self.buffer.len()
    }

    /// The value of the next frame and where it ends, or `None` until all of it is there.
    fn frame(&self) -> Result<Option<(&[u8], usize)>, FrameError> {
        let waiting = &self.buffer[self.start..];
        let Some((header, rest)) = waiting.split_first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*header);
        let value = match usize::try_from(length) {
            Ok(length) if length <= MAX_FRAME => rest.get(..length),
            Ok(_) | Err(_) => {
                return Err(FrameError::TooLong {
                    bytes: u64::from(length),
                });
            }
        };
        Ok(value.map(|value| (value, self.start + HEADER + value.len())))
    }
}

impl<T: DeserializeOwned> Decoder<T> {
    /// The next message, or `None` until more bytes are pushed.
    ///
    /// # Errors
    /// What is wrong with the frame; from then on [`FrameError::Dead`].
    #[expect(
        clippy::should_implement_trait,
        reason = "None means not yet, where an iterator's None means never again"
    )]
    pub fn next(&mut self) -> Result<Option<T>, FrameError> {
        if self.dead {
            return Err(FrameError::Dead);
        }
        let answer = self.take();
        if answer.is_err() {
            self.dead = true;
            self.start = 0;
            self.buffer = Vec::new();
        }
        answer
    }

    fn take(&mut self) -> Result<Option<T>, FrameError> {
        let Some((value, end)) = self.frame()? else {
            return Ok(None);
        };
        let message = decode(value)?;
        self.start = end;
        Ok(Some(message))
    }
}

/// Exactly one value out of `bytes`.
fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FrameError> {
    let mut reader = rmp_serde::Deserializer::new(bytes);
    reader.set_max_depth(MAX_DEPTH);
    let message =
        T::deserialize(&mut reader).map_err(|error| FrameError::Malformed(error.to_string()))?;
    match reader.get_ref().len() {
        0 => Ok(message),
        bytes => Err(FrameError::Trailing { bytes }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Done, Failed, FailureKind, Identity, Job, JobId, Outcome, Started, ToSupervisor, ToWorker,
        WirePath,
    };
    use proptest::prelude::*;
    use std::path::Path;

    fn framed(value: &[u8]) -> Vec<u8> {
        let length = u32::try_from(value.len()).expect("test values are short");
        [&length.to_le_bytes(), value].concat()
    }

    fn drain<T: DeserializeOwned>(decoder: &mut Decoder<T>) -> Result<Vec<T>, FrameError> {
        let mut messages = Vec::new();
        while let Some(message) = decoder.next()? {
            messages.push(message);
        }
        Ok(messages)
    }

    fn job(id: u64, name: &[u8]) -> ToWorker {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(std::ffi::OsStr::from_bytes(name));
        ToWorker::Job(Job {
            id: JobId(id),
            source: WirePath::from(path),
            identity: Identity {
                dev: id,
                ino: u64::MAX,
                size: 7,
                mtime_ns: i64::MIN,
            },
            staged: WirePath::from(path),
            copy_kept: id.is_multiple_of(2),
        })
    }

    fn done(id: u64, message: String) -> ToSupervisor {
        ToSupervisor::Done(Box::new(Done {
            id: JobId(id),
            outcome: Outcome::Failed(Failed {
                kind: FailureKind::Corrupt,
                message,
            }),
            cpu_us: 1,
            wall_us: 2,
            peak_rss: 3,
            rss: 4,
        }))
    }

    fn jobs() -> impl Strategy<Value = Vec<ToWorker>> {
        let name = proptest::collection::vec(any::<u8>(), 0..200);
        proptest::collection::vec((any::<u64>(), name), 0..8).prop_map(|jobs| {
            let message = |(id, name): &(u64, Vec<u8>)| job(*id, name);
            jobs.iter().map(message).collect()
        })
    }

    proptest! {
        #[test]
        fn messages_survive_however_the_bytes_are_cut(
            messages in jobs(),
            cuts in proptest::collection::vec(1usize..97, 1..40),
        ) {
            let bytes: Vec<u8> = messages.iter().flat_map(|m| encode(m).expect("small")).collect();
            let mut decoder = Decoder::<ToWorker>::new();
            let mut seen = Vec::new();
            let mut rest = &bytes[..];
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (piece, later) = rest.split_at((*cut).min(rest.len()));
                decoder.push(piece);
                seen.extend(drain(&mut decoder).expect("what was encoded is decoded"));
                rest = later;
            }
            prop_assert_eq!(seen, messages);
            prop_assert!(!decoder.is_mid_frame());
        }

        #[test]
        fn any_bytes_end_in_messages_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let mut decoder = Decoder::<ToSupervisor>::new();
            decoder.push(&bytes);
            let _ = drain(&mut decoder);
            let mut decoder = Decoder::<ToWorker>::new();
            decoder.push(&framed(&bytes));
            let _ = drain(&mut decoder);
        }

        #[test]
        fn a_damaged_frame_never_panics(at in any::<prop::sample::Index>(), bits in 1u8..) {
            let mut bytes = encode(&done(9, "damaged JPEG".to_owned())).expect("small");
            let at = at.index(bytes.len());
            bytes[at] ^= bits;
            let mut decoder = Decoder::<ToSupervisor>::new();
            decoder.push(&bytes);
            let _ = drain(&mut decoder);
        }
    }

    #[test]
    fn a_length_over_the_cap_is_refused_before_its_bytes_arrive() {
        let mut decoder = Decoder::<ToSupervisor>::new();
        decoder.push(&(MAX_FRAME as u32 + 1).to_le_bytes());
        let bytes = MAX_FRAME as u64 + 1;
        assert_eq!(decoder.next(), Err(FrameError::TooLong { bytes }));
    }

    #[test]
    fn a_length_at_the_cap_is_waited_for() {
        let mut decoder = Decoder::<ToSupervisor>::new();
        decoder.push(&(MAX_FRAME as u32).to_le_bytes());
        assert_eq!(decoder.next(), Ok(None));
        assert!(decoder.is_mid_frame());
    }

    #[test]
    fn after_an_error_good_frames_are_not_believed() {
        let mut decoder = Decoder::<ToSupervisor>::new();
        decoder.push(&framed(&[0xc1]));
        assert!(matches!(decoder.next(), Err(FrameError::Malformed(_))));
        let good = ToSupervisor::Started(Started { id: JobId(1) });
        decoder.push(&encode(&good).expect("small"));
        assert_eq!(decoder.next(), Err(FrameError::Dead));
    }

    #[test]
    fn bytes_behind_the_value_are_an_error() {
        let good = encode(&ToSupervisor::Started(Started { id: JobId(1) })).expect("small");
        let mut decoder = Decoder::<ToSupervisor>::new();
        decoder.push(&framed(&[&good[HEADER..], &[0xc0, 0xc0]].concat()));
        assert_eq!(decoder.next(), Err(FrameError::Trailing { bytes: 2 }));
    }

    #[test]
    fn a_struct_with_a_field_too_many_or_too_few_is_an_error() {
        for fields in [&[0x92, 1, 2][..], &[0x90]] {
            let started = [&[0x81, 0xa7], &b"Started"[..], fields].concat();
            let mut decoder = Decoder::<ToSupervisor>::new();
            decoder.push(&framed(&started));
            assert!(
                matches!(decoder.next(), Err(FrameError::Malformed(_))),
                "{fields:?}"
            );
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_not_a_stack_overflow() {
        let mut value = b"\x81\xa7Started".to_vec();
        value.resize(MAX_FRAME, 0x91);
        let mut decoder = Decoder::<ToSupervisor>::new();
        decoder.push(&framed(&value));
        assert!(matches!(decoder.next(), Err(FrameError::Malformed(_))));
    }

    #[test]
    fn a_message_over_the_cap_is_not_encoded() {
        let long = done(1, "x".repeat(MAX_FRAME));
        assert!(matches!(encode(&long), Err(FrameError::TooLong { .. })));
    }

    #[test]
    fn an_announced_string_longer_than_its_frame_is_an_error() {
        let lie = [&[0x81, 0xdb][..], &u32::MAX.to_be_bytes(), b"Started"].concat();
        let mut decoder = Decoder::<ToSupervisor>::new();
        decoder.push(&framed(&lie));
        assert!(matches!(decoder.next(), Err(FrameError::Malformed(_))));
    }
}
