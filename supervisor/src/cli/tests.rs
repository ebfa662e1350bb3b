//! What is typed, set and written down, and what comes of it.

use super::config::{Amount, CountOrShare, Destination, Inputs, ListFrom, Sink, Workers};
use super::*;
use pressroom_shared::{Format, Goal, Metric, SizeLimit};
use std::io;
use std::time::Duration;

/// A request: flags, variables and a settings file in the usual place.
#[derive(Default)]
struct Request<'a> {
    flags: &'a [&'a str],
    variables: &'a [(&'a str, &'a str)],
    file: Option<&'a str>,
}

impl Request<'_> {
    fn interpret(&self) -> Result<Command, UsageError> {
        let args: Vec<OsString> = self.flags.iter().map(OsString::from).collect();
        let mut environment: layers::Environment = self
            .variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        environment.insert("HOME".into(), "/home/ann".into());
        interpret(&args, &environment, &|path| match self.file {
            Some(text) if path == Path::new("/home/ann/.config/pressroom/config.toml") => {
                Ok(text.to_owned())
            }
            _ => Err(io::ErrorKind::NotFound.into()),
        })
    }

    fn config(&self) -> Config {
        match self.interpret() {
            Ok(Command::Run(config)) => *config,
            other => panic!("{:?}: {other:?}", self.flags),
        }
    }

    fn error(&self) -> String {
        match self.interpret() {
            Err(error) => {
                assert_eq!(error.exit(), crate::exit::Exit::Usage);
                error.to_string()
            }
            Ok(command) => panic!("{:?}: {command:?}", self.flags),
        }
    }
}

fn config(flags: &[&str]) -> Config {
    Request {
        flags,
        ..Request::default()
    }
    .config()
}

fn error(flags: &[&str]) -> String {
    Request {
        flags,
        ..Request::default()
    }
    .error()
}

#[test]
fn the_commands_of_the_readme() {
    let config = config(&["jobs/tests/photos", "-o", "out", "--max-size", "300KB"]);
    assert_eq!(
        config.inputs,
        Inputs::Paths(vec!["jobs/tests/photos".into()])
    );
    assert_eq!(config.destination, Destination::Tree { root: "out".into() });
    assert_eq!(
        config.settings.goal,
        Goal::MaxSize(SizeLimit::Bytes(300_000))
    );
    assert_eq!(config.settings.min_quality, 5);
    assert_eq!(config.limits.memory, 512 << 20);
    assert_eq!(config.limits.job_seconds, 120);
    assert_eq!(config.running.workers, Workers::Auto { reserve: 0 });
}

#[test]
fn run_may_be_named_and_a_folder_of_that_name_needs_a_path() {
    let inputs = |flags: &[&str]| config(flags).inputs;
    assert_eq!(
        inputs(&["run", "a", "-o", "b"]),
        Inputs::Paths(vec!["a".into()])
    );
    assert_eq!(
        inputs(&["run", "run", "-o", "b"]),
        Inputs::Paths(vec!["run".into()])
    );
    assert_eq!(
        inputs(&["./report", "-o", "b"]),
        Inputs::Paths(vec!["./report".into()])
    );
    assert_eq!(
        inputs(&["-o", "b", "report"]),
        Inputs::Paths(vec!["report".into()])
    );
}

#[test]
fn a_saving_is_a_share_or_a_size() {
    for (typed, expected) in [
        ("5%", (50, None)),
        ("20KB", (0, Some(20_000))),
        ("0", (0, None)),
        ("0%", (0, None)),
    ] {
        let settings = config(&["a", "-o", "b", "-T", typed]).settings;
        assert_eq!(
            (settings.min_savings_permille, settings.min_savings_bytes),
            expected,
            "{typed}"
        );
    }
}

#[test]
fn every_flag_arrives() {
    let flags = "a b --output o --target-size=40% --min-quality 10 --format webp --effort 9 --progressive on \
        --chroma 444 --max-width 100 --max-height 200 --long-edge 300 --short-edge 400 --linear-light --shrink-to-fit --lossy-png \
        --strip gps,thumbnail --orient apply --icc srgb --include *.jpg --exclude raw --hidden --follow-symlinks \
        --flatten --suffix -small --overwrite smaller --min-savings 5% --preserve times --jobs 3 \
        --memory-limit 256MiB,require --memory-total 1GiB --oversize alone --timeout 90s --run-for 2h --retries 0 \
        --max-fail 5% --min-free 2GB --recycle-after 7 --background --sandbox require --quarantine q --state s.db --retry-failed \
        --recheck --lock wait --max-pixels 10MP -n -vv --progress off --json - --csv c --html h --metrics m";
    let flags: Vec<&str> = flags.split_whitespace().collect();
    let config = config(&flags);
    assert_eq!(
        config.settings.goal,
        Goal::MaxSize(SizeLimit::Permille(400))
    );
    assert_eq!(config.settings.format, Format::Webp);
    assert_eq!(config.settings.shrink_to_fit, Some(1024));
    assert_eq!(config.settings.resize.short_edge, Some(400));
    assert!(
        config.settings.strip.gps && config.settings.strip.thumbnail && !config.settings.strip.exif
    );
    assert_eq!(config.settings.min_savings_permille, 50);
    assert_eq!(config.naming.suffix.as_deref(), Some("-small"));
    assert_eq!(config.running.workers, Workers::Exactly(3));
    assert_eq!(
        (config.limits.memory, config.running.require_hard_limit),
        (256 << 20, true)
    );
    assert_eq!(config.running.memory_total, Some(Amount::Bytes(1 << 30)));
    assert_eq!(config.running.run_for, Some(Duration::from_secs(7200)));
    assert_eq!(config.running.max_fail, Some(CountOrShare::Permille(50)));
    assert_eq!(config.output.json, Some(Sink::Stdout));
    assert_eq!((config.output.verbosity, config.output.dry_run), (2, true));
    assert!(config.selection.include.is_some() && config.selection.exclude.len() == 1);
    // How a pattern looks inside is not ours.
    let selection = config::Selection {
        include: None,
        exclude: Default::default(),
        ..config.selection.clone()
    };
    insta::assert_debug_snapshot!(
        "every_flag",
        Config {
            selection,
            ..config
        }
    );
}

#[test]
fn a_result_has_one_goal() {
    let goal = |flags: &[&str]| config(&[&["a", "-o", "b"], flags].concat()).settings.goal;
    assert_eq!(goal(&[]), Goal::Quality(80));
    assert_eq!(goal(&["-q", "75"]), Goal::Quality(75));
    assert_eq!(goal(&["-q75"]), Goal::Quality(75));
    assert_eq!(goal(&["--lossless"]), Goal::Lossless);
    assert_eq!(
        goal(&["--target", "ssimulacra2:80"]),
        Goal::Score(Metric::Ssimulacra2, 80.0)
    );
}

#[test]
fn strip_all_leaves_the_colour_profile() {
    let strip = |list: &str| config(&["a", "-o", "b", "--strip", list]).settings.strip;
    let all = strip("all");
    assert!(
        all.exif
            && all.gps
            && all.xmp
            && all.iptc
            && all.comment
            && all.thumbnail
            && all.gainmap
            && all.motion
    );
    assert!(!all.icc);
    assert!(strip("all,icc").icc);
}

#[test]
fn in_place_preserves_everything_and_a_tree_preserves_mode_and_times() {
    let tree = config(&["a", "-o", "b"]).publishing.preserve;
    assert_eq!(
        (tree.mode, tree.times, tree.owner, tree.xattr),
        (true, true, false, false)
    );
    let place = config(&["a", "--in-place"]).publishing.preserve;
    assert_eq!(
        (place.mode, place.times, place.owner, place.xattr),
        (true, true, true, true)
    );
    let none = config(&["a", "-o", "b", "--preserve", "none"])
        .publishing
        .preserve;
    assert_eq!(none, config::Preserve::default());
}

#[test]
fn lists_come_from_files_and_pipes() {
    let inputs = config(&["--files-from", "-", "-0", "-o", "b"]).inputs;
    assert_eq!(
        inputs,
        Inputs::List {
            from: ListFrom::Stdin,
            separator: 0,
            base: ".".into()
        }
    );
    let inputs = config(&["base", "--files-from", "list", "-o", "b"]).inputs;
    let from = ListFrom::File("list".into());
    assert_eq!(
        inputs,
        Inputs::List {
            from,
            separator: b'\n',
            base: "base".into()
        }
    );
}

#[test]
fn names_of_any_bytes_are_taken() {
    use std::os::unix::ffi::OsStringExt;
    let odd = OsString::from_vec(b"\xff\n".to_vec());
    let args = [odd.clone(), "-o".into(), odd.clone()];
    let Ok(Command::Run(config)) = interpret(&args, &Default::default(), &|_| {
        Err(io::ErrorKind::NotFound.into())
    }) else {
        panic!("refused");
    };
    assert_eq!(config.inputs, Inputs::Paths(vec![odd.clone().into()]));
    assert_eq!(config.destination, Destination::Tree { root: odd.into() });
}

#[test]
fn a_number_of_workers_must_go_with_the_memory_for_all_of_them() {
    let flags = |total| {
        let cap = ["--memory-per-worker", "256MiB", "--memory-total", total];
        [&["a", "-o", "b", "-j", "4"][..], &cap].concat()
    };
    assert_eq!(config(&flags("1GiB")).running.workers, Workers::Exactly(4));
    let told = error(&flags("1023MiB"));
    assert!(told.contains("4 workers may have (256 MiB each)"), "{told}");
}

#[test]
fn a_switch_in_a_variable_that_is_no_text_is_not_taken_for_off() {
    use std::os::unix::ffi::OsStringExt;
    let args = ["a", "-o", "b"].map(OsString::from);
    let nonsense = OsString::from_vec(vec![0xff]);
    let environment = [("PRESSROOM_DRY_RUN".into(), nonsense)].into();
    let told = interpret(
        &args,
        &environment,
        &|_| Err(io::ErrorKind::NotFound.into()),
    );
    assert!(told.unwrap_err().to_string().contains("PRESSROOM_DRY_RUN"));
}

/// Every request that makes no sense is answered with what to do about it.
#[test]
fn refusals() {
    if pressroom_shared::AVIF {
        eprintln!("SKIPPED: this build does not refuse --format avif");
        return;
    }
    let refused: [&[&str]; 46] = [
        &[],
        &["a"],
        &["-o", "b"],
        &["a", "-o", "b", "--in-place"],
        &["a", "-o", "b", "--backup", "c"],
        &["a", "-o", ""],
        &["a", "--in-place", "--flatten"],
        &["a", "--in-place", "--format", "webp"],
        &["a", "--in-place", "--follow-symlinks"],
        &["a", "--in-place", "--overwrite", "always"],
        &["a", "--in-place", "--suffix=-x"],
        &["a", "-o", "b", "-0"],
        &["a", "b", "--files-from", "x", "-o", "c"],
        &["a", "-o", "b", "-q", "75", "--max-size", "300KB"],
        &["a", "-o", "b", "--lossless", "-q", "75"],
        &["a", "-o", "b", "--lossless", "--long-edge", "100"],
        &["a", "-o", "b", "--lossless", "--format", "jpeg"],
        &["a", "-ob", "--target=ssimulacra2:80", "--long-edge=100"],
        &["a", "-ob", "--target=ssimulacra2:80", "--format=webp"],
        &["a", "-o", "b", "-q", "0"],
        &["a", "-o", "b", "-q", "high"],
        &["a", "-o", "b", "--max-size", "300"],
        &["a", "-o", "b", "--max-size", "300XB"],
        &["a", "-o", "b", "--max-size", "0"],
        &["a", "-o", "b", "--max-size", "140%"],
        &["a", "-o", "b", "--target", "psnr:40"],
        &["a", "-o", "b", "--shrink-to-fit"],
        &["a", "-o", "b", "--format", "avif"],
        &["a", "-o", "b", "--strip", "none,gps"],
        &["a", "-o", "b", "--strip", "colour"],
        &["a", "-o", "b", "--preserve", "none,mode"],
        &["a", "-o", "b", "--suffix", "x/y"],
        &["a", "-o", "b", "--include", "[a"],
        &["a", "-o", "b", "--force", "--min-savings", "5%"],
        &["a", "-o", "b", "-j", "0"],
        &["a", "-o", "b", "-j", "4", "--reserve-cores", "1"],
        &["a", "-o", "b", "--memory-per-worker", "1MiB"],
        &["a", "-o", "b", "--memory-per-worker", "256MiB,please"],
        &["a", "-o", "b", "--memory-total", "100MiB"],
        &["a", "-o", "b", "--timeout", "120"],
        &["a", "-o", "b", "--max-fail", "0"],
        &["a", "-o", "b", "--nice", "5", "--background"],
        &["a", "-o", "b", "-Q", "-v"],
        &["a", "-o", "b", "--csv", "-"],
        &["a", "-o", "b", "--maxsize", "300KB"],
        &["report", "--nonsense"],
    ];
    let told: String = refused
        .iter()
        .map(|flags| format!("$ pressroom {}\n{}\n\n", flags.join(" "), error(flags)))
        .collect();
    insta::assert_snapshot!("refusals", told);
}

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
