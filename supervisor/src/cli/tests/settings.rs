//! Files, profiles and variables, and which of them wins.

use super::*;

#[test]
fn flags_win_over_variables_over_profile_over_file() {
    let file = "effort = 1\nmin-quality = 11\ntimeout = '10s'\nmax-size = '1MB'\nprofile.p = { effort = 2, min-quality = 12, timeout = '20s' }\n";
    let request = Request {
        flags: &["a", "-o", "b", "--profile", "p", "--effort", "4"],
        variables: &[("PRESSROOM_EFFORT", "3"), ("PRESSROOM_MIN_QUALITY", "13")],
        file: Some(file),
    };
    let config = request.config();
    assert_eq!(config.settings.effort, 4);
    assert_eq!(config.settings.min_quality, 13);
    assert_eq!(config.running.timeout, Duration::from_secs(20));
    assert_eq!(
        config.settings.goal,
        Goal::MaxSize(SizeLimit::Bytes(1_000_000))
    );
}

#[test]
fn a_goal_in_a_higher_place_silences_every_goal_below() {
    let file = Some("max-size = '300KB'\nshrink-to-fit = 800\n[profile.p]\nlossless = true\n");
    let goal = |flags: &[&str]| {
        Request {
            flags,
            file,
            ..Request::default()
        }
        .config()
        .settings
        .goal
    };
    assert_eq!(
        goal(&["a", "-o", "b"]),
        Goal::MaxSize(SizeLimit::Bytes(300_000))
    );
    assert_eq!(goal(&["a", "-o", "b", "-q", "75"]), Goal::Quality(75));
    assert_eq!(goal(&["a", "-o", "b", "--profile", "p"]), Goal::Lossless);
    assert_eq!(goal(&["a", "-o", "b", "--no-config"]), Goal::Quality(80));
}

#[test]
fn switches_and_lists_in_a_settings_file() {
    let file = Some(
        "hidden = true\nflatten = false\nstrip = ['gps', 'xmp']\ninclude = '*.jpg'\noutput = 'b'\nverbose = 1\n",
    );
    let config = Request {
        flags: &["a"],
        file,
        ..Request::default()
    }
    .config();
    assert!(
        config.selection.hidden && !config.naming.flatten && config.selection.include.is_some()
    );
    assert!(config.settings.strip.gps && config.settings.strip.xmp);
    assert_eq!(config.output.verbosity, 1);
    let off = Request {
        flags: &["a"],
        variables: &[("PRESSROOM_HIDDEN", "0")],
        file,
    }
    .config();
    assert!(!off.selection.hidden);
}

#[test]
fn shipped_profiles_work_and_can_be_replaced() {
    let request = |profile, file| {
        let flags: &[&str] = &["a", "-o", "b", "--profile", profile];
        Request {
            flags,
            file,
            ..Request::default()
        }
        .config()
        .settings
    };
    assert_eq!(request("web", None).resize.long_edge, Some(2560));
    assert_eq!(
        request("mail", None).goal,
        Goal::MaxSize(SizeLimit::Bytes(1_000_000))
    );
    assert_eq!(request("archive", None).goal, Goal::Lossless);
    assert_eq!(
        request("web", Some("[profile.web]\nquality = 60\n")).goal,
        Goal::Quality(60)
    );
}

#[test]
fn a_profile_may_be_chosen_by_variable() {
    let request = Request {
        flags: &["a", "-o", "b"],
        variables: &[
            ("PRESSROOM_PROFILE", "archive"),
            ("PRESSROOM_TEST_SEED", "1"),
            ("OTHER", "x"),
        ],
        file: None,
    };
    assert_eq!(request.config().settings.goal, Goal::Lossless);
}

#[test]
fn refusals_of_settings_name_their_place() {
    let files = [
        "qualty = 75\n",
        "quality = 'high'\n",
        "hidden = 'yes'\n",
        "max-size = true\n",
        "strip = [['gps']]\n",
        "config = 'x'\n",
        "profile = 'web'\n",
        "[profile]\nweb = 3\n",
        "[profile.web]\nmax-sise = '300KB'\n",
        "quality = 75\nmax-size = '300KB'\n[profile.web]\nhidden = true\n",
        "quality = \n",
    ];
    let flags: &[&str] = &["a", "-o", "b", "--profile", "web"];
    let mut told: String = files
        .iter()
        .map(|file| {
            format!(
                "{file}{}\n\n",
                Request {
                    flags,
                    file: Some(file),
                    ..Request::default()
                }
                .error()
            )
        })
        .collect();
    for variables in [
        [("PRESSROOM_MAXSIZE", "1MB")],
        [("PRESSROOM_QUALITY", "x")],
        [("PRESSROOM_HIDDEN", "maybe")],
    ] {
        let error = Request {
            flags,
            variables: &variables,
            file: None,
        }
        .error();
        told.push_str(&format!(
            "{}={}\n{error}\n\n",
            variables[0].0, variables[0].1
        ));
    }
    let missing: &[&str] = &["a", "-o", "b", "--config", "nowhere.toml"];
    told.push_str(&format!(
        "{}\n\n{}\n",
        error(missing),
        error(&["a", "-o", "b", "--profile", "none"])
    ));
    insta::assert_snapshot!("refusals_of_settings", told);
}

#[test]
fn settings_are_listed_with_their_places() {
    let request = Request {
        flags: &[
            "config",
            "a",
            "-o",
            "b",
            "--profile",
            "web",
            "--strip",
            "gps,xmp",
            "--hidden",
        ],
        variables: &[("PRESSROOM_EFFORT", "3")],
        file: Some("timeout = '60s'\nmax-size = '1MB'\n"),
    };
    let Ok(Command::Print(text)) = request.interpret() else {
        panic!("refused")
    };
    insta::assert_snapshot!("settings", text);
}

#[test]
fn a_home_that_is_none_holds_no_settings_and_a_named_file_must_be_there() {
    let read = |kind: io::ErrorKind| move |_: &Path| -> io::Result<String> { Err(kind.into()) };
    let args = |flags: &[&str]| flags.iter().map(OsString::from).collect::<Vec<_>>();
    let environment: layers::Environment = [("HOME".into(), "/dev/null".into())].into();
    for (kind, fine) in [
        (io::ErrorKind::NotFound, true),
        (io::ErrorKind::NotADirectory, true),
        (io::ErrorKind::PermissionDenied, false),
    ] {
        let usual = interpret(&args(&["a", "-o", "b"]), &environment, &read(kind));
        assert_eq!(usual.is_ok(), fine, "{kind:?}");
        let named = interpret(
            &args(&["a", "-o", "b", "--config", "c"]),
            &environment,
            &read(kind),
        );
        assert!(
            matches!(named, Err(UsageError::ReadSettings { .. })),
            "{kind:?}"
        );
    }
}

#[test]
fn the_configuration_folder_is_where_xdg_says() {
    let seen = std::cell::RefCell::new(Vec::new());
    let read = |path: &Path| -> io::Result<String> {
        seen.borrow_mut().push(path.to_owned());
        Err(io::ErrorKind::NotFound.into())
    };
    let args = ["a", "-o", "b"].map(OsString::from);
    for xdg in ["/etc/xdg", "relative", ""] {
        let environment = [
            ("HOME".into(), "/home/ann".into()),
            ("XDG_CONFIG_HOME".into(), xdg.into()),
        ]
        .into();
        interpret(&args, &environment, &read).unwrap();
    }
    interpret(&args, &Default::default(), &read).unwrap();
    let usual = PathBuf::from("/home/ann/.config/pressroom/config.toml");
    assert_eq!(
        *seen.borrow(),
        [
            PathBuf::from("/etc/xdg/pressroom/config.toml"),
            usual.clone(),
            usual
        ]
    );
}
