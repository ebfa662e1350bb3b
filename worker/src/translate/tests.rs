//! Words in, words out: every goal, every failure, every warning.

use super::*;
use pressroom_shared::{
    Chroma, Format, Goal, IccPolicy, Metric, OrientPolicy, Progressive, Resize, Settings,
    SizeLimit, Strip,
};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

fn settings() -> Settings {
    Settings {
        goal: Goal::Quality(75),
        min_quality: 5,
        effort: 4,
        chroma: Chroma::Auto,
        progressive: Progressive::Auto,
        format: Format::Same,
        resize: Resize::default(),
        shrink_to_fit: None,
        strip: Strip::default(),
        orient: OrientPolicy::Keep,
        icc: IccPolicy::Keep,
        lossy_png: false,
        min_savings_permille: 20,
        force: true,
        min_savings_bytes: Some(7),
    }
}

#[test]
fn each_goal_keeps_its_meaning() {
    let goals = [
        (Goal::Quality(75), jobs::Goal::Quality(75)),
        (
            Goal::MaxSize(SizeLimit::Bytes(300_000)),
            jobs::Goal::MaxSize(jobs::SizeLimit::Bytes(300_000)),
        ),
        (
            Goal::MaxSize(SizeLimit::Permille(400)),
            jobs::Goal::MaxSize(jobs::SizeLimit::Permille(400)),
        ),
        (
            Goal::Score(Metric::Ssimulacra2, 80.0),
            jobs::Goal::Ssimulacra2(80.0),
        ),
        (Goal::Lossless, jobs::Goal::Lossless),
    ];
    for (goal, expected) in goals {
        let asked = options(&Settings { goal, ..settings() }).unwrap();
        assert_eq!(asked.goal, expected);
    }
}

#[test]
fn numbers_and_switches_pass_unchanged() {
    let asked = options(&settings()).unwrap();
    assert_eq!((asked.min_quality, asked.effort), (5, 4));
    assert_eq!((asked.min_savings_permille, asked.force), (20, true));
    assert_eq!(asked.min_savings_bytes, 7);
}

#[test]
fn each_failure_has_its_kind_and_one_line() {
    let io = |kind: ErrorKind| io::Error::from(kind);
    let corrupt = jobs::Error::Corrupt {
        format: jobs::Format::Jpeg,
        what: "ends in\nmid-scan".to_owned(),
    };
    let cases = [
        (jobs::Error::Empty, FailureKind::Empty),
        (jobs::Error::NotAnImage("HTML"), FailureKind::NotAnImage),
        (corrupt, FailureKind::Corrupt),
        (jobs::Error::Verify("size".to_owned()), FailureKind::Verify),
        (
            jobs::Error::Write(io(ErrorKind::StorageFull)),
            FailureKind::DiskFull,
        ),
        (
            jobs::Error::Write(io(ErrorKind::QuotaExceeded)),
            FailureKind::DiskFull,
        ),
        (
            jobs::Error::Write(io(ErrorKind::FileTooLarge)),
            FailureKind::TooLarge,
        ),
        (
            jobs::Error::Write(io(ErrorKind::OutOfMemory)),
            FailureKind::MemoryCap,
        ),
        (
            jobs::Error::Read(io(ErrorKind::PermissionDenied)),
            FailureKind::Io,
        ),
    ];
    for (error, kind) in cases {
        let words = error.to_string();
        let failed = failure(error, 1 << 29);
        assert_eq!(failed.kind, kind, "{words}");
        assert!(
            !failed.message.is_empty() && !failed.message.contains('\n'),
            "{words}"
        );
    }
}

#[test]
fn a_cap_hit_names_what_the_whole_worker_needs() {
    let needed = (100 << 20) - limits::RESERVE;
    let failed = failure(jobs::Error::OverBudget { needed, cap: 1 }, 64 << 20);
    assert_eq!(failed.kind, FailureKind::MemoryCap);
    assert_eq!(
        failed.message,
        "needs about 100 MiB of memory, the cap is 64 MiB; raise --memory-per-worker"
    );
}

#[test]
fn opening_tells_gone_from_forbidden() {
    let opened = |kind: ErrorKind| {
        Failed::from(FileError::Io {
            operation: Operation::Open,
            path: "/a.jpg".into(),
            source: kind.into(),
        })
    };
    assert_eq!(opened(ErrorKind::NotFound).kind, FailureKind::Vanished);
    assert_eq!(opened(ErrorKind::NotADirectory).kind, FailureKind::Vanished);
    assert_eq!(
        opened(ErrorKind::PermissionDenied).kind,
        FailureKind::Unreadable
    );
    assert_eq!(opened(ErrorKind::Other).kind, FailureKind::Io);
}

#[test]
fn a_forbidden_staging_folder_is_no_unreadable_input() {
    let failed = Failed::from(FileError::Io {
        operation: Operation::Create,
        path: "/stage/1".into(),
        source: ErrorKind::PermissionDenied.into(),
    });
    assert_eq!(failed.kind, FailureKind::Io);
}

#[test]
fn strange_text_is_cut_and_cleaned() {
    let failed = failure(
        jobs::Error::Verify(format!("\u{1b}[2J{}", "é".repeat(5000))),
        1 << 29,
    );
    assert!(failed.message.chars().count() <= LONGEST_TEXT);
    assert!(!failed.message.chars().any(char::is_control));
}

#[test]
fn a_panic_is_told_with_its_message() {
    let text: Box<dyn Any + Send> = Box::new("index out of bounds".to_owned());
    let failed = panicked(text.as_ref());
    assert_eq!(failed.kind, FailureKind::Crashed);
    assert!(failed.message.contains("index out of bounds"));
}

fn warnings(name: &[u8], content: ImageFormat) -> Vec<Warning> {
    let mut outcome = Outcome::Kept(Kept {
        reason: KeptReason::NotSmaller,
        bytes: 1,
        format: content,
        warnings: Vec::new(),
    });
    warn_of_name(
        Path::new(OsStr::from_bytes(name)),
        jobs::Wanted::Same,
        &mut outcome,
    );
    match outcome {
        Outcome::Kept(kept) => kept.warnings,
        Outcome::Saved(_) | Outcome::Failed(_) => panic!("became something else"),
    }
}

#[test]
fn a_name_is_compared_with_the_content() {
    let mismatch = |content| vec![Warning::NameMismatch { content }];
    assert_eq!(
        warnings(b"a.jpg", ImageFormat::Png),
        mismatch(ImageFormat::Png)
    );
    assert_eq!(warnings(b"a.JPEG", ImageFormat::Jpeg), []);
    assert_eq!(warnings(b"a.png", ImageFormat::Apng), []);
    assert_eq!(warnings(b"a.nef", ImageFormat::Raw), []);
    assert_eq!(warnings(b"a", ImageFormat::Jpeg), []);
    assert_eq!(warnings(b"a.\xff\xfe", ImageFormat::Jpeg), []);
    assert_eq!(
        warnings(b"a\xff.png", ImageFormat::Jpeg),
        mismatch(ImageFormat::Jpeg)
    );
}

/// An error may be matched by its name alone, for it carries its own text; a struct of settings or results may not.
#[test]
fn nothing_is_passed_over_with_dots() {
    let told = include_str!("../translate.rs").lines();
    let code = told.chain(include_str!("asked.rs").lines());
    let code = code.filter(|line| !line.trim_start().starts_with("//"));
    let dots = code.filter(|line| line.contains("..") && !line.contains("jobs::Error::"));
    assert_eq!(dots.collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn however_many_notes_there_are_the_answer_fits_into_a_frame() {
    let long = |what: usize| jobs::Note::Repaired(format!("{what}{}", "\u{1f5bc}".repeat(2000)));
    let mut notes: Vec<jobs::Note> = (0..5000).map(long).collect();
    notes.push(jobs::Note::LowQuality(12));
    let kept = kept(
        jobs::Kept {
            format: jobs::Format::Png,
            why: jobs::Keep::WouldLose("\u{1f5bc}".repeat(2000)),
            notes,
        },
        7,
    );
    assert_eq!(kept.warnings.first(), Some(&Warning::LowQuality(12)));
    let rest = "4989 further warnings about this file".to_owned();
    assert_eq!(kept.warnings.last(), Some(&Warning::Dropped(rest)));
    let done = pressroom_shared::Done {
        id: pressroom_shared::JobId(1),
        outcome: Outcome::Kept(kept),
        cpu_us: 0,
        wall_us: 0,
        peak_rss: 0,
        rss: 0,
    };
    pressroom_shared::frame::encode(&done).unwrap();
}
