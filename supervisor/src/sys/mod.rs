//! What only the operating system can do or tell, as plain functions. Decides nothing.

pub(crate) mod cgroup;
mod process;

pub(crate) use process::{
    Signal, die_by, is_ignored, nice_by, own_executable, prefer_as_victim, resident_bytes,
    signal_group, stop_self,
};
