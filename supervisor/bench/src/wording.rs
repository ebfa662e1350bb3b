//! Numbers and verdicts as people read them. Pure.

use crate::book::{Figure, Unit};
use crate::stats::Verdict;
use pressroom_supervisor::units::{show_memory, show_size};

/// A value in its unit, with three digits.
pub(crate) fn value(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Seconds => seconds(value),
        Unit::PerSecond => format!("{}/s", digits(value)),
        Unit::Times => format!("{value:.2}x"),
        Unit::Share => format!("{:.0} %", value * 100.0),
        Unit::Bytes => show_memory(value.max(0.0) as u64),
        Unit::Count => format!("{value:.0}"),
    }
}

/// A figure's median, and how sure it is where that matters.
pub(crate) fn figure(figure: &Figure, with_spread: bool) -> String {
    let median = value(figure.unit, figure.value.median);
    match figure.value.spread() {
        Some(spread) if with_spread => format!("{median} ±{:.0} %", spread * 100.0),
        Some(_) | None => median,
    }
}

fn seconds(value: f64) -> String {
    if value >= 1.0 {
        format!("{} s", digits(value))
    } else if value >= 1e-3 {
        format!("{} ms", digits(value * 1e3))
    } else {
        format!("{} us", digits(value * 1e6))
    }
}

/// Three digits, and no more after the point than that.
pub(crate) fn digits(value: f64) -> String {
    match value.abs() {
        large if large >= 99.95 => format!("{value:.0}"),
        middle if middle >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A verdict on times: less is faster.
pub(crate) fn faster(verdict: Verdict) -> String {
    match verdict {
        Verdict::Less(share) => format!("{} less time", percent(share)),
        Verdict::More(share) => format!("{} more time", percent(share)),
        Verdict::Same => "no difference".to_owned(),
        Verdict::TooNoisy => "too noisy to tell".to_owned(),
        Verdict::TooFew => "too few rounds to tell".to_owned(),
    }
}

/// A share, with a digit after the point where it is small.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() < 9.95 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

/// `1 worker`, `2 workers`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// The text with its first letter a capital, for headings.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// Megabytes as they are said of files.
pub(crate) fn bytes(count: u64) -> String {
    show_size(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Summary;

    #[test]
    fn values_have_three_digits_and_a_unit() {
        for (unit, number, text) in [
            (Unit::Seconds, 12.345, "12.3 s"),
            (Unit::Seconds, 0.012_345, "12.3 ms"),
            (Unit::Seconds, 0.000_012, "12.0 us"),
            (Unit::Seconds, 142.0, "142 s"),
            (Unit::PerSecond, 9.999, "10.0/s"),
            (Unit::Times, 1.956, "1.96x"),
            (Unit::Share, 0.978, "98 %"),
            (Unit::Bytes, 41_943_040.0, "40 MiB"),
            (Unit::Count, 1234.4, "1234"),
        ] {
            assert_eq!(value(unit, number), text);
        }
    }

    #[test]
    fn a_spread_is_shown_where_there_is_one() {
        let one = |values: &[f64]| Figure {
            name: "time",
            unit: Unit::Seconds,
            value: Summary::of(values).unwrap(),
        };
        assert_eq!(figure(&one(&[1.0, 2.0, 3.0]), true), "2.00 s ±50 %");
        assert_eq!(figure(&one(&[2.0]), true), "2.00 s");
        assert_eq!(figure(&one(&[1.0, 3.0]), false), "2.00 s");
    }

    #[test]
    fn headings_begin_with_a_capital() {
        assert_eq!(capital("beside 1"), "Beside 1");
        assert_eq!(capital("8 rounds"), "8 rounds");
        assert_eq!(capital(""), "");
    }

    #[test]
    fn verdicts_say_which_way() {
        assert_eq!(faster(Verdict::Less(0.11)), "11 % less time");
        assert_eq!(faster(Verdict::More(0.043)), "4.3 % more time");
        assert_eq!(faster(Verdict::TooNoisy), "too noisy to tell");
    }
}
