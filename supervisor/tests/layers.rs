//! The architecture as tests: who may name whom, read from the manifests and the sources themselves.
//!
//! A rule that fails here is mended by moving the code, not by a longer list.

use std::fs;
use std::path::{Path, PathBuf};

/// Crates that decode, encode or change pictures.
const CODECS: &[&str] = &[
    "avif",
    "fast_image_resize",
    "gif",
    "image",
    "imagequant",
    "jpeg",
    "jxl",
    "libaom",
    "libwebp",
    "mozjpeg",
    "moxcms",
    "oxipng",
    "png",
    "qoi",
    "ravif",
    "rav1e",
    "tiff",
    "turbojpeg",
    "webp",
    "zune",
];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace is one up")
        .to_path_buf()
}

/// Names under `[dependencies]` and its kin in a manifest; tests may use what they like.
fn dependencies(package: &str) -> Vec<String> {
    let path = workspace().join(package).join("Cargo.toml");
    let text = fs::read_to_string(&path).expect("every package has a manifest");
    let manifest: toml::Table = text.parse().expect("cargo reads it too");
    let mut names = Vec::new();
    collect(&manifest, &mut names);
    names
}

fn collect(table: &toml::Table, names: &mut Vec<String>) {
    for (key, value) in table {
        let Some(inner) = value.as_table() else {
            continue;
        };
        match key.as_str() {
            "dependencies" | "build-dependencies" => names.extend(inner.keys().cloned()),
            "target" => inner
                .values()
                .filter_map(toml::Value::as_table)
                .for_each(|target| collect(target, names)),
            _ => {}
        }
    }
}

/// A source file: its path below the workspace, its text, and the text without tests and comments.
struct Source {
    path: String,
    text: String,
    code: String,
}

/// All Rust files below a folder, without build output.
fn sources(folder: &str) -> Vec<Source> {
    let root = workspace();
    let mut found = Vec::new();
    let mut folders = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the workspace") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                if !path.ends_with("target") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(source(&root, &path));
            }
        }
    }
    assert!(!found.is_empty(), "{folder} has no sources");
    found
}

fn source(root: &Path, path: &Path) -> Source {
    let text = fs::read_to_string(path).expect("sources are UTF-8");
    let below = path.strip_prefix(root).expect("below the root");
    let path = below.to_string_lossy().into_owned();
    let code = if is_test(&path) {
        String::new()
    } else {
        code(&text)
    };
    Source { path, text, code }
}

/// Files that hold nothing but tests.
fn is_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let folders = [
        "/tests/",
        "/transitions/",
        "/benches/",
        "/examples/",
        "/fuzz/",
    ];
    let names = [
        "tests.rs",
        "samples.rs",
        "faults.rs",
        "refusals.rs",
        "schedules.rs",
        "transitions.rs",
    ];
    folders.iter().any(|folder| path.contains(folder)) || names.contains(&name)
}

/// The lines before the test module, without comments.
fn code(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..end]
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Fails for every file of `sources` whose code has one of `words`.
fn must_not_name(sources: &[Source], words: &[&str]) {
    let faults: Vec<String> = sources
        .iter()
        .flat_map(|source| {
            // A descriptor taken from `rustix::stdio` is nothing printed; only the end of its name looks like `io`.
            let code = source.code.replace("rustix::stdio::", "");
            let named = words.iter().filter(move |word| code.contains(**word));
            named.map(move |word| format!("{} names {word}", source.path))
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn only(sources: Vec<Source>, wanted: impl Fn(&str) -> bool) -> Vec<Source> {
    let chosen: Vec<Source> = sources
        .into_iter()
        .filter(|source| wanted(&source.path))
        .collect();
    assert!(!chosen.is_empty(), "the rule applies to no file any more");
    chosen
}

fn is_codec(name: &str) -> bool {
    CODECS.iter().any(|codec| {
        name == *codec
            || name.starts_with(&format!("{codec}-"))
            || name.starts_with(&format!("{codec}_"))
    })
}

#[test]
fn the_binary_is_one_match() {
    let mut named = dependencies("");
    named.sort();
    let allowed = [
        "anyhow",
        "pressroom-bench",
        "pressroom-supervisor",
        "pressroom-worker",
    ];
    let strange: Vec<_> = named
        .iter()
        .filter(|name| !allowed.contains(&name.as_str()))
        .collect();
    assert!(strange.is_empty(), "the binary depends on {strange:?}");
    let main = fs::read_to_string(workspace().join("supervisor/main.rs")).expect("the binary");
    assert!(main.lines().count() < 25, "main.rs decides too much");
}

#[test]
fn the_supervisor_cannot_call_a_codec() {
    for name in dependencies("supervisor") {
        assert!(!is_codec(&name), "the supervisor depends on {name}");
        assert!(
            !["pressroom-worker", "pressroom-jobs"].contains(&name.as_str()),
            "{name}"
        );
    }
}

#[test]
fn a_worker_knows_no_policy() {
    for name in dependencies("worker") {
        assert!(
            !["tokio", "clap", "rusqlite", "pressroom-supervisor"].contains(&name.as_str()),
            "{name}"
        );
    }
}

#[test]
fn nobody_knows_the_bench() {
    for package in ["shared", "jobs", "worker", "supervisor"] {
        for name in dependencies(package) {
            assert_ne!(name, "pressroom-bench", "{package} depends on it");
        }
    }
    // Its variants with threads and tasks are experiments; the product must not come to have them.
    let product = only(sources("supervisor/src"), |path| {
        !path.contains("supervisor/bench/")
    });
    must_not_name(&product, &["pressroom_bench", "pressroom_jobs"]);
}

#[test]
fn in_the_bench_only_its_children_work() {
    let pure = |path: &str| {
        let files = [
            "src/advice.rs",
            "src/book.rs",
            "src/published.rs",
            "src/schedule.rs",
            "src/stats.rs",
            "src/wording.rs",
        ];
        path.contains("/report/") || files.iter().any(|file| path.ends_with(file))
    };
    must_not_name(
        &only(sources("supervisor/bench/src"), pure),
        &[
            "std::fs",
            "std::process::",
            "std::io::std",
            "Instant::now",
            "std::thread",
            "tokio",
            "rustix",
            "pressroom_jobs",
        ],
    );
    let parent = only(sources("supervisor/bench/src"), |path| {
        !path.contains("/child/")
    });
    must_not_name(&parent, &["pressroom_jobs::", "tokio::", "sha2::"]);
    let silent = only(sources("supervisor/bench/src"), |path| {
        !["bench/src/out.rs", "bench/src/lab.rs", "src/child/mod.rs"]
            .iter()
            .any(|part| path.ends_with(part))
    });
    must_not_name(
        &silent,
        &[
            "println!",
            "eprintln!",
            "print!(",
            "io::stdout()",
            "io::stderr()",
        ],
    );
}

#[test]
fn what_is_shared_is_only_what_is_said() {
    let allowed = ["serde", "rmp-serde", "thiserror"];
    for name in dependencies("shared") {
        assert!(allowed.contains(&name.as_str()), "shared depends on {name}");
    }
    must_not_name(
        &sources("shared/src"),
        &[
            "tokio",
            "std::process",
            "std::fs",
            "std::env",
            "std::thread",
            "std::time",
        ],
    );
}

#[test]
fn jobs_know_bytes_and_nothing_else() {
    for name in dependencies("jobs") {
        let foreign = [
            "serde",
            "serde_json",
            "tokio",
            "rayon",
            "rmp-serde",
            "rustix",
        ];
        assert!(!foreign.contains(&name.as_str()), "jobs depends on {name}");
        assert!(!name.starts_with("pressroom"), "jobs depends on {name}");
    }
    must_not_name(
        &sources("jobs/src"),
        &[
            "std::fs",
            "std::process",
            "std::env",
            "std::thread",
            "std::net",
            "io::stdin",
            "io::stdout",
            "Instant::now",
            "SystemTime",
        ],
    );
}

#[test]
fn decisions_touch_nothing() {
    let pure = |path: &str| {
        let files = [
            "supervisor/src/plan.rs",
            "supervisor/src/filter.rs",
            "supervisor/src/units.rs",
            "supervisor/src/exit.rs",
            "supervisor/src/death.rs",
            "supervisor/src/task.rs",
            "supervisor/src/report/tally.rs",
            "supervisor/src/report/human.rs",
            "supervisor/src/report/json.rs",
            "supervisor/src/report/csv.rs",
            "supervisor/src/run/wording.rs",
        ];
        path.starts_with("supervisor/src/pool/") || files.contains(&path)
    };
    must_not_name(
        &only(sources("supervisor/src"), pure),
        &[
            "tokio",
            "std::fs",
            "std::process::Command",
            "std::io::std",
            "Instant::now",
            "SystemTime::now",
            "rustix",
            "rusqlite",
            "std::thread",
        ],
    );
}

#[test]
fn the_pool_knows_neither_hands_nor_eyes() {
    let pool = only(sources("supervisor/src"), |path| path.contains("/pool/"));
    must_not_name(
        &pool,
        &[
            "crate::link",
            "crate::driver",
            "crate::source",
            "crate::report",
            "crate::recorder",
            "crate::run",
        ],
    );
    let report = only(sources("supervisor/src"), |path| path.contains("/report/"));
    must_not_name(&report, &["crate::pool", "crate::link", "crate::driver"]);
    let link = only(sources("supervisor/src"), |path| path.contains("/link/"));
    must_not_name(&link, &["Outcome", "crate::report", "crate::recorder"]);
}

#[test]
fn only_the_driver_carries_out_commands() {
    let others = only(sources("supervisor/src"), |path| {
        !path.contains("/pool/") && !path.contains("/driver")
    });
    must_not_name(
        &others,
        &[
            "Command::Spawn",
            "Command::Kill",
            "Command::Publish",
            "Command::Send",
        ],
    );
}

#[test]
fn only_the_terminal_prints() {
    // The bars, the screen they are drawn on and the lane that writes are parts of the terminal.
    let terminal = [
        "report/terminal.rs",
        "report/bars.rs",
        "report/screen.rs",
        "report/lane.rs",
    ];
    let others = only(sources("supervisor/src"), |path| {
        !terminal.iter().any(|part| path.ends_with(part))
    });
    must_not_name(
        &others,
        &[
            "println!",
            "eprintln!",
            "print!(",
            "io::stdout()",
            "io::stderr()",
        ],
    );
}

#[test]
fn every_setting_is_translated_by_name() {
    let translate = only(sources("worker/src"), |path| path.contains("translate"));
    for source in &translate {
        for pattern in source.code.split("let ").skip(1) {
            let pattern = pattern.split('=').next().unwrap_or_default();
            assert!(!pattern.contains(".."), "{}: let {pattern}", source.path);
        }
    }
}

#[test]
fn every_file_says_what_it_is() {
    let silent: Vec<String> = ["shared", "jobs", "worker", "supervisor"]
        .into_iter()
        .flat_map(sources)
        .filter(|source| !source.text.starts_with("//!"))
        .map(|source| source.path)
        .collect();
    assert!(silent.is_empty(), "no //! at the start of {silent:?}");
}

/// Where the system has no safe door: scheduling and disk priorities.
const FENCED: &str = "supervisor/src/sys/priority.rs";

#[test]
fn outside_jobs_one_file_has_unsafe_code() {
    for folder in ["shared", "worker", "supervisor"] {
        let others = only(sources(folder), |path| path != FENCED);
        must_not_name(
            &others,
            &[
                "unsafe {",
                "unsafe fn",
                "unsafe impl",
                "allow(unsafe_code",
                "expect(unsafe_code",
            ],
        );
    }
    let manifest = fs::read_to_string(workspace().join("Cargo.toml")).expect("the workspace");
    assert!(
        manifest.contains("unsafe_code = \"deny\"")
            || manifest.contains("unsafe_code = \"forbid\""),
        "the workspace no longer denies unsafe code"
    );
    for package in [
        "",
        "shared",
        "jobs",
        "worker",
        "supervisor",
        "supervisor/bench",
    ] {
        let path = workspace().join(package).join("Cargo.toml");
        let manifest = fs::read_to_string(path).expect("every package has a manifest");
        let follows = manifest
            .replace(' ', "")
            .contains("[lints]\nworkspace=true");
        assert!(follows, "{package:?} does not follow the workspace's lints");
    }
}

#[test]
fn panics_unwind() {
    let manifest = fs::read_to_string(workspace().join("Cargo.toml")).expect("the workspace");
    let settings = manifest.lines().filter(|line| !line.starts_with('#'));
    assert!(
        settings.clone().count() > 0
            && !settings
                .collect::<String>()
                .replace(' ', "")
                .contains("panic=\"abort\""),
        "a codec that panics must stay one failed file"
    );
}

#[test]
fn the_door_for_tests_is_shut_in_a_release() {
    let users = only(sources("supervisor/src"), |path| {
        path.ends_with("run/setup.rs")
    });
    for source in users {
        let at = source
            .code
            .find("PRESSROOM_TEST_WORKER")
            .expect("the door is there");
        let before = &source.code[..at];
        let guard = before
            .rfind("#[cfg(debug_assertions)]")
            .expect("it is guarded");
        assert_eq!(
            before[guard..].matches("\nfn ").count(),
            1,
            "the guard belongs to another function"
        );
    }
}
