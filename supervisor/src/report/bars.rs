//! The live display on a terminal: a line per worker and a bar for all of it. Draws on standard error through indicatif,
//! a few times a second however often it is told something.

use super::lane::Outlet;
use super::screen::Screen;
use super::tally::Tally;
use super::text::{grouped, name, rate, saving};
use crate::units::show_size;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Redraws per second, at most.
const HERTZ: u8 = 8;

/// Time between two looks at what is new.
const BETWEEN: Duration = Duration::from_millis(120);

/// The display.
#[derive(Debug)]
pub(super) struct Bars {
    all: MultiProgress,
    total: ProgressBar,
    seats: BTreeMap<u16, ProgressBar>,
    /// What seats began or, with nothing, ended since it was last shown.
    news: BTreeMap<u16, Option<PathBuf>>,
    counted: bool,
    shown: Option<Instant>,
}

/// What the total line says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing<'a> {
    /// The sums so far.
    pub(super) tally: &'a Tally,
    /// Inputs known of.
    pub(super) inputs: u64,
    /// Whether those are all.
    pub(super) counted: bool,
    /// Time since the start in milliseconds.
    pub(super) elapsed_ms: u64,
    /// Time left in milliseconds, once that can be told.
    pub(super) left_ms: Option<u64>,
}

impl Bars {
    /// On standard error, which may go away.
    pub(super) fn new() -> Self {
        Self::on(Screen::new(Box::new(Outlet::stderr())))
    }

    fn on(screen: Screen) -> Self {
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(screen), HERTZ);
        let all = MultiProgress::with_draw_target(target);
        let total = all.add(ProgressBar::new(0).with_style(total_style(false)));
        total.set_message("nothing done yet");
        total.enable_steady_tick(Duration::from_secs(1));
        Self {
            all,
            total,
            seats: BTreeMap::new(),
            news: BTreeMap::new(),
            counted: false,
            shown: None,
        }
    }

    pub(super) fn started(&mut self, seat: u16, source: &Path) {
        self.news.insert(seat, Some(source.to_path_buf()));
    }

    pub(super) fn idle(&mut self, seat: u16) {
        self.news.insert(seat, None);
    }

    /// Shows how far it is, unless that was done just now: indicatif makes up each line before it finds that it is too early
    /// to draw it, which would cost small images more than their own work.
    pub(super) fn stand(&mut self, standing: &Standing<'_>) {
        if self.shown.is_some_and(|at| at.elapsed() < BETWEEN) {
            return;
        }
        self.shown = Some(Instant::now());
        self.show_seats();
        if standing.counted && !self.counted {
            self.counted = true;
            self.total.set_style(total_style(true));
        }
        self.total.set_length(standing.inputs);
        self.total.set_position(standing.tally.ended());
        self.total.set_prefix(pace(standing));
        if standing.tally.ended() > 0 {
            self.total.set_message(sums(standing.tally));
        }
    }

    fn show_seats(&mut self) {
        for (seat, news) in std::mem::take(&mut self.news) {
            let bar = self.seat(seat);
            match news {
                Some(source) => {
                    bar.reset_elapsed();
                    bar.set_message(name(&source));
                }
                None => bar.set_message("waiting"),
            }
        }
    }

    /// Lets `print` write to the terminal without tearing the display.
    pub(super) fn aside(&mut self, print: impl FnOnce()) {
        self.all.suspend(print);
    }

    /// Takes the display away.
    pub(super) fn clear(&mut self) {
        for bar in self.seats.values() {
            bar.finish_and_clear();
        }
        self.total.finish_and_clear();
    }

    /// The line of a seat; lines stand in order of seats.
    fn seat(&mut self, seat: u16) -> &ProgressBar {
        let below = self.seats.range(seat + 1..).next();
        let below = below.map_or_else(|| self.total.clone(), |(_, bar)| bar.clone());
        self.seats.entry(seat).or_insert_with(|| {
            let bar = ProgressBar::new_spinner().with_style(seat_style());
            bar.set_prefix(format!("{:>3}", seat + 1));
            let bar = self.all.insert_before(&below, bar);
            bar.enable_steady_tick(Duration::from_secs(1));
            bar
        })
    }
}

fn seat_style() -> ProgressStyle {
    style(SEAT)
}

/// Two lines: how far it is, and what came of it.
fn total_style(counted: bool) -> ProgressStyle {
    let style = style(if counted { COUNTED } else { COUNTING });
    style.progress_chars("=> ")
}

const COUNTED: &str = "[{bar:24}] {human_pos} of {human_len}{prefix}\n{wide_msg}";
const COUNTING: &str = "{human_pos} of {human_len} and more, still looking{prefix}\n{wide_msg}";
const SEAT: &str = "{prefix} {elapsed:>4} {wide_msg}";

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn pace(standing: &Standing<'_>) -> String {
    let per_second = rate(standing.tally.done(), standing.elapsed_ms);
    let left = standing
        .left_ms
        .map_or_else(String::new, |ms| format!(", {} left", coarse(ms)));
    format!(", {per_second} images/s{left}")
}

fn sums(tally: &Tally) -> String {
    let mut text = format!(
        "{} -> {}, {}",
        show_size(tally.bytes_in),
        show_size(tally.bytes_out),
        saving(tally.bytes_in, tally.bytes_out)
    );
    if tally.bytes_in == 0 {
        "nothing compressed yet".clone_into(&mut text);
    }
    let failed = tally.failed_in_all();
    if failed > 0 {
        let _ = write!(text, ", {} failed", grouped(failed));
    }
    text
}

/// An estimate, told no finer than it can be.
pub(super) fn coarse(ms: u64) -> String {
    let seconds = ms.div_ceil(1000);
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3600)),
    }
}

#[cfg(test)]
mod tests;
