//! Medians, how sure they are, and what may be said of a difference. Pure arithmetic.

use serde::Serialize;

/// Differences up to this share are called none.
const ALIKE: f64 = 0.03;

/// Fewest pairs from which anything is concluded: five that agree do so by luck once in sixteen times.
const FEWEST: usize = 5;

/// Fewest pairs whose interval stands on its own; with fewer, the difference must also exceed the spread.
const ENOUGH: usize = 6;

/// A median and the interval that holds the true one with about 95 % confidence; with fewer than six values, their range.
///
/// The interval is that of order statistics (Conover, Practical Nonparametric Statistics, 3.2): it needs no distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Summary {
    /// Values it was made of.
    pub(crate) n: usize,
    /// The median.
    pub(crate) median: f64,
    /// Lower end of the interval.
    pub(crate) low: f64,
    /// Upper end of the interval.
    pub(crate) high: f64,
}

impl Summary {
    /// Sums up `values`; `None` without any.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let sorted = sorted(values);
        let n = sorted.len();
        if n == 0 {
            return None;
        }
        let outside = ((n as f64 - 1.96 * (n as f64).sqrt()) / 2.0).max(0.0) as usize;
        Some(Self {
            n,
            median: middle(&sorted),
            low: sorted[outside],
            high: sorted[n - 1 - outside],
        })
    }

    /// Half the interval as a share of the median; `None` for a single value.
    pub(crate) fn spread(&self) -> Option<f64> {
        (self.n > 1 && self.median > 0.0).then(|| (self.high - self.low) / 2.0 / self.median)
    }
}

/// What may be said of one variant against another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Verdict {
    /// Less by this share (0.11 is 11 %).
    Less(f64),
    /// More by this share.
    More(f64),
    /// No difference worth a word.
    Same,
    /// The rounds contradict each other.
    TooNoisy,
    /// Not enough rounds to say anything.
    TooFew,
}

/// Compares by rounds, so that what slows the machine for a while slows both: `pairs` holds (this, that) of each round.
pub(crate) fn compare(pairs: &[(f64, f64)]) -> Verdict {
    let usable = |pair: &&(f64, f64)| pair.0 > 0.0 && pair.1 > 0.0;
    let ratios: Vec<f64> = pairs.iter().filter(usable).map(|(a, b)| a / b).collect();
    match Summary::of(&ratios) {
        Some(ratio) if ratio.n >= FEWEST => judge(&ratio),
        Some(_) | None => Verdict::TooFew,
    }
}

fn judge(ratio: &Summary) -> Verdict {
    let away = ratio.median - 1.0;
    if ratio.low >= 1.0 - ALIKE && ratio.high <= 1.0 + ALIKE {
        return Verdict::Same;
    }
    let one_sided = ratio.low > 1.0 || ratio.high < 1.0;
    let clear = ratio.n >= ENOUGH || away.abs() > (ratio.high - ratio.low) / 2.0;
    match (one_sided && clear, away > 0.0) {
        (true, true) => Verdict::More(away),
        (true, false) => Verdict::Less(-away),
        (false, _) => Verdict::TooNoisy,
    }
}

/// The value that `share` of all values (0 to 1) do not exceed, by nearest rank; `None` without values.
pub(crate) fn percentile(values: &[f64], share: f64) -> Option<f64> {
    let sorted = sorted(values);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// The share of the work that cannot be divided, from the speed-up on `workers` workers (Karp and Flatt 1990, "Measuring
/// parallel processor performance"); `None` where it means nothing.
pub(crate) fn serial_share(speedup: f64, workers: f64) -> Option<f64> {
    let means_something = workers > 1.0 && speedup > 0.0;
    means_something.then(|| (1.0 / speedup - 1.0 / workers) / (1.0 - 1.0 / workers))
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn middle(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[half]
    } else {
        f64::midpoint(sorted[half - 1], sorted[half])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pairs(ratios: &[f64]) -> Vec<(f64, f64)> {
        ratios.iter().map(|ratio| (ratio * 2.0, 2.0)).collect()
    }

    #[test]
    fn a_median_and_its_interval() {
        let few = Summary::of(&[3.0, 1.0, 2.0]).unwrap();
        assert_eq!((few.median, few.low, few.high), (2.0, 1.0, 3.0));
        assert_eq!(few.spread(), Some(0.5));
        // Of nine values the second and the eighth bound the median with 96 %.
        let nine: Vec<f64> = (1..=9).map(f64::from).collect();
        let many = Summary::of(&nine).unwrap();
        assert_eq!((many.median, many.low, many.high), (5.0, 2.0, 8.0));
        assert_eq!(Summary::of(&[4.0, 2.0]).unwrap().median, 3.0);
        assert_eq!(Summary::of(&[7.0]).unwrap().spread(), None);
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[f64::NAN]), None);
    }

    #[test]
    fn a_difference_is_told_only_where_the_rounds_agree() {
        assert_eq!(compare(&pairs(&[1.25; 5])), Verdict::More(0.25));
        assert_eq!(compare(&pairs(&[0.5; 5])), Verdict::Less(0.5));
        let alike = [1.0, 0.99, 1.02, 1.0, 0.98];
        assert_eq!(compare(&pairs(&alike)), Verdict::Same);
        let both = [0.8, 1.3, 1.1, 0.9, 1.2];
        assert_eq!(compare(&pairs(&both)), Verdict::TooNoisy);
        // All on one side, but the spread is larger than the difference: five rounds may agree by luck.
        let wide = [1.01, 1.05, 1.6, 1.04, 1.06];
        assert_eq!(compare(&pairs(&wide)), Verdict::TooNoisy);
        assert_eq!(compare(&pairs(&[1.5; 4])), Verdict::TooFew);
        assert_eq!(compare(&[(1.0, 0.0); 9]), Verdict::TooFew);
    }

    #[test]
    fn one_bad_round_of_many_does_not_hide_a_difference() {
        let mut ratios = vec![1.2; 8];
        ratios.push(0.4);
        let Verdict::More(more) = compare(&pairs(&ratios)) else {
            panic!("{:?}", compare(&pairs(&ratios)));
        };
        assert!((more - 0.2).abs() < 1e-9, "{more}");
    }

    #[test]
    fn percentiles_by_nearest_rank() {
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(percentile(&hundred, 0.5), Some(50.0));
        assert_eq!(percentile(&hundred, 0.99), Some(99.0));
        assert_eq!(percentile(&hundred, 1.0), Some(100.0));
        assert_eq!(percentile(&[5.0], 0.01), Some(5.0));
        assert_eq!(percentile(&[], 0.5), None);
    }

    #[test]
    fn the_serial_share_undoes_amdahls_law() {
        // Amdahl: with a tenth serial, four workers give 1 / (0.1 + 0.9 / 4).
        let share = serial_share(1.0 / (0.1 + 0.9 / 4.0), 4.0).unwrap();
        assert!((share - 0.1).abs() < 1e-12);
        assert_eq!(serial_share(2.0, 2.0), Some(0.0));
        assert_eq!(serial_share(1.0, 1.0), None);
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_median(values in proptest::collection::vec(0.1f64..100.0, 1..60)) {
            let summary = Summary::of(&values).unwrap();
            prop_assert!(summary.low <= summary.median && summary.median <= summary.high);
        }

        #[test]
        fn the_order_of_the_rounds_does_not_matter(ratios in proptest::collection::vec(0.5f64..2.0, 0..20)) {
            let forward = pairs(&ratios);
            let backward: Vec<_> = forward.iter().rev().copied().collect();
            prop_assert_eq!(compare(&forward), compare(&backward));
        }
    }
}
