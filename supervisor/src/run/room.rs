//! Whether the output's disk has room enough for a run to start. Pure.

use crate::sys::Room;
use crate::units::{Amount, show_size};

/// What must be free where nothing is asked for: a hundredth of the disk, but no more than this.
const USUAL: u64 = 256 << 20;

/// Why a run should not start with so little room, if so.
pub(super) fn too_little(asked: Option<Amount>, room: &Room) -> Option<String> {
    let share = |permille: u64| u128::from(room.whole) * u128::from(permille) / 1000;
    let wanted = match asked {
        None => share(10).min(USUAL.into()),
        Some(Amount::Permille(permille)) => share(permille.into()),
        Some(Amount::Bytes(bytes)) => bytes.into(),
    };
    let wanted = u64::try_from(wanted).unwrap_or(u64::MAX);
    (room.free < wanted).then(|| {
        format!(
            "only {} is free at {}, and a run does not start with less than {} (--min-free): make room, or ask for less; \
             nothing was touched",
            show_size(room.free),
            room.folder.display(),
            show_size(wanted)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(free: u64, whole: u64) -> Room {
        Room {
            folder: "/srv".into(),
            free,
            whole,
        }
    }

    #[test]
    fn a_hundredth_is_wanted_but_never_more_than_a_quarter_of_a_gibibyte() {
        assert_eq!(too_little(None, &room(10_000, 1_000_000)), None);
        assert!(too_little(None, &room(9_999, 1_000_000)).is_some());
        assert_eq!(too_little(None, &room(USUAL, u64::MAX)), None);
        assert!(too_little(None, &room(USUAL - 1, u64::MAX)).is_some());
    }

    #[test]
    fn what_is_asked_for_counts() {
        let little = room(1_000, 1_000_000);
        assert_eq!(too_little(Some(Amount::Bytes(0)), &little), None);
        assert_eq!(too_little(Some(Amount::Bytes(1_000)), &little), None);
        assert_eq!(
            too_little(Some(Amount::Permille(50)), &little).as_deref(),
            Some(
                "only 1 KB is free at /srv, and a run does not start with less than 50 KB (--min-free): make room, or ask \
                 for less; nothing was touched"
            )
        );
    }
}
