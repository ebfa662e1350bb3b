//! The terminal as indicatif draws on it: one that may go away at any moment.
//!
//! Indicatif takes a terminal's errors for impossible and panics, also while it is dropped, and a closed window or a lost
//! connection is such an error. So none gets through: after the first one nothing is drawn any more.

use indicatif::TermLike;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

/// Columns where the terminal does not say.
pub(super) const USUAL_WIDTH: u16 = 80;

/// A terminal that is drawn on until it fails.
pub(super) struct Screen(Mutex<State>);

struct State {
    /// Where it goes; `None` once that has failed.
    out: Option<Box<dyn Write + Send>>,
    /// What is drawn in one step.
    frame: String,
}

impl Screen {
    /// A screen on `out`.
    pub(super) fn new(out: Box<dyn Write + Send>) -> Self {
        Self(Mutex::new(State {
            out: Some(out),
            frame: String::new(),
        }))
    }

    fn draw(&self, act: impl FnOnce(&mut State)) {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn push(&self, text: &str) {
        self.draw(|state| state.frame.push_str(text));
    }

    fn escape(&self, count: usize, letter: char) {
        if count > 0 {
            self.push(&format!("\u{1b}[{count}{letter}"));
        }
    }
}

impl State {
    fn show(&mut self) {
        let frame = std::mem::take(&mut self.frame);
        if let Some(out) = &mut self.out {
            let shown = out.write_all(frame.as_bytes()).and_then(|()| out.flush());
            if shown.is_err() {
                self.out = None;
            }
        }
    }
}

impl TermLike for Screen {
    fn width(&self) -> u16 {
        let size = rustix::termios::tcgetwinsize(io::stderr());
        size.ok()
            .map(|size| size.ws_col)
            .filter(|columns| *columns > 0)
            .unwrap_or(USUAL_WIDTH)
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.escape(n, 'A');
        Ok(())
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.escape(n, 'B');
        Ok(())
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.escape(n, 'C');
        Ok(())
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.escape(n, 'D');
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.push(text);
        self.push("\n");
        Ok(())
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.push(text);
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        self.push("\r\u{1b}[2K");
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        self.draw(State::show);
        Ok(())
    }
}

impl fmt::Debug for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Screen").finish_non_exhaustive()
    }
}
