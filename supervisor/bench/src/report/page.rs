//! The page: one file with tables and plots, no network, no script; readable on a phone, in the dark, by keyboard and by a
//! screen reader. Pure.

use super::{escape, plots, text};
use crate::book::{Book, Experiment, Published, Row, Table};
use crate::wording::{capital, counted};
use std::fmt::Write;

/// The whole page.
pub(crate) fn page(book: &Book) -> String {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <title>pressroom bench</title><style>{STYLE}</style></head><body><main><h1>pressroom bench</h1>"
    );
    html.push_str(&head(book));
    for (number, experiment) in (1..).zip(&book.experiments) {
        html.push_str(&section(book, number, experiment));
    }
    html + "</main></body></html>\n"
}

fn head(book: &Book) -> String {
    let machine = &book.machine;
    let load = machine.load_before.map_or_else(String::new, |load| {
        format!(" {}.", escape(&text::busy(machine, load)))
    });
    format!(
        "<p class=\"advice\">{}</p><p>{}, Linux {}. {}.{load}</p><p>{}. {:.0} s of a budget of {:.0} s.</p>\
         <p>Figures are medians over the rounds; ± is half the interval of the median, and whiskers show it. Dashed lines and \
         figures marked as published are other people's, from other machines and programs.</p>",
        escape(&capital(&book.advice.sentence)),
        escape(&machine.processor),
        escape(&machine.kernel),
        escape(&machine.workers),
        escape(&text::pictures(&book.sample)),
        book.spent_s,
        book.budget_s
    )
}

fn section(book: &Book, number: usize, experiment: &Experiment) -> String {
    let mut html = format!(
        "<section><h2>{number}. {}</h2><p class=\"soft\">{} that counted</p>{}",
        escape(experiment.title),
        counted(experiment.rounds, "round"),
        plots::of(book, experiment)
    );
    for table in &experiment.tables {
        html.push_str(&self::table(table));
    }
    html.push_str(&list("Notes", &experiment.notes));
    html.push_str(&list("Left out", &experiment.left_out));
    html + "</section>"
}

fn list(title: &str, items: &[String]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let items: String = items
        .iter()
        .map(|item| format!("<li>{}</li>", escape(item)))
        .collect();
    format!("<h3>{title}</h3><ul>{items}</ul>")
}

fn table(table: &Table) -> String {
    let names = text::columns(table);
    let verdicts = table.rows.iter().any(|row| row.verdict.is_some());
    let mut html = format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table><caption>{2}</caption><thead><tr><th>{1}</th>",
        escape(&table.title),
        escape(table.of),
        escape(&capital(&table.title))
    );
    for name in &names {
        let _ = write!(html, "<th>{}</th>", escape(name));
    }
    if verdicts {
        let against = table
            .against
            .as_deref()
            .map_or("remark".to_owned(), |name| format!("against {name}"));
        let _ = write!(html, "<th>{}</th>", escape(&against));
    }
    html.push_str("</tr></thead><tbody>");
    for row in &table.rows {
        html.push_str(&self::row(row, &names, verdicts));
    }
    html.push_str("</tbody></table></div>");
    html + &table.published.as_ref().map_or_else(String::new, published)
}

fn row(row: &Row, names: &[&'static str], verdicts: bool) -> String {
    let mut html = format!("<tr><th>{}</th>", escape(&row.label));
    for (place, name) in names.iter().enumerate() {
        let _ = write!(
            html,
            "<td>{}</td>",
            escape(&text::cell(row.figure(name), place == 0))
        );
    }
    if verdicts {
        let _ = write!(
            html,
            "<td>{}</td>",
            escape(row.verdict.as_deref().unwrap_or_default())
        );
    }
    html + "</tr>"
}

fn published(published: &Published) -> String {
    let rows: String = published
        .rows
        .iter()
        .map(|(what, figure)| {
            format!(
                "<tr><th>{}</th><td>{}</td></tr>",
                escape(what),
                escape(figure)
            )
        })
        .collect();
    format!(
        "<div class=\"theirs\"><p>Published, not measured here: {}</p><table><tbody>{rows}</tbody></table></div>",
        escape(published.source)
    )
}

/// Colours keep a contrast of at least 4.5 to 1 for text and 3 to 1 for lines and bars, in both schemes.
const STYLE: &str = "
:root{--back:#fff;--fore:#1a1d21;--soft:#545b64;--line:#d5d9de;--one:#1f6feb;--two:#b3541e;--three:#2e7d32;--theirs:#767e87}
@media(prefers-color-scheme:dark){:root{--back:#14171a;--fore:#e6e8ea;--soft:#a3abb4;--line:#3a4047;--one:#5b9bff;--two:#f0935a;--three:#63c168;--theirs:#8b949e}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--fore);font:16px/1.5 system-ui,sans-serif}
main{max-width:64rem;margin:0 auto;padding:1rem}
h1{font-size:1.5rem}h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}h3{font-size:1rem;margin:1.5rem 0 .5rem}
.advice{font-size:1.25rem;font-weight:600;border:1px solid var(--line);border-left:.4rem solid var(--one);border-radius:.5rem;padding:.75rem}
.soft,.theirs{color:var(--soft)}
svg{width:100%;min-width:36rem;height:auto;display:block}svg text{fill:var(--soft);font-size:13px}svg .end{text-anchor:end}svg .mid{text-anchor:middle}
.bar{fill:var(--one)}.whisker{stroke:var(--fore);stroke-width:2;fill:none}.grid{stroke:var(--line);stroke-width:1}
polyline{fill:none;stroke-width:2.5}polyline.one{stroke:var(--one)}polyline.two{stroke:var(--two)}polyline.three{stroke:var(--three)}
polyline.ideal{stroke:var(--theirs);stroke-dasharray:2 5}polyline.published{stroke:var(--theirs);stroke-dasharray:9 5}
circle.one{fill:var(--one)}circle.two{fill:var(--two)}circle.three{fill:var(--three)}circle.ideal,circle.published{fill:none}
.key{color:var(--soft);margin:.5rem 0;display:flex;flex-wrap:wrap;gap:.25rem 1rem}
.key i{display:inline-block;width:1.5em;height:0;border-top:3px solid;vertical-align:middle}
.key .one{border-color:var(--one)}.key .two{border-color:var(--two)}.key .three{border-color:var(--three)}
.key .ideal{border-color:var(--theirs);border-top-style:dotted}.key .published{border-color:var(--theirs);border-top-style:dashed}
.wide{overflow-x:auto;margin:1rem 0}table{border-collapse:collapse;width:100%}caption{text-align:left;font-weight:600;padding:.25rem 0}
th,td{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;border-bottom:1px solid var(--line)}
tbody th,td{white-space:nowrap}.theirs{margin:1rem 0}.theirs p{margin:0}.theirs table{width:auto}.theirs th,.theirs td{font-weight:400;white-space:normal}tbody th{font-weight:400}td:last-child{white-space:normal;min-width:9rem}
:focus-visible{outline:2px solid var(--one);outline-offset:2px}
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn the_page_asks_nobody_for_anything() {
        let page = page(&samples::book());
        for outside in [
            "http:", "https:", "src=", "<script", "url(", "@import", "<link",
        ] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("default-src 'none'"));
    }

    #[test]
    fn every_element_that_is_opened_is_closed() {
        let page = page(&samples::book());
        for element in [
            "section", "table", "thead", "tbody", "tr", "td", "th", "svg", "g", "title", "desc",
            "h2", "ul", "li", "p", "div", "span", "circle",
        ] {
            let opened = page.matches(&format!("<{element}>")).count()
                + page.matches(&format!("<{element} ")).count();
            let closed = page.matches(&format!("</{element}>")).count();
            assert_eq!(opened, closed, "{element}");
        }
    }

    #[test]
    fn every_id_is_there_once() {
        let page = page(&samples::book());
        let mut ids: Vec<&str> = page
            .split(" id=\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
        assert!(count >= 4);
    }

    #[test]
    fn what_was_found_is_all_there_and_marked() {
        let page = page(&samples::book());
        for part in [
            "4 would be 11 % slower",
            "Published, not measured here",
            "SMT on and off",
            "&lt;1 s&gt;",
        ] {
            assert!(page.contains(part), "{part}");
        }
        assert!(!page.contains("NaN"));
    }
}
