//! Small pictures of known samples, written by another program (libvips with libjxl: `vips jxlsave --lossless`), in plain streams
//! and in boxes put around them here.

use super::*;

const SIZE: (u32, u32) = (24, 16);

fn file(name: &str) -> Vec<u8> {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::read(here.join("tests/jxl").join(name)).expect("a file of the repository")
}

fn read_file(bytes: &[u8]) -> Result<Raster, Error> {
    read(&bytes, &Budget::new(64 << 20, 1 << 20))
}

/// What the pictures were made of: red, green, blue, alpha.
fn pixel(x: u32, y: u32) -> [u8; 4] {
    [
        (x * 10) as u8,
        (y * 15) as u8,
        (x * y) as u8,
        255 - (x * 10) as u8,
    ]
}

fn expected(channels: std::ops::Range<usize>) -> Vec<u8> {
    let places = (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| (x, y)));
    places
        .flat_map(|(x, y)| pixel(x, y)[channels.clone()].to_vec())
        .collect()
}

#[test]
fn samples_without_loss_are_those_that_went_in() {
    for (name, layout, channels) in [
        ("gray.jxl", Layout::Gray, 2..3),
        ("rgb.jxl", Layout::Rgb, 0..3),
        ("rgba.jxl", Layout::Rgba, 0..4),
    ] {
        let raster = read_file(&file(name)).expect(name);
        assert_eq!((raster.width, raster.height), SIZE);
        assert_eq!(
            (raster.layout, raster.depth),
            (layout, Depth::Eight),
            "{name}"
        );
        assert!(raster.samples == expected(channels), "{name}");
        assert_eq!(raster.carried, Carried::default(), "{name}");
    }
}

#[test]
fn sixteen_bits_stay() {
    let raster = read_file(&file("rgb16.jxl")).expect("a picture");
    assert_eq!((raster.layout, raster.depth), (Layout::Rgb, Depth::Sixteen));
    let values = raster.samples.chunks_exact(2);
    let values: Vec<u16> = values
        .map(|two| u16::from_ne_bytes([two[0], two[1]]))
        .collect();
    let wished: Vec<u16> = expected(0..3)
        .iter()
        .enumerate()
        // Every second pixel was made one smaller, so that the lower bits say something.
        .map(|(n, &value)| u16::from(value) * 257 - u16::from(value > 0 && n / 3 % 2 == 1))
        .collect();
    assert!(values == wished);
}

#[test]
fn lossy_colours_are_near() {
    let raster = read_file(&file("lossy.jxl")).expect("a picture");
    let pairs = raster.samples.iter().zip(expected(0..3));
    let apart: u32 = pairs.map(|(a, b)| u32::from(a.abs_diff(b))).sum();
    let mean = f64::from(apart) / raster.samples.len() as f64;
    assert!(mean < 8.0, "{mean}");
}

/// The header says that the picture lies on its side; it comes out as a person sees it.
#[test]
fn a_turned_picture_comes_out_upright() {
    let raster = read_file(&file("turned.jxl")).expect("a picture");
    assert_eq!((raster.width, raster.height), (SIZE.1, SIZE.0));
    let budget = Budget::new(1 << 20, 1 << 20);
    let turned = crate::turn::Turn::of(6).apply(expected(0..3), SIZE, 3, &budget);
    assert!(raster.samples == turned.expect("turns"));
    assert_eq!(raster.carried.orientation, 1);
}

#[test]
fn what_is_not_read_is_refused_by_name() {
    let told = read_file(&file("animated.jxl"));
    assert!(
        matches!(&told, Err(Error::Unsupported(what)) if what.contains("animated")),
        "{told:?}"
    );
}

fn boxed(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u32 + 8).to_be_bytes();
    [&length[..], name, content].concat()
}

/// A stream of Brotli that holds bytes as they are (RFC 7932, section 9.2).
fn stored(bytes: &[u8]) -> Vec<u8> {
    let head = ((bytes.len() as u32 - 1) << 4 | 1 << 20).to_le_bytes();
    [&head[..3], bytes, &[3]].concat()
}

fn exif(orientation: u8) -> Vec<u8> {
    let mut block = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
    block.extend([orientation, 0, 0, 0, 0, 0, 0, 0]);
    block
}

fn container(boxes: &[Vec<u8>]) -> Vec<u8> {
    let head = [
        &b"\0\0\0\x0cJXL \r\n\x87\n"[..],
        &boxed(b"ftyp", b"jxl \0\0\0\0jxl "),
    ]
    .concat();
    [head, boxes.concat(), boxed(b"jxlc", &file("rgb.jxl"))].concat()
}

#[test]
fn metadata_is_taken_out_of_its_boxes_compressed_or_not() {
    let block = [&[0; 4][..], &exif(6)].concat();
    let xmp = b"<x:xmpmeta/>";
    let plain = [boxed(b"Exif", &block), boxed(b"xml ", xmp)];
    let packed = [(b"Exif", &block[..]), (b"xml ", xmp)];
    let packed = packed.map(|(kind, bytes)| boxed(b"brob", &[&kind[..], &stored(bytes)].concat()));
    for boxes in [plain, packed] {
        let raster = read_file(&container(&boxes)).expect("a picture");
        assert!(raster.samples == expected(0..3));
        // The picture's own header decides how it lies, and it is upright.
        assert_eq!(raster.carried.exif, Some(exif(1)));
        assert_eq!(raster.carried.xmp.as_deref(), Some(&xmp[..]));
    }
    let broken = container(&[boxed(b"brob", b"Exif\xff\xff\xff")]);
    assert!(matches!(read_file(&broken), Err(Error::Corrupt { .. })));
}

#[test]
fn damage_is_named_and_never_a_picture() {
    for name in ["rgba.jxl", "lossy.jxl"] {
        let whole = file(name);
        // The last bytes may be padding that nobody misses.
        for end in 0..whole.len() - 4 {
            let cut = read_file(&whole[..end]);
            assert!(
                matches!(cut, Err(Error::Corrupt { .. })),
                "{name} {end}: {cut:?}"
            );
        }
        for at in 0..whole.len() {
            for value in [0x55, 0xff] {
                let mut changed = whole.clone();
                changed[at] = value;
                let _ = crate::fence::fenced(Format::Jxl, || read_file(&changed));
            }
        }
    }
}

#[test]
fn memory_and_pixels_are_bounded() {
    let few = read(&&file("rgb.jxl")[..], &Budget::new(1 << 26, 100));
    assert!(matches!(few, Err(Error::TooManyPixels { .. })), "{few:?}");
    let little = read(&&file("lossy.jxl")[..], &Budget::new(3_000, 1 << 20));
    assert!(
        matches!(little, Err(Error::OverBudget { .. })),
        "{little:?}"
    );
}
