//! Sends payloads of several sizes to another process in three ways and measures how long that takes.
//!
//! By path: the name of a file whose bytes are in the page cache. Through a pipe: the bytes. By handle: the descriptor of
//! memory that holds the bytes (memfd), carried by a socket. In each case the receiver reads every byte once, in pieces of
//! 64 KiB, and then answers. The shared memory is read and written with calls instead of being mapped, because mapping
//! takes `unsafe`; handing it over costs the same.

use super::lifeline::Lifeline;
use super::peer::Note;
use super::{CHILD_ARGUMENT, ChildError, PEER, system};
use crate::messages::{Answer, Delivery, Parcel, Way};
use crate::nursery::own_executable;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::fs::File;
use std::io::{self, IoSlice, PipeWriter, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Sends them all, in order.
pub(super) fn run(
    parcels: &[Parcel],
    folder: &Path,
    lifeline: &mut Lifeline,
) -> Result<Answer, ChildError> {
    std::fs::create_dir_all(folder).map_err(system("cannot make a folder"))?;
    let mut sender = Sender::start(folder).map_err(system("cannot start the receiver"))?;
    let biggest = parcels.iter().map(|parcel| parcel.bytes).max().unwrap_or(0);
    // Not zeros: pages never written to would cost the sender when it first reads them.
    let payload = vec![0xa5; usize::try_from(biggest).unwrap_or(0)];
    lifeline.ready();
    let began = Instant::now();
    let deliveries: Result<Vec<Delivery>, io::Error> = parcels
        .iter()
        .map(|parcel| sender.deliver(*parcel, &payload[..parcel.bytes as usize]))
        .collect();
    let deliveries = deliveries.map_err(system("a payload did not arrive"))?;
    sender.end();
    Ok(Answer {
        wall_us: super::meter::micros(began.elapsed()),
        deliveries,
        ..Answer::default()
    })
}

/// The sending end.
struct Sender {
    peer: Child,
    pipe: PipeWriter,
    socket: UnixStream,
    file: PathBuf,
}

impl Sender {
    fn start(folder: &Path) -> io::Result<Self> {
        let (reader, pipe) = io::pipe()?;
        let (socket, other) = UnixStream::pair()?;
        let peer = Command::new(own_executable())
            .args([CHILD_ARGUMENT, PEER])
            .stdin(OwnedFd::from(reader))
            .stdout(OwnedFd::from(other))
            .stderr(Stdio::inherit())
            .spawn()?;
        Ok(Self {
            peer,
            pipe,
            socket,
            file: folder.join("payload"),
        })
    }

    fn deliver(&mut self, parcel: Parcel, payload: &[u8]) -> io::Result<Delivery> {
        let note = Note {
            parcel,
            path: self.file.clone(),
        };
        let times = match parcel.way {
            Way::Path => self.by_path(&note, payload),
            Way::Pipe => self.by_pipe(&note, payload),
            Way::Handle => self.by_handle(&note, payload),
        }?;
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        Ok(Delivery {
            parcel,
            fill_us: micros(times.fill),
            blocked_us: micros(times.blocked),
            round_trip_us: micros(times.round_trip),
        })
    }

    fn by_path(&mut self, note: &Note, payload: &[u8]) -> io::Result<Times> {
        std::fs::write(&self.file, payload)?;
        let began = Instant::now();
        self.tell(note, None)?;
        let blocked = began.elapsed();
        let times = self.answered(began, blocked, Duration::ZERO)?;
        std::fs::remove_file(&self.file)?;
        Ok(times)
    }

    fn by_pipe(&mut self, note: &Note, payload: &[u8]) -> io::Result<Times> {
        let began = Instant::now();
        self.tell(note, None)?;
        self.pipe.write_all(payload)?;
        let blocked = began.elapsed();
        self.answered(began, blocked, Duration::ZERO)
    }

    fn by_handle(&mut self, note: &Note, payload: &[u8]) -> io::Result<Times> {
        let filling = Instant::now();
        let memory = File::from(memfd_create("payload", MemfdFlags::CLOEXEC)?);
        memory.write_all_at(payload, 0)?;
        let fill = filling.elapsed();
        let began = Instant::now();
        self.tell(note, Some(memory.as_fd()))?;
        let blocked = began.elapsed();
        self.answered(began, blocked, fill)
    }

    /// Sends what is to come, and a handle with it.
    fn tell(&mut self, note: &Note, handle: Option<BorrowedFd<'_>>) -> io::Result<()> {
        let text = note.frame()?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut extra = SendAncillaryBuffer::new(&mut space);
        let handles: Vec<BorrowedFd<'_>> = handle.into_iter().collect();
        if !handles.is_empty() && !extra.push(SendAncillaryMessage::ScmRights(&handles)) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let sent = sendmsg(
            &self.socket,
            &[IoSlice::new(&text)],
            &mut extra,
            SendFlags::empty(),
        )?;
        // A note is far smaller than the socket's buffer, which is empty: all goes at once.
        if sent == text.len() {
            Ok(())
        } else {
            Err(io::ErrorKind::WriteZero.into())
        }
    }

    fn answered(&mut self, began: Instant, blocked: Duration, fill: Duration) -> io::Result<Times> {
        let mut answer = [0];
        self.socket.read_exact(&mut answer)?;
        Ok(Times {
            fill,
            blocked,
            round_trip: began.elapsed(),
        })
    }

    fn end(self) {
        drop((self.pipe, self.socket));
        let mut peer = self.peer;
        let _ = peer.wait();
    }
}

struct Times {
    fill: Duration,
    blocked: Duration,
    round_trip: Duration,
}
