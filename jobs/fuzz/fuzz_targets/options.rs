//! Settings of a job, by the last bytes of the file.

use pressroom_jobs::{Chroma, Goal, Options, Progressive, SizeLimit};

/// Settings by the last bytes of the file.
pub fn options(bytes: &[u8]) -> Options {
    let last = |n: usize| bytes.iter().rev().nth(n).copied().unwrap_or(0);
    let goal = match last(0) % 4 {
        0 => Goal::Lossless,
        1 => Goal::MaxSize(SizeLimit::Permille(u32::from(last(1)) * 4)),
        2 => Goal::MaxSize(SizeLimit::Bytes(u64::from(last(1)) * 8)),
        _ => Goal::Quality(1 + last(1) % 100),
    };
    Options {
        min_quality: 1 + last(2) % 30,
        effort: last(3) % 10,
        chroma: [Chroma::Auto, Chroma::Full, Chroma::Half, Chroma::Quarter]
            [usize::from(last(4) % 4)],
        progressive: [Progressive::Auto, Progressive::On, Progressive::Off]
            [usize::from(last(5) % 3)],
        force: last(6) % 2 == 0,
        ..Options::new(goal)
    }
}
