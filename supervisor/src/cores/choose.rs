//! The number of workers, and one line that says why. Pure arithmetic on what was found and what was asked for.

use super::Facts;
use crate::cli::config::Workers;
use crate::units::{Amount, show_memory};

/// Share of the free memory that workers may plan with; the rest is for the page cache and everybody else.
const MEMORY_SHARE_PERCENT: u64 = 80;

/// What was asked for, as far as it decides the number of workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wish {
    /// A number, or as many as make sense.
    pub workers: Workers,
    /// Bytes of memory per worker.
    pub memory_per_worker: u64,
    /// Memory for all workers together.
    pub memory_total: Option<Amount>,
    /// Number of files, where it is known.
    pub files: Option<u64>,
    /// Workers for which this process may have enough files open.
    pub by_open_files: u64,
}

/// How many workers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerCount {
    /// At least one.
    pub count: u16,
    /// For the run header: "4 workers: 8 cores, quota 4.0".
    pub why: String,
}

/// Decides the number of workers: the least of cores, quota, memory and files, at least one. A number asked for is taken
/// as it is.
pub fn choose(facts: &Facts, wish: &Wish) -> WorkerCount {
    let computed = bounds(facts, wish)
        .iter()
        .map(|bound| bound.workers)
        .min()
        .unwrap_or(1)
        .max(1);
    let computed = u16::try_from(computed).unwrap_or(u16::MAX);
    let reasons = reasons(facts, wish);
    match wish.workers {
        Workers::Auto { .. } => WorkerCount {
            count: computed,
            why: format!("{}: {reasons}", workers(computed)),
        },
        Workers::Exactly(count) => WorkerCount {
            count: count.max(1),
            why: format!(
                "{} as asked for ({computed} would fit: {reasons})",
                workers(count.max(1))
            ),
        },
    }
}

/// Something that bounds the number of workers.
struct Bound {
    workers: u64,
    text: String,
}

fn bounds(facts: &Facts, wish: &Wish) -> Vec<Bound> {
    let mut bounds = vec![cores(facts, wish)];
    if let Some(quota) = facts.quota {
        bounds.push(Bound {
            workers: quota.workers(),
            text: format!("quota {quota}"),
        });
    }
    bounds.extend(free_memory(facts, wish));
    bounds.extend(total_memory(facts, wish));
    let nearly = bounds.iter().map(|bound| bound.workers).min();
    if nearly.is_some_and(|workers| workers > wish.by_open_files) {
        bounds.push(Bound {
            workers: wish.by_open_files,
            text: "few files may be open (ulimit -n)".to_owned(),
        });
    }
    if let Some(files) = wish.files {
        bounds.push(Bound {
            workers: files,
            text: format!("{files} file{}", plural(files)),
        });
    }
    bounds
}

fn cores(facts: &Facts, wish: &Wish) -> Bound {
    let usable = facts.cores.usable as u64;
    let mut text = format!("{usable} core{}", plural(usable));
    if facts.cores.cpus > facts.cores.usable {
        text.push_str(&format!(" with {} threads", facts.cores.cpus));
    }
    if let Some(online) = facts
        .cores
        .online
        .filter(|online| *online > facts.cores.cpus)
    {
        text.push_str(&format!(" ({} of {online} CPUs allowed)", facts.cores.cpus));
    }
    match wish.workers {
        Workers::Auto { reserve } if reserve > 0 => {
            text.push_str(&format!(" less {reserve} reserved"));
            Bound {
                workers: usable.saturating_sub(u64::from(reserve)).max(1),
                text,
            }
        }
        Workers::Auto { .. } | Workers::Exactly(_) => Bound {
            workers: usable,
            text,
        },
    }
}

fn free_memory(facts: &Facts, wish: &Wish) -> Option<Bound> {
    let memory = facts.memory?;
    let where_from = if memory.by_group {
        "the control group"
    } else {
        "the machine"
    };
    Some(Bound {
        workers: memory.available / 100 * MEMORY_SHARE_PERCENT / wish.memory_per_worker.max(1),
        text: format!(
            "{} free in {where_from} for {} each",
            show_memory(memory.available),
            show_memory(wish.memory_per_worker)
        ),
    })
}

fn total_memory(facts: &Facts, wish: &Wish) -> Option<Bound> {
    let total = match wish.memory_total? {
        Amount::Bytes(bytes) => bytes,
        Amount::Permille(share) => facts.memory?.available / 1000 * u64::from(share),
    };
    let each = show_memory(wish.memory_per_worker);
    Some(Bound {
        workers: total / wish.memory_per_worker.max(1),
        text: format!("--memory-total {} for {each} each", show_memory(total)),
    })
}

/// Cores and quota always; memory and files where they are what decides.
fn reasons(facts: &Facts, wish: &Wish) -> String {
    let bounds = bounds(facts, wish);
    let least = bounds.iter().map(|bound| bound.workers).min().unwrap_or(1);
    let always = 1 + usize::from(facts.quota.is_some());
    let below_cores = |bound: &&Bound| bound.workers == least && least < bounds[0].workers;
    let deciding = bounds[always..].iter().filter(below_cores);
    let texts: Vec<&str> = bounds[..always]
        .iter()
        .chain(deciding)
        .map(|bound| bound.text.as_str())
        .collect();
    texts.join(", ")
}

fn workers(count: u16) -> String {
    format!("{count} worker{}", plural(u64::from(count)))
}

fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cores::{Cores, Memory, Quota};
    use proptest::prelude::*;

    const GIB: u64 = 1 << 30;

    fn facts(usable: usize) -> Facts {
        Facts {
            cores: Cores {
                usable,
                cpus: usable,
                online: Some(usable),
            },
            quota: None,
            memory: None,
        }
    }

    fn wish(workers: Workers) -> Wish {
        Wish {
            workers,
            memory_per_worker: GIB / 2,
            memory_total: None,
            files: None,
            by_open_files: u64::MAX,
        }
    }

    const AUTO: Workers = Workers::Auto { reserve: 0 };

    fn why(facts: &Facts, wish: &Wish) -> String {
        choose(facts, wish).why
    }

    #[test]
    fn each_bound_decides_and_says_so() {
        assert_eq!(why(&facts(1), &wish(AUTO)), "1 worker: 1 core");
        let quota = Facts {
            quota: Some(Quota { milli_cpus: 4000 }),
            ..facts(8)
        };
        assert_eq!(why(&quota, &wish(AUTO)), "4 workers: 8 cores, quota 4.0");
        let quota = Facts {
            quota: Some(Quota { milli_cpus: 1500 }),
            ..facts(8)
        };
        assert_eq!(why(&quota, &wish(AUTO)), "2 workers: 8 cores, quota 1.5");
        let memory = Facts {
            memory: Some(Memory {
                available: 2 * GIB,
                by_group: true,
            }),
            ..facts(8)
        };
        assert_eq!(
            why(&memory, &wish(AUTO)),
            "3 workers: 8 cores, 2 GiB free in the control group for 512 MiB each"
        );
        let smt = Facts {
            cores: Cores {
                usable: 4,
                cpus: 8,
                online: Some(16),
            },
            ..facts(4)
        };
        assert_eq!(
            why(&smt, &wish(AUTO)),
            "4 workers: 4 cores with 8 threads (8 of 16 CPUs allowed)"
        );
        assert_eq!(
            why(
                &facts(8),
                &Wish {
                    files: Some(3),
                    ..wish(AUTO)
                }
            ),
            "3 workers: 8 cores, 3 files"
        );
        let total = Wish {
            memory_total: Some(Amount::Bytes(GIB)),
            ..wish(AUTO)
        };
        assert_eq!(
            why(&facts(8), &total),
            "2 workers: 8 cores, --memory-total 1 GiB for 512 MiB each"
        );
        let reserve = wish(Workers::Auto { reserve: 2 });
        assert_eq!(
            why(&facts(8), &reserve),
            "6 workers: 8 cores less 2 reserved"
        );
    }

    #[test]
    fn few_open_files_mean_few_workers() {
        let files = Wish {
            by_open_files: 3,
            ..wish(AUTO)
        };
        assert_eq!(
            why(&facts(8), &files),
            "3 workers: 8 cores, few files may be open (ulimit -n)"
        );
        assert_eq!(why(&facts(2), &files), "2 workers: 2 cores");
    }

    #[test]
    fn what_does_not_decide_is_not_mentioned() {
        let rich = Facts {
            memory: Some(Memory {
                available: 64 * GIB,
                by_group: false,
            }),
            ..facts(2)
        };
        assert_eq!(
            why(
                &rich,
                &Wish {
                    files: Some(1000),
                    ..wish(AUTO)
                }
            ),
            "2 workers: 2 cores"
        );
    }

    #[test]
    fn a_number_asked_for_is_not_clamped() {
        let count = choose(&facts(2), &wish(Workers::Exactly(16)));
        assert_eq!(
            count,
            WorkerCount {
                count: 16,
                why: "16 workers as asked for (2 would fit: 2 cores)".to_owned()
            }
        );
    }

    proptest! {
        #[test]
        fn there_is_always_a_worker_and_never_more_than_any_bound(
            usable in 0usize..200, milli in proptest::option::of(0u64..100_000), free in proptest::option::of(any::<u64>()),
            reserve in 0u16..300, files in proptest::option::of(0u64..50), cap in 0u64..1 << 34,
        ) {
            let facts = Facts {
                quota: milli.map(|milli_cpus| Quota { milli_cpus }),
                memory: free.map(|available| Memory { available, by_group: false }),
                ..facts(usable)
            };
            let wish = Wish { memory_per_worker: cap, files, ..wish(Workers::Auto { reserve }) };
            let count = choose(&facts, &wish).count;
            prop_assert!(count >= 1);
            prop_assert!(usize::from(count) <= usable.max(1));
            if let Some(milli) = milli {
                prop_assert!(u64::from(count) <= milli.div_ceil(1000).max(1));
            }
        }
    }
}
