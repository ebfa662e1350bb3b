//! The live display on a terminal: a line per worker and a bar for all of it. Draws on standard error through indicatif,
//! a few times a second however often it is told something.

use super::lane::Outlet;
use super::screen::Screen;
use super::tally::Tally;
use super::text::{grouped, name};
use crate::units::show_size;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

/// Redraws per second.
const HERTZ: u8 = 8;

/// The display.
#[derive(Debug)]
pub(super) struct Bars {
    all: MultiProgress,
    total: ProgressBar,
    seats: BTreeMap<u16, ProgressBar>,
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
        }
    }

    pub(super) fn found(&mut self, count: u64, walk_done: bool) {
        self.total.set_length(count);
        if walk_done {
            self.total.set_style(total_style(true));
        }
    }

    pub(super) fn started(&mut self, seat: u16, source: &Path) {
        let bar = self.seat(seat);
        bar.reset_elapsed();
        bar.set_message(name(source));
    }

    pub(super) fn idle(&mut self, seat: u16) {
        self.seat(seat).set_message("waiting");
    }

    pub(super) fn ended(&mut self, tally: &Tally) {
        self.total.set_position(tally.ended());
        let failed = tally.failed_in_all();
        let failures = if failed > 0 {
            format!(", {} failed", grouped(failed))
        } else {
            String::new()
        };
        self.total.set_message(format!(
            "{} -> {}{failures}",
            show_size(tally.bytes_in),
            show_size(tally.bytes_out)
        ));
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
    style("{prefix} {elapsed:>4} {wide_msg}")
}

fn total_style(walk_done: bool) -> ProgressStyle {
    if walk_done {
        style("[{bar:24}] {human_pos} of {human_len}, {msg}, {rate}, {eta} left")
            .progress_chars("=> ")
    } else {
        style("{human_pos} of {human_len}+ (still looking), {msg}, {rate}")
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("rate", show_rate)
}

fn show_rate(state: &ProgressState, text: &mut dyn Write) {
    // A display that cannot be written to has nobody to tell.
    let _ = write!(text, "{:.1} images/s", state.per_sec());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    use std::sync::{Arc, Mutex};

    /// A terminal that goes away after so many frames.
    struct Closed(Arc<AtomicU32>);

    impl io::Write for Closed {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let left = self.0.load(Relaxed);
            if left == 0 {
                return Err(io::Error::from_raw_os_error(5));
            }
            self.0.store(left - 1, Relaxed);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_terminal_that_goes_away_takes_nothing_with_it() {
        for frames in [0, 1, 5] {
            let mut bars = Bars::on(Screen::new(Box::new(Closed(Arc::new(frames.into())))));
            let mut said = 0;
            for seat in 0..4 {
                bars.found(u64::from(seat), seat == 3);
                bars.started(seat, Path::new("a.jpg"));
                bars.aside(|| said += 1);
                bars.ended(&Tally::default());
                bars.idle(seat);
            }
            bars.clear();
            bars.aside(|| said += 1);
            drop(bars);
            assert_eq!(said, 5, "what is printed aside is tried all the same");
        }
    }

    /// A terminal that remembers.
    #[derive(Clone, Default)]
    struct Seen(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Seen {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_are_drawn_and_taken_away_again() {
        let seen = Seen::default();
        let mut bars = Bars::on(Screen::new(Box::new(seen.clone())));
        bars.started(0, Path::new("a.jpg"));
        bars.aside(|| {});
        bars.clear();
        let text = String::from_utf8(seen.0.lock().unwrap().clone()).unwrap();
        assert!(text.contains("a.jpg"), "{text:?}");
        assert!(text.contains("\u{1b}[2K"), "{text:?}");
    }

    #[test]
    fn the_templates_are_valid() {
        for template in [
            "{prefix} {elapsed:>4} {wide_msg}",
            "[{bar:24}] {human_pos} of {human_len}, {msg}, {rate}, {eta} left",
            "{human_pos} of {human_len}+ (still looking), {msg}, {rate}",
        ] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}
