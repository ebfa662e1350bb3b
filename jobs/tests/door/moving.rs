//! Moving pictures made smaller in pixels: a red square walks over a blue or an empty ground, each time as another frame that
//! is taken away again. Looked at by decoders that are not the engine's, or put together here.

use crate::common::{options, run};
use crate::webp;
use pressroom_jobs::{Compressed, Error, Format, Goal, Keep, Options, SizeLimit, Wanted};
use std::io::Cursor;

const SIZE: (u32, u32) = (64, 48);
const SMALL: (u32, u32) = (32, 24);
const SQUARE: u32 = 16;
const RED: [u8; 4] = [255, 0, 0, 255];
const BLUE: [u8; 4] = [0, 0, 255, 255];
const NONE: [u8; 4] = [0; 4];

/// Where the square lies in a frame behind the first.
fn left(frame: u32) -> u32 {
    frame * 14
}

fn smaller(goal: Goal) -> Options {
    let mut asked = Options {
        force: true,
        ..options(goal)
    };
    asked.resize.long_edge = Some(SMALL.0);
    asked
}

/// Pictures of the small size with their times.
type Pictures = Vec<(u32, Vec<[u8; 4]>)>;

/// The square is where it belongs and nowhere else, on that ground, in every picture; times are 50, 60, 70, 80.
fn check(pictures: &Pictures, ground: [u8; 4]) {
    assert_eq!(pictures.len(), 4);
    for (n, (time, picture)) in pictures.iter().enumerate() {
        let n = n as u32;
        assert_eq!(*time, 50 + 10 * n);
        for other in 1..4 {
            let x = (left(other) + SQUARE / 2) / 2;
            let seen = picture[(12 * SMALL.0 + x) as usize];
            let expected = if other == n { RED } else { ground };
            // Resampling rings a little; the colour of what is hardly there does not count.
            let channels = if expected[3] == 0 { 3..4 } else { 0..4 };
            let apart = channels.map(|c| seen[c].abs_diff(expected[c])).max();
            assert!(apart < Some(40), "{n} {other}: {seen:?}");
        }
    }
}

/// A frame as a file stores it: place and size, pixels, whether it lies over, what becomes of it (0 stays, 1 cleared, 2 undone).
struct Frame {
    area: [u32; 4],
    pixels: Vec<[u8; 4]>,
    over: bool,
    gone: u8,
    time: u32,
}

/// Pictures as they are seen.
fn composed(frames: Vec<Frame>) -> Pictures {
    let mut screen = vec![NONE; (SMALL.0 * SMALL.1) as usize];
    let mut out = Vec::new();
    for frame in frames {
        let before = screen.clone();
        let [left, top, width, height] = frame.area;
        let places = (top..top + height).flat_map(|y| (left..left + width).map(move |x| (x, y)));
        let places: Vec<usize> = places.map(|(x, y)| (y * SMALL.0 + x) as usize).collect();
        for (&place, pixel) in places.iter().zip(&frame.pixels) {
            if !frame.over || pixel[3] > 0 {
                screen[place] = *pixel;
            }
        }
        out.push((frame.time, screen.clone()));
        match frame.gone {
            1 => places.iter().for_each(|&place| screen[place] = NONE),
            2 => screen = before,
            _ => {}
        }
    }
    out
}

fn gif(ground: [u8; 4]) -> Vec<u8> {
    let mut file = Vec::new();
    let palette = [0, 0, 255, 255, 0, 0, 9, 9, 9, 0, 0, 0];
    let mut encoder = gif::Encoder::new(&mut file, SIZE.0 as u16, SIZE.1 as u16, &palette).unwrap();
    encoder.set_repeat(gif::Repeat::Finite(3)).unwrap();
    let first = if ground == BLUE { 0 } else { 2 };
    for n in 0..4 {
        let (area, index, dispose) = match (n, ground == BLUE) {
            (0, _) => ([0, 0, SIZE.0, SIZE.1], first, gif::DisposalMethod::Keep),
            (_, true) => (
                [left(n), 16, SQUARE, SQUARE],
                1,
                gif::DisposalMethod::Previous,
            ),
            (_, false) => (
                [left(n), 16, SQUARE, SQUARE],
                1,
                gif::DisposalMethod::Background,
            ),
        };
        let [left, top, width, height] = area.map(|side| side as u16);
        let frame = gif::Frame {
            left,
            top,
            width,
            height,
            dispose,
            delay: 5 + n as u16,
            transparent: Some(2),
            buffer: vec![index; usize::from(width) * usize::from(height)].into(),
            ..gif::Frame::default()
        };
        encoder.write_frame(&frame).unwrap();
    }
    drop(encoder);
    file
}

fn gif_pictures(file: &[u8]) -> Pictures {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(file).unwrap();
    assert_eq!(
        (decoder.width(), decoder.height()),
        (SMALL.0 as u16, SMALL.1 as u16)
    );
    let mut frames = Vec::new();
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        frames.push(Frame {
            area: [frame.left, frame.top, frame.width, frame.height].map(u32::from),
            pixels: frame.buffer.as_chunks::<4>().0.to_vec(),
            over: true,
            gone: match frame.dispose {
                gif::DisposalMethod::Background => 1,
                gif::DisposalMethod::Previous => 2,
                gif::DisposalMethod::Keep | gif::DisposalMethod::Any => 0,
            },
            time: u32::from(frame.delay) * 10,
        });
    }
    assert_eq!(decoder.repeat(), gif::Repeat::Finite(3));
    composed(frames)
}

#[test]
fn gif_keeps_its_pictures_times_and_loops() {
    for ground in [BLUE, NONE] {
        let input = gif(ground);
        let (done, output) = run(&input, &smaller(Goal::Quality(80))).unwrap();
        let Compressed::Written(written) = done else {
            panic!("{done:?}");
        };
        assert_eq!((written.width, written.height), SMALL);
        assert_eq!(written.notes, []);
        check(&gif_pictures(&output), ground);
    }
}

#[test]
fn a_gif_of_more_colours_than_a_palette_has_says_so() {
    let side = 300_u16;
    let palette: Vec<u8> = (0..=255_u8).flat_map(|n| [n, n ^ 0x55, 255 - n]).collect();
    let mut input = Vec::new();
    let mut encoder = gif::Encoder::new(&mut input, side, side, &palette).unwrap();
    let noise =
        (0..u32::from(side) * u32::from(side)).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8);
    let frame = gif::Frame {
        width: side,
        height: side,
        buffer: noise.collect(),
        ..gif::Frame::default()
    };
    encoder.write_frame(&frame).unwrap();
    drop(encoder);
    let mut asked = smaller(Goal::Lossless);
    asked.resize.long_edge = Some(100);
    let (done, _) = run(&input, &asked).unwrap();
    assert!(
        matches!(&done, Compressed::Written(written) if format!("{:?}", written.notes).contains("dithered")),
        "{done:?}"
    );
    // What is not smaller than the original keeps it, as in every format.
    asked.force = false;
    asked.resize.long_edge = Some(299);
    let (done, _) = run(&input, &asked).unwrap();
    let kept = matches!(&done, Compressed::Kept(kept) if kept.why == Keep::NotSmaller);
    assert!(kept || matches!(done, Compressed::Written(_)));
}

fn apng(ground: [u8; 4], hidden: bool) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, SIZE.0, SIZE.1);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_animated(4, 3).unwrap();
    encoder.set_sep_def_img(hidden).unwrap();
    let mut writer = encoder.write_header().unwrap();
    let whole = ground.repeat((SIZE.0 * SIZE.1) as usize);
    if hidden {
        writer
            .write_image_data(&BLUE.repeat((SIZE.0 * SIZE.1) as usize))
            .unwrap();
    }
    for n in 0..4_u32 {
        writer.set_frame_delay(5 + n as u16, 100).unwrap();
        if n == 0 {
            writer.write_image_data(&whole).unwrap();
            continue;
        }
        writer.reset_frame_position().unwrap();
        writer.set_frame_dimension(SQUARE, SQUARE).unwrap();
        writer.set_frame_position(left(n), 16).unwrap();
        let (blend, dispose) = if ground == BLUE {
            (png::BlendOp::Source, png::DisposeOp::Previous)
        } else {
            (png::BlendOp::Over, png::DisposeOp::Background)
        };
        writer.set_blend_op(blend).unwrap();
        writer.set_dispose_op(dispose).unwrap();
        writer
            .write_image_data(&RED.repeat((SQUARE * SQUARE) as usize))
            .unwrap();
    }
    writer.finish().unwrap();
    file
}

fn apng_pictures(file: &[u8], hidden: bool) -> Pictures {
    let mut decoder = png::Decoder::new(Cursor::new(file));
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::ALPHA);
    let mut reader = decoder.read_info().unwrap();
    assert_eq!((reader.info().width, reader.info().height), SMALL);
    assert_eq!(reader.info().animation_control.unwrap().num_plays, 3);
    let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
    if hidden {
        reader.next_frame(&mut buffer).unwrap();
        assert_eq!(buffer[..4], BLUE);
    }
    let mut frames = Vec::new();
    for _ in 0..4 {
        let info = reader.next_frame(&mut buffer).unwrap();
        let control = *reader.info().frame_control().unwrap();
        let rows = buffer.chunks_exact(SMALL.0 as usize * 4);
        let rows = rows.take(control.height as usize);
        let stored = &buffer[..info.line_size * control.height as usize];
        // A smaller frame stands at its own distance of rows.
        let pixels: Vec<[u8; 4]> = if info.line_size == control.width as usize * 4 {
            stored.as_chunks::<4>().0.to_vec()
        } else {
            rows.flat_map(|row| row.as_chunks::<4>().0[..control.width as usize].to_vec())
                .collect()
        };
        frames.push(Frame {
            area: [
                control.x_offset,
                control.y_offset,
                control.width,
                control.height,
            ],
            pixels,
            over: control.blend_op == png::BlendOp::Over,
            gone: control.dispose_op as u8,
            time: u32::from(control.delay_num) * 1000 / u32::from(control.delay_den),
        });
    }
    composed(frames)
}

#[test]
fn apng_keeps_its_pictures_times_and_plays() {
    for (ground, hidden) in [(BLUE, false), (NONE, false), (BLUE, true)] {
        let input = apng(ground, hidden);
        let (done, output) = run(&input, &smaller(Goal::Lossless)).unwrap();
        let Compressed::Written(written) = done else {
            panic!("{done:?}");
        };
        assert_eq!(
            (written.format, written.width, written.height),
            (Format::Apng, 32, 24)
        );
        check(&apng_pictures(&output, hidden), ground);
    }
}

/// Frames that are stored without loss, or with.
fn animated_webp(lossless: bool) -> Vec<u8> {
    let coded = |colour: [u8; 4], (width, height): (u32, u32)| {
        let pixels = colour.repeat((width * height) as usize);
        let mut file = Vec::new();
        if lossless {
            let encoder = image_webp::WebPEncoder::new(&mut file);
            let kind = image_webp::ColorType::Rgba8;
            encoder.encode(&pixels, width, height, kind).unwrap();
            return file;
        }
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(png::ColorType::Rgba);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&pixels).unwrap();
        writer.finish().unwrap();
        let asked = Options {
            force: true,
            format: Wanted::Webp,
            ..options(Goal::Quality(95))
        };
        let (done, lossy) = run(&file, &asked).unwrap();
        assert!(matches!(done, Compressed::Written(_)), "{done:?}");
        lossy
    };
    let mut parts = vec![webp::chunk(b"ANIM", &[0, 0, 0, 0, 3, 0])];
    for n in 0..4_u32 {
        let (area, colour, flags) = match n {
            0 => ([0, 0, SIZE.0, SIZE.1], NONE, 0),
            _ => ([left(n), 16, SQUARE, SQUARE], RED, 1),
        };
        let numbers = [
            area[0] / 2,
            area[1] / 2,
            area[2] - 1,
            area[3] - 1,
            50 + 10 * n,
        ];
        let bytes = numbers
            .iter()
            .flat_map(|number| number.to_le_bytes().into_iter().take(3));
        let head: Vec<u8> = bytes.chain([flags]).collect();
        let file = coded(colour, (area[2], area[3]));
        parts.push(webp::chunk(b"ANMF", &[head, webp::image(&file)].concat()));
    }
    webp::extended(0x12, SIZE, &parts)
}

#[test]
fn animated_webp_keeps_its_pictures_times_and_loops() {
    for lossless in [true, false] {
        let input = animated_webp(lossless);
        for goal in [Goal::Quality(90), Goal::MaxSize(SizeLimit::Bytes(2000))] {
            let (done, output) = run(&input, &smaller(goal)).unwrap();
            let Compressed::Written(written) = done else {
                panic!("{done:?}");
            };
            assert_eq!(
                (written.format, written.width, written.height),
                (Format::Webp, 32, 24)
            );
            let mut decoder = image_webp::WebPDecoder::new(Cursor::new(&output[..])).unwrap();
            assert_eq!(decoder.dimensions(), SMALL);
            assert_eq!(
                decoder.loop_count(),
                image_webp::LoopCount::Times(std::num::NonZeroU16::new(3).unwrap())
            );
            let mut pixels = vec![0; decoder.output_buffer_size().unwrap()];
            let pictures: Pictures = (0..decoder.num_frames())
                .map(|_| {
                    let time = decoder.read_frame(&mut pixels).unwrap();
                    (time, pixels.as_chunks::<4>().0.to_vec())
                })
                .collect();
            check(&pictures, NONE);
        }
    }
}

#[test]
fn damage_in_any_frame_is_an_error_and_too_little_memory_is_named() {
    for input in [gif(BLUE), apng(BLUE, false), animated_webp(true)] {
        let asked = smaller(Goal::Quality(80));
        for end in (1..20).map(|n| input.len() * n / 20) {
            // A GIF may end between frames; nothing else may be cut, and nothing panics.
            let done = run(&input[..end], &asked);
            let gif = input.starts_with(b"GIF");
            assert!(
                gif || !matches!(done, Ok((Compressed::Written(_), _))),
                "{end}"
            );
        }
        let done = crate::common::run_within(&input, &asked, 4000);
        assert!(matches!(done, Err(Error::OverBudget { .. })), "{done:?}");
    }
}
