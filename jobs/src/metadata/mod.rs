//! Metadata by kind, the same kinds in every format: what each piece is, and how to take one kind out and leave the rest
//! as it was, byte for byte.
//!
//! Works on the payloads of segments and chunks; nothing here reads a file or knows a pixel. Edits are made in place, so
//! that offsets in maker notes and extended XMP stay right: what goes is cut out of its directory and blanked. A block that is
//! too damaged to be edited is removed whole when something that must not stay may be in it; metadata never fails a picture.

mod carried;
mod exif;
mod gif;
pub(crate) mod mpf;
mod photoshop;
mod png;
mod riff;
mod segments;
mod tiff;
mod xmp;

#[cfg(any(feature = "avif", feature = "jxl"))]
pub(crate) use carried::say_upright;
pub(crate) use carried::{
    Changed, carried_segments, chunks_of, density_of_segments, segments_of, strip_carried, taken,
    without_profile,
};
pub(crate) use gif::gif_text;
pub(crate) use png::XMP as XMP_KEYWORD;
pub(crate) use png::{carried_chunks, orientation_of_chunks, strip_chunks};
pub(crate) use riff::{carried_pieces, orientation_of_pieces, resized_pieces, strip_pieces};
pub(crate) use segments::{orientation_of_segments, profile_note, strip_segments};

use crate::door::Note;

/// What stripping did.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Report {
    /// Whether anything was removed.
    pub(crate) changed: bool,
    /// What the user should know: damaged blocks that went whole, profiles that had to stay.
    pub(crate) notes: Vec<Note>,
}

impl Report {
    fn drop_damaged(&mut self, what: &str) {
        self.changed = true;
        let text =
            format!("damaged {what}, which could not be searched for what was to be removed");
        Note::Dropped(text).add_to(&mut self.notes);
    }
}

/// The block cannot be edited: it is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Damaged;
