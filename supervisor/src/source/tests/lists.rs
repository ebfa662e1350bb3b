//! Inputs that a file or a pipe lists.

use super::*;

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
