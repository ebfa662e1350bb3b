//! The receiving end of a payload: reads every byte once and answers. Leaves when its socket closes.

use crate::messages::{Parcel, Way};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;

/// Bytes read at once, as the image work reads its input.
const PIECE: usize = 64 << 10;

/// Longest note; a path has at most 4,096 bytes.
const NOTE: usize = 16 << 10;

/// Says what is to come.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Note {
    pub(super) parcel: Parcel,
    pub(super) path: PathBuf,
}

impl Note {
    /// As it is sent.
    pub(super) fn frame(&self) -> io::Result<Vec<u8>> {
        serde_json::to_vec(self).map_err(io::Error::other)
    }
}

/// Receives payloads until the other end is gone.
pub(super) fn run() -> ExitCode {
    match receive_all() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn receive_all() -> io::Result<()> {
    // The socket was given as standard output.
    let socket = rustix::stdio::stdout().try_clone_to_owned()?;
    let mut socket = UnixStream::from(socket);
    let mut pipe = File::from(rustix::stdio::stdin().try_clone_to_owned()?);
    let mut piece = vec![0; PIECE];
    while let Some((note, handle)) = next(&socket)? {
        let Parcel { way, bytes } = note.parcel;
        match (way, handle) {
            (Way::Path, _) => read_at(&File::open(&note.path)?, bytes, &mut piece)?,
            (Way::Pipe, _) => drain(&mut pipe, bytes, &mut piece)?,
            (Way::Handle, Some(handle)) => read_at(&File::from(handle), bytes, &mut piece)?,
            (Way::Handle, None) => return Err(io::ErrorKind::InvalidData.into()),
        }
        socket.write_all(&[1])?;
    }
    Ok(())
}

/// The next note and the handle that came with it; `None` at the end.
fn next(socket: &UnixStream) -> io::Result<Option<(Note, Option<OwnedFd>)>> {
    let mut text = [0; NOTE];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut extra = RecvAncillaryBuffer::new(&mut space);
    let mut buffers = [IoSliceMut::new(&mut text)];
    let received = recvmsg(socket, &mut buffers, &mut extra, RecvFlags::CMSG_CLOEXEC)?;
    if received.bytes == 0 {
        return Ok(None);
    }
    let mut handle = None;
    for message in extra.drain() {
        if let RecvAncillaryMessage::ScmRights(mut handles) = message {
            handle = handles.next();
        }
    }
    // Each note is answered before the next is sent, so one call brings exactly one.
    let note = serde_json::from_slice(&text[..received.bytes]).map_err(io::Error::other)?;
    Ok(Some((note, handle)))
}

fn read_at(file: &File, bytes: u64, piece: &mut [u8]) -> io::Result<()> {
    let mut offset = 0;
    while offset < bytes {
        match file.read_at(piece, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => offset += count as u64,
        }
    }
    Ok(())
}

fn drain(pipe: &mut File, bytes: u64, piece: &mut [u8]) -> io::Result<()> {
    let mut left = bytes;
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
        match pipe.read(&mut piece[..most])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => left -= count as u64,
        }
    }
    Ok(())
}
