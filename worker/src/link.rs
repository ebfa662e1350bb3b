//! Blocking frames over anything that reads or writes. Knows nothing of what the messages mean.

use pressroom_shared::frame::{self, Decoder, FrameError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, ErrorKind, Read, Write};
use thiserror::Error;

/// Bytes asked for at once; a `Job` takes a few hundred.
const CHUNK: usize = 4096;

/// Why a message did not come or go.
#[derive(Debug, Error)]
pub(crate) enum LinkError {
    /// Reading failed.
    #[error("reading a message failed: {0}")]
    Read(#[source] io::Error),
    /// Writing failed.
    #[error("writing a message failed: {0}")]
    Write(#[source] io::Error),
    /// The other end went away.
    #[error("the other end of the pipe is closed")]
    Closed,
    /// The input ended inside a frame.
    #[error("the input ended in the middle of a message")]
    Torn,
    /// The bytes are no message.
    #[error(transparent)]
    Frame(#[from] FrameError),
}

/// Messages of type `T` read from `R`.
#[derive(Debug)]
pub(crate) struct Receiver<R, T> {
    input: R,
    decoder: Decoder<T>,
}

impl<R: Read, T: DeserializeOwned> Receiver<R, T> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            decoder: Decoder::new(),
        }
    }

    /// Waits for the next message; `None` is the end of the input.
    ///
    /// # Errors
    /// [`LinkError::Read`], [`LinkError::Torn`] and [`LinkError::Frame`].
    pub(crate) fn receive(&mut self) -> Result<Option<T>, LinkError> {
        loop {
            if let Some(message) = self.decoder.next()? {
                return Ok(Some(message));
            }
            let mut chunk = [0; CHUNK];
            match self.input.read(&mut chunk) {
                Ok(0) if self.decoder.is_mid_frame() => return Err(LinkError::Torn),
                Ok(0) => return Ok(None),
                Ok(count) => self.decoder.push(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(LinkError::Read(error)),
            }
        }
    }
}

/// Messages written to `W`.
#[derive(Debug)]
pub(crate) struct Sender<W> {
    output: W,
}

impl<W: Write> Sender<W> {
    pub(crate) fn new(output: W) -> Self {
        Self { output }
    }

    /// Writes one message, whole.
    ///
    /// # Errors
    /// [`LinkError::Closed`], [`LinkError::Write`] and [`LinkError::Frame`].
    pub(crate) fn send<T: Serialize>(&mut self, message: &T) -> Result<(), LinkError> {
        let frame = frame::encode(message)?;
        let written = self
            .output
            .write_all(&frame)
            .and_then(|()| self.output.flush());
        written.map_err(|error| {
            if error.kind() == ErrorKind::BrokenPipe {
                LinkError::Closed
            } else {
                LinkError::Write(error)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pressroom_shared::{JobId, Started};

    /// Gives its bytes one at a time, interrupted before each.
    struct Drip<'a> {
        bytes: &'a [u8],
        interrupt: bool,
    }

    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.interrupt = !self.interrupt;
            if self.interrupt {
                return Err(ErrorKind::Interrupted.into());
            }
            self.bytes.read(&mut buffer[..1])
        }
    }

    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn two_messages() -> Vec<u8> {
        let mut sender = Sender::new(Vec::new());
        for id in [1, 2] {
            sender
                .send(&Started { id: JobId(id) })
                .expect("a vector takes all");
        }
        sender.output
    }

    #[test]
    fn what_is_sent_is_received_a_byte_at_a_time() {
        let bytes = two_messages();
        let mut receiver = Receiver::<_, Started>::new(Drip {
            bytes: &bytes,
            interrupt: false,
        });
        for id in [1, 2] {
            assert_eq!(
                receiver.receive().expect("whole"),
                Some(Started { id: JobId(id) })
            );
        }
        assert_eq!(receiver.receive().expect("ended"), None);
    }

    #[test]
    fn an_end_inside_a_message_is_told_from_an_end_between_two() {
        let bytes = two_messages();
        let mut receiver = Receiver::<_, Started>::new(&bytes[..bytes.len() - 1]);
        assert!(receiver.receive().is_ok());
        assert!(matches!(receiver.receive(), Err(LinkError::Torn)));
    }

    #[test]
    fn a_closed_pipe_is_told_from_a_failed_write() {
        let sent = Sender::new(Full).send(&Started { id: JobId(1) });
        assert!(matches!(sent, Err(LinkError::Closed)));
    }
}
