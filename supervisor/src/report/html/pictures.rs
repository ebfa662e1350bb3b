//! A handful of pictures before and after, one over the other with a divider to move between them. What is embedded are small
//! pictures without metadata that a worker made (see `crate::preview`): originals would carry where they were taken, and
//! would not fit. Chooses the pictures and writes their HTML; makes none.

use super::escape;
use crate::ledger::{Entry, Verdict};
use crate::report::json::base64;
use crate::report::text::{name, saving};
use crate::units::show_size;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Pictures chosen for one reason, at most.
const MOST: usize = 3;
/// Bytes embedded in one page, at most; base64 makes a third more of them.
const ROOM: usize = 2_000_000;

/// What moves the dividers. The page allows this script and no other; [`SCRIPT_HASH`] is how it knows it.
pub(super) const SCRIPT: &str = "for(const s of document.querySelectorAll('.over input'))\
s.addEventListener('input',()=>s.parentNode.style.setProperty('--at',s.value+'%'));";

/// SHA-256 of [`SCRIPT`] in base64, as a content security policy wants it.
pub(super) const SCRIPT_HASH: &str = "sha256-PY/wEQQ5hUQi+qDVLIOl9juy8V0YEmC6HbnxB4hvthk=";

/// A picture made small enough to be embedded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Small {
    /// The kind as in `image/KIND`.
    pub kind: &'static str,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The file.
    pub bytes: Vec<u8>,
}

/// The same picture twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair<T> {
    /// As it was.
    pub before: T,
    /// As it is.
    pub after: T,
}

/// Where compression did most: the largest share saved, and the most bytes. Pure.
#[derive(Debug, Clone, Default)]
pub(super) struct Pictures {
    by_share: Vec<Picture>,
    by_bytes: Vec<Picture>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Picture {
    files: Pair<PathBuf>,
    shown: PathBuf,
    bytes_in: u64,
    bytes_out: u64,
}

impl Pictures {
    /// Considers a file whose output lies below `output` and which the page calls `shown`.
    pub(super) fn add(&mut self, entry: &Entry, output: &Path, shown: &Path) {
        let (Verdict::Saved, Some(bytes_out)) = (entry.verdict, entry.bytes_out) else {
            return;
        };
        let picture = Picture {
            files: Pair {
                before: entry.source.clone(),
                after: output.join(&entry.target),
            },
            shown: shown.to_path_buf(),
            bytes_in: entry.bytes_in,
            bytes_out,
        };
        top(&mut self.by_share, &picture, Picture::share);
        top(&mut self.by_bytes, &picture, Picture::saved);
    }

    fn chosen(&self) -> Vec<&Picture> {
        let mut chosen: Vec<&Picture> = self.by_share.iter().collect();
        let more = self.by_bytes.iter();
        chosen.extend(more.filter(|picture| !self.by_share.contains(picture)));
        chosen
    }

    /// The files to be made small.
    pub(super) fn files(&self) -> Vec<Pair<PathBuf>> {
        let chosen = self.chosen().into_iter();
        chosen.map(|picture| picture.files.clone()).collect()
    }

    /// The pictures as HTML: `small` is in the order of [`Self::files`], and what could not be made is left out.
    pub(super) fn html(&self, small: &[Option<Pair<Small>>]) -> String {
        let mut html = String::new();
        let mut room = ROOM;
        for (picture, pair) in self.chosen().into_iter().zip(small) {
            let Some(pair) = pair else { continue };
            let cost = pair.before.bytes.len() + pair.after.bytes.len();
            if cost <= room {
                room -= cost;
                html.push_str(&picture.html(pair));
            }
        }
        if html.is_empty() {
            return html;
        }
        format!(
            "<p>Where most was saved, made small for this page. Move the divider with a finger, a mouse or the arrow keys.</p>\
             {html}<script>{SCRIPT}</script>"
        )
    }
}

impl Picture {
    fn saved(&self) -> u64 {
        self.bytes_in.saturating_sub(self.bytes_out)
    }

    /// Thousandths saved.
    fn share(&self) -> u64 {
        let share = u128::from(self.saved()) * 1000 / u128::from(self.bytes_in.max(1));
        u64::try_from(share).unwrap_or(1000)
    }

    fn html(&self, pair: &Pair<Small>) -> String {
        let shown = escape(&name(&self.shown));
        let mut html = format!(
            "<figure><div class=\"over\" style=\"aspect-ratio:{}/{}\">",
            pair.before.width.max(1),
            pair.before.height.max(1)
        );
        for (which, small) in [("before", &pair.before), ("after", &pair.after)] {
            let _ = write!(
                html,
                "<img class=\"{which}\" alt=\"{shown} {which}\" width=\"{}\" height=\"{}\" src=\"data:image/{};base64,{}\">",
                small.width,
                small.height,
                small.kind,
                base64(&small.bytes)
            );
        }
        let _ = write!(
            html,
            "<b class=\"left\">before</b><b class=\"right\">after</b>\
             <input type=\"range\" min=\"0\" max=\"100\" value=\"50\" aria-label=\"Divider between before and after of {shown}\"></div>\
             <figcaption>{shown}<br>{} before, {} after, {}</figcaption></figure>",
            escape(&show_size(self.bytes_in)),
            escape(&show_size(self.bytes_out)),
            escape(&saving(self.bytes_in, self.bytes_out))
        );
        html
    }
}

fn top(pictures: &mut Vec<Picture>, picture: &Picture, by: fn(&Picture) -> u64) {
    let at = pictures.partition_point(|other| by(other) >= by(picture));
    if at < MOST {
        pictures.insert(at, picture.clone());
        pictures.truncate(MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::samples;
    use super::*;

    fn add(pictures: &mut Pictures, target: &str, before: u64, after: u64) {
        let entry = Entry {
            source: Path::new("/in").join(target),
            target: PathBuf::from(target),
            bytes_in: before,
            bytes_out: Some(after),
            ..samples::saved()
        };
        pictures.add(&entry, Path::new("/out"), Path::new(target));
    }

    fn small(bytes: usize) -> Small {
        Small {
            kind: "jpeg",
            width: 40,
            height: 30,
            bytes: vec![1; bytes],
        }
    }

    fn pair(bytes: usize) -> Option<Pair<Small>> {
        Some(Pair {
            before: small(bytes),
            after: small(bytes),
        })
    }

    fn sample() -> Pictures {
        let mut pictures = Pictures::default();
        for number in 0..5 {
            add(
                &mut pictures,
                &format!("share{number}.jpg"),
                1000,
                10 + number,
            );
            add(
                &mut pictures,
                &format!("bytes{number}.jpg"),
                9000 + number,
                6000,
            );
        }
        pictures
    }

    #[test]
    fn those_that_saved_most_are_chosen_and_none_twice() {
        let mut pictures = sample();
        let after = |pictures: &Pictures| -> Vec<String> {
            let files = pictures.files().into_iter();
            files.map(|pair| pair.after.display().to_string()).collect()
        };
        assert_eq!(
            after(&pictures),
            [
                "/out/share0.jpg",
                "/out/share1.jpg",
                "/out/share2.jpg",
                "/out/bytes4.jpg",
                "/out/bytes3.jpg",
                "/out/bytes2.jpg"
            ]
        );
        add(&mut pictures, "both.jpg", 90_000, 1);
        assert_eq!(after(&pictures).len(), 5, "{:?}", after(&pictures));
    }

    #[test]
    fn what_was_not_made_or_has_no_room_is_left_out() {
        let pictures = sample();
        let html = pictures.html(&[pair(10), None, pair(ROOM), pair(10)]);
        assert_eq!(html.matches("<figure>").count(), 2);
        assert!(
            html.contains("share0.jpg") && html.contains("bytes4.jpg"),
            "{html}"
        );
        assert!(
            !html.contains("share1.jpg") && !html.contains("share2.jpg"),
            "{html}"
        );
        assert_eq!(pictures.html(&[None, None]), "");
    }

    #[test]
    fn the_page_knows_its_script_by_its_hash() {
        use std::io::Write;
        use std::process::{Command, Stdio};
        let started = Command::new("sha256sum")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut sum) = started else {
            println!("SKIPPED: no sha256sum here");
            return;
        };
        sum.stdin
            .take()
            .unwrap()
            .write_all(SCRIPT.as_bytes())
            .unwrap();
        let said = String::from_utf8(sum.wait_with_output().unwrap().stdout).unwrap();
        let digits: Vec<u8> = (0..64)
            .step_by(2)
            .map(|at| u8::from_str_radix(&said[at..at + 2], 16).unwrap())
            .collect();
        assert_eq!(SCRIPT_HASH, format!("sha256-{}", base64(&digits)));
    }
}
