//! Which pictures are measured: a sample of what was named, and what of it the time allows. Looking is in `find`, the rest
//! is pure.

use pressroom_supervisor::filter::is_image_name;
use std::path::{Path, PathBuf};

/// Pictures looked at more closely at most; more would tell nothing new.
pub(crate) const MOST: usize = 64;

/// Why there are no pictures.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoPictures {
    /// Something that was named cannot be read.
    #[error("cannot read {}: {source}; name files or folders that can be read, or none to measure with drawn pictures", path.display())]
    Unreadable {
        /// What was named.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Nothing that was named is a picture.
    #[error(
        "there is no picture in {0}; name a folder with pictures, or none to measure with drawn pictures"
    )]
    None(String),
}

/// All pictures in what was named, by their names' order.
///
/// # Errors
/// The first thing named that cannot be read, or that there is nothing.
pub(crate) fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, NoPictures> {
    let mut found = Vec::new();
    for path in paths {
        let unreadable = |source| NoPictures::Unreadable {
            path: path.clone(),
            source,
        };
        let whole = std::fs::canonicalize(path).map_err(unreadable)?;
        if whole.is_dir() {
            std::fs::read_dir(&whole).map_err(unreadable)?;
            found.extend(below(&whole));
        } else {
            std::fs::File::open(&whole).map_err(unreadable)?;
            found.push(whole);
        }
    }
    if found.is_empty() {
        let names: Vec<_> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        return Err(NoPictures::None(names.join(", ")));
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// Files with a picture's name below a folder; what cannot be entered is passed over, for a sample needs not be complete.
fn below(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let hidden = |entry: &walkdir::DirEntry| {
        entry.depth() > 0 && entry.file_name().as_encoded_bytes().starts_with(b".")
    };
    walkdir::WalkDir::new(folder)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(move |entry| !hidden(entry))
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file() && is_image_name(entry.path()))
        .map(walkdir::DirEntry::into_path)
}

/// At most `most` of `all`, evenly spread, so that every folder and every camera has its part.
pub(crate) fn spread<T: Clone>(all: &[T], most: usize) -> Vec<T> {
    if all.len() <= most {
        return all.to_vec();
    }
    (0..most)
        .map(|place| all[place * all.len() / most].clone())
        .collect()
}

/// A list of jobs that takes about `target_us` on one worker, made of pictures that take `costs_us` each.
///
/// Every picture comes as often as any other, give or take one, unless the time is too short for `least` jobs: then the
/// dearest pictures are left out until it is not, or one is left. Answers places in `costs_us`.
pub(crate) fn jobs(costs_us: &[u64], target_us: u64, least: usize) -> Vec<usize> {
    let mut cheap: Vec<usize> = (0..costs_us.len()).collect();
    cheap.sort_by_key(|place| costs_us[*place]);
    let all = |places: &[usize]| {
        places
            .iter()
            .map(|place| costs_us[*place])
            .sum::<u64>()
            .max(1)
    };
    let count = |places: &[usize]| {
        let jobs = u128::from(target_us) * places.len() as u128 / u128::from(all(places));
        usize::try_from(jobs).unwrap_or(usize::MAX)
    };
    while cheap.len() > 1 && count(&cheap) < least {
        cheap.pop();
    }
    let wanted = count(&cheap).max(least).min(MOST_JOBS);
    cheap.sort_unstable();
    (0..wanted)
        .map(|turn| cheap[turn % cheap.len().max(1)])
        .collect()
}

/// Jobs of one run at most; a picture of a few pixels must not make a list of millions.
const MOST_JOBS: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_evenly() {
        let all: Vec<usize> = (0..10).collect();
        assert_eq!(spread(&all, 4), [0, 2, 5, 7]);
        assert_eq!(spread(&all, 20), all);
        assert_eq!(spread::<usize>(&[], 4), [0usize; 0]);
    }

    #[test]
    fn jobs_fill_the_time() {
        assert_eq!(jobs(&[10, 10], 50, 2), [0, 1, 0, 1, 0]);
        assert_eq!(jobs(&[10, 30], 200, 2).len(), 10);
    }

    #[test]
    fn the_dearest_go_where_time_is_short() {
        assert_eq!(jobs(&[10, 1000, 20], 100, 4), [0, 2, 0, 2, 0, 2]);
        assert_eq!(jobs(&[500], 100, 4), [0, 0, 0, 0]);
        assert_eq!(jobs(&[0], 100, 4).len(), 100);
    }

    #[test]
    fn folders_are_searched_and_files_are_taken_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["b.JPG", "a.png", "notes.txt", ".hidden.jpg"] {
            std::fs::write(root.join(name), b"x").unwrap();
        }
        let found = find(&[root.clone(), root.join("notes.txt")]).unwrap();
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap()).collect();
        assert_eq!(names, ["a.png", "b.JPG", "notes.txt"]);
        let empty = root.join("empty");
        std::fs::create_dir(&empty).unwrap();
        assert!(matches!(find(&[empty]), Err(NoPictures::None(_))));
        let gone = find(&[root.join("gone")]);
        assert!(matches!(gone, Err(NoPictures::Unreadable { .. })));
    }
}
