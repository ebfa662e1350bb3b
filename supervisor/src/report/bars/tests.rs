//! Tests of `bars`.

use super::super::samples;
use super::super::screen::USUAL_WIDTH;
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
            bars.started(seat, Path::new("a.jpg"));
            bars.aside(|| said += 1);
            bars.stand(&standing(&Tally::default(), seat == 3));
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
    bars.stand(&standing(&Tally::default(), false));
    bars.aside(|| {});
    bars.clear();
    let text = String::from_utf8(seen.0.lock().unwrap().clone()).unwrap();
    assert!(text.contains("a.jpg"), "{text:?}");
    assert!(text.contains("\u{1b}[2K"), "{text:?}");
}

#[test]
fn the_templates_are_valid() {
    for template in [COUNTED, COUNTING, SEAT] {
        assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
    }
}

fn standing(tally: &Tally, counted: bool) -> Standing<'_> {
    Standing {
        tally,
        inputs: 340,
        counted,
        elapsed_ms: 10_000,
        left_ms: Some(754_000),
    }
}

/// Rows that stand on the terminal before.
const ABOVE: usize = 5;

/// A terminal of the usual width and unlimited height.
#[derive(Default)]
struct Paper {
    rows: Vec<Vec<char>>,
    row: usize,
    column: usize,
}

impl Paper {
    /// What stands on it after these bytes.
    fn after(bytes: &[u8]) -> Vec<String> {
        let mut paper = Self {
            rows: vec!["typed before".chars().collect(); ABOVE],
            row: ABOVE,
            column: 0,
        };
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\r' => paper.column = 0,
                '\n' => (paper.row, paper.column) = (paper.row + 1, 0),
                '\u{1b}' => paper.escape(&mut letters),
                other => paper.put(other),
            }
        }
        let rows = paper.rows.iter().map(|row| row.iter().collect::<String>());
        rows.map(|row| row.trim_end().to_owned()).collect()
    }

    fn put(&mut self, letter: char) {
        // Past the last column a terminal goes on in the next row, but only when there is something more to put.
        if self.column == usize::from(USUAL_WIDTH) {
            (self.row, self.column) = (self.row + 1, 0);
        }
        let needed = self.rows.len().max(self.row + 1);
        self.rows.resize(needed, Vec::new());
        let line = &mut self.rows[self.row];
        line.resize(line.len().max(self.column + 1), ' ');
        line[self.column] = letter;
        self.column += 1;
    }

    fn escape(&mut self, letters: &mut std::str::Chars<'_>) {
        assert_eq!(letters.next(), Some('['));
        let mut number = String::new();
        let what = loop {
            match letters.next().unwrap() {
                digit @ '0'..='9' => number.push(digit),
                what => break what,
            }
        };
        let number: usize = number.parse().unwrap();
        match what {
            'A' => self.row -= number,
            'B' => self.row += number,
            'C' => self.column += number,
            'D' => self.column -= number,
            'K' => {
                assert_eq!(number, 2);
                if let Some(line) = self.rows.get_mut(self.row) {
                    line.clear();
                }
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn messages_and_lines_do_not_tear_each_other() {
    let seen = Seen::default();
    let mut bars = Bars::on(Screen::new(Box::new(seen.clone())));
    let mut tally = Tally::default();
    for number in 0..200u16 {
        bars.started(number % 3, Path::new("some folder/picture.jpg"));
        tally.add(&samples::saved());
        bars.stand(&standing(&tally, number > 50));
        if number % 10 == 0 {
            std::thread::sleep(Duration::from_millis(5));
            let mut out = seen.clone();
            bars.aside(|| {
                io::Write::write_all(&mut out, format!("message {number}\n").as_bytes()).unwrap()
            });
        }
    }
    std::thread::sleep(BETWEEN * 3);
    bars.stand(&standing(&tally, true));
    std::thread::sleep(BETWEEN);
    bars.aside(|| {});
    let during = Paper::after(&seen.0.lock().unwrap());
    bars.clear();
    let after = Paper::after(&seen.0.lock().unwrap());
    let before = vec!["typed before".to_owned(); ABOVE];
    let messages = (0..20).map(|number| format!("message {}", number * 10));
    let messages: Vec<String> = before.into_iter().chain(messages).collect();
    assert_eq!(
        during[..messages.len()],
        messages[..],
        "each whole, in order, on a line of its own"
    );
    let display = during[messages.len()..].join("\n");
    for words in [
        "picture.jpg",
        " of 340",
        "13 min left",
        "MB, 93.3 % smaller",
    ] {
        assert!(display.contains(words), "{display}");
    }
    assert_eq!(
        after.join("\n").trim_end(),
        messages.join("\n"),
        "nothing of the display stays"
    );
}

#[test]
fn estimates_are_told_no_finer_than_they_are() {
    for (ms, told) in [
        (0, "0 s"),
        (1, "1 s"),
        (119_000, "119 s"),
        (120_000, "2 min"),
        (754_000, "13 min"),
        (7_200_000, "2 h"),
    ] {
        assert_eq!(coarse(ms), told);
    }
}
