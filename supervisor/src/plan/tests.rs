//! The plan of outputs: names, collisions and their order.

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
