//! Whether README.md says what is so: its commands run, its flags, fields, words and codes are those of the executable, and what
//! it shows a run to print is what a run prints.

use crate::cases::{Case, Ran};
use crate::{pictures, test};
use libtest_mimic::Trial;
use pressroom_shared::KeptReason;
use pressroom_supervisor::ledger::words;
use pressroom_supervisor::task::Skip;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("readme_commands_run_as_they_stand", commands),
        test("readme_names_only_flags_that_exist", flags),
        test("readme_shows_what_a_run_prints", shown),
        test("readme_has_every_json_field_and_no_other", fields),
        test("readme_has_every_reason_and_no_other", reasons),
        test("readme_exit_codes_are_the_real_ones", codes),
        test("the_manual_and_the_completions_are_made", papers),
    ]
}

fn readme() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("README.md");
    fs::read_to_string(path).expect("the README")
}

/// Lines of code, without their indentation.
fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix("    "))
}

/// The part under a heading.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let (_, rest) = text
        .split_once(&format!("\n## {heading}"))
        .unwrap_or_else(|| panic!("README.md has no section {heading}"));
    rest.split("\n## ").next().unwrap_or(rest)
}

/// The words in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn photos() -> [&'static str; 6] {
    [
        "birches.jpg",
        "dunes.jpg",
        "granite.jpg",
        "lake.jpg",
        "leaf.png",
        "town.jpg",
    ]
}

/// A case whose folder has `photos`, as the README's commands take them.
fn with_photos() -> Case {
    let case = Case::new();
    fs::create_dir(case.path("photos")).expect("a folder");
    for name in photos() {
        fs::write(case.path("photos").join(name), pictures::photo(name)).expect("a picture");
    }
    case
}

fn bare(case: &Case, words: &[&str]) -> Ran {
    let mut command = case.bare();
    command
        .args(words)
        .env("HOME", case.folder())
        .env_remove("XDG_CONFIG_HOME");
    case.finish(command.spawn().expect("it starts"))
}

fn commands() {
    let case = with_photos();
    let text = readme();
    let mut run = 0;
    for line in code_lines(&text).filter(|line| line.starts_with("pressroom ")) {
        // What stands behind two spaces explains the command.
        let command = line.split("  ").next().unwrap_or(line);
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        let ran = bare(&case, &words);
        assert_eq!(ran.code(), Some(0), "{line}\n{}", ran.text());
        run += 1;
    }
    assert!(run >= 5, "{run} commands");
}

fn help(case: &Case) -> String {
    ["run", "report", "doctor", "config", "bench"]
        .iter()
        .map(|command| {
            let ran = bare(case, &[command, "--help"]);
            ran.expect_code(0);
            ran.stdout
        })
        .collect()
}

fn flags() {
    let case = Case::new();
    let known = help(&case);
    let words = |text: &str| -> BTreeSet<String> {
        let is_flag = |letter: char| letter.is_ascii_lowercase() || letter == '-';
        let starts = text.match_indices("--").filter(|(at, _)| {
            let before = text[..*at].chars().next_back();
            before.is_none_or(|letter| !letter.is_alphanumeric() && letter != '-' && letter != '|')
        });
        let flags = starts.map(|(at, _)| {
            let rest = &text[at..];
            let end = rest.find(|letter| !is_flag(letter)).unwrap_or(rest.len());
            rest[..end].trim_end_matches('-').to_owned()
        });
        flags.filter(|flag| flag.len() > 2).collect()
    };
    let known = words(&known);
    assert!(known.len() > 40, "{known:?}");
    // Of cargo, of the scripts and of other programs.
    let others = [
        "--size",
        "--release",
        "--workspace",
        "--path",
        "--rounds",
        "--uninstall",
        "--prefix",
        "--print",
    ];
    let unknown: Vec<String> = words(&readme())
        .into_iter()
        .filter(|flag| !known.contains(flag) && !others.contains(&flag.as_str()))
        .collect();
    assert!(unknown.is_empty(), "README.md names {unknown:?}");
}

/// A text with its figures taken out, and without what the machine decides.
fn without_figures(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut shape = String::new();
        for word in line.split(' ') {
            let figure = word.starts_with(|letter: char| letter.is_ascii_digit());
            let (head, tail) = word.split_at(word.find([',', ':', ';']).unwrap_or(word.len()));
            match head {
                _ if figure => {
                    shape.push('#');
                    shape.push_str(tail.trim_start_matches(|letter: char| {
                        letter.is_ascii_digit() || letter == ','
                    }));
                }
                "B" | "KB" | "MB" | "KiB" | "MiB" => shape.push_str(&format!("SIZE{tail}")),
                "worker" => shape.push_str(&format!("workers{tail}")),
                _ => shape.push_str(word),
            }
            shape.push(' ');
        }
        for (start, shown) in [
            ("  # workers:", "  # workers: WHY"),
            ("  memory:", "  memory: CAP"),
        ] {
            if shape.starts_with(start) {
                shape = shown.to_owned();
            }
        }
        lines.push(shape.trim_end().to_owned());
    }
    lines
}

fn shown() {
    let case = with_photos();
    let text = readme();
    let part = section(&text, "What a run prints");
    let mut blocks = Vec::new();
    let mut open = false;
    for line in part.lines() {
        match line.strip_prefix("    ") {
            Some(code) => {
                if !open {
                    blocks.push(String::new());
                }
                let block: &mut String = blocks.last_mut().expect("just pushed");
                if !code.starts_with('$') {
                    block.push_str(code);
                    block.push('\n');
                }
                open = true;
            }
            None => open = false,
        }
    }
    assert!(blocks.len() >= 2, "{blocks:?}");
    for block in &blocks[..2] {
        let ran = bare(&case, &["photos", "-o", "out", "--max-size", "300KB"]);
        ran.expect_code(0);
        let said = ran
            .stdout
            .replace("photos -> out", "jobs/tests/photos -> out");
        let (said, block) = (without_figures(&said), without_figures(block));
        // Of a second run only the end may be shown.
        let end = said.len().saturating_sub(block.len());
        assert_eq!(said[end..], block[..], "{}", ran.text());
    }
}

/// Names in the first column of the table whose head names this type.
fn documented(text: &str, kind: &str) -> BTreeSet<String> {
    let head = format!("| `\"type\": \"{kind}\"` |");
    let (_, rest) = text
        .split_once(&head)
        .unwrap_or_else(|| panic!("no table of {kind}"));
    rest.lines()
        .skip(1)
        .take_while(|line| line.starts_with('|'))
        .filter(|line| !line.starts_with("|--"))
        // The second column of the names tells of their exact spellings.
        .flat_map(|line| quoted(line.split('|').nth(1).unwrap_or_default()).chain(quoted(line)))
        .filter(|word| word.ends_with("_base64") || !word.contains(' '))
        .map(str::to_owned)
        .collect()
}

fn keys(objects: &[Value], kind: &str) -> BTreeSet<String> {
    objects
        .iter()
        .filter(|object| object["type"] == kind)
        .filter_map(Value::as_object)
        .flat_map(|object| object.keys().cloned())
        .filter(|key| key != "type" && key != "schema")
        .collect()
}

fn fields() {
    let text = readme();
    let case = Case::new();
    for name in photos() {
        case.input(name, &pictures::photo(name));
    }
    case.input("named-wrong.jpg", &pictures::photo("leaf.png"));
    case.input("cut.jpg", &pictures::photo("lake.jpg")[..2000]);
    case.input(
        OsStr::from_bytes(b"odd\xff.jpg"),
        &pictures::photo("lake.jpg"),
    );
    let mut objects = case.run(&["-q", "40"]).json;
    objects.extend(case.run(&["-q", "40"]).json);
    for kind in ["file", "run"] {
        let documented = documented(&text, kind);
        let real = keys(&objects, kind);
        let untold: Vec<_> = real.difference(&documented).collect();
        assert!(
            untold.is_empty(),
            "README.md does not tell of {untold:?} of a {kind}"
        );
        let first_column = |line: &str| line.split('|').nth(1).unwrap_or_default().to_owned();
        let (_, rest) = text
            .split_once(&format!("| `\"type\": \"{kind}\"` |"))
            .expect("seen above");
        let rows = rest
            .lines()
            .skip(1)
            .take_while(|line| line.starts_with('|'));
        for row in rows.map(first_column) {
            for name in quoted(&row) {
                assert!(real.contains(name), "no {kind} has {name}: {real:?}");
            }
        }
    }
}

fn reasons() {
    let text = readme();
    let row = text
        .lines()
        .find(|line| line.starts_with("| `reason` |"))
        .expect("a row about reasons");
    let told: BTreeSet<&str> = quoted(row).skip(1).collect();
    let kept = [
        KeptReason::WithinTarget,
        KeptReason::NotSmaller,
        KeptReason::TargetUnreachable {
            target: 0,
            smallest: 0,
        },
        KeptReason::UnsupportedFormat,
        KeptReason::WouldLose(String::new()),
        KeptReason::HardLinked,
    ];
    let kept = kept.iter().map(words::kept);
    let skipped = [
        Skip::Unchanged,
        Skip::FailedBefore,
        Skip::Exists,
        Skip::OutputChanged,
    ];
    let skipped = skipped.map(words::skip);
    let failed = words::FAILURES.map(words::failure);
    let real: BTreeSet<&str> = kept.chain(skipped).chain(failed).collect();
    assert_eq!(told, real);
}

fn codes() {
    let text = readme();
    let (_, table) = text
        .split_once("| exit code | meaning |")
        .expect("a table of exit codes");
    let told: Vec<&str> = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .filter_map(|line| line.split('|').nth(1))
        .map(str::trim)
        .collect();
    assert_eq!(told, ["0", "1", "2", "3", "4", "75", "128 + n"]);
    let case = with_photos();
    let run = |words: &[&str]| {
        bare(
            &case,
            &[&["photos", "-o", "small", "-q", "50"], words].concat(),
        )
    };
    run(&[]).expect_code(0);
    fs::write(case.path("photos/bad.jpg"), "no image").expect("an input");
    run(&[]).expect_code(1);
    run(&["--no-such-flag"]).expect_code(2);
    let little_room = run(&["--min-free", "100%"]);
    little_room.expect_code(3);
    assert!(
        little_room.stderr.contains("--min-free"),
        "{}",
        little_room.text()
    );
    fs::write(case.path("photos/worse.jpg"), "none either").expect("an input");
    run(&["--max-fail", "1", "-f", "--retry-failed", "-j", "1"]).expect_code(4);
    locked(&case);
}

fn locked(case: &Case) {
    use rustix::fs::{FlockOperation, flock};
    let lock = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(case.path("small/.pressroom/lock"))
        .expect("an earlier run made it");
    flock(&lock, FlockOperation::NonBlockingLockExclusive).expect("nobody else is at work");
    let words = ["photos", "-o", "small", "-q", "50"];
    bare(case, &words).expect_code(75);
    bare(case, &[&words[..], &["--lock", "skip"]].concat()).expect_code(0);
}

fn papers() {
    let case = Case::new();
    bare(&case, &["__man", "man"]).expect_code(0);
    let page = fs::read_to_string(case.path("man/pressroom.1")).expect("the main page");
    assert!(
        page.contains(".SH ENVIRONMENT") && page.contains("min\\-free"),
        "{page}"
    );
    let bench = fs::read_to_string(case.path("man/pressroom-bench.1")).expect("the bench's page");
    assert!(bench.contains("budget"), "{bench}");
    for (shell, mark) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef pressroom"),
        ("fish", "complete -c pressroom"),
    ] {
        let ran = bare(&case, &["completions", shell]);
        ran.expect_code(0);
        for mark in [mark, "bench", "write-config"] {
            assert!(ran.stdout.contains(mark), "{shell} {mark}: {}", ran.text());
        }
    }
    bare(&case, &["completions", "nosuchshell"]).expect_code(2);
}
