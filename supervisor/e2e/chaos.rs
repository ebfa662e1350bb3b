//! Processes killed at random, many times over. Small in a normal run; `scripts/chaos` makes it long.
//!
//! `CHAOS_SEED` replays one, `CHAOS_KILLS`, `CHAOS_IMAGES` and `CHAOS_RERUNS` set
//! its size.

use crate::cases::Case;
use crate::{pictures, processes, test};
use libtest_mimic::Trial;
use rustix::process::Signal;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("chaos_kills_of_workers_lose_nothing", workers),
        test("chaos_kills_of_the_supervisor_lose_nothing", supervisor),
    ]
}

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(usual)
}

fn seed() -> u64 {
    let seed = number("CHAOS_SEED", RandomState::new().hash_one(0_u8));
    eprintln!("chaos: replay with CHAOS_SEED={seed}");
    seed
}

/// Small pictures, and every so often a photograph that a worker is busy with for a while.
fn case_of(images: u64) -> Case {
    let case = Case::new();
    let photo = pictures::photo("granite.jpg");
    for number in 0..images {
        let name = format!("{}/{number}.jpg", number / 500);
        if number % 25 == 0 {
            case.input(name, &photo);
        } else {
            case.input(name, &pictures::jpeg(number));
        }
    }
    case
}

type Tree = std::collections::BTreeMap<std::path::PathBuf, Vec<u8>>;

/// The tree that an undisturbed run leaves.
fn expected(images: u64) -> Tree {
    let case = case_of(images);
    case.run(&[]).expect_code(0);
    case.tree("out")
}

/// Kills workers at random moments, over as many runs as it takes to spend all kills.
fn workers() {
    let mut rng = Rng(seed());
    let images = number("CHAOS_IMAGES", 1000);
    let kills = number("CHAOS_KILLS", 60);
    let case = case_of(images);
    let expected = expected(images);
    let (mut killed, mut deaths, mut runs) = (0, 0, 0);
    while killed < kills {
        runs += 1;
        let _ = std::fs::remove_dir_all(case.path("out"));
        killed += disturbed_run(&case, &mut rng, kills - killed, &mut deaths, images);
        assert_eq!(case.tree("out"), expected);
        assert!(runs < 50, "the kills cannot be spent");
    }
    eprintln!(
        "chaos: {killed} kills of workers, {deaths} of them in mid-job, over {images} images, {runs} runs"
    );
}

/// One run during which workers are killed; answers how many were.
fn disturbed_run(case: &Case, rng: &mut Rng, kills: u64, deaths: &mut u64, images: u64) -> u64 {
    let mut child = case.start(&["-j", "2"]);
    let mut killed = 0;
    while killed < kills && child.try_wait().expect("our own child").is_none() {
        std::thread::sleep(Duration::from_millis(rng.below(30)));
        let workers = processes::workers(&case.folder());
        if let Some(pid) = workers.get(usize::try_from(rng.below(2)).unwrap_or(0)) {
            processes::send(*pid, Signal::KILL);
            killed += 1;
        }
    }
    let mut ran = case.finish(child);
    let records = case.check(&ran, usize::try_from(images).expect("small"));
    *deaths += records.run["deaths"].as_u64().expect("a number");
    if ran.code() == Some(1) {
        // Killed twice on one file, which a person would try again.
        let twice = records.run["failed_by"]["killed"].as_u64();
        assert_eq!(twice, records.run["failed"].as_u64(), "{}", ran.text());
        ran = case.run(&["-j", "2", "--retry-failed"]);
    }
    ran.expect_code(0);
    killed
}

/// Kills the supervisor at random moments, again and again over the same output, then lets one run go through.
fn supervisor() {
    let mut rng = Rng(seed());
    let (images, reruns) = (number("CHAOS_IMAGES", 1500) / 5, number("CHAOS_RERUNS", 8));
    let case = case_of(images);
    let expected = expected(images);
    let mut slowest = Duration::ZERO;
    for _ in 0..reruns {
        let mut child = case.start(&["-j", "2", "--recheck"]);
        std::thread::sleep(Duration::from_millis(10 + rng.below(400)));
        processes::send(child.id(), Signal::KILL);
        child.wait().expect("our own child");
        let since = std::time::Instant::now();
        let gone = processes::wait_until(Duration::from_secs(1), || {
            processes::inside(&case.folder()).is_empty()
        });
        assert!(
            gone,
            "workers outlived their supervisor by more than a second"
        );
        slowest = slowest.max(since.elapsed());
        for (path, content) in case.tree("out") {
            assert_eq!(
                Some(&content),
                expected.get(&path),
                "{} is half-done",
                path.display()
            );
        }
    }
    eprintln!("chaos: {reruns} kills of the supervisor, workers gone within {slowest:?}");
    let ran = case.run(&["-j", "2"]);
    ran.expect_code(0);
    case.check(&ran, usize::try_from(images).expect("small"));
    assert_eq!(case.tree("out"), expected);
}
