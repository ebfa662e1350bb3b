//! The system calls that a worker has no use for, by what they could be misused for. Plain data.

use libc::*;

/// Calls that are denied whatever their arguments.
pub(super) const DENIED: &[i64] = &[
    // Network and other ways to talk to processes. No worker opens a socket; Landlock's own rules leave UDP open.
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_sendto,
    SYS_sendmsg,
    SYS_sendmmsg,
    SYS_shmget,
    SYS_shmat,
    SYS_shmctl,
    SYS_semget,
    SYS_semop,
    SYS_semtimedop,
    SYS_semctl,
    SYS_msgget,
    SYS_msgsnd,
    SYS_msgrcv,
    SYS_msgctl,
    SYS_mq_open,
    SYS_mq_unlink,
    // Other programs.
    SYS_execve,
    SYS_execveat,
    // Other processes.
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_process_madvise,
    SYS_process_mrelease,
    SYS_kcmp,
    SYS_pidfd_open,
    SYS_pidfd_getfd,
    SYS_pidfd_send_signal,
    SYS_migrate_pages,
    SYS_move_pages,
    SYS_setpriority,
    SYS_ioprio_set,
    SYS_sched_setaffinity,
    SYS_sched_setattr,
    SYS_sched_setparam,
    SYS_sched_setscheduler,
    SYS_setpgid,
    SYS_setsid,
    // What belongs to files beyond their bytes, which Landlock does not cover.
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchmodat2,
    SYS_fchown,
    SYS_fchownat,
    SYS_utimensat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    FILE_SETATTR,
    SYS_flock,
    // ioctl can turn flags of a file that is open for reading, and type into a terminal.
    SYS_ioctl,
    // Names other than plain files in staging.
    SYS_truncate,
    SYS_symlinkat,
    SYS_linkat,
    SYS_renameat,
    SYS_renameat2,
    SYS_mkdirat,
    SYS_mknodat,
    SYS_open_by_handle_at,
    SYS_fanotify_init,
    // Mounts and namespaces.
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_move_mount,
    SYS_open_tree,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_mount_setattr,
    SYS_unshare,
    SYS_setns,
    // Parts of the kernel with a long record of holes.
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    // The machine itself, for the case that the run was started by root.
    SYS_setuid,
    SYS_setgid,
    SYS_setreuid,
    SYS_setregid,
    SYS_setresuid,
    SYS_setresgid,
    SYS_setgroups,
    SYS_setfsuid,
    SYS_setfsgid,
    SYS_capset,
    SYS_personality,
    SYS_reboot,
    SYS_kexec_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_quotactl,
    SYS_quotactl_fd,
    SYS_syslog,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    SYS_fork,
    #[cfg(target_arch = "x86_64")]
    SYS_vfork,
    #[cfg(target_arch = "x86_64")]
    SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    SYS_chown,
    #[cfg(target_arch = "x86_64")]
    SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    SYS_utime,
    #[cfg(target_arch = "x86_64")]
    SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    SYS_futimesat,
    #[cfg(target_arch = "x86_64")]
    SYS_symlink,
    #[cfg(target_arch = "x86_64")]
    SYS_link,
    #[cfg(target_arch = "x86_64")]
    SYS_rename,
    #[cfg(target_arch = "x86_64")]
    SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    SYS_mknod,
    #[cfg(target_arch = "x86_64")]
    SYS_uselib,
    #[cfg(target_arch = "x86_64")]
    SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    SYS_kexec_file_load,
];

/// Calls whose first argument names a process, which may only be this one: a process must be able to abort itself.
pub(super) const FOREIGN_PROCESS: &[i64] = &[
    SYS_kill,
    SYS_tkill,
    SYS_tgkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
];

/// Newer than the names in libc; their numbers are the same on every architecture.
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const FILE_SETATTR: i64 = 469;

/// Set in the numbers of x32 calls.
#[cfg(target_arch = "x86_64")]
pub(super) const X32_BIT: Option<i64> = Some(0x4000_0000);
#[cfg(not(target_arch = "x86_64"))]
pub(super) const X32_BIT: Option<i64> = None;

/// Every call that has a number of its own in the x32 ABI, 512 to 547: execve, ptrace, sendmsg and the like. None of
/// them is ever made by a 64-bit program.
pub(super) const X32_DENIED: &[i64] = &x32_numbers();

const fn x32_numbers() -> [i64; 36] {
    let mut numbers = [0; 36];
    let mut index = 0;
    while index < numbers.len() {
        numbers[index] = 512 + index as i64;
        index += 1;
    }
    numbers
}
