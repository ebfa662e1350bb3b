//! Marks the folders a run fills before it fills them, so that no later run takes what is in them for input.

use super::Refusal;
use crate::cli::Config;
use crate::marks;
use crate::source::Roots;

/// Marks what this run writes to.
pub(super) fn mark(config: &Config, roots: &Roots) -> Result<(), Refusal> {
    if config.output.dry_run {
        return Ok(());
    }
    mark_backup(roots)?;
    if config.in_place() {
        return Ok(());
    }
    mark_results(roots)
}

/// One that holds what is to be worked on cannot be marked: it would be passed over itself.
fn mark_backup(roots: &Roots) -> Result<(), Refusal> {
    let Some(folder) = roots.backup() else {
        return Ok(());
    };
    if roots
        .folders_in_place()
        .iter()
        .any(|root| root.starts_with(folder))
    {
        return Err(Refusal::usage(&format!(
            "--backup {} holds the pictures that are to be replaced; name a folder of its own",
            folder.display()
        )));
    }
    marks::mark_originals(folder).map_err(|error| {
        Refusal::cannot_run(&format!(
            "the folder for backups, {}, cannot be made: {error}; name another with --backup",
            folder.display()
        ))
    })
}

fn mark_results(roots: &Roots) -> Result<(), Refusal> {
    marks::mark_results(roots.output()).map_err(|error| {
        Refusal::cannot_run(&format!(
            "cannot write to the output folder {}: {error}; name another with -o",
            roots.output().display()
        ))
    })
}
