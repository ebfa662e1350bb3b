//! Any bytes through the one door, in every format and with settings of all kinds: an answer or a refusal, never a panic;
//! what is written is as long as it says and decodes.
#![no_main]

#[path = "options.rs"]
mod options;

use libfuzzer_sys::fuzz_target;
use pressroom_jobs::{
    Budget, Colours, Compressed, Options, Orient, Resize, Strip, Wanted, compress, recognise,
};

fuzz_target!(|bytes: &[u8]| {
    let budget = Budget::new(1 << 25, 1 << 18);
    let mut out = Vec::new();
    let done = compress(&bytes, &mut out, &wide_options(bytes), &budget);
    if let Ok(Compressed::Written(written)) = done {
        assert_eq!(written.bytes, out.len() as u64);
        assert_eq!(
            recognise(&out.as_slice()).expect("own output"),
            written.format
        );
    }
    assert!(budget.peak() <= budget.memory());
});

/// Those that keep dimensions and format, and, by further bytes, those that do not.
fn wide_options(bytes: &[u8]) -> Options {
    let last = |n: usize| bytes.iter().rev().nth(n).copied().unwrap_or(0);
    let bound = |byte: u8| (byte % 4 == 0).then_some(1 + u32::from(byte / 4));
    let kinds = last(10);
    Options {
        effort: last(3) % 4,
        lossy_png: last(7) % 2 == 0,
        format: [
            Wanted::Same,
            Wanted::Jpeg,
            Wanted::Png,
            Wanted::Webp,
            Wanted::Avif,
        ][usize::from(last(8) % 5)],
        resize: Resize {
            long_edge: bound(last(9)),
            ..Resize::default()
        },
        linear_light: last(13) % 2 == 1,
        orient: if last(11) % 2 == 0 {
            Orient::Keep
        } else {
            Orient::Apply
        },
        colours: if last(12) % 2 == 0 {
            Colours::Keep
        } else {
            Colours::Srgb
        },
        strip: Strip {
            exif: kinds & 1 != 0,
            gps: kinds & 2 != 0,
            xmp: kinds & 4 != 0,
            iptc: kinds & 8 != 0,
            comment: kinds & 16 != 0,
            thumbnail: kinds & 32 != 0,
            icc: kinds & 64 != 0,
            gainmap: kinds & 128 != 0,
            motion: kinds & 128 != 0,
        },
        ..options::options(bytes)
    }
}
