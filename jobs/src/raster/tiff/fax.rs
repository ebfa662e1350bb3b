//! CCITT (fax) compression of a TIFF: one bit a pixel, white is 0 (ITU-T T.4 and T.6; TIFF 6.0 sections 10 and 11).
//!
//! Codes are read by the `fax` crate's tables; what they make of a line is checked here: a run or an edge that leaves the line,
//! data that ends before its lines do or goes on behind them and bits that are no code are errors. It knows nothing of strips, tiles or colours.

use super::unpack::cut_off;
use super::{damaged, unsupported};
use crate::{Budget, Error};
use ::fax::maps::{Mode, black, mode, white};
use ::fax::{BitReader, Color};
use std::convert::Infallible;

/// Zeros that no code begins with: the end of a line follows.
const END_OF_LINE: u8 = 11;
/// Bits of the longest code.
const LONGEST: usize = 13;
/// Bits behind the last line that are taken for filling up.
const FILL: usize = 16;

/// How lines are coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fax {
    /// Runs, each line from a byte of its own (compression 2).
    Rows,
    /// Runs, or with `two_dimensional` either runs or differences to the line above, each behind an end of line (3).
    Group3 { two_dimensional: bool },
    /// Differences to the line above (4).
    Group4,
}

/// Unpacks lines of `width` pixels until `out` is full.
///
/// # Errors
/// [`Error::Corrupt`]; [`Error::Unsupported`] for uncompressed pixels in between; [`Error::OverBudget`].
pub(super) fn unpack(
    fax: Fax,
    packed: &[u8],
    width: u32,
    out: &mut [u8],
    budget: &Budget,
) -> Result<(), Error> {
    let mut bits = Bits {
        bytes: packed,
        at: 0,
    };
    let mut lines = Lines {
        width,
        above: budget.vec(width as usize)?,
        line: budget.vec(width as usize)?,
        passed: 0,
    };
    for row in out.chunks_exact_mut((width as usize).div_ceil(8)) {
        lines.begin();
        if bits.runs_follow(fax)? {
            lines.runs(&mut bits)?;
        } else {
            lines.differences(&mut bits)?;
        }
        if bits.at > 8 * packed.len() {
            return Err(cut_off());
        }
        lines.draw(row);
    }
    if !bits.end_follows(fax) {
        return Err(damaged("fax data that goes on behind its last line"));
    }
    budget.free(lines.above);
    budget.free(lines.line);
    Ok(())
}

/// A line and the one above it, as the places where their colour changes, from white; all below the width, ascending.
struct Lines {
    width: u32,
    above: Vec<u32>,
    line: Vec<u32>,
    /// Changes above that the line has passed.
    passed: usize,
}

impl Lines {
    /// The line becomes the one above the next.
    fn begin(&mut self) {
        std::mem::swap(&mut self.above, &mut self.line);
        self.line.clear();
        self.passed = 0;
    }

    fn runs(&mut self, bits: &mut Bits<'_>) -> Result<(), Error> {
        let (mut at, mut colour) = (0, Color::White);
        while at < self.width {
            at = self.run(at, colour, bits)?;
            colour = !colour;
        }
        Ok(())
    }

    /// T.6 section 2.2: `at` is its a0, before the first pixel of a line as long as `start`.
    fn differences(&mut self, bits: &mut Bits<'_>) -> Result<(), Error> {
        let (mut at, mut colour, mut start) = (0, Color::White, true);
        while at < self.width {
            match mode::decode(bits).ok_or_else(|| bits.wrong())? {
                Mode::Pass => at = self.changes_above(at, start, colour)[1],
                Mode::Horizontal => {
                    at = self.run(at, colour, bits)?;
                    at = self.run(at, !colour, bits)?;
                }
                Mode::Vertical(by) => {
                    let below = self.changes_above(at, start, colour)[0];
                    let to = below.checked_add_signed(by.into());
                    let to = to.filter(|to| (at..=self.width).contains(to));
                    at = to.ok_or_else(|| bits.wrong())?;
                    self.change(at);
                    colour = !colour;
                }
                Mode::Extension => {
                    return Err(unsupported("a TIFF with uncompressed pixels in fax data"));
                }
                Mode::EOF => return Err(cut_off()),
            }
            start = false;
        }
        Ok(())
    }

    /// A run of a colour from `at`; returns its end.
    fn run(&mut self, at: u32, colour: Color, bits: &mut Bits<'_>) -> Result<u32, Error> {
        let mut end = at;
        loop {
            let piece = match colour {
                Color::White => white::decode(bits),
                Color::Black => black::decode(bits),
            };
            let piece = u32::from(piece.ok_or_else(|| bits.wrong())?);
            end = end.saturating_add(piece);
            if end > self.width {
                return Err(bits.wrong());
            }
            // Longer pieces are followed by more of the same run.
            if piece < 64 {
                self.change(end);
                return Ok(end);
            }
        }
    }

    /// The colour changes at a place; twice at one place is not at all, and the end of the line is no change.
    fn change(&mut self, at: u32) {
        if self.line.last() == Some(&at) {
            self.line.pop();
        } else if at < self.width {
            self.line.push(at);
        }
    }

    /// The next change above that is to the other colour, and the one behind it.
    fn changes_above(&mut self, at: u32, start: bool, colour: Color) -> [u32; 2] {
        let passes = |change: &u32| !start && *change <= at;
        while self.above.get(self.passed).is_some_and(passes) {
            self.passed += 1;
        }
        // Changes to black have even places.
        let to_black = self.passed.is_multiple_of(2);
        let first = self.passed + usize::from(to_black != (colour == Color::White));
        [first, first + 1].map(|n| self.above.get(n).copied().unwrap_or(self.width))
    }

    /// Sets the bits of black pixels and no others.
    fn draw(&self, row: &mut [u8]) {
        row.fill(0);
        for black in self.line.chunks(2) {
            let end = black.get(1).copied().unwrap_or(self.width);
            blacken(row, black[0] as usize, end as usize);
        }
    }
}

fn blacken(row: &mut [u8], from: usize, to: usize) {
    let (first, last) = (from / 8, to / 8);
    // From the pixel on; `to` and on are the rest.
    let (begin, rest) = (0xff_u8 >> (from % 8), 0xff_u8 >> (to % 8));
    if first == last {
        row[first] |= begin & !rest;
        return;
    }
    row[first] |= begin;
    row[first + 1..last].fill(0xff);
    if rest != 0xff {
        row[last] |= !rest;
    }
}

/// Bits of the packed data, highest first; zeros behind the end, so that codes before it can be looked up.
struct Bits<'a> {
    bytes: &'a [u8],
    /// Bits consumed.
    at: usize,
}

impl BitReader for Bits<'_> {
    type Error = Infallible;

    fn peek(&self, bits: u8) -> Option<u16> {
        let byte = |n: usize| self.bytes.get(self.at / 8 + n).copied().unwrap_or(0);
        let word = u32::from_be_bytes([byte(0), byte(1), byte(2), 0]) << (self.at % 8);
        let unwanted = 32_u32.checked_sub(bits.into())?;
        Some((word.checked_shr(unwanted).unwrap_or(0)) as u16)
    }

    fn consume(&mut self, bits: u8) -> Result<(), Infallible> {
        self.at += usize::from(bits);
        Ok(())
    }

    fn bits_to_byte_boundary(&self) -> u8 {
        (self.at.next_multiple_of(8) - self.at) as u8
    }
}

impl Bits<'_> {
    /// Goes to the beginning of a line: whether it is of runs.
    fn runs_follow(&mut self, fax: Fax) -> Result<bool, Error> {
        match fax {
            Fax::Rows => {
                self.at = self.at.next_multiple_of(8);
                Ok(true)
            }
            // Some writers leave out the first end of a line, or all.
            Fax::Group3 {
                two_dimensional: false,
            } => self.end_of_line().map(|_| true),
            Fax::Group3 {
                two_dimensional: true,
            } => {
                if !self.end_of_line()? {
                    return Err(self.wrong());
                }
                let runs = self.peek(1) == Some(1);
                self.at += 1;
                Ok(runs)
            }
            Fax::Group4 => Ok(false),
        }
    }

    /// Passes an end of line and the zeros that fill up bytes before it.
    fn end_of_line(&mut self) -> Result<bool, Error> {
        if self.peek(END_OF_LINE) != Some(0) {
            return Ok(false);
        }
        while self.peek(1) == Some(0) {
            if self.at >= 8 * self.bytes.len() {
                return Err(cut_off());
            }
            self.at += 1;
        }
        self.at += 1;
        Ok(true)
    }

    /// Whether nothing but ends of lines, of the block or of the data follows. Group 4 has hardly another check: a line of few
    /// codes is made of almost any bits.
    fn end_follows(&mut self, fax: Fax) -> bool {
        if fax == Fax::Rows {
            self.at = self.at.next_multiple_of(8);
        }
        self.peek(END_OF_LINE) == Some(0) || self.at + FILL > 8 * self.bytes.len()
    }

    /// The error where no code is.
    fn wrong(&self) -> Error {
        if self.at + LONGEST > 8 * self.bytes.len() {
            return cut_off();
        }
        damaged("fax data that makes no sense")
    }
}
