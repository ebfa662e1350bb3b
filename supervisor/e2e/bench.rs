//! `pressroom bench` of the real executable: bounded, complete, and leaving nothing behind.

use crate::{pictures, processes, test};
use libtest_mimic::Trial;
use rustix::process::Signal;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("a_bench_of_pictures_ends_and_says_everything", whole),
        test("a_bench_refuses_what_makes_no_sense", refusals),
        test("a_bench_whose_workers_do_not_start_says_so", no_workers),
        test("a_bench_that_is_interrupted_leaves_nothing", interrupted),
        test("a_bench_that_is_killed_leaves_no_process", killed),
    ]
}

/// A folder in which one bench works.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            folder: tempfile::tempdir().expect("a folder"),
        };
        for name in ["in", "tmp", "empty"] {
            std::fs::create_dir(place.path(name)).expect("a folder");
        }
        for name in ["lake.jpg", "dunes.jpg", "leaf.png"] {
            std::fs::write(place.path("in").join(name), pictures::photo(name)).expect("a picture");
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("it is there")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pressroom"));
        command
            .arg("bench")
            .args(args)
            .current_dir(self.root())
            .env("TMPDIR", self.path("tmp"))
            .env("HOME", self.path("empty"))
            .env_remove("XDG_CONFIG_HOME")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("it starts")
    }

    fn start(&self, args: &[&str]) -> Child {
        self.command(args).spawn().expect("it starts")
    }

    /// Nothing stands in the folder for temporary files and nobody works here.
    fn assert_clean(&self) {
        let left: Vec<_> = std::fs::read_dir(self.path("tmp"))
            .expect("it is there")
            .collect();
        assert!(left.is_empty(), "{left:?}");
        self.assert_nobody();
    }

    fn assert_nobody(&self) {
        let root = self.root();
        let gone = processes::wait_until(Duration::from_secs(20), || {
            processes::inside(&root).is_empty()
        });
        assert!(gone, "still there: {:?}", processes::inside(&root));
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("the report");
    serde_json::from_str(&text).expect("JSON")
}

fn whole() {
    let place = Place::new();
    let began = Instant::now();
    let output = place.run(&[
        "in",
        "--budget",
        "5s",
        "--json",
        "b.json",
        "--html",
        "b.html",
        "--write-config",
        "b.toml",
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    // The budget bounds the plan; a machine that stands still for a while may draw it out. Not a measurement: a bound
    // that only something unbounded breaks.
    assert!(
        began.elapsed() < Duration::from_secs(90),
        "{:?}",
        began.elapsed()
    );
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.lines()
            .last()
            .is_some_and(|line| line.starts_with("Recommendation: ")),
        "{text}"
    );
    let report = json(&place.path("b.json"));
    assert_eq!(report["schema"], 1);
    let experiments = report["experiments"].as_array().expect("a list");
    let keys: Vec<_> = experiments
        .iter()
        .filter_map(|one| one["key"].as_str())
        .collect();
    assert_eq!(
        keys,
        ["scaling", "threads", "boundary", "loads", "busy", "cap"]
    );
    for experiment in experiments {
        let rows = experiment["tables"].as_array().expect("a list").len();
        let reasons = experiment["left_out"].as_array().expect("a list").len();
        assert!(rows + reasons > 0, "{experiment}");
    }
    check_page(&place, experiments);
    check_settings(&place);
    let pictures = std::fs::read_dir(place.path("in"))
        .expect("it is there")
        .count();
    assert_eq!(pictures, 3, "pictures are read only");
    place.assert_clean();
}

/// Other people's figures stand beside measured ones, in both reports, and are marked.
fn check_page(place: &Place, experiments: &[Value]) {
    let page = std::fs::read_to_string(place.path("b.html")).expect("the page");
    assert!(page.ends_with("</html>\n"));
    let tables = experiments
        .iter()
        .filter_map(|one| one["tables"].as_array());
    let beside = tables.flatten().any(|table| table["published"].is_object());
    assert_eq!(page.contains("Published, not measured here"), beside);
}

/// What was written is accepted as a settings file.
fn check_settings(place: &Place) {
    let mut config = Command::new(env!("CARGO_BIN_EXE_pressroom"));
    let accepted = config
        .args(["config", "--config", "b.toml", "in", "-o", "out"])
        .current_dir(place.root())
        .output()
        .expect("it starts");
    assert!(accepted.status.success(), "{}", stderr(&accepted));
}

fn refusals() {
    let place = Place::new();
    std::fs::write(place.path("there.toml"), "workers = 1\n").expect("a file");
    for (args, words) in [
        (&["nowhere"][..], "nowhere"),
        (&["empty"], "there is no picture in empty"),
        (&["in", "--budget", "1s"], "at least 2s"),
        (
            &["in", "--html", "nowhere/b.html"],
            "cannot write nowhere/b.html",
        ),
        (&["in", "--write-config", "there.toml"], "is not replaced"),
        (&["in", "--", "--qualty", "5"], "--qualty"),
    ] {
        let output = place.run(args);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{args:?}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains(words),
            "{args:?}: {}",
            stderr(&output)
        );
    }
    let text = std::fs::write(place.path("empty/text.jpg"), "no picture");
    text.expect("a file");
    let output = place.run(&["empty"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("none of the pictures can be done"));
    place.assert_clean();
}

fn no_workers() {
    let place = Place::new();
    // Less than a worker needs for itself: it says so and leaves before it says hello.
    let output = place.run(&["in", "--", "--memory-per-worker", "4MiB"]);
    assert!(
        [Some(2), Some(3)].contains(&output.status.code()),
        "{output:?}"
    );
    assert!(stderr(&output).contains("memory"), "{}", stderr(&output));
    place.assert_clean();
}

/// Starts a bench and waits until its children are at work.
fn at_work(place: &Place) -> Child {
    let child = place.start(&["in", "--budget", "120s"]);
    let there = processes::wait_until(Duration::from_secs(60), || {
        processes::inside(&place.root()).len() > 2
    });
    assert!(there, "no child ever started");
    child
}

fn interrupted() {
    use std::os::unix::process::ExitStatusExt;
    let place = Place::new();
    for signal in [Signal::INT, Signal::TERM] {
        let child = at_work(&place);
        processes::send(child.id(), signal);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(
            output.status.signal(),
            Some(signal.as_raw()),
            "{}",
            stderr(&output)
        );
        place.assert_clean();
    }
}

fn killed() {
    let place = Place::new();
    let mut child = at_work(&place);
    processes::send(child.id(), Signal::KILL);
    child.wait().expect("it ends");
    place.assert_nobody();
}
