//! Trees made for the purpose, walked and listed.

use super::*;
use crate::cli::config::{Destination, ListFrom, Selection};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use tempfile::TempDir;

/// A folder for inputs and one for outputs.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("in")).unwrap();
        fs::create_dir(folder.path().join("out")).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap().join(name)
    }

    fn file(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, name).unwrap();
        path
    }

    fn config(&self, inputs: &[&str]) -> Config {
        Config {
            inputs: Inputs::Paths(inputs.iter().map(|name| self.path(name)).collect()),
            destination: Destination::Tree {
                root: self.path("out"),
            },
            ..config()
        }
    }
}

fn config() -> Config {
    let args = ["in", "-o", "out"].map(std::ffi::OsString::from);
    match crate::cli::interpret(&args, &Default::default(), &|_: &Path| {
        Err(io::ErrorKind::NotFound.into())
    }) {
        Ok(crate::cli::Command::Run(config)) => *config,
        other => panic!("{other:?}"),
    }
}

/// Everything told, images as "source -> target" below the folders of `place`, refusals as "source: kind".
/// and what was passed over as "path: kind".
fn told(place: &Place, config: &Config) -> (Vec<String>, Vec<String>) {
    let config = Arc::new(config.clone());
    let roots = Roots::resolve(&config).unwrap();
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
    let thread = start(&config, roots, sender).unwrap();
    let mut lines = Vec::new();
    let mut ignored = Vec::new();
    let mut ended = false;
    let mut ids = 0;
    let below = |path: &Path| {
        path.strip_prefix(place.path(""))
            .unwrap_or(path)
            .display()
            .to_string()
    };
    while let Some(sighting) = receiver.blocking_recv() {
        assert!(!ended, "nothing comes after the end");
        match sighting {
            Sighting::Image(task) => {
                assert_eq!(task.id, JobId(ids));
                ids += 1;
                assert_eq!(
                    task.identity,
                    identity(&fs::symlink_metadata(&task.source).unwrap())
                );
                lines.push(format!(
                    "{} -> {}",
                    below(&task.source),
                    below(&task.destination)
                ));
            }
            Sighting::Refused { task, failed } => {
                assert_eq!(task.id, JobId(ids));
                ids += 1;
                lines.push(format!("{}: {:?}", below(&task.source), failed.kind));
            }
            Sighting::PassedOver { path, why } => {
                ignored.push(format!("{}: {}", below(&path), why.name()))
            }
            Sighting::Ended => ended = true,
        }
    }
    thread.join().unwrap();
    assert!(ended);
    (lines, ignored)
}

#[test]
fn a_single_folder_is_mirrored_in_order_and_the_rest_is_counted() {
    let place = Place::new();
    for name in [
        "in/b.jpg",
        "in/a.PNG",
        "in/sub/c.webp",
        "in/notes.txt",
        "in/.hidden.jpg",
        "in/.cache/x.jpg",
    ] {
        place.file(name);
    }
    let (lines, ignored) = told(&place, &place.config(&["in"]));
    assert_eq!(
        lines,
        [
            "in/a.PNG -> out/a.PNG",
            "in/b.jpg -> out/b.jpg",
            "in/sub/c.webp -> out/sub/c.webp"
        ]
    );
    assert_eq!(
        ignored,
        [
            "in/.cache: hidden",
            "in/.hidden.jpg: hidden",
            "in/notes.txt: not_a_picture"
        ],
        "hidden folders are not looked into"
    );
}

#[test]
fn the_content_tells_where_the_name_does_not() {
    let place = Place::new();
    for name in ["in/IMG_0001", "in/old/b.jpg~", "in/c.2024"] {
        place.file(name);
        fs::write(place.path(name), b"\xff\xd8\xff\xe0\0\x10JFIF\0").unwrap();
    }
    place.file("in/Makefile");
    place.file("in/locked");
    fs::write(place.path("in/film.xmp"), b"\xff\xd8\xff\xe0").unwrap();
    let mut config = place.config(&["in"]);
    let (lines, ignored) = told(&place, &config);
    assert_eq!(
        lines,
        [
            "in/IMG_0001 -> out/IMG_0001",
            "in/c.2024 -> out/c.2024",
            "in/old/b.jpg~ -> out/old/b.jpg~"
        ]
    );
    let not =
        ["in/Makefile", "in/film.xmp", "in/locked"].map(|name| format!("{name}: not_a_picture"));
    assert_eq!(ignored, not);
    config.selection.by_name = true;
    let (lines, ignored) = told(&place, &config);
    assert_eq!((lines.len(), ignored.len()), (0, 6));
}

#[test]
fn results_and_originals_of_earlier_runs_are_passed_over_unless_named() {
    let place = Place::new();
    for name in ["in/a.jpg", "in/small/a.jpg", "in/originals/a.jpg"] {
        place.file(name);
    }
    crate::marks::mark_originals(&place.path("in/originals")).unwrap();
    let config = place.config(&["in"]);
    assert_eq!(told(&place, &config).0.len(), 2, "not marked");
    fs::create_dir_all(place.path("in/small/.pressroom")).unwrap();
    fs::write(place.path("in/small/.pressroom/results"), "").unwrap();
    let (lines, ignored) = told(&place, &config);
    assert_eq!(lines, ["in/a.jpg -> out/a.jpg"]);
    assert_eq!(ignored, ["in/originals: ours", "in/small: ours"]);
    let named = place.config(&["in/small"]);
    assert_eq!(told(&place, &named).0, ["in/small/a.jpg -> out/a.jpg"]);
}

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
fn pipes_and_missing_files_are_named_and_never_opened() {
    let place = Place::new();
    place.file("in/a.jpg");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        place.path("in/pipe.jpg"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let (lines, ignored) = told(&place, &place.config(&["in"]));
    assert_eq!(lines.len(), 1);
    assert_eq!(ignored, ["in/pipe.jpg: special_file"]);
    let (lines, _) = told(
        &place,
        &place.config(&["in/pipe.jpg", "in/gone.jpg", "in/a.jpg"]),
    );
    assert_eq!(
        lines,
        [
            "in/pipe.jpg: NotAnImage",
            "in/gone.jpg: Vanished",
            "in/a.jpg -> out/a.jpg"
        ]
    );
    let nothing = Roots::resolve(&place.config(&["in/gone.jpg"]));
    assert!(matches!(nothing, Err(RootsError::NoInput { .. })));
}

#[test]
fn an_unreadable_folder_is_one_row() {
    let place = Place::new();
    place.file("in/locked/a.jpg");
    place.file("in/z.jpg");
    fs::set_permissions(place.path("in/locked"), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read_dir(place.path("in/locked")).is_ok() {
        eprintln!("SKIPPED: an_unreadable_folder_is_one_row needs a user who is not root");
        return;
    }
    let (lines, _) = told(&place, &place.config(&["in"]));
    fs::set_permissions(place.path("in/locked"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(lines, ["in/locked: Unreadable", "in/z.jpg -> out/z.jpg"]);
}

#[test]
fn names_are_bytes() {
    let place = Place::new();
    let names: [&[u8]; 5] = [
        b"new\nline.jpg",
        b"-rf.jpg",
        b"100%.jpg",
        b"\xff\xfe.jpg",
        b"star*[x]?.jpg",
    ];
    for name in names {
        fs::write(place.path("in").join(OsStr::from_bytes(name)), b"x").unwrap();
    }
    let config = Arc::new(place.config(&["in"]));
    let roots = Roots::resolve(&config).unwrap();
    let (sender, mut receiver) = tokio::sync::mpsc::channel(64);
    start(&config, roots, sender).unwrap().join().unwrap();
    let mut targets = Vec::new();
    while let Some(Sighting::Image(task)) = receiver.blocking_recv() {
        targets.push(task.target.as_os_str().as_bytes().to_vec());
    }
    let mut names: Vec<Vec<u8>> = names.iter().map(|name| name.to_vec()).collect();
    names.sort();
    assert_eq!(targets, names);
}

#[test]
fn patterns_choose_and_prune() {
    let place = Place::new();
    for name in [
        "in/a.jpg",
        "in/b.png",
        "in/raw/c.jpg",
        "in/raw/d.png",
        "in/odd.name",
    ] {
        place.file(name);
    }
    let list = |patterns: &[&str]| {
        crate::filter::globs(&patterns.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>()).unwrap()
    };
    let mut config = place.config(&["in"]);
    config.selection.include = Some(list(&["*.jpg"]));
    assert_eq!(
        told(&place, &config).0,
        ["in/a.jpg -> out/a.jpg", "in/raw/c.jpg -> out/raw/c.jpg"]
    );
    config.selection.exclude = list(&["raw"]);
    assert_eq!(told(&place, &config).0, ["in/a.jpg -> out/a.jpg"]);
    config.selection = Selection {
        recurse: false,
        ..Selection::default()
    };
    assert_eq!(
        told(&place, &config).0,
        ["in/a.jpg -> out/a.jpg", "in/b.png -> out/b.png"]
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

/// A list of names in `in`.
fn listed(place: &Place, names: &[&str], separator: u8) -> Config {
    let list = place.path("list");
    let names = names.iter().map(|name| {
        place
            .path("in")
            .join(name)
            .into_os_string()
            .into_encoded_bytes()
    });
    fs::write(&list, names.collect::<Vec<_>>().join(&separator)).unwrap();
    let mut config = place.config(&["in"]);
    config.inputs = Inputs::List {
        from: ListFrom::File(list),
        separator,
        base: place.path("in"),
    };
    config
}

#[test]
fn what_is_listed_is_mirrored_below_the_base() {
    let place = Place::new();
    for name in [
        "in/a.jpg",
        "in/sub/b.jpg",
        "in/sub/odd.name",
        "elsewhere/c.jpg",
        "in/out/d.jpg",
    ] {
        place.file(name);
    }
    let names = [
        "a.jpg",
        "./sub/../sub/b.jpg",
        "",
        "sub",
        "sub/odd.name",
        "sub/b.jpg",
        "gone.jpg",
        "../elsewhere/c.jpg",
        "a.jpg",
    ];
    let (lines, ignored) = told(&place, &listed(&place, &names, b'\n'));
    assert_eq!(
        lines,
        [
            "in/a.jpg -> out/a.jpg",
            "in/sub/b.jpg -> out/sub/b.jpg",
            "in/sub/odd.name -> out/sub/odd.name",
            "in/gone.jpg: Vanished",
            "elsewhere/c.jpg: Unreadable",
        ]
    );
    assert_eq!(ignored, ["in: folder", "in/sub: folder"]);
}

#[test]
fn a_list_may_end_names_with_nul() {
    let place = Place::new();
    place.file("in/new\nline.jpg");
    place.file("in/b.jpg");
    let (lines, _) = told(&place, &listed(&place, &["new\nline.jpg", "b.jpg"], 0));
    assert_eq!(
        lines,
        [
            "in/new\nline.jpg -> out/new\nline.jpg",
            "in/b.jpg -> out/b.jpg"
        ]
    );
}

#[test]
fn collisions_in_a_list_come_first() {
    let place = Place::new();
    place.file("in/x/a.jpg");
    place.file("in/y/a.jpg");
    let mut config = listed(&place, &["x/a.jpg", "y/a.jpg"], b'\n');
    config.naming.flatten = true;
    assert_eq!(
        told(&place, &config).0,
        ["in/y/a.jpg: Collision", "in/x/a.jpg -> out/a.jpg"]
    );
}

#[test]
fn what_no_build_converts_takes_nobodys_name() {
    let place = Place::new();
    place.file("in/a.jpg");
    fs::write(place.file("in/a.heic"), b"\0\0\0\x18ftypheic\0\0\0\0").unwrap();
    // A JPEG by content, whatever its name says, becomes one of the new format.
    fs::write(place.file("in/b.heic"), b"\xff\xd8\xff\xe0\0\x10JFIF").unwrap();
    place.file("in/b.jpg");
    let mut config = place.config(&["in"]);
    config.settings.format = pressroom_shared::Format::Webp;
    assert_eq!(
        told(&place, &config).0,
        [
            "in/b.jpg: Collision",
            "in/a.heic -> out/a.heic",
            "in/a.jpg -> out/a.webp",
            "in/b.heic -> out/b.webp"
        ]
    );
}

/// What `config` tells if its list comes through a pipe.
fn told_by_pipe(place: &Place, mut config: Config) -> Vec<String> {
    let pipe = place.path("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let names = fs::read(place.path("list")).unwrap();
    if let Inputs::List { from, .. } = &mut config.inputs {
        *from = ListFrom::File(pipe.clone());
    }
    let writer = std::thread::spawn(move || fs::write(pipe, names).unwrap());
    let (lines, _) = told(place, &config);
    writer.join().unwrap();
    lines
}

#[test]
fn a_list_from_a_pipe_is_read_once() {
    let place = Place::new();
    place.file("in/x/a.jpg");
    let config = listed(&place, &["x/a.jpg"], b'\n');
    assert_eq!(told_by_pipe(&place, config), ["in/x/a.jpg -> out/x/a.jpg"]);
}

#[test]
fn a_list_from_a_pipe_lasts_for_every_pass() {
    let place = Place::new();
    place.file("in/x/a.jpg");
    place.file("in/y/a.jpg");
    let mut config = listed(&place, &["x/a.jpg", "y/a.jpg"], b'\n');
    config.naming.flatten = true;
    assert_eq!(
        told_by_pipe(&place, config),
        ["in/y/a.jpg: Collision", "in/x/a.jpg -> out/a.jpg"]
    );
}

#[test]
fn what_is_listed_twice_is_told_once_even_if_it_cannot_be_done() {
    let place = Place::new();
    let names = ["gone.jpg", "gone.jpg"];
    let (lines, _) = told(&place, &listed(&place, &names, b'\n'));
    assert_eq!(lines, ["in/gone.jpg: Vanished"]);
}

#[test]
fn behind_a_link_the_folder_above_is_the_real_one() {
    let place = Place::new();
    place.file("in/x.jpg");
    place.file("in/d/x.jpg");
    place.file("in/d/e/y.jpg");
    symlink(place.path("in/d/e"), place.path("in/link")).unwrap();
    let names = ["link/../x.jpg", "x.jpg", "link/y.jpg"];
    let (lines, _) = told(&place, &listed(&place, &names, b'\n'));
    assert_eq!(
        lines,
        [
            "in/d/x.jpg -> out/d/x.jpg",
            "in/x.jpg -> out/x.jpg",
            "in/d/e/y.jpg -> out/link/y.jpg"
        ]
    );
}

#[test]
fn a_list_that_is_none_ends_with_a_row() {
    let place = Place::new();
    let (lines, _) = told(&place, &listed(&place, &[&"x".repeat(10_000)], b'\n'));
    assert_eq!(lines, ["--files-from: Io"]);
}

#[test]
fn a_thousand_named_files_are_told_to_a_worker_in_one_message() {
    let place = Place::new();
    let names: Vec<String> = (0..1000)
        .map(|number| format!("in/{}/{number}-{}.jpg", number % 3, "x".repeat(80)))
        .collect();
    for name in &names {
        place.file(name);
    }
    place.file("in/alone.jpg");
    let mut inputs: Vec<&str> = names.iter().map(String::as_str).collect();
    inputs.push("in/alone.jpg");
    let roots = Roots::resolve(&place.config(&inputs)).unwrap();
    let expected = ["in/0", "in/1", "in/2", "in/alone.jpg"].map(|name| place.path(name));
    assert_eq!(roots.readable(), expected);
    let few = Roots::resolve(&place.config(&inputs[..2])).unwrap();
    assert_eq!(
        few.readable(),
        inputs[..2]
            .iter()
            .map(|name| place.path(name))
            .collect::<Vec<_>>()
    );
}

#[test]
fn dropping_the_receiver_ends_the_walk() {
    let place = Place::new();
    for number in 0..100 {
        place.file(&format!("in/{number}.jpg"));
    }
    let config = Arc::new(place.config(&["in"]));
    let roots = Roots::resolve(&config).unwrap();
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    let thread = start(&config, roots, sender).unwrap();
    drop(receiver);
    thread.join().unwrap();
}

#[test]
fn the_outlook_knows_the_total() {
    let place = Place::new();
    for name in ["in/a.jpg", "in/sub/b.jpg", "in/notes.txt"] {
        place.file(name);
    }
    let config = Arc::new(place.config(&["in", "in/gone.jpg"]));
    let outlook = outlook(&config, Roots::resolve(&config).unwrap())
        .unwrap()
        .unwrap();
    while !outlook.so_far().complete {
        std::thread::yield_now();
    }
    let bytes = ("in/a.jpg".len() + "in/sub/b.jpg".len()) as u64;
    assert_eq!(
        outlook.so_far(),
        Expected {
            inputs: 3,
            bytes,
            complete: true
        }
    );
    let stdin = Inputs::List {
        from: ListFrom::Stdin,
        separator: 0,
        base: place.path("in"),
    };
    let config = Arc::new(Config {
        inputs: stdin,
        ..(*config).clone()
    });
    assert!(
        super::outlook(&config, Roots::resolve(&config).unwrap())
            .unwrap()
            .is_none()
    );
}
