//! Keys that say whether an earlier result still answers today's question.

use super::Hasher;
use pressroom_shared::{BUILD_ID, Limits, Settings};

/// What a row was made under. Two runs with equal keys may trust each other's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keys {
    /// Of everything that decides what an output looks like. A saved or kept row answers only for this.
    pub settings: i64,
    /// Of everything that decides whether the same image fails again: the limits and the version of this program. A
    /// better version or a bigger cap gives a failed image another chance; it does not redo what was saved.
    pub attempt: i64,
}

impl Keys {
    /// The keys of a run.
    pub fn of(settings: &Settings, limits: &Limits) -> Self {
        Self {
            settings: fingerprint(settings),
            attempt: fingerprint(&(limits, BUILD_ID)),
        }
    }
}

/// JSON has one spelling for each of these types (fields in order of declaration, no maps), so its fingerprint is stable
/// over machines and over versions that did not change the type.
fn fingerprint<T: serde::Serialize>(value: &T) -> i64 {
    let text = serde_json::to_vec(value).unwrap_or_default();
    Hasher::of(&text).cast_signed()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use pressroom_shared::{
        Chroma, Format, Goal, IccPolicy, OrientPolicy, Progressive, Resize, SizeLimit, Strip,
    };

    pub(crate) fn settings() -> Settings {
        Settings {
            goal: Goal::MaxSize(SizeLimit::Bytes(300_000)),
            min_quality: 5,
            effort: 5,
            chroma: Chroma::Auto,
            progressive: Progressive::Auto,
            format: Format::Same,
            resize: Resize::default(),
            shrink_to_fit: None,
            strip: Strip::default(),
            orient: OrientPolicy::Keep,
            icc: IccPolicy::Keep,
            lossy_png: false,
            min_savings_permille: 0,
            force: false,
            min_savings_bytes: None,
        }
    }

    pub(crate) fn limits() -> Limits {
        Limits {
            memory: 512 << 20,
            pixels: 100_000_000,
            input_bytes: 1 << 30,
            job_seconds: 120,
        }
    }

    #[test]
    fn a_key_is_the_same_today_and_tomorrow() {
        // A new value here means that every user's next run does all images again. Change it knowingly.
        assert_eq!(
            Keys::of(&settings(), &limits()).settings,
            -224_545_198_971_897_259
        );
    }

    #[test]
    fn settings_and_limits_have_keys_of_their_own() {
        let base = Keys::of(&settings(), &limits());
        let mut other = settings();
        other.effort = 6;
        let finer = Keys::of(&other, &limits());
        assert_ne!(finer.settings, base.settings);
        assert_eq!(finer.attempt, base.attempt);
        let mut more = limits();
        more.memory *= 2;
        let bigger = Keys::of(&settings(), &more);
        assert_eq!(bigger.settings, base.settings);
        assert_ne!(bigger.attempt, base.attempt);
    }
}
