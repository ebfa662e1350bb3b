//! Compresses pictures and says what it cost: `compress_time [--size N] [--quality N] [--score N] [--lossless] [--effort N] [--max-width N]
//! [--webp] [--jpeg] [--repeat N] [--out DIR] FILE...`.
//!
//! Times are CPU time of this thread: the median of all repeats but the first, and the first (cold) one apart. With
//! `--out` the last result is written, for `score`. One repeat under `valgrind --tool=callgrind` counts instructions.
#![expect(clippy::print_stdout, reason = "its only purpose")]

use pressroom_jobs::{Budget, Compressed, Goal, Options, SizeLimit, Wanted, compress};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Memory and pixels no photograph comes near.
const PLENTY: u64 = 1 << 32;

struct Asked {
    options: Options,
    repeat: u16,
    out: Option<PathBuf>,
}

fn main() -> std::io::Result<()> {
    let mut asked = Asked {
        options: options(),
        repeat: 1,
        out: None,
    };
    let mut args = std::env::args_os().skip(1);
    while let Some(arg) = args.next() {
        let mut text = || args.next().unwrap_or_default();
        match arg.to_str() {
            Some("--size") => asked.options.goal = Goal::MaxSize(SizeLimit::Bytes(number(&text()))),
            Some("--quality") => asked.options.goal = Goal::Quality(number(&text()) as u8),
            Some("--score") => asked.options.goal = Goal::Ssimulacra2(number(&text()) as f32),
            Some("--lossless") => asked.options.goal = Goal::Lossless,
            Some("--effort") => asked.options.effort = number(&text()) as u8,
            Some("--max-width") => asked.options.resize.max_width = Some(number(&text()) as u32),
            Some("--jpeg") => asked.options.format = Wanted::Jpeg,
            Some("--webp") => asked.options.format = Wanted::Webp,
            Some("--repeat") => asked.repeat = number(&text()) as u16,
            Some("--out") => asked.out = Some(text().into()),
            _ => measure(Path::new(&arg), &asked)?,
        }
    }
    Ok(())
}

fn number(text: &OsString) -> u64 {
    text.to_str()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1)
}

fn options() -> Options {
    Options {
        effort: 5,
        ..Options::new(Goal::MaxSize(SizeLimit::Bytes(300_000)))
    }
}

fn measure(path: &Path, asked: &Asked) -> std::io::Result<()> {
    let input = std::fs::read(path)?;
    let (mut spent, mut bytes, mut answer) = (Vec::new(), Vec::new(), String::new());
    for _ in 0..asked.repeat.max(1) {
        bytes.clear();
        let begin = cpu_ms()?;
        let budget = Budget::new(PLENTY, PLENTY);
        let done = compress(&&input[..], &mut bytes, &asked.options, &budget);
        spent.push(cpu_ms()? - begin);
        answer = match done {
            Ok(Compressed::Written(written)) => {
                format!("{} bytes, quality {:?}", written.bytes, written.quality)
            }
            Ok(Compressed::Kept(kept)) => format!("kept: {:?}", kept.why),
            Err(error) => error.to_string(),
        };
    }
    let cold = spent.remove(0);
    spent.sort_by(f64::total_cmp);
    let median = spent.get(spent.len() / 2).copied().unwrap_or(cold);
    println!(
        "{cold:7.2} cold {median:7.2} ms  {}: {answer}",
        path.display()
    );
    match (&asked.out, path.file_name()) {
        (Some(folder), Some(name)) => std::fs::write(folder.join(name), &bytes),
        (_, _) => Ok(()),
    }
}

/// CPU time of this thread so far, from the scheduler's statistics.
fn cpu_ms() -> std::io::Result<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let first = text.split(' ').next().and_then(|n| n.parse().ok());
    Ok(first.unwrap_or(0.0) / 1e6)
}
