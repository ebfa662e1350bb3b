//! GIF through the door, looked at by a second decoder (the `gif` crate): every frame comes back index by index, every other
//! block byte by byte.

use crate::common::{at_most, options, run};
use gif::{DecodeOptions, DisposalMethod, Encoder, Frame, Repeat};
use pressroom_jobs::{Compressed, Error, Format, Goal, Keep, Note};
use proptest::prelude::*;

/// A GIF whose frames are coded badly: a clear code before every other index.
fn draw(frames: &[(u16, u16, Vec<u8>)]) -> Vec<u8> {
    let palette: Vec<u8> = (0..=255u8).flat_map(|n| [n, n ^ 0x55, 255 - n]).collect();
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, 300, 200, &palette).unwrap();
    encoder.set_repeat(Repeat::Finite(3)).unwrap();
    for (n, (width, height, indices)) in frames.iter().enumerate() {
        let mut frame = Frame {
            left: n as u16,
            top: 2,
            width: *width,
            height: *height,
            delay: 7 + n as u16,
            transparent: Some(n as u8),
            dispose: DisposalMethod::Background,
            interlaced: n == 1,
            buffer: bad(indices).into(),
            ..Frame::default()
        };
        if n == 2 {
            frame.palette = Some(palette.iter().rev().copied().collect());
        }
        encoder.write_lzw_pre_encoded_frame(&frame).unwrap();
    }
    drop(encoder);
    file
}

/// Three frames of which every one can be coded better.
pub(crate) fn animation() -> Vec<u8> {
    let frame = |seed| (90, 60, indices(90 * 60, seed, 200));
    draw(&[frame(3), frame(5), frame(7)])
}

/// Valid LZW of nine bits a code that never uses its table; the first byte is the code size.
fn bad(indices: &[u8]) -> Vec<u8> {
    let codes = indices
        .iter()
        .flat_map(|&index| [256, u32::from(index)])
        .chain([257]);
    let (mut out, mut word, mut held) = (vec![8], 0u32, 0);
    for code in codes {
        word |= code << held;
        held += 9;
        while held >= 8 {
            out.push(word as u8);
            (word, held) = (word >> 8, held - 8);
        }
    }
    out.push(word as u8);
    out
}

/// What a frame is, with its indices.
fn frames(file: &[u8]) -> Vec<String> {
    let mut decoder = DecodeOptions::new().read_info(file).unwrap();
    let mut all = vec![format!(
        "{:?} {:?}",
        decoder.repeat(),
        decoder.global_palette()
    )];
    while let Ok(Some(frame)) = decoder.read_next_frame() {
        all.push(format!("{frame:?}"));
    }
    all
}

fn indices(count: usize, seed: u32, colours: u32) -> Vec<u8> {
    let index = |n: usize| {
        let n = n as u32;
        (n / 9 + (n.wrapping_mul(seed) >> 20) % 5) % colours
    };
    (0..count).map(|n| index(n) as u8).collect()
}

fn saved(input: &[u8], goal: Goal) -> Vec<u8> {
    let (done, output) = run(input, &options(goal)).unwrap();
    let Compressed::Written(written) = done else {
        panic!("{done:?}");
    };
    assert_eq!(
        (written.format, written.bytes),
        (Format::Gif, output.len() as u64)
    );
    assert!(output.len() < input.len());
    output
}

fn three() -> Vec<u8> {
    draw(&[
        (300, 200, indices(60_000, 977, 256)),
        (80, 51, indices(4080, 5, 3)),
        (1, 1, vec![9]),
    ])
}

#[test]
fn frames_and_everything_around_them_come_back() {
    let input = three();
    for goal in [
        Goal::Lossless,
        Goal::Quality(50),
        at_most(input.len() as u64 - 1),
    ] {
        assert_eq!(frames(&saved(&input, goal)), frames(&input));
    }
}

#[test]
fn a_size_that_needs_loss_is_named_and_not_forced() {
    let (done, _) = run(&three(), &options(at_most(500))).unwrap();
    let Compressed::Kept(kept) = done else {
        panic!("{done:?}")
    };
    assert!(
        matches!(kept.why, Keep::TargetUnreachable { target: 500, smallest } if smallest > 500)
    );
}

#[test]
fn text_goes_when_asked_and_nothing_else() {
    let input = three();
    let comment = b"!\xfe\x05hello\0";
    let xmp = {
        let mut trailer: Vec<u8> = (0..=255u8).rev().collect();
        trailer.insert(0, 1);
        trailer.push(0);
        [
            b"!\xff\x0bXMP DataXMP".as_slice(),
            b"<x exif:GPSLatitude='1' dc:title='t'/>",
            &trailer,
        ]
        .concat()
    };
    let at = 13 + 768;
    let full = [&input[..at], comment, &xmp, &input[at..]].concat();
    let kept = saved(&full, Goal::Lossless);
    assert_eq!(
        kept[at..at + comment.len() + xmp.len()],
        [comment.as_slice(), &xmp].concat()
    );
    let mut asked = options(Goal::Lossless);
    (asked.strip.comment, asked.strip.xmp) = (true, true);
    let (_, bare) = run(&full, &asked).unwrap();
    assert_eq!(bare, saved(&input, Goal::Lossless));
    let mut asked = options(Goal::Lossless);
    asked.strip.gps = true;
    let (_, output) = run(&full, &asked).unwrap();
    let has = |word: &[u8]| output.windows(word.len()).any(|window| window == word);
    assert!(!has(b"GPS") && has(b"dc:title='t'") && has(b"hello"));
    assert_eq!(frames(&output), frames(&input));
}

#[test]
fn wherever_it_is_cut_off_it_is_an_error() {
    let input = draw(&[(30, 20, indices(600, 3, 40)), (30, 20, indices(600, 5, 40))]);
    let end_of_pixels = input.len() - 1;
    for length in 6..input.len() {
        match run(&input[..length], &options(Goal::Lossless)) {
            Ok((Compressed::Written(written), output)) => {
                // Cut between two blocks, no block is broken; the missing end mark is said.
                let whole = frames(&input);
                assert!(whole.starts_with(&frames(&output)), "cut at {length}");
                let between = matches!(input[length], b'!' | b',');
                assert!(length == end_of_pixels || between, "cut at {length}");
                assert!(matches!(written.notes[..], [Note::Repaired(_)]));
            }
            Ok((Compressed::Kept(kept), _)) => panic!("{kept:?}"),
            Err(error) => assert!(
                matches!(error, Error::Corrupt { .. }),
                "cut at {length}: {error}"
            ),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_indices_come_back(width in 1..120u16, height in 1..120u16, seed in any::<u32>(), colours in 1..=256u32, effort in 0..=9u8) {
        let count = usize::from(width) * usize::from(height);
        let input = draw(&[(width, height, indices(count, seed, colours))]);
        let mut asked = options(Goal::Lossless);
        (asked.force, asked.effort) = (true, effort);
        let (_, output) = run(&input, &asked).unwrap();
        prop_assert_eq!(frames(&output), frames(&input));
        prop_assert!(count < 30 || output.len() < input.len());
    }

    #[test]
    fn damage_never_panics(flips in proptest::collection::vec((6..2500usize, any::<u8>()), 1..8)) {
        let mut file = draw(&[(30, 20, indices(600, 3, 40)), (9, 9, indices(81, 3, 4))]);
        for (at, value) in flips {
            let at = at % file.len();
            file[at] = value;
        }
        let _ = run(&file, &options(Goal::Lossless));
    }
}
