//! A small world for tests: one input, its staged result, an output folder with a ledger.

use super::{Publish, Request, batch};
use crate::ledger::{Keys, Previous, Reader, RunStart, Writer, default_path};
use crate::publish::{Disk, Displace, Files, Inherit, Place, Policy, Publisher};
use crate::stage;
use crate::task::{Ending, Record, Task};
use pressroom_shared::{
    Chroma, Done, Format, Goal, IccPolicy, Identity, ImageFormat, Incarnation, JobId, Kept,
    KeptReason, Limits, OrientPolicy, Outcome, Progressive, Resize, Saved, SeatId, Settings, Strip,
};
use std::fs::File;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

pub(super) const ORIGINAL: &[u8] = b"the original picture, as it came out of the camera";
pub(super) const RESULT: &[u8] = b"the smaller picture";
pub(super) const OLD_RESULT: &[u8] = b"an earlier result";

/// What stands where when the batch begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scene {
    /// The output's name, and its folder, are free.
    New,
    /// An earlier result of ours is to be replaced.
    Ours,
    /// Exactly the result stands there and no ledger knows of it.
    Same,
    /// The original is to be replaced.
    InPlace,
    /// The original is to be replaced after it got its backup name.
    Backup,
}

pub(super) const SCENES: [Scene; 5] = [
    Scene::New,
    Scene::Ours,
    Scene::Same,
    Scene::InPlace,
    Scene::Backup,
];

#[derive(Debug)]
pub(super) struct World {
    pub(super) folder: tempfile::TempDir,
    pub(super) scene: Scene,
    pub(super) policy: Policy,
    /// Where workers stage, if not below the output folder.
    pub(super) stage: Option<PathBuf>,
}

impl World {
    pub(super) fn new(scene: Scene) -> Self {
        let folder = scratch();
        let place = match scene {
            Scene::New | Scene::Ours | Scene::Same => Place::Tree,
            Scene::InPlace => Place::InPlace { backup: None },
            Scene::Backup => Place::InPlace {
                backup: Some(folder.path().join("backup")),
            },
        };
        let preserve = if place == Place::Tree {
            Inherit::TREE
        } else {
            Inherit::IN_PLACE
        };
        let world = Self {
            folder,
            scene,
            policy: Policy {
                place,
                overwrite: Displace::Never,
                restore: false,
                preserve,
            },
            stage: None,
        };
        std::fs::create_dir_all(world.source().parent().unwrap()).unwrap();
        std::fs::create_dir_all(world.output()).unwrap();
        put(&world.source(), ORIGINAL);
        std::fs::set_permissions(world.source(), std::fs::Permissions::from_mode(0o640)).unwrap();
        world.set_scene();
        world
    }

    fn set_scene(&self) {
        match self.scene {
            Scene::New | Scene::InPlace | Scene::Backup => {}
            Scene::Ours => {
                let mut writer = self.writer();
                let records = self.work(
                    Disk,
                    &mut writer,
                    vec![Request::Publish(self.publish(OLD_RESULT))],
                );
                assert!(matches!(records[0].ending, Ending::Saved(_)), "{records:?}");
                // Its source changed since.
                put(&self.source(), ORIGINAL);
            }
            Scene::Same => {
                std::fs::create_dir_all(self.destination().parent().unwrap()).unwrap();
                put(&self.destination(), RESULT);
            }
        }
    }

    pub(super) fn in_place(&self) -> bool {
        matches!(self.policy.place, Place::InPlace { .. })
    }

    pub(super) fn source(&self) -> PathBuf {
        self.folder.path().join("in/d/a.jpg")
    }

    pub(super) fn output(&self) -> PathBuf {
        self.folder
            .path()
            .join(if self.in_place() { "in" } else { "out" })
    }

    pub(super) fn destination(&self) -> PathBuf {
        self.output().join("d/a.jpg")
    }

    pub(super) fn backup(&self) -> PathBuf {
        self.folder.path().join("backup/d/a.jpg")
    }

    pub(super) fn task(&self) -> Task {
        Task {
            id: JobId(1),
            source: self.source(),
            identity: identity(&self.source()),
            target: PathBuf::from("d/a.jpg"),
            destination: self.destination(),
        }
    }

    /// What a worker delivers: a file in staging and its answer.
    pub(super) fn publish(&self, result: &[u8]) -> Publish {
        let staged = self.staged(result);
        let outcome = Outcome::Saved(Saved {
            bytes: result.len() as u64,
            format: ImageFormat::Jpeg,
            width: 4,
            height: 3,
            quality: Some(60),
            warnings: Vec::new(),
        });
        self.publish_of(staged, outcome)
    }

    pub(super) fn publish_kept(&self) -> Publish {
        let staged = self.staged(ORIGINAL);
        let outcome = Outcome::Kept(Kept {
            reason: KeptReason::NotSmaller,
            bytes: ORIGINAL.len() as u64,
            format: ImageFormat::Jpeg,
            warnings: Vec::new(),
        });
        self.publish_of(staged, outcome)
    }

    pub(super) fn publish_of(&self, staged: PathBuf, outcome: Outcome) -> Publish {
        Publish {
            task: self.task(),
            staged,
            done: Done {
                id: JobId(1),
                outcome,
                cpu_us: 10,
                wall_us: 20,
                peak_rss: 30,
                rss: 30,
            },
            deaths: 0,
            seat: Some(SeatId(0)),
            started_ms: 1,
            ended_ms: 2,
        }
    }

    pub(super) fn staged(&self, result: &[u8]) -> PathBuf {
        let folder = match &self.stage {
            Some(stage) => stage.clone(),
            None => {
                stage::sweep(&self.output()).unwrap();
                stage::prepare(&self.output(), SeatId(0), Incarnation(0)).unwrap()
            }
        };
        let staged = folder.join("1");
        std::fs::write(&staged, result).unwrap();
        staged
    }

    pub(super) fn ledger(&self) -> PathBuf {
        default_path(&self.output())
    }

    pub(super) fn writer(&self) -> Writer {
        Writer::open(&self.ledger(), &self.output(), &start()).unwrap()
    }

    pub(super) fn work<F: Files>(
        &self,
        files: F,
        writer: &mut Writer,
        requests: Vec<Request>,
    ) -> Vec<Record> {
        let mut publisher = Publisher::new(files, self.policy.clone(), writer.run(), 0o022);
        batch::work(requests, writer, &mut publisher).unwrap()
    }

    pub(super) fn previous(&self) -> Previous {
        let keys = Keys::of(&settings(), &limits());
        self.reader().previous(&self.task(), &keys, true).unwrap()
    }

    pub(super) fn reader(&self) -> Reader {
        Reader::open(&self.ledger(), &self.output()).unwrap()
    }

    /// Every file below the folder but the ledger's own, by relative path.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = walkdir::WalkDir::new(self.folder.path())
            .into_iter()
            .map(Result::unwrap)
            .filter(|entry| entry.file_type().is_file())
            .map(|entry| {
                entry
                    .path()
                    .strip_prefix(self.folder.path())
                    .unwrap()
                    .to_path_buf()
            })
            .filter(|path| {
                path.parent()
                    .is_none_or(|folder| !folder.ends_with(".pressroom"))
            })
            .collect();
        files.sort();
        files
    }
}

/// A folder in memory where there is one: these tests sync thousands of times.
pub(super) fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

pub(super) fn start() -> RunStart {
    RunStart {
        started: 1_000,
        command: "pressroom in -o out".to_owned(),
        settings: settings(),
        limits: limits(),
        workers: 2,
        covers: Vec::new(),
    }
}

pub(super) fn settings() -> Settings {
    Settings {
        goal: Goal::Quality(75),
        min_quality: 5,
        effort: 5,
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

pub(super) fn limits() -> Limits {
    Limits {
        memory: 512 << 20,
        pixels: 100_000_000,
        input_bytes: 1 << 30,
        job_seconds: 120,
    }
}

/// Writes a file whose time lies in the past, with a part below a second.
pub(super) fn put(path: &Path, content: &[u8]) {
    std::fs::write(path, content).unwrap();
    let time =
        SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000 + content.len() as u64, 123_456_789);
    File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(time)
        .unwrap();
}

pub(super) fn identity(path: &Path) -> Identity {
    let found = std::fs::symlink_metadata(path).unwrap();
    Identity {
        dev: found.dev(),
        ino: found.ino(),
        size: found.len(),
        mtime_ns: found.mtime() * 1_000_000_000 + found.mtime_nsec(),
    }
}
