//! What the tests share: options, and a run of the door over bytes.

use pressroom_jobs::{
    Budget, Compressed, Error, Goal, Options, Progressive, SizeLimit, Wanted, compress,
};

/// The options a plain run with this goal uses.
pub(crate) fn options(goal: Goal) -> Options {
    Options::new(goal)
}

/// A limit in bytes as a goal.
pub(crate) fn at_most(bytes: u64) -> Goal {
    Goal::MaxSize(SizeLimit::Bytes(bytes))
}

/// Runs the door with half a gigabyte of memory and 200 megapixels.
pub(crate) fn run(input: &[u8], options: &Options) -> Result<(Compressed, Vec<u8>), Error> {
    run_within(input, options, 512 << 20)
}

/// Runs the door with `memory` bytes.
pub(crate) fn run_within(
    input: &[u8],
    options: &Options,
    memory: u64,
) -> Result<(Compressed, Vec<u8>), Error> {
    let mut output = Vec::new();
    let budget = Budget::new(memory, 200_000_000);
    let done = compress(&input, &mut output, options, &budget)?;
    Ok((done, output))
}

/// The one-word outcome and its details, for golden lists.
pub(crate) fn outcome(result: &Result<(Compressed, Vec<u8>), Error>) -> String {
    match result {
        Ok((Compressed::Written(written), _)) => {
            format!("saved {} {:?}", written.format.name(), written.notes)
        }
        Ok((Compressed::Kept(kept), _)) => {
            format!(
                "kept {} {:?} {:?}",
                kept.format.name(),
                kept.why,
                kept.notes
            )
        }
        Err(error) => format!("failed {error}"),
    }
}

/// One of the repository's own pictures.
pub(crate) fn picture(name: &str) -> Vec<u8> {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::read(here.join("tests/photos").join(name)).unwrap()
}

/// Six megapixels of waves and grain.
pub(crate) fn waves() -> Vec<u8> {
    let (width, height) = (3000_u32, 2000_u32);
    let mut file = format!("P6\n{width} {height}\n255\n").into_bytes();
    let mut grain = 1_u32;
    for n in 0..width * height {
        let (x, y) = ((n % width) as f32, (n / width) as f32);
        grain = grain.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let wave = (x / 37.0).sin() * 50.0 + (y / 23.0).cos() * 40.0 + (grain >> 28) as f32;
        file.extend([128.0 + wave, 120.0 - wave / 2.0, 90.0 + wave / 3.0].map(|v| v as u8));
    }
    let into_jpeg = Options {
        format: Wanted::Jpeg,
        progressive: Progressive::Off,
        ..options(Goal::Quality(92))
    };
    run(&file, &into_jpeg).unwrap().1
}
