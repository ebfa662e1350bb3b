//! The index of pictures that follow the first one in a JPEG file (CIPA DC-007, "MPF"): sizes and offsets that change when the
//! first picture changes its size.

use super::Damaged;
use super::tiff::Tiff;

/// What an MPF segment begins with, in APP2.
pub(crate) const SIGNATURE: &[u8] = b"MPF\0";
/// The list of pictures.
const ENTRIES: u16 = 0xb002;
/// Bytes of one picture in the list.
const ENTRY: usize = 16;

/// Where the first picture ended and the index stood, before or after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Offset behind the first picture's end marker.
    pub(crate) end: u64,
    /// Offset of the index's byte order mark, from which its offsets count.
    pub(crate) index: u64,
}

/// Writes the new size of the first picture and the new offsets of the others into an index, given without its signature.
/// The pictures behind the first keep their distance from its end.
///
/// # Errors
/// [`None`] where the index is damaged or a number does not fit.
pub(crate) fn relocate(index: &mut [u8], before: Place, after: Place) -> Option<()> {
    try_relocate(index, before, after).ok()
}

fn try_relocate(index: &mut [u8], before: Place, after: Place) -> Result<(), Damaged> {
    let mut tiff = Tiff::new(index)?;
    let first = tiff.u32(4)? as usize;
    let list = tiff.find(first, ENTRIES)?.ok_or(Damaged)?;
    let range = tiff.data(&list)?;
    for (n, at) in range.step_by(ENTRY).enumerate() {
        if n == 0 {
            tiff.u32(at + 4)?;
            tiff.put_u32(at + 4, u32::try_from(after.end).map_err(|_| Damaged)?);
            continue;
        }
        let offset = u64::from(tiff.u32(at + 8)?);
        // An offset of nothing marks a picture that is not there.
        if offset == 0 {
            continue;
        }
        let behind = (before.index + offset)
            .checked_sub(before.end)
            .ok_or(Damaged)?;
        let moved = (after.end + behind)
            .checked_sub(after.index)
            .ok_or(Damaged)?;
        tiff.put_u32(at + 8, u32::try_from(moved).map_err(|_| Damaged)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_offsets_follow_the_first_picture() {
        let mut index = b"II*\0\x08\0\0\0\x01\0\x02\xb0\x07\0\x20\0\0\0\x1a\0\0\0\0\0\0\0".to_vec();
        for value in [0u32, 1000, 0, 0, 0, 500, 900, 0] {
            index.extend_from_slice(&value.to_le_bytes());
        }
        let before = Place {
            end: 1000,
            index: 100,
        };
        let after = Place {
            end: 700,
            index: 90,
        };
        assert_eq!(relocate(&mut index, before, after), Some(()));
        let number =
            |at: usize| u32::from_le_bytes(index[at..at + 4].try_into().expect("four bytes"));
        assert_eq!(
            (number(26 + 4), number(26 + 16 + 4), number(26 + 16 + 8)),
            (700, 500, 610)
        );
        assert_eq!(relocate(&mut index[..30].to_vec(), before, after), None);
    }
}
