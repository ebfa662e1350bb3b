//! Puts the page together. Pure.

use super::digest::{About, Digest, Sums};
use super::pictures::{Pair, SCRIPT_HASH, Small};
use super::{charts, escape, tables};
use crate::report::human;
use crate::report::text::{count, duration, grouped, moment, name, rate, saving};
use crate::units::{show_memory, show_size};
use std::fmt::Write;

/// Groups in one chart, at most; the rest is one group.
const GROUPS: usize = 12;

/// The whole page. `small` are the pictures to be shown before and after, in the order of [`Digest::pictures`].
pub fn page(digest: &Digest, small: &[Option<Pair<Small>>]) -> String {
    let title = format!("pressroom: {}", digest.title());
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src '{SCRIPT_HASH}'\">\
         <title>{0}</title><style>{STYLE}</style></head><body><main><h1>{0}</h1>",
        escape(&title)
    );
    html.push_str(&head(digest));
    html.push_str(&tiles(digest));
    html.push_str(&section("Failures", &tables::failed(digest)));
    html.push_str(&section("Before and after", &digest.pictures.html(small)));
    html.push_str(&section("Savings", &savings(digest)));
    if digest.one_run() && !digest.busy.is_empty() {
        html.push_str(&section("Workers", &workers(digest)));
    }
    let notable = [
        tables::slowest(digest),
        tables::biggest(digest),
        tables::warned(digest),
    ]
    .concat();
    html.push_str(&section("Files that stand out", &notable));
    html.push_str(&section("In words", &in_words(digest)));
    html + "</main></body></html>\n"
}

fn section(title: &str, content: &str) -> String {
    if content.is_empty() {
        return String::new();
    }
    format!("<section><h2>{}</h2>{content}</section>", escape(title))
}

fn head(digest: &Digest) -> String {
    let runs: String = digest.runs.iter().map(|run| about(digest, run)).collect();
    if digest.runs.len() > 1 {
        return format!(
            "<p>The last runs of {} ledgers together.</p><ul>{runs}</ul>",
            digest.runs.len()
        );
    }
    runs
}

fn about(digest: &Digest, run: &About) -> String {
    let many = digest.runs.len() > 1;
    let which = match (many, run.last_alone) {
        (true, true) => escape(&name(&run.facts.output)) + ": the run",
        (true, false) => {
            escape(&name(&run.facts.output)) + ": everything in the ledger; the last run"
        }
        (false, true) => "The run".to_owned(),
        (false, false) => {
            "Everything in the ledger, because the last run found nothing to do again. The last run"
                .to_owned()
        }
    };
    let (open, close) = if many {
        ("<li>", "</li>")
    } else {
        ("<p>", "</p>")
    };
    format!(
        "{open}{which} began on {}, {} {} with {} ({}).<br><code>{}</code>{close}",
        escape(&moment(run.facts.started)),
        if run.facts.how.is_none() {
            "is not finished; its latest picture ended after"
        } else {
            "took"
        },
        escape(&duration(run.facts.wall_ms)),
        escape(&count(run.facts.workers.into(), "worker")),
        escape(&run.facts.build),
        escape(&run.command)
    )
}

fn tiles(digest: &Digest) -> String {
    let tally = &digest.tally;
    let mut tiles = vec![
        (grouped(tally.ended()), "images".to_owned()),
        (
            saving(tally.bytes_in, tally.bytes_out),
            format!(
                "{} to {}",
                show_size(tally.bytes_in),
                show_size(tally.bytes_out)
            ),
        ),
        (grouped(tally.saved), "made smaller".to_owned()),
        (grouped(tally.kept_in_all()), "kept as they were".to_owned()),
        (grouped(tally.skipped()), "needed no work".to_owned()),
        (grouped(tally.failed_in_all()), "failed".to_owned()),
        (
            show_memory(tally.peak_rss),
            "peak memory of a worker".to_owned(),
        ),
    ];
    if let Some(facts) = digest.run() {
        tiles.push((
            rate(tally.done(), facts.wall_ms),
            "images per second".to_owned(),
        ));
    }
    let mut html = "<ul class=\"tiles\">".to_owned();
    for (figure, label) in tiles {
        let _ = write!(
            html,
            "<li><b>{}</b> <span>{}</span></li>",
            escape(&figure),
            escape(&label)
        );
    }
    html + "</ul>"
}

fn savings(digest: &Digest) -> String {
    if digest.tally.bytes_in == 0 {
        return String::new();
    }
    let folders = digest
        .folders
        .iter()
        .map(|(folder, sums)| (charts::folder_label(folder), *sums));
    let formats = digest
        .formats
        .iter()
        .map(|(format, sums)| (format.to_uppercase(), *sums));
    let key = "<p class=\"key\"><i class=\"before\"></i> before <i class=\"bar\"></i> after</p>";
    [
        "<h3>By saving</h3>",
        &charts::savings(digest),
        "<h3>By folder</h3>",
        key,
        &charts::groups(
            "folders",
            "Bytes by folder",
            &biggest_first(folders.collect(), digest.other_folders),
        ),
        "<h3>By format</h3>",
        key,
        &charts::groups(
            "formats",
            "Bytes by format",
            &biggest_first(formats.collect(), Sums::default()),
        ),
    ]
    .concat()
}

fn biggest_first(mut groups: Vec<(String, Sums)>, mut others: Sums) -> Vec<(String, Sums)> {
    groups.sort_by_key(|(_, sums)| std::cmp::Reverse(sums.saved()));
    for (_, sums) in groups.iter().skip(GROUPS) {
        others.files += sums.files;
        others.bytes_in += sums.bytes_in;
        others.bytes_out += sums.bytes_out;
    }
    groups.truncate(GROUPS);
    if others.files > 0 {
        groups.push(("(all others)".to_owned(), others));
    }
    groups
}

fn workers(digest: &Digest) -> String {
    let note = if digest.crowded() {
        "The darker, the busier."
    } else {
        "Each bar is a picture; \u{2715} marks the death of a worker, which was replaced."
    };
    [
        "<h3>Timeline</h3><p>",
        note,
        "</p>",
        &charts::timeline(digest),
        "<h3>Memory</h3><p>Highest memory of the worker up to the end of each job.</p>",
        &charts::memory(digest),
    ]
    .concat()
}

fn in_words(digest: &Digest) -> String {
    let Some(facts) = digest.run() else {
        return String::new();
    };
    format!(
        "<pre tabindex=\"0\">{}</pre>",
        lines(&human::past_summary(&digest.tally, facts))
    )
}

fn lines(text: &str) -> String {
    text.lines().map(escape).collect::<Vec<_>>().join("\n")
}

/// Colours keep a contrast of at least 4.5 to 1 for text and 3 to 1 for bars, in both schemes.
const STYLE: &str = "
:root{--back:#fff;--fore:#1a1d21;--soft:#545b64;--line:#d5d9de;--bar:#1f6feb;--before:#8a929c;--bad:#c62828}
@media(prefers-color-scheme:dark){:root{--back:#14171a;--fore:#e6e8ea;--soft:#a3abb4;--line:#3a4047;--bar:#5b9bff;--before:#7d8690;--bad:#ff7b72}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--fore);font:16px/1.5 system-ui,sans-serif}
main{max-width:60rem;margin:0 auto;padding:1rem}
h1{font-size:1.5rem;overflow-wrap:anywhere}h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}h3{font-size:1rem;margin:1.5rem 0 .5rem}
code,pre{font:.875rem/1.5 ui-monospace,monospace;overflow-wrap:anywhere}pre{overflow-x:auto;padding:.75rem;border:1px solid var(--line)}
.tiles{display:grid;grid-template-columns:repeat(4,minmax(0,1fr));gap:.75rem;padding:0;list-style:none}.tiles li:last-child:nth-child(odd){grid-column:span 2}
@media(max-width:40rem){.tiles{grid-template-columns:repeat(2,minmax(0,1fr))}}
.tiles li{border:1px solid var(--line);border-radius:.5rem;padding:.75rem}.tiles b{display:block;font-size:1.25rem;overflow-wrap:anywhere}.tiles span{color:var(--soft)}
svg{width:100%;min-width:36rem;height:auto;display:block}svg .cap{stroke:var(--bad);stroke-width:2}svg text{fill:var(--soft);font-size:13px}svg .end{text-anchor:end}svg .death{fill:var(--bad);font-size:16px;text-anchor:middle}
@media(max-width:40rem){svg.narrow{min-width:0}svg.narrow text{font-size:24px}}
.bar{fill:var(--bar);background:var(--bar)}.before{fill:var(--before);background:var(--before)}.bad{fill:var(--bad)}
.key{color:var(--soft);margin:0}.key i{display:inline-block;width:.8em;height:.8em}
.wide{overflow-x:auto;margin:1rem 0}table{border-collapse:collapse;width:100%}caption{text-align:left;font-weight:600;padding:.25rem 0}
th,td{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;border-bottom:1px solid var(--line)}tbody th{font-weight:400;overflow-wrap:anywhere;min-width:12rem}td{overflow-wrap:anywhere}.figures td{white-space:nowrap}
figure{margin:1.5rem 0}figcaption{color:var(--soft);overflow-wrap:anywhere;margin-top:.25rem}
.over{--at:50%;position:relative;overflow:hidden;max-width:100%;width:50rem;max-height:80vh;background:var(--line)}
.over img{position:absolute;inset:0;width:100%;height:100%;object-fit:contain}.over img.before{clip-path:inset(0 calc(100% - var(--at)) 0 0)}.over img.after{clip-path:inset(0 0 0 var(--at))}
.over b{position:absolute;top:.5rem;padding:0 .5rem;border-radius:.25rem;background:#000;color:#fff;font-size:.875rem;font-weight:400;pointer-events:none}.over .left{left:.5rem}.over .right{right:.5rem}
.over input{position:absolute;inset:0;width:100%;height:100%;margin:0;padding:0;appearance:none;-webkit-appearance:none;background:none;cursor:ew-resize;touch-action:pan-y}
.over input::-webkit-slider-runnable-track{height:100%;background:none}.over input::-webkit-slider-thumb{-webkit-appearance:none;width:4px;height:100%;background:#fff;box-shadow:0 0 0 1px #000}
.over input::-moz-range-track{height:100%;background:none}.over input::-moz-range-thumb{width:4px;height:100%;border:0;border-radius:0;background:#fff;box-shadow:0 0 0 1px #000}
.over input:focus-visible{outline:3px solid var(--bar);outline-offset:-3px}
details caption{display:none}summary{cursor:pointer;font-weight:600}details{margin:1rem 0}
:focus-visible{outline:2px solid var(--bar);outline-offset:2px}
";
