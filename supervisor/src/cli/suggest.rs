//! "Did you mean ...?": the known word nearest to one that is not known. Pure.

/// The candidate that takes the fewest edits, if that is few enough to be a slip.
pub(super) fn closest<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let allowed = 1 + word.chars().count() / 4;
    candidates
        .map(|candidate| (edits(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Edit distance (Levenshtein 1966), one row at a time.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, a) in from.chars().enumerate() {
        let mut diagonal = line;
        row[0] = line + 1;
        for (column, b) in to.iter().enumerate() {
            let changed = diagonal + usize::from(a != *b);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let known = ["max-size", "max-width", "quality", "quiet"];
        assert_eq!(closest("maxsize", known.into_iter()), Some("max-size"));
        assert_eq!(closest("qualty", known.into_iter()), Some("quality"));
        assert_eq!(closest("colour", known.into_iter()), None);
    }

    proptest! {
        #[test]
        fn the_distance_is_a_distance(a in "[a-c]{0,6}", b in "[a-c]{0,6}", c in "[a-c]{0,6}") {
            prop_assert_eq!(edits(&a, &b), edits(&b, &a));
            prop_assert_eq!(edits(&a, &b) == 0, a == b);
            prop_assert!(edits(&a, &c) <= edits(&a, &b) + edits(&b, &c));
        }
    }
}
