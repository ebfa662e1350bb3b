//! What a failed file-system call means for the image, in words with a way out.

use pressroom_shared::{Failed, FailureKind};
use rustix::io::Errno;
use std::io;
use std::path::Path;

/// The failure of `doing` on `path`, e.g. "rename the result to".
pub(crate) fn failed(doing: &str, path: &Path, error: &io::Error) -> Failed {
    let errno = Errno::from_io_error(error);
    let (kind, advice) = match errno {
        Some(Errno::NOSPC) => (
            FailureKind::DiskFull,
            "free some space (or inodes) and run again; what is done stays done",
        ),
        Some(Errno::DQUOT) => (
            FailureKind::DiskFull,
            "your disk quota is used up; free some space and run again",
        ),
        Some(Errno::NAMETOOLONG) => (
            FailureKind::NameTooLong,
            "use a shorter output folder or rename the input",
        ),
        Some(Errno::NOTDIR) => (
            FailureKind::OutputExists,
            "a file stands where a folder is needed; move it away and run again",
        ),
        Some(Errno::ISDIR | Errno::NOTEMPTY | Errno::EXIST | Errno::LOOP) => (
            FailureKind::OutputExists,
            "something else stands there; move it away and run again",
        ),
        Some(Errno::ACCESS | Errno::PERM) => {
            (FailureKind::Io, "check who may write there and run again")
        }
        Some(Errno::ROFS) => (
            FailureKind::Io,
            "the file system is read-only; choose another output folder or mount it writable",
        ),
        Some(Errno::MFILE | Errno::NFILE) => (
            FailureKind::Io,
            "too many files are open; raise the limit (ulimit -n) and run again",
        ),
        Some(Errno::FBIG) => (
            FailureKind::Io,
            "the file may not become that large here; raise the limit (ulimit -f) and run again",
        ),
        Some(Errno::IO) => (
            FailureKind::Io,
            "the disk reported an error; look at the system's log before you run again",
        ),
        Some(_) | None => (FailureKind::Io, "run again"),
    };
    Failed {
        kind,
        message: format!(
            "could not {doing} {}: {}; {advice}",
            path.display(),
            plain(error)
        ),
    }
}

/// The system's words without Rust's "(os error N)".
pub(crate) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// Calls again while the call says that a signal came in between.
pub(crate) fn again<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Whether a call failed in this way.
pub(crate) fn is(error: &io::Error, errno: Errno) -> bool {
    Errno::from_io_error(error) == Some(errno)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_kind_operation_path_and_way_out() {
        let full = failed("write", Path::new("out/a.jpg"), &Errno::NOSPC.into());
        assert_eq!(full.kind, FailureKind::DiskFull);
        insta::assert_snapshot!(full.message, @"could not write out/a.jpg: No space left on device; free some space (or inodes) and run again; what is done stays done");
        let long = failed(
            "rename the result to",
            Path::new("out/a.jpg"),
            &Errno::NAMETOOLONG.into(),
        );
        assert_eq!(long.kind, FailureKind::NameTooLong);
    }

    #[test]
    fn an_interrupted_call_is_made_again() {
        let mut left = 3;
        let answer = again(|| {
            left -= 1;
            if left > 0 {
                Err(Errno::INTR.into())
            } else {
                Ok(left)
            }
        });
        assert_eq!(answer.unwrap(), 0);
    }
}
