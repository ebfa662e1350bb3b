//! How hard to try: which rounding and which weights at which scale, and what a quality number means.

use super::quantiser::{Rounding, Tuning};
use super::tables::{SCALES, interpolate};

/// Bits a squared error of one step is worth, by the logarithm of the scale: near the source's own quality the trellis
/// must save more, because the table can hardly get coarser.
const LAMBDA: [(f32, f32); 2] = [(-1.2, 14.0), (0.0, 8.5)];
/// Exponent of the busy-block factor, by the logarithm of the scale.
const ACTIVITY: [(f32, f32); 2] = [(-1.0, 0.0), (0.0, 0.3)];

/// How levels are chosen at each scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recipe {
    /// How levels are chosen.
    pub rounding: Rounding,
}

impl Recipe {
    /// Tuning for tables of `scale`.
    pub fn tuning(self, scale: f32) -> Tuning {
        let logarithm = scale.ln();
        Tuning {
            rounding: self.rounding,
            lambda: interpolate(&LAMBDA, logarithm),
            activity: interpolate(&ACTIVITY, logarithm),
            scale,
        }
    }

    /// The same without a trellis.
    pub fn plain(self) -> Self {
        Self {
            rounding: Rounding::Deadzone,
        }
    }
}

/// Scale of the tables that look about like libjpeg's at `quality`, 1 to 100.
pub fn scale_of_quality(quality: u8) -> f32 {
    let quality = f32::from(quality.clamp(1, 100));
    let percent = if quality < 50.0 {
        5000.0 / quality
    } else {
        200.0 - 2.0 * quality
    };
    (percent / 100.0 * LIBJPEG).clamp(SCALES.0, SCALES.1)
}

/// The quality whose scale is nearest to `scale`.
pub fn quality_of_scale(scale: f32) -> u8 {
    let distance = |quality: &u8| (scale_of_quality(*quality).ln() - scale.ln()).abs();
    let nearest = (1..=100).min_by(|a, b| distance(a).total_cmp(&distance(b)));
    nearest.unwrap_or(1)
}

/// Our scale over libjpeg's at equal looks.
const LIBJPEG: f32 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quality_comes_back() {
        for quality in 1..=99 {
            assert_eq!(quality_of_scale(scale_of_quality(quality)), quality);
        }
        assert!(scale_of_quality(100) <= scale_of_quality(99));
    }
}
