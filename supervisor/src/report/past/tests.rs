//! Tests of `past`.

use super::*;
use crate::recorder::sample_ledger;

fn ask(place: &Path, failed: bool, json: bool, since: Option<u64>) -> String {
    let question = Question {
        places: vec![place.to_path_buf()],
        failed,
        json,
        since,
    };
    let mut said = String::new();
    answer(&question, &mut |text| said.push_str(text)).unwrap();
    said
}

#[test]
fn the_last_run_is_told_from_the_ledger() {
    let folder = sample_ledger();
    let said =
        ask(folder.path(), false, false, None).replace(&*folder.path().to_string_lossy(), "OUT");
    insta::assert_snapshot!(said, @r"
    run 1 on 2026-11-30 12:31:30 UTC, pressroom 0.1.0
      pressroom in -o out -q 75
    2 images in 2.0 s with 2 workers: 0 saved, 1 kept, 1 failed; 1.0 images/s
      1 KB -> 1 KB, same size
      kept as they were: 1 (would not have become smaller)
      FAILED, damaged or cut off: 1
        /in/b.jpg: the data ends after 12 of 40 rows
      workers that died and were replaced: 1
      peak memory of a worker: 9 MiB
      slowest:
        0.01 s  a.jpg
        0.00 s  b.jpg
      workers at their biggest:
        9 MiB  a.jpg
        7 B  b.jpg
      warnings:
        the name says another format; the content is PNG  a.jpg
    in all, over every run in OUT/.pressroom/ledger.db: 2 images, 1 failing; 1 KB -> 1 KB, same size
    ");
}

#[test]
fn warnings_that_are_not_listed_are_counted() {
    let mut standouts = Standouts::default();
    for _ in 0..TOP {
        standouts.see(&crate::report::samples::kept());
    }
    assert!(!shown(&standouts).contains(" more"), "all are listed");
    standouts.see(&crate::report::samples::kept());
    standouts.see(&crate::report::samples::kept());
    let text = shown(&standouts);
    assert!(
        text.ends_with("    and 2 more; `pressroom report --json` has all\n"),
        "{text}"
    );
}

#[test]
fn a_failure_that_was_left_alone_is_still_told() {
    let folder = sample_ledger();
    crate::recorder::sample_second_run(folder.path());
    let said = ask(folder.path(), false, false, None);
    assert!(said.starts_with("run 2 on"), "{said}");
    assert!(said.contains("  FAILED, damaged or cut off: 1\n"), "{said}");
    assert!(
        said.contains("  1 of the failures from an earlier run"),
        "{said}"
    );
    assert!(ask(folder.path(), true, false, None).contains("/in/b.jpg"));
}

#[test]
fn an_older_run_keeps_its_sums_when_its_images_are_done_again() {
    let folder = sample_ledger();
    let before = ask(folder.path(), false, false, Some(0));
    assert!(!before.contains("when it ended"), "{before}");
    crate::recorder::sample_run_again(folder.path());
    let said = ask(folder.path(), false, false, Some(0));
    let (newer, older) = said.split_once("run 1 on").unwrap();
    assert!(!newer.contains("when it ended"), "{newer}");
    assert!(
        older.contains(
            "  2 of its images done again or gone since; when it ended: 0 saved, 1 kept, 1 failed; 1 KB -> 1 KB, same size\n"
        ),
        "{older}"
    );
}

#[test]
fn failed_files_are_listed_alone() {
    let folder = sample_ledger();
    insta::assert_snapshot!(ask(folder.path(), true, false, None), @"FAILED   /in/b.jpg: damaged or cut off: the data ends after 12 of 40 rows [1 worker died on it]");
    let json = ask(folder.path(), true, true, None);
    let lines: Vec<serde_json::Value> = json
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["reason"], "corrupt");
    assert_eq!(
        (&lines[1]["type"], &lines[1]["failed"]),
        (&"run".into(), &1.into())
    );
}

#[test]
fn a_ledger_file_is_as_good_as_its_folder_and_a_page_comes_from_either() {
    let folder = sample_ledger();
    let ledger = default_path(folder.path());
    assert_eq!(
        ask(&ledger, false, true, Some(0)),
        ask(folder.path(), false, true, None)
    );
    let page = folder.path().join("page.html");
    let digest = crate::report::html::gather(&[ledger]).unwrap();
    crate::report::html::write(&digest, &[], &page).unwrap();
    assert!(
        std::fs::read_to_string(page)
            .unwrap()
            .contains("damaged or cut off")
    );
}

#[test]
fn what_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let question = Question {
        places: vec![folder.path().to_path_buf()],
        failed: false,
        json: false,
        since: None,
    };
    let error = answer(&question, &mut |_| {}).unwrap_err().to_string();
    assert!(
        error.contains("there is no ledger at") && error.contains("--state"),
        "{error}"
    );
    let ledger = sample_ledger();
    let question = Question {
        places: vec![ledger.path().to_path_buf()],
        since: Some(u64::MAX),
        ..question
    };
    assert!(matches!(
        answer(&question, &mut |_| {}),
        Err(ReportError::NoRun { .. })
    ));
}
