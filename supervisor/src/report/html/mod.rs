//! The report as one page to look at: no network, no library, charts as inline SVG, readable on a phone, in the dark, by
//! keyboard and by a screen reader. Made from the ledger, so it can be made long after a run; its size is bounded however
//! many files there were.
//!
//! [`Digest`] takes entries one by one and keeps what the page shows; [`page`] turns it into text. Both are pure; the few
//! pictures that are shown before and after are made small by a worker and handed in.

mod charts;
mod digest;
mod page;
mod pictures;
mod tables;

pub use digest::{About, Digest};
pub use page::page;
pub use pictures::{Pair, Small};

use super::facts::Facts;
use super::past::{ReportError, ledger_at};
use crate::ledger::{Reader, Run};
use std::path::{Path, PathBuf};

/// What the page of the last runs in these ledgers (output folders or ledger files) shows. Where a run found nothing to do
/// again, everything its ledger knows is taken.
pub fn gather(places: &[PathBuf]) -> Result<Digest, ReportError> {
    let mut digest = Digest::new(places.len() > 1);
    for place in places {
        let path = ledger_at(place)?;
        let reader = Reader::open_whole(&path)?;
        let Some(run) = reader.runs(1)?.into_iter().next() else {
            return Err(ReportError::NoRun { path });
        };
        let (last_alone, latest_ms) = did_something(&reader, &run)?;
        digest.begin(about(&run, last_alone, latest_ms));
        let only = last_alone.then_some(run.id);
        reader.entries(only, &mut |entry| digest.add(&entry))?;
        digest.settle(&run);
    }
    Ok(digest)
}

/// Writes the page to `file`, replacing it in one step. `small` is in the order of [`Digest::pictures`].
pub fn write(
    digest: &Digest,
    small: &[Option<Pair<Small>>],
    file: &Path,
) -> Result<(), ReportError> {
    super::replace::file(file, &page(digest, small)).map_err(|source| ReportError::Write {
        path: file.to_path_buf(),
        source,
    })
}

/// Whether the run did anything, and when its latest image ended.
fn did_something(reader: &Reader, run: &Run) -> Result<(bool, u64), ReportError> {
    let mut tally = super::Tally::default();
    reader.entries(Some(run.id), &mut |entry| tally.add(&entry))?;
    Ok((tally.done() > 0, tally.latest_ms))
}

fn about(run: &Run, last_alone: bool, latest_ms: u64) -> About {
    About {
        facts: Facts::so_far(run, latest_ms),
        command: run.command.clone(),
        cap: run.memory(),
        last_alone,
    }
}

/// A text inside HTML: markup and control characters lose their meaning.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in super::text::clean(text).chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use crate::ledger::{Entry, Verdict};
    use std::path::PathBuf;

    pub(super) fn empty() -> Digest {
        let mut digest = Digest::new(false);
        digest.begin(About {
            facts: samples::facts(),
            command: "pressroom in -o out".to_owned(),
            cap: Some(64 << 20),
            last_alone: true,
        });
        digest
    }

    fn page(digest: &Digest) -> String {
        super::page(digest, &[])
    }

    fn pictured() -> String {
        let small = Small {
            kind: "jpeg",
            width: 4,
            height: 3,
            bytes: vec![1],
        };
        let pair = Pair {
            before: small.clone(),
            after: small,
        };
        super::page(&sample(), &[Some(pair)])
    }

    pub(super) fn sample() -> Digest {
        let mut digest = empty();
        for entry in [
            samples::saved(),
            samples::kept(),
            samples::failed("b/<script>alert(1)</script>.jpg"),
        ] {
            digest.add(&entry);
        }
        digest
    }

    #[test]
    fn nothing_in_a_name_becomes_markup() {
        let page = page(&sample());
        assert!(!page.contains("<script>alert"), "{page}");
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;.jpg"));
    }

    #[test]
    fn the_page_asks_nobody_for_anything() {
        let page = pictured();
        for outside in [
            "http:", "https:", "src=\"h", "src=\"/", "url(", "@import", "<link", "fetch", "onerror",
        ] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("default-src 'none'"));
        assert_eq!(page.matches("<script").count(), 1, "the divider's own");
    }

    #[test]
    fn every_element_that_is_opened_is_closed() {
        let page = pictured();
        for element in [
            "figure",
            "figcaption",
            "div",
            "b",
            "code",
            "script",
            "section",
            "table",
            "thead",
            "tbody",
            "tr",
            "td",
            "th",
            "svg",
            "g",
            "title",
            "details",
            "h2",
            "ul",
            "p",
        ] {
            let opened = page.matches(&format!("<{element}>")).count()
                + page.matches(&format!("<{element} ")).count();
            let closed = page.matches(&format!("</{element}>")).count();
            assert_eq!(opened, closed, "{element}");
        }
    }

    #[test]
    fn a_hundred_thousand_files_stay_small() {
        let mut digest = empty();
        for number in 0u64..100_000 {
            let entry = if number % 10 == 0 {
                samples::failed(&format!("folder {}/{number}.jpg", number % 977))
            } else {
                Entry {
                    target: PathBuf::from(format!("folder {}/{number}.jpg", number % 977)),
                    started_ms: number,
                    ended_ms: number + 20,
                    seat: Some(u16::try_from(number % 8).unwrap()),
                    warnings: vec!["something to know".to_owned()],
                    ..samples::saved()
                }
            };
            digest.add(&entry);
        }
        let page = page(&digest);
        assert!(page.len() < 500_000, "{} bytes", page.len());
        assert!(page.contains("10,000"));
    }

    #[test]
    fn several_ledgers_make_one_page_in_which_names_say_whose_they_are() {
        let mut digest = Digest::new(true);
        for output in ["/srv/a", "/srv/b"] {
            digest.begin(About {
                facts: Facts {
                    output: PathBuf::from(output),
                    ..samples::facts()
                },
                command: format!("pressroom in -o {output}"),
                cap: None,
                last_alone: true,
            });
            digest.add(&samples::saved());
        }
        let page = page(&digest);
        for text in [
            "<title>pressroom: 2 ledgers</title>",
            "pressroom in -o /srv/b",
            "/srv/a/a/one.jpg",
            "/srv/b: 1 file",
        ] {
            assert!(page.contains(text), "{text}: {page}");
        }
    }

    #[test]
    fn a_run_without_results_has_a_page_too() {
        let mut digest = empty();
        assert!(digest.is_empty());
        digest.add(&samples::entry("a.jpg", Verdict::Interrupted, ""));
        assert!(page(&digest).contains("<h1>"));
    }
}
