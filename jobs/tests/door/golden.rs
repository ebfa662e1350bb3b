//! The case files' outcomes, one line a file, as this package decides them.
//!
//! Pictures that broke other tools lie beside the repository (`../shared/cases`); where they are absent this test says so
//! and passes. The list is `golden.txt`; set PRESSROOM_BLESS=1 to write it anew and read the difference.

use crate::common::{options, outcome, run};
use pressroom_jobs::Goal;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

#[test]
fn every_case_has_the_outcome_on_the_list() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let archive = here.join("../../shared/cases/files.tar");
    if !archive.exists() {
        eprintln!(
            "SKIPPED: the case files are not beside this repository ({})",
            archive.display()
        );
        return;
    }
    let files = untar(&archive);
    let list: String = files
        .iter()
        .map(|(name, bytes)| {
            format!(
                "{name}: {}\n",
                outcome(&run(bytes, &options(Goal::Lossless)))
            )
        })
        .collect();
    let golden = here.join("tests/door/golden.txt");
    if std::env::var_os("PRESSROOM_BLESS").is_some() {
        std::fs::write(&golden, &list).unwrap();
    }
    let expected = std::fs::read_to_string(&golden).unwrap();
    for (got, expected) in list.lines().zip(expected.lines()) {
        assert_eq!(got, expected);
    }
    assert_eq!(list.lines().count(), expected.lines().count());
}

/// Regular files of a tar archive, by escaped name. The many copies of one picture under odd names are left out.
fn untar(archive: &Path) -> BTreeMap<String, Vec<u8>> {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cases");
    std::fs::create_dir_all(&out).unwrap();
    let status = Command::new("tar")
        .arg("-C")
        .arg(&out)
        .arg("-xf")
        .arg(archive)
        .status()
        .unwrap();
    assert!(status.success());
    let mut files = BTreeMap::new();
    collect(&out, &out, &mut files);
    files.retain(|name, _| !name.starts_with("012-names"));
    files
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            collect(root, &path, files);
        } else if kind.is_file() {
            let name = path
                .strip_prefix(root)
                .unwrap()
                .as_os_str()
                .as_encoded_bytes();
            files.insert(
                name.escape_ascii().to_string(),
                std::fs::read(&path).unwrap(),
            );
        }
    }
}
