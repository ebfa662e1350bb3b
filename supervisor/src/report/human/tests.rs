//! Tests of `human`.

use super::super::samples;
use super::*;
use std::path::PathBuf;

#[test]
fn a_quiet_run_does_not_call_failed_what_was_left_alone() {
    let tally = Tally {
        exists: 13,
        ..Tally::default()
    };
    let text = mail(&tally, &samples::facts(), KnownFailures::Fail).unwrap();
    let first = text.lines().next().unwrap();
    assert!(
        first.contains("13 of ") && first.ends_with(" left alone"),
        "{first}"
    );
    let mut early = samples::facts();
    early.how = Some(HowEnded::Signal);
    let text = mail(&Tally::default(), &early, KnownFailures::Fail).unwrap();
    assert!(!text.contains("failed"), "{text}");
}

#[test]
fn an_output_that_was_changed_since_is_told_from_somebody_elses() {
    let mut text = String::new();
    let mut tally = Tally::default();
    for reason in ["exists", "output_changed"] {
        let entry = samples::entry("a.jpg", Verdict::Skipped, reason);
        tally.add(&entry);
        text += &format!("{}\n", line(&entry));
    }
    insta::assert_snapshot!(text, @r"
    skipped  /in/a.jpg: the output exists and is not ours; --overwrite allows to replace it
    skipped  /in/a.jpg: an earlier run made the output and it was changed since; --recheck makes it again, and so does --overwrite
    ");
    let facts = Facts {
        discovered: 2,
        ..samples::facts()
    };
    insta::assert_snapshot!(mail(&tally, &facts, KnownFailures::Fail).unwrap(), @r"
    pressroom: 2 of 2 images into /out left alone
    2 images in 1.2 s with 2 workers: nothing was done
      1: left alone, because an output that is not ours has their name; see --overwrite
      1: left alone, because the output of an earlier run was changed since; --recheck makes it again, or see --overwrite
    ");
}

#[test]
fn a_message_that_begins_with_its_title_is_said_once() {
    let text = with_message("not an image", "not an image: it looks like a video");
    assert_eq!(text, "not an image: it looks like a video");
    let text = with_message("empty file", "the file is empty");
    assert_eq!(text, "the file is empty");
    let text = with_message("disk full", "no room; the disk of /out is full");
    assert_eq!(text, "no room; the disk of /out is full");
    let text = with_message("too large", "9 MP");
    assert_eq!(text, "too large: 9 MP");
}

#[test]
fn the_head_says_what_how_many_why_and_under_what() {
    let text = header(&Header {
        inputs: vec![PathBuf::from("photos")],
        output: Some(PathBuf::from("out")),
        goal: "each image at most 300 KB".to_owned(),
        workers: 2,
        workers_why: "2 physical cores".to_owned(),
        cap: "512 MiB per worker (process limit; page cache not counted)".to_owned(),
        sandbox: "Landlock and system-call filter".to_owned(),
    });
    insta::assert_snapshot!(text, @r"
    photos -> out: each image at most 300 KB
      2 workers: 2 physical cores
      memory: 512 MiB per worker (process limit; page cache not counted); sandbox: Landlock and system-call filter
    ");
}

#[test]
fn a_file_is_one_line() {
    let mut text = String::new();
    for entry in [
        samples::saved(),
        samples::kept(),
        samples::failed("b/new\nline.jpg"),
    ] {
        text += &line(&entry);
        text.push('\n');
    }
    insta::assert_snapshot!(text, @r"
    saved    /in/a/one.jpg: 4.5 MB -> 299 KB, 93.3 % smaller, quality 61, 0.04 s
    kept     /in/a/small.jpg: already within the size asked for [the name says another format; the content is PNG]
    FAILED   /in/b/new\nline.jpg: damaged or cut off: the data ends after 12 of 40 rows [1 worker died on it]
    ");
}

#[test]
fn the_summary_is_read_in_one_look() {
    insta::assert_snapshot!(summary(&samples::tally(), &samples::facts()), @r"
    6 images in 1.2 s with 2 workers: 1 saved, 1 kept, 2 failed; 3.3 images/s
      4.6 MB -> 399 KB, 91.3 % smaller
      kept as they were: 1 (already within the size asked for)
      1: done by an earlier run, unchanged since
      1: not begun or not ended; run the same command again to do them
      FAILED, damaged or cut off: 2
        the data ends after 12 of 40 rows
        /in/b/cut.jpg, /in/b/new\nline.jpg
      workers that died and were replaced: 2
      peak memory of a worker: 14 MiB
      1 file with a warning; `pressroom report` shows them
    ");
}

#[test]
fn a_dry_run_says_so_and_sends_nobody_to_a_report() {
    let facts = Facts {
        dry_run: true,
        ..samples::facts()
    };
    let text = summary(&samples::tally(), &facts);
    assert!(
        text.starts_with("dry run, nothing was written: 6 images in "),
        "{text}"
    );
    assert!(
        text.contains("1 file with a warning; -v shows them"),
        "{text}"
    );
    let real = Facts {
        place: Some("/out".into()),
        ..samples::facts()
    };
    let text = summary(&samples::tally(), &real);
    assert!(text.starts_with("6 images in "), "{text}");
    assert!(
        text.contains("; `pressroom report /out` shows them"),
        "{text}"
    );
}

#[test]
fn a_run_with_nothing_to_do_says_so() {
    let mut tally = Tally::default();
    for _ in 0..20 {
        tally.add(&samples::entry("a.jpg", Verdict::Skipped, "unchanged"));
    }
    let facts = Facts {
        discovered: 20,
        wall_ms: 40,
        ..samples::facts()
    };
    insta::assert_snapshot!(summary(&tally, &facts), @r"
    20 images in 0.04 s with 2 workers: nothing to do again
      20: done by an earlier run, unchanged since
    ");
    assert_eq!(mail(&tally, &facts, KnownFailures::Fail), None);
}

#[test]
fn an_empty_folder_says_what_was_passed_over() {
    let facts = Facts {
        discovered: 0,
        wall_ms: 10,
        ..samples::facts()
    };
    insta::assert_snapshot!(summary(&Tally::default(), &facts), @r"
    0 images in 0.01 s with 2 workers: nothing to do
      passed over: 3 files that are no pictures; a run with -n -v names them
    ");
    let mut missed = samples::facts();
    assert!(
        !summary(&samples::tally(), &missed).contains("passed over"),
        "texts beside pictures are no news"
    );
    missed.ignored.set(crate::passed::Passed::Dangling, 2);
    let text = summary(&samples::tally(), &missed);
    assert!(
        text.contains("passed over: 3 files that are no pictures, 2 links to nothing; "),
        "{text}"
    );
}

#[test]
fn a_run_that_ended_before_its_first_image_does_not_say_there_was_nothing_to_do() {
    let mut unchanged = Tally::default();
    unchanged.add(&samples::entry("a.jpg", Verdict::Skipped, "unchanged"));
    for tally in [Tally::default(), unchanged] {
        for how in [Some(HowEnded::Signal), Some(HowEnded::TimeUp), None] {
            let facts = Facts {
                how,
                ..samples::facts()
            };
            let text = summary(&tally, &facts);
            assert!(
                text.contains("nothing was done") && !text.contains("nothing to do"),
                "{text}"
            );
        }
    }
}

#[test]
fn many_failures_stay_readable() {
    let mut tally = Tally::default();
    for number in 0..17 {
        tally.add(&samples::failed(&format!("{number:02}.jpg")));
    }
    let text = mail(
        &tally,
        &Facts {
            discovered: 17,
            ..samples::facts()
        },
        KnownFailures::Fail,
    )
    .unwrap();
    insta::assert_snapshot!(text, @r"
    pressroom: 17 of 17 images into /out failed
    17 images in 1.2 s with 2 workers: 0 saved, 0 kept, 17 failed; 14.1 images/s
      FAILED, damaged or cut off: 17
        the data ends after 12 of 40 rows
        /in/00.jpg, /in/01.jpg, /in/02.jpg, /in/03.jpg, /in/04.jpg
        and 12 more; `pressroom report --failed` names them
      workers that died and were replaced: 17
    ");
}

#[test]
fn an_early_end_says_why_and_how_to_go_on() {
    let facts = Facts {
        how: Some(HowEnded::TimeUp),
        ..samples::facts()
    };
    let text = mail(&Tally::default(), &facts, KnownFailures::Fail).unwrap();
    assert!(
        text.contains("--run-for was over; the same command goes on from here"),
        "{text}"
    );
}

#[test]
fn a_run_that_ended_early_says_how_far_it_came_where_all_were_counted() {
    let facts = Facts {
        how: Some(HowEnded::TimeUp),
        expected: Some(100),
        ..samples::facts()
    };
    let mut tally = samples::tally();
    let text = mail(&tally, &facts, KnownFailures::Fail).unwrap();
    assert!(text.contains("\n5 of 100 images in 1.2 s"), "{text}");
    assert!(text.contains("  95: not begun or not ended"), "{text}");
    tally.failed.clear();
    let text = mail(&tally, &facts, KnownFailures::Fail).unwrap();
    assert!(
        text.starts_with("pressroom: 3 of 100 images into /out, and the run ended early"),
        "{text}"
    );
}

#[test]
fn what_befell_many_files_alike_is_told_once() {
    let mut tally = Tally::default();
    for (file, needed) in [("a.jpg", 300), ("b.jpg", 1200)] {
        tally.add(&Entry {
            message: format!("needs {needed} MiB; the cap is 64 MiB"),
            ..samples::entry(file, Verdict::Failed, "memory_cap")
        });
    }
    let text = summary(&tally, &samples::facts());
    let told = "  FAILED, needs more memory than the cap: 2\n    needs 300 MiB; the cap is 64 MiB (figures of the first)\n    /in/a.jpg, /in/b.jpg\n";
    assert!(text.contains(told), "{text}");
}

#[test]
fn known_failures_are_no_news_where_that_was_asked_for_but_stand_in_every_message() {
    let mut tally = Tally {
        failed_before: 2,
        ..Tally::default()
    };
    let facts = Facts {
        place: Some(PathBuf::from("/srv/my small")),
        ..samples::facts()
    };
    let always = mail(&tally, &facts, KnownFailures::Fail).unwrap();
    assert!(
        always.contains("2 of 6 images into /out failed, 2 of them in an earlier run"),
        "{always}"
    );
    assert_eq!(mail(&tally, &facts, KnownFailures::Ok), None);
    assert!(summary(&tally, &facts).contains("  2: failed in an earlier run"));
    tally.add(&samples::failed("new.jpg"));
    let news = mail(&tally, &facts, KnownFailures::Ok).unwrap();
    for words in [
        "3 of 6 images into /out failed, 2 of them in an earlier run\n",
        "  2: failed in an earlier run",
        "new.jpg",
        "pressroom report --failed '/srv/my small'",
    ] {
        assert!(news.contains(words), "{words}\n{news}");
    }
}
