//! TIFFs that libtiff 4.5 wrote (`tests/tiffs`) from pictures that are drawn here again, and what damage does to them.

use super::header::{Compression, Header};
use super::*;

const FAX: [(&str, &[u8]); 7] = [
    ("rows", include_bytes!("../../../tests/tiffs/fax-rows.tif")),
    ("g3", include_bytes!("../../../tests/tiffs/fax-g3.tif")),
    (
        "g3-2d",
        include_bytes!("../../../tests/tiffs/fax-g3-2d.tif"),
    ),
    (
        "g3-2d-fill",
        include_bytes!("../../../tests/tiffs/fax-g3-2d-fill.tif"),
    ),
    ("g4", include_bytes!("../../../tests/tiffs/fax-g4.tif")),
    (
        "g4-turned",
        include_bytes!("../../../tests/tiffs/fax-g4-turned.tif"),
    ),
    (
        "g4-tiles",
        include_bytes!("../../../tests/tiffs/fax-g4-tiles.tif"),
    ),
];
const GROUP_4: &[u8] = FAX[4].1;

const JPEG: [(&str, Layout, &[u8]); 6] = [
    (
        "ycc",
        Layout::Rgb,
        include_bytes!("../../../tests/tiffs/jpeg-ycc.tif"),
    ),
    (
        "rgb-tiles",
        Layout::Rgb,
        include_bytes!("../../../tests/tiffs/jpeg-rgb-tiles.tif"),
    ),
    (
        "rgb",
        Layout::Rgb,
        include_bytes!("../../../tests/tiffs/jpeg-rgb.tif"),
    ),
    (
        "rgb-planes",
        Layout::Rgb,
        include_bytes!("../../../tests/tiffs/jpeg-rgb-planes.tif"),
    ),
    (
        "gray",
        Layout::Gray,
        include_bytes!("../../../tests/tiffs/jpeg-gray.tif"),
    ),
    (
        "cmyk",
        Layout::Cmyk,
        include_bytes!("../../../tests/tiffs/jpeg-cmyk.tif"),
    ),
];
const YCC: &[u8] = JPEG[0].2;
const RGB_TILES: &[u8] = JPEG[1].2;

fn budget() -> Budget {
    Budget::new(64 << 20, 1_000_000)
}

fn read_all(file: &[u8]) -> Result<Raster, Error> {
    read(&file, &budget())
}

fn header_of(file: &[u8]) -> Header {
    let source: &dyn Source = &file;
    header::read(&mut Decoder::new(Bytes::buffered(source)).expect("a TIFF")).expect("reads")
}

/// The packed bytes of the first strip or tile.
fn first_strip(file: &[u8]) -> &[u8] {
    let (offset, bytes) = header_of(file).places[0];
    &file[offset as usize..][..bytes as usize]
}

/// The first value of a tag of one short value, in a little-endian file.
fn value_of(file: &mut [u8], tag: u16) -> &mut u8 {
    let entry = [tag.to_le_bytes(), [3, 0]].concat();
    let at = file.windows(4).rposition(|window| window == entry);
    &mut file[at.expect("the tag") + 8]
}

const FAX_SIZE: (u32, u32) = (2700, 21);

/// Lines of one run, of short and long runs, and ones that begin or end black.
fn is_black(x: u32, y: u32) -> bool {
    match y % 7 {
        0 => x >= FAX_SIZE.0 - y,
        3 => y < 2,
        5 => (x / (y + 1)).is_multiple_of(2),
        _ => {
            (x * 7 + y * y * 13) / (29 + y * 3) % 3 == 1
                || (40 * y + 1..90 * y).contains(&x) && x % 640 > y
        }
    }
}

fn fax_picture() -> Vec<u8> {
    let rows = 0..FAX_SIZE.1;
    let pixels = rows.flat_map(|y| (0..FAX_SIZE.0).map(move |x| (x, y)));
    pixels
        .map(|(x, y)| if is_black(x, y) { 0 } else { 255 })
        .collect()
}

#[test]
fn fax_lines_are_what_they_were_drawn_from() {
    let drawn = fax_picture();
    for (name, file) in FAX {
        let raster = read_all(file).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((raster.width, raster.height), FAX_SIZE);
        assert_eq!(raster.layout, Layout::Gray);
        assert!(raster.samples == drawn, "{name}");
    }
}

#[test]
fn where_black_is_zero_a_fax_is_the_other_way_round() {
    let mut file = GROUP_4.to_vec();
    *value_of(&mut file, 262) = 1;
    let inverted: Vec<u8> = fax_picture().iter().map(|value| !value).collect();
    assert!(read_all(&file).expect("reads").samples == inverted);
}

/// The packed bytes of a fax's first strip or tile, in the usual order of bits.
fn fax_strip(file: &[u8]) -> Vec<u8> {
    let mut packed = first_strip(file).to_vec();
    if header_of(file).reversed {
        packed.iter_mut().for_each(|b| *b = b.reverse_bits());
    }
    packed
}

/// Unpacks the first strip or tile of a fax from other bytes.
fn fax_from(header: &Header, packed: &[u8]) -> Result<Vec<u8>, Error> {
    let Compression::Fax(kind) = header.compression else {
        panic!("{:?}", header.compression);
    };
    let (across, down) = header.chunk;
    let mut out = vec![0; (across.div_ceil(8) * down) as usize];
    fax::unpack(kind, packed, across, &mut out, &budget()).map(|()| out)
}

#[test]
fn a_fax_cut_anywhere_is_whole_or_an_error() {
    for (name, file) in FAX {
        let (header, packed) = (header_of(file), fax_strip(file));
        let whole = fax_from(&header, &packed).expect("reads");
        for length in 0..packed.len() {
            match fax_from(&header, &packed[..length]) {
                // Only the mark of the end may be missing.
                Ok(lines) => assert!(lines == whole && length + 4 > packed.len(), "{name}"),
                Err(Error::Corrupt { what, .. }) => assert!(what.contains("cut off"), "{what}"),
                Err(other) => panic!("{name}: {other}"),
            }
        }
    }
}

#[test]
fn a_fax_with_a_wrong_bit_never_panics_and_is_mostly_found_out() {
    for (name, file) in FAX {
        let (header, mut packed) = (header_of(file), fax_strip(file));
        let mut found = 0;
        for bit in 0..8 * packed.len() {
            packed[bit / 8] ^= 0x80 >> (bit % 8);
            found += usize::from(fax_from(&header, &packed).is_err());
            packed[bit / 8] ^= 0x80 >> (bit % 8);
        }
        assert!(5 * found > 4 * 8 * packed.len(), "{name}: {found}");
    }
}

#[test]
fn a_fax_whose_order_of_bits_is_not_what_it_says_is_damage() {
    let mut file = FAX[5].1.to_vec();
    *value_of(&mut file, 266) = 1;
    let Err(Error::Corrupt { what, .. }) = read_all(&file) else {
        panic!("read as if it were right");
    };
    assert!(what.contains("behind its last line"), "{what}");
}

#[test]
fn a_line_that_is_too_long_is_damage() {
    let line = |bits: &[u8], width| {
        let mut out = [0; 8];
        fax::unpack(
            fax::Fax::Rows,
            bits,
            width,
            &mut out[..width.div_ceil(8) as usize],
            &budget(),
        )
        .map(|()| out)
    };
    // Four white (1011), four black (011), eight white (10011); zeros.
    let bits = [0b1011_0111, 0b0011_0000, 0, 0];
    assert_eq!(line(&bits, 16).expect("reads")[..2], [0b0000_1111, 0]);
    let wrong = |width| match line(&bits, width) {
        Err(Error::Corrupt { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    assert_eq!(wrong(15), "fax data that makes no sense");
    // Black of zeros is no code.
    assert_eq!(wrong(17), "fax data that makes no sense");
}

#[test]
fn uncompressed_pixels_in_a_fax_are_refused_by_name() {
    let extension = [0b0000_0011, 0b1100_0000, 0, 0];
    let mut out = [0];
    let refused = fax::unpack(fax::Fax::Group4, &extension, 8, &mut out, &budget());
    assert!(
        matches!(&refused, Err(Error::Unsupported(what)) if what.contains("uncompressed")),
        "{refused:?}"
    );
}

const JPEG_SIZE: (u32, u32) = (37, 43);

/// What a pixel of the small pictures was drawn as.
fn drawn(x: u32, y: u32, layout: Layout) -> Vec<u32> {
    let (red, green, blue) = (
        (x * 6).min(255),
        (y * 5).min(255),
        230 - 3 * x - (2 * y).min(230 - 3 * x),
    );
    match layout {
        Layout::Gray => vec![green],
        Layout::Cmyk => vec![red, green, blue, 40 + x],
        Layout::Rgb | Layout::Rgba | Layout::GrayAlpha => vec![red, green, blue],
    }
}

#[test]
fn jpeg_in_strips_and_tiles_shows_what_it_was_drawn_from() {
    for (name, layout, file) in JPEG {
        let raster = read_all(file).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((raster.width, raster.height), JPEG_SIZE);
        assert_eq!(raster.layout, layout, "{name}");
        let mut pixels = raster.samples.chunks(layout.channels());
        for y in 0..JPEG_SIZE.1 {
            for x in 0..JPEG_SIZE.0 {
                let (got, drawn) = (pixels.next().expect("a pixel"), drawn(x, y, layout));
                for (got, drawn) in got.iter().zip(drawn) {
                    let off = u32::from(*got).abs_diff(drawn);
                    assert!(off <= 14, "{name} at {x}, {y}: {got} for {drawn}");
                }
            }
        }
    }
}

#[test]
fn white_is_zero_turns_jpeg_around_too() {
    let mut file = JPEG[4].2.to_vec();
    let plain = read_all(&file).expect("reads").samples;
    *value_of(&mut file, 262) = 0;
    let inverted = read_all(&file).expect("reads").samples;
    assert!(plain.iter().zip(&inverted).all(|(a, b)| *a == !b));
}

/// Unpacks the first strip or tile of a JPEG from other bytes.
fn jpeg_from(header: &Header, packed: &[u8]) -> Result<Vec<u8>, Error> {
    let Compression::Jpeg(tables) = &header.compression else {
        panic!("{:?}", header.compression);
    };
    let (across, down) = header.chunk;
    let each = if header.planar { 1 } else { header.samples };
    let mut out = vec![0; (across * down) as usize * each];
    jpeg::unpack(header, tables, packed, &mut out, &budget()).map(|()| out)
}

#[test]
fn jpeg_cut_anywhere_is_whole_or_an_error() {
    for (name, _, file) in JPEG {
        let (header, packed) = (header_of(file), first_strip(file));
        let whole = jpeg_from(&header, packed).expect("reads");
        for length in 0..packed.len() {
            match jpeg_from(&header, &packed[..length]) {
                // Only the end marker may be missing.
                Ok(lines) => assert!(lines == whole && length + 2 >= packed.len(), "{name}"),
                Err(Error::Corrupt { format, .. }) => assert_eq!(format, Format::Tiff),
                Err(other) => panic!("{name} cut at {length}: {other}"),
            }
        }
    }
}

#[test]
fn jpeg_that_does_not_fit_its_strip_is_an_error() {
    let (header, packed) = (header_of(YCC), first_strip(YCC));
    let frame = packed.windows(2).position(|window| window == [0xff, 0xc0]);
    let frame = frame.expect("a frame header");
    let changed = |at: usize, value: u8| {
        let mut packed = packed.to_vec();
        packed[frame + at] = value;
        match jpeg_from(&header, &packed) {
            Err(Error::Corrupt { what, .. }) => what,
            other => panic!("{other:?}"),
        }
    };
    // Height 16, width 37.
    assert!(changed(6, 8).contains("cut off"));
    assert!(changed(6, 32).contains("another size"));
    assert!(changed(8, 36).contains("another size"));
    let gray = jpeg_from(&header, first_strip(JPEG[4].2));
    assert!(
        matches!(&gray, Err(Error::Corrupt { what, .. }) if what.contains("1 components")),
        "{gray:?}"
    );
    assert!(jpeg_from(&header, &packed[2..]).is_err());
}

#[test]
fn a_jpeg_larger_than_is_allowed_is_refused_before_memory_is_taken() {
    let mut file = YCC.to_vec();
    let at = file
        .windows(2)
        .position(|window| window == [0xff, 0xc0])
        .expect("a frame header");
    file[at + 5..at + 9].fill(0xff);
    let budget = budget();
    assert!(matches!(
        read(&file.as_slice(), &budget),
        Err(Error::TooManyPixels { .. })
    ));
    assert!(budget.peak() < 1 << 20);
}

#[test]
fn jpeg_tables_that_make_no_sense_are_damage() {
    let (mut header, packed) = (header_of(YCC), first_strip(YCC));
    let Compression::Jpeg(tables) = header.compression.clone() else {
        panic!("{:?}", header.compression);
    };
    for length in 1..tables.len() {
        header.compression = Compression::Jpeg(tables[..length].to_vec());
        assert!(
            matches!(jpeg_from(&header, packed), Err(Error::Corrupt { what, .. }) if what.contains("tables")),
            "{length}"
        );
    }
    header.compression = Compression::Jpeg(Vec::new());
    assert!(jpeg_from(&header, packed).is_err());
}

#[test]
fn tiles_leave_nothing_claimed_but_the_picture() {
    for file in [RGB_TILES, GROUP_4] {
        let budget = budget();
        let raster = read(&file, &budget).expect("reads");
        assert_eq!(budget.memory() - budget.left(), raster.samples.len() as u64);
        let tight = Budget::new(budget.peak() - 1, 1_000_000);
        assert!(matches!(read(&file, &tight), Err(Error::OverBudget { .. })));
    }
}
