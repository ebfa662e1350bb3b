//! From an input to its output: mirrored names, changed extensions, and everything that must not happen to them. Pure.
//!
//! Knows no file system: it is told where the roots are, and answers with names.

use crate::cli::config::{Config, Destination, Naming};
use crate::filter;
use crate::task::Task;
use pressroom_shared::{Failed, FailureKind, Format};
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, RandomState};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// Longest file name on the file systems in use.
const LONGEST_NAME: usize = 255;
/// Longest path the kernel takes.
const LONGEST_PATH: usize = 4095;

/// Why an input has no place in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Name or path too long.
    #[error(
        "the name of the output would be {0} bytes long, the file system takes {1}: rename the input or shorten --suffix"
    )]
    TooLong(usize, usize),
    /// The name leads out of the output folder.
    #[error("the name of the output would lead out of the output folder")]
    Escapes,
    /// The output would be the input itself.
    #[error("the output would replace the input itself: choose another folder, or use --in-place")]
    Itself,
    /// The output would land among the inputs.
    #[error(
        "the output would land in an input folder: choose an output folder that does not hold the inputs"
    )]
    AmongInputs,
}

impl From<PlanError> for Failed {
    fn from(error: PlanError) -> Self {
        let kind = match error {
            PlanError::TooLong(..) => FailureKind::NameTooLong,
            PlanError::Escapes => FailureKind::Unreadable,
            PlanError::Itself | PlanError::AmongInputs => FailureKind::Collision,
        };
        Self {
            kind,
            message: error.to_string(),
        }
    }
}

/// Where one output goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Relative to the output folder (in place: relative to the input root); the key in the ledger.
    pub target: PathBuf,
    /// Absolute path.
    pub destination: PathBuf,
}

/// Places outputs.
#[derive(Debug, Clone)]
pub struct Planner {
    /// The output folder, resolved; `None` in place.
    output: Option<PathBuf>,
    naming: Naming,
    format: Format,
    /// Input folders that lie below the output folder.
    inner: Vec<PathBuf>,
}

impl Planner {
    /// `output` is the resolved output folder (unused in place), `folders` the resolved input folders.
    pub fn new<'a>(
        config: &Config,
        output: &Path,
        folders: impl Iterator<Item = &'a Path>,
    ) -> Self {
        let output = match config.destination {
            Destination::Tree { .. } => Some(output.to_owned()),
            Destination::InPlace { .. } => None,
        };
        let below = |folder: &&Path| {
            output
                .as_ref()
                .is_some_and(|output| folder.starts_with(output))
        };
        Self {
            inner: folders.filter(below).map(Path::to_owned).collect(),
            output,
            naming: config.naming.clone(),
            format: config.settings.format,
        }
    }

    /// Whether two inputs of different names could get one output.
    pub fn can_collide(&self) -> bool {
        self.output.is_some() && (self.naming.flatten || self.format != Format::Same)
    }

    /// Whether a result may get another extension than its input has.
    pub fn changes_formats(&self) -> bool {
        self.output.is_some() && self.format != Format::Same
    }

    /// Places an original that will be kept whatever format is asked for, under its own extension.
    ///
    /// # Errors
    /// Those of [`Planner::place`].
    pub fn place_kept(&self, source: &Path, mirrored: &Path) -> Result<Place, PlanError> {
        self.place_as(Format::Same, source, mirrored)
    }

    /// Places the output of `source`, which is called `mirrored` below the output folder if nothing changes its name.
    ///
    /// # Errors
    /// If the name is too long, leads out of the output folder or hits an input.
    pub fn place(&self, source: &Path, mirrored: &Path) -> Result<Place, PlanError> {
        self.place_as(self.format, source, mirrored)
    }

    fn place_as(&self, format: Format, source: &Path, mirrored: &Path) -> Result<Place, PlanError> {
        let Some(output) = &self.output else {
            return Ok(Place {
                target: mirrored.to_owned(),
                destination: source.to_owned(),
            });
        };
        if !mirrored
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
        {
            return Err(PlanError::Escapes);
        }
        let name = self.name(mirrored.file_name().ok_or(PlanError::Escapes)?, format);
        let target = if self.naming.flatten {
            PathBuf::from(name)
        } else {
            mirrored.with_file_name(name)
        };
        let destination = output.join(&target);
        check_lengths(&target, &destination)?;
        if destination == source {
            return Err(PlanError::Itself);
        }
        if self
            .inner
            .iter()
            .any(|folder| destination.starts_with(folder))
        {
            return Err(PlanError::AmongInputs);
        }
        Ok(Place {
            target,
            destination,
        })
    }

    /// The file name with suffix and extension of the result.
    fn name(&self, name: &OsStr, format: Format) -> OsString {
        let (stem, extension) = split(name);
        let mut made = stem.to_owned();
        if let Some(suffix) = &self.naming.suffix {
            made.push(suffix);
        }
        let wanted = spellings(format);
        let fits = |have: &OsStr| wanted.iter().any(|one| have.eq_ignore_ascii_case(one));
        let extension = match (wanted.first(), extension) {
            (None, have) => have,
            (Some(_), Some(have)) if fits(have) => Some(have),
            (Some(new), _) => Some(OsStr::new(new)),
        };
        if let Some(extension) = extension {
            made.push(".");
            made.push(extension);
        }
        made
    }
}

/// Where the original goes if it is kept although another format was asked for: the same place, with the input's own
/// extension, so that content and name agree. The same as the task's where no format changes.
pub fn kept_place(task: &Task) -> Place {
    if task.destination == task.source {
        return Place {
            target: task.target.clone(),
            destination: task.destination.clone(),
        };
    }
    Place {
        target: kept_name(&task.target, &task.source),
        destination: kept_name(&task.destination, &task.source),
    }
}

/// What the output of `source` that was to be called `planned` is called where it is the original.
pub fn kept_name(planned: &Path, source: &Path) -> PathBuf {
    match (planned.file_name(), source.file_name()) {
        (Some(name), Some(source)) => planned.with_file_name(with_extension_of(name, source)),
        (None, _) | (_, None) => planned.to_owned(),
    }
}

fn with_extension_of(name: &OsStr, source: &OsStr) -> OsString {
    let (_, original) = split(source);
    let (stem, planned) = split(name);
    if planned == original {
        return name.to_owned();
    }
    let mut kept = stem.to_owned();
    if let Some(extension) = original {
        kept.push(".");
        kept.push(extension);
    }
    kept
}

/// Stem and extension; an extension that is no image's belongs to the stem (`scan.2024`).
fn split(name: &OsStr) -> (&OsStr, Option<&OsStr>) {
    let path = Path::new(name);
    match (path.file_stem(), path.extension()) {
        (Some(stem), Some(extension)) if filter::is_image_name(path) => (stem, Some(extension)),
        _ => (name, None),
    }
}

/// How the extension of a format may be spelled, the usual one first.
fn spellings(format: Format) -> &'static [&'static str] {
    match format {
        Format::Same => &[],
        Format::Jpeg => &["jpg", "jpeg", "jpe", "jfif"],
        Format::Png => &["png"],
        Format::Webp => &["webp"],
        Format::Avif => &["avif"],
    }
}

fn check_lengths(target: &Path, destination: &Path) -> Result<(), PlanError> {
    let name = target.file_name().map_or(0, |name| name.as_bytes().len());
    let path = destination.as_os_str().as_bytes().len();
    if name > LONGEST_NAME {
        return Err(PlanError::TooLong(name, LONGEST_NAME));
    }
    if path > LONGEST_PATH {
        return Err(PlanError::TooLong(path, LONGEST_PATH));
    }
    Ok(())
}

/// First pass over all targets: which of them come up twice. Keeps eight bytes per name.
#[derive(Debug, Default)]
pub struct Census {
    hasher: RandomState,
    seen: HashSet<u64>,
    doubled: HashSet<u64>,
}

impl Census {
    /// Notes a target.
    pub fn note(&mut self, target: &Path) {
        let hash = self.hasher.hash_one(target.as_os_str().as_bytes());
        if !self.seen.insert(hash) {
            self.doubled.insert(hash);
        }
    }

    /// The second pass, if it is needed.
    pub fn contest(self) -> Option<Contest> {
        let needed = !self.doubled.is_empty();
        needed.then(|| Contest {
            hasher: self.hasher,
            doubled: self.doubled,
            claims: HashMap::new(),
        })
    }
}

/// Second pass: who wants each target that came up twice. Decides by exact names, so that equal hashes harm nobody.
#[derive(Debug)]
pub struct Contest {
    hasher: RandomState,
    doubled: HashSet<u64>,
    claims: HashMap<PathBuf, Claim>,
}

/// The inputs that want one target.
#[derive(Debug)]
struct Claim {
    winner: PathBuf,
    by_own_name: bool,
    losers: Vec<PathBuf>,
}

impl Contest {
    /// Notes that `source`, called `mirrored`, wants `target`.
    pub fn claim(&mut self, source: &Path, mirrored: &Path, target: &Path) {
        if !self
            .doubled
            .contains(&self.hasher.hash_one(target.as_os_str().as_bytes()))
        {
            return;
        }
        let own = mirrored == target;
        match self.claims.get_mut(target) {
            None => {
                let claim = Claim {
                    winner: source.to_owned(),
                    by_own_name: own,
                    losers: Vec::new(),
                };
                self.claims.insert(target.to_owned(), claim);
            }
            Some(claim) if own && !claim.by_own_name => {
                claim
                    .losers
                    .push(std::mem::replace(&mut claim.winner, source.to_owned()));
                claim.by_own_name = true;
            }
            Some(claim) => claim.losers.push(source.to_owned()),
        }
    }

    /// The inputs that get no output, each with the reason.
    pub fn settle(self) -> Collisions {
        let mut refused = HashMap::new();
        for (target, claim) in self.claims {
            for loser in claim.losers {
                let message = format!(
                    "would be written to {}, as {} is: rename one of them, or do them in runs of their own",
                    target.display(),
                    claim.winner.display()
                );
                refused.insert(
                    loser,
                    Failed {
                        kind: FailureKind::Collision,
                        message,
                    },
                );
            }
        }
        Collisions { refused }
    }
}

/// The inputs that get no output because another input gets it.
#[derive(Debug, Default)]
pub struct Collisions {
    refused: HashMap<PathBuf, Failed>,
}

impl Collisions {
    /// Whether `source` was refused.
    pub fn refuses(&self, source: &Path) -> bool {
        self.refused.contains_key(source)
    }

    /// All of them, by name.
    pub fn refused(&self) -> Vec<(&Path, &Failed)> {
        let mut all: Vec<_> = self
            .refused
            .iter()
            .map(|(path, failed)| (path.as_path(), failed))
            .collect();
        all.sort_by_key(|(path, _)| *path);
        all
    }
}

#[cfg(test)]
mod tests;
