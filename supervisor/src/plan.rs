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

    /// Places the output of `source`, which is called `mirrored` below the output folder if nothing changes its name.
    ///
    /// # Errors
    /// If the name is too long, leads out of the output folder or hits an input.
    pub fn place(&self, source: &Path, mirrored: &Path) -> Result<Place, PlanError> {
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
        let name = self.name(mirrored.file_name().ok_or(PlanError::Escapes)?);
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
    fn name(&self, name: &OsStr) -> OsString {
        let (stem, extension) = split(name);
        let mut made = stem.to_owned();
        if let Some(suffix) = &self.naming.suffix {
            made.push(suffix);
        }
        let wanted = spellings(self.format);
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
    let rename = |path: &Path| match (path.file_name(), task.source.file_name()) {
        (Some(name), Some(source)) => path.with_file_name(with_extension_of(name, source)),
        (None, _) | (_, None) => path.to_owned(),
    };
    if task.destination == task.source {
        return Place {
            target: task.target.clone(),
            destination: task.destination.clone(),
        };
    }
    Place {
        target: rename(&task.target),
        destination: rename(&task.destination),
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
mod tests {
    use super::*;
    use pressroom_shared::{Identity, JobId};
    use proptest::prelude::*;

    fn planner(flatten: bool, suffix: Option<&str>, format: Format) -> Planner {
        Planner {
            output: Some(PathBuf::from("/out")),
            naming: Naming {
                flatten,
                suffix: suffix.map(str::to_owned),
            },
            format,
            inner: vec![PathBuf::from("/out/raw")],
        }
    }

    fn target(planner: &Planner, mirrored: &str) -> String {
        let place = planner
            .place(&Path::new("/in").join(mirrored), Path::new(mirrored))
            .unwrap();
        assert_eq!(place.destination, Path::new("/out").join(&place.target));
        place.target.to_str().unwrap().to_owned()
    }

    #[test]
    fn the_tree_is_mirrored_and_spelling_stays() {
        let plain = planner(false, None, Format::Same);
        for name in [
            "a/b/PHOTO0.JPG",
            "x.jpe",
            "noextension",
            "scan.2024",
            "100%.jpg",
            "-rf.jpg",
            "new\nline.jpg",
        ] {
            assert_eq!(target(&plain, name), name);
        }
    }

    #[test]
    fn a_changed_format_changes_the_extension_and_nothing_else() {
        let webp = planner(false, None, Format::Webp);
        assert_eq!(target(&webp, "a/photo.JPG"), "a/photo.webp");
        assert_eq!(target(&webp, "photo.WebP"), "photo.WebP");
        assert_eq!(target(&webp, "scan.2024"), "scan.2024.webp");
        assert_eq!(target(&webp, "a.b.png"), "a.b.webp");
        let jpeg = planner(false, None, Format::Jpeg);
        assert_eq!(target(&jpeg, "photo.JPE"), "photo.JPE");
        assert_eq!(target(&jpeg, "photo.png"), "photo.jpg");
    }

    #[test]
    fn suffix_and_flattening() {
        let both = planner(true, Some("-small"), Format::Same);
        assert_eq!(target(&both, "a/b/photo.jpg"), "photo-small.jpg");
        assert_eq!(target(&both, "a/b/noextension"), "noextension-small");
    }

    #[test]
    fn names_that_lead_out_are_refused() {
        let plain = planner(false, None, Format::Same);
        for name in ["../a.jpg", "a/../../b.jpg", "/etc/a.jpg", "", "./a.jpg"] {
            let answer = plain.place(Path::new("/in/a.jpg"), Path::new(name));
            assert_eq!(answer, Err(PlanError::Escapes), "{name:?}");
        }
    }

    #[test]
    fn long_names_are_refused_with_their_length() {
        let name = format!("{}.jpg", "x".repeat(251));
        assert_eq!(target(&planner(false, None, Format::Same), &name), name);
        let suffixed =
            planner(false, Some("-s"), Format::Same).place(Path::new("/in/x"), Path::new(&name));
        assert_eq!(suffixed, Err(PlanError::TooLong(257, 255)));
        let grown = planner(false, None, Format::Webp).place(Path::new("/in/x"), Path::new(&name));
        assert_eq!(grown, Err(PlanError::TooLong(256, 255)));
        let deep = "d/".repeat(2050) + "a.jpg";
        let deep = planner(false, None, Format::Same).place(Path::new("/in/x"), Path::new(&deep));
        assert_eq!(deep, Err(PlanError::TooLong(4110, 4095)));
    }

    #[test]
    fn inputs_are_never_outputs() {
        let plain = planner(false, None, Format::Same);
        let itself = plain.place(Path::new("/out/a.jpg"), Path::new("a.jpg"));
        assert_eq!(itself, Err(PlanError::Itself));
        let among = plain.place(Path::new("/out/raw/raw/a.jpg"), Path::new("raw/a.jpg"));
        assert_eq!(among, Err(PlanError::AmongInputs));
    }

    fn task(source: &str, target: &str) -> Task {
        Task {
            id: JobId(0),
            source: PathBuf::from(source),
            identity: Identity {
                dev: 0,
                ino: 0,
                size: 0,
                mtime_ns: 0,
            },
            target: PathBuf::from(target),
            destination: Path::new("/out").join(target),
        }
    }

    #[test]
    fn a_kept_original_keeps_its_extension() {
        for (source, target, kept) in [
            ("/in/a/photo.PNG", "a/photo.jpg", "a/photo.PNG"),
            ("/in/photo.png", "photo-s.webp", "photo-s.png"),
            ("/in/scan.2024", "scan.2024.webp", "scan.2024"),
            ("/in/a.JPG", "a.JPG", "a.JPG"),
        ] {
            assert_eq!(kept_place(&task(source, target)).target, Path::new(kept));
        }
    }

    fn contest(planner: &Planner, names: &[&str]) -> Vec<(String, String)> {
        let mut census = Census::default();
        let claims: Vec<_> = names
            .iter()
            .map(|name| (Path::new("/in").join(name), *name, target(planner, name)))
            .collect();
        for (.., target) in &claims {
            census.note(Path::new(target));
        }
        let Some(mut contest) = census.contest() else {
            return Vec::new();
        };
        for (source, name, target) in &claims {
            contest.claim(source, Path::new(name), Path::new(target));
        }
        let told = contest.settle();
        told.refused()
            .iter()
            .map(|(path, failed)| (path.display().to_string(), failed.message.clone()))
            .collect()
    }

    #[test]
    fn of_four_pictures_with_one_stem_the_one_of_that_name_stays() {
        let losers = contest(
            &planner(false, None, Format::Webp),
            &["photo.jpeg", "photo.jpg", "photo.png", "photo.webp"],
        );
        let names: Vec<&str> = losers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["/in/photo.jpeg", "/in/photo.jpg", "/in/photo.png"]);
        assert!(
            losers
                .iter()
                .all(|(_, why)| why.contains("photo.webp, as /in/photo.webp is")),
            "{losers:?}"
        );
    }

    #[test]
    fn flattening_finds_equal_names_and_the_first_stays() {
        let losers = contest(
            &planner(true, None, Format::Same),
            &["a/x.jpg", "b/x.jpg", "b/y.jpg"],
        );
        assert_eq!(losers.len(), 1);
        assert_eq!(losers[0].0, "/in/b/x.jpg");
        assert!(contest(&planner(true, None, Format::Same), &["a/x.jpg", "b/y.jpg"]).is_empty());
    }

    proptest! {
        #[test]
        fn every_target_stays_below_the_output(parts in proptest::collection::vec("[^/\0]{1,20}", 1..5), flatten: bool,
                                               suffix in proptest::option::of("[a-z]{1,5}"), webp: bool) {
            let mirrored: PathBuf = parts.iter().collect();
            let format = if webp { Format::Webp } else { Format::Same };
            if let Ok(place) = planner(flatten, suffix.as_deref(), format).place(Path::new("/in/x"), &mirrored) {
                prop_assert!(place.destination.starts_with("/out"));
                prop_assert!(place.target.components().all(|part| matches!(part, Component::Normal(_))));
            }
        }

        #[test]
        fn after_the_contest_no_two_winners_share_a_target(names in proptest::collection::hash_set("[ab]/[xy]\\.(jpg|png|webp)", 0..12)) {
            let planner = planner(true, None, Format::Webp);
            let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
            names.sort_unstable();
            let losers: HashSet<String> = contest(&planner, &names).into_iter().map(|(name, _)| name).collect();
            let winners: Vec<String> = names.iter().filter(|name| !losers.contains(&format!("/in/{name}")))
                .map(|name| target(&planner, name)).collect();
            let distinct: HashSet<&String> = winners.iter().collect();
            let wanted: HashSet<String> = names.iter().map(|name| target(&planner, name)).collect();
            prop_assert_eq!(distinct.len(), winners.len());
            prop_assert_eq!(winners.len(), wanted.len());
        }
    }
}
