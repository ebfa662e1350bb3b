//! Trees made for the purpose, walked and listed.

mod lists;
mod roots;
mod tree;

use super::*;
use crate::cli::config::{Destination, ListFrom, Selection, USUAL_EDGE};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use tempfile::TempDir;

/// A folder for inputs and one for outputs.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("in")).unwrap();
        fs::create_dir(folder.path().join("out")).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap().join(name)
    }

    fn file(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, name).unwrap();
        path
    }

    fn config(&self, inputs: &[&str]) -> Config {
        Config {
            inputs: Inputs::Paths(inputs.iter().map(|name| self.path(name)).collect()),
            destination: Destination::Tree {
                root: self.path("out"),
            },
            ..config()
        }
    }
}

fn config() -> Config {
    let args = ["in", "-o", "out"].map(std::ffi::OsString::from);
    match crate::cli::interpret(&args, &Default::default(), &|_: &Path| {
        Err(io::ErrorKind::NotFound.into())
    }) {
        Ok(crate::cli::Command::Run(config)) => *config,
        other => panic!("{other:?}"),
    }
}

/// Everything told, images as "source -> target" below the folders of `place`, refusals as "source: kind".
/// and what was passed over as "path: kind".
fn told(place: &Place, config: &Config) -> (Vec<String>, Vec<String>) {
    let config = Arc::new(config.clone());
    let roots = Roots::resolve(&config).unwrap();
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
    let thread = start(&config, roots, sender).unwrap();
    let mut lines = Vec::new();
    let mut ignored = Vec::new();
    let mut ended = false;
    let mut ids = 0;
    let below = |path: &Path| {
        path.strip_prefix(place.path(""))
            .unwrap_or(path)
            .display()
            .to_string()
    };
    while let Some(sighting) = receiver.blocking_recv() {
        assert!(!ended, "nothing comes after the end");
        match sighting {
            Sighting::Image(task) => {
                assert_eq!(task.id, JobId(ids));
                ids += 1;
                assert_eq!(
                    task.identity,
                    identity(&fs::symlink_metadata(&task.source).unwrap())
                );
                lines.push(format!(
                    "{} -> {}",
                    below(&task.source),
                    below(&task.destination)
                ));
            }
            Sighting::Refused { task, failed } => {
                assert_eq!(task.id, JobId(ids));
                ids += 1;
                lines.push(format!("{}: {:?}", below(&task.source), failed.kind));
            }
            Sighting::PassedOver { path, why } => {
                ignored.push(format!("{}: {}", below(&path), why.name()))
            }
            Sighting::Ended => ended = true,
        }
    }
    thread.join().unwrap();
    assert!(ended);
    (lines, ignored)
}
