//! Whether a file that is not called like a picture is one: told by its first bytes. Reads them and nothing else.
//!
//! What the worker makes of the file is decided by the worker, which looks harder; here only patterns count that no other
//! kind of file begins with, so that a text is never taken for a picture.

use rustix::fs::{CWD, Mode, OFlags, openat};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Bytes that tell all of them apart.
const ENOUGH: u64 = 32;

/// Whether `path` begins like a picture. Never waits: what became a pipe meanwhile is not waited for, nor a link followed.
///
/// # Errors
/// What opening or reading reports.
pub(super) fn is_picture(path: &Path) -> io::Result<bool> {
    begins(path, begins_like_a_picture)
}

/// Whether `path` begins like a picture of a format that is only recognised, never converted; what may be one or another is not.
///
/// # Errors
/// Those of [`is_picture`].
pub(super) fn is_foreign(path: &Path) -> io::Result<bool> {
    begins(path, begins_like_a_foreign_one)
}

fn begins(path: &Path, like: impl Fn(&[u8]) -> bool) -> io::Result<bool> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(CWD, path, flags, Mode::empty())?);
    let mut head = Vec::with_capacity(ENOUGH as usize);
    match file.take(ENOUGH).read_to_end(&mut head) {
        Ok(_) => Ok(like(&head)),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}

/// Signatures as the formats' own specifications give them.
fn begins_like_a_picture(head: &[u8]) -> bool {
    const STARTS: [&[u8]; 14] = [
        b"\xff\xd8\xff",
        b"\x89PNG\r\n\x1a\n",
        b"GIF87a",
        b"GIF89a",
        b"II*\0",
        b"MM\0*",
        b"qoif",
        b"8BPS\0",
        b"\0\0\0\x0cJXL \r\n\x87\n",
        b"\0\0\0\x0cjP  \r\n\x87\n",
        b"\xff\x4f\xff\x51",
        b"FUJIFILMCCD-RAW",
        b"IIRO",
        b"IIU\0",
    ];
    let at = |offset: usize, bytes: &[u8]| {
        head.get(offset..)
            .is_some_and(|rest| rest.starts_with(bytes))
    };
    STARTS.iter().any(|start| head.starts_with(start))
        || (head.starts_with(b"RIFF") && at(8, b"WEBP"))
        || (at(4, b"ftyp") && is_brand(head.get(8..12).unwrap_or_default()))
        || is_bmp(head)
}

/// HEIC, JPEG 2000, Photoshop, icons, and the raw files that are not built like a TIFF.
fn begins_like_a_foreign_one(head: &[u8]) -> bool {
    const STARTS: [&[u8]; 8] = [
        b"8BPS\0",
        b"\0\0\0\x0cjP  \r\n\x87\n",
        b"\xff\x4f\xff\x51",
        b"FUJIFILMCCD-RAW",
        b"IIRO",
        b"IIU\0",
        b"\0\0\x01\0",
        b"\0\0\x02\0",
    ];
    const BRANDS: [&[u8]; 7] = [
        b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"crx ",
    ];
    let brand = head.get(8..12).unwrap_or_default();
    let boxes = head.get(4..8) == Some(b"ftyp");
    STARTS.iter().any(|start| head.starts_with(start)) || (boxes && BRANDS.contains(&brand))
}

/// The brands of AVIF, HEIF and Canon's CR3 among all files made of boxes, which films are as well.
fn is_brand(brand: &[u8]) -> bool {
    const BRANDS: [&[u8]; 11] = [
        b"avif", b"avis", b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1",
        b"crx ",
    ];
    BRANDS.contains(&brand)
}

/// "BM" alone begins many a text: the four reserved bytes are zero, and the second header has a size that exists.
fn is_bmp(head: &[u8]) -> bool {
    let sizes: [u8; 7] = [12, 40, 52, 56, 64, 108, 124];
    head.starts_with(b"BM")
        && head.get(6..10) == Some(&[0; 4])
        && head
            .get(14..18)
            .is_some_and(|size| sizes.contains(&size[0]) && size[1..] == [0; 3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_known_by_their_first_bytes_and_other_files_are_not() {
        for picture in [
            &b"\xff\xd8\xff\xe0\0\x10JFIF"[..],
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
            b"RIFF\x24\0\0\0WEBPVP8 ",
            b"\0\0\0\x18ftypheic\0\0\0\0",
            b"BM\x36\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0",
        ] {
            assert!(begins_like_a_picture(picture), "{picture:?}");
        }
        for other in [
            &b""[..],
            b"\xff\xd8",
            b"P5 is a kind of file",
            b"BMW is a kind of car, and not a small one",
            b"RIFF\x24\0\0\0WAVEfmt ",
            b"\0\0\0\x18ftypisom\0\0\0\0",
            b"\0\0\0\0\0\0\0\0",
            b"II. On pictures",
        ] {
            assert!(!begins_like_a_picture(other), "{other:?}");
        }
    }

    #[test]
    fn what_no_build_converts_is_told_from_what_some_may() {
        for foreign in [
            &b"\0\0\0\x18ftypheic\0\0\0\0"[..],
            b"\0\0\0\x18ftypcrx \0\0\0\0",
            b"8BPS\0\x01",
            b"\0\0\x01\0\x01\0",
        ] {
            assert!(begins_like_a_foreign_one(foreign), "{foreign:?}");
        }
        for other in [
            &b"\xff\xd8\xff\xe0\0\x10JFIF"[..],
            b"\0\0\0\x18ftypavif\0\0\0\0",
            b"\0\0\0\x18ftypmif1\0\0\0\0",
            b"II*\0\x08\0\0\0",
            b"",
        ] {
            assert!(!begins_like_a_foreign_one(other), "{other:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_an_error_and_a_pipe_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        assert!(is_picture(&folder.path().join("none")).is_err());
        let pipe = folder.path().join("pipe");
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(CWD, &pipe, kind, Mode::RUSR, 0).unwrap();
        assert!(!is_picture(&pipe).unwrap());
    }
}
