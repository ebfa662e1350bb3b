//! Measures what recording costs: 20,000 results of 2 KB published into a new tree, and then the look-up that finds
//! all of them unchanged.
//!
//!     cargo run --release -p pressroom-supervisor --example recorder_cost [FOLDER] [OUTSTANDING]
//!
//! FOLDER decides the file system (default: a temporary folder), OUTSTANDING how many results wait at once (default 64).
#![expect(
    clippy::print_stdout,
    reason = "it is a program that prints its figures"
)]

use pressroom_shared::{
    Chroma, Done, Format, Goal, IccPolicy, Identity, ImageFormat, Incarnation, JobId, Limits,
    OrientPolicy, Outcome, Progressive, Resize, Saved, SeatId, Settings, Strip,
};
use pressroom_supervisor::ledger::{HowEnded, Keys, Lookup, RunEnd, RunStart, default_path};
use pressroom_supervisor::publish::{Displace, Inherit, Place, Policy};
use pressroom_supervisor::recorder::{self, Publish, Request, Setup};
use pressroom_supervisor::stage;
use pressroom_supervisor::task::Task;
use rustix::time::{ClockId, clock_gettime};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

const FILES: u64 = 20_000;
const BYTES: usize = 2_000;
const FOLDERS: u64 = 100;

type Outcomes<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcomes<()> {
    let mut arguments = std::env::args().skip(1);
    let base = arguments
        .next()
        .map_or_else(std::env::temp_dir, PathBuf::from);
    let outstanding = arguments.next().map_or(Ok(64), |text| text.parse())?;
    let root = base.join(format!("recorder_cost.{}", std::process::id()));
    let measured = measure(&root, outstanding);
    std::fs::remove_dir_all(&root)?;
    measured
}

fn measure(root: &Path, outstanding: u64) -> Outcomes<()> {
    let output = root.join("out");
    let tasks = inputs(root, &output)?;
    let staging = staged(&output)?;
    let setup = setup(&output);
    let (keys, ledger) = (
        Keys::of(&setup.run.settings, &setup.run.limits),
        setup.ledger.clone(),
    );
    let (recorder, mut answers) = recorder::start(setup)?;
    let (wall, cpu) = (Instant::now(), cpu_us()?);
    let mut open = 0;
    for task in &tasks {
        recorder.send(Request::Publish(publish(task.clone(), &staging)));
        open += 1;
        while open >= outstanding {
            answers.blocking_recv().ok_or("the recorder ended")?;
            open -= 1;
        }
    }
    recorder.finish(end())?;
    say("publish", wall, cpu_us()? - cpu);
    println!("ledger {} bytes per file", ledger.metadata()?.len() / FILES);
    look_up(&ledger, &output, keys, &tasks)
}

fn look_up(ledger: &Path, output: &Path, keys: Keys, tasks: &[Task]) -> Outcomes<()> {
    let reader = pressroom_supervisor::ledger::Reader::open(ledger, output)?;
    let lookup = Lookup {
        keys,
        recheck: false,
        retry_failed: false,
        leave_foreign: false,
    };
    let (wall, cpu) = (Instant::now(), cpu_us()?);
    for task in tasks {
        if reader.skip(task, &lookup)?.is_none() {
            return Err(format!("{} is not unchanged", task.target.display()).into());
        }
    }
    say("look up", wall, cpu_us()? - cpu);
    Ok(())
}

fn say(what: &str, wall: Instant, cpu_us: i64) {
    let files = i64::try_from(FILES).unwrap_or(i64::MAX);
    println!(
        "{what}: {FILES} files, {:.2} s wall, {} us CPU per file",
        wall.elapsed().as_secs_f64(),
        cpu_us / files
    );
}

fn cpu_us() -> Outcomes<i64> {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Ok(time.tv_sec * 1_000_000 + time.tv_nsec / 1000)
}

fn inputs(root: &Path, output: &Path) -> Outcomes<Vec<Task>> {
    let mut tasks = Vec::new();
    for number in 0..FILES {
        let target = PathBuf::from(format!("{}/{number}.jpg", number / (FILES / FOLDERS)));
        let source = root.join("in").join(&target);
        if let Some(folder) = source.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&source, [0; 2 * BYTES])?;
        let found = source.metadata()?;
        let identity = Identity {
            dev: found.dev(),
            ino: found.ino(),
            size: found.len(),
            mtime_ns: found.mtime() * 1_000_000_000 + found.mtime_nsec(),
        };
        let destination = output.join(&target);
        tasks.push(Task {
            id: JobId(number),
            source,
            identity,
            target,
            destination,
        });
    }
    Ok(tasks)
}

fn staged(output: &Path) -> Outcomes<PathBuf> {
    stage::sweep(output)?;
    let folder = stage::prepare(output, SeatId(0), Incarnation(0))?;
    for number in 0..FILES {
        std::fs::write(folder.join(number.to_string()), [7; BYTES])?;
    }
    Ok(folder)
}

fn publish(task: Task, staging: &Path) -> Publish {
    let saved = Saved {
        bytes: BYTES as u64,
        format: ImageFormat::Jpeg,
        width: 16,
        height: 16,
        quality: Some(75),
        warnings: Vec::new(),
    };
    Publish {
        staged: staging.join(task.id.0.to_string()),
        done: Done {
            id: task.id,
            outcome: Outcome::Saved(saved),
            cpu_us: 1,
            wall_us: 1,
            peak_rss: 1,
            rss: 1,
        },
        task,
        deaths: 0,
        seat: Some(SeatId(0)),
        started_ms: 0,
        ended_ms: 1,
    }
}

fn setup(output: &Path) -> Setup {
    Setup {
        ledger: default_path(output),
        output: output.to_path_buf(),
        policy: Policy {
            place: Place::Tree,
            overwrite: Displace::Never,
            restore: false,
            preserve: Inherit::TREE,
        },
        run: RunStart {
            started: 0,
            command: "recorder_cost".to_owned(),
            settings: settings(),
            limits: Limits {
                memory: 1 << 29,
                pixels: 1 << 27,
                input_bytes: 1 << 30,
                job_seconds: 120,
            },
            workers: 1,
            covers: Vec::new(),
        },
    }
}

fn settings() -> Settings {
    Settings {
        goal: Goal::Quality(75),
        min_quality: 5,
        effort: 5,
        chroma: Chroma::Auto,
        progressive: Progressive::Auto,
        format: Format::Same,
        resize: Resize::default(),
        shrink_to_fit: None,
        strip: Strip::default(),
        orient: OrientPolicy::Keep,
        icc: IccPolicy::Keep,
        lossy_png: false,
        min_savings_permille: 0,
        force: false,
        min_savings_bytes: None,
    }
}

fn end() -> RunEnd {
    RunEnd {
        ended: 0,
        wall_ms: 0,
        how: HowEnded::Finished,
        discovered: FILES,
        ignored: pressroom_supervisor::passed::PassedOver::default(),
    }
}
