//! Opens the file that records go to. Never waits: not for somebody who opens the other end of a pipe, nor later for somebody
//! who reads from it.

use super::lane::Outlet;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Where records go.
pub(super) enum Opened {
    /// A file, which takes what it is given.
    File(File),
    /// A pipe or a device, behind a queue.
    Pipe(Outlet),
}

/// Makes or empties the file, or opens what stands there.
///
/// # Errors
/// What opening reports; a pipe that nobody reads is named as such.
pub(super) fn open(path: &Path) -> io::Result<Opened> {
    let opened = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .custom_flags(i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0))
        .open(path);
    let file = match opened {
        Err(error) if Errno::from_io_error(&error) == Some(Errno::NXIO) => {
            return Err(io::Error::other(
                "it is a pipe that nobody reads; start its reader first",
            ));
        }
        other => other?,
    };
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    if file.metadata()?.is_file() {
        Ok(Opened::File(file))
    } else {
        Ok(Opened::Pipe(Outlet::other(file)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn a_pipe_is_never_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
        rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).unwrap();
        let error = open(&path).err().unwrap().to_string();
        assert!(error.contains("nobody reads"), "{error}");
        let mut reader = OpenOptions::new()
            .read(true)
            .custom_flags(i32::try_from(OFlags::NONBLOCK.bits()).unwrap())
            .open(&path)
            .unwrap();
        let Ok(Opened::Pipe(mut outlet)) = open(&path) else {
            panic!("a pipe");
        };
        // Far more than a pipe holds: who writes does not notice that nobody reads yet.
        let sent = vec![b'x'; 1 << 20];
        outlet.write_all(&sent).unwrap();
        let mut got = 0;
        while got < sent.len() {
            let mut some = [0; 4096];
            match reader.read(&mut some) {
                Ok(count) => got += count,
                Err(_) => std::thread::yield_now(),
            }
        }
        outlet.drain().unwrap();
    }
}
