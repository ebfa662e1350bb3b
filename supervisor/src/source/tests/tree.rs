//! What is found below one folder, and what is passed over.

use super::*;

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
