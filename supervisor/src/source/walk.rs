//! The walk through folders: sorted within each folder, one folder in memory at a time, nothing opened but folders.

use super::roots::{Root, Roots};
use super::{Encounter, Source, Visit, content, failure, identity};
use crate::cli::config::Config;
use crate::filter::{self, ByName};
use crate::marks;
use crate::passed::Passed;
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
    /// Identities of folders pressroom writes to, as far as they exist.
    own: HashSet<FileId>,
    /// Folders links have led to; each is entered once, so that a loop ends.
    visited: HashSet<FileId>,
    /// Trees still to be gone through.
    waiting: Vec<Tree>,
}

impl Source for Walk {
    fn visit(&mut self, visit: Visit<'_>) -> ControlFlow<()> {
        let mut pass = Pass {
            own: self.own_ids(),
            ..Pass::default()
        };
        for root in &self.roots.named {
            match root {
                Root::Fault { path, failed } => {
                    visit(Encounter::Fault {
                        path: path.clone(),
                        failed: failed.clone(),
                    })?;
                }
                Root::File { path, mirrored } => self.named_file(path, mirrored, visit)?,
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
        ControlFlow::Continue(())
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

    fn named_file(&self, path: &Path, mirrored: &Path, visit: Visit<'_>) -> ControlFlow<()> {
        let name = Path::new(mirrored.file_name().unwrap_or_default());
        if filter::chosen(&self.config.selection, name) {
            visit(look(path.to_owned(), mirrored.to_owned()))
        } else {
            visit(passed(path, Passed::Excluded))
        }
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
                if let Some(why) = self.unwanted(entry.path(), &below) {
                    visit(passed(entry.path(), why))?;
                    entries.skip_current_dir();
                } else if !self.enters(&entry, tree.linked, pass) {
                    entries.skip_current_dir();
                }
            } else if kind.is_symlink() {
                self.link(entry.path(), below, mirrored, pass, visit)?;
            } else if !kind.is_file() {
                visit(passed(entry.path(), Passed::Special))?;
            } else if !self.named.contains(entry.path()) {
                self.file(entry.into_path(), &below, mirrored, visit)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// A file found in a walk.
    fn file(
        &self,
        path: PathBuf,
        below: &Path,
        mirrored: PathBuf,
        visit: Visit<'_>,
    ) -> ControlFlow<()> {
        match self.why_not(&path, below) {
            None => visit(look(path, mirrored)),
            Some(why) => visit(passed(&path, why)),
        }
    }

    /// Why the file at `path` is passed over; its content is looked at only where its name tells nothing.
    fn why_not(&self, path: &Path, below: &Path) -> Option<Passed> {
        match filter::file(&self.config.selection, below) {
            ByName::Picture => None,
            ByName::Passed(why) => Some(why),
            ByName::Anything => match content::is_picture(path) {
                Ok(true) => None,
                Ok(false) => Some(Passed::NotPicture),
                Err(_) => Some(Passed::Unreadable),
            },
        }
    }

    /// Why a folder is passed over, where somebody may want to know.
    fn unwanted(&self, path: &Path, below: &Path) -> Option<Passed> {
        let why = filter::folder(&self.config.selection, below);
        let why = why.or_else(|| marks::is_ours(path).then_some(Passed::Ours));
        why.filter(|_| !self.is_expected(path))
    }

    /// Whether everybody knows that a folder is passed over here: it has its own turn, or this run writes to it.
    fn is_expected(&self, path: &Path) -> bool {
        filter::is_own(path)
            || self.named.contains(path)
            || self.roots.own.iter().any(|own| own == path)
    }

    fn enters(&self, entry: &DirEntry, linked: bool, pass: &mut Pass) -> bool {
        if self.is_expected(entry.path()) {
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
        if !selection.follow_symlinks {
            return visit(passed(path, not_followed(path)));
        }
        let target =
            fs::canonicalize(path).and_then(|real| fs::metadata(&real).map(|found| (real, found)));
        match target {
            Err(error) => match filter::file(selection, &below) {
                ByName::Picture => visit(dangling(path, &error)),
                ByName::Anything => visit(passed(path, Passed::Dangling)),
                ByName::Passed(why) => visit(passed(path, why)),
            },
            Ok((real, _)) if self.is_own(&real) => ControlFlow::Continue(()),
            Ok((real, found)) if found.is_file() => self.file(real, &below, mirrored, visit),
            Ok((real, found)) if found.is_dir() => match filter::folder(selection, &below) {
                Some(why) => visit(passed(path, why)),
                None => {
                    if self.leads_outside(&real) && pass.visited.insert(file_id(&found)) {
                        pass.waiting.push(Tree {
                            path: real,
                            prefix: mirrored,
                            below,
                            linked: true,
                        });
                    }
                    ControlFlow::Continue(())
                }
            },
            Ok(_) => visit(passed(path, Passed::Special)),
        }
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

/// Something that is passed over.
pub(super) fn passed(path: &Path, why: Passed) -> Encounter {
    Encounter::PassedOver {
        path: path.to_owned(),
        why,
    }
}

fn not_followed(path: &Path) -> Passed {
    match fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Passed::Dangling,
        Ok(_) | Err(_) => Passed::Link,
    }
}

/// The file as it stands now, or why it cannot be done.
pub(super) fn look(path: PathBuf, mirrored: PathBuf) -> Encounter {
    match fs::symlink_metadata(&path) {
        Ok(found) if found.is_file() => Encounter::File {
            source: path,
            mirrored,
            identity: identity(&found),
        },
        Ok(found) => Encounter::Fault {
            path,
            failed: super::not_a_file(found.file_type()),
        },
        Err(error) => Encounter::Fault {
            path,
            failed: failure("look at it", &error),
        },
    }
}

fn dangling(path: &Path, error: &std::io::Error) -> Encounter {
    let failed = if error.kind() == std::io::ErrorKind::NotFound {
        let message = "is a link to something that is not there".to_owned();
        Failed {
            kind: FailureKind::Vanished,
            message,
        }
    } else {
        failure("follow the link", error)
    };
    Encounter::Fault {
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
    visit(Encounter::Fault {
        path: path.to_owned(),
        failed: failure("read this folder", cause),
    })
}

fn file_id(metadata: &fs::Metadata) -> FileId {
    (metadata.dev(), metadata.ino())
}
