//! How many pixels make a unit of length, on the way from one format's words to another's. Pure.

/// Centimetres in an inch, as a fraction: 254 / 100.
const INCH: (u64, u64) = (254, 100);

/// Pixels to a unit of length, across and down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Density {
    /// Across.
    pub(crate) across: u32,
    /// Down.
    pub(crate) down: u32,
    /// The unit.
    pub(crate) unit: Unit,
}

/// A unit of length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// 2.54 centimetres.
    Inch,
    /// A hundredth of a metre.
    Centimetre,
    /// A metre.
    Metre,
}

impl Density {
    /// What the payload of a JFIF segment says (JFIF 1.02: five letters, version, unit, two numbers); nothing where it only tells
    /// the shape of a pixel.
    pub(crate) fn of_jfif(payload: &[u8]) -> Option<Self> {
        let &[unit, x0, x1, y0, y1] = payload.get(7..12)? else {
            return None;
        };
        let unit = match unit {
            1 => Unit::Inch,
            2 => Unit::Centimetre,
            _ => return None,
        };
        let number = |high, low| u32::from(u16::from_be_bytes([high, low]));
        Self::new(number(x0, x1), number(y0, y1), unit)
    }

    /// What the payload of `pHYs` says (PNG third edition, 11.3.4.3); nothing where it only tells the shape of a pixel.
    pub(crate) fn of_phys(payload: &[u8]) -> Option<Self> {
        let &[x0, x1, x2, x3, y0, y1, y2, y3, 1] = payload else {
            return None;
        };
        let [across, down] = [[x0, x1, x2, x3], [y0, y1, y2, y3]].map(u32::from_be_bytes);
        Self::new(across, down, Unit::Metre)
    }

    /// Pixels to a unit across and down; nothing where either is zero.
    pub(crate) fn new(across: u32, down: u32, unit: Unit) -> Option<Self> {
        (across > 0 && down > 0).then_some(Self { across, down, unit })
    }

    /// The payload of `pHYs`; nothing where the numbers are too large for it.
    pub(crate) fn phys(self) -> Option<[u8; 9]> {
        let metre = |value| u32::try_from(self.in_unit(value, Unit::Metre)).ok();
        let [across, down] = [metre(self.across)?, metre(self.down)?].map(u32::to_be_bytes);
        let mut payload = [1; 9];
        payload[..4].copy_from_slice(&across);
        payload[4..8].copy_from_slice(&down);
        Some(payload)
    }

    /// Unit and numbers of a JFIF segment: those of an inch where they say what was said, those of a centimetre otherwise; nothing
    /// where the numbers are too large or too small for it.
    pub(crate) fn jfif(self) -> Option<[u8; 5]> {
        let inch = self.with(Unit::Inch);
        let back = inch.and_then(|inch| inch.with(Unit::Metre));
        let (chosen, unit) = match (inch, back == self.with(Unit::Metre)) {
            (Some(inch), true) => (inch, 1),
            (_, _) => (self.with(Unit::Centimetre)?, 2),
        };
        let short = |value: u32| u16::try_from(value).ok().filter(|&value| value > 0);
        let [x, y] = [short(chosen.across)?, short(chosen.down)?].map(u16::to_be_bytes);
        Some([unit, x[0], x[1], y[0], y[1]])
    }

    /// The same for a picture on its side.
    pub(crate) fn transposed(self) -> Self {
        Self {
            across: self.down,
            down: self.across,
            ..self
        }
    }

    /// The nearest whole numbers in another unit.
    fn with(self, unit: Unit) -> Option<Self> {
        let number = |value| u32::try_from(self.in_unit(value, unit)).ok();
        Self::new(number(self.across)?, number(self.down)?, unit)
    }

    fn in_unit(self, value: u32, unit: Unit) -> u64 {
        let value = u64::from(value);
        let (times, over) = match (self.unit, unit) {
            (Unit::Inch, Unit::Inch)
            | (Unit::Centimetre, Unit::Centimetre)
            | (Unit::Metre, Unit::Metre) => (1, 1),
            (Unit::Inch, Unit::Centimetre) => (INCH.1, INCH.0),
            (Unit::Inch, Unit::Metre) => (100 * INCH.1, INCH.0),
            (Unit::Centimetre, Unit::Inch) => INCH,
            (Unit::Centimetre, Unit::Metre) => (100, 1),
            (Unit::Metre, Unit::Inch) => (INCH.0, 100 * INCH.1),
            (Unit::Metre, Unit::Centimetre) => (1, 100),
        };
        (value * times + over / 2) / over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_densities_survive_the_way_there_and_back() {
        for dpi in [1, 72, 96, 150, 240, 300, 600, 1200, 2400, 65_535] {
            let jfif = Density::new(dpi, dpi + dpi / 3, Unit::Inch).filter(|d| d.down < 65_536);
            let Some(before) = jfif else { continue };
            let phys = before.phys().expect("fits");
            let back = Density::of_phys(&phys)
                .expect("a density")
                .jfif()
                .expect("fits");
            assert_eq!(
                Density::of_jfif(&[&[0; 7], &back[..]].concat()),
                Some(before),
                "{dpi}"
            );
        }
        // 300 to the inch, as everybody writes it.
        let phys = Density::new(300, 300, Unit::Inch).and_then(Density::phys);
        assert_eq!(phys, Some([0, 0, 0x2e, 0x23, 0, 0, 0x2e, 0x23, 1]));
    }

    #[test]
    fn what_no_inch_says_is_said_by_centimetres() {
        let metric = Density::new(10_000, 5_000, Unit::Metre).expect("a density");
        assert_eq!(metric.jfif(), Some([1, 0, 254, 0, 127]));
        let odd = Density::new(4_000, 4_100, Unit::Metre).expect("a density");
        assert_eq!(odd.jfif(), Some([2, 0, 40, 0, 41]));
    }

    #[test]
    fn shapes_of_pixels_and_numbers_out_of_range_are_no_density() {
        assert_eq!(Density::of_jfif(b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0"), None);
        assert_eq!(Density::of_jfif(b"JFIF\0\x01\x01\x01\0"), None);
        assert_eq!(Density::of_phys(&[0, 0, 0, 4, 0, 0, 0, 3, 0]), None);
        assert_eq!(Density::new(0, 72, Unit::Inch), None);
        let huge = Density::new(u32::MAX, u32::MAX, Unit::Inch).expect("a density");
        assert_eq!((huge.jfif(), huge.phys()), (None, None));
        let tiny = Density::new(10, 10, Unit::Metre).expect("a density");
        assert_eq!(tiny.jfif(), None);
    }
}
