//! Records for tests.

use super::world::{limits, settings};
use super::{Request, Setup, start};
use crate::ledger::{HowEnded, RunEnd, RunStart, default_path};
use crate::publish::{Displace, Inherit, Place, Policy};
use crate::task::{Ending, Record, Skip, Task};
use pressroom_shared::{
    Failed, FailureKind, Identity, ImageFormat, JobId, Kept, KeptReason, Saved, SeatId, Warning,
};
use std::path::{Path, PathBuf};

pub(crate) fn sample_record() -> Record {
    Record {
        task: Task {
            id: JobId(1),
            source: PathBuf::from("/in/a.jpg"),
            identity: Identity {
                dev: 1,
                ino: 2,
                size: 1000,
                mtime_ns: 3,
            },
            target: PathBuf::from("a.jpg"),
            destination: PathBuf::from("/out/a.jpg"),
        },
        ending: Ending::Saved(Saved {
            bytes: 100,
            format: ImageFormat::Jpeg,
            width: 10,
            height: 10,
            quality: Some(50),
            warnings: Vec::new(),
        }),
        format: Some(ImageFormat::Jpeg),
        cpu_us: 5,
        wall_us: 6,
        peak_rss: 7,
        deaths: 0,
        seat: None,
        started_ms: 0,
        ended_ms: 1,
    }
}

/// An output folder with the ledger of one run: one file kept with a warning, one failed.
pub(crate) fn sample_ledger() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), [kept(), failed()]);
    folder
}

/// Another run into that folder: one file unchanged, the failed one left alone.
pub(crate) fn sample_second_run(output: &Path) {
    let skipped = |record: Record, skip| Record {
        ending: Ending::Skipped(skip),
        ..record
    };
    let records = [
        skipped(kept(), Skip::Unchanged),
        skipped(failed(), Skip::FailedBefore),
    ];
    run(output, records);
}

/// Another run into that folder that does the same images again.
pub(crate) fn sample_run_again(output: &Path) {
    run(output, [kept(), failed()]);
}

fn run(output: &Path, records: [Record; 2]) {
    let (recorder, _answers) = start(Setup {
        ledger: default_path(output),
        output: output.to_path_buf(),
        policy: Policy {
            place: Place::Tree,
            overwrite: Displace::Never,
            restore: false,
            preserve: Inherit::TREE,
        },
        run: RunStart {
            started: 1_796_041_890_000,
            command: "pressroom in -o out -q 75".to_owned(),
            settings: settings(),
            limits: limits(),
            workers: 2,
            covers: Vec::new(),
        },
    })
    .unwrap();
    for record in records {
        recorder.send(Request::Record(record));
    }
    recorder
        .finish(RunEnd {
            ended: 1_796_041_892_000,
            wall_ms: 2_000,
            how: HowEnded::Finished,
            discovered: 2,
            ignored: Default::default(),
        })
        .unwrap();
}

fn kept() -> Record {
    Record {
        ending: Ending::Kept(Kept {
            reason: KeptReason::NotSmaller,
            bytes: 1000,
            format: ImageFormat::Png,
            warnings: vec![Warning::NameMismatch {
                content: ImageFormat::Png,
            }],
        }),
        wall_us: 12_000,
        peak_rss: 9 << 20,
        seat: Some(SeatId(0)),
        ..sample_record()
    }
}

fn failed() -> Record {
    let mut record = sample_record();
    record.task.id = JobId(2);
    record.task.source = PathBuf::from("/in/b.jpg");
    record.task.target = PathBuf::from("b.jpg");
    record.ending = Ending::Failed(Failed {
        kind: FailureKind::Corrupt,
        message: "the data ends after 12 of 40 rows".to_owned(),
    });
    record.deaths = 1;
    record
}

/// How a run begins.
pub(crate) fn sample_start() -> crate::ledger::RunStart {
    super::world::start()
}
