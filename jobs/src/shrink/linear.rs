//! Samples as light and back, by sRGB's curve (IEC 61966-2-1, 5.2): an average of light is what an eye sees from afar, an
//! average of coded samples is darker wherever bright and dark lie close together.
//!
//! Eight bits become sixteen, sixteen become floating point, since light takes more steps than its code in the dark. The curve
//! of a profile is not looked at: those in use for photographs lie close to sRGB's. Alpha is no light and keeps its scale.

use super::resample::Samples;
use crate::{Budget, Error};
use fast_image_resize::PixelType;

/// Values of a sample of sixteen bits.
const VALUES: usize = 1 << 16;

/// Samples of light, on a scale that holds them exactly enough to come back as they were; `alpha` says that the last of two
/// or four channels is one. Gives back the memory of what was there.
///
/// # Errors
/// [`Error::OverBudget`]; kinds without a curve are [`Error::Unsupported`].
pub(super) fn light(from: Samples, alpha: bool, budget: &Budget) -> Result<Samples, Error> {
    let Kinds { channels, deep, .. } = Kinds::of(from.kind)?;
    let colours = colours(channels, alpha);
    let count = from.bytes.len() * 2;
    let mut bytes = budget.vec(count)?;
    if deep {
        let curve: Vec<f32> = (0..VALUES).map(|n| to_light(n as f32 / 65_535.0)).collect();
        for pixel in from.bytes.chunks_exact(2 * channels) {
            for (n, pair) in pixel.as_chunks::<2>().0.iter().enumerate() {
                let sample = u16::from_ne_bytes(*pair);
                let whole = f32::from(sample) / 65_535.0;
                let value = if n < colours {
                    curve[usize::from(sample)]
                } else {
                    whole
                };
                bytes.extend_from_slice(&value.to_ne_bytes());
            }
        }
    } else {
        let curve: [u16; 256] =
            std::array::from_fn(|n| (to_light(n as f32 / 255.0) * 65_535.0).round() as u16);
        for pixel in from.bytes.chunks_exact(channels) {
            for (n, &sample) in pixel.iter().enumerate() {
                let whole = u16::from(sample) * 257;
                let value = if n < colours {
                    curve[usize::from(sample)]
                } else {
                    whole
                };
                bytes.extend_from_slice(&value.to_ne_bytes());
            }
        }
    }
    budget.free(from.bytes);
    Ok(Samples {
        bytes,
        kind: Kinds::of(from.kind)?.light,
        ..from
    })
}

/// The way back to samples of `kind`.
///
/// # Errors
/// Those of [`light`].
pub(super) fn code(
    from: Samples,
    kind: PixelType,
    alpha: bool,
    budget: &Budget,
) -> Result<Samples, Error> {
    let Kinds { channels, deep, .. } = Kinds::of(kind)?;
    let colours = colours(channels, alpha);
    let mut bytes = budget.vec(from.bytes.len() / 2)?;
    if deep {
        for pixel in from.bytes.chunks_exact(4 * channels) {
            for (n, value) in pixel.as_chunks::<4>().0.iter().enumerate() {
                let value = f32::from_ne_bytes(*value).clamp(0.0, 1.0);
                let value = if n < colours { to_code(value) } else { value };
                bytes.extend_from_slice(&((value * 65_535.0).round() as u16).to_ne_bytes());
            }
        }
    } else {
        let curve: Vec<u8> = (0..VALUES)
            .map(|n| (to_code(n as f32 / 65_535.0) * 255.0).round() as u8)
            .collect();
        for pixel in from.bytes.chunks_exact(2 * channels) {
            for (n, pair) in pixel.as_chunks::<2>().0.iter().enumerate() {
                let value = u16::from_ne_bytes(*pair);
                let whole = ((u32::from(value) + 128) / 257) as u8;
                bytes.push(if n < colours {
                    curve[usize::from(value)]
                } else {
                    whole
                });
            }
        }
    }
    budget.free(from.bytes);
    Ok(Samples {
        bytes,
        kind,
        ..from
    })
}

/// What a kind of pixel is made of, and the kind that holds its light.
struct Kinds {
    channels: usize,
    /// Sixteen bits a sample.
    deep: bool,
    light: PixelType,
}

impl Kinds {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the library's list is open; what is not named has no curve here"
    )]
    fn of(kind: PixelType) -> Result<Self, Error> {
        let (channels, deep, light) = match kind {
            PixelType::U8 => (1, false, PixelType::U16),
            PixelType::U8x2 => (2, false, PixelType::U16x2),
            PixelType::U8x3 => (3, false, PixelType::U16x3),
            PixelType::U8x4 => (4, false, PixelType::U16x4),
            PixelType::U16 => (1, true, PixelType::F32),
            PixelType::U16x2 => (2, true, PixelType::F32x2),
            PixelType::U16x3 => (3, true, PixelType::F32x3),
            PixelType::U16x4 => (4, true, PixelType::F32x4),
            _ => {
                return Err(Error::Unsupported(
                    "these samples in linear light".to_owned(),
                ));
            }
        };
        Ok(Self {
            channels,
            deep,
            light,
        })
    }
}

/// Channels that are colours.
fn colours(channels: usize, alpha: bool) -> usize {
    match channels {
        2 | 4 if alpha => channels - 1,
        _ => channels,
    }
}

/// Light of a coded value, both from 0 to 1.
fn to_light(value: f32) -> f32 {
    if value <= 0.040_45 {
        value / 12.92
    } else {
        ((value + 0.055) / 1.055).powf(2.4)
    }
}

/// The way back.
fn to_code(value: f32) -> f32 {
    if value <= 0.003_130_8 {
        value * 12.92
    } else {
        1.055 * value.powf(1.0 / 2.4) - 0.055
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(bytes: Vec<u8>, kind: PixelType, alpha: bool) -> Vec<u8> {
        let budget = Budget::new(1 << 24, 1 << 24);
        let width = (bytes.len() / kind.size()) as u32;
        let from = Samples {
            bytes,
            width,
            height: 1,
            kind,
        };
        let light = light(from, alpha, &budget).expect("fits");
        code(light, kind, alpha, &budget).expect("fits").bytes
    }

    #[test]
    fn every_value_comes_back_at_both_depths() {
        let eight: Vec<u8> = (0..=255).collect();
        assert_eq!(there_and_back(eight.clone(), PixelType::U8, false), eight);
        assert_eq!(there_and_back(eight.clone(), PixelType::U8x2, true), eight);
        assert_eq!(there_and_back(eight.clone(), PixelType::U8x4, true), eight);
        let sixteen: Vec<u8> = (0..=65_535_u16).flat_map(u16::to_ne_bytes).collect();
        assert_eq!(
            there_and_back(sixteen.clone(), PixelType::U16, false),
            sixteen
        );
        assert_eq!(
            there_and_back(sixteen.clone(), PixelType::U16x4, true),
            sixteen
        );
    }

    #[test]
    fn half_the_light_is_188() {
        // IEC 61966-2-1: 0.5 is coded as 0.7354.
        assert_eq!((to_code(0.5) * 255.0).round(), 188.0);
        assert!((to_light(188.0 / 255.0) - 0.5).abs() < 0.005);
    }
}
