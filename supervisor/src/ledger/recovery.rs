//! Mends what a killed run left in `pending`: results whose rename was about to happen or had just happened.
//!
//! A result was synced before it was noted, so whichever file stands at the destination is whole. Where it is the noted
//! one, its row becomes final as if the run had lived; otherwise the note is dropped and the image is done again.

use super::Hasher;
use super::Published;
use super::row::path;
use super::schema::COLUMNS;
use super::writer::published;
use rusqlite::{Connection, params};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

struct Note {
    root: Vec<u8>,
    target: Vec<u8>,
    destination: PathBuf,
    part: PathBuf,
    backup: Option<PathBuf>,
    published: Option<Published>,
    in_place: bool,
}

/// Makes final what had landed, forgets the rest.
pub(super) fn recover(connection: &mut Connection) -> rusqlite::Result<()> {
    let notes = notes(connection)?;
    if notes.is_empty() {
        return Ok(());
    }
    let transaction = connection.transaction()?;
    for note in &notes {
        if note
            .published
            .is_some_and(|expected| stands(&note.destination, expected))
        {
            promote(&transaction, note)?;
        } else {
            undo_backup(note);
        }
        remove_part(&note.part);
    }
    transaction.execute("DELETE FROM pending", [])?;
    transaction.commit()
}

fn notes(connection: &Connection) -> rusqlite::Result<Vec<Note>> {
    connection
        .prepare(
            "SELECT root, path, destination, part, backup, out_size, out_mtime_ns, out_hash, source = destination FROM pending",
        )?
        .query_map([], |row| {
            let backup: Option<Vec<u8>> = row.get(4)?;
            Ok(Note {
                root: row.get(0)?,
                target: row.get(1)?,
                destination: path(row, 2)?,
                part: path(row, 3)?,
                backup: if backup.is_some() { Some(path(row, 4)?) } else { None },
                published: published(row, 5)?,
                in_place: row.get(8)?,
            })
        })?
        .collect()
}

/// Whether exactly the noted result stands there: size and time first, because they are cheap, then its content.
fn stands(destination: &Path, expected: Published) -> bool {
    let Ok(found) = std::fs::symlink_metadata(destination) else {
        return false;
    };
    found.is_file()
        && found.len() == expected.size
        && super::previous::mtime_ns(&found) == expected.mtime_ns
        && hash_of(destination).is_ok_and(|hash| Some(hash) == expected.hash)
}

/// Fingerprint of a file's content.
pub(super) fn hash_of(path: &Path) -> std::io::Result<u64> {
    let mut file = std::fs::File::open(path)?;
    let mut hasher = Hasher::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let taken = file.read(&mut buffer)?;
        if taken == 0 {
            return Ok(hasher.finish());
        }
        hasher.push(&buffer[..taken]);
    }
}

fn promote(connection: &Connection, note: &Note) -> rusqlite::Result<()> {
    connection.execute(
        &format!("INSERT OR REPLACE INTO files ({COLUMNS}) SELECT {COLUMNS} FROM pending WHERE root = ?1 AND path = ?2"),
        params![note.root, note.target],
    )?;
    if note.in_place
        && let Ok(found) = std::fs::symlink_metadata(&note.destination)
    {
        connection.execute(
            "UPDATE files SET dev = ?3, ino = ?4 WHERE root = ?1 AND path = ?2",
            params![
                note.root,
                note.target,
                found.dev().cast_signed(),
                found.ino().cast_signed()
            ],
        )?;
    }
    Ok(())
}

/// A backup made by a hard link, whose original was not replaced after all, would make the original look hard-linked.
fn undo_backup(note: &Note) {
    let Some(backup) = &note.backup else { return };
    let (Ok(original), Ok(second)) = (
        std::fs::symlink_metadata(&note.destination),
        std::fs::symlink_metadata(backup),
    ) else {
        return;
    };
    if (original.dev(), original.ino()) == (second.dev(), second.ino()) {
        // Left behind in the worst case, it costs a "hard-linked" reason, never a picture.
        let _ = std::fs::remove_file(backup);
    }
}

fn remove_part(part: &Path) {
    // Usually there is none: it exists only where the staging folder lies on another file system.
    if has_our_name(part) {
        let _ = std::fs::remove_file(part);
    }
}

/// Whether a file is called like one that publishing left half-way. A ledger found among a stranger's files, in place, must
/// not be able to have anything else removed.
fn has_our_name(part: &Path) -> bool {
    part.file_name().is_some_and(|name| {
        let name = name.as_encoded_bytes();
        name.starts_with(b".pressroom-") && name.ends_with(b".part")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_can_have_nothing_removed_but_half_published_results() {
        let folder = tempfile::tempdir().unwrap();
        let [ours, other] =
            [".pressroom-7-3.part", "thesis.part"].map(|name| folder.path().join(name));
        for file in [&ours, &other] {
            std::fs::write(file, "content").unwrap();
            remove_part(file);
        }
        assert!(!ours.exists());
        assert!(other.exists());
    }
}
