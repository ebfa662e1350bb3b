//! The walk through folders: sorted within each folder, one folder in memory at a time, nothing opened but folders.

use super::roots::{Root, Roots};
use super::{Finding, Source, Visit, failure, identity};
use crate::cli::config::Config;
use crate::filter::{self, Verdict};
use crate::originals;
use pressroom_shared::{Failed, FailureKind};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use walkdir::{DirEntry, WalkDir};

/// Device and inode.
type FileId = (u64, u64);

/// All named files and folders, in the order they were named.
#[derive(Debug)]
pub(super) struct Walk {
    config: Arc<Config>,
    roots: Roots,
    /// Paths that were named: a walk that meets one leaves it to its own turn.
    named: HashSet<PathBuf>,
}

/// One tree to go through.
struct Tree {
    /// Where it stands.
    path: PathBuf,
    /// What it is called in the output.
    prefix: PathBuf,
    /// What it is called below the folder that was named; patterns are tried on this.
    below: PathBuf,
    /// Whether a link led here.
    linked: bool,
}

/// What one pass keeps in mind.
#[derive(Default)]
struct Pass {
    ignored: u64,
    /// Identities of folders pressroom writes to, as far as they exist.
    own: HashSet<FileId>,
    /// Folders links have led to; each is entered once, so that a loop ends.
    visited: HashSet<FileId>,
    /// Trees still to be gone through.
    waiting: Vec<Tree>,
}

impl Source for Walk {
    fn visit(&mut self, visit: Visit<'_>) -> ControlFlow<(), u64> {
        let mut pass = Pass {
            own: self.own_ids(),
            ..Pass::default()
        };
        for root in &self.roots.named {
            match root {
                Root::Fault { path, failed } => {
                    visit(Finding::Fault {
                        path: path.clone(),
                        failed: failed.clone(),
                    })?;
                }
                Root::File { path, mirrored } => {
                    self.named_file(path, mirrored, &mut pass, visit)?
                }
                Root::Folder { path, prefix } => {
                    pass.waiting.push(Tree {
                        path: path.clone(),
                        prefix: prefix.clone(),
                        below: PathBuf::new(),
                        linked: false,
                    });
                    while let Some(tree) = pass.waiting.pop() {
                        self.tree(&tree, &mut pass, visit)?;
                    }
                }
            }
        }
        ControlFlow::Continue(pass.ignored)
    }

    /// Two inputs that are called the same in the output share a tree there.
    fn may_repeat_names(&self) -> bool {
        let mut names: HashMap<&Path, u32> = HashMap::new();
        for root in &self.roots.named {
            match root {
                Root::Folder { prefix: name, .. } | Root::File { mirrored: name, .. } => {
                    *names.entry(name.as_path()).or_default() += 1;
                }
                Root::Fault { .. } => {}
            }
        }
        !self.config.in_place() && names.values().any(|count| *count > 1)
    }
}

impl Walk {
    pub(super) fn new(config: Arc<Config>, roots: Roots) -> Self {
        let named = roots.named.iter().filter_map(|root| match root {
            Root::Folder { path, .. } | Root::File { path, .. } => Some(path.clone()),
            Root::Fault { .. } => None,
        });
        Self {
            named: named.collect(),
            config,
            roots,
        }
    }

    fn own_ids(&self) -> HashSet<FileId> {
        self.roots
            .own
            .iter()
            .filter_map(|path| fs::metadata(path).ok())
            .map(|found| file_id(&found))
            .collect()
    }

    fn named_file(
        &self,
        path: &Path,
        mirrored: &Path,
        pass: &mut Pass,
        visit: Visit<'_>,
    ) -> ControlFlow<()> {
        if filter::chosen(
            &self.config.selection,
            Path::new(mirrored.file_name().unwrap_or_default()),
        ) == Verdict::Ignore
        {
            pass.ignored += 1;
            return ControlFlow::Continue(());
        }
        visit(look(path.to_owned(), mirrored.to_owned()))
    }

    /// Goes through one tree; links in it are put aside for later.
    fn tree(&self, tree: &Tree, pass: &mut Pass, visit: Visit<'_>) -> ControlFlow<()> {
        let mut entries = WalkDir::new(&tree.path)
            .min_depth(1)
            .sort_by_file_name()
            .into_iter();
        while let Some(entry) = entries.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    report(&error, &tree.path, visit)?;
                    continue;
                }
            };
            let relative = entry
                .path()
                .strip_prefix(&tree.path)
                .unwrap_or(entry.path());
            let below = tree.below.join(relative);
            let mirrored = tree.prefix.join(relative);
            let kind = entry.file_type();
            if kind.is_dir() {
                if !self.enters(&entry, &below, tree.linked, pass) {
                    entries.skip_current_dir();
                }
            } else if kind.is_symlink() {
                self.link(entry.path(), below, mirrored, pass, visit)?;
            } else if kind.is_file()
                && filter::file(&self.config.selection, &below) == Verdict::Take
            {
                if !self.named.contains(entry.path()) {
                    visit(look(entry.into_path(), mirrored))?;
                }
            } else {
                pass.ignored += 1;
            }
        }
        ControlFlow::Continue(())
    }

    fn enters(&self, entry: &DirEntry, below: &Path, linked: bool, pass: &mut Pass) -> bool {
        if filter::folder(&self.config.selection, below) == Verdict::Ignore
            || self.named.contains(entry.path())
            || self.roots.own.iter().any(|own| own == entry.path())
            || originals::is_marked(entry.path())
        {
            return false;
        }
        // Without its metadata a folder cannot be told from our own; reading it would fail as well and says why.
        let Ok(metadata) = entry.metadata() else {
            return true;
        };
        let id = file_id(&metadata);
        !pass.own.contains(&id) && (!linked || pass.visited.insert(id))
    }

    /// A link found in a walk: passed over, or followed if that was asked for.
    fn link(
        &self,
        path: &Path,
        below: PathBuf,
        mirrored: PathBuf,
        pass: &mut Pass,
        visit: Visit<'_>,
    ) -> ControlFlow<()> {
        let selection = &self.config.selection;
        let as_file = filter::file(selection, &below) == Verdict::Take;
        if selection.follow_symlinks {
            let target = fs::canonicalize(path)
                .and_then(|real| fs::metadata(&real).map(|found| (real, found)));
            match target {
                Err(error) if as_file => return visit(dangling(path, &error)),
                Ok((real, found)) if found.is_file() && as_file && !self.is_own(&real) => {
                    return visit(look(real, mirrored));
                }
                Ok((real, found))
                    if found.is_dir() && filter::folder(selection, &below) == Verdict::Take =>
                {
                    if self.leads_outside(&real) && pass.visited.insert(file_id(&found)) {
                        pass.waiting.push(Tree {
                            path: real,
                            prefix: mirrored,
                            below,
                            linked: true,
                        });
                    }
                    return ControlFlow::Continue(());
                }
                Ok(_) | Err(_) => {}
            }
        }
        pass.ignored += 1;
        ControlFlow::Continue(())
    }

    /// Whether a linked folder is not walked anyway, as part of a named one or by holding one.
    fn leads_outside(&self, real: &Path) -> bool {
        let met = |root: &Path| real.starts_with(root) || root.starts_with(real);
        !self.roots.folders().any(met) && !self.is_own(real)
    }

    fn is_own(&self, real: &Path) -> bool {
        self.roots.own.iter().any(|own| real.starts_with(own))
    }
}

/// The file as it stands now, or why it cannot be done.
pub(super) fn look(path: PathBuf, mirrored: PathBuf) -> Finding {
    match fs::symlink_metadata(&path) {
        Ok(found) if found.is_file() => Finding::File {
            source: path,
            mirrored,
            identity: identity(&found),
        },
        Ok(found) => Finding::Fault {
            path,
            failed: super::not_a_file(found.file_type()),
        },
        Err(error) => Finding::Fault {
            path,
            failed: failure("look at it", &error),
        },
    }
}

fn dangling(path: &Path, error: &std::io::Error) -> Finding {
    let failed = if error.kind() == std::io::ErrorKind::NotFound {
        let message = "is a link to something that is not there".to_owned();
        Failed {
            kind: FailureKind::Vanished,
            message,
        }
    } else {
        failure("follow the link", error)
    };
    Finding::Fault {
        path: path.to_owned(),
        failed,
    }
}

/// A folder that cannot be read is told; one that went away in the meantime is not. Where reading breaks off half-way, the
/// error names no folder, and it is the whole `tree` that may be incomplete.
fn report(error: &walkdir::Error, tree: &Path, visit: Visit<'_>) -> ControlFlow<()> {
    let Some(cause) = error.io_error() else {
        return ControlFlow::Continue(());
    };
    let path = error.path().unwrap_or(tree);
    if cause.kind() == std::io::ErrorKind::NotFound {
        return ControlFlow::Continue(());
    }
    visit(Finding::Fault {
        path: path.to_owned(),
        failed: failure("read this folder", cause),
    })
}

fn file_id(metadata: &fs::Metadata) -> FileId {
    (metadata.dev(), metadata.ino())
}
