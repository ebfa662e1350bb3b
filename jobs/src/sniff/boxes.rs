//! Files that begin with an ISO base media `ftyp` box (ISO/IEC 14496-12): AVIF, HEIC, CR3, and videos.

use super::Sniffed;
use crate::Format;

/// What the brands of a leading `ftyp` box say; `None` where there is no such box.
pub(super) fn by_brand(head: &[u8]) -> Option<Sniffed> {
    if head.get(4..8)? != b"ftyp" {
        return None;
    }
    let major = head.get(8..12)?;
    let size = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
    let end = size.min(head.len());
    let compatible = head.get(16..end).unwrap_or_default();
    let brands = || std::iter::once(major).chain(compatible.chunks_exact(4));
    let any = |wanted: &[&[u8]]| brands().any(|brand| wanted.contains(&brand));
    Some(match () {
        () if major == b"crx " => Sniffed::Image(Format::Raw),
        () if any(&[b"avif", b"avis"]) => Sniffed::Image(Format::Avif),
        () if any(&[
            b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1",
            b"msf1",
        ]) =>
        {
            Sniffed::Image(Format::Heic)
        }
        () if any(&[b"jxl "]) => Sniffed::Image(Format::Jxl),
        () if any(&[b"jp2 ", b"jpx ", b"jph "]) => Sniffed::Image(Format::Jp2),
        () if major == b"M4A " || major == b"M4B " => Sniffed::Other("an audio file"),
        () => Sniffed::Other("a video"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ftyp(major: &[u8; 4], compatible: &[&[u8; 4]]) -> Vec<u8> {
        let mut bytes = (16 + 4 * compatible.len() as u32).to_be_bytes().to_vec();
        bytes.extend_from_slice(b"ftyp");
        bytes.extend_from_slice(major);
        bytes.extend_from_slice(&[0; 4]);
        for brand in compatible {
            bytes.extend_from_slice(*brand);
        }
        bytes
    }

    #[test]
    fn a_box_of_any_length_cut_anywhere_is_looked_at_without_a_panic() {
        for size in [0_u32, 8, 15, 16, 17, 24, u32::MAX] {
            let mut bytes = ftyp(b"heic", &[b"mif1", b"avif"]);
            bytes[..4].copy_from_slice(&size.to_be_bytes());
            for length in 0..=bytes.len() {
                let told = by_brand(&bytes[..length]);
                assert_eq!(told.is_some(), length >= 12, "{size} {length}");
            }
        }
    }

    #[test]
    fn brands_decide_and_the_compatible_ones_count() {
        let told = |major, compatible: &[&[u8; 4]]| by_brand(&ftyp(major, compatible));
        assert_eq!(told(b"avif", &[]), Some(Sniffed::Image(Format::Avif)));
        assert_eq!(
            told(b"mif1", &[b"mif1", b"avif"]),
            Some(Sniffed::Image(Format::Avif))
        );
        assert_eq!(
            told(b"mif1", &[b"heic"]),
            Some(Sniffed::Image(Format::Heic))
        );
        assert_eq!(told(b"crx ", &[b"isom"]), Some(Sniffed::Image(Format::Raw)));
        assert_eq!(told(b"isom", &[b"mp41"]), Some(Sniffed::Other("a video")));
        assert_eq!(by_brand(b"not a box at all"), None);
    }
}
