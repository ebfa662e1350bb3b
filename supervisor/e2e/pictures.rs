//! Small real pictures for real workers, without any codec: a JPEG of one grey tone, varied in bytes by a comment.

/// A baseline JPEG of 8x8 grey pixels; `number` makes its bytes, and so its output, differ from others.
pub(crate) fn jpeg(number: u64) -> Vec<u8> {
    let comment = format!("picture {number:06} {}", "padding ".repeat(8));
    let mut bytes = vec![0xFF, 0xD8];
    bytes.extend([0xFF, 0xFE]);
    bytes.extend(
        u16::try_from(comment.len() + 2)
            .expect("short")
            .to_be_bytes(),
    );
    bytes.extend(comment.as_bytes());
    bytes.extend([0xFF, 0xDB, 0x00, 0x43, 0x00]);
    bytes.extend([1; 64]);
    bytes.extend([0xFF, 0xC0, 0x00, 0x0B, 8, 0, 8, 0, 8, 1, 1, 0x11, 0]);
    bytes.extend(STANDARD_DC);
    bytes.extend(STANDARD_AC);
    bytes.extend([0xFF, 0xDA, 0x00, 0x08, 1, 1, 0x00, 0, 63, 0]);
    // DC category 0 ("00"), then end of block ("1010"), padded with ones.
    bytes.extend([0b0010_1011, 0xFF, 0xD9]);
    bytes
}

const STANDARD_DC: [u8; 33] = [
    0xFF, 0xC4, 0x00, 0x1F, 0x00, 0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5,
    6, 7, 8, 9, 10, 11,
];

/// The first codes of the usual AC table: "00" is 0/1, "01" is 0/2, "100" is 0/3, "1010" is the end of block.
const STANDARD_AC: [u8; 25] = [
    0xFF, 0xC4, 0x00, 0x17, 0x10, 0, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0x02, 0x03,
    0x00,
];

/// A JPEG whose header says 65,500 by 65,500 pixels.
pub(crate) fn giant() -> Vec<u8> {
    let mut bytes = jpeg(0);
    let frame = bytes
        .windows(2)
        .position(|marker| marker == [0xFF, 0xC0])
        .expect("it has a frame");
    bytes[frame + 5..frame + 9].copy_from_slice(&[0xFF, 0xDC, 0xFF, 0xDC]);
    bytes
}

/// One of the project's own photographs.
pub(crate) fn photo(name: &str) -> Vec<u8> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::read(root.join("jobs/tests/photos").join(name)).expect("the project's own photograph")
}
