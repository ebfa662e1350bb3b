//! Decodes JPEG files and says what came out and what it cost: `decode_time [--floor N] [--repeat N] FILE...`.
//!
//! Times are CPU time of this thread: the mean of all repeats but the first, and the first (cold) one apart. The
//! scheduler counts in steps of some milliseconds, so repeat often.
#![expect(clippy::print_stdout, reason = "its only purpose")]

use pressroom_jobs::jpeg::decode::{Picture, Survivors, read};
use pressroom_jobs::{Budget, Error, Source};
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::FileExt;

struct Input(File, u64);

impl Source for Input {
    fn len(&self) -> u64 {
        self.1
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read_at(buffer, offset)
    }
}

fn main() -> std::io::Result<()> {
    let (mut floor, mut repeat) = (1, 1);
    let mut args = std::env::args_os().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|n| n.to_str()?.parse().ok());
        match arg.to_str() {
            Some("--floor") => floor = number().unwrap_or(1),
            Some("--repeat") => repeat = number().unwrap_or(1),
            _ => decode(&arg, floor, repeat)?,
        }
    }
    Ok(())
}

fn decode(path: &OsString, floor: u16, repeat: u16) -> std::io::Result<()> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let input = Input(file, length);
    let keep = Survivors::from_floors([[floor; 64]; 4]);
    let (mut spent, mut answer) = (Vec::new(), String::new());
    for _ in 0..repeat.max(1) {
        let budget = Budget::new(1 << 32, 1 << 32);
        let begin = cpu_ms()?;
        let picture = read(&input, &budget, &keep);
        spent.push(cpu_ms()? - begin);
        answer = describe(picture, &budget);
    }
    let cold = spent.remove(0);
    let mean = spent.iter().sum::<f64>() / spent.len().max(1) as f64;
    let path = path.to_string_lossy();
    println!("{cold:7.2} cold {mean:7.2} ms  {path}: {answer}");
    Ok(())
}

fn describe(picture: Result<Picture, Error>, budget: &Budget) -> String {
    let picture = match picture {
        Ok(picture) => picture,
        Err(error) => return error.to_string(),
    };
    let planes = picture.planes.iter();
    let blocks = planes.flat_map(|plane| (0..plane.down()).flat_map(|row| plane.row(row)));
    let kept: usize = blocks.map(|(_, words)| words.count()).sum();
    let (notes, parts, peak) = (&picture.notes, &picture.second_parts, budget.peak());
    format!("{kept} AC coefficients, {peak} bytes claimed, {notes:?} {parts:?}")
}

/// CPU time of this thread so far, from the scheduler's statistics.
fn cpu_ms() -> std::io::Result<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let first = text.split(' ').next().and_then(|n| n.parse().ok());
    Ok(first.unwrap_or(0.0) / 1e6)
}
