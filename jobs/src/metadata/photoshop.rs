//! Photoshop's image resources (APP13): a list of numbered blocks, of which IPTC is one.

use super::Damaged;
use std::ops::Range;

/// What an APP13 segment begins with.
pub(super) const SIGNATURE: &[u8] = b"Photoshop 3.0\0";

/// IPTC and its digest.
pub(super) const IPTC: [u16; 2] = [0x0404, 0x0425];
/// Thumbnails, old and new.
pub(super) const THUMBNAILS: [u16; 2] = [0x0409, 0x040c];
/// EXIF, twice.
pub(super) const EXIF: [u16; 2] = [0x0422, 0x0423];
/// XMP.
pub(super) const XMP: [u16; 1] = [0x0424];

/// The resources but those with the numbers in `unwanted`; says whether any went.
pub(super) fn without(resources: &[u8], unwanted: &[u16]) -> Result<(Vec<u8>, bool), Damaged> {
    let mut kept = Vec::with_capacity(resources.len());
    let mut at = 0;
    while at < resources.len() {
        let (number, range) = block(resources, at)?;
        if !unwanted.contains(&number) {
            kept.extend_from_slice(&resources[range.clone()]);
        }
        at = range.end;
    }
    let changed = kept.len() != resources.len();
    Ok((kept, changed))
}

/// Whether a segment's payload holds IPTC.
pub(super) fn has_iptc(payload: &[u8]) -> bool {
    let resources = payload.get(SIGNATURE.len()..).unwrap_or_default();
    without(resources, &IPTC).is_ok_and(|(_, found)| found)
}

/// Number and extent of the block that begins at `at`: four letters, number, padded name, length, padded data.
fn block(resources: &[u8], at: usize) -> Result<(u16, Range<usize>), Damaged> {
    let rest = &resources[at..];
    let letters = rest.get(..4).ok_or(Damaged)?;
    if !matches!(
        letters,
        b"8BIM" | b"8B64" | b"AgHg" | b"DCSR" | b"MeSa" | b"PHUT"
    ) {
        return Err(Damaged);
    }
    let &[high, low, name, ..] = rest.get(4..).ok_or(Damaged)? else {
        return Err(Damaged);
    };
    let length_at = 6 + (usize::from(name) + 1).next_multiple_of(2);
    let &[a, b, c, d] = rest.get(length_at..length_at + 4).ok_or(Damaged)? else {
        return Err(Damaged);
    };
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    let end = length_at.checked_add(4 + length).ok_or(Damaged)?;
    if end > rest.len() {
        return Err(Damaged);
    }
    // The last block may lack its padding.
    let padded = end.next_multiple_of(2).min(rest.len());
    Ok((u16::from_be_bytes([high, low]), at..at + padded))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(number: u16, data: &[u8]) -> Vec<u8> {
        let mut out = [b"8BIM", number.to_be_bytes().as_slice(), &[0, 0]].concat();
        out.extend_from_slice(&(data.len() as u32).to_be_bytes());
        out.extend_from_slice(data);
        out.resize(out.len().next_multiple_of(2), 0);
        out
    }

    #[test]
    fn one_kind_goes_and_the_others_stay() {
        let (iptc, path) = (
            resource(0x0404, b"odd"),
            resource(0x07d0, b"a clipping path"),
        );
        let all = [iptc.clone(), path.clone(), iptc].concat();
        assert_eq!(without(&all, &IPTC), Ok((path.clone(), true)));
        assert_eq!(without(&path, &IPTC), Ok((path, false)));
        assert_eq!(without(b"8BIM\x04\x04", &IPTC), Err(Damaged));
    }
}
