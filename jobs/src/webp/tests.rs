//! Rasters written as WebP and read again.

use super::*;
use crate::SizeLimit;
use crate::raster::{Carried, Layout};

fn asked(goal: Goal) -> Options {
    Options::new(goal)
}

const SIZE: (u32, u32) = (37, 23);

fn raster(layout: Layout, depth: Depth) -> Raster {
    let count = SIZE.0 as usize * SIZE.1 as usize * layout.channels();
    let value = |n: usize| (n * n / 50 + n * 3) as u8;
    let samples = (0..count).flat_map(|n| match depth {
        Depth::Eight => vec![value(n)],
        // 257 times eight bits is exactly those eight bits in sixteen.
        Depth::Sixteen => (u16::from(value(n)) * 257).to_ne_bytes().to_vec(),
    });
    Raster {
        width: SIZE.0,
        height: SIZE.1,
        layout,
        depth,
        samples: samples.collect(),
        carried: Carried {
            icc: Some(b"profile".to_vec()),
            xmp: Some(b"<x/>".to_vec()),
            ..Carried::default()
        },
    }
}

fn written(raster: Raster, goal: Goal) -> (Written, Vec<u8>) {
    let mut out = Vec::new();
    let budget = Budget::new(64 << 20, 1_000_000);
    let done = write(raster, 5000, &mut out, &asked(goal), &budget).expect("codes");
    let Compressed::Written(written) = done else {
        panic!("{done:?}");
    };
    assert_eq!(written.bytes, out.len() as u64);
    (written, out)
}

fn again(file: &[u8]) -> Raster {
    read(&file, &Budget::new(64 << 20, 1_000_000)).expect("reads")
}

#[test]
fn what_is_written_without_loss_reads_the_same() {
    for layout in [Layout::Rgb, Layout::Rgba] {
        for depth in [Depth::Eight, Depth::Sixteen] {
            let (written, file) = written(raster(layout, depth), Goal::Lossless);
            let back = again(&file);
            let wanted = raster(layout, Depth::Eight);
            assert_eq!((back.layout, &back.samples), (layout, &wanted.samples));
            assert_eq!(back.carried, wanted.carried);
            let cut = matches!(written.notes[..], [Note::Dropped(_)]);
            assert_eq!(cut, depth == Depth::Sixteen);
        }
    }
}

#[test]
fn gray_becomes_equal_samples() {
    let (_, file) = written(raster(Layout::GrayAlpha, Depth::Eight), Goal::Lossless);
    let back = again(&file);
    let gray = raster(Layout::GrayAlpha, Depth::Eight).samples;
    let spread = |pixel: &[u8]| [pixel[0], pixel[0], pixel[0], pixel[1]];
    let wanted: Vec<u8> = gray.chunks(2).flat_map(spread).collect();
    assert_eq!(back.samples, wanted);
}

#[test]
fn a_quality_and_a_size_are_met_and_ink_is_refused() {
    let (at_90, large) = written(raster(Layout::Rgb, Depth::Eight), Goal::Quality(90));
    assert_eq!((at_90.quality, at_90.notes), (Some(90), Vec::new()));
    let limit = large.len() as u64 * 3 / 4;
    let goal = Goal::MaxSize(SizeLimit::Bytes(limit));
    let (fitted, small) = written(raster(Layout::Rgb, Depth::Eight), goal);
    assert!(small.len() as u64 <= limit && fitted.quality.is_some_and(|quality| quality < 90));
    let budget = Budget::new(64 << 20, 1_000_000);
    let ink = write(
        raster(Layout::Cmyk, Depth::Eight),
        1,
        &mut Vec::new(),
        &asked(Goal::Quality(75)),
        &budget,
    );
    assert!(matches!(ink, Err(Error::Unsupported(_))));
}

#[test]
fn nothing_stays_claimed_once_the_pixels_are_gone() {
    let budget = Budget::new(64 << 20, 1_000_000);
    let mut samples = budget.vec(1000 * 3).expect("small");
    samples.resize(1000 * 3, 7);
    let plain = Raster {
        width: 100,
        height: 10,
        layout: Layout::Rgb,
        depth: Depth::Eight,
        samples,
        carried: Carried::default(),
    };
    write(
        plain,
        1,
        &mut Vec::new(),
        &asked(Goal::Quality(75)),
        &budget,
    )
    .expect("codes");
    assert_eq!(budget.left(), budget.memory());
}

#[test]
fn bands_of_rows_make_the_planes_of_the_whole_picture() {
    use super::image::{Lossy, Plain};
    use super::libwebp::{Coding, Picture};
    let budget = Budget::new(64 << 20, 1_000_000);
    for (layout, size) in [
        (Layout::Rgb, (51, 129)),
        (Layout::Rgba, (33, 200)),
        (Layout::Rgb, (1, 1)),
    ] {
        let count = size.0 as usize * size.1 as usize * layout.channels();
        let samples: Vec<u8> = (0..count).map(|n| (n * n / 77 + n / 9) as u8).collect();
        let mut whole = Vec::new();
        let coding = Coding::Lossy {
            quality: 80.0,
            method: 4,
        };
        let mut picture = Picture::of_rgb(&samples, size, layout.channels(), false).expect("fits");
        picture.encode(coding, &mut whole).expect("codes");
        let whole = riff::parse(&whole).expect("sound").pieces;
        let plain = Plain {
            samples: samples.clone(),
            layout,
            size,
        };
        let lossy = Lossy::of_plain(plain, &budget).expect("fits");
        let banded = lossy.code(4, &budget, |code| code(80.0)).expect("codes");
        let image = whole.into_iter().filter(Piece::is_image);
        assert!(image.eq(banded), "{layout:?} {size:?}");
    }
}
