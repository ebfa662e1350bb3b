//! XMP in a GIF: an application extension that holds the packet as it is, followed by bytes that lead readers out of it.

use super::segments::xmp_properties;
use super::{Damaged, Report, xmp};
use crate::Strip;
use crate::door::Note;

/// Introducer, label, length and name of the extension.
const HEAD: usize = 14;
/// Bytes behind the packet: 1, 255 down to 0, and the terminator.
const TRAILER: usize = 258;

/// An XMP extension without the properties that were to go; `None` where there were none.
///
/// # Errors
/// A note where the packet is damaged and has to go whole.
pub(crate) fn gif_text(extension: &[u8], strip: &Strip) -> Result<Option<Vec<u8>>, Note> {
    let mut edited = extension.to_vec();
    let end = edited.len().saturating_sub(TRAILER);
    let mut changed = false;
    for property in xmp_properties(strip) {
        let packet = edited.get_mut(HEAD..end).ok_or(Damaged);
        match packet.and_then(|packet| xmp::blank(packet, property)) {
            Ok(blanked) => changed |= blanked,
            Err(Damaged) => {
                let mut report = Report::default();
                report.drop_damaged("XMP");
                return Err(report.notes.remove(0));
            }
        }
    }
    Ok(changed.then_some(edited))
}
