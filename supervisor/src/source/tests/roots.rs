//! Several inputs, the places of their outputs, and links between them.

use super::*;

#[test]
fn several_folders_keep_their_names_and_files_go_by_theirs() {
    let place = Place::new();
    for name in ["in/one/a.jpg", "in/two/a.jpg", "in/odd.name"] {
        place.file(name);
    }
    let (lines, _) = told(&place, &place.config(&["in/two", "in/one", "in/odd.name"]));
    assert_eq!(
        lines,
        [
            "in/two/a.jpg -> out/two/a.jpg",
            "in/one/a.jpg -> out/one/a.jpg",
            "in/odd.name -> out/odd.name"
        ]
    );
}

#[test]
fn an_input_named_twice_or_inside_another_is_taken_once() {
    let place = Place::new();
    for name in ["in/a.jpg", "in/deep/b.jpg", "in/deep/c.jpg"] {
        place.file(name);
    }
    let (lines, _) = told(
        &place,
        &place.config(&["in", "in", "in/deep", "in/deep/../a.jpg"]),
    );
    assert_eq!(
        lines,
        [
            "in/deep/b.jpg -> out/deep/b.jpg",
            "in/deep/c.jpg -> out/deep/c.jpg",
            "in/a.jpg -> out/a.jpg"
        ]
    );
}

#[test]
fn folders_of_one_name_share_a_tree_and_a_clash_is_found_first() {
    let place = Place::new();
    for name in ["in/x/p/a.jpg", "in/y/p/a.jpg", "in/y/p/b.jpg"] {
        place.file(name);
    }
    let (lines, _) = told(&place, &place.config(&["in/x/p", "in/y/p"]));
    assert_eq!(
        lines,
        [
            "in/y/p/a.jpg: Collision",
            "in/x/p/a.jpg -> out/p/a.jpg",
            "in/y/p/b.jpg -> out/p/b.jpg"
        ]
    );
}

#[test]
fn the_edge_of_shrink_to_fit_is_not_taken_for_an_input() {
    let place = Place::new();
    place.file("in/a.jpg");
    let mut config = place.config(&["in"]);
    let Inputs::Paths(paths) = &mut config.inputs else {
        panic!("paths");
    };
    paths.push("800".into());
    assert!(Roots::resolve(&config).is_ok());
    config.settings.shrink_to_fit = Some(USUAL_EDGE);
    let error = Roots::resolve(&config).unwrap_err();
    assert_eq!(
        error.to_string(),
        "800 does not exist: did you mean --shrink-to-fit=800?"
    );
    config.settings.shrink_to_fit = Some(600);
    assert!(Roots::resolve(&config).is_ok());
    config.inputs = Inputs::Paths(vec![place.path("in"), place.path("800")]);
    config.settings.shrink_to_fit = Some(USUAL_EDGE);
    assert!(Roots::resolve(&config).is_ok(), "a path is no number");
}

#[test]
fn an_output_inside_the_input_is_not_input_even_through_a_link() {
    let place = Place::new();
    place.file("in/a.jpg");
    place.file("in/out/a.jpg");
    place.file("in/.pressroom/x.jpg");
    symlink(place.path("in/out"), place.path("door")).unwrap();
    let mut config = place.config(&["in"]);
    config.selection.hidden = true;
    for output in ["in/out", "door"] {
        config.destination = Destination::Tree {
            root: place.path(output),
        };
        assert_eq!(
            told(&place, &config).0,
            ["in/a.jpg -> in/out/a.jpg"],
            "{output}"
        );
    }
}

#[test]
fn an_output_that_does_not_exist_yet_is_not_input_either() {
    let place = Place::new();
    place.file("in/a.jpg");
    let mut config = place.config(&["in"]);
    config.destination = Destination::Tree {
        root: place.path("in/new/deep"),
    };
    let roots = Roots::resolve(&config).unwrap();
    assert_eq!(roots.home(), place.path("in/new/deep/.pressroom"));
    place.file("in/new/deep/b.jpg");
    assert_eq!(told(&place, &config).0, ["in/a.jpg -> in/new/deep/a.jpg"]);
}

#[test]
fn input_and_output_in_one_is_refused() {
    let place = Place::new();
    place.file("in/a.jpg");
    let mut config = place.config(&["in"]);
    config.destination = Destination::Tree {
        root: place.path("out/../in"),
    };
    assert!(matches!(
        Roots::resolve(&config),
        Err(RootsError::SameFolder { .. })
    ));
}

#[test]
fn links_are_passed_over_unless_asked_for() {
    let place = Place::new();
    place.file("in/real/one.jpg");
    place.file("elsewhere/two.jpg");
    symlink("real/one.jpg", place.path("in/link.jpg")).unwrap();
    symlink("nowhere.jpg", place.path("in/dangling.jpg")).unwrap();
    symlink(".", place.path("in/loop")).unwrap();
    symlink("real", place.path("in/again")).unwrap();
    symlink("../elsewhere", place.path("in/out-of-tree")).unwrap();
    symlink("../in", place.path("elsewhere/back")).unwrap();
    symlink(".", place.path("elsewhere/self")).unwrap();
    fs::hard_link(place.path("in/real/one.jpg"), place.path("in/hard.jpg")).unwrap();
    let mut config = place.config(&["in"]);
    let (lines, ignored) = told(&place, &config);
    assert_eq!(
        lines,
        [
            "in/hard.jpg -> out/hard.jpg",
            "in/real/one.jpg -> out/real/one.jpg"
        ]
    );
    assert_eq!(
        ignored,
        [
            "in/again: link",
            "in/dangling.jpg: dangling_link",
            "in/link.jpg: link",
            "in/loop: link",
            "in/out-of-tree: link"
        ]
    );
    config.selection.follow_symlinks = true;
    let (lines, _) = told(&place, &config);
    assert_eq!(
        lines,
        [
            "in/dangling.jpg: Vanished",
            "in/hard.jpg -> out/hard.jpg",
            "in/real/one.jpg -> out/link.jpg",
            "in/real/one.jpg -> out/real/one.jpg",
            "elsewhere/two.jpg -> out/out-of-tree/two.jpg",
        ]
    );
    assert_eq!(
        Roots::resolve(&config).unwrap().readable(),
        [PathBuf::from("/")]
    );
}

#[test]
fn a_named_link_is_followed() {
    let place = Place::new();
    place.file("elsewhere/two.jpg");
    symlink("../elsewhere", place.path("in/link")).unwrap();
    symlink("../elsewhere/two.jpg", place.path("in/other-name.jpg")).unwrap();
    assert_eq!(
        told(&place, &place.config(&["in/link"])).0,
        ["elsewhere/two.jpg -> out/two.jpg"]
    );
    assert_eq!(
        told(&place, &place.config(&["in/other-name.jpg"])).0,
        ["elsewhere/two.jpg -> out/other-name.jpg"]
    );
}

#[test]
fn in_place_goes_by_root_or_by_absolute_path() {
    let place = Place::new();
    place.file("in/x/a.jpg");
    place.file("in/y/a.jpg");
    let mut config = place.config(&["in/x"]);
    config.destination = Destination::InPlace { backup: None };
    let target = |config: &Config| {
        let config = Arc::new(config.clone());
        let (sender, mut receiver) = tokio::sync::mpsc::channel(64);
        let roots = Roots::resolve(&config).unwrap();
        start(&config, roots.clone(), sender)
            .unwrap()
            .join()
            .unwrap();
        match receiver.blocking_recv() {
            Some(Sighting::Image(task)) => {
                assert_eq!(task.source, task.destination);
                (task.target, roots.home().to_owned())
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        target(&config),
        (PathBuf::from("a.jpg"), place.path("in/x/.pressroom"))
    );
    config.inputs = Inputs::Paths(vec![place.path("in/x"), place.path("in/y")]);
    let absolute = place.path("in/x/a.jpg");
    assert_eq!(
        target(&config),
        (
            absolute.strip_prefix("/").unwrap().to_owned(),
            place.path("in/x/.pressroom")
        )
    );
}
