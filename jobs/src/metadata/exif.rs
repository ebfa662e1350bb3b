//! An EXIF block (CIPA DC-008): a TIFF structure with a known set of directories.

use super::Damaged;
use super::tiff::Tiff;

mod tag {
    pub(super) const ORIENTATION: u16 = 0x0112;
    pub(super) const STRIP_OFFSETS: u16 = 0x0111;
    pub(super) const STRIP_BYTES: u16 = 0x0117;
    pub(super) const JPEG_OFFSET: u16 = 0x0201;
    pub(super) const JPEG_BYTES: u16 = 0x0202;
    pub(super) const EXIF: u16 = 0x8769;
    pub(super) const COLOUR_SPACE: u16 = 0xa001;
    pub(super) const PIXEL_WIDTH: u16 = 0xa002;
    pub(super) const PIXEL_HEIGHT: u16 = 0xa003;
    pub(super) const GPS: u16 = 0x8825;
}

/// The orientation, 1 to 8, where the block has one.
pub(super) fn orientation(block: &[u8]) -> Option<u16> {
    let mut copy = block.to_vec();
    let tiff = Tiff::new(&mut copy).ok()?;
    let first = tiff.u32(4).ok()? as usize;
    let entry = tiff.find(first, tag::ORIENTATION).ok()??;
    let value = tiff.number(&entry).ok()?;
    (1..=8).contains(&value).then_some(value as u16)
}

/// Makes the block say that the picture is upright.
pub(super) fn set_upright(block: &mut [u8]) -> Result<(), Damaged> {
    let mut tiff = Tiff::new(block)?;
    for directory in tiff.chain()? {
        if let Some(entry) = tiff.find(directory, tag::ORIENTATION)? {
            tiff.put_number(&entry, 1)?;
        }
    }
    Ok(())
}

/// Makes the block say that colours are sRGB, where it speaks of colours.
pub(super) fn set_srgb(block: &mut [u8]) -> Result<(), Damaged> {
    let mut tiff = Tiff::new(block)?;
    let first = tiff.u32(4)? as usize;
    let Some(link) = tiff.find(first, tag::EXIF)? else {
        return Ok(());
    };
    let directory = tiff.number(&link)? as usize;
    if let Some(entry) = tiff.find(directory, tag::COLOUR_SPACE)? {
        tiff.put_number(&entry, 1)?;
    }
    Ok(())
}

/// A block that says nothing but the orientation.
pub(super) fn only_orientation(orientation: u16) -> Vec<u8> {
    let mut block = b"II*\0\x08\0\0\0\x01\0".to_vec();
    block.extend_from_slice(&tag::ORIENTATION.to_le_bytes());
    block.extend_from_slice(&[3, 0, 1, 0, 0, 0]);
    block.extend_from_slice(&orientation.to_le_bytes());
    block.extend_from_slice(&[0; 6]);
    block
}

/// Writes the picture's size where the block has one.
pub(super) fn set_size(block: &mut [u8], (width, height): (u32, u32)) -> Result<(), Damaged> {
    let mut tiff = Tiff::new(block)?;
    let first = tiff.u32(4)? as usize;
    let Some(link) = tiff.find(first, tag::EXIF)? else {
        return Ok(());
    };
    let directory = tiff.number(&link)? as usize;
    for (tag, value) in [(tag::PIXEL_WIDTH, width), (tag::PIXEL_HEIGHT, height)] {
        if let Some(entry) = tiff.find(directory, tag)? {
            tiff.put_number(&entry, value)?;
        }
    }
    Ok(())
}

/// Removes the position: every directory of the chain and the EXIF directory lose their link to a GPS directory, and what
/// it held is blanked. Says whether there was one.
pub(super) fn remove_position(block: &mut [u8]) -> Result<bool, Damaged> {
    let mut tiff = Tiff::new(block)?;
    let mut directories = tiff.chain()?;
    for directory in directories.clone() {
        if let Some(entry) = tiff.find(directory, tag::EXIF)? {
            directories.push(tiff.number(&entry)? as usize);
        }
    }
    let mut found = false;
    for &directory in &directories {
        while let Some(entry) = tiff.find(directory, tag::GPS)? {
            let position = tiff.number(&entry)? as usize;
            // Twice removed is as good as once: an empty directory says nothing.
            if !directories.contains(&position) && tiff.u16(position)? > 0 {
                tiff.blank(position, &directories)?;
            }
            tiff.remove(directory, &entry)?;
            found = true;
        }
    }
    Ok(found)
}

/// Removes the small picture: the second directory of the chain goes, with the bytes it points at, and the block ends where
/// they began if they stood last. Says whether there was one.
pub(super) fn remove_thumbnail(block: &mut Vec<u8>) -> Result<bool, Damaged> {
    let length = block.len();
    let mut tiff = Tiff::new(block)?;
    let chain = tiff.chain()?;
    let &[first, second, ..] = chain.as_slice() else {
        return Ok(false);
    };
    let number = |tiff: &Tiff<'_>, tag| -> Result<Option<usize>, Damaged> {
        let entry = tiff.find(second, tag)?;
        entry
            .map(|entry| tiff.number(&entry).map(|value| value as usize))
            .transpose()
    };
    let mut end = length;
    for (offset, bytes) in [
        (tag::JPEG_OFFSET, tag::JPEG_BYTES),
        (tag::STRIP_OFFSETS, tag::STRIP_BYTES),
    ] {
        let (Some(start), Some(bytes)) = (number(&tiff, offset)?, number(&tiff, bytes)?) else {
            continue;
        };
        let stop = start.checked_add(bytes).ok_or(Damaged)?.min(length);
        if start < 8 || start > stop {
            return Err(Damaged);
        }
        tiff.blank_range(start..stop)?;
        if stop == length {
            end = start;
        }
    }
    // A chain longer than two is a multi-page TIFF's, which EXIF does not have; it ends here all the same.
    tiff.blank(second, &[first])?;
    if let Some(link) = tiff.link(first)? {
        tiff.put_u32(link, 0);
    }
    let last_needed = chain
        .iter()
        .map(|&directory| directory + 6)
        .max()
        .unwrap_or(8);
    block.truncate(end.max(last_needed));
    Ok(true)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A big-endian block: make, orientation 6, a GPS directory with a latitude, a thumbnail of ten bytes at the end.
    pub(in crate::metadata) fn block() -> Vec<u8> {
        let mut out = b"MM\0*\0\0\0\x08".to_vec();
        let entry = |tag: u16, kind: u16, count: u32, value: u32| {
            let value = if kind == 3 { value << 16 } else { value };
            [
                tag.to_be_bytes().as_slice(),
                &kind.to_be_bytes(),
                &count.to_be_bytes(),
                &value.to_be_bytes(),
            ]
            .concat()
        };
        // Directory 0 at 8: three entries, 2 + 36 + 4 bytes, so values begin at 50.
        out.extend_from_slice(&[0, 3]);
        out.extend(entry(0x010f, 2, 6, 50));
        out.extend(entry(tag::ORIENTATION, 3, 1, 6));
        out.extend(entry(tag::GPS, 4, 1, 56));
        out.extend_from_slice(&104u32.to_be_bytes());
        out.extend_from_slice(b"Maker\0");
        // GPS at 56: one entry, 2 + 12 + 4 bytes, value at 74 (24 bytes), then a gap to 104.
        out.extend_from_slice(&[0, 1]);
        out.extend(entry(2, 5, 3, 74));
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(b"latitudelatitudelatitude");
        out.resize(104, 0);
        // Directory 1 at 104: two entries, 30 bytes, thumbnail at 134.
        out.extend_from_slice(&[0, 2]);
        out.extend(entry(tag::JPEG_OFFSET, 4, 1, 134));
        out.extend(entry(tag::JPEG_BYTES, 4, 1, 10));
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(b"\xff\xd8thumb!!!");
        out
    }

    fn contains(block: &[u8], word: &[u8]) -> bool {
        block.windows(word.len()).any(|window| window == word)
    }

    #[test]
    fn the_position_goes_and_the_rest_stays() {
        let mut bytes = block();
        assert_eq!(remove_position(&mut bytes), Ok(true));
        assert!(!contains(&bytes, b"latitude"));
        assert_eq!(bytes.len(), block().len());
        assert_eq!(orientation(&bytes), Some(6));
        assert!(contains(&bytes, b"Maker") && contains(&bytes, b"thumb"));
        let tiff = Tiff::new(&mut bytes).expect("still a TIFF");
        assert_eq!(tiff.chain(), Ok(vec![8, 104]));
        assert_eq!(tiff.entries(8).expect("sound").len(), 2);
        assert_eq!(remove_position(&mut bytes), Ok(false));
    }

    #[test]
    fn the_thumbnail_goes_and_takes_its_bytes_along() {
        let mut bytes = block();
        assert_eq!(remove_thumbnail(&mut bytes), Ok(true));
        assert_eq!(bytes.len(), 134);
        assert_eq!(orientation(&bytes), Some(6));
        assert!(contains(&bytes, b"latitude"));
        assert_eq!(remove_thumbnail(&mut bytes), Ok(false));
        assert_eq!(remove_position(&mut bytes), Ok(true));
    }

    #[test]
    fn an_orientation_alone_is_a_block() {
        for value in 1..=8 {
            assert_eq!(orientation(&only_orientation(value)), Some(value));
        }
    }

    proptest! {
        #[test]
        fn no_damage_makes_it_panic(flips in proptest::collection::vec((0..144usize, any::<u8>()), 0..12), cut in 0..145usize) {
            let mut bytes = block();
            for (at, value) in flips {
                bytes[at] = value;
            }
            bytes.truncate(cut);
            orientation(&bytes);
            let mut copy = bytes.clone();
            if remove_position(&mut copy) == Ok(true) {
                prop_assert_eq!(copy.len(), bytes.len());
            }
            if remove_thumbnail(&mut bytes).is_ok() {
                prop_assert!(bytes.len() <= cut);
            }
        }
    }
}
