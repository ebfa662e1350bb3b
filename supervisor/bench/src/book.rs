//! What a bench has to say, as data: experiments with tables of figures, and the recommendation. Plain; every report is made
//! from this and from nothing else, so all of them say the same.

use crate::stats::Summary;
use serde::Serialize;

/// Everything.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Book {
    /// Version of this form; raised when a field changes its meaning.
    pub(crate) schema: u32,
    /// Version of pressroom.
    pub(crate) build: String,
    /// Where it was measured.
    pub(crate) machine: MachineFacts,
    /// What was measured with.
    pub(crate) sample: Sample,
    /// Seconds allowed.
    pub(crate) budget_s: f64,
    /// Seconds taken.
    pub(crate) spent_s: f64,
    /// What was found.
    pub(crate) experiments: Vec<Experiment>,
    /// What follows.
    pub(crate) advice: Advice,
}

/// Where it was measured.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct MachineFacts {
    /// The processor as the kernel names it.
    pub(crate) processor: String,
    /// Kernel release.
    pub(crate) kernel: String,
    /// Workers that a run would start, and why.
    pub(crate) workers: String,
    /// The number in it.
    pub(crate) usable: u16,
    /// Runnable threads in the minute before, as the kernel averages them.
    pub(crate) load_before: Option<f64>,
}

/// What was measured with.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Sample {
    /// Where the pictures come from.
    pub(crate) from: String,
    /// Pictures found.
    pub(crate) found: usize,
    /// Pictures looked at.
    pub(crate) used: usize,
    /// Pictures that could not be done.
    pub(crate) failed: usize,
    /// Bytes of those used.
    pub(crate) bytes: u64,
    /// What the results look like, in the words of the command line.
    pub(crate) settings: String,
}

/// One experiment.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Experiment {
    /// Short name, for programs.
    pub(crate) key: &'static str,
    /// What is asked.
    pub(crate) title: &'static str,
    /// Rounds that counted.
    pub(crate) rounds: usize,
    /// What was found.
    pub(crate) tables: Vec<Table>,
    /// What a reader must know.
    pub(crate) notes: Vec<String>,
    /// What was not measured, and why.
    pub(crate) left_out: Vec<String>,
}

/// Rows with the same columns.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Table {
    /// What the rows have in common.
    pub(crate) title: String,
    /// What the first column holds.
    pub(crate) of: &'static str,
    /// The rows.
    pub(crate) rows: Vec<Row>,
    /// Whom the verdicts compare with.
    pub(crate) against: Option<String>,
    /// What others found, to stand beside it.
    pub(crate) published: Option<Published>,
}

/// One variant.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    /// Which.
    pub(crate) label: String,
    /// What was measured.
    pub(crate) figures: Vec<Figure>,
    /// What may be said of the first figure against that of another row.
    pub(crate) verdict: Option<String>,
}

impl Row {
    /// The figure of this name.
    pub(crate) fn figure(&self, name: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.name == name)
    }
}

/// One measured figure.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figure {
    /// What it is.
    pub(crate) name: &'static str,
    /// In what.
    pub(crate) unit: Unit,
    /// Over the rounds.
    #[serde(flatten)]
    pub(crate) value: Summary,
}

impl Figure {
    /// A figure from its value in each round; `None` where there is none.
    pub(crate) fn of(name: &'static str, unit: Unit, values: &[f64]) -> Option<Self> {
        Summary::of(values).map(|value| Self { name, unit, value })
    }
}

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    /// Seconds.
    Seconds,
    /// Something per second.
    PerSecond,
    /// So many times another figure.
    Times,
    /// A share of 1.
    Share,
    /// Bytes.
    Bytes,
    /// A number of things.
    Count,
}

/// Figures of somebody else, on another machine, with another program.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Published {
    /// Who measured what.
    pub(crate) source: &'static str,
    /// What and how much, in their words.
    pub(crate) rows: &'static [(&'static str, &'static str)],
}

/// What follows from it all.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Advice {
    /// In one sentence.
    pub(crate) sentence: String,
    /// Workers, where the figures say how many.
    pub(crate) workers: Option<u16>,
    /// Cap per worker in bytes that was tried and was enough.
    pub(crate) cap: Option<u64>,
    /// Most memory that one job needed, in bytes.
    pub(crate) needed: Option<u64>,
}
