//! Processes killed at random, many times over. Small in a normal run; `scripts/chaos` makes it long.
//!
//! `PRESSROOM_CHAOS_SEED` replays one, `PRESSROOM_CHAOS_KILLS`, `PRESSROOM_CHAOS_IMAGES` and `PRESSROOM_CHAOS_RERUNS` set
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
    let seed = number("PRESSROOM_CHAOS_SEED", RandomState::new().hash_one(0_u8));
    eprintln!("chaos: replay with PRESSROOM_CHAOS_SEED={seed}");
    seed
}

fn case_of(images: u64) -> Case {
    let case = Case::new();
    for number in 0..images {
        case.input(
            format!("{}/{number}.jpg", number / 500),
            &pictures::jpeg(number),
        );
    }
    case
}

/// The tree that an undisturbed run leaves.
fn expected(images: u64) -> std::collections::BTreeMap<std::path::PathBuf, Vec<u8>> {
    let case = case_of(images);
    case.run(&[]).expect_code(0);
    case.tree("out")
}

/// Kills workers at random moments until the kills are spent or the run is over; runs again until all is done.
fn workers() {
    let mut rng = Rng(seed());
    let (images, kills) = (
        number("PRESSROOM_CHAOS_IMAGES", 1500),
        number("PRESSROOM_CHAOS_KILLS", 60),
    );
    let case = case_of(images);
    let mut child = case.start(&["-j", "2", "--recheck"]);
    let mut killed = 0;
    let mut runs = 1;
    while killed < kills {
        std::thread::sleep(Duration::from_millis(rng.below(30)));
        if child.try_wait().expect("our own child").is_some() {
            break;
        }
        let workers = processes::workers(&case.folder());
        if let Some(pid) = workers.get(usize::try_from(rng.below(2)).unwrap_or(0)) {
            processes::send(*pid, Signal::KILL);
            killed += 1;
        }
    }
    let mut ran = case.finish(child);
    case.check(&ran, usize::try_from(images).expect("small"));
    let records = ran.records();
    eprintln!(
        "chaos: {killed} kills over {images} images, {} deaths on a job",
        records.run["deaths"]
    );
    assert!(killed > 0, "nothing was killed");
    while ran.code() == Some(1) && runs < 4 {
        // Killed twice on one file, which a person would try again.
        runs += 1;
        ran = case.run(&["-j", "2", "--retry-failed"]);
    }
    ran.expect_code(0);
    assert_eq!(case.tree("out"), expected(images), "after {runs} runs");
}

/// Kills the supervisor at random moments, again and again over the same output, then lets one run go through.
fn supervisor() {
    let mut rng = Rng(seed());
    let (images, reruns) = (
        number("PRESSROOM_CHAOS_IMAGES", 1500) / 5,
        number("PRESSROOM_CHAOS_RERUNS", 8),
    );
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
