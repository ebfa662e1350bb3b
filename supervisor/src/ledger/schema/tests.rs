//! The ledger's tables: made, checked and brought up to date.

use super::*;

#[test]
fn a_new_ledger_has_the_tables_and_opens_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/ledger.db");
    drop(open_for_writing(&path).unwrap());
    let connection = open_for_writing(&path).unwrap();
    let tables: i64 = connection
        .query_row(
            "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(tables, 3);
    assert_eq!(version(&connection).unwrap(), VERSION);
}

#[test]
fn a_ledger_of_an_earlier_program_is_read_and_gets_the_new_column_when_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let old = open_for_writing(&path).unwrap();
    old.execute_batch("ALTER TABLE runs DROP COLUMN ignored_by")
        .unwrap();
    drop(old);
    let reading = open_for_reading(&path).unwrap();
    assert!(!has_ignored_by(&reading).unwrap());
    drop(reading);
    assert!(has_ignored_by(&open_for_writing(&path).unwrap()).unwrap());
}

#[test]
fn what_is_no_ledger_is_named_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    std::fs::write(&path, "this is a text, ".repeat(400)).unwrap();
    for error in [
        open_for_writing(&path).unwrap_err(),
        open_for_reading(&path).unwrap_err(),
    ] {
        assert!(matches!(error, LedgerError::Corrupt { .. }), "{error:?}");
        assert!(
            error.to_string().contains("move it away and run again"),
            "{error}"
        );
    }
    assert!(std::fs::read(&path).unwrap().starts_with(b"this is a text"));
}

#[test]
fn a_ledger_with_more_than_our_tables_is_not_ours_and_runs_nothing() {
    for object in [
        "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM files; END",
        "CREATE VIEW v AS SELECT * FROM files",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let connection = open_for_writing(&path).unwrap();
        connection.execute_batch(object).unwrap();
        drop(connection);
        for error in [
            open_for_writing(&path).unwrap_err(),
            open_for_reading(&path).unwrap_err(),
        ] {
            assert!(matches!(error, LedgerError::Strange { .. }), "{error:?}");
            assert!(error.to_string().contains("move it away"), "{error}");
        }
    }
}

#[test]
fn a_link_in_the_ledgers_place_is_refused_and_what_it_leads_to_stays() {
    let folder = tempfile::tempdir().unwrap();
    let victim = folder.path().join("victim");
    std::fs::write(&victim, "").unwrap();
    let [soft, hard] = ["soft.db", "hard.db"].map(|name| folder.path().join(name));
    std::os::unix::fs::symlink(&victim, &soft).unwrap();
    std::fs::hard_link(&victim, &hard).unwrap();
    for path in [soft, hard] {
        let error = open_for_writing(&path).unwrap_err();
        assert!(matches!(error, LedgerError::Linked { .. }), "{error:?}");
    }
    assert_eq!(std::fs::read(&victim).unwrap(), b"");
}

#[test]
fn a_ledger_that_cannot_be_written_is_read_as_it_stands_unless_a_log_belongs_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("odd ?#%name.db");
    drop(open_for_writing(&path).unwrap());
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    let before = files();
    let (connection, found) = frozen(&path).unwrap();
    assert_eq!(found, VERSION);
    let runs: i64 = connection
        .query_row("SELECT count(*) FROM runs", [], |row| row.get(0))
        .unwrap();
    assert_eq!((runs, files()), (0, before), "nothing is made beside it");
    std::fs::write(folder.path().join("odd ?#%name.db-wal"), "a log").unwrap();
    assert!(frozen(&path).is_err());
}

#[test]
fn a_newer_ledger_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let connection = open_for_writing(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    assert!(matches!(
        open_for_writing(&path),
        Err(LedgerError::Newer { found: 99, .. })
    ));
    assert!(matches!(
        open_for_reading(&path),
        Err(LedgerError::Newer { found: 99, .. })
    ));
}
