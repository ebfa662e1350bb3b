//! The report as one page to look at: no network, no library, charts as inline SVG, readable on a phone, in the dark, by
//! keyboard and by a screen reader. Made from the ledger, so it can be made long after a run; its size is bounded however
//! many files there were.
//!
//! [`Digest`] takes entries one by one and keeps what the page shows; [`page`] turns it into text. Both are pure but for the
//! few pictures that are shown before and after.

mod charts;
mod digest;
mod page;
mod pictures;
mod tables;

pub use digest::Digest;
pub use page::page;

use super::facts::Facts;
use super::past::{ReportError, ledger_at};
use crate::ledger::{Reader, Run};
use std::path::Path;

/// The page of the last run in the ledger of `place` (an output folder or a ledger's file). Where that run found nothing to
/// do again, the page is about everything the ledger knows.
pub fn of(place: &Path) -> Result<String, ReportError> {
    let path = ledger_at(place)?;
    let reader = Reader::open_whole(&path)?;
    let Some(run) = reader.runs(1)?.into_iter().next() else {
        return Err(ReportError::NoRun { path });
    };
    let mut digest = digest(&reader, &run, Some(run.id))?;
    if digest.is_empty() {
        digest = self::digest(&reader, &run, None)?;
    }
    Ok(page(&digest))
}

/// Writes the page of the last run in the ledger of `place` to `file`, replacing it in one step.
pub fn write(place: &Path, file: &Path) -> Result<(), ReportError> {
    let page = of(place)?;
    super::replace::file(file, &page).map_err(|source| ReportError::Write {
        path: file.to_path_buf(),
        source,
    })
}

fn digest(reader: &Reader, run: &Run, only: Option<i64>) -> Result<Digest, ReportError> {
    let mut digest = Digest::new(
        Facts::of_run(run),
        run.command.clone(),
        run.memory(),
        only.is_some(),
    );
    reader.entries(only, &mut |entry| digest.add(&entry))?;
    digest.settle(run);
    Ok(digest)
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

    pub(super) fn sample() -> Digest {
        let mut digest = Digest::new(
            samples::facts(),
            "pressroom in -o out".to_owned(),
            Some(64 << 20),
            true,
        );
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
        let page = page(&sample());
        for outside in [
            "http:", "https:", "src=\"h", "src=\"/", "<script", "url(", "@import", "<link",
        ] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("default-src 'none'"));
    }

    #[test]
    fn every_element_that_is_opened_is_closed() {
        let page = page(&sample());
        for element in [
            "section", "table", "thead", "tbody", "tr", "td", "th", "svg", "g", "title", "details",
            "h2", "ul", "p",
        ] {
            let opened = page.matches(&format!("<{element}>")).count()
                + page.matches(&format!("<{element} ")).count();
            let closed = page.matches(&format!("</{element}>")).count();
            assert_eq!(opened, closed, "{element}");
        }
    }

    #[test]
    fn a_hundred_thousand_files_stay_small() {
        let mut digest = Digest::new(samples::facts(), String::new(), None, true);
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
    fn a_run_without_results_has_a_page_too() {
        let mut digest = Digest::new(samples::facts(), String::new(), None, true);
        assert!(digest.is_empty());
        digest.add(&samples::entry("a.jpg", Verdict::Interrupted, ""));
        assert!(page(&digest).contains("<h1>"));
    }
}
