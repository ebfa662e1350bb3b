//! The recommendation as a settings file. Pure but for [`write`].

use crate::book::Book;
use pressroom_supervisor::units::show_memory;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// The file's text: only what was measured, the rest as comments.
pub(crate) fn text(book: &Book) -> String {
    let mut lines = vec![
        "# What `pressroom bench` recommends. Use it with --config FILE.".to_owned(),
        format!("# {}", plain(&book.advice.sentence)),
        format!(
            "# Measured on: {}, Linux {}",
            plain(&book.machine.processor),
            plain(&book.machine.kernel)
        ),
        format!(
            "# With: {} of {}, {}",
            book.sample.used,
            plain(&book.sample.from),
            plain(&book.sample.settings)
        ),
        String::new(),
    ];
    lines.push(match book.advice.workers {
        Some(workers) => format!("workers = {workers}"),
        None => "# workers: the figures did not say".to_owned(),
    });
    lines.push(match book.advice.cap {
        Some(cap) => format!("memory-per-worker = \"{}MiB\"", cap >> 20),
        None => match book.advice.needed {
            Some(needed) => format!(
                "# memory-per-worker: the biggest job needed {}",
                show_memory(needed)
            ),
            None => "# memory-per-worker: nothing was measured".to_owned(),
        },
    });
    lines.join("\n") + "\n"
}

/// A comment stays on its line.
fn plain(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect()
}

/// Writes it to a file that does not exist yet: settings of the user's own are not replaced.
pub(crate) fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn what_was_measured_is_set_and_the_rest_is_not() {
        let book = samples::book();
        insta::assert_snapshot!(text(&book));
        let mut unknown = samples::book();
        unknown.advice.workers = None;
        unknown.advice.cap = None;
        let text = text(&unknown);
        assert!(
            text.lines()
                .all(|line| line.is_empty() || line.starts_with('#')),
            "{text}"
        );
    }

    #[test]
    fn nothing_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pressroom.toml");
        write(&path, "a").unwrap();
        assert!(write(&path, "b").is_err());
        assert_eq!(std::fs::read_to_string(path).unwrap(), "a");
    }
}
