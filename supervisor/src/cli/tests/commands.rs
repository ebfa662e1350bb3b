//! The commands beside running, and the help.

use super::*;

#[test]
fn the_other_commands() {
    let parse = |flags: &[&str]| {
        Request {
            flags,
            ..Request::default()
        }
        .interpret()
    };
    let Ok(Command::Doctor(doctor)) = parse(&["doctor", "out"]) else {
        panic!("refused")
    };
    assert_eq!(doctor.place, Path::new("out"));
    assert_eq!(
        defaults().unwrap().settings,
        config(&["a", "-o", "b"]).settings
    );
    let Ok(Command::Report(report)) = parse(&["report", "out", "--failed", "--since", "24h"])
    else {
        panic!("refused")
    };
    assert_eq!(report.places, [PathBuf::from("out")]);
    assert!(report.failed && !report.json);
    for flags in [["--help"], ["-h"], ["--version"]] {
        let Err(shown) = parse(&flags) else {
            panic!("{flags:?} ran")
        };
        assert_eq!(shown.exit(), crate::exit::Exit::Success);
    }
}

#[test]
fn the_help_text() {
    let mut command = layers::run_command().term_width(100);
    insta::assert_snapshot!("help", command.render_long_help().to_string());
    insta::assert_snapshot!("short_help", command.render_help().to_string());
}

#[test]
fn the_parser_is_sound() {
    layers::run_command().debug_assert();
}
