//! Tables of the page. Pure.

use super::digest::{Digest, File};
use super::escape;
use crate::ledger::words;
use crate::report::text::{count, duration, name, saving};
use crate::units::{show_memory, show_size};
use std::fmt::Write;

/// Failed files of one kind that are shown without being asked for, at most.
const OPEN: usize = 10;

/// The files that took longest.
pub(super) fn slowest(digest: &Digest) -> String {
    let figures = |file: &File| {
        vec![
            duration(file.wall_us / 1000),
            show_memory(file.peak_rss),
            show_size(file.bytes_in),
        ]
    };
    table(
        "Slowest files",
        &["File", "Time", "Worker's peak memory", "Before"],
        &digest.slowest,
        figures,
    )
}

/// The biggest results.
pub(super) fn biggest(digest: &Digest) -> String {
    let figures = |file: &File| {
        let after = file.bytes_out.unwrap_or(0);
        vec![
            show_size(after),
            show_size(file.bytes_in),
            saving(file.bytes_in, after),
        ]
    };
    table(
        "Biggest results",
        &["File", "After", "Before", "Saving"],
        &digest.biggest,
        figures,
    )
}

/// Files with warnings.
pub(super) fn warned(digest: &Digest) -> String {
    let figures = |file: &File| vec![file.text.clone()];
    table(
        "Files with a warning",
        &["File", "Warning"],
        &digest.warned,
        figures,
    )
}

/// Failed files by kind, each kind to be opened.
pub(super) fn failed(digest: &Digest) -> String {
    let mut html = String::new();
    for (reason, (number, files)) in &digest.failed {
        let open = if files.len() <= OPEN { " open" } else { "" };
        let title = words::failure_of(reason).map_or("failed", words::failure_title);
        let _ = write!(
            html,
            "<details{open}><summary>{}: {}</summary>{}",
            escape(title),
            escape(&count(*number, "file")),
            table(title, &["File", "What happened"], files, |file| vec![
                file.text.clone()
            ])
        );
        let more = number.saturating_sub(files.len() as u64);
        if more > 0 {
            let _ = write!(
                html,
                "<p>and {more} more; <code>pressroom report --failed</code> names them all.</p>"
            );
        }
        html.push_str("</details>");
    }
    html
}

fn table(
    caption: &str,
    heads: &[&str],
    files: &[File],
    figures: impl Fn(&File) -> Vec<String>,
) -> String {
    if files.is_empty() {
        return String::new();
    }
    // Texts may be broken anywhere, figures not.
    let class = if heads.len() > 2 { "figures" } else { "texts" };
    // A region that scrolls must be reachable by keyboard.
    let mut html = format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table class=\"{class}\"><caption>{0}</caption><thead><tr>",
        escape(caption)
    );
    for head in heads {
        let _ = write!(html, "<th scope=\"col\">{}</th>", escape(head));
    }
    html.push_str("</tr></thead><tbody>");
    for file in files {
        let _ = write!(
            html,
            "<tr><th scope=\"row\">{}</th>",
            escape(&name(&file.name))
        );
        for figure in figures(file) {
            let _ = write!(html, "<td>{}</td>", escape(&figure));
        }
        html.push_str("</tr>");
    }
    html + "</tbody></table></div>"
}
