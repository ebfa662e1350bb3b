//! What people see and set up: the display on a terminal, the page, reports over several ledgers, the line in a crontab.

use crate::cases::{self, Case, Ran};
use crate::{fake, pictures, processes, test, test_with_fake};
use libtest_mimic::Trial;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test_with_fake(
            "a_stopped_run_says_how_far_it_came_and_how_to_go_on",
            stopped,
        ),
        test_with_fake("on_a_terminal_a_run_shows_how_far_it_is", display),
        test("the_page_shows_small_pictures_without_metadata", page),
        test("one_report_over_several_ledgers", several),
        test("a_report_names_what_failed_since_a_while_ago", failed_since),
        test("the_line_in_the_crontab_runs_as_cron_runs_it", crontab),
        test("what_is_installed_is_removed_again", installed),
    ]
}

fn slow(count: usize) -> Case {
    let case = Case::fake("-");
    for number in 0..count {
        case.inputs(&[&format!("slow.{number:03}.jpg")]);
    }
    case
}

fn stopped() {
    let case = slow(40);
    let child = case.start(&["-j", "2", "--progress", "lines"]);
    let begun = || !processes::workers(&case.folder()).is_empty();
    assert!(
        processes::wait_until(Duration::from_secs(60), begun),
        "no worker ever started"
    );
    std::thread::sleep(Duration::from_millis(300));
    let interrupt = processes::interrupt();
    processes::send(child.id(), interrupt);
    let ran = case.finish(child);
    assert_eq!(ran.signal(), Some(interrupt.as_raw()), "{}", ran.text());
    let saved = ran.records().run["saved"].as_u64().expect("a number");
    for words in [
        format!("{saved} of 40 images in "),
        format!("{saved} saved, 0 kept, 0 failed"),
        "stopped by a signal; run the same command again to go on from here".to_owned(),
    ] {
        assert!(ran.stdout.contains(&words), "{words}\n{}", ran.text());
    }
    assert!(
        ran.stderr.contains("ask again (Ctrl-C) to end at once"),
        "{}",
        ran.text()
    );
}

/// Runs under a terminal, as the tool called script gives one.
fn display() {
    let case = slow(12);
    let mut command = Command::new("script");
    let line = format!(
        "'{}' in -o out -q 75 --no-config -j 2 -v",
        cases::executable().display()
    );
    command
        .args(["-qec", &line, "/dev/null"])
        .current_dir(case.folder())
        .env("PRESSROOM_TEST_WORKER", fake::executable())
        .env(fake::SCRIPT, format!("- {}", case.path("notes").display()))
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let Ok(child) = command.spawn() else {
        eprintln!("SKIPPED: no script(1) here, which gives a terminal to run on");
        return;
    };
    let ran = case.finish(child);
    ran.expect_code(0);
    for words in ["of 12", "images/s", "slow.000.jpg", "\u{1b}[2K", "smaller"] {
        assert!(ran.stdout.contains(words), "{words:?}\n{:?}", ran.stdout);
    }
    let ends = ran.stdout.split("\u{1b}[").skip(1);
    let mut commands = ends.filter_map(|rest| rest.chars().find(char::is_ascii_alphabetic));
    assert!(commands.all(|end| end != 'm'), "{:?}", ran.stdout);
    let lines: Vec<&str> = ran.stdout.split("saved    ").skip(1).collect();
    assert_eq!(lines.len(), 12, "{:?}", ran.stdout);
    for line in lines {
        let line = line.split('\r').next().expect("at least nothing");
        assert!(
            line.contains("slow.") && !line.contains('\u{1b}'),
            "{line:?}"
        );
    }
}

fn bare(case: &Case, words: &[&str]) -> Ran {
    let mut command = case.bare();
    command.args(words);
    case.finish(command.spawn().expect("it starts"))
}

/// A JPEG with a comment and EXIF that tell a secret.
fn with_secret(photo: &[u8]) -> Vec<u8> {
    let mut bytes = photo[..2].to_vec();
    let exif =
        b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x0e\0\x02\0\0\0\x0c\0\0\0\x1aEXIF-SECRET\0\0\0\0\0";
    for (marker, content) in [(0xE1, &exif[..]), (0xFE, b"COMMENT-SECRET")] {
        let length = u16::try_from(content.len() + 2).expect("short");
        bytes.extend([0xFF, marker]);
        bytes.extend(length.to_be_bytes());
        bytes.extend(content);
    }
    bytes.extend(&photo[2..]);
    bytes
}

/// The pictures embedded in a page.
fn embedded(html: &str) -> Vec<Vec<u8>> {
    let data = html.split(";base64,").skip(1);
    data.map(|rest| cases::base64(rest.split('"').next().expect("closed")))
        .collect()
}

fn page() {
    let case = Case::new();
    case.input("lake.jpg", &with_secret(&pictures::photo("lake.jpg")));
    case.input("leaf.png", &pictures::photo("leaf.png"));
    let ran = case.run(&["-q", "30", "--html", "page.html"]);
    ran.expect_code(0);
    let during = fs::read_to_string(case.path("page.html")).expect("the page of the run");
    bare(&case, &["report", "out", "--html", "later.html"]).expect_code(0);
    let after = fs::read_to_string(case.path("later.html")).expect("the page of the report");
    for html in [during, after] {
        let small = embedded(&html);
        assert!(
            small.len() >= 2 && small.len().is_multiple_of(2),
            "{} pictures",
            small.len()
        );
        for picture in &small {
            assert!(picture.len() < 200_000, "{} bytes", picture.len());
            let secret = picture.windows(6).any(|word| word == b"SECRET");
            assert!(!secret, "metadata went into the page");
        }
        assert!(html.contains("type=\"range\""));
    }
    case.check_leftovers();
}

fn two_outputs() -> Case {
    let case = Case::new();
    case.input("lake.jpg", &pictures::photo("lake.jpg"));
    bare(&case, &["in", "-o", "one", "-q", "50", "-Q", "--no-config"]).expect_code(0);
    case.input("bad.jpg", b"no image");
    bare(&case, &["in", "-o", "two", "-q", "50", "-Q", "--no-config"]).expect_code(1);
    case
}

fn several() {
    let case = two_outputs();
    let ran = bare(&case, &["report", "one", "two"]);
    ran.expect_code(0);
    for words in [
        "one/.pressroom/ledger.db: 1 image, 0 failing",
        "two/.pressroom/ledger.db: 2 images, 1 failing",
    ] {
        assert!(ran.stdout.contains(words), "{words}\n{}", ran.text());
    }
    let ran = bare(
        &case,
        &["report", "one", "two", "--json", "--html", "page.html"],
    );
    ran.expect_code(0);
    let runs = ran
        .stdout
        .lines()
        .filter(|line| line.contains("\"type\":\"run\""));
    assert_eq!(runs.count(), 2, "{}", ran.text());
    let html = fs::read_to_string(case.path("page.html")).expect("the page");
    assert!(html.contains("<title>pressroom: 2 ledgers</title>"));
    assert!(html.contains("/two: 1 file"), "savings by ledger");
}

fn failed_since() {
    let case = two_outputs();
    let ran = bare(&case, &["report", "two", "--failed", "--since", "1h"]);
    ran.expect_code(0);
    assert!(
        ran.stdout.contains("bad.jpg: not an image"),
        "{}",
        ran.text()
    );
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.text());
    std::thread::sleep(Duration::from_millis(1100));
    let ran = bare(&case, &["report", "two", "--since", "1s"]);
    ran.expect_code(3);
    assert!(ran.stderr.contains("no run"), "{}", ran.text());
}

/// A crontab that is a file, and a PATH on which it and pressroom are found.
fn fake_crontab(case: &Case) -> PathBuf {
    let bin = case.path("bin");
    fs::create_dir(&bin).expect("a folder");
    let table = case.path("table");
    let script = format!(
        "#!/bin/sh\ncase $1 in -l) cat '{0}';; -) cat >'{0}.new' && mv '{0}.new' '{0}';; esac\n",
        table.display()
    );
    fs::write(bin.join("crontab"), script).expect("our own");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(bin.join("crontab"), mode).expect("our own");
    std::os::unix::fs::symlink(cases::executable(), bin.join("pressroom")).expect("a link");
    fs::write(&table, "0 0 * * * /bin/true\n").expect("a line of somebody else's");
    bin
}

fn install(case: &Case, bin: &std::path::Path, words: &[&str]) -> Ran {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scripts/install-cron");
    let mut command = Command::new(script);
    command
        .args(words)
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .current_dir(case.folder())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    case.finish(command.spawn().expect("bash"))
}

fn crontab() {
    let case = Case::new();
    case.input("lake.jpg", &pictures::photo("lake.jpg"));
    let bin = fake_crontab(&case);
    let table = || fs::read_to_string(case.path("table")).expect("the table");
    for _ in 0..2 {
        install(
            &case,
            &bin,
            &["in", "100% small", "--max-size", "300KB", "--run-for", "2h"],
        )
        .expect_code(0);
    }
    let lines: Vec<String> = table().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    let shown = install(&case, &bin, &["--print", "in", "elsewhere", "-q", "75"]);
    shown.expect_code(0);
    assert!(shown.stdout.starts_with("30 2 * * * /"), "{}", shown.text());
    assert_eq!(table().lines().count(), 3, "shown, not installed");
    assert!(lines[2].starts_with("30 2 * * * /"), "{lines:?}");
    // Cron turns \% into % and hands the rest to sh, with next to no environment.
    let command = lines[2]["30 2 * * * ".len()..].replace("\\%", "%");
    let cron = || {
        let mut sh = Command::new("/bin/sh");
        sh.args(["-c", &command])
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        case.finish(sh.spawn().expect("sh"))
    };
    let ran = cron();
    ran.expect_code(0);
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        ("", ""),
        "cron would send a mail"
    );
    assert!(case.path("100% small/lake.jpg").is_file());
    case.input("bad.jpg", b"no image");
    let ran = cron();
    ran.expect_code(1);
    let mail = ran.stdout + &ran.stderr;
    assert!(
        mail.contains("bad.jpg: not an image") && mail.lines().count() < 15,
        "{mail}"
    );
    let before = table();
    let wrong = install(&case, &bin, &["in", "100% small", "--max-sise", "300KB"]);
    wrong.expect_code(2);
    assert!(wrong.stderr.contains("--max-sise"), "{}", wrong.text());
    assert_eq!(table(), before, "a flag that is none is not installed");
    install(&case, &bin, &["--uninstall", "100% small"]).expect_code(0);
    assert_eq!(table(), "0 0 * * * /bin/true\n");
    install(&case, &bin, &["--uninstall", "100% small"]).expect_code(1);
}

fn installed() {
    let case = Case::new();
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scripts/install");
    let install = |words: &[&str]| {
        let mut command = Command::new(&script);
        command
            .args(words)
            .args(["--prefix", "a prefix"])
            .env("PRESSROOM_BUILT", cases::executable())
            .current_dir(case.folder())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        case.finish(command.spawn().expect("bash"))
    };
    let ran = install(&[]);
    ran.expect_code(0);
    assert!(ran.stdout.contains("is not on your PATH"), "{}", ran.text());
    let files: Vec<PathBuf> = case.tree("a prefix").into_keys().collect();
    for name in [
        "bin/pressroom",
        "share/man/man1/pressroom.1",
        "share/man/man1/pressroom-report.1",
        "share/bash-completion/completions/pressroom",
        "share/zsh/site-functions/_pressroom",
        "share/fish/vendor_completions.d/pressroom.fish",
    ] {
        assert!(files.contains(&PathBuf::from(name)), "{name}: {files:?}");
    }
    install(&["--uninstall"]).expect_code(0);
    let left = fs::read_dir(case.path("a prefix")).expect("the prefix itself stays");
    assert_eq!(left.count(), 0, "no empty folders");
}
