//! What files may be like: odd names, bad contents, read-only, unreadable.

use crate::cases::Case;
use crate::{pictures, test, test_with_fake};
use libtest_mimic::Trial;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("a_second_run_has_nothing_to_do", twice),
        test("bad_inputs_are_one_clear_row_each", bad_inputs),
        test("any_name_comes_out_as_it_went_in", odd_names),
        test("read_only_inputs_are_no_obstacle", read_only),
        test("pipes_and_links_are_left_alone", special_files),
        test("an_output_that_is_not_ours_is_left_alone", foreign_output),
        test(
            "a_link_in_the_output_tree_is_named_and_not_followed",
            link_in_output,
        ),
        test("a_file_that_changed_is_done_again", changed_between_runs),
        test("a_damaged_result_is_made_again_on_request", damaged_results),
        test("a_dry_run_leaves_nothing", dry_run),
        test("in_place_replaces_only_with_something_smaller", in_place),
        test(
            "a_folder_of_originals_is_no_input_of_any_later_run",
            backups_are_no_inputs,
        ),
        test_with_fake(
            "in_place_nothing_is_lost_when_workers_crash",
            in_place_crashes,
        ),
        test("a_row_of_a_refused_input_goes_with_the_input", refused_rows),
        test_with_fake("refused_inputs_count_for_max_fail", refused_count),
        test_with_fake(
            "quarantine_says_what_it_links_and_changes_nothing",
            quarantine,
        ),
        test("many_small_files_are_all_done", many),
    ]
}

fn twice() {
    let case = Case::new();
    case.input("a.jpg", &pictures::photo("lake.jpg"))
        .input("b/c.jpg", &pictures::photo("town.jpg"));
    case.run(&[]).expect_code(0);
    let before = case.tree("out");
    assert_eq!(before.len(), 2);
    let ran = case.run(&[]);
    ran.expect_code(0);
    let records = case.check(&ran, 2);
    assert_eq!(
        (&records.run["skipped"], &records.run["cpu_us"]),
        (&2.into(), &0.into())
    );
    assert_eq!(case.tree("out"), before);
}

fn bad_inputs() {
    let case = Case::new();
    let photo = pictures::photo("dunes.jpg");
    case.input("good.jpg", &photo)
        .input("cut.jpg", &photo[..photo.len() / 2])
        .input("page.jpg", b"<!DOCTYPE html><html><body>404</body></html>")
        .input("empty.jpg", b"")
        .input("giant.jpg", &pictures::giant());
    let ran = case.run(&[]);
    ran.expect_code(1);
    let records = case.check(&ran, 5);
    assert_eq!(records.outcome("good.jpg"), "saved");
    for (name, reasons) in [
        ("cut.jpg", &["corrupt"][..]),
        ("page.jpg", &["not_an_image"]),
        ("empty.jpg", &["empty"]),
        ("giant.jpg", &["too_large", "memory_cap"]),
    ] {
        assert_eq!(records.outcome(name), "failed", "{name}");
        assert!(
            reasons.contains(&records.reason(name)),
            "{name}: {}",
            records.reason(name)
        );
        assert!(
            !records
                .field(name, "message")
                .as_str()
                .unwrap_or("")
                .is_empty(),
            "{name}"
        );
        assert_eq!(records.deaths(name), 0, "{name}");
    }
    assert_eq!(case.tree("out").len(), 1);
}

fn odd_names() {
    let case = Case::new();
    let names: [&[u8]; 7] = [
        b"new\nline.jpg",
        b"-rf.jpg",
        b"--workers.jpg",
        b"not utf8 \xff\xfe.jpg",
        b"tab\tand \"quotes\" 'too'.jpg",
        b"\x1b[31mred.jpg",
        b"sp ace /\xc3\xa9\x80.jpg",
    ];
    for (number, name) in names.iter().enumerate() {
        case.input(OsStr::from_bytes(name), &pictures::jpeg(number as u64));
    }
    let ran = case.run(&["-v"]);
    ran.expect_code(0);
    let records = case.check(&ran, names.len());
    assert_eq!(records.run["failed"], 0);
    let outputs = case.tree("out");
    for name in names {
        let path = Path::new(OsStr::from_bytes(name));
        assert!(outputs.contains_key(path), "{path:?} is missing");
        let file = path.file_name().expect("a name");
        assert!(records.files.contains_key(file), "{file:?} has no record");
    }
    assert!(!ran.stdout.contains('\x1b'), "a name steered the terminal");
}

fn read_only() {
    let case = Case::new();
    case.input("a.jpg", &pictures::photo("lake.jpg"));
    let folder = case.path("in");
    fs::set_permissions(folder.join("a.jpg"), fs::Permissions::from_mode(0o444)).expect("our own");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).expect("our own");
    let before = case.tree("in");
    let ran = case.run(&[]);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("our own");
    ran.expect_code(0);
    case.check(&ran, 1);
    assert_eq!(case.tree("in"), before);
}

fn special_files() {
    let case = Case::new();
    case.input("a.jpg", &pictures::jpeg(1));
    let made = std::process::Command::new("mkfifo")
        .arg(case.path("in/pipe.jpg"))
        .status();
    assert!(
        made.is_ok_and(|status| status.success()),
        "mkfifo is part of every system"
    );
    symlink(case.path("in"), case.path("in/loop")).expect("a link");
    symlink("/etc/passwd", case.path("in/passwd.jpg")).expect("a link");
    symlink("/nowhere", case.path("in/dangling.jpg")).expect("a link");
    let ran = case.run(&[]);
    assert!([Some(0), Some(1)].contains(&ran.code()), "{}", ran.text());
    case.check(&ran, ran.records().files.len());
    assert_eq!(case.tree("out").len(), 1);
}

fn foreign_output() {
    let case = Case::new();
    case.input("a.jpg", &pictures::photo("lake.jpg"))
        .input("b.jpg", &pictures::photo("town.jpg"));
    fs::create_dir(case.path("out")).expect("an output folder");
    fs::write(case.path("out/a.jpg"), "mine").expect("a file of the user's");
    let ran = case.run(&[]);
    let records = case.check(&ran, 2);
    assert_eq!(records.outcome("b.jpg"), "saved");
    assert_ne!(records.outcome("a.jpg"), "saved");
    assert_eq!(fs::read(case.path("out/a.jpg")).expect("there"), b"mine");
}

fn link_in_output() {
    let case = Case::new();
    case.input("sub/deep/a.jpg", &pictures::photo("lake.jpg"))
        .input("b.jpg", &pictures::photo("town.jpg"));
    for folder in ["out", "elsewhere/deep"] {
        fs::create_dir_all(case.path(folder)).expect("a folder");
    }
    symlink(case.path("elsewhere"), case.path("out/sub")).expect("a link");
    let ran = case.run(&[]);
    ran.expect_code(1);
    let records = case.check(&ran, 2);
    assert_eq!(
        (records.outcome("b.jpg"), records.reason("a.jpg")),
        ("saved", "output_exists")
    );
    let said = records.field("a.jpg", "message").to_string();
    assert!(said.contains("out/sub is a link"), "{said}");
    assert!(case.tree("elsewhere").is_empty(), "a link was followed");
    // A link to the output folder itself is what was asked for.
    symlink(case.path("elsewhere"), case.path("way")).expect("a link");
    let mut command = case.bare();
    command.args(["in", "-o", "way", "-q", "75", "--no-config"]);
    case.finish(command.spawn().expect("it starts"))
        .expect_code(0);
    assert_eq!(case.tree("elsewhere").len(), 2);
}

fn changed_between_runs() {
    let case = Case::new();
    case.input("a.jpg", &pictures::photo("lake.jpg"))
        .input("b.jpg", &pictures::photo("town.jpg"));
    case.run(&[]).expect_code(0);
    case.input("a.jpg", &pictures::photo("dunes.jpg"));
    let ran = case.run(&[]);
    ran.expect_code(0);
    let records = case.check(&ran, 2);
    assert_eq!(
        (records.outcome("a.jpg"), records.outcome("b.jpg")),
        ("saved", "skipped")
    );
    let other = case.run(&["-q", "50"]);
    if other.code() == Some(0) {
        assert_eq!(case.check(&other, 2).run["skipped"], 0, "another setting");
    }
}

fn dry_run() {
    let case = Case::new();
    case.input("a.jpg", &pictures::photo("lake.jpg"));
    let ran = case.run(&["--dry-run"]);
    ran.expect_code(0);
    assert_eq!(case.check(&ran, 1).outcome("a.jpg"), "saved");
    let page = case.run(&["--dry-run", "--html", "page.html"]);
    page.expect_code(0);
    let page = fs::read_to_string(case.path("page.html")).expect("a page");
    assert!(page.contains("a.jpg"), "the page shows another run");
    assert!(
        !case.path("out").exists(),
        "a dry run made the output folder"
    );
}

fn in_place_command(case: &Case, arguments: &[&str]) -> std::process::Child {
    let mut command = case.bare();
    command
        .args([
            "in",
            "--in-place",
            "-q",
            "75",
            "--json",
            "json",
            "--no-config",
        ])
        .args(arguments);
    command.spawn().expect("it starts")
}

fn in_place() {
    let case = Case::new();
    let photo = pictures::photo("lake.jpg");
    case.input("a.jpg", &photo).input("page.jpg", b"<html>");
    let ran = case.finish(in_place_command(&case, &["--backup", "backup"]));
    ran.expect_code(1);
    let records = ran.records();
    assert_eq!(
        (records.outcome("a.jpg"), records.outcome("page.jpg")),
        ("saved", "failed")
    );
    let after = case.tree("in");
    assert!(after[Path::new("a.jpg")].len() < photo.len());
    assert_eq!(after[Path::new("page.jpg")], b"<html>");
    assert_eq!(case.tree("backup")[Path::new("a.jpg")], photo);
    let again = case.finish(in_place_command(&case, &["--backup", "backup"]));
    assert_eq!(
        again.records().outcome("a.jpg"),
        "skipped",
        "not compressed twice"
    );
    assert_eq!(case.tree("in"), after);
}

/// Cut short, overwritten in the middle with and without its old time, emptied, gone: each comes back with `--recheck`,
/// also when a run without it has seen the damage; what this program never wrote is still left alone.
fn damaged_results() {
    let case = Case::new();
    let names = [
        "cut.jpg",
        "flipped.jpg",
        "rotten.jpg",
        "empty.jpg",
        "gone.jpg",
    ];
    for (name, number) in names.iter().zip(0..) {
        case.input(name, &pictures::jpeg(number));
    }
    case.input("theirs.jpg", &pictures::jpeg(9));
    fs::create_dir(case.path("out")).expect("an output folder");
    fs::write(case.path("out/theirs.jpg"), b"not ours").expect("a file");
    case.run(&[]).expect_code(0);
    let good = case.tree("out");
    let place = |name: &str| case.path("out").join(name);
    let rotten = fs::metadata(place("rotten.jpg")).and_then(|found| found.modified());
    for (name, content) in &good {
        let Some(name) = name.to_str().filter(|name| names.contains(name)) else {
            continue;
        };
        let mut content = content.clone();
        match name {
            "cut.jpg" => content.truncate(40),
            "empty.jpg" => content.clear(),
            _ => content[30] ^= 1,
        }
        fs::write(place(name), content).expect("our own");
    }
    fs::remove_file(place("gone.jpg")).expect("our own");
    fs::File::options()
        .write(true)
        .open(place("rotten.jpg"))
        .and_then(|file| file.set_modified(rotten?))
        .expect("our own");
    let left = case.check(&case.run(&[]), 6);
    assert_eq!(left.reason("theirs.jpg"), "exists");
    for name in ["cut.jpg", "flipped.jpg", "empty.jpg"] {
        assert_eq!(left.reason(name), "output_changed", "{name}");
    }
    let ran = case.run(&["--recheck"]);
    ran.expect_code(0);
    let records = case.check(&ran, 6);
    assert_eq!(records.outcome("theirs.jpg"), "skipped");
    assert_eq!(case.tree("out"), good);
}

fn backups_are_no_inputs() {
    let case = Case::new();
    let photo = pictures::photo("lake.jpg");
    case.input("a.jpg", &photo);
    case.finish(in_place_command(&case, &["--backup", "in/originals"]))
        .expect_code(0);
    for arguments in [&[][..], &["--backup", "other"]] {
        let ran = case.finish(in_place_command(&case, arguments));
        ran.expect_code(0);
        assert_eq!(ran.records().run["discovered"], 1, "{}", ran.text());
        assert_eq!(case.tree("in")[Path::new("originals/a.jpg")], photo);
    }
    for holder in ["in", "."] {
        let ran = case.finish(in_place_command(&case, &["--backup", holder]));
        ran.expect_code(2);
        assert!(ran.stderr.contains("a folder of its own"), "{}", ran.text());
    }
}

/// Rows of failed inputs, as the ledger tells them now.
fn failed_rows(case: &Case) -> usize {
    let mut command = case.bare();
    command.args(["report", "out", "--failed", "--json", "-"]);
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    said.lines()
        .filter(|line| line.contains("\"outcome\":\"failed\""))
        .count()
}

fn refused_rows() {
    let case = Case::new();
    case.input("a.jpg", &pictures::photo("lake.jpg"));
    symlink("/nowhere", case.path("in/gone.jpg")).expect("a link");
    let arguments = ["--follow-symlinks"];
    let ran = case.run(&arguments);
    ran.expect_code(1);
    assert_eq!(ran.records().outcome("gone.jpg"), "failed");
    assert_eq!(failed_rows(&case), 1);
    fs::remove_file(case.path("in/gone.jpg")).expect("our own");
    case.run(&arguments).expect_code(0);
    assert_eq!(failed_rows(&case), 0, "a row of what is no input any more");
}

fn refused_count() {
    let case = Case::fake("-");
    for number in 0..5 {
        let link = case.path("in").join(format!("0gone.{number}.jpg"));
        symlink("/nowhere", link).expect("a link");
    }
    for number in 0..200 {
        case.inputs(&[&format!("slow.{number:03}.jpg")]);
    }
    let ran = case.run(&["--follow-symlinks", "--max-fail", "5", "-j", "1"]);
    ran.expect_code(4);
    let records = case.check(&ran, ran.records().files.len());
    assert_eq!(records.run["failed"], 5);
    assert!(records.files.len() < 205, "the walk went on");
}

fn quarantine() {
    let case = Case::fake("-");
    case.inputs(&["segv.jpg", "good.jpg"]);
    let dry = case.run(&["--quarantine", "bad", "--dry-run"]);
    dry.expect_code(1);
    assert!(!case.path("bad").exists(), "a dry run made links");
    let ran = case.run(&["--quarantine", "bad"]);
    ran.expect_code(1);
    case.check(&ran, 2);
    let links: Vec<_> = fs::read_dir(case.path("bad"))
        .expect("the folder")
        .map(|entry| entry.expect("readable").path())
        .collect();
    assert_eq!(links.len(), 1);
    let source = case.path("in/segv.jpg");
    assert_eq!(fs::read_link(&links[0]).expect("a link"), source);
    let name = links[0].file_name().expect("a name").to_string_lossy();
    assert!(ran.stderr.contains(&*name), "silent: {}", ran.text());
    use std::os::unix::fs::MetadataExt;
    assert_eq!(source.metadata().expect("there").nlink(), 1);
}

fn in_place_crashes() {
    let case = Case::fake("-");
    case.inputs(&[
        "segv.jpg",
        "beforedone.jpg",
        "sleep.jpg",
        "kill.jpg",
        "garbage.jpg",
        "oom.jpg",
    ]);
    let before = case.tree("in");
    let ran = case.finish(in_place_command(&case, &["--timeout", "1s"]));
    ran.expect_code(1);
    assert_eq!(ran.records().run["failed"], 6);
    assert_eq!(case.tree("in"), before, "an original changed");
}

fn many() {
    let case = Case::new();
    for number in 0..1000 {
        case.input(
            format!("{}/{number}.jpg", number % 7),
            &pictures::jpeg(number),
        );
    }
    let ran = case.run(&["-j", "2"]);
    ran.expect_code(0);
    case.check(&ran, 1000);
    assert_eq!(case.tree("out").len(), 1000);
}
