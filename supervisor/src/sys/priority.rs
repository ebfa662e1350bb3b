//! How far a process stands back for others. Neither the standard library nor rustix knows scheduling policies and disk
//! priorities, so the two system calls are made here; it knows process ids and nothing of workers.
#![expect(
    unsafe_code,
    reason = "two system calls without a safe door; both take numbers, and one struct that outlives its call"
)]

use rustix::process::{Pid, getpriority_process, setpriority_process};
use std::io;

/// How far to stand back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Priority {
    /// Niceness is raised by so much.
    Nice(u8),
    /// Whatever else wants the processor or the disk comes first: niceness 19, batch scheduling, idle disk priority.
    Background,
}

/// `IOPRIO_WHO_PROCESS` and `IOPRIO_CLASS_IDLE` shifted into place (`linux/ioprio.h`).
const ONE_PROCESS: libc::c_long = 1;
const IDLE_DISK: libc::c_long = 3 << 13;

/// Lets a process that has one thread yet, `pid`, stand back; what it starts later inherits that. All is tried whatever fails.
///
/// # Errors
/// The first thing the system refused.
pub(crate) fn stand_back(pid: u32, priority: Priority) -> io::Result<()> {
    let id = i32::try_from(pid).ok().filter(|id| *id > 0);
    let id = id.ok_or(io::ErrorKind::InvalidInput)?;
    match priority {
        Priority::Nice(by) => nice_by(id, by),
        Priority::Background => {
            let all = [nice_by(id, 19), batch(id), idle_disk(id)];
            all.into_iter().collect()
        }
    }
}

fn nice_by(id: i32, by: u8) -> io::Result<()> {
    let pid = Pid::from_raw(id);
    let now = getpriority_process(pid)?;
    setpriority_process(pid, (now + i32::from(by)).min(19))?;
    Ok(())
}

/// By the system call itself: musl's function of that name only says that there is none.
fn batch(id: i32) -> io::Result<()> {
    // All that the kernel's `sched_param` holds (`sched(7)`): batch scheduling has no priorities of its own.
    let parameter: libc::c_int = 0;
    // SAFETY: the kernel reads one `int` during the call; it is a local that lives until then.
    answer(unsafe {
        libc::syscall(
            libc::SYS_sched_setscheduler,
            libc::c_long::from(id),
            libc::c_long::from(libc::SCHED_BATCH),
            &raw const parameter,
        )
    })
}

fn idle_disk(id: i32) -> io::Result<()> {
    // SAFETY: `ioprio_set` takes three numbers and no pointers.
    answer(unsafe {
        libc::syscall(
            libc::SYS_ioprio_set,
            ONE_PROCESS,
            libc::c_long::from(id),
            IDLE_DISK,
        )
    })
}

fn answer(code: libc::c_long) -> io::Result<()> {
    if code < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_process_is_refused() {
        for pid in [0, u32::MAX] {
            assert!(stand_back(pid, Priority::Background).is_err(), "{pid}");
        }
    }

    #[test]
    fn another_process_stands_back() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        stand_back(child.id(), Priority::Background).unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        // proc(5): after the name, niceness is field 19 and the policy 41 (3 is SCHED_BATCH), counted from 1.
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        assert_eq!((fields[19 - 3], fields[41 - 3]), ("19", "3"));
    }
}
