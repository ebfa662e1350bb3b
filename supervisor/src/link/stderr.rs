//! A worker's standard error: always drained, so that it never blocks; the end of it is kept for reports.

use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes kept.
const KEPT: usize = 8 * 1024;

/// The end of what a worker said. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct LastWords(Arc<Mutex<Vec<u8>>>);

impl LastWords {
    /// Adds what was read, and drops from the front what is too much.
    fn push(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&bytes[bytes.len().saturating_sub(KEPT)..]);
        let excess = kept.len().saturating_sub(KEPT);
        kept.drain(..excess);
    }

    pub(super) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Reads until the end.
pub(super) async fn drain(mut stderr: impl AsyncRead + Unpin, words: LastWords) {
    let mut chunk = [0; 4096];
    while let Ok(count) = stderr.read(&mut chunk).await {
        if count == 0 {
            return;
        }
        words.push(&chunk[..count]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept() {
        let words = LastWords::default();
        words.push(&[b'a'; KEPT]);
        words.push(b"end");
        let kept = words.take();
        assert_eq!(kept.len(), KEPT);
        assert!(kept.ends_with(b"aend"));
        words.push(&[b'b'; 3 * KEPT]);
        assert_eq!(words.take(), vec![b'b'; KEPT]);
    }
}
