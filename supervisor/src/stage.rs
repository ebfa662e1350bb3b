//! The folder pressroom keeps for itself below the output folder (in place: below the input root), and in it the staging
//! folders: one per worker process, the only place that process may write to.
//!
//! Staging lies on the output's own file system, so that a finished file becomes visible by one rename. In place it lies
//! below the input root and not beside each original: one known folder to allow to the worker and to sweep afterwards,
//! and no odd names among a user's pictures; where a mount inside the tree makes that rename impossible, publishing
//! goes through a name beside the target.

use pressroom_shared::{Incarnation, SeatId};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Name of pressroom's own folder; whatever lies below one is never an input.
pub const HOME: &str = ".pressroom";

const README: &str = "\
This folder belongs to pressroom, which wrote the pictures beside it.

ledger.db   what became of each picture; lets the next run skip what it has done already
lock        held while a run is going on
stage/      unfinished results; emptied at the start and end of each run

Without it the next run does every picture again. `pressroom report` reads the ledger; so does any SQLite program.
";

/// Staging could not be made or emptied.
#[derive(Debug, thiserror::Error)]
#[error("could not {doing} {}: {source}; check the folder and who may write there", path.display())]
pub struct StageError {
    doing: &'static str,
    path: PathBuf,
    source: io::Error,
}

/// All staging folders of an output folder.
pub fn root(output: &Path) -> PathBuf {
    output.join(HOME).join("stage")
}

/// The staging folder of one worker process.
pub fn folder(output: &Path, seat: SeatId, incarnation: Incarnation) -> PathBuf {
    root(output).join(format!("{}-{}", seat.0, incarnation.0))
}

/// Empties staging of what an earlier run left and leaves a note that explains the folder. To be called with the lock held.
pub fn sweep(output: &Path) -> Result<(), StageError> {
    clear(output)?;
    let root = root(output);
    make(&root, true)?;
    let readme = output.join(HOME).join("README");
    if !readme.exists() {
        std::fs::write(&readme, README).map_err(wrap("write", &readme))?;
    }
    Ok(())
}

/// Makes an empty staging folder that only this user may enter. Returns its path.
pub fn prepare(
    output: &Path,
    seat: SeatId,
    incarnation: Incarnation,
) -> Result<PathBuf, StageError> {
    let folder = folder(output, seat, incarnation);
    make(&folder, false)?;
    Ok(folder)
}

/// Removes the staging folder of a process that is gone, with whatever it left there.
pub fn remove(output: &Path, seat: SeatId, incarnation: Incarnation) -> Result<(), StageError> {
    remove_tree(&folder(output, seat, incarnation))
}

/// Removes all staging folders.
pub fn clear(output: &Path) -> Result<(), StageError> {
    remove_tree(&root(output))
}

fn make(folder: &Path, recursive: bool) -> Result<(), StageError> {
    DirBuilder::new()
        .recursive(recursive)
        .mode(0o700)
        .create(folder)
        .map_err(wrap("create the folder", folder))
}

fn remove_tree(folder: &Path) -> Result<(), StageError> {
    match std::fs::remove_dir_all(folder) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(wrap("remove the folder", folder)(source))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn wrap<'a>(doing: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> StageError + 'a {
    move |source| StageError {
        doing,
        path: path.to_path_buf(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_sweep_leaves_an_empty_stage_and_a_note() {
        let output = tempfile::tempdir().unwrap();
        let left = prepare_after_sweep(output.path());
        std::fs::write(left.join("7"), "half").unwrap();
        sweep(output.path()).unwrap();
        assert_eq!(std::fs::read_dir(root(output.path())).unwrap().count(), 0);
        assert!(output.path().join(HOME).join("README").is_file());
    }

    #[test]
    fn a_staging_folder_is_private_and_new() {
        let output = tempfile::tempdir().unwrap();
        let folder = prepare_after_sweep(output.path());
        let mode = std::fs::metadata(&folder).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert!(prepare(output.path(), SeatId(3), Incarnation(1)).is_err());
        remove(output.path(), SeatId(3), Incarnation(1)).unwrap();
        remove(output.path(), SeatId(3), Incarnation(1)).unwrap();
        assert!(!folder.exists());
    }

    #[test]
    fn an_error_names_the_folder() {
        let output = tempfile::tempdir().unwrap();
        std::fs::write(output.path().join(HOME), "a file").unwrap();
        let error = sweep(output.path()).unwrap_err().to_string();
        assert!(error.contains(".pressroom/stage"), "{error}");
    }

    fn prepare_after_sweep(output: &Path) -> PathBuf {
        sweep(output).unwrap();
        prepare(output, SeatId(3), Incarnation(1)).unwrap()
    }
}
