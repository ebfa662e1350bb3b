//! What is typed, and what is refused.

use super::*;
use crate::cli::config::USUAL_EDGE;

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
    assert_eq!(config.settings.shrink_to_fit, Some(USUAL_EDGE));
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
