//! A handful of pictures before and after, to be flipped between in place: a difference shows as a flicker. The files
//! themselves are embedded, because a thumbnail would hide what compression did. The only part of the page that reads files.

use super::escape;
use crate::ledger::{Entry, Verdict};
use crate::report::json::base64;
use crate::report::text::{name, saving};
use crate::units::show_size;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Pictures shown, at most.
const MOST: usize = 4;
/// Bytes of pictures embedded, at most; base64 makes a third more of them.
const ROOM: u64 = 3_000_000;

/// The cheapest pictures to show. Pure.
#[derive(Debug, Clone, Default)]
pub(super) struct Pictures {
    cheapest: Vec<Picture>,
}

#[derive(Debug, Clone)]
struct Picture {
    source: PathBuf,
    target: PathBuf,
    bytes_in: u64,
    bytes_out: u64,
    kind: &'static str,
}

impl Pictures {
    /// Considers a file.
    pub(super) fn add(&mut self, entry: &Entry) {
        let Some(kind) = browser_kind(entry.format.as_deref()) else {
            return;
        };
        let (Verdict::Saved, Some(bytes_out)) = (entry.verdict, entry.bytes_out) else {
            return;
        };
        let cost = entry.bytes_in + bytes_out;
        let at = self
            .cheapest
            .partition_point(|other| other.bytes_in + other.bytes_out <= cost);
        if at < MOST && cost <= ROOM {
            self.cheapest.insert(
                at,
                Picture {
                    source: entry.source.clone(),
                    target: entry.target.clone(),
                    bytes_in: entry.bytes_in,
                    bytes_out,
                    kind,
                },
            );
            self.cheapest.truncate(MOST);
        }
    }

    /// The pictures as HTML, as far as both files are still what the ledger says; empty in place, where there is no before.
    pub(super) fn html(&self, output: &Path) -> String {
        let mut html = String::new();
        let mut room = ROOM;
        for (number, picture) in self.cheapest.iter().enumerate() {
            let cost = picture.bytes_in + picture.bytes_out;
            if cost <= room
                && let Some(before) = embedded(&picture.source, picture.bytes_in)
                && let Some(after) = embedded(&output.join(&picture.target), picture.bytes_out)
            {
                room -= cost;
                html.push_str(&picture.html(number, &before, &after));
            }
        }
        html
    }
}

impl Picture {
    fn html(&self, number: usize, before: &str, after: &str) -> String {
        let shown = escape(&name(&self.target));
        let mut html = format!(
            "<fieldset class=\"flip\"><legend>{shown} ({})</legend>",
            escape(&saving(self.bytes_in, self.bytes_out))
        );
        for (which, size, checked) in [
            ("before", self.bytes_in, ""),
            ("after", self.bytes_out, " checked"),
        ] {
            let _ = write!(
                html,
                "<input type=\"radio\" name=\"p{number}\" id=\"p{number}{which}\" class=\"{which}\"{checked}>\
                 <label for=\"p{number}{which}\">{which}, {}</label>",
                escape(&show_size(size))
            );
        }
        for (which, data) in [("before", before), ("after", after)] {
            let _ = write!(
                html,
                "<img class=\"{which}\" alt=\"{shown} {which}\" src=\"data:image/{};base64,{data}\">",
                self.kind
            );
        }
        html + "</fieldset>"
    }
}

/// What a browser shows, by the name of the result's format.
fn browser_kind(format: Option<&str>) -> Option<&'static str> {
    match format? {
        "jpeg" => Some("jpeg"),
        "png" => Some("png"),
        "webp" => Some("webp"),
        "gif" => Some("gif"),
        _ => None,
    }
}

fn embedded(path: &Path, bytes: u64) -> Option<String> {
    let found = std::fs::symlink_metadata(path).ok()?;
    let content = (found.is_file() && found.len() == bytes).then(|| std::fs::read(path))?;
    Some(base64(&content.ok()?))
}

#[cfg(test)]
mod tests {
    use super::super::super::samples;
    use super::*;

    fn entry(folder: &Path, target: &str, before: usize, after: usize) -> Entry {
        std::fs::create_dir_all(folder.join("out")).unwrap();
        std::fs::write(folder.join(target), vec![1; before]).unwrap();
        std::fs::write(folder.join("out").join(target), vec![2; after]).unwrap();
        Entry {
            source: folder.join(target),
            target: PathBuf::from(target),
            bytes_in: before as u64,
            bytes_out: Some(after as u64),
            ..samples::saved()
        }
    }

    #[test]
    fn the_cheapest_are_shown_and_changed_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut pictures = Pictures::default();
        for number in 0..6 {
            pictures.add(&entry(
                folder.path(),
                &format!("{number}.jpg"),
                600 - number * 10,
                30,
            ));
        }
        std::fs::write(folder.path().join("5.jpg"), "edited since").unwrap();
        let html = pictures.html(&folder.path().join("out"));
        assert_eq!(html.matches("<img").count(), 6);
        assert!(html.contains("4.jpg") && html.contains("2.jpg"), "{html}");
        assert!(!html.contains("5.jpg") && !html.contains("1.jpg"), "{html}");
    }

    #[test]
    fn what_has_no_room_is_not_read() {
        let mut pictures = Pictures::default();
        pictures.add(&samples::saved());
        assert_eq!(pictures.html(Path::new("/out")), "");
    }
}
