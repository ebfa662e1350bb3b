//! Charts as inline SVG. Each has a title and a description for those who cannot see it, and takes its colours from the
//! page's variables, so that it follows the dark mode. Pure.

use super::digest::{BARS, Digest, SLOTS, Sums, memory_bar, memory_from};
use super::escape;
use crate::report::text::{count, duration, grouped, name};
use crate::units::{show_memory, show_size};
use std::fmt::Write;
use std::path::Path;

const WIDTH: u64 = 720;

/// Room for the words below a chart, which on a phone are larger.
const AXIS: u64 = 30;

/// A chart that is narrow enough for a phone once its text is made larger there.
const NARROW: &str = "narrow";

/// Opens a chart; `id` names its description. On a phone a chart that is not [`NARROW`] is wider than the page and scrolls,
/// so that its text can be read; what scrolls must be reachable by keyboard.
fn open(id: &str, class: &str, height: u64, title: &str, description: &str) -> String {
    format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><svg class=\"{class}\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\
         <title id=\"{id}-t\">{0}</title><desc id=\"{id}-d\">{1}</desc>",
        escape(title),
        escape(description)
    )
}

/// Files by saving.
pub(super) fn savings(digest: &Digest) -> String {
    let label = |bar: usize| format!("{} %", bar * 100 / BARS);
    let tip = |bar: usize, files: u64| {
        format!(
            "{} to {} % smaller: {} files",
            bar * 100 / BARS,
            (bar + 1) * 100 / BARS,
            grouped(files)
        )
    };
    histogram("savings", "Files by saving", &digest.savings, label, tip)
}

/// Jobs by peak memory of their worker, against the cap.
pub(super) fn memory(digest: &Digest) -> String {
    let label = |bar: usize| show_memory(memory_from(bar));
    let tip = |bar: usize, jobs: u64| {
        format!(
            "{} and more: {} jobs",
            show_memory(memory_from(bar)),
            grouped(jobs)
        )
    };
    let svg = histogram(
        "memory",
        "Jobs by peak memory of their worker",
        &digest.memory,
        label,
        tip,
    );
    let Some(cap) = digest.cap() else { return svg };
    let x = (memory_bar(cap) as u64 + 1) * WIDTH / BARS as u64;
    let line = format!(
        "<path class=\"cap\" d=\"M{x} 0V180\"/><text class=\"end\" x=\"{}\" y=\"20\">cap {}</text></svg>",
        x.saturating_sub(6),
        show_memory(cap)
    );
    svg.replace("</svg>", &line)
}

fn histogram(
    id: &str,
    title: &str,
    counts: &[u64; BARS],
    label: impl Fn(usize) -> String,
    tip: impl Fn(usize, u64) -> String,
) -> String {
    const HEIGHT: u64 = 180;
    let highest = counts.iter().copied().max().unwrap_or(0).max(1);
    let width = WIDTH / BARS as u64;
    let filled: Vec<String> = (0..BARS)
        .filter(|bar| counts[*bar] > 0)
        .map(|bar| tip(bar, counts[bar]))
        .collect();
    let mut svg = open(id, NARROW, HEIGHT + AXIS, title, &filled.join("; "));
    for (bar, count) in counts.iter().enumerate() {
        let height = (u128::from(*count) * u128::from(HEIGHT) / u128::from(highest)) as u64;
        let height = if *count > 0 { height.max(2) } else { 0 };
        let x = bar as u64 * width;
        let _ = write!(
            svg,
            "<rect class=\"bar\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{height}\"><title>{}</title></rect>",
            x + 2,
            HEIGHT - height,
            width - 4,
            escape(&tip(bar, *count))
        );
        if bar % 4 == 0 {
            let _ = write!(
                svg,
                "<text x=\"{}\" y=\"{}\">{}</text>",
                x + 2,
                HEIGHT + AXIS - 8,
                escape(&label(bar))
            );
        }
    }
    svg + "</svg></div>"
}

/// Bytes before and after, one pair of bars per group, biggest saving first.
pub(super) fn groups(id: &str, title: &str, groups: &[(String, Sums)]) -> String {
    const ROW: u64 = 34;
    const LEFT: u64 = 190;
    let widest = groups
        .iter()
        .map(|(_, sums)| sums.bytes_in.max(sums.bytes_out))
        .max()
        .unwrap_or(0)
        .max(1);
    let scale = |bytes: u64| {
        (u128::from(bytes) * u128::from(WIDTH - LEFT - 10) / u128::from(widest)) as u64
    };
    let described: Vec<String> = groups
        .iter()
        .map(|(name, sums)| described(name, sums))
        .collect();
    let mut svg = open(
        id,
        "",
        ROW * groups.len() as u64 + 4,
        title,
        &described.join("; "),
    );
    for (row, (label, sums)) in (0u64..).zip(groups) {
        let y = row * ROW;
        let _ = write!(
            svg,
            "<g><title>{}</title><text x=\"0\" y=\"{}\">{}</text>\
             <rect class=\"before\" x=\"{LEFT}\" y=\"{}\" width=\"{}\" height=\"12\"/>\
             <rect class=\"bar\" x=\"{LEFT}\" y=\"{}\" width=\"{}\" height=\"12\"/></g>",
            escape(&described[row as usize]),
            y + 19,
            escape(&shortened(label)),
            y + 3,
            scale(sums.bytes_in).max(1),
            y + 16,
            scale(sums.bytes_out).max(1)
        );
    }
    svg + "</svg></div>"
}

fn described(name: &str, sums: &Sums) -> String {
    format!(
        "{name}: {}, {} before, {} after",
        count(sums.files, "file"),
        show_size(sums.bytes_in),
        show_size(sums.bytes_out)
    )
}

/// Names longer than the room beside the bars lose their middle.
fn shortened(name: &str) -> String {
    const ROOM: usize = 24;
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= ROOM {
        return name.to_owned();
    }
    let half = ROOM / 2 - 1;
    let ends = [&letters[..half], &letters[letters.len() - half..]];
    ends.map(|end| end.iter().collect::<String>())
        .join("\u{2026}")
}

/// What each seat did when.
pub(super) fn timeline(digest: &Digest) -> String {
    const ROW: u64 = 26;
    let seats: Vec<u16> = digest.busy.keys().copied().collect();
    let height = ROW * seats.len() as u64;
    let described = format!(
        "{} seats over {}; {} deaths of workers",
        seats.len(),
        duration(digest.span_ms()),
        digest.deaths_at.len()
    );
    let mut svg = open(
        "timeline",
        NARROW,
        height + AXIS,
        "What each worker did when",
        &described,
    );
    for (row, seat) in (0u64..).zip(&seats) {
        let _ = write!(
            svg,
            "<text x=\"0\" y=\"{}\">{}</text>",
            row * ROW + 17,
            seat + 1
        );
        if digest.crowded() {
            svg.push_str(&busy(digest, *seat, row * ROW));
        } else {
            svg.push_str(&jobs(digest, *seat, row * ROW));
        }
    }
    for (seat, at) in &digest.deaths_at {
        let row = seats.iter().position(|other| other == seat).unwrap_or(0) as u64;
        let _ = write!(
            svg,
            "<text class=\"death\" x=\"{}\" y=\"{}\"><title>a worker died here and was replaced</title>\u{2715}</text>",
            x_of(digest, *at),
            row * ROW + 18
        );
    }
    let _ = write!(
        svg,
        "<text x=\"{LANE}\" y=\"{0}\">0 s</text><text class=\"end\" x=\"{WIDTH}\" y=\"{0}\">{1}</text>",
        height + AXIS - 8,
        escape(&duration(digest.span_ms()))
    );
    svg + "</svg></div>"
}

/// Where lanes begin, right of the seat's number.
const LANE: u64 = 36;

fn x_of(digest: &Digest, ms: u64) -> u64 {
    LANE + ms.min(digest.span_ms()) * (WIDTH - LANE) / digest.span_ms()
}

fn jobs(digest: &Digest, seat: u16, y: u64) -> String {
    let mut svg = String::new();
    for job in digest.jobs.iter().filter(|job| job.seat == seat) {
        let (from, to) = (x_of(digest, job.started_ms), x_of(digest, job.ended_ms));
        let class = if job.failed { "bad" } else { "bar" };
        let _ = write!(
            svg,
            "<rect class=\"{class}\" x=\"{from}\" y=\"{}\" width=\"{}\" height=\"18\"><title>{}: {}</title></rect>",
            y + 3,
            to.saturating_sub(from).saturating_sub(1).max(1),
            escape(&name(&job.name)),
            duration(job.ended_ms.saturating_sub(job.started_ms))
        );
    }
    svg
}

fn busy(digest: &Digest, seat: u16, y: u64) -> String {
    let Some(slots) = digest.busy.get(&seat) else {
        return String::new();
    };
    let width = digest.span_ms().div_ceil(SLOTS as u64).max(1);
    let mut svg = String::new();
    for (column, busy) in (0u64..).zip(slots.iter()) {
        let percent = (busy * 100 / width).min(100);
        if percent > 0 {
            let x = LANE + column * (WIDTH - LANE) / SLOTS as u64;
            let _ = write!(
                svg,
                "<rect class=\"bar\" opacity=\".{:02}\" x=\"{x}\" y=\"{}\" width=\"3\" height=\"18\"/>",
                percent.min(99),
                y + 3
            );
        }
    }
    svg
}

/// The folder of a group as a label.
pub(super) fn folder_label(folder: &Path) -> String {
    if folder.as_os_str().is_empty() {
        "(top folder)".to_owned()
    } else {
        name(folder)
    }
}
