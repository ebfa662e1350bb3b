//! Frames over anything that reads or writes asynchronously. Knows nothing of processes.

use pressroom_shared::frame::{Decoder, FrameError};
use serde::de::DeserializeOwned;
use std::io;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

/// Bytes asked for at once; an answer takes about a hundred.
const CHUNK: usize = 4096;

/// Why no message can be read any more.
#[derive(Debug, Error)]
pub(super) enum ChannelError {
    /// Reading failed.
    #[error("its output cannot be read: {0}")]
    Read(#[source] io::Error),
    /// The output ended inside a frame.
    #[error("its output ended in the middle of a message")]
    Torn,
    /// The bytes are no message.
    #[error("it sent no message: {0}")]
    Frame(#[from] FrameError),
}

/// Messages of type `T` read from `R`.
#[derive(Debug)]
pub(super) struct Inbound<R, T> {
    input: R,
    decoder: Decoder<T>,
}

impl<R: AsyncRead + Unpin, T: DeserializeOwned> Inbound<R, T> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            decoder: Decoder::new(),
        }
    }

    /// Waits for the next message; `None` is the end. Loses nothing when it is dropped while waiting.
    pub(super) async fn receive(&mut self) -> Result<Option<T>, ChannelError> {
        loop {
            if let Some(message) = self.decoder.next()? {
                return Ok(Some(message));
            }
            let mut chunk = [0; CHUNK];
            match self.input.read(&mut chunk).await {
                Ok(0) if self.decoder.is_mid_frame() => return Err(ChannelError::Torn),
                Ok(0) => return Ok(None),
                Ok(count) => self.decoder.push(&chunk[..count]),
                Err(error) => return Err(ChannelError::Read(error)),
            }
        }
    }
}

/// Frames on their way to a worker that may take its time to read them. Dropping it closes the worker's input.
#[derive(Debug)]
pub(super) struct Outbound {
    frames: mpsc::UnboundedSender<Vec<u8>>,
}

impl Outbound {
    /// A task of its own writes to `output`. No more than a handful of frames wait: a `Go` and two jobs.
    pub(super) fn start(output: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        let (frames, waiting) = mpsc::unbounded_channel();
        tokio::spawn(write(output, waiting));
        Self { frames }
    }

    /// Queues a frame. One that can no longer be written is dropped: the process is gone, and its exit says so.
    pub(super) fn send(&self, frame: Vec<u8>) {
        let _ = self.frames.send(frame);
    }
}

async fn write(mut output: impl AsyncWrite + Unpin, mut waiting: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(frame) = waiting.recv().await {
        if output.write_all(&frame).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pressroom_shared::{JobId, Started, frame};
    use tokio::io::duplex;

    fn started(id: u64) -> Vec<u8> {
        frame::encode(&Started { id: JobId(id) }).expect("small")
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        runtime.block_on(future)
    }

    #[test]
    fn what_goes_in_comes_out_through_the_narrowest_pipe() {
        run(async {
            let (near, far) = duplex(1);
            let outbound = Outbound::start(near);
            for id in 0..5 {
                outbound.send(started(id));
            }
            drop(outbound);
            let mut inbound = Inbound::<_, Started>::new(far);
            for id in 0..5 {
                let message = inbound.receive().await.expect("whole");
                assert_eq!(message, Some(Started { id: JobId(id) }));
            }
            assert_eq!(inbound.receive().await.expect("closed"), None);
        });
    }

    #[test]
    fn a_receive_that_was_dropped_half_way_loses_nothing() {
        run(async {
            let (mut near, far) = duplex(64);
            let mut inbound = Inbound::<_, Started>::new(far);
            for byte in started(7) {
                tokio::select! {
                    biased;
                    _ = inbound.receive() => panic!("it is not whole yet"),
                    () = std::future::ready(()) => {}
                }
                near.write_all(&[byte]).await.expect("room");
            }
            let message = inbound.receive().await.expect("whole");
            assert_eq!(message, Some(Started { id: JobId(7) }));
        });
    }

    #[test]
    fn half_a_frame_is_torn() {
        run(async {
            let (mut near, far) = duplex(64);
            near.write_all(&started(7)[..5]).await.expect("room");
            drop(near);
            let ended = Inbound::<_, Started>::new(far).receive().await;
            assert!(matches!(ended, Err(ChannelError::Torn)));
        });
    }

    #[test]
    fn an_oversize_frame_is_refused_by_its_length_alone() {
        run(async {
            let (mut near, far) = duplex(64);
            near.write_all(&u32::MAX.to_le_bytes()).await.expect("room");
            let ended = Inbound::<_, Started>::new(far).receive().await;
            assert!(matches!(ended, Err(ChannelError::Frame(_))));
        });
    }
}
