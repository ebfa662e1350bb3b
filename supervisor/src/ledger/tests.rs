//! Whether what LEDGER.md tells people who query the ledger is so.

use crate::recorder::sample_ledger;
use rusqlite::Connection;

const TOLD: &str = include_str!("../../../LEDGER.md");

fn sample() -> (tempfile::TempDir, Connection) {
    let folder = sample_ledger();
    let connection = Connection::open(super::default_path(folder.path())).unwrap();
    (folder, connection)
}

/// The part of the text under a heading.
fn section(heading: &str) -> &'static str {
    let (_, rest) = TOLD.split_once(heading).unwrap();
    rest.split("\n## ").next().unwrap()
}

#[test]
fn every_column_is_told_and_every_column_told_is_there() {
    let (_folder, connection) = sample();
    for table in ["runs", "files"] {
        let told = section(&format!("## `{table}`:"));
        let columns: Vec<String> = connection
            .prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert!(columns.len() > 20, "{columns:?}");
        for column in &columns {
            assert!(
                told.contains(&format!("`{column}`")),
                "{table}.{column} is not told"
            );
        }
        let firsts = told.lines().filter_map(|line| line.strip_prefix("| `"));
        for names in firsts.map(|line| line.split(" |").next().unwrap()) {
            for name in names.split(['`', ',', ' ']).filter(|name| !name.is_empty()) {
                assert!(
                    columns.iter().any(|column| column == name),
                    "{table} has no {name}"
                );
            }
        }
    }
}

#[test]
fn every_query_runs_and_finds_what_the_sample_has() {
    let (_folder, connection) = sample();
    let queries: Vec<&str> = TOLD
        .split("```sql\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    let found: Vec<usize> = queries
        .iter()
        .map(|query| {
            let mut statement = connection.prepare(query).unwrap();
            let mut rows = statement.query([]).unwrap();
            let mut count = 0;
            while rows.next().unwrap().is_some() {
                count += 1;
            }
            count
        })
        .collect();
    // The sample: one run that ended, one picture kept with a warning, one failed that a worker died on.
    assert_eq!(found, [1, 1, 1, 0, 1, 2, 1, 0]);
}

#[test]
fn the_version_told_is_the_version_written() {
    let (_folder, connection) = sample();
    let version: i64 = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .unwrap();
    assert!(TOLD.contains(&format!("version of its format, now {version}.")));
}
