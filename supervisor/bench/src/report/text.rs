//! The tables as text for a terminal.

use crate::book::{Book, Experiment, Figure, Published, Table};
use crate::wording::{self, counted};
use std::fmt::Write;

/// Everything but the recommendation.
pub(crate) fn tables(book: &Book) -> String {
    let mut text = head(book);
    for (number, experiment) in (1..).zip(&book.experiments) {
        text.push_str(&self::experiment(number, experiment));
    }
    text
}

/// The recommendation, which comes last.
pub(crate) fn advice(book: &Book) -> String {
    format!("Recommendation: {}\n", book.advice.sentence)
}

fn head(book: &Book) -> String {
    let (machine, sample) = (&book.machine, &book.sample);
    let mut text = format!(
        "pressroom bench on {}, Linux {}\n{}\n",
        machine.processor, machine.kernel, machine.workers
    );
    if let Some(load) = machine.load_before {
        let _ = writeln!(text, "{}", busy(machine, load));
    }
    let _ = writeln!(
        text,
        "{}\n{:.0} s of a budget of {:.0} s",
        pictures(sample),
        book.spent_s,
        book.budget_s
    );
    text
}

/// What others did on the machine before the start.
pub(crate) fn busy(machine: &crate::book::MachineFacts, load: f64) -> String {
    let warning = if load > f64::from(machine.usable) / 2.0 {
        ": others were at work here, so expect wide intervals"
    } else {
        ""
    };
    format!("load before the start: {load:.2} runnable threads, average of a minute{warning}")
}

/// What was measured with, in words.
pub(crate) fn pictures(sample: &crate::book::Sample) -> String {
    let failed = match sample.failed {
        0 => String::new(),
        failed => format!(" ({failed} more could not be done)"),
    };
    format!(
        "{} of {} in {}, {}{failed}; {}",
        sample.used,
        counted(sample.found, "picture"),
        sample.from,
        wording::bytes(sample.bytes),
        sample.settings
    )
}

fn experiment(number: usize, experiment: &Experiment) -> String {
    let mut text = format!(
        "\n{number}. {} ({})\n",
        experiment.title,
        counted(experiment.rounds, "round")
    );
    for table in &experiment.tables {
        text.push_str(&self::table(table));
    }
    for note in &experiment.notes {
        let _ = writeln!(text, "   {note}");
    }
    for reason in &experiment.left_out {
        let _ = writeln!(text, "   left out: {reason}");
    }
    text
}

/// Names of the columns: those of the row that has most.
pub(crate) fn columns(table: &Table) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for figure in table.rows.iter().flat_map(|row| &row.figures) {
        if !names.contains(&figure.name) {
            names.push(figure.name);
        }
    }
    names
}

/// A cell's text; the first column shows how sure it is.
pub(crate) fn cell(figure: Option<&Figure>, first: bool) -> String {
    figure.map_or_else(|| "-".to_owned(), |figure| wording::figure(figure, first))
}

fn table(table: &Table) -> String {
    let names = columns(table);
    let verdicts = table.rows.iter().any(|row| row.verdict.is_some());
    let mut lines = vec![head_line(table, &names, verdicts)];
    for row in &table.rows {
        let mut cells = vec![row.label.clone()];
        let figures = names.iter().enumerate();
        cells.extend(figures.map(|(place, name)| cell(row.figure(name), place == 0)));
        if verdicts {
            cells.push(row.verdict.clone().unwrap_or_default());
        }
        lines.push(cells);
    }
    let mut text = format!("   {}:\n{}", table.title, aligned(&lines));
    if let Some(published) = &table.published {
        text.push_str(&self::published(published));
    }
    text
}

fn head_line(table: &Table, names: &[&'static str], verdicts: bool) -> Vec<String> {
    let mut cells = vec![table.of.to_owned()];
    cells.extend(names.iter().map(|name| (*name).to_owned()));
    if verdicts {
        let against = table.against.as_deref();
        cells.push(against.map_or_else(|| "remark".to_owned(), |name| format!("against {name}")));
    }
    cells
}

fn aligned(lines: &[Vec<String>]) -> String {
    let count = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    let line = |cells: &Vec<String>| {
        let padded = cells
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"));
        format!("     {}", padded.collect::<Vec<_>>().join("  "))
            .trim_end()
            .to_owned()
            + "\n"
    };
    lines.iter().map(line).collect()
}

fn published(published: &Published) -> String {
    let rows = published
        .rows
        .iter()
        .map(|(what, figure)| format!("{what} {figure}"));
    format!(
        "   published ({}): {}\n",
        published.source,
        rows.collect::<Vec<_>>().join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn tables_are_aligned_and_published_figures_are_marked() {
        insta::assert_snapshot!(tables(&samples::book()));
    }

    #[test]
    fn the_recommendation_is_one_line() {
        let text = advice(&samples::book());
        assert_eq!(text.lines().count(), 1);
        assert!(text.starts_with("Recommendation: 2 workers;"));
    }
}
