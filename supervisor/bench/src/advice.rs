//! The recommendation: how many workers and which cap, from what was measured and nothing else. Pure.

use crate::book::Advice;
use crate::experiments::scaling::{Crew, On};
use crate::experiments::wall;
use crate::lab::Collected;
use crate::stats::{Verdict, compare};
use crate::wording::{counted, percent};
use pressroom_supervisor::units::show_memory;

/// What the recommendation rests on.
pub(crate) struct Grounds<'a> {
    /// What was run in the scaling experiment.
    pub(crate) crews: &'a [Crew],
    /// What came of it.
    pub(crate) scaling: &'a Collected,
    /// Workers that a run would start by itself.
    pub(crate) usable: u16,
    /// A cap under which every picture was done, in bytes.
    pub(crate) enough: Option<u64>,
    /// Most memory that one job needed, in bytes.
    pub(crate) needed: Option<u64>,
}

/// Says what follows.
pub(crate) fn advise(grounds: &Grounds<'_>) -> Advice {
    let workers = choose(grounds);
    let mut parts = match workers {
        Some(place) => of_workers(grounds, place),
        None => vec![unknown(grounds)],
    };
    parts.extend(of_memory(grounds));
    Advice {
        sentence: parts.join("; ") + ".",
        workers: workers.map(|place| grounds.crews[place].workers),
        cap: grounds.enough,
        needed: grounds.needed,
    }
}

/// The crew to have: the usual one, unless another is certainly faster, or a smaller one certainly as fast. `None` where the
/// figures do not say.
fn choose(grounds: &Grounds<'_>) -> Option<usize> {
    let usual = place_of(grounds, grounds.usable)?;
    let (mut told, mut best, mut gain) = (false, usual, 0.0);
    for place in plain(grounds) {
        match against(grounds, place, usual) {
            Verdict::Less(share) if share > gain => (told, best, gain) = (true, place, share),
            Verdict::Less(_) | Verdict::More(_) | Verdict::Same => told = true,
            Verdict::TooNoisy | Verdict::TooFew => {}
        }
    }
    if best != usual {
        return Some(best);
    }
    let as_fast = |place: &usize| {
        grounds.crews[*place].workers < grounds.usable
            && against(grounds, *place, usual) == Verdict::Same
    };
    let smaller = plain(grounds)
        .filter(as_fast)
        .min_by_key(|place| grounds.crews[*place].workers);
    (told || smaller.is_some()).then(|| smaller.unwrap_or(usual))
}

/// Crews on all CPUs, other than the usual one.
fn plain<'a>(grounds: &'a Grounds<'_>) -> impl Iterator<Item = usize> + 'a {
    (0..grounds.crews.len()).filter(|place| {
        let crew = grounds.crews[*place];
        crew.on == On::AllCpus && crew.workers != grounds.usable
    })
}

fn place_of(grounds: &Grounds<'_>, workers: u16) -> Option<usize> {
    let wanted = Crew {
        workers,
        on: On::AllCpus,
    };
    let measured = grounds.scaling.rounds > 0;
    grounds
        .crews
        .iter()
        .position(|crew| measured && *crew == wanted)
}

fn against(grounds: &Grounds<'_>, place: usize, other: usize) -> Verdict {
    compare(&grounds.scaling.pairs(place, other, wall))
}

fn of_workers(grounds: &Grounds<'_>, place: usize) -> Vec<String> {
    let chosen = grounds.crews[place].workers;
    let mut parts = vec![counted(chosen.into(), "worker")];
    let doubled = plain_or_usual(grounds, chosen.saturating_mul(2));
    let next = doubled.or_else(|| bigger(grounds, chosen));
    parts.extend(next.map(|next| compared(grounds, next, place)));
    if chosen != grounds.usable
        && let Some(usual) = place_of(grounds, grounds.usable)
        && next != Some(usual)
    {
        parts.push(compared(grounds, usual, place));
    }
    parts
}

fn plain_or_usual(grounds: &Grounds<'_>, workers: u16) -> Option<usize> {
    place_of(grounds, workers)
}

/// The next bigger crew.
fn bigger(grounds: &Grounds<'_>, workers: u16) -> Option<usize> {
    let all = (0..grounds.crews.len()).filter(|place| {
        let crew = grounds.crews[*place];
        crew.on == On::AllCpus && crew.workers > workers
    });
    all.min_by_key(|place| grounds.crews[*place].workers)
}

fn compared(grounds: &Grounds<'_>, place: usize, chosen: usize) -> String {
    let workers = grounds.crews[place].workers;
    match against(grounds, place, chosen) {
        Verdict::More(share) => format!("{workers} would be {} slower", percent(share)),
        Verdict::Less(share) => format!("{workers} would be {} faster", percent(share)),
        Verdict::Same => format!("{workers} would be no faster"),
        Verdict::TooNoisy | Verdict::TooFew => {
            format!("whether {workers} would be faster was too noisy to tell")
        }
    }
}

fn unknown(grounds: &Grounds<'_>) -> String {
    let reason = if grounds.scaling.rounds == 0 {
        "no comparison of worker counts fitted into the budget; raise --budget"
    } else {
        "the machine was too noisy, or the budget too short, to tell worker counts apart"
    };
    format!(
        "no recommendation on workers ({reason}); a run would start {}",
        counted(grounds.usable.into(), "worker")
    )
}

fn of_memory(grounds: &Grounds<'_>) -> Option<String> {
    let needed = show_memory(grounds.needed?);
    Some(match grounds.enough {
        Some(cap) => {
            format!(
                "cap {} is enough: the biggest job needed {needed}",
                show_memory(cap)
            )
        }
        None => format!(
            "the biggest job needed {needed}, and no cap below the present one was found to be enough"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::samples;

    const MIB: u64 = 1 << 20;

    fn crews(counts: &[u16]) -> Vec<Crew> {
        counts
            .iter()
            .map(|workers| Crew {
                workers: *workers,
                on: On::AllCpus,
            })
            .collect()
    }

    fn advice(counts: &[u16], times: &[&[u64]], usable: u16) -> Advice {
        advise(&Grounds {
            crews: &crews(counts),
            scaling: &samples::collected(times),
            usable,
            enough: Some(64 * MIB),
            needed: Some(41 * MIB),
        })
    }

    #[test]
    fn the_usual_count_with_what_more_would_cost() {
        let times: [&[u64]; 3] = [&[2000; 5], &[1000; 5], &[1110; 5]];
        let advice = advice(&[1, 2, 4], &times, 2);
        assert_eq!(
            advice.sentence,
            "2 workers; 4 would be 11 % slower; cap 64 MiB is enough: the biggest job needed 41 MiB."
        );
        assert_eq!((advice.workers, advice.cap), (Some(2), Some(64 * MIB)));
    }

    #[test]
    fn a_count_that_is_certainly_faster_wins() {
        let times: [&[u64]; 3] = [&[2000; 5], &[1000; 5], &[800; 5]];
        let advice = advice(&[1, 2, 4], &times, 2);
        assert_eq!(advice.workers, Some(4));
        assert!(
            advice
                .sentence
                .starts_with("4 workers; 2 would be 25 % slower;"),
            "{}",
            advice.sentence
        );
    }

    #[test]
    fn fewer_are_enough_where_they_are_as_fast() {
        let times: [&[u64]; 3] = [&[1000; 5], &[1000; 5], &[1300; 5]];
        let advice = advice(&[1, 2, 4], &times, 2);
        assert_eq!(advice.workers, Some(1));
        assert!(
            advice
                .sentence
                .starts_with("1 worker; 2 would be no faster;"),
            "{}",
            advice.sentence
        );
    }

    #[test]
    fn noise_is_named_and_decides_nothing() {
        let times: [&[u64]; 3] = [
            &[900, 2100, 1000, 1500, 800],
            &[1000, 1000, 1700, 1000, 1000],
            &[1500, 700, 1100, 1600, 900],
        ];
        let noisy = advice(&[1, 2, 4], &times, 2);
        assert_eq!(noisy.workers, None);
        assert!(noisy.sentence.contains("too noisy"), "{}", noisy.sentence);
        let times: [&[u64]; 3] = [
            &[2000; 5],
            &[1000, 1000, 1100, 1000, 1000],
            &[1100, 900, 1000, 1100, 900],
        ];
        let half = advice(&[1, 2, 4], &times, 2);
        assert_eq!(half.workers, Some(2));
        assert!(
            half.sentence
                .contains("whether 4 would be faster was too noisy to tell")
        );
    }

    #[test]
    fn without_figures_nothing_is_recommended() {
        let nothing = advise(&Grounds {
            crews: &crews(&[1, 2]),
            scaling: &Collected::default(),
            usable: 2,
            enough: None,
            needed: None,
        });
        assert_eq!((nothing.workers, nothing.cap), (None, None));
        assert!(
            nothing.sentence.contains("raise --budget"),
            "{}",
            nothing.sentence
        );
    }
}
