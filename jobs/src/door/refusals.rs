//! Every claim on the budget refused, each alone and each with all that follow, for every format and kind of job: an
//! [`Error::OverBudget`] or, where there is a thriftier way, a result as good as any other; never a panic.

use super::{Compressed, compress};
use crate::budget::Fuse;
use crate::{
    Budget, Colours, Error, Format, Goal, Options, Orient, Progressive, Resize, SizeLimit, Wanted,
    recognise,
};

pub(super) fn plain() -> Options {
    Options {
        force: true,
        ..Options::new(Goal::Quality(60))
    }
}

const MEMORY: u64 = 512 << 20;
pub(super) const PIXELS: u64 = 200_000_000;

fn bounded(long_edge: u32) -> Resize {
    Resize {
        long_edge: Some(long_edge),
        ..Resize::default()
    }
}

/// A small picture of the repository in a format of choice.
fn small(name: &str, format: Wanted, options: &Options) -> Vec<u8> {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let original = std::fs::read(here.join("tests/photos").join(name)).unwrap();
    let asked = Options {
        format,
        resize: bounded(48),
        ..options.clone()
    };
    let mut out = Vec::new();
    let done = compress(
        &original.as_slice(),
        &mut out,
        &asked,
        &Budget::new(MEMORY, PIXELS),
    );
    assert!(matches!(done, Ok(Compressed::Written(_))), "{done:?}");
    out
}

fn pixels() -> Vec<u8> {
    (0..40 * 30 * 3_u32)
        .map(|n| (n * n / 7 % 251) as u8)
        .collect()
}

fn gif() -> Vec<u8> {
    let palette: Vec<u8> = (0..=255).flat_map(|n| [n, n ^ 0x55, 255 - n]).collect();
    let mut file = Vec::new();
    let mut encoder = gif::Encoder::new(&mut file, 40, 30, &palette).unwrap();
    for shift in 0..3 {
        let frame = gif::Frame {
            width: 40,
            height: 30,
            buffer: pixels()[shift..shift + 1200].to_vec().into(),
            ..gif::Frame::default()
        };
        encoder.write_frame(&frame).unwrap();
    }
    drop(encoder);
    file
}

fn apng() -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, 40, 30);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_animated(2, 0).unwrap();
    let mut writer = encoder.write_header().unwrap();
    for _ in 0..2 {
        writer.write_image_data(&pixels()).unwrap();
    }
    writer.finish().unwrap();
    file
}

fn tiff() -> Vec<u8> {
    let mut file = std::io::Cursor::new(Vec::new());
    let mut encoder = tiff::encoder::TiffEncoder::new(&mut file).unwrap();
    encoder
        .write_image::<tiff::encoder::colortype::RGB8>(40, 30, &pixels())
        .unwrap();
    file.into_inner()
}

fn by_image(format: image::ImageFormat) -> Vec<u8> {
    let mut file = std::io::Cursor::new(Vec::new());
    let picture = image::RgbImage::from_raw(40, 30, pixels()).unwrap();
    picture.write_to(&mut file, format).unwrap();
    file.into_inner()
}

pub(super) fn pictures() -> Vec<(Format, Vec<u8>)> {
    let progressive = Options {
        progressive: Progressive::On,
        ..plain()
    };
    let lossless = Options {
        goal: Goal::Lossless,
        ..plain()
    };
    vec![
        (Format::Jpeg, small("lake.jpg", Wanted::Jpeg, &plain())),
        (Format::Jpeg, small("lake.jpg", Wanted::Jpeg, &progressive)),
        (Format::Png, small("leaf.png", Wanted::Png, &plain())),
        (Format::Webp, small("lake.jpg", Wanted::Webp, &plain())),
        (Format::Webp, small("leaf.png", Wanted::Webp, &lossless)),
        (Format::Apng, apng()),
        (Format::Gif, gif()),
        (Format::Tiff, tiff()),
        (Format::Bmp, by_image(image::ImageFormat::Bmp)),
        (Format::Qoi, by_image(image::ImageFormat::Qoi)),
        (Format::Pnm, by_image(image::ImageFormat::Pnm)),
    ]
}

pub(super) fn jobs() -> Vec<Options> {
    let goals = [
        Goal::Ssimulacra2(60.0),
        Goal::Lossless,
        Goal::Quality(60),
        Goal::MaxSize(SizeLimit::Permille(700)),
    ];
    let same = goals.map(|goal| Options { goal, ..plain() });
    let formats = [Wanted::Jpeg, Wanted::Png, Wanted::Webp];
    let others = formats.map(|format| Options { format, ..plain() });
    let more = [
        Options {
            resize: bounded(20),
            orient: Orient::Apply,
            ..plain()
        },
        Options {
            resize: bounded(20),
            linear_light: true,
            ..plain()
        },
        Options {
            lossy_png: true,
            colours: Colours::Srgb,
            ..plain()
        },
        Options {
            goal: Goal::MaxSize(SizeLimit::Bytes(300)),
            shrink_to_fit: Some(8),
            ..plain()
        },
    ];
    same.into_iter().chain(others).chain(more).collect()
}

/// One job of which this claim is refused; answers how many claims there were.
fn refused(format: Format, input: &[u8], options: &Options, at: u64, blown: bool) -> u64 {
    let fuse = Fuse::new(at, blown);
    let budget = Budget::fused(MEMORY, PIXELS, &fuse);
    let mut out = Vec::new();
    let done = compress(&input, &mut out, options, &budget);
    let about = format!("{format:?}, claim {at}, {options:?}");
    match done {
        Ok(Compressed::Written(written)) => {
            assert_eq!(written.bytes, out.len() as u64, "{about}");
            assert_eq!(
                recognise(&out.as_slice()).unwrap(),
                written.format,
                "{about}"
            );
        }
        Ok(Compressed::Kept(_)) => {}
        Err(Error::OverBudget { needed, .. }) => assert!(at > 0 && needed > 0, "{about}"),
        Err(other) => panic!("{about}: {other}"),
    }
    fuse.claims()
}

#[test]
fn any_claim_may_be_refused() {
    let mut refusals = 0;
    for (format, input) in pictures() {
        assert_eq!(recognise(&input.as_slice()).unwrap(), format);
        for options in jobs() {
            let claims = refused(format, &input, &options, 0, false);
            for at in 1..=claims {
                for blown in [false, true] {
                    refused(format, &input, &options, at, blown);
                }
            }
            refusals += 2 * claims;
        }
    }
    eprintln!("{refusals} claims refused");
    assert!(refusals > 1000, "hardly anything was claimed: {refusals}");
}
