//! What only the operating system can do or tell, as plain functions. Decides nothing.

pub(crate) mod cgroup;
mod disk;
mod files;
mod priority;
mod process;

pub(crate) use disk::Room;
pub(crate) use files::{OpenFiles, new_folder, raise_open_files};
pub(crate) use priority::{Priority, stand_back};
pub(crate) use process::{
    Signal, die_by, is_ignored, outlive_file_size_limit, own_executable, prefer_as_victim,
    resident_bytes, signal_group, stop_self,
};
