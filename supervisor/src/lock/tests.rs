//! The lock of an output folder, taken by two holders.

use super::*;

#[test]
fn the_second_run_is_told_who_is_at_work() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("out/.pressroom");
    let first = Lock::take(&home, None, LockMode::Fail).unwrap();
    assert_eq!(first.warning(), None);
    let second = Lock::take(&home, None, LockMode::Fail).unwrap_err();
    let text = second.to_string();
    assert!(
        text.contains(&format!("process {}", std::process::id())),
        "{text}"
    );
    assert!(
        text.contains(&folder.path().join("out").display().to_string()),
        "{text}"
    );
    assert_eq!(second.exit(LockMode::Fail), Exit::Locked);
    assert_eq!(second.exit(LockMode::Skip), Exit::Success);
    drop(first);
    Lock::take(&home, None, LockMode::Fail).unwrap();
}

#[test]
fn two_outputs_that_share_a_ledger_exclude_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("ledger.db");
    let _first = Lock::take(
        &folder.path().join("a/.pressroom"),
        Some(&state),
        LockMode::Fail,
    )
    .unwrap();
    let second = Lock::take(
        &folder.path().join("b/.pressroom"),
        Some(&state),
        LockMode::Skip,
    );
    assert!(matches!(second, Err(LockError::Busy { .. })));
}

#[test]
fn a_ledger_spelled_in_two_ways_is_one_ledger() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(folder.path(), folder.path().join("link")).unwrap();
    let take = |home: &str, state: &str| {
        let state = folder.path().join(state);
        Lock::take(&folder.path().join(home), Some(&state), LockMode::Fail)
    };
    let _first = take("a/.pressroom", "new/ledger.db").unwrap();
    let second = take("b/.pressroom", "link/new/ledger.db");
    assert!(matches!(second, Err(LockError::Busy { .. })), "{second:?}");
}

#[test]
fn the_ledger_of_an_output_folder_is_locked_with_that_folder() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("a/.pressroom");
    let ledger = home.join("ledger.db");
    let first = Lock::take(&home, Some(&ledger), LockMode::Fail).unwrap();
    let other = folder.path().join("b/.pressroom");
    let second = Lock::take(&other, Some(&ledger), LockMode::Fail);
    assert!(matches!(second, Err(LockError::Busy { .. })), "{second:?}");
    drop(first);
    let _first = Lock::take(&home, None, LockMode::Fail).unwrap();
    let second = Lock::take(&other, Some(&ledger), LockMode::Fail);
    assert!(matches!(second, Err(LockError::Busy { .. })), "{second:?}");
}

#[test]
fn a_link_in_place_of_the_own_folder_is_refused_and_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let home = folder.path().join(".pressroom");
    std::os::unix::fs::symlink(&elsewhere, &home).unwrap();
    let error = Lock::take(&home, None, LockMode::Wait).unwrap_err();
    assert!(matches!(error, LockError::Link { .. }), "{error}");
    assert_eq!(error.exit(LockMode::Skip), Exit::CannotRun);
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn a_link_in_place_of_the_lock_file_is_refused_and_what_it_leads_to_stays() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join(".pressroom");
    std::fs::create_dir(&home).unwrap();
    let victim = folder.path().join("victim");
    std::fs::write(&victim, "mine").unwrap();
    std::os::unix::fs::symlink(&victim, home.join(NAME)).unwrap();
    let error = Lock::take(&home, None, LockMode::Fail).unwrap_err();
    assert!(matches!(error, LockError::Link { .. }), "{error}");
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
}

#[test]
fn waiting_ends_when_the_other_run_does() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join(".pressroom");
    let first = Lock::take(&home, None, LockMode::Fail).unwrap();
    let waiting = std::thread::spawn({
        let home = home.clone();
        move || Lock::take(&home, None, LockMode::Wait).map(drop)
    });
    drop(first);
    waiting.join().unwrap().unwrap();
}

#[test]
fn a_holder_survives_its_file_and_nonsense_is_no_holder() {
    let holder = Holder {
        pid: 17,
        host: "box".to_owned(),
        since: 1_700_000_000,
    };
    assert_eq!(Holder::from_line(&holder.to_line()), Some(holder));
    for line in [
        "",
        "pid x host y since z",
        "pid 1",
        "pid 1 host \u{1b}[31m since 2",
    ] {
        assert_eq!(Holder::from_line(line), None);
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let error =
        Lock::take(&folder.path().join("file/.pressroom"), None, LockMode::Fail).unwrap_err();
    assert!(error.to_string().contains("file/.pressroom"), "{error}");
    assert_eq!(error.exit(LockMode::Fail), Exit::CannotRun);
}
