//! Sizes, shares and durations as people write them. Strict: what is not understood is an error with an example.
//!
//! Pure text in, numbers out. `300KB` is 300,000 bytes and `300KiB` is 307,200; nothing is ever guessed.

use std::time::Duration;

/// A value that could not be read; the text says what was expected and gives an example.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Not a size.
    #[error("not a size; write for example 300KB (300,000 bytes), 300KiB (307,200 bytes) or 1.5MB")]
    Size,
    /// A small number without a unit, which is far more often a slip than a wish.
    #[error("a size needs a unit; write {0}KB, or {0}B if bytes are meant")]
    Unitless(u64),
    /// Neither a size nor a share.
    #[error("neither a size nor a share; write for example 300KB or 40%")]
    Amount,
    /// Not a share.
    #[error("not a share; write a percentage from 0.1% to 100%, for example 40% or 2.5%")]
    Percent,
    /// Neither a count nor a share.
    #[error("neither a number nor a share; write for example 20 or 5%")]
    CountOrPercent,
    /// Not a duration.
    #[error("not a duration; write a number with a unit, for example 120s, 90m, 2h or 1h30m")]
    Duration,
    /// Not a number of pixels.
    #[error("not a number of pixels; write for example 100MP or 100000000")]
    Pixels,
    /// Larger than any machine can mean.
    #[error("too large; write a smaller number")]
    TooLarge,
}

/// Bytes, or a share of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Bytes.
    Bytes(u64),
    /// Thousandths, 1 to 1000.
    Permille(u32),
}

/// A number of files, or a share of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountOrShare {
    /// So many.
    Count(u64),
    /// Thousandths, 1 to 1000.
    Permille(u32),
}

/// Units of bytes, in lower case.
const SIZE_UNITS: [(&str, u64); 13] = [
    ("b", 1),
    ("k", 1_000),
    ("kb", 1_000),
    ("kib", 1 << 10),
    ("m", 1_000_000),
    ("mb", 1_000_000),
    ("mib", 1 << 20),
    ("g", 1_000_000_000),
    ("gb", 1_000_000_000),
    ("gib", 1 << 30),
    ("t", 1_000_000_000_000),
    ("tb", 1_000_000_000_000),
    ("tib", 1 << 40),
];

/// Units of time in milliseconds, longest first: a compound duration must name them in this order.
const TIME_UNITS: [(&str, u64); 5] = [
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1_000),
    ("ms", 1),
];

/// Below this a number without a unit is refused: `--max-size 300` never means 300 bytes.
const SMALLEST_UNITLESS: u64 = 1_000;

/// Reads a size in bytes: `300KB`, `300 KB`, `300KiB`, `1.5MB`, `300000`. `K`, `M`, `G`, `T` alone are decimal.
///
/// # Errors
/// Anything else, with an example; a number under 1,000 without a unit.
pub fn size(text: &str) -> Result<u64, UnitError> {
    let (number, unit) = split_number(text).ok_or(UnitError::Size)?;
    if unit.is_empty() {
        let bytes = whole(number).ok_or(UnitError::Size)?;
        let slip = (1..SMALLEST_UNITLESS).contains(&bytes);
        return if slip {
            Err(UnitError::Unitless(bytes))
        } else {
            Ok(bytes)
        };
    }
    // As sizes are shown: "300 KB".
    let unit = unit.strip_prefix(' ').unwrap_or(unit).to_ascii_lowercase();
    let (_, factor) = SIZE_UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .ok_or(UnitError::Size)?;
    scaled(number, *factor).ok_or(UnitError::TooLarge)
}

/// Reads a size in bytes or a share: `300KB` or `40%`.
///
/// # Errors
/// Anything else, with an example.
pub fn amount(text: &str) -> Result<Amount, UnitError> {
    if text.trim_end().ends_with('%') {
        return permille(text).map(Amount::Permille);
    }
    match size(text) {
        Ok(bytes) => Ok(Amount::Bytes(bytes)),
        Err(UnitError::Size) => Err(UnitError::Amount),
        Err(other) => Err(other),
    }
}

/// Reads a share in thousandths: `40%` is 400, `2.5%` is 25.
///
/// # Errors
/// Anything else, 0, more than 100 %, or finer than a tenth of a per cent.
pub fn permille(text: &str) -> Result<u32, UnitError> {
    let (number, unit) = split_number(text).ok_or(UnitError::Percent)?;
    let fraction = number.split_once('.').map_or("", |(_, digits)| digits);
    if unit != "%" || fraction.len() > 1 {
        return Err(UnitError::Percent);
    }
    match scaled(number, 10) {
        Some(value @ 1..=1000) => Ok(value as u32),
        Some(_) | None => Err(UnitError::Percent),
    }
}

/// Reads a size or a share that may also be nothing: as [`amount`], and `0` or `0%`.
///
/// # Errors
/// Anything else, with an example.
pub fn amount_or_zero(text: &str) -> Result<Amount, UnitError> {
    match text {
        "0%" => Ok(Amount::Bytes(0)),
        other => amount(other),
    }
}

/// Reads a number of files or a share of them: `20` or `5%`.
///
/// # Errors
/// Anything else, with an example.
pub fn count_or_share(text: &str) -> Result<CountOrShare, UnitError> {
    if text.trim_end().ends_with('%') {
        return permille(text).map(CountOrShare::Permille);
    }
    whole(text)
        .filter(|count| *count > 0)
        .map(CountOrShare::Count)
        .ok_or(UnitError::CountOrPercent)
}

/// Reads a duration: `120s`, `500ms`, `2h`, `1h30m`. Units go from long to short, each at most once.
///
/// # Errors
/// Anything else, a number without a unit and 0 included, with an example.
pub fn duration(text: &str) -> Result<Duration, UnitError> {
    let mut rest = text;
    let mut units = TIME_UNITS.iter();
    let mut total = 0u64;
    while !rest.is_empty() {
        let (number, tail) = split_number(rest).ok_or(UnitError::Duration)?;
        let letters = tail
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(tail.len());
        let (unit, after) = tail.split_at(letters);
        let (_, factor) = units
            .find(|(name, _)| *name == unit)
            .ok_or(UnitError::Duration)?;
        let part = scaled(number, *factor).ok_or(UnitError::TooLarge)?;
        total = total.checked_add(part).ok_or(UnitError::TooLarge)?;
        rest = after;
    }
    if total == 0 {
        return Err(UnitError::Duration);
    }
    Ok(Duration::from_millis(total))
}

/// Reads a number of pixels: `100MP`, `0.5GP` or a plain number.
///
/// # Errors
/// Anything else, 0 included, with an example.
pub fn pixels(text: &str) -> Result<u64, UnitError> {
    let (number, unit) = split_number(text).ok_or(UnitError::Pixels)?;
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" => 1,
        "mp" | "m" => 1_000_000,
        "gp" | "g" => 1_000_000_000,
        _ => return Err(UnitError::Pixels),
    };
    scaled(number, factor)
        .filter(|count| *count > 0)
        .ok_or(UnitError::Pixels)
}

/// Bytes of a file for a person: `300 KB`, `4.4 MB`; decimal, as file managers count.
pub fn show_size(bytes: u64) -> String {
    show(bytes, 1000, ["B", "KB", "MB", "GB", "TB"])
}

/// Bytes of memory for a person: `512 MiB`, `1.3 GiB`; binary, as memory is counted.
pub fn show_memory(bytes: u64) -> String {
    show(bytes, 1024, ["B", "KiB", "MiB", "GiB", "TiB"])
}

fn show(bytes: u64, base: u64, units: [&str; 5]) -> String {
    let tenths_of =
        |factor: u64| (u128::from(bytes) * 10 + u128::from(factor) / 2) / u128::from(factor);
    let mut unit = 0;
    let mut factor = 1u64;
    // What would be rounded up to a whole of the next unit is shown in that one.
    while unit + 1 < units.len() && tenths_of(factor) + 5 >= u128::from(base) * 10 {
        factor *= base;
        unit += 1;
    }
    let tenths = tenths_of(factor);
    let name = units[unit];
    match tenths % 10 {
        0 => format!("{} {name}", tenths / 10),
        _ if tenths >= 1000 => format!("{} {name}", (tenths + 5) / 10),
        tenth => format!("{}.{tenth} {name}", tenths / 10),
    }
}

/// The leading decimal number and what follows it; a number is digits, perhaps a point and more digits.
fn split_number(text: &str) -> Option<(&str, &str)> {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let well_formed = match number.split_once('.') {
        None => !number.is_empty(),
        Some((whole, part)) => !whole.is_empty() && !part.is_empty() && !part.contains('.'),
    };
    well_formed.then_some((number, unit))
}

/// A number of digits only.
fn whole(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// `number` times `factor`, rounded down, without going through floating point.
fn scaled(number: &str, factor: u64) -> Option<u64> {
    let (int, fraction) = number.split_once('.').unwrap_or((number, ""));
    let int = whole(int)?.checked_mul(factor)?;
    if fraction.is_empty() {
        return Some(int);
    }
    let scale = 10u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let part = u128::from(whole(fraction)?).checked_mul(u128::from(factor))? / scale;
    int.checked_add(u64::try_from(part).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_what_they_say() {
        for (text, bytes) in [
            ("300KB", 300_000),
            ("300KiB", 307_200),
            ("300kb", 300_000),
            ("64M", 64_000_000),
            ("512MiB", 536_870_912),
            ("1.5MB", 1_500_000),
            ("0.5KiB", 512),
            ("300000", 300_000),
            ("300B", 300),
            ("2GB", 2_000_000_000),
            ("300 KB", 300_000),
            ("1.5 MiB", 1_572_864),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in [
            "", "KB", "300XB", "-1KB", "1,5MB", "3 00KB", "1e6", ".5MB", "5.MB", "1.2.3MB",
            "300  KB", "300 ", "0x10", "½MB", "300KBs", "٣KB",
        ] {
            assert_eq!(size(text), Err(UnitError::Size), "{text}");
        }
        assert_eq!(size("300"), Err(UnitError::Unitless(300)));
        assert_eq!(size("99999999999TB"), Err(UnitError::TooLarge));
    }

    #[test]
    fn shares_have_a_tenth_of_a_per_cent() {
        assert_eq!(amount("40%"), Ok(Amount::Permille(400)));
        assert_eq!(amount("2.5%"), Ok(Amount::Permille(25)));
        assert_eq!(amount("300KB"), Ok(Amount::Bytes(300_000)));
        assert_eq!(amount("big"), Err(UnitError::Amount));
        for text in ["0%", "100.1%", "%", "2.55%", "-4%", "40 %", "40"] {
            assert_eq!(permille(text), Err(UnitError::Percent), "{text}");
        }
        for nothing in ["0", "0%"] {
            assert_eq!(amount_or_zero(nothing), Ok(Amount::Bytes(0)));
        }
        assert_eq!(amount_or_zero("5%"), Ok(Amount::Permille(50)));
        assert_eq!(amount_or_zero("20KB"), Ok(Amount::Bytes(20_000)));
        assert_eq!(amount_or_zero("20"), Err(UnitError::Unitless(20)));
        assert_eq!(count_or_share("20"), Ok(CountOrShare::Count(20)));
        assert_eq!(count_or_share("5%"), Ok(CountOrShare::Permille(50)));
        assert_eq!(count_or_share("0"), Err(UnitError::CountOrPercent));
    }

    #[test]
    fn durations_need_units_from_long_to_short() {
        for (text, ms) in [
            ("120s", 120_000),
            ("2h", 7_200_000),
            ("1h30m", 5_400_000),
            ("1.5h", 5_400_000),
            ("500ms", 500),
            ("1d2h3m4s5ms", 93_784_005),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in [
            "", "120", "s", "0s", "30m1h", "1h1h", "2 h", "1w", "-1s", "1h30",
        ] {
            assert_eq!(duration(text), Err(UnitError::Duration), "{text}");
        }
    }

    #[test]
    fn pixels_count_in_millions() {
        assert_eq!(pixels("100MP"), Ok(100_000_000));
        assert_eq!(pixels("0.5GP"), Ok(500_000_000));
        assert_eq!(pixels("12345"), Ok(12_345));
        assert_eq!(pixels("0"), Err(UnitError::Pixels));
        assert_eq!(pixels("100x100"), Err(UnitError::Pixels));
    }

    #[test]
    fn people_read_three_digits() {
        assert_eq!(show_size(300_000), "300 KB");
        assert_eq!(show_size(4_437_000), "4.4 MB");
        assert_eq!(show_size(312_345_000), "312 MB");
        assert_eq!(show_size(17), "17 B");
        assert_eq!(show_memory(512 << 20), "512 MiB");
        assert_eq!(show_memory(1_395_864_371), "1.3 GiB");
        assert_eq!(show_size(999), "999 B");
        assert_eq!(show_size(999_400), "999 KB");
        assert_eq!(show_size(999_600), "1 MB");
        assert_eq!(show_memory((1 << 20) - 1), "1 MiB");
        assert_eq!(show_size(u64::MAX), "18446744 TB");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,12}") {
            let _ = (size(&text), amount(&text), duration(&text), pixels(&text), count_or_share(&text));
        }

        #[test]
        fn whole_sizes_scale_exactly(number in 0u64..1_000_000, unit in 0usize..SIZE_UNITS.len()) {
            let (name, factor) = SIZE_UNITS[unit];
            prop_assert_eq!(size(&format!("{number}{name}")), Ok(number * factor));
            prop_assert_eq!(size(&format!("{number}{}", name.to_ascii_uppercase())), Ok(number * factor));
        }

        #[test]
        fn a_duration_survives_being_written_out(ms in 1u64..1_000_000_000_000) {
            let text = format!("{}h{}m{}s{}ms", ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, ms % 1000);
            prop_assert_eq!(duration(&text), Ok(Duration::from_millis(ms)));
        }

        #[test]
        fn tenths_of_a_per_cent_survive(value in 1u32..=1000) {
            prop_assert_eq!(permille(&format!("{}.{}%", value / 10, value % 10)), Ok(value));
        }
    }
}
