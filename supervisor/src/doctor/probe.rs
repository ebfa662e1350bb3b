//! Starts one worker, gives it nothing to do and asks what is in force on it.

use crate::cli::Config;
use crate::link::{Heard, Launcher, Link, News};
use crate::pool::WorkerId;
use crate::sys;
use pressroom_shared::{
    BUILD_ID, Confinement, Enforced, Go, Incarnation, PROTOCOL, SeatId, ToSupervisor, ToWorker,
    WirePath,
};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// A worker that has not answered by then will not.
const PATIENCE: Duration = Duration::from_secs(5);

/// A folder that is removed when this is dropped.
struct Passing(PathBuf);

impl Drop for Passing {
    fn drop(&mut self) {
        // A folder that stays behind in the temporary directory is the system's to clear.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a worker finds in force on itself, or why there is none.
pub(super) fn ask(config: &Config) -> Result<Enforced, String> {
    let staging = Passing(staging_in(&std::env::temp_dir())?);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(converse(config, &staging.0))
}

/// A folder nobody else can have made ahead or look into: the temporary directory belongs to everybody.
fn staging_in(above: &Path) -> Result<PathBuf, String> {
    sys::new_folder(above, "pressroom-doctor-")
        .map_err(|error| format!("cannot make a folder in {}: {error}", above.display()))
}

async fn converse(config: &Config, staging: &Path) -> Result<Enforced, String> {
    let worker = WorkerId {
        seat: SeatId(0),
        incarnation: Incarnation(0),
    };
    let (sender, mut heard) = mpsc::channel(8);
    let mut link =
        Link::start(&Launcher::own(), worker, sender).map_err(|error| error.to_string())?;
    let go = go(config, worker, staging);
    link.send(&ToWorker::Go(Box::new(go)))
        .map_err(|error| error.to_string())?;
    let answer = timeout(PATIENCE, answer(&mut heard)).await;
    link.close();
    answer.unwrap_or_else(|_| {
        link.kill();
        Err(format!(
            "it did not answer within {} seconds",
            PATIENCE.as_secs()
        ))
    })
}

fn go(config: &Config, worker: WorkerId, staging: &Path) -> Go {
    Go {
        protocol: PROTOCOL,
        build: BUILD_ID.to_owned(),
        seat: worker.seat,
        incarnation: worker.incarnation,
        settings: config.settings.clone(),
        in_place: false,
        limits: config.limits.clone(),
        confinement: Confinement {
            mode: config.running.sandbox,
            read: vec![WirePath::from(staging)],
            staging: WirePath::from(staging),
        },
    }
}

async fn answer(heard: &mut mpsc::Receiver<Heard>) -> Result<Enforced, String> {
    match heard.recv().await.map(|heard| heard.news) {
        Some(News::Message(ToSupervisor::Ready(ready))) if ready.build == BUILD_ID => {
            Ok(ready.enforced)
        }
        Some(News::Message(ToSupervisor::Ready(ready))) => {
            Err(format!("it is another build: {}", ready.build))
        }
        Some(News::Message(ToSupervisor::Started(_) | ToSupervisor::Done(_))) => {
            Err("it spoke out of turn".to_owned())
        }
        Some(News::Nonsense(why)) => Err(why),
        Some(News::Exited(end)) => {
            let words = String::from_utf8_lossy(&end.words)
                .trim()
                .replace(char::is_control, " ");
            Err(format!("it left at once: {words}"))
        }
        None => Err("it left without a word".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_folder_of_a_probe_cannot_be_foreseen_and_goes_with_it() {
        let above = tempfile::tempdir().unwrap();
        let foreseen = format!("pressroom-doctor-{}", std::process::id());
        std::fs::create_dir(above.path().join(foreseen)).unwrap();
        let staging = Passing(staging_in(above.path()).unwrap());
        let mode = staging.0.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let path = staging.0.clone();
        drop(staging);
        assert!(!path.exists());
        let error = staging_in(&path).unwrap_err();
        assert!(error.contains(&*path.to_string_lossy()), "{error}");
    }
}
