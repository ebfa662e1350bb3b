//! placeholder
pub mod task;
