//! Colours as points whose distances are what eyes see: Oklab and alpha, all multiplied by alpha.

use super::Rgba;
use std::sync::LazyLock;

/// Lightness, two colour axes and alpha, the first three multiplied by alpha.
///
/// The colour axes are stretched by [`CHROMA`] and alpha by [`ALPHA`], so that plain Euclidean distance weighs them.
pub(crate) type Point = [f32; 4];

/// A unit of Oklab's colour axes against a unit of lightness.
const CHROMA: f32 = 1.0;
/// A unit of alpha against a unit of lightness: black and nothing differ over every background but a black one.
const ALPHA: f32 = 0.7;

/// Linear light of the 256 sRGB codes (IEC 61966-2-1).
static LINEAR: LazyLock<[f32; 256]> = LazyLock::new(|| {
    std::array::from_fn(|code| {
        let value = code as f32 / 255.0;
        if value <= 0.040_45 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    })
});

/// Reads the table once, so that inner loops need no check whether it is there.
pub(super) fn table() -> &'static [f32; 256] {
    &LINEAR
}

/// The point of a colour.
#[inline]
pub(super) fn point(table: &[f32; 256], [r, g, b, a]: Rgba) -> Point {
    let [red, green, blue] = [r, g, b].map(|code| table[usize::from(code)]);
    let l = cube_root(0.412_221_46 * red + 0.536_332_55 * green + 0.051_445_995 * blue);
    let m = cube_root(0.211_903_5 * red + 0.680_699_5 * green + 0.107_396_96 * blue);
    let s = cube_root(0.088_302_46 * red + 0.281_718_85 * green + 0.629_978_7 * blue);
    let alpha = f32::from(a) / 255.0;
    let lightness = 0.210_454_26 * l + 0.793_617_8 * m - 0.004_072_047 * s;
    let green_red = 1.977_998_5 * l - 2.428_592_2 * m + 0.450_593_7 * s;
    let blue_yellow = 0.025_904_037 * l + 0.782_771_77 * m - 0.808_675_77 * s;
    [
        lightness * alpha,
        green_red * alpha * CHROMA,
        blue_yellow * alpha * CHROMA,
        alpha * ALPHA,
    ]
}

/// The colour nearest to a point.
pub(super) fn colour([lightness, green_red, blue_yellow, alpha]: Point) -> Rgba {
    let alpha = alpha / ALPHA;
    if alpha < 0.5 / 255.0 {
        return [0; 4];
    }
    let [lightness, a, b] =
        [lightness, green_red / CHROMA, blue_yellow / CHROMA].map(|axis| axis / alpha);
    let cube = |root: f32| root * root * root;
    let l = cube(lightness + 0.396_337_78 * a + 0.215_803_76 * b);
    let m = cube(lightness - 0.105_561_346 * a - 0.063_854_17 * b);
    let s = cube(lightness - 0.089_484_18 * a - 1.291_485_5 * b);
    let red = 4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s;
    let green = -1.268_438 * l + 2.609_757_4 * m - 0.341_319_38 * s;
    let blue = -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s;
    [
        code(red),
        code(green),
        code(blue),
        (alpha * 255.0 + 0.5).clamp(0.0, 255.0) as u8,
    ]
}

fn code(light: f32) -> u8 {
    let light = light.clamp(0.0, 1.0);
    let value = if light <= 0.003_130_8 {
        12.92 * light
    } else {
        1.055 * light.powf(1.0 / 2.4) - 0.055
    };
    (value * 255.0 + 0.5) as u8
}

/// Cube root of a number from 0 to about 1, by a guess at the exponent and two steps of Halley's method.
#[inline]
fn cube_root(x: f32) -> f32 {
    // Below this the steps would divide zero by zero.
    if x < 1e-12 {
        return 0.0;
    }
    let guess = f32::from_bits(x.to_bits() / 3 + 0x2a51_19f2);
    let step = |y: f32| {
        let cube = y * y * y;
        y * (cube + x + x) / (cube + cube + x)
    };
    step(step(guess))
}

/// Squared distance.
#[inline]
pub(super) fn distance(a: &Point, b: &Point) -> f32 {
    let [w, x, y, z] = [a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]];
    w * w + x * x + y * y + z * z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_come_back_from_their_points() {
        for n in 0..4096u32 {
            let rgba = [n * 7, n * 13, n * 29, 255].map(|channel| channel as u8);
            let back = colour(point(table(), rgba));
            for (a, b) in rgba.iter().zip(back) {
                assert!(a.abs_diff(b) <= 1, "{rgba:?} {back:?}");
            }
        }
        assert_eq!(colour(point(table(), [9, 9, 9, 0])), [0; 4]);
    }

    #[test]
    fn half_seen_colours_are_nearer_to_each_other() {
        let gap = |alpha| {
            let at = |red| point(table(), [red, 0, 0, alpha]);
            distance(&at(0), &at(200))
        };
        assert!(gap(64) < gap(255) / 4.0);
    }
}
