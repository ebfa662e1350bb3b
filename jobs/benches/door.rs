//! Whole jobs through the one door, in memory: what a worker computes for one image, without files, processes and pipes.
//!
//! Uses the photographs of `../shared/photos` where they are (a baseline and a progressive one of 12 megapixels); elsewhere the
//! repository's own small pictures, and says so: the figures of the two are not comparable.

#![expect(clippy::print_stderr, reason = "a bench talks to whoever runs it")]

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use pressroom_jobs::{Budget, Goal, Options, SizeLimit, compress};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::{fs, time::Duration};

/// Memory and pixels no picture here comes near.
const PLENTY: u64 = 1 << 32;

fn pictures() -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = here.join("../../shared/photos");
    let photos = ["photo-13.jpg", "photo-10.jpg"].map(|name| shared.join(name));
    if photos.iter().all(|photo| photo.exists()) {
        return photos.into();
    }
    eprintln!("no photographs at ../shared/photos: using the small pictures in jobs/tests/photos");
    let own = fs::read_dir(here.join("tests/photos")).expect("the repository's own pictures");
    let mut own: Vec<PathBuf> = own.map(|entry| entry.expect("an entry").path()).collect();
    own.retain(|path| path.extension().is_some_and(|e| e == "jpg" || e == "png"));
    own.sort();
    own
}

fn options(goal: Goal, effort: u8) -> Options {
    Options {
        min_quality: 1,
        effort,
        ..Options::new(goal)
    }
}

fn jobs(criterion: &mut Criterion) {
    let share = |permille| Goal::MaxSize(SizeLimit::Permille(permille));
    let asked = [
        ("lossless", Goal::Lossless, 5),
        ("quality 75", Goal::Quality(75), 5),
        ("10 % of the size", share(100), 5),
        ("10 % of the size, effort 0", share(100), 0),
        ("10 % of the size, effort 9", share(100), 9),
        ("40 % of the size", share(400), 5),
    ];
    for picture in pictures() {
        let bytes = fs::read(&picture).expect("a picture that was just listed");
        let name = picture.file_name().unwrap_or_default().to_string_lossy();
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.sampling_mode(SamplingMode::Flat);
        for (what, goal, effort) in asked {
            let options = options(goal, effort);
            let mut out: Vec<u8> = Vec::new();
            group.bench_function(what, |bencher| {
                bencher.iter(|| {
                    out.clear();
                    let budget = Budget::new(PLENTY, PLENTY);
                    compress(&&bytes[..], &mut out, black_box(&options), &budget)
                        .expect("a sound picture")
                });
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = door;
    config = Criterion::default()
        .sample_size(15)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3));
    targets = jobs
}
criterion_main!(door);
