//! What the tests share: options, and a run of the door over bytes.

use pressroom_jobs::{Budget, Compressed, Error, Goal, Options, SizeLimit, compress};

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
