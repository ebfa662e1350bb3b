//! The boxes around a JPEG XL codestream (ISO/IEC 18181-2): the picture's pieces go to the decoder, EXIF and XMP are taken out
//! here, also where they are compressed, with a bound on what they may become.

use super::corrupt;
use crate::Error;
use std::io::Read;

/// The box that every container begins with.
const SIGNATURE: &[u8] = b"\0\0\0\x0cJXL \r\n\x87\n";
/// Most bytes that metadata may unpack to.
const MOST: u64 = 16 << 20;

/// A file taken apart.
#[derive(Debug)]
pub(super) struct Container<'a> {
    /// Every box with its head, or the whole file where there are no boxes.
    pieces: Vec<&'a [u8]>,
    /// Metadata: kind, whether it is compressed, content.
    told: Vec<([u8; 4], bool, &'a [u8])>,
}

impl<'a> Container<'a> {
    /// Takes `file` apart.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub(super) fn read(file: &'a [u8]) -> Result<Self, Error> {
        let (mut pieces, mut told) = (Vec::new(), Vec::new());
        if !file.starts_with(SIGNATURE) {
            pieces.push(file);
            return Ok(Self { pieces, told });
        }
        let mut rest = file;
        while let Some((name, head, length)) = next(rest) {
            let (whole, behind) = rest
                .split_at_checked(length)
                .ok_or_else(|| corrupt("a box is cut off"))?;
            let content = &whole[head..];
            match (&name, content.split_first_chunk::<4>()) {
                (b"Exif" | b"xml ", _) => told.push((name, false, content)),
                (b"brob", Some((kind, packed))) => told.push((*kind, true, packed)),
                // How the JPEG it once was would come back; nobody asks for that here.
                (b"brob" | b"jbrd", _) => {}
                _ => pieces.push(whole),
            }
            rest = behind;
        }
        Ok(Self { pieces, told })
    }

    /// What the decoder is to see.
    pub(super) fn picture(&self) -> impl Iterator<Item = &'a [u8]> {
        self.pieces.iter().copied()
    }

    /// EXIF as a TIFF structure.
    ///
    /// # Errors
    /// [`Error::Corrupt`] where it cannot be unpacked or would become too large.
    pub(super) fn exif(&self) -> Result<Option<Vec<u8>>, Error> {
        let Some(bytes) = self.find(b"Exif")? else {
            return Ok(None);
        };
        // Before it stands where its TIFF header begins.
        let Some((offset, rest)) = bytes.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let offset = u32::from_be_bytes(*offset) as usize;
        Ok(rest.get(offset..).map(<[u8]>::to_vec))
    }

    /// The XMP packet.
    ///
    /// # Errors
    /// [`Error::Corrupt`] where it cannot be unpacked or would become too large.
    pub(super) fn xmp(&self) -> Result<Option<Vec<u8>>, Error> {
        self.find(b"xml ")
    }

    fn find(&self, kind: &[u8; 4]) -> Result<Option<Vec<u8>>, Error> {
        let found = self.told.iter().find(|(name, ..)| name == kind);
        match found {
            None => Ok(None),
            Some((_, false, content)) => Ok(Some(content.to_vec())),
            Some((_, true, packed)) => unpack(packed).map(Some),
        }
    }
}

/// Name, bytes of the head and of all of the first box.
fn next(bytes: &[u8]) -> Option<([u8; 4], usize, usize)> {
    let (size, rest) = bytes.split_first_chunk::<4>()?;
    let (name, rest) = rest.split_first_chunk::<4>()?;
    let (head, length) = match u32::from_be_bytes(*size) {
        // To the end.
        0 => (8, bytes.len()),
        1 => {
            let (large, _) = rest.split_first_chunk::<8>()?;
            let large = usize::try_from(u64::from_be_bytes(*large)).unwrap_or(usize::MAX);
            (16, large)
        }
        size => (8, size as usize),
    };
    (length >= head).then_some((*name, head, length))
}

/// Brotli.
fn unpack(packed: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    let wrong = || corrupt("its compressed metadata makes no sense or is more than 16 MiB");
    brotli_decompressor::Decompressor::new(packed, 4096)
        .take(MOST + 1)
        .read_to_end(&mut out)
        .map_err(|_| wrong())?;
    if out.len() as u64 > MOST {
        return Err(wrong());
    }
    Ok(out)
}
