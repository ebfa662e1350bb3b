//! Records for tests.

use crate::task::{Ending, Record, Task};
use pressroom_shared::{Identity, ImageFormat, JobId, Saved};
use std::path::PathBuf;

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
