//! What the bench found, for people (text, a page) and for programs (JSON). All made from one [`crate::book::Book`]; pure.

pub(crate) mod json;
pub(crate) mod page;
mod plots;
mod svg;
pub(crate) mod text;

/// A text inside HTML: markup and control characters lose their meaning.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            control if control.is_control() => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
pub(crate) mod samples {
    //! A made-up result with everything in it.

    use crate::book::{Advice, Book, Experiment, Figure, MachineFacts, Row, Sample, Table, Unit};
    use crate::published;

    fn figure(name: &'static str, unit: Unit, values: &[f64]) -> Figure {
        Figure::of(name, unit, values).expect("values")
    }

    fn row(label: &str, figures: Vec<Figure>, verdict: Option<&str>) -> Row {
        Row {
            label: label.to_owned(),
            figures,
            verdict: verdict.map(str::to_owned),
        }
    }

    fn scaling() -> Experiment {
        let one = |label, time: f64, speedup: f64, verdict| {
            let figures = vec![
                figure("time", Unit::Seconds, &[time, time * 1.04, time * 0.98]),
                figure(
                    "speed-up",
                    Unit::Times,
                    &[speedup, speedup * 1.02, speedup * 0.99],
                ),
                figure("memory", Unit::Bytes, &[41_943_040.0]),
            ];
            row(label, figures, verdict)
        };
        Experiment {
            key: "scaling",
            title: "Scaling: more and more worker processes",
            rounds: 3,
            tables: vec![Table {
                title: "the same pictures by".to_owned(),
                of: "workers",
                rows: vec![
                    one("1 worker", 2.0, 1.0, Some("97 % more time")),
                    one("2 workers", 1.02, 1.96, None),
                    one("4 workers", 1.13, 1.77, Some("11 % more time")),
                ],
                against: Some("2 workers".to_owned()),
                published: Some(published::SCALING),
            }],
            notes: vec!["24 pictures a run".to_owned()],
            left_out: vec!["SMT on and off: no SMT seen".to_owned()],
        }
    }

    fn boundary() -> Experiment {
        let one = |label, scale: f64| {
            let figures = [
                "path blocked",
                "path read",
                "pipe blocked",
                "pipe read",
                "handle blocked",
                "handle read",
            ]
            .iter()
            .enumerate()
            .map(|(place, name)| figure(name, Unit::Seconds, &[1e-5 * scale * (place + 1) as f64]))
            .collect();
            row(label, figures, None)
        };
        Experiment {
            key: "boundary",
            title: "What crosses the boundary between processes",
            rounds: 1,
            tables: vec![Table {
                title: "time".to_owned(),
                of: "payload",
                rows: vec![one("1 MB", 1.0), one("64 MB", 50.0)],
                against: None,
                published: Some(published::BOUNDARY),
            }],
            notes: Vec::new(),
            left_out: Vec::new(),
        }
    }

    fn busy() -> Experiment {
        Experiment {
            key: "busy",
            title: "A busy machine",
            left_out: vec!["one round takes <1 s>; raise --budget".to_owned()],
            ..Experiment::default()
        }
    }

    pub(crate) fn book() -> Book {
        Book {
            schema: 1,
            build: "pressroom 0.1.0".to_owned(),
            machine: MachineFacts {
                processor: "Example CPU".to_owned(),
                kernel: "6.1.0".to_owned(),
                workers: "2 workers: 2 cores".to_owned(),
                usable: 2,
                load_before: Some(0.25),
            },
            sample: Sample {
                from: "photos".to_owned(),
                found: 13,
                used: 12,
                failed: 1,
                bytes: 60_000_000,
                settings: "pressroom run --max-size 300KB".to_owned(),
            },
            budget_s: 60.0,
            spent_s: 58.4,
            experiments: vec![scaling(), boundary(), busy()],
            advice: Advice {
                sentence: "2 workers; 4 would be 11 % slower; cap 64 MiB is enough: the biggest job needed 41 MiB."
                    .to_owned(),
                workers: Some(2),
                cap: Some(64 << 20),
                needed: Some(41 << 20),
            },
        }
    }

    #[test]
    fn nothing_becomes_markup() {
        assert_eq!(
            super::escape("<a b=\"c\">&\n'"),
            "&lt;a b=&quot;c&quot;&gt;&amp;\u{fffd}&#39;"
        );
    }
}
