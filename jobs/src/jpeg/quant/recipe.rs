//! How hard to try: which rounding and which weights at which scale, and what a quality number means.

use super::quantiser::{Rounding, Tuning};
use super::tables::{SCALES, interpolate};
use crate::jpeg::encode::Role;

/// Bits a squared error of one step is worth, by the logarithm of the scale: near the source's own quality weighing
/// must save more, because the table can hardly get coarser.
const LAMBDA: [(f32, f32); 2] = [(-1.2, 14.0), (0.0, 8.5)];
/// Exponent of the busy-block factor, by the logarithm of the scale.
const ACTIVITY: [(f32, f32); 2] = [(-1.0, 0.0), (0.0, 0.3)];

/// Factors on what is usual, to suit one picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// On the worth of errors against bits.
    pub lambda: f32,
    /// On the exponent of the busy-block factor.
    pub activity: f32,
    /// On the scale of chroma tables.
    pub chroma: f32,
}

/// One of the weights, to be multiplied.
pub type Weight = fn(&mut Weights) -> &mut f32;

impl Weights {
    /// Those found best over many pictures.
    pub const USUAL: Self = Self {
        lambda: 1.0,
        activity: 1.0,
        chroma: 1.0,
    };
    /// What is tried for a picture and by which factor, up or down, the most effective first.
    pub const STEPS: [(Weight, f32); 3] = [
        (|weights| &mut weights.lambda, 1.4),
        (|weights| &mut weights.chroma, 1.3),
        (|weights| &mut weights.activity, 1.6),
    ];
    /// How many of them are tried at less than the highest effort.
    pub const EFFECTIVE: usize = 1;
    /// Those that keep most coefficients alive, of all that are tried.
    pub const WIDEST: Self = Self {
        lambda: 3.0,
        activity: 1.0,
        chroma: 0.5,
    };

    /// Whether what such weights may need was kept for [`Weights::WIDEST`].
    pub fn is_kept_alive(self) -> bool {
        self.lambda <= Self::WIDEST.lambda && self.chroma >= Self::WIDEST.chroma
    }

    /// Scale of the tables of `role` where luma's is `scale`.
    pub fn scale(self, role: Role, scale: f32) -> f32 {
        match role {
            Role::Detail => scale,
            Role::Chroma => scale * self.chroma,
        }
    }
}

/// How levels are chosen at each scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recipe {
    /// How levels are chosen.
    pub rounding: Rounding,
    /// What suits the picture.
    pub weights: Weights,
}

impl Recipe {
    /// Tuning for tables of `scale`.
    pub fn tuning(self, scale: f32) -> Tuning {
        let logarithm = scale.ln();
        Tuning {
            rounding: self.rounding,
            lambda: interpolate(&LAMBDA, logarithm) * self.weights.lambda,
            activity: interpolate(&ACTIVITY, logarithm) * self.weights.activity,
            scale,
        }
    }

    /// The same with rounded levels.
    pub fn plain(self) -> Self {
        Self {
            rounding: Rounding::Deadzone,
            ..self
        }
    }
}

/// Scales at which results score as high in SSIMULACRA2 as libjpeg's (4:2:0, optimised codes) at a quality: the geometric
/// means over crops of eleven photographs as the cameras wrote them and of thirteen halved and saved again at quality 98.
/// From 80 on those halved count most, because the cameras' own tables are hardly finer; below 20 the scale follows
/// libjpeg's own factor, and at 100 it is the finest there is.
const SCALE_OF_QUALITY: [(f32, f32); 18] = [
    (1.0, 60.0),
    (5.0, 19.0),
    (10.0, 9.8),
    (20.0, 4.6),
    (30.0, 2.81),
    (40.0, 2.0),
    (50.0, 1.46),
    (60.0, 1.14),
    (70.0, 0.795),
    (75.0, 0.57),
    (80.0, 0.44),
    (85.0, 0.335),
    (88.0, 0.285),
    (90.0, 0.235),
    (93.0, 0.182),
    (95.0, 0.145),
    (97.0, 0.1),
    (100.0, 0.05),
];

/// Scale of the tables that look about like libjpeg's at `quality`, 1 to 100.
pub fn scale_of_quality(quality: u8) -> f32 {
    let points = SCALE_OF_QUALITY.map(|(quality, scale)| (quality, scale.ln()));
    interpolate(&points, f32::from(quality))
        .exp()
        .clamp(SCALES.0, SCALES.1)
}

/// The quality whose scale is nearest to `scale`.
pub fn quality_of_scale(scale: f32) -> u8 {
    let distance = |quality: &u8| (scale_of_quality(*quality).ln() - scale.ln()).abs();
    let nearest = (1..=100).min_by(|a, b| distance(a).total_cmp(&distance(b)));
    nearest.unwrap_or(1)
}

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
