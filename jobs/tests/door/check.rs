//! The second look at a result: every kind of result passes it, and what is not the result does not.

use crate::common::{at_most, options, run};
use pressroom_jobs::{
    Budget, Colours, Compressed, Error, Goal, Options, Orient, Progressive, Resize, Strip, Wanted,
    Written, check,
};

fn photo(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/photos");
    std::fs::read(format!("{folder}/{name}")).expect("a photo of the repository")
}

fn written(input: &[u8], options: &Options) -> (Written, Vec<u8>) {
    match run(input, options).expect("a good picture") {
        (Compressed::Written(written), output) => (written, output),
        (Compressed::Kept(kept), _) => panic!("kept: {kept:?}"),
    }
}

fn look(input: &[u8], output: &[u8], written: &Written, options: &Options) -> Result<(), Error> {
    check(
        &input,
        &output,
        written,
        options,
        &Budget::new(64 << 20, 1 << 30),
    )
}

fn refused(input: &[u8], output: &[u8], written: &Written, options: &Options) -> String {
    match look(input, output, written, options) {
        Err(Error::Verify(what)) => what,
        other => panic!("not refused: {other:?}"),
    }
}

/// Options of every kind of JPEG result.
fn kinds() -> Vec<Options> {
    let forms = [Progressive::On, Progressive::Off];
    let goals = [Goal::Quality(60), at_most(60_000), Goal::Lossless];
    let mut kinds: Vec<Options> = forms
        .into_iter()
        .flat_map(|progressive| {
            goals.map(|goal| Options {
                progressive,
                force: true,
                ..options(goal)
            })
        })
        .collect();
    kinds.push(Options {
        resize: Resize {
            long_edge: Some(200),
            ..Resize::default()
        },
        ..options(Goal::Quality(70))
    });
    kinds.push(Options {
        strip: Strip {
            exif: true,
            comment: true,
            ..Strip::default()
        },
        ..options(Goal::Quality(50))
    });
    kinds
}

#[test]
fn every_kind_of_result_passes() {
    for name in [
        "birches.jpg",
        "lake.jpg",
        "town.jpg",
        "dunes.jpg",
        "granite.jpg",
    ] {
        let input = photo(name);
        for options in kinds() {
            let (written, output) = written(&input, &options);
            let looked = look(&input, &output, &written, &options);
            assert!(looked.is_ok(), "{name} {options:?}: {looked:?}");
        }
    }
    let input = photo("leaf.png");
    let options = options(Goal::Lossless);
    let (written, output) = written(&input, &options);
    look(&input, &output, &written, &options).expect("a good PNG");
}

#[test]
fn webp_and_gif_pass_whole_and_are_refused_cut() {
    let as_webp = Options {
        format: Wanted::Webp,
        force: true,
        ..options(Goal::Quality(90))
    };
    let (_, webp) = written(&photo("birches.jpg"), &as_webp);
    let gif = crate::gif::animation();
    for (input, asked) in [(webp, Goal::Quality(40)), (gif, Goal::Lossless)] {
        let options = Options {
            force: true,
            ..options(asked)
        };
        let (mut written, output) = written(&input, &options);
        look(&input, &output, &written, &options).expect("a good result");
        let cut = &output[..output.len() * 2 / 3];
        written.bytes = cut.len() as u64;
        refused(&input, cut, &written, &options);
    }
}

#[test]
fn a_turned_and_a_recoloured_picture_pass() {
    let mut input = photo("birches.jpg");
    let exif = crate::turn::exif_saying(3);
    input.splice(2..2, exif);
    let turned = Options {
        orient: Orient::Apply,
        force: true,
        ..options(Goal::Lossless)
    };
    let recoloured = Options {
        colours: Colours::Srgb,
        force: true,
        ..options(Goal::Quality(60))
    };
    for options in [turned, recoloured] {
        let (written, output) = written(&input, &options);
        look(&input, &output, &written, &options).expect("a good result");
    }
}

#[test]
fn a_result_that_was_cut_or_lengthened_is_refused_wherever_it_was() {
    let input = photo("birches.jpg");
    let options = options(Goal::Quality(50));
    let (mut written, output) = written(&input, &options);
    let told = written.bytes;
    assert!(
        refused(&input, &output[..output.len() - 1], &written, &options).contains("bytes stand")
    );
    for percent in 0..100 {
        let cut = &output[..output.len() * percent / 100];
        written.bytes = cut.len() as u64;
        refused(&input, cut, &written, &options);
    }
    // All but the end marker decodes, with a warning.
    written.bytes = told - 2;
    let unended = &output[..output.len() - 2];
    assert!(refused(&input, unended, &written, &options).contains("warnings"));
}

#[test]
fn one_wrong_bit_in_a_lossless_result_is_found_wherever_it_is() {
    let input = photo("birches.jpg");
    let options = Options {
        force: true,
        ..options(Goal::Lossless)
    };
    let (written, output) = written(&input, &options);
    let scan = output
        .windows(2)
        .rposition(|pair| pair == [0xFF, 0xDA])
        .expect("a scan");
    for at in (scan + 12..output.len() - 2).step_by(997) {
        let mut damaged = output.clone();
        damaged[at] ^= 0x10;
        refused(&input, &damaged, &written, &options);
    }
}

#[test]
fn another_picture_is_refused() {
    let (input, other) = (photo("birches.jpg"), photo("leaf.png"));
    let options = options(Goal::Quality(50));
    let (written, output) = written(&input, &options);
    let told = |bytes: &[u8]| Written {
        bytes: bytes.len() as u64,
        ..written.clone()
    };
    let png = refused(&input, &other, &told(&other), &options);
    assert!(png.contains("looks like PNG"), "{png}");
    let text = b"<html>not a picture</html>";
    refused(&input, text, &told(text), &options);
    let wider = Written {
        width: written.width + 1,
        ..written.clone()
    };
    assert!(refused(&input, &output, &wider, &options).contains("decodes to"));
}

#[test]
fn a_png_that_does_not_decode_to_its_end_is_refused() {
    let input = photo("leaf.png");
    let options = options(Goal::Lossless);
    let (written, mut output) = written(&input, &options);
    let middle = output.len() / 2;
    output[middle] ^= 1;
    refused(&input, &output, &written, &options);
}
