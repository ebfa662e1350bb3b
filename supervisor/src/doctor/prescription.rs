//! The doctor's findings in words. Pure.

use super::{Findings, LedgerHealth, formats};
use crate::units::{show_memory, show_size};
use pressroom_shared::Enforced;
use std::path::Path;

/// Below this a run of any size is likely to stop at a full disk.
const LITTLE_SPACE: u64 = 1_000_000_000;

/// First kernel with Landlock.
const LANDLOCK_SINCE: &str = "5.13";

/// One finding: what it is about, what was found, and what to do if that is not good.
struct Line {
    about: &'static str,
    found: String,
    mend: Option<String>,
}

impl Line {
    fn good(about: &'static str, found: impl Into<String>) -> Self {
        Self {
            about,
            found: found.into(),
            mend: None,
        }
    }

    fn bad(about: &'static str, found: impl Into<String>, mend: impl Into<String>) -> Self {
        Self {
            about,
            found: found.into(),
            mend: Some(mend.into()),
        }
    }
}

/// All findings, one a line, each followed by what mends it.
pub(super) fn text(findings: &Findings) -> String {
    let mut lines = vec![
        Line::good("workers", &findings.count.why),
        quota(findings),
        memory(findings),
    ];
    lines.push(cap(findings));
    match &findings.worker {
        Ok(enforced) => {
            lines.push(landlock(findings, enforced));
            lines.push(filter(enforced));
            lines.push(Line::good("formats", formats::line()));
        }
        Err(why) => lines.push(Line::bad(
            "worker",
            format!("does not start: {why}"),
            "run this executable from a folder that allows programs to be executed",
        )),
    }
    lines.extend(findings.missing.as_deref().map(place));
    lines.push(disk(findings));
    lines.extend(ledger(findings));
    lines.iter().map(show).collect()
}

fn show(line: &Line) -> String {
    let mark = if line.mend.is_some() { '!' } else { ' ' };
    let mut text = format!("{mark} {:<9} {}\n", line.about, line.found);
    if let Some(mend) = &line.mend {
        text.push_str(&format!("{:>12}to mend it: {mend}\n", ""));
    }
    text
}

fn quota(findings: &Findings) -> Line {
    match findings.facts.quota {
        None => Line::good("quota", "no limit on processor time"),
        Some(quota) => Line::good("quota", format!("{quota} CPUs by control group")),
    }
}

fn memory(findings: &Findings) -> Line {
    match findings.facts.memory {
        None => Line::good(
            "memory",
            "cannot be told here; it does not bound the number of workers",
        ),
        Some(memory) if memory.by_group => Line::good(
            "memory",
            format!(
                "{} left in the control group",
                show_memory(memory.available)
            ),
        ),
        Some(memory) => Line::good(
            "memory",
            format!("{} available", show_memory(memory.available)),
        ),
    }
}

fn cap(findings: &Findings) -> Line {
    let Some(why) = &findings.no_cgroup else {
        return Line::good("cap", "hard limit per worker (cgroup), page cache included");
    };
    let soft = match &findings.worker {
        Ok(enforced) if enforced.rlimit_data.is_some() => {
            "process limit and a watch on memory; page cache not counted"
        }
        Ok(_) | Err(_) => "a watch on memory only; short peaks may exceed it",
    };
    Line::bad(
        "cap",
        format!("{soft} ({why})"),
        "systemd-run --user --scope -p Delegate=yes pressroom ... (as a service: Delegate=memory)",
    )
}

fn landlock(findings: &Findings, enforced: &Enforced) -> Line {
    if enforced.landlock_full {
        return Line::good(
            "files",
            format!(
                "workers reach inputs and staging only (Landlock ABI {})",
                enforced.landlock_abi
            ),
        );
    }
    if enforced.landlock_abi > 0 {
        return Line::bad(
            "files",
            format!(
                "workers are partly confined (Landlock ABI {} of kernel {})",
                enforced.landlock_abi, findings.kernel
            ),
            "a newer kernel; until then --sandbox require refuses to run",
        );
    }
    let off = findings
        .modules
        .as_ref()
        .is_some_and(|modules| !modules.split(',').any(|name| name == "landlock"));
    let mend = if off {
        let modules = findings.modules.as_deref().unwrap_or_default();
        format!(
            "add lsm=landlock,{modules} to the kernel's command line and start the machine again"
        )
    } else {
        format!(
            "a kernel from {LANDLOCK_SINCE} on with CONFIG_SECURITY_LANDLOCK; a container may also forbid it"
        )
    };
    Line::bad(
        "files",
        format!(
            "workers can read what you can: no Landlock in kernel {}",
            findings.kernel
        ),
        mend,
    )
}

fn filter(enforced: &Enforced) -> Line {
    if enforced.seccomp {
        return Line::good(
            "calls",
            "workers have no network, start no programs (system-call filter)",
        );
    }
    Line::bad(
        "calls",
        "no system-call filter on workers",
        "a kernel with CONFIG_SECCOMP_FILTER; in a container: allow seccomp(2) in its profile",
    )
}

/// A folder that is not there may be one that the first run makes, or a slip.
fn place(missing: &Path) -> Line {
    Line::bad(
        "folder",
        format!("{} does not exist", missing.display()),
        "a run with -o makes it; otherwise check the spelling",
    )
}

fn disk(findings: &Findings) -> Line {
    match &findings.disk {
        Ok((place, free)) if *free < LITTLE_SPACE => Line::bad(
            "disk",
            format!("only {} free at {}", show_size(*free), place.display()),
            "make room, or choose an output folder elsewhere",
        ),
        Ok((place, free)) => Line::good(
            "disk",
            format!("{} free at {}", show_size(*free), place.display()),
        ),
        Err(why) => Line::bad(
            "disk",
            format!("cannot be looked at: {why}"),
            "name the output folder: pressroom doctor DIR",
        ),
    }
}

fn ledger(findings: &Findings) -> Option<Line> {
    match &findings.ledger {
        LedgerHealth::None => None,
        LedgerHealth::Good(path, last) => {
            Some(Line::good("ledger", format!("{}: {last}", path.display())))
        }
        LedgerHealth::Bad(path, why) => Some(Line::bad(
            "ledger",
            format!("cannot be read: {why}"),
            move_away(path),
        )),
    }
}

/// SQLite's log must not stay behind: it would be played back into the next ledger of that name.
fn move_away(path: &Path) -> String {
    let [ledger, aside, log, index] = ["", ".damaged", "-wal", "-shm"].map(|end| {
        let name = format!("{}{end}", path.display());
        format!("'{}'", name.replace('\'', r"'\''"))
    });
    format!("mv {ledger} {aside}; rm -f {log} {index} (the next run looks at every file again)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cores::{Cores, Facts, Memory, Quota, WorkerCount};
    use crate::exit::Exit;
    use std::path::PathBuf;

    fn healthy() -> Findings {
        Findings {
            facts: Facts {
                cores: Cores {
                    usable: 4,
                    cpus: 8,
                    online: Some(8),
                },
                quota: None,
                memory: Some(Memory {
                    available: 8 << 30,
                    by_group: false,
                }),
            },
            count: WorkerCount {
                count: 4,
                why: "4 workers: 4 cores with 8 threads".to_owned(),
            },
            no_cgroup: None,
            worker: Ok(Enforced {
                rlimit_data: Some(512 << 20),
                landlock_abi: 7,
                landlock_full: true,
                seccomp: true,
            }),
            modules: Some("capability,landlock".to_owned()),
            kernel: "6.18.0".to_owned(),
            disk: Ok((PathBuf::from("/photos"), 12_300_000_000)),
            missing: None,
            ledger: LedgerHealth::None,
        }
    }

    #[test]
    fn a_healthy_machine_needs_nothing() {
        let findings = healthy();
        assert_eq!(findings.exit(), Exit::Success);
        assert!(!findings.text().contains("to mend it"));
        insta::assert_snapshot!("healthy", findings.text());
    }

    #[test]
    fn everything_that_is_missing_has_a_remedy() {
        let findings = Findings {
            facts: Facts {
                quota: Some(Quota { milli_cpus: 1500 }),
                memory: Some(Memory {
                    available: 1 << 30,
                    by_group: true,
                }),
                ..healthy().facts
            },
            no_cgroup: Some("/sys/fs/cgroup/x cannot be written to".to_owned()),
            worker: Ok(Enforced::default()),
            modules: Some("capability,yama".to_owned()),
            kernel: "5.10.0".to_owned(),
            disk: Ok((PathBuf::from("/photos"), 5_000_000)),
            missing: Some(PathBuf::from("/fotos")),
            ledger: LedgerHealth::Bad(
                PathBuf::from("/photos/.pressroom/ledger.db"),
                "file is not a database".to_owned(),
            ),
            ..healthy()
        };
        assert_eq!(findings.exit(), Exit::CannotRun);
        insta::assert_snapshot!("everything_missing", findings.text());
    }

    #[test]
    fn a_command_to_copy_holds_whatever_the_folder_is_called() {
        assert_eq!(
            move_away(Path::new("/it's; rm/ledger.db")),
            r"mv '/it'\''s; rm/ledger.db' '/it'\''s; rm/ledger.db.damaged'; rm -f '/it'\''s; rm/ledger.db-wal' '/it'\''s; rm/ledger.db-shm' (the next run looks at every file again)"
        );
    }

    #[test]
    fn a_worker_that_does_not_start_is_no_machine_to_run_on() {
        let findings = Findings {
            worker: Err("Permission denied".to_owned()),
            ..healthy()
        };
        assert_eq!(findings.exit(), Exit::CannotRun);
        assert!(
            findings
                .text()
                .contains("! worker    does not start: Permission denied")
        );
    }
}
