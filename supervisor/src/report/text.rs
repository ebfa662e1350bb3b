//! Small pieces of text: names made safe to show, counts, shares, times. Pure.

use std::fmt::Write;
use std::path::Path;

/// A name fit for a terminal or a mail: what is not UTF-8 is replaced, control characters are spelled out.
pub(crate) fn name(path: &Path) -> String {
    clean(&path.to_string_lossy())
}

/// A name as one word of a command line, quoted where a shell would take it for several.
pub(crate) fn word(path: &Path) -> String {
    let shown = name(path);
    let plain = |letter: char| letter.is_alphanumeric() || "/._-+,:@%".contains(letter);
    if !shown.is_empty() && !shown.starts_with('-') && shown.chars().all(plain) {
        return shown;
    }
    format!("'{}'", shown.replace('\'', "'\\''"))
}

/// A text with its control characters spelled out, so that a hostile name cannot move the cursor or end the line.
pub(crate) fn clean(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() || is_direction(letter) {
            let _ = write!(shown, "{}", letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// Marks that turn the direction of writing and can make a name look like another.
fn is_direction(letter: char) -> bool {
    matches!(letter, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// "1 image", "2 images".
pub(crate) fn count(number: u64, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {what}{ending}", grouped(number))
}

/// "1,234,567".
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// How much smaller, e.g. "93.6 % smaller"; "larger" where it grew.
pub(crate) fn saving(before: u64, after: u64) -> String {
    if before == 0 {
        return "nothing to compare".to_owned();
    }
    if before == after {
        return "same size".to_owned();
    }
    let permille = permille(before.abs_diff(after), before);
    let direction = if after <= before { "smaller" } else { "larger" };
    format!("{}.{} % {direction}", permille / 10, permille % 10)
}

/// Thousandths, rounded down so that nothing sounds better than it is.
pub(crate) fn permille(part: u64, whole: u64) -> u64 {
    let permille = u128::from(part) * 1000 / u128::from(whole.max(1));
    u64::try_from(permille).unwrap_or(u64::MAX)
}

/// "0.31 s", "12.4 s", "3 min 07 s", "2 h 05 min".
pub(crate) fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match ms {
        0..1_000 => format!("{}.{:02} s", seconds, ms % 1000 / 10),
        1_000..60_000 => format!("{}.{} s", seconds, ms % 1000 / 100),
        60_000..3_600_000 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Images per second, with a digit behind the point below 100 and two below 1: slow work must not look like none.
pub(crate) fn rate(number: u64, ms: u64) -> String {
    let hundredths = number.saturating_mul(100_000) / ms.max(1);
    let tenths = hundredths / 10;
    if number == 0 {
        "0".to_owned()
    } else if hundredths == 0 {
        "under 0.01".to_owned()
    } else if hundredths < 100 {
        format!("0.{hundredths:02}")
    } else if tenths < 1000 {
        format!("{}.{}", tenths / 10, tenths % 10)
    } else {
        grouped(tenths / 10)
    }
}

/// A moment in UTC, e.g. "2026-11-30 12:31:30 UTC".
pub(crate) fn moment(ms: u64) -> String {
    let seconds = ms / 1000;
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds % 86_400 / 3600, seconds % 3600 / 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// Year, month and day of a day counted from 1970-01-01: whole years first, then whole months.
fn date(mut days: u64) -> (u64, u64, u64) {
    let mut year = 1970;
    while days >= days_in_year(year) {
        days -= days_in_year(year);
        year += 1;
    }
    let mut month = 1;
    while days >= days_in_month(year, month) {
        days -= days_in_month(year, month);
        month += 1;
    }
    (year, month, days + 1)
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_in_year(year: u64) -> u64 {
    if is_leap(year) { 366 } else { 365 }
}

fn days_in_month(year: u64, month: u64) -> u64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn hostile_names_are_spelled_out() {
        let bytes = b"a\nb\x1b[31m\xffc\xe2\x80\xaegpj.exe";
        let shown = name(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(shown, "a\\nb\\u{1b}[31m\u{fffd}c\\u{202e}gpj.exe");
        assert_eq!(name(Path::new("Müller 'äöü'.jpg")), "Müller 'äöü'.jpg");
    }

    #[test]
    fn a_name_is_one_word_for_a_shell() {
        for (path, shown) in [
            ("/srv/small", "/srv/small"),
            ("100% small", "'100% small'"),
            ("it's", "'it'\\''s'"),
            ("-rf", "'-rf'"),
        ] {
            assert_eq!(word(Path::new(path)), shown);
        }
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(1, "image"), "1 image");
        assert_eq!(count(1_234_567, "image"), "1,234,567 images");
        assert_eq!(saving(1000, 64), "93.6 % smaller");
        assert_eq!(saving(1000, 1100), "10.0 % larger");
        assert_eq!(saving(1000, 1000), "same size");
        assert_eq!(saving(0, 0), "nothing to compare");
        assert_eq!(rate(13, 1200), "10.8");
        assert_eq!(rate(20_000, 9_000), "2,222");
        assert_eq!(rate(13, 130_833), "0.09", "slow, but not standing still");
        assert_eq!(rate(1, 130_833), "under 0.01");
        assert_eq!(rate(0, 9_000), "0");
    }

    #[test]
    fn times_read_well() {
        for (ms, shown) in [
            (310, "0.31 s"),
            (12_450, "12.4 s"),
            (187_000, "3 min 07 s"),
            (7_500_000, "2 h 05 min"),
        ] {
            assert_eq!(duration(ms), shown);
        }
        assert_eq!(moment(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(moment(951_782_400_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(moment(1_796_041_890_000), "2026-11-30 12:31:30 UTC");
    }
}
