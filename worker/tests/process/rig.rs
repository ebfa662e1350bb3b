//! One worker process with folders to work in, and the supervisor's end of its pipes.

use pressroom_shared::frame::{self, Decoder};
use pressroom_shared::{
    BUILD_ID, Chroma, Confinement, Format, Go, Goal, IccPolicy, Identity, Incarnation, Job, JobId,
    Limits, OrientPolicy, PROTOCOL, Progressive, Ready, Resize, SandboxMode, SeatId, Settings,
    Strip, ToSupervisor, ToWorker, WirePath,
};
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

/// Makes this binary a worker.
pub(crate) const WORKER: &str = "__worker";

/// A test and its name.
pub(crate) type Test = (&'static str, fn());

/// The smallest file recognised as AVIF, which is never compressed and therefore always kept.
pub(crate) const AVIF: &[u8] = b"\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf";

/// A running worker and what belongs to it.
pub(crate) struct Rig {
    pub(crate) inputs: tempfile::TempDir,
    pub(crate) staging: tempfile::TempDir,
    child: Child,
    stdin: Option<ChildStdin>,
    decoder: Decoder<ToSupervisor>,
}

impl Rig {
    /// A worker that has been told nothing yet.
    pub(crate) fn spawn() -> Self {
        let mut command = Command::new("/proc/self/exe");
        command.arg(WORKER);
        Self::spawn_by(command)
    }

    pub(crate) fn spawn_by(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .env("MALLOC_ARENA_MAX", "1")
            .spawn()
            .unwrap();
        Self {
            inputs: tempfile::tempdir().unwrap(),
            staging: tempfile::tempdir().unwrap(),
            stdin: child.stdin.take(),
            child,
            decoder: Decoder::new(),
        }
    }

    /// A worker that has said `Ready`.
    pub(crate) fn ready() -> (Self, Ready) {
        let mut rig = Self::spawn();
        let go = rig.go();
        let ready = rig.start(go);
        (rig, ready)
    }

    pub(crate) fn go(&self) -> Go {
        Go {
            protocol: PROTOCOL,
            build: BUILD_ID.to_owned(),
            seat: SeatId(0),
            incarnation: Incarnation(1),
            settings: settings(),
            in_place: false,
            limits: Limits {
                memory: 64 << 20,
                pixels: 100_000_000,
                input_bytes: 4 << 30,
                job_seconds: 100,
            },
            confinement: Confinement {
                mode: SandboxMode::Auto,
                read: vec![self.inputs.path().into()],
                staging: self.staging.path().into(),
            },
        }
    }

    pub(crate) fn start(&mut self, go: Go) -> Ready {
        self.send(&ToWorker::Go(Box::new(go)));
        match self.receive() {
            Some(ToSupervisor::Ready(ready)) => ready,
            other => panic!("not ready: {other:?}; {}", self.last_words()),
        }
    }

    pub(crate) fn send(&mut self, message: &ToWorker) {
        self.send_bytes(&frame::encode(message).unwrap());
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// The next message, or `None` at the end of the worker's output.
    pub(crate) fn receive(&mut self) -> Option<ToSupervisor> {
        loop {
            if let Some(message) = self.decoder.next().unwrap() {
                return Some(message);
            }
            let mut chunk = [0; 4096];
            match self
                .child
                .stdout
                .as_mut()
                .unwrap()
                .read(&mut chunk)
                .unwrap()
            {
                0 => return None,
                count => self.decoder.push(&chunk[..count]),
            }
        }
    }

    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }

    /// The exit code; `None` where a signal ended it.
    pub(crate) fn wait(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    pub(crate) fn last_words(&mut self) -> String {
        let mut text = String::new();
        self.child
            .stderr
            .as_mut()
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        text
    }

    /// A file of this worker's folder in /proc.
    pub(crate) fn proc(&self, name: &str) -> PathBuf {
        Path::new("/proc")
            .join(self.child.id().to_string())
            .join(name)
    }

    pub(crate) fn job(&self, id: u64, name: &str, bytes: &[u8]) -> Job {
        let path = self.inputs.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        self.job_of(id, &path)
    }

    pub(crate) fn job_of(&self, id: u64, path: &Path) -> Job {
        let data = std::fs::symlink_metadata(path).unwrap();
        Job {
            id: JobId(id),
            source: WirePath::from(path),
            identity: Identity {
                dev: data.dev(),
                ino: data.ino(),
                size: data.size(),
                mtime_ns: data.mtime() * 1_000_000_000 + data.mtime_nsec(),
            },
            staged: WirePath::from(PathBuf::from(id.to_string())),
            copy_kept: true,
        }
    }

    pub(crate) fn staged(&self, id: u64) -> Option<Vec<u8>> {
        std::fs::read(self.staging.path().join(id.to_string())).ok()
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.close();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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
