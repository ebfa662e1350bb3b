//! Which changes of colour type the other chunks allow, and profiles that do not fit.

use super::chunk::{Chunk, Name};
use super::scan::Layout;
use crate::door::Note;
use std::io::Read;

/// Chunks written in terms of the colour type: background, significant bits, frequencies of the palette.
const BOUND: [&Name; 3] = [b"bKGD", b"sBIT", b"hIST"];

/// What may be changed about the way pixels are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Allowed {
    /// Palette, depth and alpha channel.
    pub(super) reductions: bool,
    /// From colour to gray and back.
    pub(super) gray: bool,
}

/// Reads what may be changed from the chunks that would not fit afterwards.
///
/// A profile is made for gray or for colour, and
/// decoders treat `gAMA`, `cHRM` and `cICP` on gray pictures differently; only a plain `sRGB` means the same for both.
pub(super) fn allowed(layout: &Layout) -> Allowed {
    let bound = BOUND.iter().any(|name| layout.has(name));
    let toned = [b"iCCP", b"gAMA", b"cHRM", b"cICP", b"mDCV", b"cLLI"]
        .iter()
        .any(|name| layout.has(name));
    Allowed {
        reductions: !bound,
        gray: !bound && !toned,
    }
}

/// Drops the chunks that say something about the old colour type, for pictures whose pixels change anyway.
pub(super) fn drop_bound(layout: &mut Layout) {
    layout.others.retain(|chunk| !BOUND.contains(&&chunk.name));
}

/// Drops a profile for another kind of pixels (RGB on a gray picture or the reverse), which decoders must ignore
/// anyway, with a note. A profile that cannot be read is kept as it is.
pub(super) fn drop_misfit(layout: &mut Layout) {
    let gray = layout.header.colour.is_gray();
    let misfit = |chunk: &Chunk| {
        let space = profile_space(chunk);
        space
            .is_some_and(|space| (&space == b"GRAY") != gray && matches!(&space, b"GRAY" | b"RGB "))
    };
    if layout.others.iter().any(misfit) {
        layout.others.retain(|chunk| !misfit(chunk));
        let (profile, pixels) = if gray {
            ("colour", "gray")
        } else {
            ("gray", "colour")
        };
        let what = format!("a {profile} profile that does not fit the picture's {pixels} pixels");
        layout.notes.push(Note::Dropped(what));
    }
}

/// The colour space an `iCCP` chunk's profile is made for (ICC.1, header bytes 16 to 19).
fn profile_space(chunk: &Chunk) -> Option<[u8; 4]> {
    if &chunk.name != b"iCCP" {
        return None;
    }
    let end_of_name = chunk.payload.iter().position(|&byte| byte == 0)?;
    let compressed = chunk.payload.get(end_of_name + 2..)?;
    let mut header = [0; 20];
    flate2::read::ZlibDecoder::new(compressed)
        .read_exact(&mut header)
        .ok()?;
    let [.., a, b, c, d] = header;
    Some([a, b, c, d])
}
