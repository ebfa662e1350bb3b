//! Pictures written and read back, by this decoder and by another one; files cut, changed and forged.

use super::*;
use crate::SizeLimit;

const SIZE: (u32, u32) = (61, 43);

fn budget() -> Budget {
    Budget::new(1 << 28, 1 << 24)
}

/// Smooth colours with an edge, alpha that falls from left to right.
fn raster(layout: Layout, depth: Depth) -> Raster {
    let mut samples = Vec::new();
    for at in 0..SIZE.0 * SIZE.1 {
        let (x, y) = (at % SIZE.0, at / SIZE.0);
        let edge = if x > 2 * y { 60 } else { 0 };
        let all = [
            x * 4 % 256,
            y * 5 % 256,
            (x + y) * 2 % 196 + edge,
            255 - x * 4,
        ];
        let values: &[u32] = match layout {
            Layout::Gray => &all[..1],
            Layout::GrayAlpha => &[all[0], all[3]],
            Layout::Rgb => &all[..3],
            Layout::Rgba | Layout::Cmyk => &all,
        };
        for &value in values {
            match depth {
                Depth::Eight => samples.push(value as u8),
                Depth::Sixteen => samples.extend(((value * 257) as u16).to_ne_bytes()),
            }
        }
    }
    Raster {
        width: SIZE.0,
        height: SIZE.1,
        layout,
        depth,
        samples,
        carried: Carried::default(),
    }
}

fn written(raster: Raster, options: &Options) -> (Compressed, Vec<u8>) {
    let mut out = Vec::new();
    let done = write(raster, 100_000, &mut out, options, &budget()).expect("no error");
    (done, out)
}

fn read_back(file: &[u8]) -> Result<Raster, Error> {
    read(&file as &dyn Source, &budget())
}

fn apart(a: &Raster, b: &Raster) -> f64 {
    assert_eq!(
        (a.layout, a.depth, a.samples.len()),
        (b.layout, b.depth, b.samples.len())
    );
    let values = |raster: &Raster| -> Vec<f64> {
        match raster.depth {
            Depth::Eight => raster.samples.iter().map(|&byte| byte.into()).collect(),
            Depth::Sixteen => {
                let pairs = raster.samples.chunks_exact(2);
                let value = |pair: &[u8]| f64::from(u16::from_ne_bytes([pair[0], pair[1]])) / 257.0;
                pairs.map(value).collect()
            }
        }
    };
    let (a, b) = (values(a), values(b));
    a.iter().zip(&b).map(|(a, b)| (a - b).abs()).sum::<f64>() / a.len() as f64
}

const LAYOUTS: [Layout; 4] = [Layout::Gray, Layout::GrayAlpha, Layout::Rgb, Layout::Rgba];

#[test]
fn without_loss_every_sample_comes_back() {
    for layout in LAYOUTS {
        let before = raster(layout, Depth::Eight);
        let (_, file) = written(raster(layout, Depth::Eight), &Options::new(Goal::Lossless));
        let after = read_back(&file).expect("own file");
        assert_eq!((after.width, after.height), SIZE);
        assert_eq!(after.layout, layout);
        assert!(after.samples == before.samples, "{layout:?}");
    }
}

#[test]
fn at_a_high_quality_colours_stay_near_in_every_form() {
    for layout in LAYOUTS {
        for depth in [Depth::Eight, Depth::Sixteen] {
            for (chroma, near) in [
                (Chroma::Full, 1.2),
                (Chroma::Half, 3.0),
                (Chroma::Quarter, 4.0),
            ] {
                let options = Options {
                    chroma,
                    ..Options::new(Goal::Quality(98))
                };
                let (done, file) = written(raster(layout, depth), &options);
                let after = read_back(&file).expect("own file");
                let away = apart(&raster(layout, depth), &after);
                assert!(away < near, "{layout:?} {depth:?} {chroma:?}: {away}");
                let Compressed::Written(written) = done else {
                    panic!("{done:?}");
                };
                let cut = Note::Dropped("16 bits a sample became 10".to_owned());
                assert_eq!(written.notes.contains(&cut), depth == Depth::Sixteen);
                assert_eq!(
                    (written.bytes, written.quality),
                    (file.len() as u64, Some(98))
                );
            }
        }
    }
}

#[test]
fn a_size_is_never_exceeded_and_the_next_finer_quality_would() {
    let quality_at = |bytes| {
        let options = Options::new(Goal::MaxSize(SizeLimit::Bytes(bytes)));
        let (done, file) = written(raster(Layout::Rgba, Depth::Eight), &options);
        match done {
            Compressed::Written(written) => {
                assert!(file.len() as u64 <= bytes, "{} of {bytes}", file.len());
                written.quality.expect("a quality")
            }
            Compressed::Kept(kept) => {
                let unreachable = matches!(kept.why, Keep::TargetUnreachable { target, smallest } if target == bytes && smallest > bytes);
                assert!(unreachable, "{kept:?}");
                0
            }
        }
    };
    assert_eq!(quality_at(100), 0);
    let mut finer = 0;
    for bytes in (1_000..4_000).step_by(500) {
        let quality = quality_at(bytes);
        assert!(quality >= finer);
        finer = quality;
        if (1..100).contains(&quality) {
            let next = Options::new(Goal::Quality(quality_of(quantizer(quality) - 1)));
            let (_, file) = written(raster(Layout::Rgba, Depth::Eight), &next);
            assert!(file.len() as u64 > bytes, "{quality} was not the highest");
        }
    }
    assert!(finer > 0);
    let strict = Options {
        min_quality: 90,
        ..Options::new(Goal::MaxSize(SizeLimit::Bytes(1_000)))
    };
    let (done, _) = written(raster(Layout::Rgb, Depth::Eight), &strict);
    assert!(matches!(done, Compressed::Kept(_)), "{done:?}");
}

#[test]
fn qualities_and_quantizers_are_each_others_inverse() {
    assert_eq!((quantizer(100), quantizer(0)), (0, 63));
    for level in 0..=62 {
        assert_eq!(quantizer(quality_of(level)), level);
    }
}

/// Every direction, told by the file itself, is undone by the reader.
#[test]
fn metadata_and_direction_go_along() {
    for orientation in 1..=8 {
        let mut picture = raster(Layout::Rgb, Depth::Eight);
        picture.carried = Carried {
            icc: Some(vec![7; 300]),
            exif: Some(exif(orientation)),
            xmp: Some(b"<x:xmpmeta/>".to_vec()),
            orientation,
            ..Carried::default()
        };
        let (_, file) = written(picture, &Options::new(Goal::Lossless));
        let after = read_back(&file).expect("own file");
        let plain = raster(Layout::Rgb, Depth::Eight);
        let turn = Turn::of(orientation.into());
        assert_eq!((after.width, after.height), turn.size(SIZE));
        let turned = turn
            .apply(plain.samples, SIZE, 3, &budget())
            .expect("turns");
        assert!(after.samples == turned, "{orientation}");
        assert_eq!(after.carried.icc, Some(vec![7; 300]));
        assert_eq!(after.carried.xmp.as_deref(), Some(&b"<x:xmpmeta/>"[..]));
        assert_eq!(after.carried.exif, Some(exif(1)));
        assert_eq!(after.carried.orientation, 1);
    }
}

/// A block that says nothing but the orientation.
fn exif(orientation: u8) -> Vec<u8> {
    let mut block = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
    block.extend([orientation, 0, 0, 0, 0, 0, 0, 0]);
    block
}

#[test]
fn damage_is_named_and_never_a_picture() {
    let (_, file) = written(
        raster(Layout::Rgba, Depth::Eight),
        &Options::new(Goal::Quality(60)),
    );
    for percent in 0..100 {
        let cut = &file[..file.len() * percent / 100];
        let read = read_back(cut);
        assert!(
            matches!(read, Err(Error::Corrupt { .. } | Error::Unsupported(_))),
            "{percent} %: {read:?}"
        );
    }
    // Whatever one byte says: an answer.
    for at in 0..file.len().min(700) {
        for value in [0, 1, 0x7f, 0xff] {
            let mut changed = file.clone();
            changed[at] = value;
            let _ = read_back(&changed);
        }
    }
}

/// The file with a name in its boxes put in place of another.
fn renamed(file: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = file.windows(from.len()).position(|window| window == from);
    let at = at.expect("the name is there");
    [&file[..at], to, &file[at + from.len()..]].concat()
}

#[test]
fn what_is_not_read_is_refused_by_name() {
    let (_, file) = written(
        raster(Layout::Rgba, Depth::Eight),
        &Options::new(Goal::Quality(60)),
    );
    let told = |file: &[u8]| match read_back(file) {
        Err(Error::Unsupported(what)) => what,
        other => panic!("{other:?}"),
    };
    // The first item's kind stands behind its number and protection.
    assert!(told(&renamed(&file, b"\0\x01\0\0av01", b"\0\x01\0\0grid")).contains("grid"));
    assert!(told(&renamed(&file, b"\0\x02\0\0av01", b"\0\x02\0\0tmap")).contains("gain map"));
    assert!(told(&renamed(&file, b"auxiliary:alpha", b"auxiliary:depth")).contains("planes"));
    assert!(told(&renamed(&file, b"auxl", b"none")).contains("several pictures"));
    assert!(told(&renamed(&file, b"nclx\0\x01\0\x0d", b"nclx\0\x09\0\x10")).contains("HDR"));
    let film = [&file[..], b"\0\0\0\x08moov"].concat();
    assert!(told(&film).contains("animated"));
}

#[test]
fn a_header_that_announces_more_than_the_file_says_is_not_decoded() {
    let (_, file) = written(
        raster(Layout::Rgb, Depth::Eight),
        &Options::new(Goal::Quality(60)),
    );
    let smaller = [SIZE.0 - 1, SIZE.1].map(u32::to_be_bytes).concat();
    let lying = renamed(
        &file,
        &[SIZE.0, SIZE.1].map(u32::to_be_bytes).concat(),
        &smaller,
    );
    assert!(matches!(read_back(&lying), Err(Error::Corrupt { .. })));
}

#[test]
fn memory_is_asked_for_first() {
    let small = Budget::new(1 << 20, 1 << 24);
    let picture = raster(Layout::Rgb, Depth::Eight);
    let options = Options::new(Goal::Quality(60));
    let done = write(picture, 1_000, &mut Vec::new(), &options, &small);
    assert!(matches!(done, Err(Error::OverBudget { .. })), "{done:?}");
    let (_, file) = written(raster(Layout::Rgb, Depth::Eight), &options);
    let read = read(&&file[..], &small);
    assert!(matches!(read, Err(Error::OverBudget { .. })), "{read:?}");
    let few = super::read(&&file[..], &Budget::new(1 << 28, 100));
    assert!(matches!(few, Err(Error::TooManyPixels { .. })), "{few:?}");
}

/// A decoder that is not libaom's reads the same pixels: libavif's own program, with whatever it links.
#[test]
fn another_decoder_reads_the_same_pixels() {
    let tools = std::process::Command::new("avifdec")
        .arg("--version")
        .output();
    if !tools.is_ok_and(|tools| tools.status.success()) {
        eprintln!("SKIPPED: avifdec is not here");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (from, to) = (folder.path().join("a.avif"), folder.path().join("a.png"));
    for layout in LAYOUTS {
        let (_, file) = written(raster(layout, Depth::Eight), &Options::new(Goal::Lossless));
        std::fs::write(&from, &file).expect("written");
        let ran = std::process::Command::new("avifdec")
            .args([&from, &to])
            .output();
        let ran = ran.expect("it runs");
        assert!(
            ran.status.success(),
            "{}",
            String::from_utf8_lossy(&ran.stdout)
        );
        let png = std::fs::read(&to).expect("a result");
        let theirs = crate::png::read_plain(&&png[..], &budget()).expect("a PNG");
        let ours = read_back(&file).expect("own file");
        let gray = matches!(layout, Layout::Gray | Layout::GrayAlpha);
        // It writes gray as colours.
        let picked: Vec<u8> = if gray && theirs.channels > 2 {
            let pixels = theirs.bytes.chunks_exact(theirs.channels);
            pixels
                .flat_map(|pixel| [&pixel[..1], &pixel[3..]].concat())
                .collect()
        } else {
            theirs.bytes
        };
        assert!(picked == ours.samples, "{layout:?}");
    }
}
