//! One job at a time through real folders, unconfined: outcomes, leftovers, and the net under a panic.

use super::*;
use crate::files::tests::identity;
use pressroom_shared::{
    Chroma, Confinement, Format, Goal, IccPolicy, Incarnation, JobId, OrientPolicy, Progressive,
    Resize, SandboxMode, SeatId, Settings, Strip, WirePath,
};
use std::path::{Path, PathBuf};

/// An input folder, a staging folder and a handler that uses them.
struct Bench {
    inputs: tempfile::TempDir,
    staging: tempfile::TempDir,
    handler: Handler,
}

fn settings() -> Settings {
    Settings {
        goal: Goal::Quality(75),
        min_quality: 5,
        effort: 1,
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

fn go(staging: &Path) -> Go {
    Go {
        protocol: 1,
        build: String::new(),
        seat: SeatId(0),
        incarnation: Incarnation(0),
        settings: settings(),
        in_place: false,
        limits: Limits {
            memory: 256 << 20,
            pixels: 1 << 22,
            input_bytes: 1 << 20,
            job_seconds: 10,
        },
        confinement: Confinement {
            mode: SandboxMode::Off,
            read: Vec::new(),
            staging: WirePath::from(staging),
        },
    }
}

impl Bench {
    fn new() -> Self {
        let staging = tempfile::tempdir().unwrap();
        let handler = Handler::new(&go(staging.path())).unwrap();
        Self {
            inputs: tempfile::tempdir().unwrap(),
            staging,
            handler,
        }
    }

    fn job(&self, name: &str, bytes: &[u8]) -> Job {
        let path = self.inputs.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        Job {
            id: JobId(1),
            identity: identity(&path),
            source: WirePath::from(path),
            staged: WirePath::from(PathBuf::from("1")),
            copy_kept: true,
        }
    }

    fn staged(&self) -> Vec<Vec<u8>> {
        let entries = std::fs::read_dir(self.staging.path()).unwrap();
        entries
            .map(|entry| std::fs::read(entry.unwrap().path()).unwrap())
            .collect()
    }

    fn failure(&self, job: &Job) -> FailureKind {
        let outcome = self.handler.handle(job);
        assert!(
            self.staged().is_empty(),
            "{outcome:?} left something behind"
        );
        match outcome {
            Outcome::Failed(failed) => failed.kind,
            Outcome::Saved(_) | Outcome::Kept(_) => panic!("done: {outcome:?}"),
        }
    }
}

/// The smallest AVIF the sniffing recognises: a file type box and nothing else. Never compressed, so it is always kept.
const AVIF: &[u8] = b"\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf";

#[test]
fn a_kept_original_is_copied_byte_for_byte() {
    let bench = Bench::new();
    let outcome = bench.handler.handle(&bench.job("a.avif", AVIF));
    let Outcome::Kept(kept) = outcome else {
        panic!("not kept: {outcome:?}");
    };
    assert_eq!(kept.bytes, AVIF.len() as u64);
    assert_eq!(bench.staged(), [AVIF]);
}

#[test]
fn in_place_a_kept_original_needs_no_copy() {
    let bench = Bench::new();
    let job = Job {
        copy_kept: false,
        ..bench.job("a.avif", AVIF)
    };
    assert!(matches!(bench.handler.handle(&job), Outcome::Kept(_)));
    assert!(bench.staged().is_empty());
}

fn photo() -> Vec<u8> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../jobs/tests/photos/birches.jpg"
    );
    std::fs::read(path).unwrap()
}

/// What the handler says of a result that came out damaged: the last quarter of its bytes are zeros.
fn told_of_damage(handler: &Handler, bench: &Bench) -> Result<Saved, Failed> {
    use pressroom_jobs::Sink;
    let job = bench.job("a.jpg", &photo());
    let source = SourceFile::open(job.source.as_path(), job.identity)?;
    let mut whole = Vec::new();
    let done = compress(&source, &mut whole, &handler.options, &handler.budget()).unwrap();
    let Compressed::Written(written) = done else {
        panic!("not smaller: {done:?}");
    };
    let quarter = whole.len() / 4;
    let good = whole.len() - quarter;
    whole[good..].fill(0);
    let mut staged = handler.staging.file(Path::new("1"))?;
    staged.write(&whole).unwrap();
    let told = handler.saved(written, &source, &mut staged);
    staged.discard();
    told
}

#[test]
fn in_place_a_result_is_read_back_and_decoded_before_it_is_told() {
    let bench = Bench::new();
    let handler = |in_place| {
        Handler::new(&Go {
            in_place,
            ..go(bench.staging.path())
        })
        .unwrap()
    };
    let failed = told_of_damage(&handler(true), &bench).unwrap_err();
    assert_eq!(failed.kind, FailureKind::Verify, "{}", failed.message);
    assert!(bench.staged().is_empty());
    told_of_damage(&handler(false), &bench).expect("not looked at beside a tree");
    let good = handler(true).handle(&bench.job("b.jpg", &photo()));
    assert!(matches!(good, Outcome::Saved(_)), "{good:?}");
}

#[test]
fn in_place_a_picture_with_other_names_is_left_alone_before_any_work() {
    let bench = Bench::new();
    let handler = Handler::new(&Go {
        in_place: true,
        ..go(bench.staging.path())
    })
    .unwrap();
    // Damaged, so that work on it would fail.
    let job = bench.job("a.jpg", &photo()[..5000]);
    assert!(matches!(handler.handle(&job), Outcome::Failed(_)));
    std::fs::hard_link(job.source.as_path(), bench.inputs.path().join("b.jpg")).unwrap();
    let Outcome::Kept(kept) = handler.handle(&job) else {
        panic!("not kept");
    };
    assert_eq!(kept.reason, pressroom_shared::KeptReason::HardLinked);
    assert_eq!(kept.format, pressroom_shared::ImageFormat::Jpeg);
    assert!(bench.staged().is_empty());
    let tree = bench.handler.handle(&job);
    assert!(
        matches!(tree, Outcome::Failed(_)),
        "only in place: {tree:?}"
    );
}

#[test]
fn a_wrong_name_is_said() {
    let bench = Bench::new();
    let outcome = bench.handler.handle(&bench.job("a.jpg", AVIF));
    let Outcome::Kept(kept) = outcome else {
        panic!("not kept: {outcome:?}");
    };
    let content = pressroom_shared::ImageFormat::Avif;
    assert_eq!(
        kept.warnings,
        [pressroom_shared::Warning::NameMismatch { content }]
    );
}

#[test]
fn empty_and_foreign_files_fail_by_name() {
    let bench = Bench::new();
    assert_eq!(bench.failure(&bench.job("a.jpg", b"")), FailureKind::Empty);
    let html = b"<!DOCTYPE html><html><body>404</body></html>";
    assert_eq!(
        bench.failure(&bench.job("b.jpg", html)),
        FailureKind::NotAnImage
    );
}

#[test]
fn a_file_over_the_limit_is_refused_unopened() {
    let bench = Bench::new();
    let mut job = bench.job("a.jpg", b"\xff\xd8");
    job.identity.size = (1 << 20) + 1;
    job.source = WirePath::from(PathBuf::from("/nowhere"));
    assert_eq!(bench.failure(&job), FailureKind::TooLarge);
}

#[test]
fn vanished_and_changed_inputs_fail_by_name() {
    let bench = Bench::new();
    let job = bench.job("a.avif", AVIF);
    std::fs::write(job.source.as_path(), b"longer than it was, in any case").unwrap();
    assert_eq!(bench.failure(&job), FailureKind::Changed);
    std::fs::remove_file(job.source.as_path()).unwrap();
    assert_eq!(bench.failure(&job), FailureKind::Vanished);
}

#[test]
fn an_output_that_cannot_be_made_is_told_as_such() {
    let bench = Bench::new();
    let job = bench.job("a.avif", AVIF);
    std::fs::remove_dir(bench.staging.path()).unwrap();
    let outcome = bench.handler.handle(&job);
    assert!(
        matches!(&outcome, Outcome::Failed(failed) if failed.kind == FailureKind::Io
        && failed.message.starts_with("creating the result failed")),
        "{outcome:?}"
    );
}

#[test]
fn a_name_that_leads_out_of_staging_is_refused() {
    let bench = Bench::new();
    let job = Job {
        staged: WirePath::from(PathBuf::from("../escaped")),
        ..bench.job("a.avif", AVIF)
    };
    assert_eq!(bench.failure(&job), FailureKind::Protocol);
}

#[test]
fn a_panic_is_a_failed_row_and_an_unfit_process() {
    let (outcome, fit) = net(|| panic!("defect number {}", 7));
    assert!(!fit);
    assert!(
        matches!(outcome, Outcome::Failed(failed) if failed.kind == FailureKind::Crashed
        && failed.message.contains("defect number 7"))
    );
}

#[test]
fn an_outcome_passes_the_net_unchanged() {
    let failed = Failed {
        kind: FailureKind::Empty,
        message: "x".to_owned(),
    };
    let (outcome, fit) = net(|| Outcome::Failed(failed.clone()));
    assert!(fit);
    assert_eq!(outcome, Outcome::Failed(failed));
}
