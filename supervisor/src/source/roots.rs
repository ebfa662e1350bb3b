//! The inputs as they stand on disk: resolved once, before anything starts.

use super::paths::{same_file, unrooted, without_deepest};
use crate::cli::config::{Config, Destination, HOME, Inputs, USUAL_EDGE};
use pressroom_shared::Failed;
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// Bytes of paths a worker is told to read, at most: they reach it in one message, which holds twice that.
const READABLE: usize = 32 << 10;

/// Why a run cannot start with these inputs.
#[derive(Debug, thiserror::Error)]
pub enum RootsError {
    /// None of the inputs can be used; wrong usage.
    #[error("there is nothing to do: {} {message}; check the spelling", path.display())]
    NoInput {
        /// The first of them.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The edge of --shrink-to-fit, set apart by a space and so taken for an input; wrong usage.
    #[error("{0} does not exist: did you mean --shrink-to-fit={0}?")]
    StrayEdge(u16),
    /// Results go into a folder, and there is a file; wrong usage.
    #[error("-o {} is a file: name a folder for the results, one that need not be there yet", path.display())]
    OutputIsFile {
        /// The file.
        path: PathBuf,
    },
    /// What a list names is mirrored below a folder; wrong usage.
    #[error("{} is a file: with --files-from, PATH is the folder whose tree is mirrored", path.display())]
    BaseIsFile {
        /// The file.
        path: PathBuf,
    },
    /// Output and input are the same folder; wrong usage.
    #[error("{} is both input and output: choose another folder for -o, or use --in-place", path.display())]
    SameFolder {
        /// The folder.
        path: PathBuf,
    },
    /// In place, a result is renamed over its original, which works within one file system only; wrong usage.
    #[error("{} and {} lie on different file systems: with --in-place do them in runs of their own", first.display(), other.display())]
    TwoFileSystems {
        /// The first input.
        first: PathBuf,
        /// The other one.
        other: PathBuf,
    },
    /// The current folder cannot be told.
    #[error("cannot make {} absolute: {error}; go to a folder that exists and try again", path.display())]
    Absolute {
        /// The path.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// One input that was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Root {
    /// A folder to walk through.
    Folder {
        /// Resolved path.
        path: PathBuf,
        /// What its contents lie under in the output.
        prefix: PathBuf,
    },
    /// A file.
    File {
        /// Resolved path.
        path: PathBuf,
        /// Its name in the output.
        mirrored: PathBuf,
    },
    /// Named, but of no use.
    Fault {
        /// Absolute path.
        path: PathBuf,
        /// Why.
        failed: Failed,
    },
}

/// The inputs and the output as they stand on disk.
#[derive(Debug, Clone)]
pub struct Roots {
    pub(super) named: Vec<Root>,
    /// Folders pressroom writes to, resolved as far as they exist; never taken as input.
    pub(super) own: Vec<PathBuf>,
    /// The folder whose tree is mirrored, where names come from a list.
    pub(super) base: Option<PathBuf>,
    output: PathBuf,
    home: PathBuf,
    backup: Option<PathBuf>,
    follows_links: bool,
}

impl Roots {
    /// Looks at what was named.
    ///
    /// A single folder's contents lie directly under the output; of several inputs, a folder's contents lie under its
    /// name. In place there is no output, and with several inputs each goes by its absolute path.
    ///
    /// # Errors
    /// If no input can be used, or input and output cannot go together.
    pub fn resolve(config: &Config) -> Result<Self, RootsError> {
        let (paths, is_list) = match &config.inputs {
            Inputs::Paths(paths) => (paths.clone(), false),
            Inputs::List { base, .. } => (vec![base.clone()], true),
        };
        if let Some(edge) = stray_edge(config, &paths) {
            return Err(RootsError::StrayEdge(edge));
        }
        let mut named = named(&paths)?;
        let first = named
            .first()
            .map(|root| root.path().to_owned())
            .unwrap_or_default();
        name_roots(&mut named, config.in_place());
        let output = match &config.destination {
            Destination::Tree { root } => resolve_ahead(root)?,
            Destination::InPlace { .. } => folder_of(&named).unwrap_or(first),
        };
        if let (true, Some(Root::File { path, .. })) = (is_list, named.first()) {
            return Err(RootsError::BaseIsFile { path: path.clone() });
        }
        if output.is_file() && !config.in_place() {
            return Err(RootsError::OutputIsFile { path: output });
        }
        let own = config
            .own_folders()
            .into_iter()
            .map(resolve_ahead)
            .collect::<Result<_, _>>()?;
        let backup = match &config.destination {
            Destination::InPlace {
                backup: Some(folder),
            } => Some(resolve_ahead(folder)?),
            Destination::InPlace { backup: None } | Destination::Tree { .. } => None,
        };
        let roots = Self {
            backup,
            base: is_list.then(|| folder_of(&named)).flatten(),
            named,
            own,
            home: output.join(HOME),
            output,
            follows_links: config.selection.follow_symlinks,
        };
        roots.check(config.in_place())?;
        Ok(roots)
    }

    fn check(&self, in_place: bool) -> Result<(), RootsError> {
        if let Some((path, message)) = self.nothing_to_do() {
            return Err(RootsError::NoInput { path, message });
        }
        if !in_place {
            return match self
                .folders()
                .find(|folder| same_file(folder, &self.output))
            {
                Some(path) if self.base.is_none() => Err(RootsError::SameFolder {
                    path: path.to_owned(),
                }),
                Some(_) | None => Ok(()),
            };
        }
        let on = |path: &Path| fs::metadata(path).map(|metadata| metadata.dev()).ok();
        let home = on(&self.output);
        let good = self
            .named
            .iter()
            .filter(|root| !matches!(root, Root::Fault { .. }));
        match good.map(Root::path).find(|path| on(path) != home) {
            None => Ok(()),
            Some(other) => Err(RootsError::TwoFileSystems {
                first: self.output.clone(),
                other: other.to_owned(),
            }),
        }
    }

    fn nothing_to_do(&self) -> Option<(PathBuf, String)> {
        let faults: Vec<_> = self
            .named
            .iter()
            .filter_map(|root| match root {
                Root::Fault { path, failed } => Some((path.clone(), failed.message.clone())),
                Root::Folder { .. } | Root::File { .. } => None,
            })
            .collect();
        if faults.len() < self.named.len() {
            None
        } else {
            faults.into_iter().next()
        }
    }

    /// The output folder (in place: the first input folder), absolute and free of links as far as it exists.
    pub fn output(&self) -> &Path {
        &self.output
    }

    /// The folder with pressroom's own files: lock, ledger and staging.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The folder that gets the originals in place, absolute and free of links as far as it exists.
    pub fn backup(&self) -> Option<&Path> {
        self.backup.as_deref()
    }

    /// The folders that were named, resolved.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.named.iter().filter_map(|root| match root {
            Root::Folder { path, .. } => Some(path.as_path()),
            Root::File { .. } | Root::Fault { .. } => None,
        })
    }

    /// Folders whose files are replaced in place: those named, and those of files that were named.
    pub fn folders_in_place(&self) -> Vec<PathBuf> {
        let folders: BTreeSet<&Path> = self
            .named
            .iter()
            .filter_map(|root| match root {
                Root::Folder { path, .. } => Some(path.as_path()),
                Root::File { path, .. } => path.parent(),
                Root::Fault { .. } => None,
            })
            .collect();
        folders.into_iter().map(Path::to_owned).collect()
    }

    /// What a run looks through from end to end; nothing where names come from a list.
    pub fn covered(&self) -> Vec<PathBuf> {
        let named = self.named.iter().map(|root| root.path().to_owned());
        named.filter(|_| self.base.is_none()).collect()
    }

    /// Folders that are added to: the output folder, backups, quarantine.
    pub fn folders_added_to(&self) -> Vec<PathBuf> {
        self.own.clone()
    }

    /// What workers must be able to read: what was named or, where that is too much to tell (a shell's `*.jpg` in a big
    /// folder), the folders that hold it. Where links are followed it can be anything.
    pub fn readable(&self) -> Vec<PathBuf> {
        if self.follows_links {
            return vec![PathBuf::from("/")];
        }
        let good = self
            .named
            .iter()
            .filter(|root| !matches!(root, Root::Fault { .. }));
        let mut paths: BTreeSet<PathBuf> = good.map(|root| root.path().to_owned()).collect();
        while paths
            .iter()
            .map(|path| path.as_os_str().len())
            .sum::<usize>()
            > READABLE
        {
            paths = without_deepest(paths);
        }
        paths.into_iter().collect()
    }

    /// How many files there are, where that is known without looking.
    pub fn file_count(&self) -> Option<u64> {
        let known = self.base.is_none() && self.folders().next().is_none();
        known.then_some(self.named.len() as u64)
    }
}

impl Root {
    fn path(&self) -> &Path {
        match self {
            Self::Folder { path, .. } | Self::File { path, .. } | Self::Fault { path, .. } => path,
        }
    }
}

/// A number among the inputs that is none, where --shrink-to-fit stands without one. Told before anything is done: beside it
/// the real input would be one of several, and its results would lie elsewhere.
fn stray_edge(config: &Config, paths: &[PathBuf]) -> Option<u16> {
    let mut edges = paths
        .iter()
        .filter(|path| fs::symlink_metadata(path).is_err());
    let edge = edges.find_map(|path| path.to_str()?.parse().ok());
    edge.filter(|_| config.settings.shrink_to_fit == Some(USUAL_EDGE))
}

/// Looks at each input once; an input named twice counts once.
fn named(paths: &[PathBuf]) -> Result<Vec<Root>, RootsError> {
    let mut seen = HashSet::new();
    let mut roots = Vec::new();
    for typed in paths {
        let root = look(typed)?;
        if seen.insert(root.path().to_owned()) {
            roots.push(root);
        }
    }
    Ok(roots)
}

fn look(typed: &Path) -> Result<Root, RootsError> {
    let absolute = absolute(typed)?;
    let found = fs::canonicalize(&absolute)
        .and_then(|path| fs::metadata(&path).map(|metadata| (path, metadata)));
    Ok(match found {
        Err(error) => Root::Fault {
            path: absolute,
            failed: super::failure("find it", &error),
        },
        Ok((path, metadata)) if metadata.is_dir() => {
            // "photos/.." and "." have no name of their own; the resolved path has.
            let name = named_as(&absolute).or_else(|| path.file_name().map(OsString::from));
            Root::Folder {
                path,
                prefix: name.unwrap_or_default().into(),
            }
        }
        Ok((path, metadata)) if metadata.is_file() => Root::File {
            path,
            mirrored: absolute.file_name().unwrap_or_default().into(),
        },
        Ok((path, metadata)) => Root::Fault {
            path,
            failed: super::not_a_file(metadata.file_type()),
        },
    })
}

fn named_as(absolute: &Path) -> Option<OsString> {
    let plain = !absolute
        .components()
        .any(|part| part == Component::ParentDir);
    plain
        .then(|| absolute.file_name().map(OsString::from))
        .flatten()
}

/// Says what each input is called in the output.
fn name_roots(named: &mut [Root], in_place: bool) {
    let several = named.len() > 1;
    for root in named {
        match root {
            Root::Folder { prefix, .. } if !several => *prefix = PathBuf::new(),
            Root::Folder { path, prefix } if in_place => *prefix = unrooted(path),
            Root::File { path, mirrored } if several && in_place => *mirrored = unrooted(path),
            Root::Folder { .. } | Root::File { .. } | Root::Fault { .. } => {}
        }
    }
}

fn folder_of(named: &[Root]) -> Option<PathBuf> {
    named.iter().find_map(|root| match root {
        Root::Folder { path, .. } => Some(path.clone()),
        Root::File { path, .. } => path.parent().map(Path::to_owned),
        Root::Fault { .. } => None,
    })
}

fn absolute(path: &Path) -> Result<PathBuf, RootsError> {
    std::path::absolute(path).map_err(|error| RootsError::Absolute {
        path: path.to_owned(),
        error,
    })
}

/// Resolves the part of a path that exists and keeps the rest as it is written.
fn resolve_ahead(path: &Path) -> Result<PathBuf, RootsError> {
    let absolute = absolute(path)?;
    let resolved = absolute.ancestors().find_map(|ancestor| {
        let real = fs::canonicalize(ancestor).ok()?;
        let rest = absolute.strip_prefix(ancestor).ok()?;
        Some(if rest.as_os_str().is_empty() {
            real
        } else {
            real.join(rest)
        })
    });
    Ok(resolved.unwrap_or(absolute))
}
