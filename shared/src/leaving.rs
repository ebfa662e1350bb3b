//! How a worker's end reads from outside: its exit codes, and the words it dies with when memory runs out.
//!
//! Both sides use this one page. A signal alone says little: a refused allocation and a stack overflow both end in
//! SIGABRT, so the words on the standard error are what tells them apart.

/// Exit codes of a worker that leaves on its own. A panic outside every net exits with Rust's 101, which is none of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerExit {
    /// Its standard input was closed: the supervisor is done with it, or gone.
    Left,
    /// It never said `Ready` and another one would fail the same way: wrong build, missing protection, no memory to start.
    CannotStart,
    /// What came in was no message, or the answer could not be sent.
    BadWire,
    /// A job panicked outside the fence around the codecs. It was answered as failed, but what the panic left behind in
    /// memory is unknown: start another process in its place.
    Replace,
}

impl WorkerExit {
    const ALL: [Self; 4] = [Self::Left, Self::CannotStart, Self::BadWire, Self::Replace];

    /// The code as the operating system sees it.
    pub fn code(self) -> u8 {
        match self {
            Self::Left => 0,
            Self::CannotStart => 2,
            Self::BadWire => 3,
            Self::Replace => 4,
        }
    }

    /// The meaning of an exit code, or `None` where no worker uses it.
    pub fn from_code(code: i32) -> Option<Self> {
        let means = |exit: &Self| i32::from(exit.code()) == code;
        Self::ALL.into_iter().find(means)
    }
}

/// What a worker writes to its standard error before each job: ASCII's record separator.
///
/// The two pipes are read apart from each other, so that only a mark in the words themselves can tell which job they
/// belong to: a worker may be dead, with all it said read, before its `Started` is looked at.
pub const JOB_MARK: u8 = 0x1e;

/// The part of a worker's last words that belongs to the last job it began; all of them where no mark is left.
pub fn words_of_last_job(stderr_tail: &[u8]) -> &[u8] {
    let mark = stderr_tail.iter().rposition(|byte| *byte == JOB_MARK);
    mark.map_or(stderr_tail, |at| &stderr_tail[at + 1..])
}

/// What Rust's standard library writes around the size it could not get, before it aborts.
const MARKER: (&[u8], &[u8]) = (b"memory allocation of ", b" bytes failed");

/// The bytes that were refused, where a dead worker's last words say that an allocation failed.
///
/// `stderr_tail` is the end of its standard error, which may be cut anywhere and hold anything. The first such words
/// count: with RUST_BACKTRACE set, describing the failure runs out of memory as well. Stable Rust has no other sign
/// of it: it aborts with these words, so the verdict "memory cap" hangs on them.
pub fn memory_marker(stderr_tail: &[u8]) -> Option<u64> {
    let starts = stderr_tail.windows(MARKER.0.len()).enumerate();
    starts
        .filter(|(_, words)| *words == MARKER.0)
        .find_map(|(at, words)| refused(&stderr_tail[at + words.len()..]))
}

/// The number at the start of what follows the marker's first half.
fn refused(words: &[u8]) -> Option<u64> {
    let digits = words.iter().take_while(|byte| byte.is_ascii_digit());
    let (number, rest) = words.split_at(digits.count());
    let number = std::str::from_utf8(number).ok()?.parse().ok()?;
    rest.starts_with(MARKER.1).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn codes_differ_and_come_back() {
        for exit in WorkerExit::ALL {
            assert_eq!(WorkerExit::from_code(i32::from(exit.code())), Some(exit));
        }
        assert_eq!(WorkerExit::from_code(101), None);
        assert_eq!(WorkerExit::from_code(256), None);
    }

    #[test]
    fn the_marker_is_found_among_other_words() {
        let tail = b"cut off start\nmemory allocation of 4096 bytes failed\nmemory allocation of 99 bytes failed\nbye";
        assert_eq!(memory_marker(tail), Some(4096));
    }

    #[test]
    fn words_belong_to_the_job_whose_mark_is_before_them() {
        for (tail, expected) in [
            (&b"started badly"[..], &b"started badly"[..]),
            (b"old\x1enew", b"new"),
            (b"\x1efirst\x1esecond\n", b"second\n"),
            (b"only old ones\x1e", b""),
        ] {
            assert_eq!(words_of_last_job(tail), expected);
        }
    }

    #[test]
    fn half_a_marker_is_none() {
        for tail in [
            &b""[..],
            b"memory allocation of 12",
            b"memory allocation of  bytes failed",
            b"memory allocation of 99999999999999999999999 bytes failed",
            b"thread 'main' has overflowed its stack",
        ] {
            assert_eq!(memory_marker(tail), None);
        }
    }

    proptest! {
        #[test]
        fn any_size_between_any_bytes_is_found(
            size in any::<u64>(),
            before in proptest::collection::vec(any::<u8>(), 0..80),
            after in proptest::collection::vec(any::<u8>(), 0..80),
        ) {
            let words = format!("memory allocation of {size} bytes failed");
            let tail = [&before, words.as_bytes(), &after].concat();
            prop_assert_eq!(memory_marker(&tail), Some(size));
        }
    }
}
