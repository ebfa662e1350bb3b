//! Files written here byte by byte, read by the readers, compared with the pixels they were written from.

use super::*;
use crate::Source;

fn read_all(format: Format, file: &[u8]) -> Result<Raster, Error> {
    read(
        format,
        &file as &dyn Source,
        &Budget::new(64 << 20, 1_000_000),
    )
}

/// How a test TIFF stores its pixels.
#[derive(Debug, Clone, Copy)]
struct Store {
    bits: u16,
    photometric: u16,
    samples: u16,
    compression: u16,
    predictor: u16,
    planar: bool,
    /// Width and height of tiles; otherwise strips of that height.
    tile: Option<(u32, u32)>,
    big_endian: bool,
}

const PLAIN: Store = Store {
    bits: 8,
    photometric: 2,
    samples: 3,
    compression: 1,
    predictor: 1,
    planar: false,
    tile: None,
    big_endian: false,
};

const SIZE: (u32, u32) = (13, 11);
const ROWS_PER_STRIP: u32 = 4;

/// The sample at a place; narrow depths are cut to their bits.
fn sample(x: u32, y: u32, channel: u32, bits: u16) -> u16 {
    let mixed = (x * 977 + y * 5399 + channel * 12_289) as u16;
    if bits == 16 {
        mixed
    } else {
        mixed >> 5 & ((1 << bits) - 1)
    }
}

/// One strip or tile of the planes asked for, packed.
fn chunk(
    store: Store,
    (left, top): (u32, u32),
    (across, down): (u32, u32),
    planes: &[u32],
) -> Vec<u8> {
    let mut out = Vec::new();
    for y in top..top + down {
        let mut values: Vec<u16> = (left..left + across)
            .flat_map(|x| {
                planes.iter().map(move |&plane| {
                    sample(x.min(SIZE.0 - 1), y.min(SIZE.1 - 1), plane, store.bits)
                })
            })
            .collect();
        if store.predictor == 2 {
            for n in (planes.len()..values.len()).rev() {
                values[n] = values[n].wrapping_sub(values[n - planes.len()]);
            }
        }
        let mut bits: Vec<u8> = Vec::new();
        if store.bits == 16 {
            let two = |v: u16| {
                if store.big_endian {
                    v.to_be_bytes()
                } else {
                    v.to_le_bytes()
                }
            };
            bits.extend(values.iter().flat_map(|&v| two(v)));
        } else {
            let mut word = (0u32, 0);
            for v in values {
                word = (
                    word.0 << store.bits | u32::from(v & ((1 << store.bits) - 1)),
                    word.1 + store.bits,
                );
                if word.1 == 8 {
                    bits.push(word.0 as u8);
                    word = (0, 0);
                }
            }
            if word.1 > 0 {
                bits.push((word.0 << (8 - word.1)) as u8);
            }
        }
        out.extend(bits);
    }
    pack(&out, store.compression)
}

fn pack(bytes: &[u8], compression: u16) -> Vec<u8> {
    use std::io::Write;
    match compression {
        1 => bytes.to_vec(),
        5 => weezl::encode::Encoder::with_tiff_size_switch(weezl::BitOrder::Msb, 8)
            .encode(bytes)
            .expect("encodes"),
        8 => {
            let mut encoder =
                flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(bytes).expect("memory");
            encoder.finish().expect("memory")
        }
        // A literal of one byte and a run of one byte (257 - 0 is 257, so -1 + 1 = two), in turn.
        32773 => bytes
            .chunks(3)
            .flat_map(|three| [&[three.len() as u8 - 1], three].concat())
            .collect(),
        other => panic!("{other} is not written here"),
    }
}

/// Every strip or tile, plane by plane.
fn chunks(store: Store) -> Vec<Vec<u8>> {
    let all: Vec<u32> = (0..u32::from(store.samples)).collect();
    let planes: Vec<Vec<u32>> = if store.planar {
        all.iter().map(|&plane| vec![plane]).collect()
    } else {
        vec![all]
    };
    let (across, down) = store.tile.unwrap_or((SIZE.0, ROWS_PER_STRIP));
    let mut chunks = Vec::new();
    for planes in &planes {
        for top in (0..SIZE.1).step_by(down as usize) {
            for left in (0..SIZE.0).step_by(across as usize) {
                let whole = store.tile.is_some();
                let lines = if whole { down } else { down.min(SIZE.1 - top) };
                chunks.push(chunk(store, (left, top), (across, lines), planes));
            }
        }
    }
    chunks
}

/// Type, count and bytes of a value.
type Value = (u16, u32, Vec<u8>);

impl Store {
    fn u16(self, value: u16) -> [u8; 2] {
        if self.big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }

    fn u32(self, value: u32) -> [u8; 4] {
        if self.big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }

    fn shorts(self, values: &[u16]) -> Value {
        let bytes = values.iter().flat_map(|&v| self.u16(v)).collect();
        (3, values.len() as u32, bytes)
    }

    fn longs(self, values: &[u32]) -> Value {
        let bytes = values.iter().flat_map(|&v| self.u32(v)).collect();
        (4, values.len() as u32, bytes)
    }

    /// The directory's entries, for strips or tiles at those places.
    fn tags(self, offsets: &[u32], bytes: &[u32], more: &[(u16, Vec<u16>)]) -> Vec<(u16, Value)> {
        let (offsets, bytes) = (self.longs(offsets), self.longs(bytes));
        let mut tags = vec![
            (256u16, self.longs(&[SIZE.0])),
            (257, self.longs(&[SIZE.1])),
            (258, self.shorts(&vec![self.bits; self.samples.into()])),
            (259, self.shorts(&[self.compression])),
            (262, self.shorts(&[self.photometric])),
            (277, self.shorts(&[self.samples])),
            (284, self.shorts(&[if self.planar { 2 } else { 1 }])),
            (317, self.shorts(&[self.predictor])),
        ];
        if let Some((across, down)) = self.tile {
            let size = [(322, self.longs(&[across])), (323, self.longs(&[down]))];
            tags.extend(size);
            tags.extend([(324, offsets), (325, bytes)]);
        } else {
            let rows = (278, self.longs(&[ROWS_PER_STRIP]));
            tags.extend([(273, offsets), rows, (279, bytes)]);
        }
        tags.extend(more.iter().map(|(tag, values)| (*tag, self.shorts(values))));
        tags.sort_by_key(|(tag, _)| *tag);
        tags
    }
}

fn tiff(store: Store, more: &[(u16, Vec<u16>)]) -> Vec<u8> {
    let mut file = b"II*\0\0\0\0\0".to_vec();
    if store.big_endian {
        file[..4].copy_from_slice(b"MM\0*");
    }
    let (mut offsets, mut bytes) = (Vec::new(), Vec::new());
    for chunk in chunks(store) {
        offsets.push(file.len() as u32);
        bytes.push(chunk.len() as u32);
        file.extend(chunk);
    }
    let tags = store.tags(&offsets, &bytes, more);
    let mut entries = store.u16(tags.len() as u16).to_vec();
    for (tag, (kind, count, mut value)) in tags {
        if value.len() > 4 {
            let at = store.u32(file.len() as u32).to_vec();
            file.extend(value);
            value = at;
        }
        value.resize(4, 0);
        entries.extend([store.u16(tag), store.u16(kind)].concat());
        entries.extend(store.u32(count));
        entries.extend(value);
    }
    let directory = store.u32(file.len() as u32);
    file[4..8].copy_from_slice(&directory);
    file.extend(entries);
    file.extend([0; 4]);
    file
}

/// The samples every store of the same kind must decode to.
fn expected(store: Store) -> Vec<u8> {
    let mut out = Vec::new();
    for y in 0..SIZE.1 {
        for x in 0..SIZE.0 {
            for channel in 0..u32::from(store.samples) {
                let value = sample(x, y, channel, store.bits);
                match store.bits {
                    16 => out.extend(value.to_ne_bytes()),
                    8 => out.push(value as u8),
                    bits => out.push((value * 255 / ((1 << bits) - 1)) as u8),
                }
            }
        }
    }
    out
}

#[test]
fn every_way_to_store_a_tiff_gives_the_same_pixels() {
    let mut seen = 0;
    for compression in [1, 5, 8, 32773] {
        for (bits, samples, photometric) in [
            (1, 1, 1),
            (2, 1, 1),
            (4, 1, 1),
            (8, 1, 1),
            (16, 1, 1),
            (8, 3, 2),
            (16, 3, 2),
            (8, 4, 5),
        ] {
            for planar in [false, true] {
                for tile in [None, Some((16, 16)), Some((8, 4))] {
                    for (big_endian, predictor) in [(false, 1), (true, 1), (true, 2), (false, 2)] {
                        if predictor == 2 && bits < 8 {
                            continue;
                        }
                        let store = Store {
                            bits,
                            photometric,
                            samples,
                            compression,
                            predictor,
                            planar,
                            tile,
                            big_endian,
                        };
                        let raster = read_all(Format::Tiff, &tiff(store, &[]))
                            .unwrap_or_else(|error| panic!("{store:?}: {error}"));
                        assert!(raster.samples == expected(store), "{store:?}");
                        seen += 1;
                    }
                }
            }
        }
    }
    assert_eq!(seen, 4 * 2 * 3 * (3 * 2 + 5 * 4));
}

#[test]
fn white_is_zero_palettes_and_alpha_mean_what_they_say() {
    let gray = Store {
        photometric: 0,
        samples: 1,
        ..PLAIN
    };
    let inverted: Vec<u8> = expected(gray).iter().map(|v| !v).collect();
    assert_eq!(
        read_all(Format::Tiff, &tiff(gray, &[]))
            .expect("reads")
            .samples,
        inverted
    );

    let map: Vec<u16> = (0..48u16).map(|n| n * 1000).collect();
    let palette = Store {
        photometric: 3,
        samples: 1,
        bits: 4,
        ..PLAIN
    };
    let raster = read_all(Format::Tiff, &tiff(palette, &[(320, map)])).expect("reads");
    let index = sample(5, 7, 0, 4);
    let colour = |plane: u16| (((plane * 16 + index) * 1000) >> 8) as u8;
    assert_eq!(
        raster.samples[3 * (7 * 13 + 5)..][..3],
        [colour(0), colour(1), colour(2)]
    );

    let rgba = Store {
        samples: 4,
        ..PLAIN
    };
    let plain = read_all(Format::Tiff, &tiff(rgba, &[(338, vec![2])])).expect("reads");
    assert_eq!(
        (plain.layout, &plain.samples),
        (Layout::Rgba, &expected(rgba))
    );
    let divided = read_all(Format::Tiff, &tiff(rgba, &[(338, vec![1])])).expect("reads");
    let (from, to) = (&plain.samples[4..8], &divided.samples[4..8]);
    let wanted = (u32::from(from[0]) * 255 + u32::from(from[3]) / 2) / u32::from(from[3]);
    assert_eq!((u32::from(to[0]), to[3]), (wanted.min(255), from[3]));
}

#[test]
fn features_that_would_be_lost_are_refused_by_name() {
    let refused = |store, more: &[(u16, Vec<u16>)]| match read_all(Format::Tiff, &tiff(store, more))
    {
        Err(Error::Unsupported(what)) => what,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        refused(Store { bits: 16, ..PLAIN }, &[(339, vec![3, 3, 3])]),
        "a TIFF of floating-point samples"
    );
    assert_eq!(
        refused(
            Store {
                samples: 5,
                ..PLAIN
            },
            &[(338, vec![0, 0])]
        ),
        "a TIFF with extra channels"
    );
    assert_eq!(
        refused(
            Store {
                samples: 4,
                ..PLAIN
            },
            &[]
        ),
        "a TIFF with extra channels"
    );
    assert_eq!(
        refused(
            Store {
                photometric: 8,
                ..PLAIN
            },
            &[]
        ),
        "a TIFF of Lab samples"
    );
}

#[test]
fn compressions_that_are_not_read_are_refused_by_name() {
    let compressed = |compression: u8, bits| {
        let mut file = tiff(
            Store {
                samples: 1,
                bits,
                photometric: 1,
                ..PLAIN
            },
            &[],
        );
        let at = file
            .windows(4)
            .rposition(|window| window == [3, 1, 3, 0])
            .expect("compression tag");
        file[at + 8] = compression;
        match read_all(Format::Tiff, &file) {
            Err(Error::Unsupported(what)) => what,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(compressed(6, 8), "a TIFF with old-style JPEG compression");
    assert_eq!(compressed(7, 16), "a TIFF with JPEG compression of 16 bits");
    assert_eq!(
        compressed(4, 8),
        "a TIFF with CCITT (fax) compression of 8 bits"
    );
}

#[test]
fn a_tiff_cut_anywhere_is_an_error_and_never_padded() {
    for compression in [1, 5, 8, 32773] {
        let store = Store {
            compression,
            ..PLAIN
        };
        let file = tiff(store, &[]);
        for length in 8..file.len() - 4 {
            assert!(
                read_all(Format::Tiff, &file[..length]).is_err(),
                "{compression} cut at {length}"
            );
        }
    }
}

#[test]
fn a_huge_size_is_refused_before_memory_is_taken() {
    let mut file = tiff(PLAIN, &[]);
    let at = file
        .windows(4)
        .position(|window| window == [0, 1, 4, 0])
        .expect("width tag");
    file[at + 8..at + 12].copy_from_slice(&0xffff_ff00u32.to_le_bytes());
    assert!(matches!(
        read_all(Format::Tiff, &file),
        Err(Error::TooManyPixels { .. } | Error::Corrupt { .. })
    ));
}

#[test]
fn a_still_gif_is_laid_on_its_screen_and_a_second_frame_is_refused() {
    let frame = |left: u16| ::gif::Frame {
        left,
        width: 2,
        height: 1,
        transparent: Some(1),
        buffer: vec![0, 1].into(),
        ..::gif::Frame::default()
    };
    let gif = |frames: &[u16]| {
        let mut file = Vec::new();
        let mut encoder =
            ::gif::Encoder::new(&mut file, 4, 2, &[10, 20, 30, 40, 50, 60]).expect("memory");
        frames
            .iter()
            .for_each(|&left| encoder.write_frame(&frame(left)).expect("memory"));
        drop(encoder);
        file
    };
    let raster = read_all(Format::Gif, &gif(&[1])).expect("reads");
    assert_eq!(
        (raster.width, raster.height, raster.layout),
        (4, 2, Layout::Rgba)
    );
    assert_eq!(raster.samples[4..8], [10, 20, 30, 255]);
    assert!(
        raster.samples[..4]
            .iter()
            .chain(&raster.samples[8..])
            .skip(3)
            .step_by(4)
            .all(|&alpha| alpha == 0)
    );
    let over_the_edge = read_all(Format::Gif, &gif(&[3])).expect("reads");
    assert_eq!(over_the_edge.samples[12..16], [10, 20, 30, 255]);
    assert!(matches!(
        read_all(Format::Gif, &gif(&[0, 1])),
        Err(Error::Unsupported(_))
    ));
}

#[test]
fn plain_formats_keep_their_samples() {
    let pgm = [b"P5 2 1 65535\n".as_slice(), &[1, 2, 3, 4]].concat();
    let raster = read_all(Format::Pnm, &pgm).expect("reads");
    assert_eq!(
        (raster.layout, raster.depth),
        (Layout::Gray, Depth::Sixteen)
    );
    assert_eq!(
        raster.samples,
        [0x0102u16.to_ne_bytes(), 0x0304u16.to_ne_bytes()].concat()
    );
    let two = [pgm.as_slice(), &pgm].concat();
    assert!(matches!(
        read_all(Format::Pnm, &two),
        Err(Error::Unsupported(_))
    ));
    assert!(matches!(
        read_all(Format::Pnm, &pgm[..pgm.len() - 1]),
        Err(Error::Corrupt { .. })
    ));

    let qoi = b"qoif\0\0\0\x02\0\0\0\x01\x03\0\xfe\x01\x02\x03\xfe\x04\x05\x06\0\0\0\0\0\0\0\x01";
    assert_eq!(
        read_all(Format::Qoi, qoi).expect("reads").samples,
        [1, 2, 3, 4, 5, 6]
    );
    assert!(read_all(Format::Qoi, &qoi[..18]).is_err());
}

#[test]
fn a_bitmap_is_turned_the_right_way_up_and_keeps_its_profile() {
    let mut file = b"BM\0\0\0\0\0\0\0\0".to_vec();
    file.extend(138u32.to_le_bytes());
    let mut header = [124u32, 1, 2].map(u32::to_le_bytes).concat();
    header.extend([1, 0, 24, 0]);
    header.resize(124, 0);
    header[56..60].copy_from_slice(b"DEBM");
    header[112..116].copy_from_slice(&132u32.to_le_bytes());
    header[116..120].copy_from_slice(&7u32.to_le_bytes());
    file.extend(header);
    file.extend([3, 2, 1, 0, 6, 5, 4, 0]);
    file.extend(b"profile");
    let raster = read_all(Format::Bmp, &file).expect("reads");
    assert_eq!(raster.samples, [4, 5, 6, 1, 2, 3]);
    assert_eq!(raster.carried.icc.as_deref(), Some(b"profile".as_slice()));
    assert!(read_all(Format::Bmp, &file[..140]).is_err());
}

#[test]
fn exif_is_gathered_from_where_a_tiff_spreads_it() {
    for big_endian in [false, true] {
        let store = Store {
            big_endian,
            ..PLAIN
        };
        let mut file = tiff(store, &[(274, vec![6])]);
        // A directory of one long value behind the end, linked from the first one in place of its predictor.
        let exif = file.len() as u32;
        file.extend(store.u16(1));
        file.extend([store.u16(0x9003), store.u16(2)].concat());
        file.extend(store.u32(20));
        file.extend(store.u32(exif + 18));
        file.extend([0; 4]);
        file.extend(b"2026:11:30 12:00:00\0");
        let entry = [store.u16(317), store.u16(3)].concat();
        let at = file
            .windows(4)
            .rposition(|window| window == entry)
            .expect("predictor");
        file[at..at + 4].copy_from_slice(&[store.u16(0x8769), store.u16(4)].concat());
        file[at + 8..at + 12].copy_from_slice(&store.u32(exif));
        let carried = read_all(Format::Tiff, &file).expect("reads").carried;
        let block = carried.exif.expect("gathered");
        assert_eq!(carried.orientation, 6);
        assert!(
            block
                .windows(20)
                .any(|window| window == b"2026:11:30 12:00:00\0")
        );
        // Read again as a TIFF of its own: the orientation, and a link that leads to the date.
        let number = |at: usize| u32::from_le_bytes(block[at..at + 4].try_into().expect("four"));
        assert_eq!(block[8..14], [2, 0, 0x12, 1, 3, 0]);
        assert_eq!(number(18), 6);
        let date = number(8 + 2 + 12 + 8) as usize;
        assert_eq!(block[date..date + 4], [1, 0, 0x03, 0x90]);
        let text = number(date + 10) as usize;
        assert!(block[text..].starts_with(b"2026:"));
    }
}
