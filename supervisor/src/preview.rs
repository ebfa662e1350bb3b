//! Pictures made small for the report's page, by a worker as confined as any other: whatever a picture does to it, the page
//! is written all the same, at worst without that picture.
//!
//! A worker needs no other words for it than for a run: a small long edge, no metadata, one picture after the other. What
//! it leaves in its folder is believed in nothing and embedded only where it begins as the kind of file it should be.

use crate::cli::Config;
use crate::cli::config::Destination;
use crate::link::{Ended, Heard, Launcher, Link, News};
use crate::pool::WorkerId;
use crate::report::html::{self, Pair, Small};
use crate::report::past::ReportError;
use crate::source;
use pressroom_shared::{
    BUILD_ID, Chroma, Confinement, Format, Go, Goal, IccPolicy, ImageFormat, Incarnation, Job,
    JobId, Limits, OrientPolicy, Outcome, PROTOCOL, Progressive, Resize, SandboxMode, Saved,
    SeatId, Settings, Strip, ToSupervisor, ToWorker, Warning, WirePath,
};
use rustix::fs::OFlags;
use std::fs::DirBuilder;
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

/// Long edge of a small picture in pixels.
const EDGE: u32 = 800;

/// libjpeg quality of a small picture.
const QUALITY: u8 = 82;

/// Bytes of one small picture, at most.
const MOST: u64 = 400_000;

/// Time for all pictures of a page together.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a worker may use for it.
#[derive(Debug, Clone)]
pub(crate) struct Means {
    limits: Limits,
    sandbox: SandboxMode,
    originals: Option<PathBuf>,
}

impl Means {
    /// The same as in a run with this configuration.
    pub(crate) fn of(config: &Config) -> Self {
        Self {
            limits: config.limits.clone(),
            sandbox: config.running.sandbox,
            originals: originals(config),
        }
    }
}

/// Where a run in place keeps what it replaces.
fn originals(config: &Config) -> Option<PathBuf> {
    match &config.destination {
        Destination::InPlace { backup } => {
            let folder = backup.as_deref()?;
            std::path::absolute(folder).ok()
        }
        Destination::Tree { .. } => None,
    }
}

/// Writes the page of the last runs in the ledgers of `places` to `file`. To be called on the main thread.
///
/// # Errors
/// A ledger cannot be read or the page cannot be written. A picture that cannot be made small is no error.
pub(crate) async fn write_page(
    places: &[PathBuf],
    file: &Path,
    means: &Means,
) -> Result<(), ReportError> {
    let digest = html::gather(places)?;
    let pictures = digest.pictures(means.originals.as_deref());
    let small = small(&pictures, means).await;
    html::write(&digest, &small, file)
}

/// The pictures made small, in the same order; `None` where either half could not be made.
async fn small(pairs: &[Pair<PathBuf>], means: &Means) -> Vec<Option<Pair<Small>>> {
    let until = Instant::now() + PATIENCE;
    let mut made = Vec::new();
    for (number, pair) in (0u32..).zip(pairs) {
        if pair.before == pair.after {
            // Replaced in place, and nobody kept what was there before.
            made.push(None);
            continue;
        }
        let one = async { Studio::open(number, pair, means)?.pair(pair).await };
        made.push(timeout_at(until, one).await.ok().flatten());
    }
    made
}

/// One worker with a folder of its own, for one pair.
struct Studio {
    folder: Passing,
    link: Link,
    heard: mpsc::Receiver<Heard>,
}

/// A folder that is removed when this is dropped.
struct Passing(PathBuf);

impl Drop for Passing {
    fn drop(&mut self) {
        // A folder that stays behind in the temporary directory is the system's to clear.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Drop for Studio {
    fn drop(&mut self) {
        self.link.kill();
    }
}

impl Studio {
    fn open(number: u32, pair: &Pair<PathBuf>, means: &Means) -> Option<Self> {
        let worker = WorkerId {
            seat: SeatId(0),
            incarnation: Incarnation(number),
        };
        let folder =
            std::env::temp_dir().join(format!("pressroom-page-{}-{number}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&folder).ok()?;
        let folder = Passing(folder);
        let (sender, heard) = mpsc::channel(8);
        let link = Link::start(&Launcher::own(), worker, sender).ok()?;
        let go = go(worker, pair, means, &folder.0);
        link.send(&ToWorker::Go(Box::new(go))).ok()?;
        Some(Self {
            folder,
            link,
            heard,
        })
    }

    async fn pair(mut self, pair: &Pair<PathBuf>) -> Option<Pair<Small>> {
        Some(Pair {
            before: self.one(JobId(0), &pair.before).await?,
            after: self.one(JobId(1), &pair.after).await?,
        })
    }

    async fn one(&mut self, id: JobId, file: &Path) -> Option<Small> {
        let metadata = std::fs::symlink_metadata(file).ok()?;
        let staged = PathBuf::from(id.0.to_string());
        let job = Job {
            id,
            source: WirePath::from(file),
            identity: source::identity(&metadata),
            staged: WirePath::from(staged.as_path()),
            copy_kept: false,
        };
        self.link.send(&ToWorker::Job(job)).ok()?;
        let saved = self.answer(id).await?;
        read(&self.folder.0.join(staged), &saved)
    }

    /// What became of the job; `None` for everything but a result.
    async fn answer(&mut self, id: JobId) -> Option<Saved> {
        loop {
            match self.heard.recv().await?.news {
                News::Message(ToSupervisor::Ready(ready)) if ready.build == BUILD_ID => {}
                News::Message(ToSupervisor::Started(_)) => {}
                News::Message(ToSupervisor::Done(done)) if done.id == id => {
                    return match done.outcome {
                        Outcome::Saved(saved) => Some(saved),
                        Outcome::Kept(_) | Outcome::Failed(_) => None,
                    };
                }
                News::Message(ToSupervisor::Ready(_) | ToSupervisor::Done(_))
                | News::Nonsense(_)
                | News::Exited(Ended { .. }) => return None,
            }
        }
    }
}

/// A file a worker says it has made: free of all metadata, a regular file, not too big, and by its first bytes what it is
/// said to be.
fn read(path: &Path, saved: &Saved) -> Option<Small> {
    let (kind, start) = kind(saved.format)?;
    let stayed = |warning: &Warning| matches!(warning, Warning::Stayed(_));
    if saved.warnings.iter().any(stayed) {
        return None;
    }
    let file = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).ok()?)
        .open(path)
        .ok()?;
    let found = file.metadata().ok()?;
    if !found.is_file() || found.len() > MOST {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes).ok()?;
    bytes.starts_with(start).then_some(Small {
        kind,
        width: saved.width,
        height: saved.height,
        bytes,
    })
}

/// What every browser shows, and how such a file begins.
fn kind(format: ImageFormat) -> Option<(&'static str, &'static [u8])> {
    let shown: [(ImageFormat, &'static str, &'static [u8]); 3] = [
        (ImageFormat::Jpeg, "jpeg", &[0xFF, 0xD8, 0xFF]),
        (ImageFormat::Png, "png", &[0x89, b'P', b'N', b'G']),
        (ImageFormat::Webp, "webp", b"RIFF"),
    ];
    let found = shown.into_iter().find(|(known, ..)| *known == format);
    found.map(|(_, kind, start)| (kind, start))
}

fn go(worker: WorkerId, pair: &Pair<PathBuf>, means: &Means, folder: &Path) -> Go {
    let read = [&pair.before, &pair.after];
    Go {
        protocol: PROTOCOL,
        build: BUILD_ID.to_owned(),
        seat: worker.seat,
        incarnation: worker.incarnation,
        settings: settings(),
        limits: means.limits.clone(),
        in_place: false,
        confinement: Confinement {
            mode: means.sandbox,
            read: read
                .into_iter()
                .map(|path| WirePath::from(path.as_path()))
                .collect(),
            staging: WirePath::from(folder),
        },
    }
}

/// A small picture without metadata, whatever the input; its colour profile stays, or its colours would be wrong.
fn settings() -> Settings {
    Settings {
        goal: Goal::Quality(QUALITY),
        min_quality: 1,
        effort: 2,
        chroma: Chroma::Auto,
        progressive: Progressive::Auto,
        format: Format::Same,
        resize: Resize {
            long_edge: Some(EDGE),
            ..Resize::default()
        },
        shrink_to_fit: None,
        strip: Strip {
            exif: true,
            gps: true,
            xmp: true,
            iptc: true,
            comment: true,
            thumbnail: true,
            icc: false,
            gainmap: true,
            motion: true,
        },
        orient: OrientPolicy::Keep,
        icc: IccPolicy::Keep,
        lossy_png: true,
        min_savings_permille: 0,
        force: true,
        min_savings_bytes: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(format: ImageFormat) -> Saved {
        Saved {
            bytes: 4,
            format,
            width: 4,
            height: 3,
            quality: None,
            warnings: Vec::new(),
        }
    }

    #[test]
    fn only_a_file_of_the_kind_that_was_announced_is_embedded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0");
        assert_eq!(
            read(&path, &saved(ImageFormat::Jpeg)),
            None,
            "nothing there"
        );
        std::fs::write(&path, [0xFF, 0xD8, 0xFF, 0xE0]).unwrap();
        let small = read(&path, &saved(ImageFormat::Jpeg)).unwrap();
        assert_eq!((small.kind, small.width, small.bytes.len()), ("jpeg", 4, 4));
        assert_eq!(read(&path, &saved(ImageFormat::Png)), None, "a lie");
        assert_eq!(
            read(&path, &saved(ImageFormat::Heic)),
            None,
            "not for browsers"
        );
        let mut unclean = saved(ImageFormat::Jpeg);
        unclean.warnings = vec![Warning::Stayed("the position".to_owned())];
        assert_eq!(read(&path, &unclean), None, "metadata stayed");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(read(&link, &saved(ImageFormat::Jpeg)), None, "a link");
        assert_eq!(
            read(folder.path(), &saved(ImageFormat::Jpeg)),
            None,
            "a folder"
        );
        let mut big = vec![0xFF, 0xD8, 0xFF];
        big.resize(usize::try_from(MOST).unwrap() + 1, 0);
        std::fs::write(&path, big).unwrap();
        assert_eq!(read(&path, &saved(ImageFormat::Jpeg)), None, "too big");
    }

    #[test]
    fn nothing_personal_survives() {
        let Strip {
            exif,
            gps,
            xmp,
            iptc,
            comment,
            thumbnail,
            icc,
            gainmap,
            motion,
        } = settings().strip;
        assert!(exif && gps && xmp && iptc && comment && thumbnail && gainmap && motion);
        assert!(!icc, "colours stay right");
    }
}
