//! What people stumble over from day to day: files of odd names, folders of earlier runs, failures that stay, words that are
//! mistyped, reports that cannot be written.

use crate::cases::{Case, Ran};
use crate::{pictures, processes, test, test_with_fake};
use libtest_mimic::Trial;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs;
use std::os::unix::fs::symlink;

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test(
            "a_picture_without_a_usual_name_is_taken_and_what_is_passed_over_is_told",
            odd_names,
        ),
        test(
            "results_of_earlier_runs_are_not_taken_for_photos",
            earlier_results,
        ),
        test(
            "a_failure_that_stays_is_mailed_once_if_that_was_asked_for",
            known_failures,
        ),
        test(
            "a_report_that_cannot_be_written_is_told_before_any_work",
            unreachable_reports,
        ),
        test("records_into_a_pipe_need_a_reader", pipe),
        test("a_slip_on_the_command_line_is_named_before_any_work", slips),
        test(
            "the_doctor_says_which_folder_is_missing_and_what_formats_there_are",
            doctor,
        ),
        test(
            "in_place_with_a_backup_the_page_shows_what_was_before",
            in_place_page,
        ),
        test(
            "compressing_results_again_in_place_is_told_once",
            again_in_place,
        ),
        test("the_scripts_tell_what_they_do", scripts_help),
        test_with_fake("a_report_on_a_run_that_is_not_finished_says_so", unfinished),
    ]
}

fn bare(case: &Case, words: &[&str]) -> Ran {
    let mut command = case.bare();
    command.args(words);
    case.finish(command.spawn().expect("it starts"))
}

fn odd_names() {
    let case = Case::new();
    let photo = pictures::photo("lake.jpg");
    for name in ["IMG_0001", "photo.jpg~", "plain.jpg", ".hidden.jpg"] {
        case.input(name, &photo);
    }
    case.input("notes", b"not a picture");
    symlink("nowhere.jpg", case.path("in/dangling.jpg")).expect("a link");
    let ran = case.run(&["-v"]);
    ran.expect_code(0);
    let run = &ran.records().run;
    assert_eq!(run["saved"].as_u64(), Some(3), "{}", ran.text());
    assert_eq!(run["ignored"].as_u64(), Some(3), "{}", ran.text());
    for kind in ["hidden", "dangling_link", "not_a_picture"] {
        assert_eq!(run["ignored_by"][kind].as_u64(), Some(1), "{kind}");
    }
    for name in ["IMG_0001", "photo.jpg~", "plain.jpg"] {
        let size = fs::metadata(case.path("out").join(name)).expect(name).len();
        assert!(size < photo.len() as u64, "{name}");
    }
    for words in [
        "/in/.hidden.jpg: hidden",
        "/in/dangling.jpg: a link to something that is not there",
        "/in/notes: not a picture",
        "passed over: 1 file that is no picture, 1 hidden (--hidden), 1 link to nothing",
    ] {
        assert!(ran.stdout.contains(words), "{words}\n{}", ran.text());
    }
    let report = bare(&case, &["report", "out"]);
    assert!(
        report.stdout.contains("1 link to nothing"),
        "{}",
        report.text()
    );
}

fn earlier_results() {
    let case = Case::new();
    case.input("lake.jpg", &pictures::photo("lake.jpg"));
    bare(&case, &["in", "-o", "in/small", "-q", "60", "--no-config"]).expect_code(0);
    let ran = case.run(&[]);
    ran.expect_code(0);
    assert_eq!(
        ran.records().run["discovered"].as_u64(),
        Some(1),
        "{}",
        ran.text()
    );
    let words = "passed over: 1 folder with results or originals of earlier runs";
    assert!(ran.stdout.contains(words), "{}", ran.text());
    assert!(!case.path("out/small").exists());
    // Who names the folder means it.
    let named = bare(
        &case,
        &["in/small", "-o", "smaller", "-q", "30", "--no-config"],
    );
    named.expect_code(0);
    assert!(case.path("smaller/lake.jpg").is_file());
}

fn known_failures() {
    let case = Case::new();
    case.input("lake.jpg", &pictures::photo("lake.jpg"));
    case.input("bad.jpg", b"no image");
    let nightly = |known: &str| {
        let words = [
            "in",
            "-o",
            "out",
            "-q",
            "60",
            "-Q",
            "--no-config",
            "--json",
            "json",
        ];
        let ran = bare(&case, &[&words[..], &["--known-failures", known]].concat());
        (ran.code(), ran.stdout.clone() + &ran.stderr, ran)
    };
    let (code, mail, _) = nightly("ok");
    assert_eq!(code, Some(1), "it is new: {mail}");
    let ask = format!("pressroom report --failed {}", case.path("out").display());
    assert!(
        mail.contains("bad.jpg: not an image") && mail.contains(&ask),
        "{mail}"
    );
    let (code, mail, ran) = nightly("ok");
    assert_eq!((code, mail.as_str()), (Some(0), ""));
    let run = &ran.records().run;
    assert_eq!(
        run["skipped_by"]["failed_before"].as_u64(),
        Some(1),
        "{run}"
    );
    let (code, mail, _) = nightly("fail");
    assert_eq!(code, Some(1), "{mail}");
    assert!(
        mail.contains("1 of 2 images") && mail.contains("failed in an earlier run"),
        "{mail}"
    );
    let report = bare(&case, &["report", "--failed", "out"]);
    assert!(
        report.stdout.contains("bad.jpg: not an image"),
        "{}",
        report.text()
    );
    case.input("worse.jpg", b"no image either");
    let (code, mail, _) = nightly("ok");
    assert_eq!(code, Some(1), "another one is new: {mail}");
    assert!(
        mail.contains("worse.jpg") && mail.contains("1 of them in an earlier run"),
        "{mail}"
    );
    // A file that is not as it was is new as well.
    case.input("bad.jpg", b"still no image");
    let (code, mail, _) = nightly("ok");
    assert_eq!(code, Some(1), "{mail}");
}

fn unreachable_reports() {
    let case = Case::new();
    case.input("lake.jpg", &pictures::photo("lake.jpg"));
    for flag in ["--html", "--json", "--csv", "--metrics"] {
        for (place, words) in [
            ("no/where/report", "there is no folder"),
            ("notes", "is a folder"),
        ] {
            let ran = bare(&case, &["in", "-o", "out", "--no-config", flag, place]);
            ran.expect_code(2);
            assert!(
                ran.stderr.contains(words) && ran.stderr.contains(flag),
                "{}",
                ran.text()
            );
            assert!(!case.path("out").exists(), "{flag}: before any work");
        }
        // The output folder is made by the run itself.
        let fresh = format!("for{flag}");
        let place = format!("{fresh}/report");
        let words = [
            "in",
            &format!("--output={fresh}"),
            "--no-config",
            flag,
            &place,
        ];
        bare(&case, &words).expect_code(0);
        assert!(case.path(&place).is_file(), "{flag}");
    }
    let ran = bare(&case, &["report", "out", "--html", "no/where/page.html"]);
    ran.expect_code(2);
}

fn pipe() {
    let case = Case::new();
    case.input("lake.jpg", &pictures::photo("lake.jpg"));
    let pipe = case.path("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).expect("a pipe");
    let run = ["in", "-o", "out", "--no-config", "--json", "pipe"];
    let ran = bare(&case, &run);
    ran.expect_code(2);
    assert!(ran.stderr.contains("nobody reads"), "{}", ran.text());
    let reader = std::thread::spawn(move || fs::read_to_string(pipe).expect("records"));
    // Until the reader stands there, the run says so and does nothing.
    let done = (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        bare(&case, &run).code() == Some(0)
    });
    assert!(done);
    let records = reader.join().expect("a reader");
    assert!(
        records
            .lines()
            .last()
            .is_some_and(|line| line.contains("\"type\":\"run\"")),
        "{records}"
    );
}

fn slips() {
    let case = Case::new();
    case.input("lake.jpg", &pictures::photo("lake.jpg"));
    fs::write(case.path("a-file"), "none of ours").expect("a file");
    for (words, told) in [
        (&["reprot", "out"][..], "did you mean 'pressroom report'?"),
        (&["bensch", "in"], "did you mean 'pressroom bench'?"),
        (
            &["fotos", "-o", "out"],
            "fotos does not exist; check the spelling",
        ),
        (&["in", "-o", "a-file"], "a-file is a file: name a folder"),
    ] {
        let ran = bare(&case, words);
        ran.expect_code(2);
        assert!(ran.stderr.contains(told), "{told}\n{}", ran.text());
    }
    assert!(!case.path("out").exists());
    // One of two is there: it is done, and the other is named as what it is.
    let ran = bare(&case, &["in", "fotos", "-o", "out", "--max-size", "300 KB"]);
    ran.expect_code(1);
    assert!(case.path("out/in/lake.jpg").is_file());
    assert!(
        ran.stdout.contains("FAILED, does not exist: 1"),
        "{}",
        ran.text()
    );
    assert!(!ran.stdout.contains("went away"), "{}", ran.text());
    case.input("nothing.jpg", b"");
    let ran = bare(&case, &["in", "-o", "out2", "-v"]);
    assert!(
        ran.stdout.contains("nothing.jpg: the file is empty"),
        "{}",
        ran.text()
    );
}

fn doctor() {
    let case = Case::new();
    let ran = bare(&case, &["doctor", "fotos"]);
    assert!(
        ran.stdout.contains("fotos does not exist"),
        "{}",
        ran.text()
    );
    assert!(
        ran.stdout.contains("made smaller: JPEG, PNG"),
        "{}",
        ran.text()
    );
    let ran = bare(&case, &["doctor", "in"]);
    assert!(!ran.stdout.contains("does not exist"), "{}", ran.text());
}

fn scripts_help() {
    let scripts = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let case = Case::new();
    let mut asked = 0;
    for folder in ["", "systemd"] {
        for entry in fs::read_dir(scripts.join(folder)).expect("scripts") {
            let path = entry.expect("readable").path();
            let text = fs::read_to_string(&path).unwrap_or_default();
            if !text.starts_with("#!/usr/bin/env bash") {
                continue;
            }
            let mut command = std::process::Command::new(&path);
            command.arg("--help").current_dir(case.folder());
            command
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped());
            let ran = case.finish(command.spawn().expect("bash"));
            ran.expect_code(0);
            assert!(
                !ran.stdout.is_empty() && ran.stderr.is_empty(),
                "{}",
                path.display()
            );
            asked += 1;
        }
    }
    assert!(asked > 8, "{asked}");
}

fn unfinished() {
    let case = Case::fake("-");
    for number in 0..30 {
        case.inputs(&[&format!("slow.{number:03}.jpg")]);
    }
    let child = case.start(&["-j", "1"]);
    let ledger = case.path("out/.pressroom/ledger.db");
    let some_are_done = || {
        let ran = ledger.is_file().then(|| bare(&case, &["report", "out"]));
        ran.is_some_and(|ran| ran.stdout.contains("saved,"))
    };
    assert!(processes::wait_until(
        std::time::Duration::from_secs(60),
        some_are_done
    ));
    let told = |state: &str| {
        let ran = bare(&case, &["report", "out", "--html", "page.html"]);
        ran.expect_code(0);
        let head = ran.stdout.lines().nth(2).expect("a headline");
        assert!(
            head.starts_with("not finished: ") && !head.contains("in 0.00 s"),
            "{state}: {head}"
        );
        assert!(
            ran.stdout.contains("its latest image ended on"),
            "{}",
            ran.text()
        );
        let page = fs::read_to_string(case.path("page.html")).expect("the page");
        assert!(page.contains("is not finished"), "{state}");
    };
    told("running");
    processes::send(child.id(), rustix::process::Signal::KILL);
    case.finish(child);
    told("killed");
}

fn in_place_page() {
    let case = Case::new();
    case.input("sub/lake.jpg", &pictures::photo("lake.jpg"));
    let words = ["in", "--in-place", "-q", "30", "--no-config", "--html"];
    let backup = ["--backup", "originals"];
    bare(&case, &[&words[..], &["page.html"], &backup].concat()).expect_code(0);
    let halves_of = |page: &str| {
        let html = fs::read_to_string(case.path(page)).expect("the page");
        let halves = html.split(";base64,").skip(1);
        let halves: Vec<String> = halves
            .map(|rest| rest.split('"').next().expect("closed").to_owned())
            .collect();
        halves
    };
    let halves = halves_of("page.html");
    assert_eq!(halves.len(), 2);
    assert_ne!(halves[0], halves[1], "before is not after");
    // Without a backup nobody has what was before, and the page does not pretend.
    case.input("sub/lake.jpg", &pictures::photo("lake.jpg"));
    bare(&case, &[&words[..], &["other.html"]].concat()).expect_code(0);
    assert!(halves_of("other.html").is_empty());
}

fn again_in_place() {
    let case = Case::new();
    for name in ["lake.jpg", "dunes.jpg"] {
        case.input(name, &pictures::photo(name));
    }
    let run = |quality: &str| {
        let words = [
            "in",
            "--in-place",
            "--backup",
            "originals",
            "-q",
            quality,
            "--no-config",
            "-Q",
        ];
        let ran = bare(&case, &words);
        ran.expect_code(0);
        ran.stderr
    };
    assert_eq!(run("60"), "", "the first time");
    assert_eq!(run("60"), "", "nothing to do again");
    let said = run("30");
    assert_eq!(said.matches("compressed again").count(), 1, "{said}");
    let folder = case.path("originals");
    assert!(
        said.contains(&format!(
            "put the originals in {} back first",
            folder.display()
        )),
        "{said}"
    );
    let original = fs::read(folder.join("lake.jpg")).expect("the backup");
    assert_eq!(
        original,
        pictures::photo("lake.jpg"),
        "the original of the original stays"
    );
}
