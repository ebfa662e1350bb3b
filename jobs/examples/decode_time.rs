//! Decodes JPEG files and says what came out and how long each took: `decode_time [--floor N] [--repeat N] FILE...`.
#![expect(clippy::print_stdout, reason = "its only purpose")]

use pressroom_jobs::jpeg::decode::{Survivors, read};
use pressroom_jobs::{Budget, Source};
use std::os::unix::fs::FileExt;
use std::time::Instant;

struct Input(std::fs::File, u64);

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
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--floor" => floor = args.next().and_then(|n| n.parse().ok()).unwrap_or(1),
            "--repeat" => repeat = args.next().and_then(|n| n.parse().ok()).unwrap_or(1),
            path => {
                for _ in 0..repeat {
                    decode(path, floor)?;
                }
            }
        }
    }
    Ok(())
}

fn decode(path: &str, floor: u16) -> std::io::Result<()> {
    let file = std::fs::File::open(path)?;
    let length = file.metadata()?.len();
    let input = Input(file, length);
    let budget = Budget::new(1 << 32, 1 << 32);
    let keep = Survivors::from_floors([[floor; 64]; 4]);
    let begin = Instant::now();
    let picture = read(&input, &budget, &keep);
    let spent = begin.elapsed().as_secs_f64() * 1e3;
    match picture {
        Err(error) => println!("{spent:8.2} ms  {path}: {error}"),
        Ok(picture) => {
            let rows = picture.planes.iter().map(|plane| {
                let blocks = (0..plane.down()).flat_map(|row| plane.row(row));
                blocks.fold((0, 0_i64), |(words, sum), (dc, ac)| {
                    ac.fold(
                        (words, sum + i64::from(dc)),
                        |(words, sum), (index, value)| {
                            (
                                words + 1,
                                sum * 31 + index as i64 + i64::from(value) % 1_000_003,
                            )
                        },
                    )
                })
            });
            let kept: usize = rows.map(|(words, _)| words).sum();
            let (notes, parts, peak) = (&picture.notes, &picture.second_parts, budget.peak());
            println!(
                "{spent:8.2} ms  {path}: {kept} AC coefficients, peak {peak}, {notes:?} {parts:?}"
            );
        }
    }
    Ok(())
}
